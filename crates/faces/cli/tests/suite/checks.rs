//! `gristmill check` and `gristmill explain`.

use crate::common::{Place, Ran};

/// Runs a check, and returns its exit code and what it said.
fn check(place: &Place, line: &str) -> (i32, String) {
    let Ran { code, out, err } = place.run(line);
    assert!(out.is_empty(), "{line}: {out:?}");
    (code, err.trim_end().to_owned())
}

#[test]
fn any_format_is_checked() {
    let place = Place::with_records(1000);
    place.run("sort --format gensort in -o out").succeeded();
    place.write("lines", "a,9\nb,10\n");
    place.write("pairs", [1, 9, 2, 8, 3, 7]);
    let told = |text: &str| (0, text.to_owned());
    for (line, expected) in [
        ("check --format gensort out", "out: 1,000 records, in order"),
        ("check lines", "lines: 2 lines, in order"),
        ("check -t, -k2,2n lines", "lines: 2 lines, in order"),
        (
            "check --format fixed:2 --key 0+1 pairs",
            "pairs: 3 records, in order",
        ),
        (
            "check --format fixed:2 --key 1+1:u8:desc pairs",
            "pairs: 3 records, in order",
        ),
        ("check -q lines", ""),
        ("sort -c lines", ""),
    ] {
        assert_eq!(check(&place, line), told(expected), "{line}");
    }
    for (line, expected) in [
        (
            "check -t, -k2,2 lines",
            "gristmill: lines:2: disorder: b,10",
        ),
        ("check -r lines", "gristmill: lines:2: disorder: b,10"),
        (
            "check --format fixed:2 --key 1+1 pairs",
            "gristmill: pairs:2: disorder: 0208",
        ),
        ("check -qr lines", ""),
    ] {
        assert_eq!(check(&place, line), (1, expected.to_owned()), "{line}");
    }
    assert_eq!(check(&place, "check --format gensort in").0, 1);
}

#[test]
fn sets_are_checked() {
    let place = Place::with_records(1000);
    place.run("sort --format gensort in -o set/").succeeded();
    let told = check(&place, "check --format gensort set/");
    assert_eq!(told, (0, "set/: 1,000 records, in order".to_owned()));
}

/// A set whose files are in order, but have lost or doubled records, is not well.
#[test]
fn sets_are_checked_against_their_manifests() {
    let place = Place::new();
    place.write("in", "c\na\nb\n");
    place.run("sort in -o set/").succeeded();
    let listed = place.run_shell("ls set | grep part").succeeded().out;
    let listed = String::from_utf8(listed).unwrap();
    let part = format!("set/{}", listed.trim());
    for content in ["a\nb\n", "a\nb\nb\nc\n", "", "a\nb\nc\nd\n", "a\nb\nd\n"] {
        place.write(&part, content);
        for check_of in ["check set", "check -q set", "sort -c set"] {
            let (code, said) = check(&place, check_of);
            assert_eq!(code, 2, "{check_of}, {content:?}: {said}");
            assert!(said.contains("set/manifest.json lists records"), "{said}");
        }
    }
    place.write(&part, "a\nb\nc\n");
    assert_eq!(check(&place, "check set").0, 0);
    place.write(&part, "a\nc\nb\n");
    assert_eq!(check(&place, "check set").0, 1);
}

/// It is `sort -c`: the same lines, the same codes.
#[test]
fn a_check_is_a_sort_that_only_checks() {
    let place = Place::with_records(10);
    place.write("lines", "b\na\n");
    for options in [
        "lines",
        "-u lines",
        "missing",
        "--format gensort in",
        "--format fixed:7 in",
        "--format json lines",
        "--key 0+4 lines",
        "-n -d lines",
        "-S 1 --format gensort in",
    ] {
        let [sort, check] = ["sort -c", "check"].map(|command| {
            let ran = place.run(&format!("{command} {options}"));
            (ran.code, ran.err)
        });
        assert_eq!(sort, check, "{options}");
    }
    let ran = place.run("check lines in");
    assert!(
        ran.complaint()
            .starts_with("gristmill: check checks one input"),
        "{ran:?}"
    );
}

