//! Messages: what they say, in one line, with the remedy.

use crate::common::{Place, Ran};

#[track_caller]
fn says(ran: &Ran, parts: &[&str]) {
    assert_eq!(ran.code, 2, "{ran:?}");
    for part in parts {
        assert!(ran.complaint().contains(part), "no {part:?} in {ran:?}");
    }
}

#[test]
fn a_long_line_is_named_with_its_file() {
    let place = Place::new();
    let mut long = b"a\nb\n".to_vec();
    long.extend(vec![b'x'; 3 << 20]);
    long.extend(b"\nc\n");
    place.write("in", &long);
    let advice = "set --max-line to at least its length, 2 GiB at most, and a larger -S";
    let ran = place.feed("sort -S 8M -o out", &long);
    says(
        &ran,
        &[
            "the line at byte 4 of the input is longer than the buffers (",
            advice,
        ],
    );
    let ran = place.run("sort -c -S 8M --max-line 64K in");
    says(
        &ran,
        &[
            "in: the line at byte 4 is longer than the buffers (",
            advice,
        ],
    );
    assert_eq!(place.names(), ["in"]);
}

/// Where, what, and what to do, in one line.
#[test]
fn a_wrong_command_line_gets_one_line() {
    let place = Place::new();
    place.write("in", "b\na\n");
    for (line, words) in [
        ("sort -T '' in", &["--tmp", "empty value", "write"][..]),
        ("sort -o '' in", &["--output", "empty value", "write"]),
        ("sort --key", &["--key", "write a value"]),
        ("sort --report= in", &["--report", "write a value"]),
        ("srt in", &["'srt'", "did you mean sort?"]),
        ("qqq", &["'qqq'", "gristmill --help"]),
        ("lab rum x", &["'rum'", "did you mean run?"]),
        ("lab qqq", &["'qqq'", "gristmill lab --help"]),
        ("sim qqq", &["'qqq'", "gristmill sim --help"]),
        ("sort --foo in", &["--foo", "gristmill sort --help"]),
        ("sort --verfy in", &["--verfy", "did you mean --verify?"]),
        (
            "sort --plan foo in",
            &["'foo'", "--plan", "one-pass, two-pass"],
        ),
        ("sort -S 5 -S x in", &["'x'", "--memory"]),
        (
            "sort --splitters even in",
            &["records of one length", "leave out --splitters even"],
        ),
        ("sort --shares 3,0 in", &["'3,0'", "--shares", "even, auto"]),
        (
            "sort --shares 3,1 in",
            &[
                "--shares has 2 numbers",
                "ranks is 1",
                "one number for each",
            ],
        ),
        ("check in --foo", &["--foo", "gristmill check --help"]),
        ("lab run", &["<NAME>", "gristmill lab run --help"]),
    ] {
        let ran = place.run_shell(&format!("$GRISTMILL {line}"));
        assert_eq!(ran.code, 2, "{line}: {ran:?}");
        says(&ran, words);
        let json = place.run_shell(&format!("$GRISTMILL {line} --json"));
        if !line.ends_with("--key") {
            let message = &json.json()["error"]["message"];
            assert!(
                !message.as_str().unwrap().contains('\n'),
                "{line}: {message}"
            );
        }
    }
    assert_eq!(place.names(), ["in"]);
}

#[test]
fn wrong_options_get_no_wrong_advice() {
    let place = Place::new();
    for option in ["--foo", "-Q", "--unknown=3"] {
        let ran = place.run(&format!("sort {option} in"));
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(
            ran.err.starts_with("gristmill: unexpected argument"),
            "{ran:?}"
        );
        assert!(
            !ran.err.contains("tip:") && !ran.err.contains("-- -"),
            "{ran:?}"
        );
    }
    // A slip of the finger is still understood.
    let ran = place.run("sort --verfy in");
    assert!(ran.err.contains("--verify"), "{ran:?}");
}

