//! Sorts into sets of files, under schedules of the deterministic driver: the files of the manifest, one
//! behind the other, are the sorted records, and whatever fails, one whole set is there.

mod common;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use common::{
    drawn_order, drawn_records, drawn_tuning, get, job, least_chunks, put, run, run_unless_killed,
    sorted,
};
use kernel::patterns::{Pattern, draw};
use machine::{Driver, Durability, Fault};
use node::Random;
use pipeline::{Control, Failure};
use record::{Format, Order, Ties};
use sort::{
    Bytes, Choice, Counts, IoChoice, Job, Manifest, SetSummary, SortError, Source, Target, Tuning,
    ValidatedSet, validate_set,
};

/// One seed's run: drawn records of a drawn format, in a file or a pipe.
struct Drawn {
    driver: Driver,
    order: Order,
    records: Vec<u8>,
    input: &'static str,
}

fn drawn(seed: u64) -> (Drawn, Random) {
    let mut random = Random::new(seed);
    let order = drawn_order(&mut random);
    let driver = driver(seed);
    let records = drawn_records(&mut random, order.record_bytes(), 2000);
    let input = match random.below(3) {
        0 => {
            driver.disks(0).put_pipe(Path::new("/pipe"), records.clone());
            "/pipe"
        }
        _ => {
            put(&driver, "/in", &records);
            "/in"
        }
    };
    (Drawn { driver, order, records, input }, random)
}

/// A node with some directories.
fn driver(seed: u64) -> Driver {
    let driver = Driver::new(seed, 1);
    for directory in ["/set", "/b", "/c", "/d"] {
        driver.disks(0).put_directory(Path::new(directory));
    }
    driver
}

fn into_set(inputs: &[&str], directories: &[&str], order: &Order) -> Job {
    let target = Target::Directories(directories.iter().map(PathBuf::from).collect());
    let mut job = Job { target, ..job(inputs, "", order) };
    job.resources.memory_bytes = 1 << 26;
    job
}

fn manifest(driver: &Driver, directory: &str) -> Manifest {
    let text = get(driver, &format!("{directory}/manifest.json")).expect("a manifest");
    serde_json::from_slice(&text).unwrap()
}

/// The files of a set, one behind the other.
fn content(driver: &Driver, directory: &str) -> Vec<u8> {
    let paths = manifest(driver, directory).paths(Path::new(directory));
    paths.iter().flat_map(|path| driver.disks(0).get(path).expect("a listed file")).collect()
}

fn check(driver: &Driver, directory: &str) -> Result<SetSummary, Failure> {
    let job = ValidatedSet {
        directory: PathBuf::from(directory),
        io: IoChoice::Auto,
        cores: 2,
        control: Control::default(),
    };
    let ends = driver.run(move |node| {
        let job = job.clone();
        async move { validate_set(&node, &job).await }
    });
    ends.unwrap_or_else(|stuck| panic!("{stuck}")).pop().expect("one node")
}

/// A job with few more chunks than the least that works, so that it spills.
fn spill(job: &mut Job, order: &Order, records: Option<u64>, more: usize) {
    job.plan = Choice::TwoPass;
    job.tuning.chunks = Some(least_chunks(job, order, records) + more);
}

#[test]
fn two_hundred_schedules_give_the_same_records() {
    let (mut spilled, mut files) = (0, 0);
    for seed in 0..200 {
        let (Drawn { driver, order, records, input }, mut random) = drawn(seed);
        let directories = &["/set", "/b", "/c", "/d"][..1 + random.below(4)];
        let mut job = into_set(&[input], directories, &order);
        job.tuning = drawn_tuning(&mut random);
        if random.below(2) == 0 {
            let count = (input == "/in").then_some((records.len() / order.record_bytes()) as u64);
            spill(&mut job, &order, count, random.below(20));
        }
        let report = run(&driver, &job).unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
        assert!(content(&driver, "/set") == sorted(&records, &order), "seed {seed}");
        let found = manifest(&driver, "/set");
        assert_eq!(found.records, report.records, "seed {seed}");
        assert_eq!(found.checksum, format!("{:x}", report.checksum), "seed {seed}");
        // The input, the manifest, the files, and nothing else.
        assert_eq!(driver.disks(0).paths().len(), 2 + found.files.len(), "seed {seed}");
        let summary = check(&driver, "/set").unwrap_or_else(|failure| panic!("{seed}: {failure}"));
        assert!(summary.is_right(), "seed {seed}: {:?}", summary.wrong);
        (spilled, files) = (spilled + u32::from(report.passes > 1), files + found.files.len());
    }
    assert!(spilled > 40, "only {spilled} of them spilled");
    assert!(files > 300, "only {files} files");
}

