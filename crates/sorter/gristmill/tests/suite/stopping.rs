//! The end of a program that does not wait for its threads.

use std::thread;

use gristmill::{Error, Format, Sorted, Sorter, Watch};

use crate::{SMALL, files, records};

/// A sort that has spilled into a directory.
fn sorted(place: &std::path::Path, watch: &Watch) -> Sorted {
    let sorter = Sorter::new(Format::fixed(100)).memory(SMALL);
    let mut feed = sorter.temporary(place).watch(watch).start().unwrap();
    feed.push_all(records(200_000)).unwrap();
    assert!(!files(place).is_empty(), "it has spilled");
    feed.finish().unwrap()
}

/// Whether its caller holds it, waits for it or is somewhere else.
#[test]
fn a_sort_that_is_abandoned_leaves_nothing() {
    let place = tempfile::tempdir().unwrap();
    let watch = Watch::new();
    // Its threads go on with the process, as at a program's end.
    let mut held = sorted(place.path(), &watch);
    held.next().unwrap();
    watch.abandon();
    watch.abandon();
    assert!(files(place.path()).is_empty());
    std::mem::forget(held);
}

#[test]
fn an_output_of_a_sort_that_is_abandoned_never_comes() {
    let place = tempfile::tempdir().unwrap();
    let (temporary, out) = (place.path().join("spill"), place.path().join("out"));
    std::fs::create_dir(&temporary).unwrap();
    let watch = Watch::new();
    let records = sorted(&temporary, &watch);
    let path = out.clone();
    thread::spawn(move || records.write_file(path));
    while files(place.path()).len() < 2 {
        thread::yield_now();
    }
    watch.abandon();
    assert!(files(&temporary).is_empty());
    assert!(
        files(place.path()).len() == 1 || out.exists(),
        "{:?}",
        files(place.path())
    );
}

#[test]
fn a_sort_that_was_abandoned_does_not_begin() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("in");
    std::fs::write(&file, "b\na\n").unwrap();
    let watch = Watch::new();
    watch.abandon();
    let sorter = || Sorter::new(Format::lines()).watch(&watch);
    let ended = sorter().sort_files([&file], place.path().join("out"));
    assert!(matches!(ended, Err(Error::Stopped)), "{ended:?}");
    assert!(matches!(
        sorter().read_files([&file]).unwrap().next(),
        Err(Error::Stopped)
    ));
    assert_eq!(files(place.path()), ["in"]);
}
