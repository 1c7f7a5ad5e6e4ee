//! Sorts over several nodes, under schedules of the deterministic driver: the outputs, one rank's behind the
//! other's, are the sorted records of all inputs.

mod common;

use std::path::PathBuf;

use common::{drawn_order, drawn_records, drawn_tuning, job, least_chunks, sorted};
use kernel::patterns::{Pattern, draw};
use machine::{Driver, Fault};
use node::{Address, Buffer, Port, Random, Rank, Time};
use pipeline::{Control, Failure};
use record::{Format, Order, Ties};
use sort::{Choice, ExchangeKind, Job, Report, Source, Target};

const KINDS: [ExchangeKind; 2] = [ExchangeKind::Streams, ExchangeKind::Rounds];

/// How each rank's sort ended. What they share of the job is the same; each has its own control.
fn run(driver: &Driver, job: &Job) -> Vec<Result<Report, Failure>> {
    let job = job.clone();
    let ends = driver.run(move |node| {
        let job = Job { control: Control::default(), ..job.clone() };
        async move { sort::run(&node, &job).await }
    });
    ends.unwrap_or_else(|stuck| panic!("{stuck}"))
}

fn put(driver: &Driver, rank: u32, bytes: &[u8]) {
    driver.disks(rank).put(&PathBuf::from("/in"), bytes.to_vec());
}

/// The outputs of all ranks, one behind the other.
fn outputs(driver: &Driver, ranks: u32) -> Vec<u8> {
    let of = |rank| driver.disks(rank).get(&PathBuf::from("/out")).expect("an output");
    (0..ranks).flat_map(of).collect()
}

/// Inputs of all ranks together; one is cut at random places.
fn cut(records: &[u8], bytes: usize, ranks: u32, random: &mut Random) -> Vec<Vec<u8>> {
    let count = records.len() / bytes;
    let mut cuts: Vec<usize> = (1..ranks).map(|_| random.below(count + 1) * bytes).collect();
    cuts.extend([0, records.len()]);
    cuts.sort_unstable();
    cuts.windows(2).map(|pair| records[pair[0]..pair[1]].to_vec()).collect()
}

#[test]
fn three_hundred_schedules_give_the_same_records() {
    let (mut spilled, mut shared, mut rounds) = (0, 0, 0);
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let ranks = 2 + random.below(3) as u32;
        let driver = Driver::new(seed, ranks);
        let order = drawn_order(&mut random);
        let records = drawn_records(&mut random, order.record_bytes(), 3000);
        let mut job = job(&["/in"], "/out", &order);
        job.tuning = drawn_tuning(&mut random);
        job.shared = random.below(3) == 0;
        job.exchange = KINDS[random.below(2)];
        let parts = match job.shared {
            true => vec![records.clone(); ranks as usize],
            false => cut(&records, order.record_bytes(), ranks, &mut random),
        };
        for (rank, part) in (0..).zip(&parts) {
            put(&driver, rank, part);
        }
        if random.below(2) == 0 {
            job.plan = Choice::TwoPass;
            let count = (records.len() / order.record_bytes()) as u64 / u64::from(ranks);
            job.tuning.chunks = Some(least_chunks(&job, &order, Some(count)) + random.below(20));
        }
        let mut reports = Vec::new();
        for end in run(&driver, &job) {
            reports.push(end.unwrap_or_else(|failure| panic!("seed {seed}: {failure}")));
        }
        assert!(outputs(&driver, ranks) == sorted(&records, &order), "seed {seed}");
        for rank in 0..ranks {
            // The input, the output, and nothing else.
            assert_eq!(driver.disks(rank).paths().len(), 2, "seed {seed}");
        }
        spilled += usize::from(reports.iter().any(|report| report.passes > 1));
        shared += usize::from(job.shared);
        rounds += usize::from(job.exchange == ExchangeKind::Rounds);
    }
    assert!(rounds > 100, "only {rounds} of them went in rounds");
    assert!(spilled > 40, "only {spilled} of them spilled");
    assert!(shared > 40, "only {shared} of them had one input for all");
}

/// No rank gets much more than the mean, however the input looks.
#[test]
fn ranks_share_evenly() {
    for pattern in Pattern::ALL {
        for ties in [Ties::Record, Ties::Position] {
            let (driver, order) = (Driver::new(1, 4), Order::gensort(ties));
            let parts: Vec<Vec<u8>> = (0..4).map(|rank| draw(pattern, rank, 20_000, 100)).collect();
            for (rank, part) in (0..).zip(&parts) {
                put(&driver, rank, part);
            }
            let reports = run(&driver, &job(&["/in"], "/out", &order));
            for report in &reports {
                let skew = report.as_ref().unwrap().skew();
                assert!(skew < 1.1, "{pattern:?} {ties:?}: {skew}");
            }
            assert!(outputs(&driver, 4) == sorted(&parts.concat(), &order), "{pattern:?}");
        }
    }
}

