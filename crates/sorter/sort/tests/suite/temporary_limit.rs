//! A limit of the temporary files: a sort keeps to it, or is refused, before it begins if the
//! estimate says so, and leaves nothing behind.

use crate::common::run;
use crate::common::survival::{Case, Output, WAYS};
use pipeline::Failure;
use record::Ties;
use sort::{Job, SortError};

/// What the limit said, and whether that was before the sort.
fn refused(failure: &Failure, limit: u64) -> bool {
    let Failure::Program(error) = failure else {
        panic!("{failure}")
    };
    match error.downcast_ref() {
        Some(SortError::TemporaryLimit {
            needed,
            limit: told,
        }) => {
            assert_eq!(*told, limit);
            assert!(needed.is_none_or(|needed| needed > limit), "{failure}");
            needed.is_some()
        }
        _ => panic!("{failure}"),
    }
}

#[test]
fn a_limit_is_kept_or_the_sort_is_refused() {
    const LIMITS: u64 = 12;
    let (mut before, mut during, mut kept) = (0, 0, 0);
    for way in WAYS {
        for case in [
            Case::new(way, way.records),
            Case::of_lines("/out", way, way.records, Ties::Record),
        ] {
            let driver = case.driver(1);
            let free = run(&driver, &case.job()).unwrap_or_else(|failure| panic!("{failure}"));
            let most = free.temp_peak_bytes;
            for part in 0..=LIMITS {
                let (driver, limit) = (case.driver(1), most * part * 3 / (2 * LIMITS));
                let job = Job {
                    temporary_limit: Some(limit),
                    ..case.job()
                };
                let here = format!("{}, limit {limit} of {most}", way.name);
                let expected = match run(&driver, &job) {
                    Ok(report) => {
                        assert!(report.temp_peak_bytes <= limit, "{here}");
                        kept += 1;
                        Output::New
                    }
                    Err(failure) if refused(&failure, limit) => {
                        before += 1;
                        Output::Old
                    }
                    Err(_) => {
                        during += 1;
                        Output::Old
                    }
                };
                let checked = case.check(&driver, expected);
                let checked = checked.and_then(|_| case.check_alone(&driver));
                checked.unwrap_or_else(|wrong| panic!("{here}: {wrong}"));
            }
        }
    }
    assert!(before > 10 && kept > 10, "{before} {during} {kept}");
}

/// Nothing is estimated for a sort that drops records: it meets the limit while it sorts.
#[test]
fn a_sort_that_drops_records_meets_the_limit_on_its_way() {
    let way = *WAYS.last().expect("a merge");
    let case = Case::new(way, way.records);
    let job = |limit| Job {
        temporary_limit: Some(limit),
        top: Some(u64::MAX),
        ..case.job()
    };
    let driver = case.driver(2);
    let failure = run(&driver, &job(4096)).expect_err("it needs more");
    assert!(!refused(&failure, 4096), "{failure}");
    assert!(failure.to_string().contains("--tmp-limit"), "{failure}");
    let checked = case.check(&driver, Output::Old);
    let checked = checked.and_then(|_| case.check_alone(&driver));
    checked.unwrap_or_else(|wrong| panic!("{wrong}"));
}
