//! Disk space for output and spill files on one disk and on several, checked before the first byte
//! is written.

use std::path::{Path, PathBuf};

use pipeline::Failure;
use rehearsal::DiskModel;
use rehearsal::Driver;
use sort::{Demand, SortError};

/// Directories on three disks, two of them on the second, and the free bytes of each disk.
const DISKS: [(&[&str], u64); 3] = [(&["/a"], 1000), (&["/b", "/b/other"], 500), (&["/c"], 70)];

fn driver() -> Driver {
    let driver = Driver::new(1, 1);
    for (directories, free) in DISKS {
        let disk = Path::new(directories[0]);
        driver.disks(0).mount(disk, DiskModel::default());
        directories
            .iter()
            .for_each(|path| driver.disks(0).put_directory(Path::new(path)));
        // Bytes that are taken already are not free.
        driver.disks(0).put(&disk.join("file"), vec![7; 30]);
        driver.disks(0).set_capacity_of(disk, free + 30);
    }
    driver
}

/// Checks the space for an output and spill files of these sizes. If it is too little, returns the
/// bytes needed and the bytes free.
fn refused_on(
    driver: &Driver,
    (outputs, output_bytes): (&[&str], u64),
    (temporary, temporary_bytes): (&[&str], u64),
) -> Option<(u64, u64)> {
    let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
    let (outputs, temporary) = (paths(outputs), paths(temporary));
    let expected = temporary.clone();
    let ends = driver.run(move |node| {
        let (outputs, temporary) = (outputs.clone(), temporary.clone());
        let demand = Demand {
            outputs,
            output_bytes,
            temporary,
            temporary_bytes,
        };
        async move { demand.check(&node).await }
    });
    let end = ends
        .unwrap_or_else(|stuck| panic!("{stuck}"))
        .pop()
        .expect("one node");
    let Failure::Program(error) = end.err()? else {
        panic!("no failure of ours")
    };
    match error.downcast_ref() {
        Some(SortError::NoTemporaryRoom {
            directories,
            needed,
            free,
        }) => {
            assert_eq!(*directories, expected);
            Some((*needed, *free))
        }
        _ => panic!("{error}"),
    }
}

fn refused(output: (&[&str], u64), temporary: (&[&str], u64)) -> Option<(u64, u64)> {
    refused_on(&driver(), output, temporary)
}

#[test]
fn without_spill_files_only_the_output_is_reserved() {
    assert_eq!(refused((&["/a"], 1_000_000), (&["/a"], 0)), None);
}

#[test]
fn output_and_spill_on_one_disk_are_added() {
    // Each of them fits alone.
    assert_eq!(refused((&["/a"], 600), (&["/a"], 401)), Some((1001, 1000)));
    assert_eq!(refused((&["/a"], 600), (&["/a"], 400)), None);
    // The same disk through another directory.
    assert_eq!(
        refused((&["/b"], 251), (&["/b/other"], 250)),
        Some((501, 500))
    );
    assert_eq!(refused((&["/b"], 250), (&["/b/other"], 250)), None);
}

#[test]
fn output_and_spill_on_different_disks_are_not_added() {
    assert_eq!(refused((&["/a"], 1000), (&["/b"], 500)), None);
    // The output's own space is checked when it is reserved.
    assert_eq!(refused((&["/a"], 5000), (&["/b"], 500)), None);
}

#[test]
fn spill_must_fit_on_the_temporary_disks() {
    assert_eq!(refused((&["/a"], 10), (&["/b"], 501)), Some((501, 500)));
    assert_eq!(
        refused((&["/a"], 10), (&["/b", "/c"], 571)),
        Some((571, 570))
    );
    assert_eq!(refused((&["/a"], 10), (&["/b", "/c"], 570)), None);
    // Two directories of one disk share its space.
    assert_eq!(
        refused((&["/a"], 10), (&["/b", "/b/other"], 501)),
        Some((501, 500))
    );
    // The spill files alone do not fit, so the output's bytes do not matter.
    assert_eq!(refused((&["/b"], 10), (&["/b"], 501)), Some((501, 500)));
}

#[test]
fn one_of_several_disks_may_have_to_hold_both() {
    let (outputs, temporary) = (&["/a", "/c"], &["/b", "/c"]);
    assert_eq!(
        refused((outputs, 1001), (temporary, 570)),
        Some((1571, 1570))
    );
    assert_eq!(refused((outputs, 1000), (temporary, 570)), None);
}

#[test]
fn sums_do_not_overflow() {
    assert_eq!(
        refused((&["/a"], u64::MAX), (&["/a"], 1)),
        Some((u64::MAX, 1000))
    );
    // Here the disks have no limit.
    let endless = Driver::new(1, 1);
    for path in ["/x", "/y"] {
        endless
            .disks(0)
            .mount(Path::new(path), DiskModel::default());
    }
    assert_eq!(
        refused_on(&endless, (&["/x"], 1), (&["/x", "/y"], u64::MAX)),
        None
    );
}

/// Directories whose disks cannot be told count as one disk, so free bytes are not counted twice.
#[test]
fn unknown_disks_are_one() {
    let driver = Driver::new(1, 1);
    driver.disks(0).set_capacity(100);
    let unknown: &[&str] = &["/nowhere", "/elsewhere"];
    assert_eq!(
        refused_on(&driver, (&["/third"], 1), (unknown, 100)),
        Some((101, 100))
    );
    assert_eq!(refused_on(&driver, (&["/third"], 1), (unknown, 99)), None);
    assert_eq!(
        refused_on(&driver, (&["/third"], 0), (unknown, 101)),
        Some((101, 100))
    );
}