#[test]
fn keys_are_explained() {
    let place = Place::new();
    place.write("sales", "a,north,9\nb,south,x\nc,,\n");
    let ran = place.run("explain -t, -k3,3nr -k1,1 sales").succeeded();
    let expected = "\
key 1, -k 3nr,3: a decimal number, the largest first
key 2, -k 1,1: bytes
lines with equal keys: compared as bytes

line 1: a,north,9
                _  key 1: the number \"9\"
        _          key 2: the bytes \"a\"
        _________  equal keys: the whole line

line 2: b,south,x
                ^  key 1: no number in \"x\"
        _          key 2: the bytes \"b\"
        _________  equal keys: the whole line

line 3: c,,
           ^  key 1: no number in \"\"
        _     key 2: the bytes \"c\"
        ___   equal keys: the whole line
";
    assert_eq!(String::from_utf8_lossy(&ran.out), expected);
    let warned: Vec<&str> = ran.err.lines().collect();
    assert_eq!(
        warned.last(),
        Some(&"WARNING line 2: key 1 finds no number in \"x\", which counts as 0"),
    );
    // -n is an order, as everywhere.
    let ran = place.run("explain -n --lines 1 sales").succeeded();
    let lines = String::from_utf8_lossy(&ran.out).matches("line ").count();
    assert_eq!(
        (lines, ran.err.matches("no number in").count()),
        (1, 1),
        "{ran:?}"
    );
    let ran = place.feed("explain -z -k2M", b"x feb\0y\0");
    assert!(String::from_utf8_lossy(&ran.succeeded().out).contains("the month FEB"));
}

#[test]
fn only_the_first_lines_are_read() {
    let place = Place::new();
    // A reader of all of it would never end.
    let ran = place.run_shell("yes line | \"$GRISTMILL\" explain --lines 2 | wc -l");
    assert_eq!(String::from_utf8_lossy(&ran.succeeded().out).trim(), "7");
    let mut long = vec![b'x'; 100_000];
    long.extend(b"\nnext\n");
    place.write("long", long);
    let ran = place.run("explain long").succeeded();
    assert!(
        ran.err.contains("line 1 is longer than 65536 bytes"),
        "{}",
        ran.err
    );
    assert!(String::from_utf8_lossy(&ran.out).contains("line 2: next"));
}

#[test]
fn keys_of_records_are_explained() {
    let place = Place::new();
    place.write("fixed", b"\x05\x00ab\xff\xffcdx");
    let ran = place.run("explain --format fixed:4 --key 0+2:i16le --key 2+2:desc fixed");
    let expected = "\
record 1: 4 bytes
  key 1, 0+2:i16le: 05 00, the number 5
  key 2, 2+2:desc: 61 62, \"ab\"
record 2: 4 bytes
  key 1, 0+2:i16le: ff ff, the number -1
  key 2, 2+2:desc: 63 64, \"cd\"
";
    assert_eq!(String::from_utf8_lossy(&ran.out), expected, "{ran:?}");
    assert!(
        ran.err.contains("1 byte from offset 8 on: no whole record"),
        "{ran:?}"
    );
    place.write("lengths", b"\x04\x12\x3dab\x01a");
    let ran = place.run("explain --format varlen:u8 --key 0+2:packed lengths");
    let text = String::from_utf8_lossy(&ran.out);
    assert!(
        text.contains("key 1, 0+2:packed: 12 3d, the number -123\n"),
        "{ran:?}"
    );
    assert!(text.contains("the record ends before it does"), "{ran:?}");
}

#[test]
fn keys_of_rows_are_explained() {
    let place = Place::new();
    let rows = "city,price\nOslo,9.5\n\"York, new\",x\n\"two\nlines\",\n";
    place.write("sales.csv", rows);
    let ran = place.run("explain --format csv --key price:num:desc --key city sales.csv");
    let text = String::from_utf8(ran.out.clone()).unwrap();
    for expected in [
        "key 1, price: a number, the largest first, rows without it last\n",
        "key 2, city: bytes, rows without it first\nrows with equal keys: compared as bytes\n",
        "line 2: Oslo,9.5\n             ___  key 1: the number \"9.5\"\n",
        "key 2: the bytes \"\"York, new\"\"\n",
        "key 1: no value\n",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(
        ran.err
            .contains("line 3: \"x\" in column price is not a number"),
        "{ran:?}"
    );
    let json = place.feed(
        "explain --format jsonl --key $.a.b",
        b"{\"a\": {\"b\": \"x\"}}\n",
    );
    let text = String::from_utf8(json.out).unwrap();
    assert!(text.contains("line 1: {\"a\": {\"b\": \"x\"}}\n"), "{text}");
    let ran = place.run("explain --format csv --key cost sales.csv");
    assert_eq!(ran.code, 2);
    assert!(
        ran.complaint().contains("there is no column \"cost\""),
        "{ran:?}"
    );
}

#[test]
fn what_cannot_be_explained_is_refused() {
    let place = Place::with_records(1);
    for (line, part) in [
        ("explain missing", "cannot read missing"),
        ("explain .", "directory"),
        ("explain --lines 0 in", "from 1"),
        ("explain -k 0 in", "counted from 1"),
        ("explain -nd in", "-dn"),
    ] {
        let ran = place.run(line);
        assert_eq!(ran.code, 2, "{line}: {ran:?}");
        assert!(ran.complaint().contains(part), "{line}: {ran:?}");
    }
}
