//! Manners of `sort`: what it does on a terminal, when it is quiet, where temporary files and
//! reports go, and what it notices about inputs that have another format than the one given.

use std::fs;

use children::Command;

use crate::common::{Place, Ran, skip};

/// The command, whose path may have a blank.
const SORT: &str = "\"$GRISTMILL\" sort";

/// Whether there is a command that gives others a terminal.
fn has_terminals() -> bool {
    let version = Command::new("script").arg("--version").output();
    let has = version.is_ok_and(|output| output.status.success());
    if !has {
        skip("no script of util-linux");
    }
    has
}

/// Runs a line of a shell, in which `$GRISTMILL` is the command, with standard output and standard
/// error on a terminal, which is the output.
fn on_terminal(place: &Place, line: &str) -> Ran {
    let ran = place
        .shell("exec script -qefc \"$LINE\" /dev/null")
        .env("LINE", line)
        .output();
    Ran::from(ran.unwrap())
}

fn shown(ran: &Ran) -> String {
    String::from_utf8_lossy(&ran.out).into_owned()
}

#[test]
fn binary_is_not_written_to_a_terminal() {
    if !has_terminals() {
        return;
    }
    let place = Place::with_records(10);
    place.write("nul", "b\na\0\n");
    place.write("escape", "b\n\x1b[1ma\n");
    let lines = [
        (
            "sort --format gensort in",
            "records of --format gensort are binary",
        ),
        (
            "sort --format fixed:4 in",
            "records of --format fixed:4 are binary",
        ),
        (
            "sort nul",
            "lines of nul have control bytes (0x00 at byte 3)",
        ),
        ("sort <nul", "lines of standard input have control bytes"),
    ];
    for (line, why) in lines {
        let ran = on_terminal(&place, &format!("\"$GRISTMILL\" {line}"));
        let shown = shown(&ran);
        assert_eq!(ran.code, 2, "{line}: {shown}");
        for part in [why, "standard output is a terminal", "-o", "`| cat`"] {
            assert!(shown.contains(part), "{line}: {shown}");
        }
    }
    for line in [
        "sort -z nul >/dev/null",
        "sort --format gensort in | cat >/dev/null",
        "sort --format gensort in -o out",
        "sort -z nul",
        "sort escape",
        "sort -c --format fixed:100 out",
        "sort nul -o out",
    ] {
        let ran = on_terminal(&place, &format!("\"$GRISTMILL\" {line}"));
        assert_eq!(ran.code, 0, "{line}: {}", shown(&ran));
    }
}

#[test]
fn a_sort_into_a_file_says_what_it_did() {
    if !has_terminals() {
        return;
    }
    let place = Place::with_records(10_000);
    place.write("names", "b\na\nb\n");
    let told = |options: &str| shown(&on_terminal(&place, &format!("{SORT} {options}")));
    let line = told("--format gensort in -o out");
    assert!(
        line.contains("sorted 10,000 records (1.0 MB) in "),
        "{line}"
    );
    assert!(line.contains(" s, ") && line.contains(" MB/s"), "{line}");
    let line = told("-u names -o out");
    assert!(line.contains("sorted 2 lines (4 bytes) in "), "{line}");
    assert!(line.contains(", dropped 1 with equal keys"), "{line}");
    for silent in [
        "-q names -o out",
        "--quiet names -o out",
        "--progress never names -o out",
        "names",
        "names 2>/dev/null -o out",
    ] {
        let line = told(silent);
        assert!(!line.contains("sorted "), "{silent}: {line}");
    }
    let ran = place.run("sort names -o out").succeeded();
    assert!(ran.err.is_empty(), "{ran:?}");
}

#[test]
fn quiet_and_progress_for_programs_contradict_each_other() {
    let place = Place::new();
    let ran = place.run("sort -q --progress json in");
    assert_eq!(ran.code, 2);
    assert!(ran.complaint().contains("leave -q or --progress json out"));
}

#[test]
fn a_report_may_go_to_standard_output() {
    let place = Place::with_records(1000);
    for options in ["--report -", "--report - --json", "-q --report -"] {
        let line = format!("sort --format gensort in -o out {options}");
        let ran = place.run(&line).succeeded();
        assert_eq!(ran.json()["records"], 1000, "{line}");
        let is_quiet = options.starts_with("-q");
        assert_eq!(ran.err.contains("% of run time"), !is_quiet, "{line}");
    }
    assert_eq!(place.names(), ["in", "out"]);
    let ran = place.run("sort --format gensort in --report -");
    assert_eq!(ran.code, 2);
    let line = ran.complaint();
    assert!(
        line.contains("--report writes") && line.contains("-o"),
        "{line}"
    );
}

#[test]
fn sizes_may_have_any_case() {
    let place = Place::with_records(1000);
    for size in [
        "1g",
        "1GiB",
        "1gib",
        "1GB",
        "64m",
        "64Mi",
        "100000K",
        "67108864b",
        "50%",
    ] {
        let line = format!("sort --format gensort in -o out -S {size} --tmp-limit 1gb");
        place.run(&line).succeeded();
    }
    place.run("sort in -o out --max-line 8kib").succeeded();
    for (wrong, why) in [
        ("8x", "'x' is not a unit"),
        ("10%", "percentage"),
        ("8", "unit"),
    ] {
        let ran = place.run(&format!("sort in -o out --tmp-limit {wrong}"));
        assert_eq!(ran.code, 2, "{wrong}");
        assert!(ran.complaint().contains(why), "{ran:?}");
    }
}

