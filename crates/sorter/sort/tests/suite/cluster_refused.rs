//! Refusals of a sort over several nodes: every rank ends, with the reason of the rank that
//! refused.

use std::path::PathBuf;
use std::sync::Arc;

use crate::common::cluster::{KINDS, outputs, put, run};
use crate::common::lines::text_order;
use crate::common::{job, sorted};
use kernel::patterns::{Pattern, draw};
use node::{Address, Buffer, Port, Rank};
use pipeline::{Control, Failure};
use record::rows::Dialect;
use record::{Head, Headed, Keep, LineOrder, Order, RowSpec, Ties};
use rehearsal::Driver;
use sort::{Job, Lines, Report, Resume, Source, Target};

/// One rank cannot begin: all end with its reason, and without output.
#[test]
fn if_one_rank_refuses_all_refuse() {
    let order = Order::gensort(Ties::Record);
    let records = draw(Pattern::Uniform, 1, 100, 100);
    let driver = Driver::new(1, 3);
    put(&driver, 0, &records);
    put(&driver, 2, &records[..150]);
    let said: Vec<String> = run(&driver, &job(&["/in"], "/out", &order))
        .into_iter()
        .map(|end| end.unwrap_err().to_string())
        .collect();
    assert!(
        said[0].starts_with("rank 1: ") && said[0].contains("/in"),
        "{said:?}"
    );
    assert!(
        !said[1].starts_with("rank ") && said[1].contains("/in"),
        "{said:?}"
    );
    assert!(said[2].contains("inside a record"), "{said:?}");
    for rank in 0..3 {
        assert!(driver.disks(rank).get(&PathBuf::from("/out")).is_none());
    }
}

/// The MiB that a refusal asks for, of this rank or of another.
fn named(end: Result<Report, Failure>) -> u64 {
    let said = end.unwrap_err().to_string();
    let named = said
        .split("give at least -S ")
        .nth(1)
        .and_then(|named| named.split_once('M'));
    let (mebibytes, _) = named.unwrap_or_else(|| panic!("{said}"));
    mebibytes.parse().unwrap()
}

/// All ranks name the same limit, which is the least whole number of MiB that does.
#[test]
fn the_limit_that_all_ranks_name_is_accepted() {
    let order = LineOrder {
        multiline: None,
        shuffle: None,
        text: text_order(false, Ties::Record),
        framing: record::Framing::Delimited(b'\n'),
        keys: record::LineKeys::Text,
    };
    for (ranks, lines) in [(1, 1), (1, 3000), (2, 3000), (4, 1), (4, 3000)] {
        let with = |memory_bytes: u64| {
            let driver = Driver::new(1, ranks);
            (0..ranks).for_each(|rank| put(&driver, rank, &b"b\n".repeat(lines)));
            let mut job = job(&["/in"], "/out", &Order::gensort(Ties::Record));
            job.contents = Arc::new(Lines::new(order.clone()));
            job.resources.memory_bytes = memory_bytes;
            job.may_begin_again = true;
            run(&driver, &job)
        };
        let named: Vec<u64> = with(1 << 10).into_iter().map(named).collect();
        assert!(named.iter().all(|each| *each == named[0]), "{named:?}");
        let least = named[0] << 20;
        assert!(least < 24 << 20, "{least} bytes for {lines} lines");
        for end in with(least) {
            end.unwrap_or_else(|failure| panic!("{ranks}, {lines}: {failure}"));
        }
        // More memory is never too little.
        for memory_bytes in (least..least + (16 << 20)).step_by(1 << 19) {
            for end in with(memory_bytes) {
                end.unwrap_or_else(|failure| panic!("{ranks}, {lines}: {failure}"));
            }
        }
        for end in with(least - (1 << 20)) {
            assert_eq!(self::named(end), named[0], "{ranks}, {lines}");
        }
    }
}

