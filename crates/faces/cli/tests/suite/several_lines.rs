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
    place.write("torn.log", "  at run\n  at main\n10:02 late\n");
    place.write("mixed", "1 5\n x\n y\n2 zz\n w\n");
    place.write("nul", "1 a\n b\0c\n");
    for (options, told) in [
        (
            "--record-start at in.log",
            "in.log: the first line, \"10:02 late\", does not begin with the pattern \"at\", so it belongs to no record; \
             change the pattern",
        ),
        (
            "--record-start [01][09]:0 torn.log",
            "tail -n +3 leaves out the lines before",
        ),
        (
            "--record-start [0-9] -k2:num mixed",
            "mixed, line 4: \"zz\" in field 2",
        ),
        (
            "--record-start [0-9] -c -k2:num mixed",
            "mixed, line 4: \"zz\" in field 2",
        ),
        ("--record-start (x{1000}){1000} in.log", "is no pattern"),
        (
            "--record-start 1 --format jsonl in.log",
            "rows have ends of their own",
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
            "counted from its begin",
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

/// Files that do not stay open are opened again to be read.
#[test]
fn many_files_are_read_alike() {
    let place = Place::new();
    let (mut names, mut records) = (String::new(), Vec::new());
    for number in 0..30 {
        let end = if number % 2 == 0 { "" } else { "\n" };
        let own = [30 - number, 60 - number].map(|key| format!("{key:02} b\n x {number}\n"));
        let text = own.concat();
        place.write(&format!("in{number}"), format!("{}{end}", text.trim_end()));
        names += &format!(" in{number}");
        records.extend(own);
    }
    records.sort();
    let expected = records.concat();
    for options in [
        "",
        "-m",
        "--top 100",
        "-u",
        "--plan merge",
        "--io direct",
        "--batch-size 2 -m",
    ] {
        let how = format!("$GRISTMILL sort --record-start '[0-9]' {options} {names}");
        let ran = place.run_shell(&how).succeeded();
        assert_eq!(String::from_utf8_lossy(&ran.out), expected, "{options}");
        let ran = place
            .run_shell(&format!("ulimit -n 24; {how} -o out --verify"))
            .succeeded();
        assert_eq!(
            (ran.out.len(), place.read("out")),
            (0, expected.clone().into_bytes())
        );
    }
    let ran = place
        .run_shell(&format!("$GRISTMILL sort --record-lines 2 {names}"))
        .succeeded();
    assert_eq!(String::from_utf8_lossy(&ran.out), expected);
}

/// A record that is longer than was supposed makes the sort look at all lengths, and begin again.
#[test]
fn a_long_record_takes_no_more_memory_than_a_long_line() {
    let place = Place::new();
    let mut log = String::new();
    for number in 0..20_000 {
        log += &format!("{:05} {}\n", 99_999 - number, "x".repeat(80));
        if number == 15_000 {
            log += &" at\n".repeat(300_000);
        }
    }
    place.write("in.log", &log);
    place.write(
        "in.nul",
        log.replace("\n0", "\0")
            .replace("\n9", "\09")
            .replace("\n8", "\08"),
    );
    for plan in ["auto", "two-pass"] {
        place
            .run(&format!("sort -z -S 40M --plan {plan} in.nul -o out.nul"))
            .succeeded();
        let how = format!("sort --record-start [0-9] -S 40M --plan {plan} in.log -o out --verify");
        place.run(&how).succeeded();
        assert_eq!(place.read("out").len(), log.len());
    }
}
