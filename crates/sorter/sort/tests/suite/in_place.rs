//! Outputs that no rename replaces, as if they were mount points: they are written over from a copy,
//! and whatever ends a sort leaves all records in the output or in a copy whose name was told.

use std::path::{Path, PathBuf};

use node::{Compression, Open};
use pipeline::Failure;
use record::{Order, Ties};
use rehearsal::Driver;
use rehearsal::{Durability, Fault};
use sort::{Job, Report, Resume, Target, Warning};

use crate::common::survival::{Case, Output, WAYS};
use crate::common::{cluster, get, job, put, run, run_unless_killed, set, sorted};

const OLD: &[u8] = b"old, and longer than all that the sort writes over it";

fn fixed(case: &Case, output: &str, seed: u64) -> Driver {
    let driver = case.driver(seed);
    driver.disks(0).fix(Path::new(output));
    driver
}

/// The copies that are there, by the names that were told.
fn copies(driver: &Driver) -> Vec<PathBuf> {
    let paths = driver.disks(0).paths().into_iter();
    let told = driver.disks(0).told().join("\n");
    let is_told = |path: &PathBuf| told.contains(&path.display().to_string());
    paths.filter(is_told).filter(|path| is_copy(path)).collect()
}

fn bytes(driver: &Driver, path: &Path) -> Vec<u8> {
    driver.disks(0).get(path).expect("a file that is there")
}

fn is_copy(path: &Path) -> bool {
    path.to_string_lossy().contains("/gristmill-copy-")
}

/// Whether the output is whole, old or new; or else a copy whose name was told has all records.
fn survives(case: &Case, driver: &Driver) -> Result<Option<Output>, String> {
    let Err(wrong) = case.check(driver, Output::Either).map(Some) else {
        return case.check(driver, Output::Either).map(Some);
    };
    let is_whole = |path: &PathBuf| case.is_sorted(&bytes(driver, path));
    if copies(driver).iter().any(is_whole) {
        Ok(None)
    } else {
        Err(format!(
            "{wrong}, and no copy that was told has the records"
        ))
    }
}

/// A node dies after each event of a sort, and writes that were not synced are lost or torn.
#[test]
fn every_death_leaves_all_records() {
    for (way, seed) in WAYS.into_iter().zip(4..) {
        let output = ["/in", "/out"][seed as usize % 2];
        let case = Case::to(output, way, way.records, Ties::Record);
        let (mut died, mut torn, mut nth) = (0, 0, 0);
        loop {
            nth += 1;
            let driver = fixed(&case, output, seed);
            driver.disks(0).set_durability(Durability::Synced);
            driver.kill(0, nth);
            let ended = run_unless_killed(&driver, &case.job());
            let found = survives(&case, &driver);
            let here = format!("{}, dead after event {nth}", way.name);
            let found = found.unwrap_or_else(|wrong| panic!("{here}: {wrong}"));
            torn += u32::from(found.is_none());
            if driver.deaths() == 0 {
                assert_eq!(found, Some(Output::New), "{here}");
                ended.unwrap().unwrap();
                break;
            }
            died += 1;
            // The next sort, of an input that may be torn, leaves the copies.
            let kept: Vec<_> = copies(&driver)
                .iter()
                .map(|path| bytes(&driver, path))
                .collect();
            let again = run(&driver, &case.job());
            let there = |copy: &Vec<u8>| {
                copies(&driver)
                    .iter()
                    .any(|path| bytes(&driver, path) == *copy)
            };
            assert!(kept.iter().all(there), "{here}");
            if found.is_some() || output != "/in" {
                again.unwrap_or_else(|failure| panic!("{here}: {failure}"));
                case.check(&driver, Output::New).unwrap();
            }
        }
        assert!(
            died > 100 && torn > 0,
            "{}: {died} deaths, {torn} torn",
            way.name
        );
    }
}