#[test]
fn few_records_and_none() {
    let order = Order::gensort(Ties::Record);
    for records in 0..4 {
        let driver = driver(7);
        put(&driver, "/in", &draw(Pattern::Uniform, 3, records, 100));
        run(&driver, &into_set(&["/in"], &["/set", "/b", "/c"], &order)).unwrap();
        assert_eq!(content(&driver, "/set").len(), records * 100);
        let files = manifest(&driver, "/set").files;
        assert!(files.len() <= records && files.iter().all(|file| file.records > 0), "{files:?}");
        assert!(check(&driver, "/set").unwrap().is_right());
        // A set is an input: of no file, too.
        run(&driver, &job(&["/set"], "/out", &order)).unwrap();
        assert_eq!(get(&driver, "/out"), Some(content(&driver, "/set")));
    }
}

#[test]
fn a_set_replaces_the_old_one_and_may_be_its_input() {
    let order = Order::gensort(Ties::Record);
    for seed in 0..20 {
        let driver = driver(seed);
        let records = drawn_records(&mut Random::new(seed), 100, 900);
        put(&driver, "/in", &records);
        let mut job = into_set(&["/in"], &["/set", "/b", "/c"], &order);
        job.tuning = Tuning { unit_records: Some(50), buckets: Some(9), ..Tuning::default() };
        run(&driver, &job).unwrap();
        let old = manifest(&driver, "/set");
        job.sources = vec![Source::Path(PathBuf::from("/set")), Source::Path(PathBuf::from("/in"))];
        job.target = Target::Directories(vec![PathBuf::from("/set"), PathBuf::from("/d")]);
        run(&driver, &job).unwrap();
        let twice = [records.clone(), records].concat();
        assert!(content(&driver, "/set") == sorted(&twice, &order), "seed {seed}");
        assert!(
            old.paths(Path::new("/set")).iter().all(|path| driver.disks(0).get(path).is_none())
        );
        let files = manifest(&driver, "/set").files.len();
        assert_eq!(driver.disks(0).paths().len(), 2 + files, "seed {seed}");
    }
}

/// Disk operation 1, 2, 3 ... fails until none fails any more. Whatever fails: the input is intact, the old
/// set or the new one is there as a whole, no other file is left, and the error names a file of it.
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
            job.tuning = Tuning { unit_records: Some(200), buckets: Some(5), ..Tuning::default() };
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
            let expected = if end.is_ok() { &records[..] } else { &records[..5000] };
            assert!(content(&driver, "/set") == sorted(expected, &order), "{fault:?} {nth}");
            if let Err(failure) = end {
                fired += 1;
                assert_eq!(now, old, "{fault:?} {nth}");
                let said = failure.to_string();
                let names = ["/in", "/set", "/b"];
                assert!(names.iter().any(|name| said.contains(name)), "{fault:?} {nth}: {said}");
                assert!(!said.contains(".gristmill") || two_pass, "{fault:?} {nth}: {said}");
            }
            if driver.disks(0).operations() < before + nth {
                break;
            }
            nth += 1;
        }
        assert!(fired > 30, "only {fired} faults of {nth} operations were noticed");
    }
}

