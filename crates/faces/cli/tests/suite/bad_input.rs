//! Bad input and bad command lines: one line with the file, the offset and what to do, exit 2, and
//! every file as it was: no input touched, nothing under the output's name, nothing left beside it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use crate::common::{Place, Ran};

/// 150 bytes: a record of 100 and a half.
const CUT: [u8; 150] = [b'x'; 150];

/// Whether `act` failed as bad input does, and left every file as it was.
#[track_caller]
fn refused(place: &Place, act: impl FnOnce(&Place) -> Ran) -> Ran {
    let before = place.snapshot();
    let ran = act(place);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(
        place.snapshot() == before,
        "files were changed: {:?}",
        place.names()
    );
    ran
}

/// Runs that command line, and again with `--json`: the line holds all of `parts`, the JSON the
/// same message, the kind, the file and the offset.
#[track_caller]
fn refuses(place: &Place, line: &str, parts: &[&str], error: (&str, Option<&str>, Option<u64>)) {
    let plain = refused(place, |place| place.run(line));
    for part in parts {
        assert!(
            plain.complaint().contains(part),
            "no {part:?} in {}",
            plain.complaint()
        );
    }
    assert!(plain.out.is_empty());
    let told = refused(place, |place| place.run(&format!("{line} --json")));
    let message = told.complaint().trim_start_matches("gristmill: ");
    let (kind, file, offset) = error;
    let expected = serde_json::json!({
        "error": { "kind": kind, "file": file, "offset": offset, "message": message }
    });
    assert_eq!(told.json(), expected);
}

#[test]
fn an_empty_input_gives_an_empty_output() {
    let place = Place::new();
    place.write("in", "");
    place.run("sort --format gensort in -o out").succeeded();
    assert!(place.read("out").is_empty());
    place
        .run("sort --format gensort in in -o out --verify")
        .succeeded();
    assert!(place.read("out").is_empty());
    let ran = place.run("sort --format fixed:8").succeeded();
    assert!(ran.out.is_empty() && ran.err.is_empty());
    assert_eq!(place.names(), ["in", "out"]);
}

#[test]
fn a_truncated_last_record() {
    let place = Place::with_records(10);
    place.write("cut", CUT);
    let line = "sort --format gensort in cut -o out";
    let error = ("truncated_record", Some("cut"), Some(100));
    refuses(
        &place,
        line,
        &["cut ", "byte 100", "50 of 100", "--format"],
        error,
    );
    let error = ("truncated_record", Some("cut"), Some(147));
    refuses(
        &place,
        "sort --format fixed:7 cut -o in",
        &["byte 147", "3 of 7"],
        error,
    );
}

#[test]
fn a_truncated_last_record_of_a_pipe() {
    let place = Place::with_records(10);
    for output in ["-o out", "-o in", ""] {
        let line = format!("sort --format gensort {output}");
        let ran = refused(&place, |place| place.feed(&line, &CUT));
        assert!(ran.complaint().contains("standard input"), "{ran:?}");
        assert!(ran.complaint().contains("byte 100"), "{ran:?}");
        assert!(ran.out.is_empty());
    }
}

#[test]
fn a_key_beyond_the_record() {
    let place = Place::with_records(10);
    for (keys, part) in [
        ("fixed:10 --key 5+6", "\"5+6\""),
        ("gensort --key 100+1", "\"100+1\""),
    ] {
        let line = format!("sort --format {keys} in -o out");
        refuses(&place, &line, &[part, "record"], ("usage", None, None));
    }
}

#[test]
fn a_missing_input() {
    let place = Place::with_records(10);
    let line = "sort --format gensort in missing -o out";
    refuses(
        &place,
        line,
        &["cannot open missing", "check"],
        ("io", Some("missing"), None),
    );
}

#[test]
fn an_unreadable_input() {
    let place = Place::without_privilege(10);
    fs::set_permissions(place.path("in"), Permissions::from_mode(0o000)).unwrap();
    let ran = place.run("sort --format gensort in -o out");
    assert_eq!(ran.code, 2);
    assert!(
        ran.complaint().contains("in") && ran.complaint().contains("permissions"),
        "{ran:?}"
    );
    assert_eq!(place.names(), ["in"]);
}

#[test]
fn directories_are_no_files() {
    let place = Place::with_records(10);
    fs::create_dir(place.path("inside")).unwrap();
    let line = "sort --format gensort inside -o out";
    refuses(
        &place,
        line,
        &["inside is a directory"],
        ("is_directory", Some("inside"), None),
    );
    let ran = refused(&place, |place| place.run("gensort 10 inside"));
    assert!(ran.complaint().contains("inside is a directory"), "{ran:?}");
    assert_eq!(fs::read_dir(place.path("inside")).unwrap().count(), 0);
}