/// 20 MB, more than the memory of the sorts below.
const RECORDS: u64 = 200_000;

/// Without an output file temporary files have no neighbour, and TMPDIR says where they go.
#[test]
fn temporary_files_go_to_tmpdir() {
    let place = Place::with_records(RECORDS);
    for name in ["a", "b"] {
        fs::create_dir(place.path(name)).unwrap();
    }
    let run = |tmpdir: &str, options: &str| {
        let line = format!("sort --format gensort -S 12M in {options}");
        let output = place.command(&line).env("TMPDIR", tmpdir).output();
        Ran::from(output.unwrap())
    };
    // They cannot be made in a directory that does not exist.
    let ran = run("missing", "");
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(
        ran.complaint().contains("temporary files in missing"),
        "{}",
        ran.err
    );
    for (tmpdir, options) in [
        ("a", ""),
        ("missing", "-T b"),
        ("missing", "-o out"),
        ("", ""),
    ] {
        let ran = run(tmpdir, options);
        assert_eq!(ran.code, 0, "{tmpdir:?} {options}: {}", ran.err);
    }
    // Where all fits in memory, nothing is written there.
    let output = place
        .command("sort --format gensort in")
        .env("TMPDIR", "missing")
        .output();
    Ran::from(output.unwrap()).succeeded();
    for name in ["a", "b"] {
        assert_eq!(fs::read_dir(place.path(name)).unwrap().count(), 0);
    }
}

#[test]
fn temporary_files_have_a_limit() {
    let place = Place::with_records(RECORDS);
    place.write("out", "old");
    let input = place.read("in");
    let sort = "sort --format gensort -S 12M -o out";
    let refused = |ran: Ran, what: &str| {
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.complaint().contains(what), "{ran:?}");
        assert!(ran.complaint().contains("--tmp-limit"), "{ran:?}");
        assert_eq!(place.read("out"), b"old");
        assert_eq!(place.names(), ["in", "out"]);
    };
    let ran = place.run(&format!("{sort} in --tmp-limit 1M --json"));
    assert_eq!(ran.json()["error"]["kind"], "temporary_limit");
    refused(ran, "need about");
    refused(
        place.feed(&format!("{sort} --tmp-limit 1M"), &input),
        "have reached --tmp-limit, which is 1.0 MB",
    );
    let ran = place.run(&format!("{sort} in --tmp-limit 1M --resume"));
    refused(ran, "--resume");
    let line = format!("{sort} in --tmp-limit 40M --json");
    let report = place.run(&line).succeeded().json();
    let peak = report["temp_peak_bytes"].as_u64().unwrap();
    assert!(peak > 0 && peak <= 40 << 20, "{peak}");
    place
        .feed(&format!("{sort} --tmp-limit 40M"), &input)
        .succeeded();
    place.run("valsort out").succeeded();
}

#[test]
fn lengths_that_do_not_divide_a_file_are_answered_with_those_that_may() {
    let place = Place::new();
    let text = (0..200)
        .map(|number| format!("{number} lines\n"))
        .collect::<String>();
    place.write("text", &text[..text.len() - 5]);
    place.write("even", format!("{}x\n", "0123456\n".repeat(100)));
    place.write("bin", [0; 9590]);
    place.write("prime", [0; 9973]);
    for (line, advice) in [
        ("fixed:100 text", "it looks like text: leave --format out"),
        (
            "fixed:100 bin",
            "whole records of 70 or 137 bytes: check --format",
        ),
        ("fixed:100 prime", "check --format, or cut the file there"),
        ("fixed:100 even", "--format"),
    ] {
        let ran = place.run(&format!("sort -q --format {line} -o out"));
        assert_eq!(ran.code, 2, "{line}: {ran:?}");
        let told = ran.complaint();
        assert!(
            told.contains(advice) && told.contains("ends inside a record"),
            "{told}"
        );
    }
    place.write("even", "0123456\n".repeat(101));
    let ran = place.run("sort -q --format fixed:100 even -o out");
    let told = ran.complaint();
    assert!(
        told.contains("lines of 8 bytes: use --format fixed:8"),
        "{told}"
    );
}

#[test]
fn records_that_cut_lines_are_warned_of() {
    let place = Place::new();
    place.write("text", "one\ntwo\nthree\nfour\nfive\n".repeat(10));
    place.write("even", "one\ntwo\nsix\nten\n".repeat(10));
    let ran = place.run("sort --format fixed:10 text -o out").succeeded();
    assert_eq!(
        ran.err,
        "WARNING text looks like text, with lines of 4 to 6 bytes; records of 10 bytes cut them: \
         leave --format out to sort lines\n"
    );
    let quiet = place
        .run("sort -q --format fixed:10 text -o out")
        .succeeded();
    assert!(quiet.err.is_empty(), "{quiet:?}");
    for format in ["fixed:4", "fixed:8"] {
        let line = format!("sort --format {format} even -o out");
        let ran = place.run(&line).succeeded();
        assert!(ran.err.is_empty(), "{ran:?}");
    }
    let records = Place::with_records(100);
    let ran = records.run("sort --format gensort in -o out").succeeded();
    assert!(ran.err.is_empty(), "{ran:?}");
}
