//! Disks that fail and nodes that die while a set of files is written: one complete set is always
//! there.

use std::path::PathBuf;

use crate::common::set::{content, driver, into_set, manifest, spill};
use crate::common::{get, put, run, run_unless_killed, sorted};
use kernel::patterns::{Pattern, draw};
use machine::{Durability, Fault};
use record::{Order, Ties};
use sort::{Source, Tuning};

/// Disk operation 1, 2, 3 ... fails until none fails any more. In every case the input is intact,
/// the old set or the new one is complete, no other file is left, and the error names a file of it.
#[test]
fn every_disk_fault_is_survived() {
    let order = Order::gensort(Ties::Record);
    let records = draw(Pattern::Uniform, 8, 1200, 100);
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
            let mut job = into_set(&["/few"], &["/set", "/b"], &order);
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
                spill(&mut job, &order, Some(1200), 5);
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
            let expected = if end.is_ok() {
                &records[..]
            } else {
                &records[..5000]
            };
            assert!(
                content(&driver, "/set") == sorted(expected, &order),
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
    let order = Order::gensort(Ties::Record);
    let records = draw(Pattern::Uniform, 8, 300, 100);
    let (few, many) = (sorted(&records[..5000], &order), sorted(&records, &order));
    let mut left = 0;
    for durability in [Durability::Synced, Durability::Always] {
        for nth in 1.. {
            let driver = driver(nth);
            driver.disks(0).set_durability(durability);
            put(&driver, "/in", &records);
            put(&driver, "/few", &records[..5000]);
            let mut job = into_set(&["/few"], &["/set", "/b"], &order);
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
            let files = manifest(&driver, "/set").files.len();
            let paths = driver.disks(0).paths();
            assert_eq!(paths.len(), 3 + files, "{durability:?} {nth}: {paths:?}");
            if !dead {
                break;
            }
        }
    }
    assert!(left > 100, "only {left} deaths left something");
}
