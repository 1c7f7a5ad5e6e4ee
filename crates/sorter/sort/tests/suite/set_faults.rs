//! Disks that fail and nodes that die while a set of files is written: one complete set is always
//! there.

use std::path::PathBuf;
use std::sync::Arc;

use crate::common::set::{content, driver, into_set, manifest, spill};
use crate::common::{distinct, get, put, run, run_unless_killed, sorted};
use kernel::patterns::{Pattern, draw};
use record::{Order, Ties};
use rehearsal::{Durability, Fault};
use sort::{Bytes, Job, Source, Tuning};

/// Disk operation 1, 2, 3 ... fails until none fails any more. In every case the input is intact,
/// the old set or the new one is complete, no other file is left, and the error names a file of it.
#[test]
fn every_disk_fault_is_survived() {
    survive_faults(false);
}

/// The same where records with equal keys are dropped, so that files become shorter, or remain empty.
#[test]
fn disk_faults_of_unique_sets_are_survived() {
    survive_faults(true);
}

/// Records of which each occurs twice, those with the greatest keys, which would fill the last file,
/// more often.
fn repeated(count: usize) -> Vec<u8> {
    let records = draw(Pattern::Uniform, 8, count / 2, 100);
    let last = [&[0xff; 10][..], &records[10..100]].concat();
    let often = last.repeat(count / 4);
    [&records[..], &often, &records, &often].concat()
}

/// A sort into a set, which may keep one record of each key.
fn into(directories: &[&str], unique: bool) -> (Job, Order) {
    let ties = if unique { Ties::Position } else { Ties::Record };
    let order = Order::gensort(ties);
    let mut job = into_set(&["/few"], directories, &order);
    if unique {
        job.contents = Arc::new(Bytes::new(order.clone()).unique());
    }
    (job, order)
}

fn expected(records: &[u8], order: &Order, unique: bool) -> Vec<u8> {
    let sorted = sorted(records, order);
    if unique {
        distinct(&sorted, order)
    } else {
        sorted
    }
}

fn survive_faults(unique: bool) {
    let records = if unique {
        repeated(1200)
    } else {
        draw(Pattern::Uniform, 8, 1200, 100)
    };
    for (fault, two_pass) in [
        (Fault::Device, false),
        (Fault::Full, false),
        (Fault::Short, false),
        (Fault::Device, true),
        (Fault::Full, true),
    ] {
        let (mut fired, mut nth) = (0, 1);
        loop {
            let driver = driver(nth);
            put(&driver, "/in", &records);
            put(&driver, "/few", &records[..5000]);
            let (mut job, order) = into(&["/set", "/b"], unique);
            job.tuning = Tuning {
                unit_records: Some(200),
                buckets: Some(5),
                ..Tuning::default()
            };
            run(&driver, &job).unwrap();
            let (old, before) = (manifest(&driver, "/set"), driver.disks(0).operations());
            job.sources = vec![Source::Path(PathBuf::from("/in"))];
            if two_pass {
                job.tuning.buckets = None;
                spill(&mut job, &order, Some(records.len() as u64 / 100), 5);
            }
            driver.disks(0).fail(before + nth, fault);
            let end = run(&driver, &job);
            assert!(get(&driver, "/in").unwrap() == records, "{fault:?} {nth}");
            let now = manifest(&driver, "/set");
            assert_eq!(
                driver.disks(0).paths().len(),
                3 + now.files.len(),
                "{fault:?} {nth}: {:?}",
                driver.disks(0).paths()
            );
            let sorted = if end.is_ok() {
                &records[..]
            } else {
                &records[..5000]
            };
            assert!(
                content(&driver, "/set") == expected(sorted, &order, unique),
                "{fault:?} {nth}"
            );
            if let Err(failure) = end {
                fired += 1;
                assert_eq!(now, old, "{fault:?} {nth}");
                let said = failure.to_string();
                let names = ["/in", "/set", "/b"];
                assert!(
                    names.iter().any(|name| said.contains(name)),
                    "{fault:?} {nth}: {said}"
                );
                assert!(
                    !said.contains(".gristmill") || two_pass,
                    "{fault:?} {nth}: {said}"
                );
            }
            if driver.disks(0).operations() < before + nth {
                break;
            }
            nth += 1;
        }
        assert!(
            fired > 30,
            "only {fired} faults of {nth} operations were noticed"
        );
    }
}

/// The node dies after each event, and data that was not synced is lost or torn: the old set or the
/// new one is complete, the new one for ever once success was reported, and the next run into the
/// directory removes all files that belong to no set.
#[test]
fn every_death_is_survived() {
    survive_deaths(false);
}

#[test]
fn deaths_of_unique_sets_are_survived() {
    survive_deaths(true);
}

fn survive_deaths(unique: bool) {
    let records = if unique {
        repeated(300)
    } else {
        draw(Pattern::Uniform, 8, 300, 100)
    };
    let order = into(&["/set"], unique).1;
    let few = expected(&records[..5000], &order, unique);
    let many = expected(&records, &order, unique);
    let mut left = 0;
    for durability in [Durability::Synced, Durability::Always] {
        for nth in 1.. {
            let driver = driver(nth);
            driver.disks(0).set_durability(durability);
            put(&driver, "/in", &records);
            put(&driver, "/few", &records[..5000]);
            let mut job = into(&["/set", "/b"], unique).0;
            job.tuning = Tuning {
                unit_records: Some(100),
                buckets: Some(4),
                ..Tuning::default()
            };
            run(&driver, &job).unwrap();
            job.sources = vec![Source::Path(PathBuf::from("/in"))];
            driver.kill(0, nth);
            let end = run_unless_killed(&driver, &job);
            let dead = driver.deaths() > 0;
            if end.is_some() {
                driver.disks(0).crash(nth);
            }
            let now = content(&driver, "/set");
            assert!(
                now == many || (end.is_none() && now == few),
                "{durability:?} {nth}"
            );
            left += usize::from(driver.disks(0).paths().len() > 5);
            run(&driver, &job).unwrap();
            assert!(content(&driver, "/set") == many, "{durability:?} {nth}");
            let files = manifest(&driver, "/set").files;
            assert!(files.iter().all(|file| file.records > 0), "{files:?}");
            let files = files.len();
            let paths = driver.disks(0).paths();
            assert_eq!(paths.len(), 3 + files, "{durability:?} {nth}: {paths:?}");
            if !dead {
                break;
            }
        }
    }
    assert!(left > 100, "only {left} deaths left something");
}