#[test]
fn few_records_and_none() {
    let order = Order::gensort(Ties::Record);
    for count in [0, 1, 2, 5] {
        let driver = Driver::new(count as u64, 3);
        let records = draw(Pattern::Uniform, 1, count, 100);
        for rank in 0..3 {
            put(&driver, rank, if rank == 1 { &records } else { &[] });
        }
        for end in run(&driver, &job(&["/in"], "/out", &order)) {
            end.unwrap();
        }
        assert!(outputs(&driver, 3) == sorted(&records, &order), "{count}");
    }
}

/// One rank cannot begin: all end with its reason, and no output is there.
#[test]
fn what_one_refuses_all_refuse() {
    let order = Order::gensort(Ties::Record);
    let records = draw(Pattern::Uniform, 1, 100, 100);
    let driver = Driver::new(1, 3);
    put(&driver, 0, &records);
    put(&driver, 2, &records[..150]);
    let said: Vec<String> = run(&driver, &job(&["/in"], "/out", &order))
        .into_iter()
        .map(|end| end.unwrap_err().to_string())
        .collect();
    assert!(said[0].starts_with("rank 1: ") && said[0].contains("/in"), "{said:?}");
    assert!(!said[1].starts_with("rank ") && said[1].contains("/in"), "{said:?}");
    assert!(said[2].contains("inside a record"), "{said:?}");
    for rank in 0..3 {
        assert!(driver.disks(rank).get(&PathBuf::from("/out")).is_none());
    }
}

/// Ranks that were started for different sorts say which and in what.
#[test]
fn different_jobs_are_refused() {
    let driver = Driver::new(1, 2);
    let records = draw(Pattern::Uniform, 1, 160, 100);
    (0..2).for_each(|rank| put(&driver, rank, &records));
    let order = |key| Format::parse("fixed:100", &[key], Ties::Record).unwrap().order;
    let jobs = ["0+10", "0+9"].map(|key| job(&["/in"], "/out", &order(key)));
    let ends = driver.run(move |node| {
        let job = Job { control: Control::default(), ..jobs[node.rank().0 as usize].clone() };
        async move { sort::run(&node, &job).await.map(drop).unwrap_err().to_string() }
    });
    for said in ends.unwrap() {
        assert!(said.starts_with("rank 1 ") && said.contains("[0+9], not [0+10]"), "{said}");
    }
}

/// What rank 1 says instead of sorting, at some port.
type Foreign = (u16, fn() -> Vec<u8>);

/// A piece of a collective's step, with these numbers in front.
fn piece(step: u64, text: &[u8]) -> Vec<u8> {
    let words = [step, text.len() as u64, 0].into_iter().flat_map(u64::to_le_bytes);
    words.chain(text.iter().copied()).collect()
}

/// A rank that runs something else is named on all others, in one line, long before it counts as silent.
#[test]
fn what_a_foreign_rank_says_ends_the_sort_on_all() {
    const AGREEMENTS: u16 = 100;
    const CHUNKS: u16 = 101;
    let says: [(Foreign, &str); 5] = [
        ((AGREEMENTS, || vec![1, 2, 3]), "no piece"),
        ((AGREEMENTS, || piece(55, b"{}")), "step 55"),
        ((AGREEMENTS, || piece(0, b"{\"Ok\":{\"version\":\"99\"}}")), "does not understand"),
        ((AGREEMENTS, || piece(0, b"{\"Ok\":1},{\"Ok\":2}")), "does not understand"),
        ((CHUNKS, || vec![7; 64 << 20]), "of 67108864 bytes for a buffer"),
    ];
    let order = Order::gensort(Ties::Record);
    for ((port, said), told) in says {
        let driver = Driver::new(1, 3);
        for rank in 0..3 {
            put(&driver, rank, &draw(Pattern::Uniform, u64::from(rank), 500, 100));
        }
        let job = job(&["/in"], "/out", &order);
        let ends = driver.run(move |node| {
            let job = Job { control: Control::default(), ..job.clone() };
            async move {
                if node.rank() == Rank(1) {
                    let bytes = said();
                    let mut buffer = Buffer::heap(bytes.len());
                    buffer.bytes_mut().copy_from_slice(&bytes);
                    buffer.set_len(bytes.len());
                    drop(node.ship(Address { rank: Rank(0), port: Port(port) }, buffer));
                }
                // Chunks are looked at when all have agreed.
                match node.rank() == Rank(1) && port == AGREEMENTS {
                    true => Ok(()),
                    false => sort::run(&node, &job).await.map(drop),
                }
            }
        });
        let ends = ends.unwrap_or_else(|stuck| panic!("{told}: {stuck}"));
        for (rank, end) in ends.into_iter().enumerate().filter(|(rank, _)| *rank != 1) {
            let line = end.expect_err(told).to_string();
            assert!(line.contains("rank 1") && line.contains(told), "rank {rank}: {line}");
            assert!(line.lines().count() == 1, "{line}");
        }
        for rank in 0..3 {
            assert!(driver.disks(rank).get(&PathBuf::from("/out")).is_none());
        }
    }
}