/// Ranks that were started for different sorts name the rank and the difference.
#[test]
fn different_jobs_are_refused() {
    let driver = Driver::new(1, 2);
    let records = draw(Pattern::Uniform, 1, 160, 100);
    (0..2).for_each(|rank| put(&driver, rank, &records));
    let order = |key| Order::parse("fixed:100", &[key], Ties::Record).unwrap();
    let jobs = ["0+10", "0+9"].map(|key| job(&["/in"], "/out", &order(key)));
    let ends = driver.run(move |node| {
        let job = Job {
            control: Control::default(),
            ..jobs[node.rank().0 as usize].clone()
        };
        async move {
            sort::run(&node, &job)
                .await
                .map(drop)
                .unwrap_err()
                .to_string()
        }
    });
    for said in ends.unwrap() {
        assert!(
            said.starts_with("rank 1 ") && said.contains("[0+9], not [0+10]"),
            "{said}"
        );
    }
}

/// The messages of rank 1, which does not sort, at some port.
type Foreign = (u16, fn() -> Vec<u8>);

/// A piece of a collective's step, with these numbers in front.
fn piece(step: u64, text: &[u8]) -> Vec<u8> {
    let words = [step, text.len() as u64, 0]
        .into_iter()
        .flat_map(u64::to_le_bytes);
    words.chain(text.iter().copied()).collect()
}

/// A rank that runs another program is named on all others, in one line, long before it counts as
/// silent.
#[test]
fn a_message_of_a_foreign_rank_ends_the_sort_on_all() {
    const AGREEMENTS: u16 = 100;
    const CHUNKS: u16 = 101;
    let says: [(Foreign, &str); 5] = [
        ((AGREEMENTS, || vec![1, 2, 3]), "not a piece"),
        ((AGREEMENTS, || piece(55, b"{}")), "step 55"),
        (
            (AGREEMENTS, || piece(0, b"{\"Ok\":{\"version\":\"99\"}}")),
            "cannot understand",
        ),
        (
            (AGREEMENTS, || piece(0, b"{\"Ok\":1},{\"Ok\":2}")),
            "cannot understand",
        ),
        (
            (CHUNKS, || vec![7; 64 << 20]),
            "of 67108864 bytes for a buffer",
        ),
    ];
    let order = Order::gensort(Ties::Record);
    for ((port, said), told) in says {
        let driver = Driver::new(1, 3);
        for rank in 0..3 {
            put(
                &driver,
                rank,
                &draw(Pattern::Uniform, u64::from(rank), 500, 100),
            );
        }
        let job = job(&["/in"], "/out", &order);
        let ends = driver.run(move |node| {
            let job = Job {
                control: Control::default(),
                ..job.clone()
            };
            async move {
                if node.rank() == Rank(1) {
                    let bytes = said();
                    let mut buffer = Buffer::heap(bytes.len());
                    buffer.bytes_mut().copy_from_slice(&bytes);
                    buffer.set_len(bytes.len());
                    drop(node.ship(
                        Address {
                            rank: Rank(0),
                            port: Port(port),
                        },
                        buffer,
                    ));
                }
                // Chunks are opened only after all have agreed.
                if node.rank() == Rank(1) && port == AGREEMENTS {
                    Ok(())
                } else {
                    sort::run(&node, &job).await.map(drop)
                }
            }
        });
        let ends = ends.unwrap_or_else(|stuck| panic!("{told}: {stuck}"));
        for (rank, end) in ends.into_iter().enumerate().filter(|(rank, _)| *rank != 1) {
            let line = end.expect_err(told).to_string();
            assert!(
                line.contains("rank 1") && line.contains(told),
                "rank {rank}: {line}"
            );
            assert!(line.lines().count() == 1, "{line}");
        }
        for rank in 0..3 {
            assert!(driver.disks(rank).get(&PathBuf::from("/out")).is_none());
        }
    }
}

/// Ranks of which some would exchange in rounds and some in streams are refused.
#[test]
fn one_exchange_for_all() {
    let driver = Driver::new(1, 2);
    let records = draw(Pattern::Uniform, 1, 160, 100);
    (0..2).for_each(|rank| put(&driver, rank, &records));
    let base = job(&["/in"], "/out", &Order::gensort(Ties::Record));
    let ends = driver.run(move |node| {
        let exchange = KINDS[node.rank().0 as usize];
        let job = Job {
            control: Control::default(),
            exchange,
            ..base.clone()
        };
        async move {
            sort::run(&node, &job)
                .await
                .map(drop)
                .unwrap_err()
                .to_string()
        }
    });
    for said in ends.unwrap() {
        assert!(
            said.contains("rank 1 ") && said.contains("--exchange rounds, not streams"),
            "{said}"
        );
    }
}

