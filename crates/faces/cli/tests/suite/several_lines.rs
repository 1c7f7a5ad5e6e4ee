//! `sort --record-start` and `--record-lines`: mistakes, places in messages, and files that are not plain.

use crate::common::Place;

const LOG: &str = "10:02 late\n  at main\n09:59 early\n\n  at run\n10:00 last";

#[test]
fn a_log_keeps_its_lines_together() {
    let place = Place::new();
    place.write("in.log", LOG);
    let sorted = "09:59 early\n\n  at run\n10:00 last\n10:02 late\n  at main\n";
    for plan in ["auto", "one-pass", "two-pass", "merge"] {
        for io in ["direct", "buffered"] {
            let how = format!("sort --record-start [0-9] --plan {plan} --io {io} in.log");
            assert_eq!(place.run(&how).succeeded().out, sorted.as_bytes(), "{how}");
            let how = format!("{how} -o out.gz --compress-output gzip");
            place.run(&how).succeeded();
            let again = place.run("sort --record-start [0-9] -c out.gz");
            again.succeeded();
        }
    }
    let ran = place
        .run("sort --record-start [0-9] --report - -o out in.log --verify")
        .succeeded();
    assert_eq!(ran.json()["records"], 3);
    assert_eq!(place.read("out"), sorted.as_bytes());
    // A pattern may look at the whole line.
    let by_end = place.run("sort --record-start .*e in.log").succeeded();
    assert_eq!(by_end.out, sorted.as_bytes());
}

#[test]
fn disorder_is_told_by_its_line() {
    let place = Place::new();
    place.write("in.log", LOG);
    let ran = place.run("sort -c --record-start [0-9] in.log");
    let told = "gristmill: in.log:3: disorder: 09:59 early\n\n  at run\n";
    assert_eq!((ran.code, &*ran.err), (1, told));
    let ran = place.run("sort -m --record-start [0-9] in.log in.log");
    assert!(ran.complaint().contains("line 3"), "{}", ran.err);
}

#[test]
fn files_that_have_no_such_records_are_refused() {
    let place = Place::new();
    place.write("in.log", LOG);
    place.write("reads.fq", "@a\nA\n+\n");
    place.write("nul", "1 a\n b\0c\n");
    for (options, told) in [
        (
            "--record-start at in.log",
            "the first line does not begin with \"at\"",
        ),
        ("--record-start (a in.log", "no pattern: found open group"),
        ("--record-lines 4 reads.fq", "has 3 of 4 lines"),
        ("--record-lines 0 reads.fq", "at least one line"),
        ("--record-start [0-9] nul", "byte 6 is a NUL"),
        ("--record-start 1 -z in.log", "leave -z out"),
        ("--record-start 1 --record-lines 2 in.log", "give only one"),
        (
            "--record-start 1 --header 1 in.log",
            "leave one of them out",
        ),
        ("--record-start 1 --debug in.log", "leave one of them out"),
        ("--record-start 1 in.log -o set/", "name one file with -o"),
        (
            "--record-start 1 --format csv in.log",
            "is for lines, not for --format csv",
        ),
        (
            "--record-lines 4 --format gensort in.log",
            "is for lines, not for --format gensort",
        ),
        (
            "--record-lines 2 --resume in.log -o out",
            "a number of its lines is a record",
        ),
    ] {
        let ran = place.run(&format!("sort {options}"));
        assert!(ran.complaint().contains(told), "{options}: {}", ran.err);
        assert_eq!((ran.code, &ran.out[..]), (2, &b""[..]), "{options}");
    }
    place.run("sort in.log -o set/").succeeded();
    let ran = place.run("sort --record-start [0-9] set");
    let told = "a set of files has records of one line";
    assert!(ran.complaint().contains(told), "{}", ran.err);
}

#[test]
fn records_are_explained_in_one_line() {
    let place = Place::new();
    place.write("in.log", LOG);
    let ran = place
        .run("explain --record-start [0-9] -k2,3 in.log")
        .succeeded();
    let shown = String::from_utf8(ran.out).unwrap();
    for part in [
        "record 1: 10:02 late|  at main",
        "record 2: 09:59 early||  at run",
        "the bytes \" late",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}