/// Ranks that would wait for each other in rounds and in streams are told.
#[test]
fn one_exchange_for_all() {
    let driver = Driver::new(1, 2);
    let records = draw(Pattern::Uniform, 1, 160, 100);
    (0..2).for_each(|rank| put(&driver, rank, &records));
    let base = job(&["/in"], "/out", &Order::gensort(Ties::Record));
    let ends = driver.run(move |node| {
        let exchange = KINDS[node.rank().0 as usize];
        let job = Job { control: Control::default(), exchange, ..base.clone() };
        async move { sort::run(&node, &job).await.map(drop).unwrap_err().to_string() }
    });
    for said in ends.unwrap() {
        assert!(
            said.contains("rank 1 ") && said.contains("--exchange rounds, not streams"),
            "{said}"
        );
    }
}

/// Nobody can look at a pipe before it is read.
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

/// A node dies at any moment: the others end, and say which it was; nobody waits for ever, and no output is there
/// in part.
#[test]
fn a_dead_node_ends_the_sort() {
    let order = Order::gensort(Ties::Record);
    let parts: Vec<Vec<u8>> = (0..3).map(|rank| draw(Pattern::Uniform, rank, 400, 100)).collect();
    let whole = sorted(&parts.concat(), &order);
    let (mut told, mut done) = (0, 0);
    for nth in (1..).step_by(37) {
        let exchange = KINDS[(nth / 37 % 2) as usize];
        let driver = Driver::new(nth, 3);
        for (rank, part) in (0..).zip(&parts) {
            put(&driver, rank, part);
        }
        driver.kill((nth % 3) as u32, nth);
        let job = Job { exchange, ..job(&["/in"], "/out", &order) };
        let ends = run(&driver, &job);
        if driver.deaths() == 0 {
            assert!(ends.iter().all(Result::is_ok));
            break;
        }
        for end in ends {
            match end {
                Ok(_) => done += 1,
                Err(failure) => {
                    let said = failure.to_string();
                    assert!(said.contains(&format!("rank {}", nth % 3)), "{nth}: {said}");
                    told += 1;
                }
            }
        }
        for rank in 0..3 {
            let output = driver.disks(rank).get(&PathBuf::from("/out"));
            let is_part = |bytes: &Vec<u8>| whole.windows(bytes.len().max(1)).any(|at| at == bytes);
            assert!(output.is_none_or(|bytes| bytes.is_empty() || is_part(&bytes)), "{nth}");
        }
    }
    assert!(told > 50, "only {told} ranks told of a dead one, {done} were done");
}

/// Rank 0 dies at the very end, where messages are late: it may have said that all is done, and not yet have let go
/// what it has told. Nobody waits for that for ever.
#[test]
fn who_is_done_stays_until_the_others_are() {
    const LATE: u64 = 50_000_000;
    const LAST_EVENTS: u64 = 120;
    let order = Order::gensort(Ties::Record);
    let late = || {
        let driver = Driver::new(3, 3);
        driver.delay(LATE);
        driver.end_by(Time(600_000_000_000));
        for rank in 0..3 {
            put(&driver, rank, &draw(Pattern::Uniform, u64::from(rank), 50, 100));
        }
        driver
    };
    let whole = late();
    run(&whole, &job(&["/in"], "/out", &order)).into_iter().for_each(|end| drop(end.unwrap()));
    let (mut told, mut done) = (0, 0);
    for before in 0..LAST_EVENTS {
        let driver = late();
        driver.kill(0, whole.events() - before);
        for end in run(&driver, &job(&["/in"], "/out", &order)) {
            match end {
                Ok(_) => done += 1,
                Err(failure) => {
                    assert!(failure.to_string().contains("rank 0"), "{before}: {failure}");
                    told += 1;
                }
            }
        }
    }
    assert!(told > 20 && done > 20, "{told} ranks told of a dead one, {done} were done");
}