/// Disk operation 1, 2, 3 ... fails: the error of a target that was begun names the copy.
#[test]
fn every_disk_fault_leaves_all_records() {
    for fault in [Fault::Device, Fault::Full, Fault::Short] {
        let case = Case::to("/in", WAYS[0], 400, Ties::Record);
        let (mut nth, mut named) = (1, 0);
        loop {
            let driver = fixed(&case, "/in", 1);
            driver.disks(0).fail(nth, fault);
            let ended = run(&driver, &case.job());
            let here = format!("{fault:?} at operation {nth}");
            let found = survives(&case, &driver);
            let found = found.unwrap_or_else(|wrong| panic!("{here}: {wrong}"));
            let copies = copies(&driver);
            match ended {
                Ok(_) => assert_eq!((found, copies.len()), (Some(Output::New), 0), "{here}"),
                Err(failure) if copies.is_empty() => {
                    assert_eq!(found, Some(Output::Old), "{here}: {failure}");
                    case.check_alone(&driver)
                        .unwrap_or_else(|wrong| panic!("{here}: {wrong}"));
                }
                Err(failure) => {
                    named += 1;
                    let (said, copy) = (failure.to_string(), copies[0].display().to_string());
                    assert!(
                        said.contains(&copy) && said.contains("/in"),
                        "{here}: {said}"
                    );
                }
            }
            if driver.disks(0).operations() < nth {
                break;
            }
            nth += 1;
        }
        assert!(named >= 4, "{fault:?}: {named} of {nth} faults left a copy");
    }
}

fn records(order: &Order) -> Vec<u8> {
    kernel::patterns::draw(
        kernel::patterns::Pattern::Uniform,
        8,
        3,
        order.record_bytes(),
    )
}

/// A node with an input, and an output that keeps its name.
fn scene() -> (Driver, Job, Vec<u8>) {
    let order = Order::gensort(Ties::Record);
    let driver = Driver::new(1, 1);
    let bytes = records(&order);
    put(&driver, "/in", &bytes);
    put(&driver, "/out", OLD);
    driver.disks(0).fix(Path::new("/out"));
    (
        driver,
        job(&["/in"], "/out", &order),
        sorted(&bytes, &order),
    )
}

#[track_caller]
fn refused(driver: &Driver, job: &Job, words: &[&str]) {
    let told = driver.disks(0).told().len();
    let said = run(driver, job).unwrap_err().to_string();
    assert!(words.iter().all(|word| said.contains(word)), "{said}");
    assert_eq!(get(driver, "/out").as_deref(), Some(OLD));
    assert_eq!(driver.disks(0).told().len(), told);
    let paths = driver.disks(0).paths();
    let is_ours = |path: &PathBuf| path.to_string_lossy().contains("gristmill");
    assert!(!paths.iter().any(is_ours), "{paths:?}");
}

#[test]
fn a_longer_old_file_is_cut_and_the_report_warns() {
    let (driver, job, expected) = scene();
    put(&driver, "/out", &[7; 5000]);
    let report = run(&driver, &job).unwrap();
    assert!(get(&driver, "/out") == Some(expected));
    let file = PathBuf::from("/out");
    let why = "it is a mount point".to_owned();
    assert_eq!(report.warnings, [Warning::InPlace { file, why }]);
    let told = driver.disks(0).told();
    assert!(
        matches!(&told[..], [one] if one.contains("/tmp/gristmill-copy-")),
        "{told:?}"
    );
    assert_eq!(driver.disks(0).paths().len(), 2);
}

/// Libraries draw the same names in every process.
#[test]
fn a_copy_that_a_killed_sort_has_left_is_not_replaced() {
    let mut name = String::from("/tmp/other");
    for _ in 0..2 {
        let (driver, job, expected) = scene();
        put(&driver, &name, b"kept");
        run(&driver, &job).unwrap();
        assert!(get(&driver, "/out") == Some(expected));
        assert_eq!(get(&driver, &name).as_deref(), Some(&b"kept"[..]));
        let told = driver.disks(0).told().remove(0);
        let copy = told.rsplit_once(' ').unwrap().1.to_owned();
        assert_ne!(name, copy);
        name = copy;
    }
}

#[test]
fn the_copy_goes_to_the_temporary_directory_that_is_named() {
    let (driver, mut job, expected) = scene();
    job.temporary = vec!["/t".into()];
    run(&driver, &job).unwrap();
    assert!(get(&driver, "/out") == Some(expected));
    assert!(driver.disks(0).told()[0].contains(" /t/gristmill-copy-"));
}

