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
    let advice = "set --max-line to at least its length, and a larger -S";
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
