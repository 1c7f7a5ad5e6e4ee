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

/// A sort of a pipe with spill files in `tmp`, which waits for the rest of its input, and the pipe.
fn spilling(place: &Place, output: &str) -> (Child, std::process::ChildStdin) {
    for name in ["tmp", "d"] {
        std::fs::create_dir(place.path(name)).unwrap();
    }
    let line = format!("sort --format gensort -S 8M -T tmp -o {output}");
    let mut child = place.command(&line).stdin(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let records = place.read("in");
    let is_empty = || {
        std::fs::read_dir(place.path("tmp"))
            .unwrap()
            .next()
            .is_none()
    };
    while is_empty() {
        assert_eq!(
            child.try_wait().unwrap(),
            None,
            "it ended before it spilled"
        );
        pipe.write_all(&records).unwrap();
    }
    (child, pipe)
}

#[track_caller]
fn assert_empty(place: &Place, directories: &[&str]) {
    for name in directories {
        let mut left = std::fs::read_dir(place.path(name)).unwrap();
        assert!(left.next().is_none(), "{name}");
    }
}

/// Another program may rename a directory while a sort has files in it, and put a new one there.
#[test]
fn files_in_a_directory_that_is_renamed_are_removed() {
    for ends in ["well", "signal", "bad input"] {
        let place = Place::with_records(50_000);
        let (child, mut pipe) = spilling(&place, "out");
        std::fs::rename(place.path("tmp"), place.path("moved")).unwrap();
        std::fs::create_dir(place.path("tmp")).unwrap();
        match ends {
            "well" => {}
            "signal" => {
                let child = rustix::process::Pid::from_child(&child);
                rustix::process::kill_process(child, rustix::process::Signal::TERM).unwrap();
            }
            _ => pipe.write_all(b"a part of a record").unwrap(),
        }
        drop(pipe);
        let ran = Ran::from(child.wait_with_output().unwrap());
        let code = match ends {
            "well" => 0,
            "signal" => 143,
            _ => 2,
        };
        assert_eq!(ran.code, code, "{ends}: {ran:?}");
        assert_empty(&place, &["tmp", "moved"]);
        assert!(place.unfinished().is_empty());
        assert_eq!(place.path("out").exists(), ends == "well");
    }
}

/// The output is whole, in the directory that was named when the sort began, and the sort says so.
#[test]
fn an_output_whose_directory_is_renamed_is_not_lost() {
    for is_replaced in [false, true] {
        let place = Place::with_records(50_000);
        let (child, pipe) = spilling(&place, "d/out");
        std::fs::rename(place.path("d"), place.path("moved")).unwrap();
        if is_replaced {
            std::fs::create_dir(place.path("d")).unwrap();
        }
        drop(pipe);
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.complaint().contains("renamed or replaced"), "{ran:?}");
        let out = place.read("moved/out");
        assert!(!out.is_empty() && out == sorted(&out, RECORD_BYTES));
        let names = std::fs::read_dir(place.path("moved")).unwrap();
        assert_eq!(names.count(), 1);
        assert_empty(&place, &["tmp"]);
        assert!(!place.path("d/out").exists());
    }
}

#[test]
fn a_failed_sort_leaves_nothing_in_a_directory_that_is_renamed() {
    for output in ["d/out", "d/"] {
        let place = Place::with_records(50_000);
        let (child, mut pipe) = spilling(&place, output);
        std::fs::rename(place.path("d"), place.path("moved")).unwrap();
        pipe.write_all(b"a part of a record").unwrap();
        drop(pipe);
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert_eq!(ran.code, 2, "{ran:?}");
        ran.complaint();
        assert_empty(&place, &["tmp", "moved"]);
    }
}
