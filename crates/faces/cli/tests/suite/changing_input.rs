//! Inputs that change while they are sorted: one that grows is sorted at its length at
//! opening, with a warning; one that shrinks is refused with its place.
//!
//! A pipe as the second input holds the sort while the file is changed.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::common::{Place, RECORD_BYTES, Ran, sorted};

const RECORDS: u64 = 200_000;

const PLANS: [&str; 2] = ["--plan one-pass", "--plan two-pass -S 12M"];

/// Runs a sort that reads standard input, calls `change` when it has opened its inputs, and lets it
/// go on by ending the pipe.
fn run_and_change(place: &Place, arguments: &str, change: impl FnOnce()) -> Ran {
    let mut child = place
        .command(arguments)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    place.wait_for_output(&mut child);
    change();
    drop(child.stdin.take());
    Ran::from(child.wait_with_output().unwrap())
}

fn append(place: &Place, bytes: &[u8]) {
    let mut file = OpenOptions::new()
        .append(true)
        .open(place.path("in"))
        .unwrap();
    file.write_all(bytes).unwrap();
}

#[test]
fn a_file_that_grows_is_sorted_as_it_was() {
    const WARNING: &str = "in: grew from 20000000 to 20000012 bytes while it was sorted; its first \
                           20000000 bytes were sorted";
    for plan in PLANS {
        // A file that is named twice is warned of once, also if it becomes the output.
        for (inputs, output) in [("in -", "out"), ("in - in", "out"), ("- in", "in")] {
            let place = Place::with_records(RECORDS);
            let before = place.read("in");
            let line = format!("sort --format gensort {plan} {inputs} -o {output} --report report");
            let ran = run_and_change(&place, &line, || append(&place, b"twelve bytes")).succeeded();
            let told = ran
                .err
                .lines()
                .filter(|line| line.starts_with("WARNING "))
                .collect::<Vec<_>>();
            assert_eq!(told, [format!("WARNING {WARNING}")], "{line}");
            let report: Value = serde_json::from_slice(&place.read("report")).unwrap();
            let warning = json!({ "kind": "input_grew", "file": "in", "message": WARNING });
            assert_eq!(report["warnings"], json!([warning]), "{line}");
            let times = inputs.matches("in").count();
            assert!(
                place.read(output) == sorted(&before.repeat(times), RECORD_BYTES),
                "{line}"
            );
        }
    }
}

/// A replaced file did not grow: the name leads to another file.
#[test]
fn a_file_that_is_replaced_did_not_grow() {
    let place = Place::with_records(1000);
    let before = place.read("in");
    let replace = || {
        place.write("other", vec![b'x'; 200_000]);
        std::fs::rename(place.path("other"), place.path("in")).unwrap();
    };
    let ran = run_and_change(&place, "sort --format gensort in - -o out", replace).succeeded();
    assert_eq!(ran.err, "");
    assert!(place.read("out") == sorted(&before, RECORD_BYTES));
}

#[test]
fn a_file_that_shrinks_is_refused_with_its_place() {
    const LEFT_BYTES: u64 = 12_345_678;
    for plan in PLANS {
        for io in ["direct", "buffered"] {
            let place = Place::with_records(RECORDS);
            place.write("out", "old");
            let line = format!("sort --format gensort {plan} --io {io} - in -o out --json");
            let cut = || {
                let file = File::options().write(true).open(place.path("in")).unwrap();
                file.set_len(LEFT_BYTES).unwrap();
            };
            let ran = run_and_change(&place, &line, cut);
            assert_eq!(ran.code, 2, "{line}: {ran:?}");
            assert!(
                ran.complaint().contains("in ended early, at byte 12345678"),
                "{line}: {ran:?}"
            );
            let error = &ran.json()["error"];
            assert_eq!(
                (&error["kind"], &error["file"]),
                (&"input_changed".into(), &"in".into())
            );
            assert_eq!(error["offset"], LEFT_BYTES, "{line}");
            assert_eq!(place.read("out"), b"old");
            assert_eq!(place.names(), ["in", "out"], "{line}");
        }
    }
}

/// Records of two forms must not get into one output: an edit in place, of the same length, while the
/// file is open ends the sort.
#[test]
fn a_file_that_is_edited_in_place_is_refused() {
    for plan in PLANS {
        let place = Place::with_records(RECORDS);
        place.write("out", "old");
        let line = format!("sort --format gensort {plan} in - -o out");
        let edit = || {
            // Times of files have steps of some milliseconds.
            std::thread::sleep(std::time::Duration::from_millis(50));
            let mut file = File::options().write(true).open(place.path("in")).unwrap();
            std::io::Write::write_all(&mut file, b"0123456789").unwrap();
        };
        let ran = run_and_change(&place, &line, edit);
        assert_eq!(ran.code, 2, "{line}: {ran:?}");
        assert!(
            ran.complaint().contains("in was changed, or replaced"),
            "{line}: {ran:?}"
        );
        assert_eq!(place.read("out"), b"old");
        assert_eq!(place.names(), ["in", "out"], "{line}");
    }
}