#[test]
fn an_output_directory_that_does_not_exist() {
    let place = Place::with_records(10);
    let line = "sort --format gensort in -o missing/out";
    refuses(
        &place,
        line,
        &["missing/out", "directory"],
        ("io", Some("missing/out"), None),
    );
    let ran = refused(&place, |place| place.run("gensort 10 missing/out"));
    assert!(ran.complaint().contains("missing/out"), "{ran:?}");
}

#[test]
fn a_full_device() {
    let place = Place::with_records(10);
    let line = "sort --format gensort in -o /dev/full";
    let parts = ["/dev/full", "byte 0", "No space", "free some space"];
    refuses(&place, line, &parts, ("io", Some("/dev/full"), Some(0)));
    let ran = refused(&place, |place| place.run("gensort 10 /dev/full"));
    assert!(
        parts.iter().all(|part| ran.complaint().contains(part)),
        "{ran:?}"
    );
}

#[test]
fn a_full_standard_output() {
    let place = Place::with_records(10);
    let sort = "exec \"$GRISTMILL\" sort --format gensort in >/dev/full";
    let ran = refused(&place, |place| place.run_shell(sort));
    assert!(ran.complaint().contains("standard output"), "{ran:?}");
}

/// Other output than records may meet a full device, too.
#[test]
fn a_full_standard_output_for_what_is_told() {
    let place = Place::with_records(10);
    for told in [
        "doctor",
        "doctor --json",
        "completions bash",
        "demo --cores 64",
    ] {
        let script = format!("exec \"$GRISTMILL\" {told} >/dev/full");
        let ran = refused(&place, |place| place.run_shell(&script));
        ran.complaint();
    }
    let ran =
        place.run_shell("exec \"$GRISTMILL\" sort --format gensort in -o out --json >/dev/full");
    assert_eq!(ran.code, 2, "{ran:?}");
    ran.complaint();
}

/// The exit code must not depend on whether the complaint could be printed.
#[test]
fn a_full_standard_error() {
    let place = Place::with_records(10);
    for (arguments, code) in [
        ("sort --format gensort missing -o out", 2),
        ("valsort in", 1),
    ] {
        let script = format!("exec \"$GRISTMILL\" {arguments} 2>/dev/full");
        assert_eq!(place.run_shell(&script).code, code, "{arguments}");
    }
}

#[test]
fn too_little_memory_names_what_is_enough() {
    let place = Place::with_records(10_000);
    let line = "sort --format gensort in -o out -S 1M";
    refuses(
        &place,
        line,
        &["give at least -S "],
        ("memory_limit", None, None),
    );
    let ran = place.run(line);
    let figure = ran.complaint().split("give at least -S ").nth(1).unwrap();
    place
        .run(&format!("sort --format gensort in -o out -S {figure}"))
        .succeeded();
    assert_eq!(place.read("out").len(), place.read("in").len());
}

#[test]
fn a_pipe_that_is_more_than_one_pass_holds() {
    let place = Place::with_records(200_000);
    let input = place.read("in");
    let refusal = refused(&place, |place| {
        place.feed("sort --plan one-pass --format gensort -o out -S 1M", &input)
    });
    let figure = refusal
        .complaint()
        .split("give at least -S ")
        .nth(1)
        .expect("a figure");
    let line = format!("sort --plan one-pass --format gensort -o out -S {figure}");
    let ran = refused(&place, |place| place.feed(&line, &input));
    assert!(ran.complaint().contains("give a larger -S"), "{ran:?}");
    place.feed(&line, &input[..10_000]).succeeded();
    assert_eq!(place.read("out").len(), 10_000);
}

#[test]
fn a_temporary_directory_that_is_missing() {
    let place = Place::with_records(10);
    let ran = refused(&place, |place| {
        place.run("sort --format gensort in -o out -T nowhere")
    });
    assert!(
        ran.complaint().contains("--tmp nowhere: no such directory"),
        "{ran:?}"
    );
}

#[test]
fn sizes_need_a_unit() {
    let place = Place::with_records(10);
    let ran = refused(&place, |place| {
        place.run("sort --format gensort in -o out -S 512")
    });
    assert!(ran.err.contains("512M"), "{}", ran.err);
    for size in ["12X", "101%", "-1M", "M"] {
        let line = format!("sort --format gensort in -o out -S={size}");
        refused(&place, |place| place.run(&line));
    }
}

#[test]
fn json_needs_standard_output_for_itself() {
    let place = Place::with_records(10);
    let ran = refused(&place, |place| place.run("sort --format gensort in --json"));
    assert!(ran.complaint().contains("-o"), "{ran:?}");
    assert_eq!(ran.json()["error"]["kind"], "usage");
}

