//! Files whose length is not that of their content, as those of `/proc` and `/sys`: they are read as pipes
//! are.

use std::fs;
use std::path::Path;

use crate::common::{Place, RECORD_BYTES, Ran, skip, sorted};

/// Files that have the same content at every reading: one of length 0, and one whose length is a bound.
const FILES: [&str; 2] = ["/proc/version", "/sys/devices/system/cpu/possible"];

/// Those that this machine has, with their contents.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    let content = |path: &&str| fs::read(path).unwrap_or_default();
    let files = FILES.into_iter().map(|path| (path, content(&path)));
    let is_untrue = |(path, content): &(&str, Vec<u8>)| {
        let found = Path::new(path).metadata();
        !content.is_empty() && found.is_ok_and(|found| found.len() != content.len() as u64)
    };
    let found: Vec<_> = files.filter(is_untrue).collect();
    if found.len() < FILES.len() {
        skip(&format!("this machine does not have all of {FILES:?}"));
    }
    found
}

#[test]
fn a_file_without_a_true_length_is_sorted() {
    for (file, content) in files() {
        let place = Place::new();
        place.write("empty", "");
        place.write("in", "some more bytes");
        let inputs = format!("in {file} empty {file}");
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
        let line = format!("sort --format fixed:{} {file}", content.len());
        assert!(place.run(&line).succeeded().out == content);
    }
}

/// One line, whatever looks at it.
#[test]
fn lines_and_rows_end_where_their_file_does() {
    for (file, content) in files() {
        let place = Place::new();
        for line in [
            format!("sort {file}"),
            format!("sort -u {file} {file}"),
            format!("sort -m {file}"),
            format!("sort --top 1 {file} {file}"),
            format!("sort --format tsv --no-header {file}"),
            format!("sort --format tsv {file} {file}"),
        ] {
            assert!(place.run(&line).succeeded().out == content, "{line}");
        }
        let redirected = format!("\"$GRISTMILL\" sort < {file}");
        assert!(place.run_shell(&redirected).succeeded().out == content);
        place.run(&format!("sort -c {file}")).succeeded();
        place.run(&format!("check {file}")).succeeded();
    }
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
    for (file, content) in files() {
        let (place, record_bytes) = (Place::new(), content.len() - 1);
        let ran = place.run(&format!("sort --format fixed:{record_bytes} {file} -o out"));
        assert_eq!(ran.code, 2);
        let place_of_it = format!("byte {record_bytes}");
        assert!(
            ran.complaint().contains(&place_of_it) && ran.complaint().contains(file),
            "{ran:?}"
        );
        assert!(place.names().is_empty(), "{:?}", place.names());
    }
}

#[test]
fn valsort_reads_a_file_without_a_length() {
    for (file, content) in files() {
        assert!(
            !content.len().is_multiple_of(RECORD_BYTES),
            "gensort records are none"
        );
        let ran = Place::new().run(&format!("valsort {file}"));
        assert_eq!(
            (ran.code, ran.err.lines().next()),
            (1, Some("partial record found at end")),
            "{file}"
        );
    }
}

/// An input that can only be read front to back cannot be divided or read again.
#[test]
fn it_is_refused_where_pipes_are() {
    let refused = |ran: Ran| {
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains("pipe"), "{}", ran.err);
    };
    for (file, _) in files() {
        let (place, line) = (Place::new(), format!("--format fixed:1 {file} -o out"));
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
}
