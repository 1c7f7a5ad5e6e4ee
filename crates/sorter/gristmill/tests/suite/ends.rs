//! However a sort ends, no temporary file and no part of an output is left.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use gristmill::{Error, Feed, Format, Sorter, Watch};

use crate::{SMALL, files, records};

/// Enough to spill.
const RECORDS: u64 = 200_000;

fn feed(place: &Path, watch: &Watch) -> Feed {
    let sorter = Sorter::new(Format::fixed(100)).memory(SMALL);
    sorter.temporary(place).watch(watch).start().unwrap()
}

#[test]
fn a_feed_that_is_dropped_leaves_nothing() {
    let place = tempfile::tempdir().unwrap();
    let mut feed = feed(place.path(), &Watch::new());
    feed.push_all(records(RECORDS)).unwrap();
    assert!(!files(place.path()).is_empty(), "it has spilled");
    drop(feed);
    assert!(files(place.path()).is_empty());
}

#[test]
fn records_that_are_dropped_leave_nothing() {
    let place = tempfile::tempdir().unwrap();
    let mut feed = feed(place.path(), &Watch::new());
    feed.push_all(records(RECORDS)).unwrap();
    let mut sorted = feed.finish().unwrap();
    assert!(sorted.next().unwrap().is_some());
    drop(sorted);
    assert!(files(place.path()).is_empty());
}

/// The number in a record; none for one of them.
fn number_but_one(record: &[u8]) -> u64 {
    let number = u64::from_be_bytes(record[8..16].try_into().unwrap());
    assert!(number != RECORDS / 2, "no key for this record");
    number
}

#[test]
fn a_key_function_that_panics_panics_in_its_caller() {
    let place = tempfile::tempdir().unwrap();
    let sorter = || {
        let sorter = Sorter::new(Format::fixed(100)).memory(SMALL);
        sorter.temporary(place.path()).by_key(number_but_one)
    };
    let mut feed = sorter().start().unwrap();
    let push = || feed.push_all(records(RECORDS));
    assert!(catch_unwind(AssertUnwindSafe(push)).is_err());
    // The record was left out. The sort goes on.
    feed.push_all(records(10)).unwrap();
    let all = feed.finish().unwrap().read_to_vec().unwrap();
    assert_eq!(all.len() as u64, 100 * (RECORDS / 2 + 10));
    assert!(files(place.path()).is_empty());
    // From files into a file.
    let path = |name: &str| place.path().join(name);
    std::fs::write(path("in"), records(RECORDS).collect::<Vec<_>>().concat()).unwrap();
    let sort = || sorter().sort_files([path("in")], path("out"));
    assert!(catch_unwind(AssertUnwindSafe(sort)).is_err());
    assert_eq!(files(place.path()), ["in"]);
}

#[test]
fn an_iterator_that_fails_midway_leaves_nothing() {
    let place = tempfile::tempdir().unwrap();
    let failing = |how: fn() -> io::Result<[u8; 100]>| {
        let some = records(RECORDS).map(Ok);
        some.chain(std::iter::once_with(how))
    };
    let mut feed = feed(place.path(), &Watch::new());
    let panics = failing(|| panic!("no more records")).map(Result::unwrap);
    let push = || feed.push_all(panics);
    assert!(catch_unwind(AssertUnwindSafe(push)).is_err());
    assert!(!files(place.path()).is_empty(), "the sort goes on");
    let mut fails = failing(|| Err(io::ErrorKind::TimedOut.into()));
    let failed = fails
        .try_for_each(|record| feed.push(&record?))
        .unwrap_err();
    assert!(matches!(failed, Error::Io(_)), "{failed}");
    drop(feed);
    assert!(files(place.path()).is_empty());
}

#[test]
fn a_writer_that_fails_or_panics_leaves_nothing() {
    struct Failing(fn() -> io::Result<usize>);
    impl io::Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            (self.0)()
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let place = tempfile::tempdir().unwrap();
    let sorted = || {
        let mut feed = feed(place.path(), &Watch::new());
        feed.push_all(records(RECORDS)).unwrap();
        feed.finish().unwrap()
    };
    let failing = Failing(|| Err(io::ErrorKind::StorageFull.into()));
    assert!(matches!(sorted().write_to(failing), Err(Error::Io(_))));
    assert!(files(place.path()).is_empty());
    let write = || sorted().write_to(Failing(|| panic!("the writer is gone")));
    assert!(catch_unwind(write).is_err());
    assert!(files(place.path()).is_empty());
}