/// One object on standard output always, whatever is wrong with the command line.
#[test]
fn json_tells_what_is_wrong_with_the_command_line() {
    let place = Place::with_records(10);
    for wrong in ["-S 512", "--unknown", "--plan none"] {
        let line = format!("sort --format gensort in -o out --json {wrong}");
        let ran = refused(&place, |place| place.run(&line));
        assert_eq!(ran.json()["error"]["kind"], "usage", "{wrong}");
    }
}

#[test]
fn unknown_names_are_usage_errors() {
    let place = Place::with_records(10);
    let lines = [
        "sort --format gensort in -o out --unknown",
        "sort --format text in -o out",
        "sort --format fixed:0 in -o out",
        "sort --format gensort --key 0+4:u33 in -o out",
        "doctor --unknown",
        "unknown",
        "",
    ];
    for line in lines {
        let ran = refused(&place, |place| place.run(line));
        assert!(ran.out.is_empty() && !ran.err.is_empty(), "{line}: {ran:?}");
    }
}

/// The report must not take the place of what was sorted, nor of what was to be sorted.
#[test]
fn a_report_is_neither_input_nor_output() {
    let place = Place::with_records(10);
    place.write("out", "old");
    for report in ["in", "out"] {
        let line = format!("sort --format gensort in -o out --report {report}");
        refused(&place, |place| place.run(&line));
    }
}

#[test]
fn a_report_that_cannot_be_written_is_told() {
    let place = Place::with_records(10);
    let ran = place.run("sort --format gensort in -o out --report missing/report");
    assert_eq!(ran.code, 2);
    assert!(ran.complaint().contains("missing/report"), "{ran:?}");
}

#[test]
fn impossible_checks_and_reports_are_refused_up_front() {
    let place = Place::with_records(10);
    let lines = [
        ("sort --format gensort in --verify", "regular file"),
        (
            "sort --format gensort in -o /dev/null --verify",
            "regular file",
        ),
        (
            "sort --format gensort in -o /dev/stdout --json",
            "standard output",
        ),
        (
            "sort --format gensort in --report /dev/stdout",
            "standard output",
        ),
        (
            "sort --format gensort in -o out --report missing/report",
            "no such directory",
        ),
        (
            "sort --format gensort in -o missing/newdir/",
            "make it first",
        ),
    ];
    for (line, part) in lines {
        let ran = refused(&place, |place| place.run(line));
        assert!(ran.complaint().contains(part), "{line}: {ran:?}");
    }
}

#[test]
fn a_usage_error_as_json_says_what_is_missing() {
    let place = Place::with_records(10);
    let line = "sort in -o out --key 0+4 --json";
    let ran = refused(&place, |place| place.run(line));
    let told = ran.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(told.contains("--format gensort"), "{told}");
}

/// Words that new users tried, and the advice that they got.
#[test]
fn a_mistake_in_words_is_told_with_the_right_ones() {
    let place = Place::new();
    place.write("in.csv", "a,price\nx,3\ny,1\n");
    for (options, told) in [
        (
            "--key price:num in.csv",
            "of rows it is a column, with --format csv",
        ),
        ("-k $.a in.csv", "of rows it is a column"),
        (
            "--format csv --key price:desc:desc in.csv",
            "give \"desc\" or its opposite once",
        ),
        (
            "--format csv --key price:date=%Q in.csv",
            "date=%Q: %Q is none of its letters",
        ),
        (
            "--format csv --key price:date=%d% in.csv",
            "a % at its end has no letter",
        ),
        (
            "--format csv --key price:date=iso in.csv",
            "date=iso: it has no %",
        ),
        (
            "--header in.csv",
            "first characters first, and in.csv is a file",
        ),
        (
            "--format csv --key a -u --sum in.csv",
            "--sum takes a column first, and in.csv is a file",
        ),
        ("--format csv --key price:number in.csv", "write price:num"),
        (
            "--format csv --key price:descending in.csv",
            "write price:desc",
        ),
        (
            "--format csv --key price:dmy in.csv",
            "write price:date=dmy",
        ),
        (
            "--format fixed:4 --key 0+2:u8 in.csv",
            "u8 is 1 byte long, not 2",
        ),
    ] {
        let ran = place.run(&format!("sort {options}"));
        assert_eq!(ran.code, 2, "{options}: {}", ran.err);
        assert!(ran.err.contains(told), "{options}: {}", ran.err);
    }
    place.write("dates.csv", "seen,price\n5/1/2024,\"($1,234.50)\"\n");
    for (key, told) in [
        ("seen:date=dmy", "the date \"5/1/2024\", 2024-01-05"),
        ("seen:date=mdy", "the date \"5/1/2024\", 2024-05-01"),
        ("price:amount", ", -1234.50"),
    ] {
        let ran = place.run(&format!("explain --format csv --key {key} dates.csv"));
        let said = String::from_utf8_lossy(&ran.out).into_owned();
        assert!(said.contains(told), "{key}: {said}");
    }
}