#[test]
fn the_beginning_of_several_options_lists_them() {
    let place = Place::new();
    for command in ["sort", "check", "explain"] {
        says(
            &place.run(&format!("{command} --r in")),
            &[
                "--r is the beginning of several options",
                "--reverse",
                "--random-sort",
                "--random-source",
            ],
        );
        says(
            &place.run(&format!("{command} --ignore in")),
            &["--ignore-case", "--ignore-leading-blanks"],
        );
    }
    let ran = place.run("sort --buffer=1G --r=2 in");
    says(&ran, &["--r is the beginning"]);
    place.write("in", "b\na\n");
    assert_eq!(place.run("sort --rev in").succeeded().out, b"b\na\n");
}

#[test]
fn values_are_refused_in_the_style_of_all_messages() {
    let place = Place::new();
    place.write("in", "a\n");
    for (line, part) in [
        ("sort --top x in", "must be a whole number from 1"),
        ("sort --top 0 in", "must be a whole number from 1"),
        (
            "sort --top 99999999999999999999 in",
            "must be a whole number from 1",
        ),
        ("sort -t \\t in", "such as -t, or -t $'\\t' for a tab"),
        ("sort -t ab in", "-t '\\0' for NUL"),
        (
            "sort -cC in",
            "-c reports the first line out of order and -C reports nothing; give only one",
        ),
        ("sort -c --top 3 in", "--top has nothing to do"),
        (
            "sort --format foo in",
            "unknown format \"foo\"; use lines, csv, tsv, jsonl, gensort, fixed:LEN",
        ),
        (
            "sort --format cvs --key a in",
            "unknown format \"cvs\"; use lines, csv",
        ),
        (
            "sort -S 1X in",
            "K M G T or KiB MiB GiB TiB (1024) and KB MB GB TB (1000)",
        ),
    ] {
        says(&place.run(line), &[part]);
    }
    let ran = place.run("gensort -b x 1 out");
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("must be a whole number from 0"), "{ran:?}");
}

/// Names of files may be any bytes. Other values are text.
#[test]
fn values_that_are_not_utf8_are_named() {
    let place = Place::new();
    let name = "\"$(printf 'n\\351')\"";
    let by_number = "a column may be named by its number, as in --key '#1'";
    for (line, parts) in [
        (
            "sort --format csv --key NAME NAME",
            ["--key: \"n\\xe9\"", by_number],
        ),
        (
            "sort --format csv --key=NAME:num a",
            ["\"--key=n\\xe9:num\"", by_number],
        ),
        (
            "check --format csv -kNAME a",
            ["-k: \"-kn\\xe9\"", by_number],
        ),
        (
            "explain --format csv -rk NAME a",
            ["-rk: \"n\\xe9\"", by_number],
        ),
        (
            "sort -o NAME --locale NAME NAME",
            ["--locale: \"n\\xe9\"", "write it in UTF-8"],
        ),
        (
            "sort -T NAME -S NAME",
            ["-S: \"n\\xe9\"", "write it in UTF-8"],
        ),
        (
            "explain --lines NAME a",
            ["--lines: \"n\\xe9\"", "write it in UTF-8"],
        ),
        (
            "sort --format NAME a",
            ["--format: \"n\\xe9\"", "write it in UTF-8"],
        ),
        (
            "sim nano-sort --cores NAME",
            ["--cores: \"n\\xe9\"", "write it in UTF-8"],
        ),
    ] {
        let line = line.replace("NAME", name);
        says(
            &place.run_shell(&format!("exec \"$GRISTMILL\" {line}")),
            &parts,
        );
    }
    let script = format!(
        "printf 'n\\351,b\\n2,x\\n1,y\\n' > {name}
        exec \"$GRISTMILL\" sort --format csv --key '#1:num' {name}"
    );
    let out = place.run_shell(&script).succeeded().out;
    assert_eq!(out, b"n\xe9,b\n1,y\n2,x\n");
}

