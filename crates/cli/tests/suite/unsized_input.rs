//! Files whose length says nothing about their content, as those of `/proc`: they are read as pipes
//! are.

use std::fs;
use std::path::Path;

use crate::common::{Place, RECORD_BYTES, Ran, skip, sorted};

/// A file of length 0 that has content, the same at every reading.
const UNSIZED: &str = "/proc/version";

/// Its content, where the machine has such a file.
fn content() -> Option<Vec<u8>> {
    let is_unsized = Path::new(UNSIZED)
        .metadata()
        .is_ok_and(|found| found.len() == 0);
    let content = fs::read(UNSIZED)
        .ok()
        .filter(|bytes| is_unsized && !bytes.is_empty());
    if content.is_none() {
        skip("this machine has no /proc/version");
    }
    content
}

#[test]
fn a_file_without_a_length_is_sorted() {
    let Some(content) = content() else { return };
    let place = Place::new();
    place.write("empty", "");
    place.write("in", "some more bytes");
    let inputs = format!("in {UNSIZED} empty {UNSIZED}");
    let all = [&b"some more bytes"[..], &content, &content].concat();
    for options in [
        "",
        "--verify",
        "--stable",
        "--io direct",
        "--plan two-pass -S 64M",
    ] {
        let line = format!("sort --format fixed:1 {options} {inputs} -o out --json");
        let report = place.run(&line).succeeded().json();
        assert_eq!(report["records"], all.len(), "{line}");
        assert!(place.read("out") == sorted(&all, 1), "{line}");
    }
    let line = format!("sort --format fixed:{} {UNSIZED}", content.len());
    assert!(place.run(&line).succeeded().out == content);
}

/// An empty file keeps its length: nothing is merged, and it can be sorted again.
#[test]
fn an_empty_file_is_no_pipe() {
    let place = Place::new();
    place.write("empty", "");
    for options in ["", "--io direct", "--resume"] {
        let line = format!("sort --format gensort {options} empty -o out --json");
        let report = place.run(&line).succeeded().json();
        assert_eq!(report["records"], 0, "{line}");
        assert_ne!(report["plan"], "merge", "{line}");
    }
}

#[test]
fn a_record_that_ends_early_is_found_without_a_length() {
    let Some(content) = content() else { return };
    let (place, record_bytes) = (Place::new(), content.len() - 1);
    let ran = place.run(&format!(
        "sort --format fixed:{record_bytes} {UNSIZED} -o out"
    ));
    assert_eq!(ran.code, 2);
    let place_of_it = format!("byte {record_bytes}");
    assert!(
        ran.complaint().contains(&place_of_it) && ran.complaint().contains(UNSIZED),
        "{ran:?}"
    );
    assert!(place.names().is_empty(), "{:?}", place.names());
}

#[test]
fn valsort_reads_a_file_without_a_length() {
    let Some(content) = content() else { return };
    assert!(
        !content.len().is_multiple_of(RECORD_BYTES),
        "gensort records are none"
    );
    let ran = Place::new().run(&format!("valsort {UNSIZED}"));
    assert_eq!(
        (ran.code, ran.err.lines().next()),
        (1, Some("partial record found at end"))
    );
}

/// An input that can only be read front to back cannot be divided or read again.
#[test]
fn it_is_refused_where_pipes_are() {
    if content().is_none() {
        return;
    }
    let refused = |ran: Ran| {
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains("pipe"), "{}", ran.err);
    };
    let (place, line) = (Place::new(), format!("--format fixed:1 {UNSIZED} -o out"));
    refused(place.run(&format!("sort {line} --resume")));
    if let Some(ran) = crate::ranks::run(&place, 2, &format!("sort {line}")) {
        refused(ran);
    }
    assert!(
        !place.names().contains(&"out".to_owned()),
        "{:?}",
        place.names()
    );
}