/// A run that was killed while its files got their names: the next run in that directory takes them away,
/// and none that the manifest lists, nor any that is no part of a set.
#[test]
fn a_dead_journal_is_settled() {
    let order = Order::gensort(Ties::Record);
    let driver = driver(1);
    put(&driver, "/in", &draw(Pattern::Uniform, 3, 500, 100));
    run(&driver, &into_set(&["/in"], &["/set", "/b"], &order)).unwrap();
    let listed: Vec<String> =
        manifest(&driver, "/set").files.into_iter().map(|file| file.path).collect();
    let (new, foreign) = ("part-00000-0000abcd", "/in");
    let files = [&listed[..], &[new.into(), "/b/part-00001-0000abcd".into(), foreign.into()]];
    let journal = serde_json::json!({ "directory": "/set", "files": files.concat() });
    put(&driver, "/set/.gristmill-0123456789abcdef.journal", journal.to_string().as_bytes());
    let copied = serde_json::json!({ "directory": "/other", "files": ["/c/part-00000-00000001"] });
    put(&driver, "/set/.gristmill-0123456789abcdee.journal", copied.to_string().as_bytes());
    for path in ["/set/part-00000-0000abcd", "/b/part-00001-0000abcd", "/c/part-00000-00000001"] {
        put(&driver, path, b"new");
    }
    put(&driver, "/set/part-00000-12345678", b"nobody knows whose");
    run(&driver, &job(&["/in"], "/set/out", &order)).unwrap();
    let mut left: Vec<PathBuf> = manifest(&driver, "/set").paths(Path::new("/set"));
    let others = ["/in", "/set/manifest.json", "/set/out", "/set/part-00000-12345678"];
    left.extend(others.iter().chain(&["/c/part-00000-00000001"]).map(PathBuf::from));
    left.sort();
    assert_eq!(driver.disks(0).paths(), left);
    assert!(check(&driver, "/set").unwrap().is_right());
}

#[test]
fn what_is_not_as_listed_is_found() {
    let order = Order::gensort(Ties::Record);
    let driver = driver(1);
    put(&driver, "/in", &draw(Pattern::Uniform, 3, 2000, 100));
    let mut job = into_set(&["/in"], &["/set", "/b", "/c"], &order);
    job.tuning.buckets = Some(12);
    run(&driver, &job).unwrap();
    let paths = manifest(&driver, "/set").paths(Path::new("/set"));
    assert!(paths.len() >= 3, "{paths:?}");
    let whole: Vec<Vec<u8>> = paths.iter().map(|path| driver.disks(0).get(path).unwrap()).collect();
    let changed = |number: usize, bytes: Vec<u8>, said: &str| {
        driver.disks(0).put(&paths[number], bytes);
        let summary = check(&driver, "/set").unwrap();
        let is_said =
            |(path, what): &(PathBuf, String)| *path == paths[number] && what.contains(said);
        assert!(!summary.is_right() && summary.wrong.iter().any(is_said), "{:?}", summary.wrong);
        driver.disks(0).put(&paths[number], whole[number].clone());
    };
    changed(0, whole[0][100..].to_vec(), "first key");
    changed(1, whole[1][..whole[1].len() - 100].to_vec(), "last key");
    changed(1, whole[1][..whole[1].len() - 1].to_vec(), "ends inside a record");
    let mut flipped = whole[2].clone();
    flipped[150] ^= 1;
    changed(2, flipped.clone(), "checksum");
    changed(2, whole[0].clone(), "less than the last one of the file before");
    let swapped = [&whole[1][100..200], &whole[1][..100], &whole[1][200..]].concat();
    changed(1, swapped, "its record 1 is out of order");
    assert!(check(&driver, "/set").unwrap().is_right());
    // As an input, too, files must have what is listed.
    run(&driver, &common::job(&["/set"], "/again", &order)).unwrap();
    for (number, bytes) in [(1, whole[1][100..].to_vec()), (2, flipped)] {
        driver.disks(0).put(&paths[number], bytes);
        let failure = run(&driver, &common::job(&["/set"], "/out", &order)).unwrap_err();
        assert!(failure.to_string().contains("/set/manifest.json lists"), "{failure}");
        assert_eq!(get(&driver, "/out"), None);
        driver.disks(0).put(&paths[number], whole[number].clone());
    }
}

