//! Sorts into sets of files, under schedules of the deterministic driver: the files of the
//! manifest, one behind the other, are the sorted records.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::common::set::{check, content, driver, into_set, manifest, spill};
use crate::common::{drawn_order, drawn_records, drawn_tuning, get, job, put, run, sorted};
use kernel::patterns::{Pattern, draw};
use node::Random;
use pipeline::Failure;
use record::{Comparison, Order, Ties};
use rehearsal::Driver;
use sort::{Bytes, Counts, Job, SortError, Source, Target, Tuning};

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
            driver
                .disks(0)
                .put_pipe(Path::new("/pipe"), records.clone());
            "/pipe"
        }
        _ => {
            put(&driver, "/in", &records);
            "/in"
        }
    };
    (
        Drawn {
            driver,
            order,
            records,
            input,
        },
        random,
    )
}

#[test]
fn two_hundred_schedules_give_the_same_records() {
    let (mut spilled, mut files) = (0, 0);
    for seed in 0..200 {
        let (
            Drawn {
                driver,
                order,
                records,
                input,
            },
            mut random,
        ) = drawn(seed);
        let directories = &["/set", "/b", "/c", "/d"][..1 + random.below(4)];
        let mut job = into_set(&[input], directories, &order);
        job.tuning = drawn_tuning(&mut random);
        if random.below(2) == 0 {
            let count = (input == "/in").then_some((records.len() / order.record_bytes()) as u64);
            spill(&mut job, &order, count, random.below(20));
        }
        let report = run(&driver, &job).unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
        assert!(
            content(&driver, "/set") == sorted(&records, &order),
            "seed {seed}"
        );
        let found = manifest(&driver, "/set");
        assert_eq!(found.records, report.records, "seed {seed}");
        assert_eq!(
            found.checksum,
            format!("{:x}", report.checksum),
            "seed {seed}"
        );
        // The input, the manifest, the files, and nothing else.
        assert_eq!(
            driver.disks(0).paths().len(),
            2 + found.files.len(),
            "seed {seed}"
        );
        let summary = check(&driver, "/set").unwrap_or_else(|failure| panic!("{seed}: {failure}"));
        assert!(summary.is_right(), "seed {seed}: {:?}", summary.wrong);
        (spilled, files) = (
            spilled + u32::from(report.passes > 1),
            files + found.files.len(),
        );
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
        assert!(
            files.len() <= records && files.iter().all(|file| file.records > 0),
            "{files:?}"
        );
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
        job.tuning = Tuning {
            unit_records: Some(50),
            buckets: Some(9),
            ..Tuning::default()
        };
        run(&driver, &job).unwrap();
        let old = manifest(&driver, "/set");
        job.sources = vec![
            Source::Path(PathBuf::from("/set")),
            Source::Path(PathBuf::from("/in")),
        ];
        job.target = Target::Directories(["/set", "/d", "/c", "/b"].map(PathBuf::from).to_vec());
        run(&driver, &job).unwrap();
        let twice = [records.clone(), records].concat();
        assert!(
            content(&driver, "/set") == sorted(&twice, &order),
            "seed {seed}"
        );
        assert!(
            old.paths(Path::new("/set"))
                .iter()
                .all(|path| driver.disks(0).get(path).is_none())
        );
        let files = manifest(&driver, "/set").files.len();
        assert_eq!(driver.disks(0).paths().len(), 2 + files, "seed {seed}");
    }
}

fn put_journal(driver: &Driver, name: &str, text: &str) {
    let crc = kernel::block_crc(&[name.as_bytes(), &[0], text.as_bytes()].concat());
    let sealed = format!("{text}\ngristmill-seal {crc:08x}\n");
    put(driver, &format!("/set/{name}"), sealed.as_bytes());
}

/// A run was killed while its files got their names: the next run in that directory removes them,
/// but no file that the manifest lists or that belongs to no set.
#[test]
fn a_dead_journal_is_settled() {
    let order = Order::gensort(Ties::Record);
    let driver = driver(1);
    put(&driver, "/in", &draw(Pattern::Uniform, 3, 500, 100));
    run(&driver, &into_set(&["/in"], &["/set", "/b"], &order)).unwrap();
    let listed: Vec<String> = manifest(&driver, "/set")
        .files
        .into_iter()
        .map(|file| file.path)
        .collect();
    let placed = |path: &String| match path.strip_prefix("/b/") {
        Some(name) => (1, name.to_owned()),
        None => (0, path.clone()),
    };
    let dead = [
        (0, "part-00000-0000abcd".to_owned()),
        (1, "part-00001-0000abcd".to_owned()),
    ];
    let files: Vec<(usize, String)> = listed.iter().map(placed).chain(dead).collect();
    let journal = serde_json::json!({ "directories": ["/set", "/b"], "files": files });
    put_journal(
        &driver,
        ".gristmill-0123456789abcdef.journal",
        &journal.to_string(),
    );
    let copied = [(1, "part-00000-00000001")];
    let copied = serde_json::json!({ "directories": ["/other", "/c"], "files": copied });
    put_journal(
        &driver,
        ".gristmill-0123456789abcdee.journal",
        &copied.to_string(),
    );
    for path in [
        "/set/part-00000-0000abcd",
        "/b/part-00001-0000abcd",
        "/c/part-00000-00000001",
    ] {
        put(&driver, path, b"new");
    }
    put(&driver, "/set/part-00000-12345678", b"of no set");
    run(&driver, &job(&["/in"], "/set/out", &order)).unwrap();
    // The other directory is not named yet, so the dead file there stays.
    assert!(get(&driver, "/b/part-00001-0000abcd").is_some());
    driver.disks(0).mend();
    run(&driver, &into_set(&["/in"], &["/set", "/b"], &order)).unwrap();
    let mut left: Vec<PathBuf> = manifest(&driver, "/set").paths(Path::new("/set"));
    let others = [
        "/in",
        "/set/manifest.json",
        "/set/out",
        "/set/part-00000-12345678",
    ];
    left.extend(
        others
            .iter()
            .chain(&["/c/part-00000-00000001"])
            .map(PathBuf::from),
    );
    left.sort();
    assert_eq!(driver.disks(0).paths(), left);
    assert!(check(&driver, "/set").unwrap().is_right());
}

