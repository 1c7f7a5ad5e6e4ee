//! Inputs that another task cuts or extends at some time of a sort, in virtual time.

use std::path::{Path, PathBuf};

use crate::common::{get, job, least_chunks, put, sorted};
use kernel::patterns::{Pattern, draw};
use node::{Costs, Open, Time};
use pipeline::{Control, Failure};
use record::rows::Dialect;
use record::{Head, Headed, Keep, Order, RowSpec, Ties};
use rehearsal::DiskModel;
use rehearsal::Driver;
use sort::{Choice, IoChoice, Job, Report, SortError, Source, Tuning, Warning};

const RECORDS: usize = 3000;
const BYTES: u64 = RECORDS as u64 * 100;

/// Requests take a while, so that a sort has many moments.
const DISK: DiskModel = DiskModel {
    latency_ns: 1000,
    read_ns_per_kib: 10,
    write_ns_per_kib: 10,
};

fn order() -> Order {
    Order::gensort(Ties::Record)
}

fn records() -> Vec<u8> {
    draw(Pattern::Uniform, 3, RECORDS, 100)
}

/// A sort of `/in`. One of two passes has few more chunks than the least that works, so that it
/// spills.
fn sort_of(plan: Choice, io: IoChoice) -> Job {
    let mut job = job(&["/in"], "/out", &order());
    (job.plan, job.resources.io) = (plan, io);
    job.temporary = vec![PathBuf::from("/tmp0")];
    job.tuning = Tuning {
        unit_records: Some(40),
        buckets: Some(10),
        ..Tuning::default()
    };
    if plan == Choice::TwoPass {
        job.tuning.chunks = Some(least_chunks(&job, &order(), Some(RECORDS as u64)));
    }
    job
}

/// Runs the job while another task changes the length of its input at a given time.
fn run_and_resize(driver: &Driver, job: &Job, at: Time, length: u64) -> Result<Report, Failure> {
    put(driver, "/in", &records());
    // A control that has ended one run ends every later one.
    let job = Job {
        control: Control::default(),
        ..job.clone()
    };
    let ends = driver.run(move |node| {
        let job = job.clone();
        async move {
            let meddler = node.spawn("meddler", move |node| async move {
                node.sleep_until(at).await;
                let file = node.open(Path::new("/in"), Open::Append).await.unwrap();
                file.truncate(&node, length).await.unwrap();
            });
            let end = sort::run(&node, &job).await;
            meddler.wait(&node).await.unwrap();
            end
        }
    });
    ends.unwrap_or_else(|stuck| panic!("{stuck}"))
        .pop()
        .expect("one node")
}

/// Results of the sort with a change at each of many moments, and its output.
fn at_many_moments(
    job: &Job,
    length: u64,
    mut check: impl FnMut(Time, Time, Result<Report, Failure>, Option<Vec<u8>>),
) {
    const MOMENTS: u64 = 40;
    let driver = || Driver::with(7, 1, Costs::default(), DISK);
    let undisturbed = driver();
    let report = run_and_resize(&undisturbed, job, Time(0), BYTES).unwrap();
    assert_eq!(
        report.passes,
        if job.plan == Choice::TwoPass { 2 } else { 1 }
    );
    let whole = undisturbed.now();
    for moment in 1..MOMENTS {
        let (driver, at) = (driver(), Time(whole.0 * moment / MOMENTS));
        let end = run_and_resize(&driver, job, at, length);
        let left: Vec<_> = driver.disks(0).paths();
        assert!(
            left.iter()
                .all(|path| ["/in", "/out"].map(Path::new).contains(&&**path))
        );
        check(at, whole, end, get(&driver, "/out"));
    }
}

#[test]
fn a_cut_file_is_sorted_as_it_was_or_refused() {
    const LEFT: u64 = 123_456;
    for plan in [Choice::OnePass, Choice::TwoPass] {
        for io in [IoChoice::Direct, IoChoice::Buffered] {
            let (mut refused, mut done) = (0, 0);
            at_many_moments(&sort_of(plan, io), LEFT, |at, _, end, output| match end {
                Ok(report) => {
                    done += 1;
                    assert_eq!(report.warnings, []);
                    assert!(
                        output.unwrap() == sorted(&records(), &order()),
                        "{plan:?} {at:?}"
                    );
                }
                Err(failure) => {
                    refused += 1;
                    let Failure::Program(error) = &failure else {
                        panic!("{failure}")
                    };
                    let Some(SortError::Shrunk { file, offset }) = error.downcast_ref() else {
                        panic!("{failure}")
                    };
                    assert_eq!(file, Path::new("/in"));
                    assert!(
                        (LEFT..BYTES).contains(offset),
                        "{plan:?} {io:?} {at:?}: {offset}"
                    );
                    assert_eq!(output, None);
                }
            });
            assert!(
                refused > 5 && done > 5,
                "{plan:?} {io:?}: {refused} refused, {done} done"
            );
        }
    }
}

