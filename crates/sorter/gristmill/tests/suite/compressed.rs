//! Compressed files, told by their first bytes and by the names of outputs.

use std::fs;

use gristmill::{Format, Sorter};

const BEGINS: [(&str, &[u8]); 5] = [
    ("gz", &[0x1f, 0x8b]),
    ("zst", &[0x28, 0xb5, 0x2f, 0xfd]),
    ("lz4", &[0x04, 0x22, 0x4d, 0x18]),
    ("bz2", b"BZh"),
    ("xz", b"\xfd7zXZ"),
];

fn lines(count: u32) -> (String, String) {
    let line = |number: u32| format!("{:08x}\n", number.wrapping_mul(0x9e37_79b9));
    let unsorted: Vec<_> = (0..count).map(line).collect();
    let mut sorted = unsorted.clone();
    sorted.sort_unstable();
    (unsorted.concat(), sorted.concat())
}

#[test]
fn files_are_sorted_from_each_format_to_each() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    let (unsorted, sorted) = lines(30_000);
    fs::write(path("plain"), &unsorted).unwrap();
    let mut source = path("plain");
    for (end, begin) in BEGINS {
        let target = path(&format!("sorted.{end}"));
        let by_tail = Format::lines().key("1.8,1.8");
        // The last character only: the next round has something to sort again.
        Sorter::new(by_tail).sort_files([&source], &target).unwrap();
        let stored = fs::read(&target).unwrap();
        assert!(stored.starts_with(begin), "{end}");
        source = target;
    }
    let sorter = || Sorter::new(Format::lines());
    assert!(sorter().check_file(&source).unwrap().is_some());
    let report = sorter().sort_files([&source], path("out")).unwrap();
    assert_eq!(report.records, 30_000);
    assert_eq!(fs::read_to_string(path("out")).unwrap(), sorted);
    let read = sorter().read_files([&source]).unwrap();
    assert_eq!(read.read_to_vec().unwrap(), sorted.as_bytes());
}

#[test]
fn keys_of_ones_own_and_pushed_records_are_compressed_too() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    let (unsorted, sorted) = lines(30_000);
    let mut feed = Sorter::new(Format::lines()).start().unwrap();
    feed.push_reader(unsorted.as_bytes()).unwrap();
    feed.finish()
        .unwrap()
        .write_file(path("first.zst"))
        .unwrap();
    let stored = fs::read(path("first.zst")).unwrap();
    assert!(stored.starts_with(BEGINS[1].1));

    let by_key =
        Sorter::new(Format::lines()).by_key(|line: &[u8]| std::cmp::Reverse(line.to_vec()));
    by_key
        .sort_files([path("first.zst")], path("last.gz"))
        .unwrap();
    let stored = fs::read(path("last.gz")).unwrap();
    assert!(stored.starts_with(BEGINS[0].1));

    let merge = Sorter::new(Format::lines());
    let twice = [path("first.zst"), path("first.zst")];
    let report = merge.merge_files(twice, path("merged")).unwrap();
    assert_eq!(report.records, 60_000);
    let again = Sorter::new(Format::lines()).sort_files([path("last.gz")], path("again"));
    assert_eq!(again.unwrap().records, 30_000);
    assert_eq!(fs::read_to_string(path("again")).unwrap(), sorted);
}

#[test]
fn pushed_bytes_are_records_whatever_they_begin_with() {
    let mut feed = Sorter::new(Format::lines()).start().unwrap();
    let gzip = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\nb\na\n";
    feed.push_reader(&gzip[..]).unwrap();
    let sorted = feed.finish().unwrap().read_to_vec().unwrap();
    assert_eq!(sorted, b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\na\nb\n");
}

#[test]
fn a_damaged_file_is_named() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    fs::write(path("plain"), lines(30_000).0).unwrap();
    Sorter::new(Format::lines())
        .sort_files([path("plain")], path("cut.gz"))
        .unwrap();
    let stored = fs::read(path("cut.gz")).unwrap();
    fs::write(path("cut.gz"), &stored[..stored.len() / 2]).unwrap();
    let by_name = Sorter::new(Format::lines()).sort_files([path("cut.gz")], path("out"));
    let by_key = Sorter::new(Format::lines())
        .by_key(|line: &[u8]| line.to_vec())
        .sort_files([path("cut.gz")], path("out"));
    for error in [by_name.unwrap_err(), by_key.unwrap_err()] {
        assert!(error.to_string().contains("cut.gz"), "{error}");
    }
    assert!(!path("out").exists());
}