#[test]
fn files_that_differ_from_the_manifest_are_found() {
    let order = Order::gensort(Ties::Record);
    let driver = driver(1);
    put(&driver, "/in", &draw(Pattern::Uniform, 3, 2000, 100));
    let mut job = into_set(&["/in"], &["/set", "/b", "/c"], &order);
    job.tuning.buckets = Some(12);
    run(&driver, &job).unwrap();
    let paths = manifest(&driver, "/set").paths(Path::new("/set"));
    assert!(paths.len() >= 3, "{paths:?}");
    let whole: Vec<Vec<u8>> = paths
        .iter()
        .map(|path| driver.disks(0).get(path).unwrap())
        .collect();
    let changed = |number: usize, bytes: Vec<u8>, said: &str| {
        driver.disks(0).put(&paths[number], bytes);
        let summary = check(&driver, "/set").unwrap();
        let is_said =
            |(path, what): &(PathBuf, String)| *path == paths[number] && what.contains(said);
        assert!(
            !summary.is_right() && summary.wrong.iter().any(is_said),
            "{:?}",
            summary.wrong
        );
        driver.disks(0).put(&paths[number], whole[number].clone());
    };
    changed(0, whole[0][100..].to_vec(), "first key");
    changed(1, whole[1][..whole[1].len() - 100].to_vec(), "last key");
    changed(
        1,
        whole[1][..whole[1].len() - 1].to_vec(),
        "ends inside a record",
    );
    let mut flipped = whole[2].clone();
    flipped[150] ^= 1;
    changed(2, flipped.clone(), "checksum");
    changed(
        2,
        whole[0].clone(),
        "less than the last one of the file before",
    );
    let swapped = [&whole[1][100..200], &whole[1][..100], &whole[1][200..]].concat();
    changed(1, swapped, "its record 1 is out of order");
    assert!(check(&driver, "/set").unwrap().is_right());
    // As inputs, too, files must agree with the manifest.
    run(&driver, &crate::common::job(&["/set"], "/again", &order)).unwrap();
    for (number, bytes) in [(1, whole[1][100..].to_vec()), (2, flipped)] {
        driver.disks(0).put(&paths[number], bytes);
        let failure = run(&driver, &crate::common::job(&["/set"], "/out", &order)).unwrap_err();
        assert!(
            failure.to_string().contains("/set/manifest.json lists"),
            "{failure}"
        );
        assert_eq!(get(&driver, "/out"), None);
        driver.disks(0).put(&paths[number], whole[number].clone());
    }
}

#[test]
fn directories_without_a_set_are_refused() {
    let order = Order::gensort(Ties::Record);
    let driver = driver(1);
    put(&driver, "/in", &[7; 1000]);
    let kind = |job: &Job| match run(&driver, job) {
        Err(Failure::Program(error)) => error.downcast_ref::<SortError>().unwrap().kind(),
        Err(Failure::Disk(error)) => error.verb,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        kind(&into_set(&["/in"], &["/set", "/in"], &order)),
        "create a file in"
    );
    assert_eq!(kind(&into_set(&["/in"], &["/nowhere"], &order)), "look at");
    for text in ["{\"name\": \"of somebody else\"}", "no JSON", ""] {
        put(&driver, "/set/manifest.json", text.as_bytes());
        assert_eq!(
            kind(&into_set(&["/in"], &["/set"], &order)),
            "manifest",
            "{text}"
        );
        assert_eq!(kind(&job(&["/set"], "/out", &order)), "manifest", "{text}");
        assert_eq!(get(&driver, "/set/manifest.json").unwrap(), text.as_bytes());
    }
    assert_eq!(driver.disks(0).paths().len(), 2);
    // Records of another length do not fit this job.
    driver.disks(0).put_directory(Path::new("/ten"));
    let ten = Order::parse("fixed:10", &[] as &[&str], Ties::Record).unwrap();
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
    assert!(
        failure
            .to_string()
            .contains("/set needs 50.0 KB, and 10.0 KB are free"),
        "{failure}"
    );
    assert_eq!(driver.disks(0).paths(), [PathBuf::from("/in")]);
}

/// A run over counted records is laid out in the same way.
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
    assert!(
        a + b == records * 100 && a.abs_diff(b) < 10_000_000,
        "{a} {b}"
    );
}

#[test]
fn order_options_are_listed() {
    let order = Order::parse("fixed:16", &["8+8:f64le:desc", "0+2"], Ties::Position).unwrap();
    let driver = driver(1);
    put(&driver, "/in", &(0..160).collect::<Vec<u8>>());
    let mut job = into_set(&["/in"], &["/set"], &order);
    job.contents = Arc::new(Bytes::new(order.clone()));
    run(&driver, &job).unwrap();
    let found = manifest(&driver, "/set");
    assert_eq!((found.format.as_str(), found.stable), ("fixed:16", true));
    assert_eq!(found.keys, ["8+8:f64le:desc", "0+2"]);
    assert_eq!(found.order(Path::new("/set")), Ok(Comparison::Order(order)));
    assert_eq!(found.files[0].first_key.len(), 20);
}