/// A pipe cannot be sampled before it is read.
#[test]
fn pipes_are_refused() {
    let driver = Driver::new(1, 2);
    let order = Order::gensort(Ties::Record);
    let pipe = PathBuf::from("/pipe");
    (0..2).for_each(|rank| driver.disks(rank).put_pipe(&pipe, vec![7; 1000]));
    let mut job = job(&[], "/out", &order);
    job.sources = vec![Source::Path(pipe)];
    for end in run(&driver, &job) {
        assert!(end.unwrap_err().to_string().contains("pipe"));
    }
}

/// To open a named pipe would wait for its writer, and the other ranks for that.
#[test]
fn a_named_pipe_is_refused_before_it_is_opened() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    let made = children::Command::new("mkfifo").arg(path("in-1")).status();
    assert!(made.unwrap().success());
    let records = draw(Pattern::Uniform, 1, 100, 100);
    std::fs::write(path("in-0"), records).unwrap();
    for has_rows in [false, true] {
        let rows = RowSpec {
            dialect: Dialect::CSV,
            head: Head::of_lines(1),
            keys: Vec::new(),
            keep: Keep::All,
            locale: None,
            nulls: Vec::new(),
            has_short_rows: false,
            sums: Vec::new(),
        };
        let job = Job {
            headed: has_rows.then_some(Headed::Rows(rows)),
            ..job(&[], "", &Order::gensort(Ties::Record))
        };
        let home = place.path().to_owned();
        let (sender, ended) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let ends = node_real::Cluster::new(2, 1).run(move |node| {
                let own = |name: &str| home.join(format!("{name}-{}", node.rank()));
                let job = Job {
                    control: Control::default(),
                    sources: vec![Source::Path(own("in"))],
                    target: Target::Path(own("out")),
                    ..job.clone()
                };
                async move {
                    sort::run(&node, &job)
                        .await
                        .map(drop)
                        .map_err(|end| end.to_string())
                }
            });
            sender.send(ends)
        });
        let ends = ended.recv_timeout(std::time::Duration::from_secs(60));
        for end in ends.expect("no rank waits for a writer") {
            let said = end.unwrap_err();
            assert!(
                said.contains("/in-") && said.contains(" is a pipe"),
                "{said}"
            );
        }
        assert!(!path("out-0").exists() && !path("out-1").exists());
    }
}