#[test]
fn what_is_no_set_is_refused() {
    let order = Order::gensort(Ties::Record);
    let driver = driver(1);
    put(&driver, "/in", &[7; 1000]);
    let kind = |job: &Job| match run(&driver, job) {
        Err(Failure::Program(error)) => error.downcast_ref::<SortError>().unwrap().kind(),
        Err(Failure::Disk(error)) => error.verb,
        other => panic!("{other:?}"),
    };
    assert_eq!(kind(&into_set(&["/in"], &["/set", "/in"], &order)), "create a file in");
    assert_eq!(kind(&into_set(&["/in"], &["/nowhere"], &order)), "look at");
    for text in ["{\"name\": \"of somebody else\"}", "no JSON", ""] {
        put(&driver, "/set/manifest.json", text.as_bytes());
        assert_eq!(kind(&into_set(&["/in"], &["/set"], &order)), "manifest", "{text}");
        assert_eq!(kind(&job(&["/set"], "/out", &order)), "manifest", "{text}");
        assert_eq!(get(&driver, "/set/manifest.json").unwrap(), text.as_bytes());
    }
    assert_eq!(driver.disks(0).paths().len(), 2);
    // Records of another length are no records of this job.
    driver.disks(0).put_directory(Path::new("/ten"));
    let ten = Format::parse("fixed:10", &[] as &[&str], Ties::Record).unwrap().order;
    run(&driver, &into_set(&["/in"], &["/ten"], &ten)).unwrap();
    assert_eq!(kind(&job(&["/ten"], "/out", &order)), "manifest");
}

#[test]
fn a_disk_that_fills_is_refused_up_front() {
    let order = Order::gensort(Ties::Record);
    let driver = driver(1);
    put(&driver, "/in", &vec![7; 50_000]);
    driver.disks(0).set_capacity(60_000);
    let failure = run(&driver, &into_set(&["/in"], &["/set", "/b"], &order)).unwrap_err();
    assert!(failure.to_string().contains("/set needs 50000 bytes and only 10000"), "{failure}");
    assert_eq!(driver.disks(0).paths(), [PathBuf::from("/in")]);
}

/// A run over counts is laid out in the same way.
#[test]
fn the_same_stages_run_over_counts() {
    let driver = driver(3);
    let records = 6_000_000_u64;
    driver.disks(0).put_counted(Path::new("/in"), records * 100);
    let mut job = into_set(&["/in"], &["/set", "/b"], &Order::gensort(Ties::Record));
    job.contents = Arc::new(Counts::new(100, 3.0, 1));
    job.resources.memory_bytes = 2 << 30;
    run(&driver, &job).unwrap();
    let found = manifest(&driver, "/set");
    assert_eq!((found.records, found.files.len()), (records, 2));
    let bytes_in = |directory: &str| -> u64 {
        let paths = found.paths(Path::new("/set")).into_iter();
        let its = paths.filter(|path| path.starts_with(directory));
        its.map(|path| driver.disks(0).length(&path).unwrap()).sum()
    };
    let (a, b) = (bytes_in("/set"), bytes_in("/b"));
    assert!(a + b == records * 100 && a.abs_diff(b) < 10_000_000, "{a} {b}");
}

#[test]
fn order_options_are_listed() {
    let order =
        Format::parse("fixed:16", &["8+8:f64le:desc", "0+2"], Ties::Position).unwrap().order;
    let driver = driver(1);
    put(&driver, "/in", &(0..160).collect::<Vec<u8>>());
    let mut job = into_set(&["/in"], &["/set"], &order);
    job.contents = Arc::new(Bytes::new(order.clone()));
    run(&driver, &job).unwrap();
    let found = manifest(&driver, "/set");
    assert_eq!((found.format.as_str(), found.stable), ("fixed:16", true));
    assert_eq!(found.keys, ["8+8:f64le:desc", "0+2"]);
    assert_eq!(found.order(Path::new("/set")), Ok(order));
    assert_eq!(found.files[0].first_key.len(), 20);
}

/// The node dies after each event, and what was not synced is lost or torn: the old set or the new one is
/// there as a whole, the new one for ever once success was reported, and the next run into the directory
/// takes away what is no part of it.
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
            job.tuning = Tuning { unit_records: Some(100), buckets: Some(4), ..Tuning::default() };
            run(&driver, &job).unwrap();
            job.sources = vec![Source::Path(PathBuf::from("/in"))];
            driver.kill(0, nth);
            let end = run_unless_killed(&driver, &job);
            let dead = driver.deaths() > 0;
            if end.is_some() {
                driver.disks(0).crash(nth);
            }
            let now = content(&driver, "/set");
            assert!(now == many || (end.is_none() && now == few), "{durability:?} {nth}");
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