#[test]
fn a_growing_file_is_sorted_as_it_was_with_a_warning() {
    const NOW: u64 = BYTES + 4321;
    for plan in [Choice::OnePass, Choice::TwoPass] {
        for io in [IoChoice::Direct, IoChoice::Buffered] {
            at_many_moments(&sort_of(plan, io), NOW, |at, whole, end, output| {
                let report = end.unwrap();
                assert!(
                    output.unwrap() == sorted(&records(), &order()),
                    "{plan:?} {at:?}"
                );
                let grew = Warning::Grew {
                    file: PathBuf::from("/in"),
                    was: BYTES,
                    now: NOW,
                };
                // At the very end no task looks at the input any more.
                if !report.warnings.is_empty() || at.0 < whole.0 * 9 / 10 {
                    assert_eq!(
                        report.warnings,
                        [grew],
                        "{plan:?} {io:?} {at:?} of {whole:?}"
                    );
                }
            });
        }
    }
}

/// Rows that another file takes the name of, with other columns: between the looks at their header and
/// at their rows, too. Of more than a few files, each is opened again when it is read.
#[test]
fn rows_are_sorted_under_their_own_header() {
    const MOMENTS: u64 = 60;
    let table = |header: &str, first: u32| {
        let rows = (0..400).map(|row| format!("{},{}\n", first + row * 7 % 400, row % 10));
        format!("{header}\n{}", rows.collect::<String>()).into_bytes()
    };
    let (old, new) = (table("id,k", 1000), table("k,identity", 5000));
    for files in [1, 12] {
        let driver = || {
            let driver = Driver::with(9, 1, Costs::default(), DISK);
            for file in 0..files {
                put(&driver, &format!("/in{file}"), &old);
            }
            put(&driver, "/other", &new);
            driver
        };
        let run = |driver: &Driver, at: Option<Time>| {
            let mut job = job(&[], "/out", &order());
            job.sources = (0..files)
                .map(|file| Source::Path(format!("/in{file}").into()))
                .collect();
            job.may_begin_again = true;
            job.headed = Some(Headed::Rows(RowSpec {
                dialect: Dialect::CSV,
                head: Head::of_lines(1),
                keys: vec!["k:num".parse().unwrap()],
                keep: Keep::All,
                locale: None,
                nulls: Vec::new(),
                has_short_rows: false,
                sums: Vec::new(),
            }));
            let ends = driver.run(move |node| {
                let job = job.clone();
                async move {
                    let meddler = node.spawn("meddler", move |node| async move {
                        if let Some(at) = at {
                            node.sleep_until(at).await;
                            let (other, file) = (Path::new("/other"), Path::new("/in0"));
                            node.rename(other, file).await.unwrap();
                        }
                    });
                    let end = sort::run(&node, &job).await;
                    meddler.wait(&node).await.unwrap();
                    end
                }
            });
            ends.unwrap_or_else(|stuck| panic!("{stuck}"))
                .pop()
                .unwrap()
        };
        let undisturbed = driver();
        run(&undisturbed, None).unwrap();
        let (whole, of_old) = (undisturbed.now(), get(&undisturbed, "/out"));
        // Of several files the others have another header.
        let replaced = driver();
        put(&replaced, "/in0", &new);
        let at_once = run(&replaced, None);
        assert_eq!(at_once.is_ok(), files == 1);
        let of_new = at_once.is_ok().then(|| get(&replaced, "/out"));
        let mut refused = 0;
        for moment in 1..MOMENTS {
            let driver = driver();
            match run(&driver, Some(Time(whole.0 * moment / MOMENTS))) {
                Ok(_) => {
                    let out = get(&driver, "/out");
                    assert!(out == of_old || Some(&out) == of_new.as_ref(), "{moment}");
                }
                Err(_) => refused += 1,
            }
        }
        assert!(refused > 0, "no moment was between two looks");
    }
}