/// Keys and formats as other tools have them.
#[test]
fn ways_of_other_tools_are_answered_with_those_of_this_one() {
    let place = Place::with_records(2);
    place.write("a.csv", "n,b\n2,x\n");
    place.write("one.csv", "n\n2\n");
    place.write("s.csv", "n;b\n2;x\n");
    for (line, part) in [
        (
            "csv -k2,2nr a.csv",
            "for column 2 write b:num:desc or #2:num:desc",
        ),
        (
            "csv -k2V a.csv",
            "for column 2 write b:natural or #2:natural",
        ),
        ("csv -k 1 a.csv", "for column 1 write n or #1"),
        (
            "csv -k4n one.csv",
            "there is \"n\"; the header has 1 column",
        ),
        ("csv --key #4 one.csv", "the header has 1 column"),
        ("csv --key #4 a.csv", "the header has 2 columns"),
        (
            "csv --no-header -k2,2n a.csv",
            "such as #3, or #3:num for numbers",
        ),
        ("csv --key n,b a.csv", "each column has a key of its own"),
        (
            "csv --key n s.csv",
            "separated by ';', say so, as with -t $';'",
        ),
        (
            "csv; s.csv",
            "use --format csv, and -t for the byte between fields",
        ),
        ("CSV s.csv", "use --format csv"),
        ("csv -d a.csv", "is given with -t, as in -t ';'"),
        (
            "csv --delimiter a.csv",
            "--delimiter: the byte between fields is given with -t",
        ),
        (
            "csv --separator=x a.csv",
            "--separator: the byte between fields is given with -t",
        ),
        (
            "gensort --key 0+4:PD in",
            "PD is a type of mainframe tools; write packed",
        ),
        ("gensort --key 0+4:fi in", "write i8, i16be, i32be or i64be"),
    ] {
        says(&place.run(&format!("sort --format {line}")), &[part]);
    }
    let out = place
        .run("sort --format csv -t ; --key n s.csv")
        .succeeded()
        .out;
    assert_eq!(out, place.read("s.csv"));
}

#[test]
fn one_thing_is_not_many() {
    let place = Place::with_records(1);
    place.write("line", "\n");
    place.write("byte", "x");
    let told = |line: &str| {
        let ran = place.run(line).succeeded();
        format!("{}{}", String::from_utf8_lossy(&ran.out), ran.err)
    };
    for (line, part) in [
        (
            "sort --format gensort in -o out --report r",
            "1 record (100 bytes) in 1 pass",
        ),
        ("sort line -o out --report r", "1 record (1 byte) in 1 pass"),
        ("explain --format fixed:1 byte", "record 1: 1 byte\n"),
        (
            "sim local-sort --cores 1 --keys-per-core 1",
            "1 key sorted on one core",
        ),
    ] {
        let told = told(line);
        assert!(told.contains(part), "{line}: {told}");
    }
}

/// A name may hold anything; a message is one line, and a terminal does not obey it.
#[test]
fn names_in_messages_are_harmless() {
    let place = Place::new();
    place.write("a\nb", "x\n");
    let run = |arguments: &[&str]| {
        let mut command = place.command("sort");
        Ran::from(command.args(arguments).output().unwrap())
    };
    says(&run(&["no\nfile\x1b[2J"]), &["no\\nfile\\u{1b}[2J"]);
    says(&run(&["-T", "no\ndir", "a\nb"]), &["no\\ndir"]);
    says(
        &run(&["--format", "fixed:100", "a\nb", "-o", "out"]),
        &["a\\nb ends inside a record"],
    );
    let ran = run(&["--fo\x1b[2Jo"]);
    assert!(ran.code == 2 && !ran.err.contains('\x1b'), "{ran:?}");
    let told = run(&["no\nfile", "--json", "-o", "out"]).json();
    assert_eq!(told["error"]["file"], "no\nfile");
    assert_eq!(run(&["a\nb"]).succeeded().out, b"x\n");
}

#[test]
fn valsort_names_the_check_of_other_formats() {
    let place = Place::new();
    place.write("pairs", [0; 160]);
    let ran = place.run("valsort pairs");
    assert_eq!(ran.code, 1);
    let advice = "`gristmill check --format FORMAT --key KEY pairs`";
    assert!(ran.err.starts_with("partial record found at end\n") && ran.err.contains(advice));
}