/// Ranks of one host see one file under a name; across hosts a file has one length, one time and one
/// content wherever it is looked at.
#[test]
fn files_of_one_name_and_length_are_told_apart() {
    let order = Order::gensort(Ties::Record);
    let records = draw(Pattern::Uniform, 1, 1000, 100);
    let other = |driver: &Driver| {
        let disks = driver.disks(1);
        // Another number.
        disks.put(&PathBuf::from("/before"), Vec::new());
        disks.put(&PathBuf::from("/in"), records.clone());
    };
    let edited = |driver: &Driver| driver.disks(1).edit(&PathBuf::from("/in"), 7, b"x");
    let nothing = |_: &Driver| {};
    type Change<'a> = &'a dyn Fn(&Driver);
    let cases: [(Change<'_>, [&str; 2], bool); 5] = [
        (&nothing, ["a", "a"], false),
        (&other, ["a", "a"], true),
        (&other, ["a", "b"], false),
        (&other, ["", ""], false),
        (&edited, ["a", "b"], true),
    ];
    for (number, (change, hosts, is_refused)) in cases.into_iter().enumerate() {
        let driver = Driver::new(1, 2);
        (0..2).for_each(|rank| put(&driver, rank, &records));
        change(&driver);
        let job = Job {
            shared: true,
            ..job(&["/in"], "/out", &order)
        };
        let hosts = hosts.map(str::to_owned);
        let ends = driver.run(move |node| {
            let job = Job {
                control: Control::default(),
                host: hosts[node.rank().0 as usize].clone(),
                ..job.clone()
            };
            async move { sort::run(&node, &job).await.map(drop) }
        });
        for end in ends.unwrap() {
            let said = end.err().map(|failure| failure.to_string());
            assert_eq!(said.is_some(), is_refused, "{number}: {said:?}");
            let told =
                said.is_none_or(|said| said.contains("rank 1") && said.contains("another input"));
            assert!(told, "{number}");
        }
        assert_eq!(outputs_exist(&driver), !is_refused, "{number}");
    }
}

fn outputs_exist(driver: &Driver) -> bool {
    (0..2).all(|rank| driver.disks(rank).get(&PathBuf::from("/out")).is_some())
}

/// Records that are too large for the exchange are refused with the memory that they need, and that
/// is enough.
#[test]
fn a_refused_exchange_names_enough_memory() {
    let order = Order::parse("fixed:1000000", &[] as &[&str], Ties::Record).unwrap();
    let records: Vec<u8> = (0..20_000_000_u32)
        .map(|at| (at / 1_000_000 * 7 % 20) as u8)
        .collect();
    let mut job = job(&["/in"], "/out", &order);
    let mut needed = 24;
    // First the exchange is refused, then perhaps the rest of the plan.
    for refusals in 0.. {
        let driver = Driver::new(1, 2);
        put(&driver, 0, &records[..10_000_000]);
        put(&driver, 1, &records[10_000_000..]);
        job.resources.memory_bytes = needed << 20;
        let Some(Err(failure)) = run(&driver, &job).pop() else {
            assert!(refusals > 0 && outputs(&driver, 2) == sorted(&records, &order));
            return;
        };
        let said = failure.to_string();
        let more = said
            .split("give at least -S ")
            .nth(1)
            .and_then(|rest| rest.split('M').next());
        let more = more.and_then(|text| text.parse().ok()).expect(&said);
        assert!(more > needed, "{said}");
        needed = more;
    }
}

/// An input that all ranks name must be the same file: another one of its length is refused.
#[test]
fn a_shared_input_must_be_the_same() {
    let order = Order::gensort(Ties::Record);
    let driver = Driver::new(1, 2);
    for rank in 0..2 {
        put(
            &driver,
            rank,
            &draw(Pattern::Uniform, u64::from(rank), 100, 100),
        );
    }
    let job = Job {
        shared: true,
        ..job(&["/in"], "/out", &order)
    };
    for end in run(&driver, &job) {
        let said = end.unwrap_err().to_string();
        assert!(
            said.starts_with("rank 1 ") && said.contains("{rank}"),
            "{said}"
        );
    }
}

/// Two ranks whose outputs are one file or one directory, under any names, overwrite nothing.
#[test]
fn one_output_of_two_ranks_is_refused() {
    let order = Order::gensort(Ties::Record);
    let set = Target::Directories(vec![PathBuf::from("/set"), PathBuf::from("/more")]);
    for (target, shown) in [
        (Target::Path(PathBuf::from("/out")), "/out"),
        (set, "manifest.json"),
    ] {
        for resume in [false, true] {
            if resume && shown != "/out" {
                continue;
            }
            let driver = Driver::new(1, 3).sharing_disks();
            put(&driver, 0, &draw(Pattern::Uniform, 1, 300, 100));
            driver.disks(0).put(&PathBuf::from("/out"), b"old".to_vec());
            for path in ["/set", "/more"] {
                driver.disks(0).put_directory(&PathBuf::from(path));
            }
            let base = job(&["/in"], "", &order);
            let mut job = Job {
                target: target.clone(),
                ..base
            };
            job.resume = resume.then(|| Resume {
                name: "/out".to_owned(),
                sources: job.sources.clone(),
                target: PathBuf::from("/out"),
                temporary: vec![PathBuf::from("/tmp{rank}")],
            });
            for end in run(&driver, &job) {
                let said = end.unwrap_err().to_string();
                assert!(
                    said.contains(shown) && said.contains("writes the same file"),
                    "{said}"
                );
            }
            assert!(driver.disks(0).get(&PathBuf::from("/out")).unwrap() == b"old");
            assert_eq!(
                driver.disks(0).paths().len(),
                2,
                "{:?}",
                driver.disks(0).paths()
            );
        }
    }
}