#[test]
fn a_reader_that_fails_ends_the_sort() {
    struct Failing(u32);
    impl io::Read for Failing {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            self.0 += 1;
            if self.0 > 100 {
                return Err(io::Error::other("the reader has failed"));
            }
            out.fill(b'a');
            Ok(out.len())
        }
    }
    let place = tempfile::tempdir().unwrap();
    let mut feed = feed(place.path(), &Watch::new());
    let failed = feed
        .push_reader(io::BufReader::new(Failing(0)))
        .unwrap_err();
    assert!(matches!(&failed, Error::Io(_)), "{failed}");
    drop(feed);
    assert!(files(place.path()).is_empty());
}

#[test]
fn a_watch_stops_a_sort_at_any_time() {
    let place = tempfile::tempdir().unwrap();
    let watch = Watch::new();
    let mut first = feed(place.path(), &watch);
    first.push_all(records(RECORDS)).unwrap();
    watch.stop();
    let failed = first.push_all(records(RECORDS)).unwrap_err();
    assert!(matches!(failed, Error::Stopped), "{failed}");
    let watch = Watch::new();
    let mut second = feed(place.path(), &watch);
    second.push_all(records(RECORDS)).unwrap();
    let mut sorted = second.finish().unwrap();
    let other = watch.clone();
    std::thread::spawn(move || other.stop());
    let failed = loop {
        match sorted.next() {
            Ok(Some(_)) => {}
            Ok(None) => return, // It was too late.
            Err(failed) => break failed,
        }
    };
    assert!(matches!(failed, Error::Stopped), "{failed}");
    drop(sorted);
    assert!(files(place.path()).is_empty());
}

#[test]
fn an_output_keeps_its_old_content_when_the_sort_fails() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("out");
    std::fs::write(&out, "old").unwrap();
    let watch = Watch::new();
    let mut feed = feed(place.path(), &watch);
    feed.push_all(records(10)).unwrap();
    let sorted = feed.finish().unwrap();
    watch.stop();
    assert!(sorted.write_file(&out).is_err());
    assert_eq!(std::fs::read(&out).unwrap(), b"old");
    assert_eq!(files(place.path()), ["out"]);
}

/// As `sort_files` does it.
#[test]
fn a_file_of_sorted_records_keeps_the_rights_of_the_old_one() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    let sorted = || {
        let mut feed = Sorter::new(Format::lines()).start().unwrap();
        feed.push_all(["b", "a"]).unwrap();
        feed.finish().unwrap()
    };
    let mode = |name: &str| std::fs::metadata(path(name)).unwrap().permissions().mode() & 0o777;
    std::fs::write(path("usual"), "").unwrap();
    sorted().write_file(path("new")).unwrap();
    assert_eq!(mode("new"), mode("usual"));
    std::fs::set_permissions(path("usual"), PermissionsExt::from_mode(0o640)).unwrap();
    symlink("usual", path("link")).unwrap();
    let report = sorted().write_file(path("link")).unwrap();
    assert_eq!((report.records, mode("usual")), (2, 0o640));
    assert_eq!(std::fs::read(path("usual")).unwrap(), b"a\nb\n");
    assert!(path("link").is_symlink());
    sorted().write_file("/dev/null").unwrap();
    assert!(!Path::new("/dev/null").is_file());
    let full = sorted().write_file("/dev/full").unwrap_err();
    assert!(matches!(&full, Error::File { .. }), "{full}");
    let missing = sorted().write_file(path("no/such/place")).unwrap_err();
    assert!(missing.to_string().contains("make the directory first"));
    assert_eq!(files(place.path()), ["link", "new", "usual"]);
}

#[test]
fn too_little_memory_is_told_with_the_first_record() {
    let feed = Sorter::new(Format::lines()).memory(1000).start().unwrap();
    let failed = feed.finish().unwrap().next().unwrap_err().to_string();
    assert!(failed.contains("memory"), "{failed}");
    let mut feed = Sorter::new(Format::lines()).memory(SMALL).start().unwrap();
    let long = vec![b'a'; 2 << 20];
    let pushed = feed.push(&long).and_then(|()| feed.finish()?.read_to_vec());
    assert!(matches!(pushed, Err(Error::Memory(_))), "{pushed:?}");
}
