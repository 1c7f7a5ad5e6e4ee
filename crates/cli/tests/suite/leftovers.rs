//! Leftovers of a killed run: the next run in the directory removes them by their dead locks, and
//! never a file of a run that is alive.

use std::io::Write;
use std::process::{Child, Stdio};

use crate::common::{Place, RECORD_BYTES, Ran, sorted};

/// A sort that has begun its output and waits for its input.
fn waiting(place: &Place, output: &str) -> Child {
    let mut command = place.command(&format!("sort --format gensort -o {output}"));
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    place.wait_for_output(&mut child);
    child
}

#[test]
fn a_kill_leaves_one_file_that_the_next_sort_sweeps() {
    let place = Place::with_records(1000);
    place.write("out", "old");
    let mut killed = waiting(&place, "out");
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(place.unfinished().len(), 1, "{:?}", place.names());
    assert_eq!(place.read("out"), b"old");
    place.run("sort --format gensort in -o other").succeeded();
    assert_eq!(place.names(), ["in", "other", "out"]);
}

#[test]
fn a_running_sort_keeps_its_file() {
    let place = Place::with_records(1000);
    let mut slow = waiting(&place, "slow");
    let held = place.unfinished();
    place.run("sort --format gensort in -o quick").succeeded();
    assert_eq!(place.unfinished(), held);
    slow.stdin
        .take()
        .unwrap()
        .write_all(&place.read("in"))
        .unwrap();
    Ran::from(slow.wait_with_output().unwrap()).succeeded();
    assert_eq!(place.names(), ["in", "quick", "slow"]);
    assert_eq!(place.read("slow"), sorted(&place.read("in"), RECORD_BYTES));
    assert_eq!(place.read("slow"), place.read("quick"));
}

#[test]
fn many_sorts_into_one_directory() {
    const SORTS: usize = 40;
    let place = Place::with_records(2000);
    let start = |number: usize| {
        // Every second one has an output of its own, the others share one.
        let output = if number.is_multiple_of(2) {
            format!("out{number}")
        } else {
            "same".into()
        };
        place
            .command(&format!("sort --format gensort in -o {output}"))
            .spawn()
            .unwrap()
    };
    for child in (0..SORTS).map(start).collect::<Vec<_>>() {
        Ran::from(child.wait_with_output().unwrap()).succeeded();
    }
    let sorted = sorted(&place.read("in"), RECORD_BYTES);
    let mut files = place.snapshot();
    files.remove("in");
    assert_eq!(files.len(), SORTS / 2 + 1);
    for (name, content) in files {
        assert!(content == sorted, "{name}");
    }
}