/// A disk operation fails on one rank, any of them: all ranks end with its reason, or all are done.
#[test]
fn a_failing_disk_ends_the_sort_on_all() {
    let order = Order::gensort(Ties::Record);
    let parts: Vec<Vec<u8>> = (0..3).map(|rank| draw(Pattern::Uniform, rank, 400, 100)).collect();
    let mut fired = 0;
    for nth in 1.. {
        let driver = Driver::new(nth, 3);
        for (rank, part) in (0..).zip(&parts) {
            put(&driver, rank, part);
        }
        driver.disks(1).fail(nth, Fault::Device);
        let exchange = KINDS[(nth % 2) as usize];
        let ends = run(&driver, &Job { exchange, ..job(&["/in"], "/out", &order) });
        let failed = ends.iter().filter(|end| end.is_err()).count();
        // What is done when a file is closed or removed may fail without harm.
        assert!(failed == 0 || failed == 3, "{nth}: {failed}");
        for (rank, end) in ends.iter().enumerate() {
            let Err(failure) = end else { continue };
            let said = failure.to_string();
            assert_eq!(said.starts_with("rank 1: "), rank != 1, "{nth}: {said}");
            assert!(said.contains("/in") || said.contains("/out"), "{nth}: {said}");
        }
        for rank in 0..3 {
            let left = driver.disks(rank).paths().len();
            assert!(left <= 2, "{nth}: {:?}", driver.disks(rank).paths());
        }
        fired += usize::from(failed > 0);
        if driver.disks(1).operations() < nth {
            break;
        }
    }
    assert!(fired > 10, "only {fired} faults were noticed");
}

/// Records for which the exchange has no room are refused with what they need, and that is enough.
#[test]
fn what_an_exchange_needs_is_said() {
    let order = Format::parse("fixed:1000000", &[] as &[&str], Ties::Record).unwrap().order;
    let records: Vec<u8> = (0..20_000_000_u32).map(|at| (at / 1_000_000 * 7 % 20) as u8).collect();
    let mut job = job(&["/in"], "/out", &order);
    let mut needed = 24;
    // First the exchange is refused, then perhaps what lies beside it.
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
        let more = said.split("give at least -S ").nth(1).and_then(|rest| rest.split('M').next());
        let more = more.and_then(|text| text.parse().ok()).expect(&said);
        assert!(more > needed, "{said}");
        needed = more;
    }
}

/// Hosts differ in memory, cores and disks: what they send each other suits all.
#[test]
fn ranks_may_differ() {
    let order = Order::gensort(Ties::Position);
    let driver = Driver::new(5, 3);
    let parts: Vec<Vec<u8>> = (0..3).map(|rank| draw(Pattern::Uniform, rank, 9000, 100)).collect();
    for (rank, part) in (0..).zip(&parts) {
        put(&driver, rank, part);
    }
    let base = job(&["/in"], "/out", &order);
    let ends = driver.run(move |node| {
        let mut job = Job { control: Control::default(), ..base.clone() };
        let rank = node.rank().0;
        job.resources.memory_bytes = [1 << 30, 8 << 20, 20 << 20][rank as usize];
        job.resources.cores = [7, 1, 2][rank as usize];
        async move { sort::run(&node, &job).await.map(drop) }
    });
    ends.unwrap().into_iter().for_each(|end| end.unwrap());
    assert!(outputs(&driver, 3) == sorted(&parts.concat(), &order));
}

/// Sets of files that an earlier sort has made may be the inputs.
#[test]
fn sets_may_be_inputs() {
    let order = Order::gensort(Ties::Record);
    let driver = Driver::new(6, 2);
    let parts: Vec<Vec<u8>> = (0..2).map(|rank| draw(Pattern::Uniform, rank, 2000, 100)).collect();
    for (rank, part) in (0..).zip(&parts) {
        put(&driver, rank, part);
        driver.disks(rank).put_directory(&PathBuf::from("/set"));
    }
    let first = job(&["/in"], "", &order);
    let target = Target::Directories(vec![PathBuf::from("/set")]);
    let into_set = Job { target, ..first };
    run(&driver, &into_set).into_iter().for_each(|end| drop(end.unwrap()));
    let again = Driver::new(7, 2);
    for rank in 0..2 {
        again.disks(rank).put_directory(&PathBuf::from("/set"));
        for path in driver.disks(rank).paths() {
            again.disks(rank).put(&path, driver.disks(rank).get(&path).unwrap());
        }
    }
    run(&again, &job(&["/set"], "/out", &order)).into_iter().for_each(|end| drop(end.unwrap()));
    assert!(outputs(&again, 2) == sorted(&parts.concat(), &order));
}

/// What all ranks name must be one input: another file of that length is refused.
#[test]
fn a_shared_input_must_be_the_same() {
    let order = Order::gensort(Ties::Record);
    let driver = Driver::new(1, 2);
    for rank in 0..2 {
        put(&driver, rank, &draw(Pattern::Uniform, u64::from(rank), 100, 100));
    }
    let job = Job { shared: true, ..job(&["/in"], "/out", &order) };
    for end in run(&driver, &job) {
        let said = end.unwrap_err().to_string();
        assert!(said.starts_with("rank 1 ") && said.contains("{rank}"), "{said}");
    }
}