#[test]
fn a_disk_without_room_for_the_copy_or_the_target_is_found_before() {
    for full in ["/tmp", "/disk"] {
        let (driver, mut job, _) = scene();
        driver
            .disks(0)
            .mount(Path::new(full), rehearsal::DiskModel::default());
        driver.disks(0).set_capacity_of(Path::new(full), 100);
        put(&driver, "/disk/out", b"old");
        driver.disks(0).fix(Path::new("/disk/out"));
        job.target = Target::Path("/disk/out".into());
        refused(&driver, &job, &["/disk/out", "free some space"]);
        assert_eq!(get(&driver, "/disk/out").as_deref(), Some(&b"old"[..]));
    }
}

#[test]
fn a_target_that_another_has_locked_is_refused() {
    let (driver, job, _) = scene();
    let held = driver.run(|node| async move {
        let file = node.open(Path::new("/out"), Open::Append).await.unwrap();
        file.lock(&node).await.unwrap()
    });
    assert_eq!(held.unwrap(), [true]);
    refused(&driver, &job, &["/out", "mount point", "has locked it"]);
}

#[test]
fn sets_resumed_sorts_and_lists_are_refused() {
    let (driver, plain, _) = scene();
    let resume = Resume {
        name: "/out".into(),
        sources: plain.sources.clone(),
        target: "/out".into(),
        temporary: Vec::new(),
    };
    let resumed = Job {
        resume: Some(resume),
        ..plain.clone()
    };
    refused(&driver, &resumed, &["/out", "mount point", "--resume"]);
    let listing = Some("/out".into());
    let target = Target::Path("/new".into());
    let listed = Job {
        listing,
        target,
        ..again(&plain)
    };
    refused(&driver, &listed, &["/out", "mount point", "another output"]);
    let order = Order::gensort(Ties::Record);
    let into_set = set::into_set(&["/in"], &["/set"], &order);
    driver.disks(0).put_directory(Path::new("/set"));
    put(&driver, "/set/manifest.json", b"{}");
    driver.disks(0).fix(Path::new("/set/manifest.json"));
    refused(
        &driver,
        &into_set,
        &["/set/manifest.json", "mount point", "another directory"],
    );
}

fn again(job: &Job) -> Job {
    Job {
        control: pipeline::Control::default(),
        ..job.clone()
    }
}

/// Each rank writes its own output in place; one file of all ranks is refused.
#[test]
fn ranks_write_their_own_outputs_in_place() {
    let order = Order::gensort(Ties::Record);
    let driver = Driver::new(1, 3);
    let mut all = Vec::new();
    for rank in 0..3 {
        let bytes = records(&order);
        cluster::put(&driver, rank, &bytes);
        driver.disks(rank).put(Path::new("/out"), OLD.to_vec());
        driver.disks(rank).fix(Path::new("/out"));
        all.extend(bytes);
    }
    let own = job(&["/in"], "/out", &order);
    let ends: Result<Vec<Report>, Failure> = cluster::run(&driver, &own).into_iter().collect();
    assert_eq!(ends.unwrap().len(), 3);
    assert!(cluster::outputs(&driver, 3) == sorted(&all, &order));
    assert!((0..3).all(|rank| driver.disks(rank).told().len() == 1));

    let driver = Driver::new(1, 2).sharing_disks();
    put(&driver, "/in", &all);
    put(&driver, "/out", OLD);
    driver.disks(0).fix(Path::new("/out"));
    let target = Target::Together("/out".into());
    let together = Job {
        shared: true,
        target,
        ..own
    };
    for ended in cluster::run(&driver, &together) {
        let said = ended.unwrap_err().to_string();
        assert!(
            said.contains("mount point") && said.contains("{rank}"),
            "{said}"
        );
    }
    assert_eq!(get(&driver, "/out").as_deref(), Some(OLD));
}

/// The simulated disk knows no compressed files.
#[test]
fn a_compressed_output_that_fails_leaves_the_old_file() {
    let (driver, job, _) = scene();
    let compress = Some(Compression::Zstd);
    refused(&driver, &Job { compress, ..job }, &["/out"]);
}
