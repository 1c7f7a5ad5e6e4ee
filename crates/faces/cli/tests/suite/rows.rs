//! The command with rows, and with records that have lengths in front.

use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};

use std::io::Write;

use children::Command;

fn sort_in(place: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gristmill"));
    command.arg("sort").args(arguments).current_dir(place);
    command.output().unwrap()
}

fn piped(arguments: &[&str], input: &[u8]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gristmill"));
    command.arg("sort").args(arguments);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

const SALES: &str = "city,price\nOslo,9.5\n\"York, new\",10\n\"two\nlines\",-1\nRome,\n";
const BY_PRICE: &str = "city,price\nRome,\n\"two\nlines\",-1\nOslo,9.5\n\"York, new\",10\n";

#[test]
fn rows_are_sorted_from_files_and_pipes() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("sales.csv"), SALES).unwrap();
    let keys = ["--format", "csv", "--key", "price:num"];
    let from_file = sort_in(place.path(), &[&keys[..], &["sales.csv"]].concat());
    assert_eq!(
        String::from_utf8(from_file.stdout.clone()).unwrap(),
        BY_PRICE,
        "{}",
        said(&from_file)
    );
    let from_pipe = piped(&keys, SALES.as_bytes());
    assert_eq!(
        from_pipe.stdout,
        BY_PRICE.as_bytes(),
        "{}",
        said(&from_pipe)
    );
    let verified = ["sales.csv", "-o", "sales.csv", "--verify"];
    let in_place = sort_in(place.path(), &[&keys[..], &verified].concat());
    assert!(in_place.status.success(), "{}", said(&in_place));
    assert_eq!(
        fs::read_to_string(place.path().join("sales.csv")).unwrap(),
        BY_PRICE
    );
    let checked = sort_in(place.path(), &[&keys[..], &["-c", "sales.csv"]].concat());
    assert_eq!(
        (checked.status.code(), said(&checked)),
        (Some(0), String::new())
    );
    let other = ["--format", "csv", "--key", "city", "-c", "sales.csv"];
    let checked = sort_in(place.path(), &other);
    assert_eq!(checked.status.code(), Some(1));
    assert!(
        said(&checked).starts_with("gristmill: sales.csv:5: disorder: Oslo,9.5"),
        "{}",
        said(&checked)
    );
}

#[test]
fn mistakes_of_rows_have_one_line() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("a.csv"), "a,b\n2,x\n1\n3,y\n").unwrap();
    let cases: [(&[&str], &str); 6] = [
        (
            &["--key", "a:num"],
            "gristmill: a.csv, line 3: 1 column, the header has 2; take them with --short-rows, or set such rows aside with \
             --bad-records FILE\n",
        ),
        (
            &["--key", "c"],
            "gristmill: a.csv: key 1, \"c\": there is no column \"c\"; there are ",
        ),
        (
            &["-n"],
            "gristmill: -n is for lines, not for --format csv; give the type with the key",
        ),
        (&["-z"], "gristmill: -z is for lines"),
        (
            &["--resume", "-o", "out", "--bad-records", "bad"],
            "gristmill: --resume stops at the first mistake, so it cannot be combined with --bad-records",
        ),
        (
            &["--quote", "ab"],
            "gristmill: --quote ab: a quote is one byte",
        ),
    ];
    for (options, expected) in cases {
        let failed = sort_in(
            place.path(),
            &[&["--format", "csv", "a.csv"], options].concat(),
        );
        assert_eq!(failed.status.code(), Some(2), "{options:?}");
        assert!(
            said(&failed).starts_with(expected),
            "{options:?}: {}",
            said(&failed)
        );
        assert!(failed.stdout.is_empty());
    }
    let options = [
        "--format",
        "csv",
        "--key",
        "a:num",
        "--bad-records",
        "bad",
        "a.csv",
    ];
    let aside = sort_in(place.path(), &options);
    assert_eq!(aside.stdout, b"a,b\n2,x\n3,y\n");
    assert!(
        said(&aside).contains(
            "bad: 1 row with mistakes was set aside here; the first is a.csv, line 3: 1 column"
        ),
        "{}",
        said(&aside)
    );
    let bad = fs::read_to_string(place.path().join("bad")).unwrap();
    let expected = "\"a.csv\",\"3\",\"1 column, the header has 2\",\"1\"\n";
    assert_eq!(bad, format!("file,line,reason,row\n{expected}"));
    let other = sort_in(place.path(), &["--bad-records", "bad", "a.csv"]);
    assert!(
        said(&other).contains(
            "--bad-records has nothing to do: lines have mistakes only in keys with a type"
        ),
        "{}",
        said(&other)
    );
}

#[test]
fn json_is_sorted_by_a_path() {
    let rows = b"{\"a\":{\"b\":10}}\n{\"a\":{\"b\":9}}\n{}\n";
    let sorted = piped(&["--format", "jsonl", "--key", "$.a.b:num"], rows);
    assert_eq!(
        sorted.stdout,
        b"{}\n{\"a\":{\"b\":9}}\n{\"a\":{\"b\":10}}\n"
    );
    let bad = piped(
        &["--format", "jsonl", "--key", "a"],
        b"{\"a\":1}\n{\"a\":\n",
    );
    assert_eq!(bad.status.code(), Some(2));
    assert!(
        said(&bad).contains(", line 2: column 5: "),
        "{}",
        said(&bad)
    );
}

/// A wrong name sorts by the whole row: the sort says so, and not where a row has the member.
#[test]
fn a_member_that_no_row_has_is_told() {
    let rows = b"{\"a\":{\"b\":10}}\n{\"a\":{\"b\":9}}\n{\"c\":null}\n";
    for (keys, unseen) in [
        (&["$.a.b:num"][..], &[][..]),
        (&[".a.b:num"], &[]),
        (&["a.b"], &["\"a.b\""]),
        (&["$.a.B:num", ".a.b:num"], &["$.a.B"]),
        (&["c", "nope"], &["\"c\"", "\"nope\""]),
    ] {
        let mut options = vec!["--format", "jsonl"];
        options.extend(keys.iter().flat_map(|key| ["--key", key]));
        let sorted = piped(&options, rows);
        assert!(sorted.status.success(), "{}", said(&sorted));
        let told = said(&sorted);
        let told: Vec<&str> = told
            .lines()
            .filter(|line| line.contains("no row"))
            .collect();
        assert_eq!(told.len(), unseen.len(), "{keys:?}: {told:?}");
        for (told, key) in told.iter().zip(unseen) {
            assert!(told.contains(&format!("for {key},")), "{told}");
        }
        assert!(
            said(&piped(&options, b"")).is_empty(),
            "no rows, no warning"
        );
    }
}

#[test]
fn records_with_lengths_are_sorted() {
    let place = tempfile::tempdir().unwrap();
    let words = |all: &[&str]| -> Vec<u8> {
        let word = |word: &&str| [&[0, word.len() as u8 + 4, 0, 0], word.as_bytes()].concat();
        all.iter().flat_map(word).collect()
    };
    fs::write(place.path().join("in.vb"), words(&["Rome", "Oslo", "Ulm"])).unwrap();
    let options = [
        "--format", "rdw", "--key", "1+2:desc", "in.vb", "-o", "out.vb", "--verify",
    ];
    let sorted = sort_in(place.path(), &options);
    assert!(sorted.status.success(), "{}", said(&sorted));
    let expected = words(&["Oslo", "Rome", "Ulm"]);
    assert_eq!(fs::read(place.path().join("out.vb")).unwrap(), expected);
    let short = sort_in(place.path(), &["--format", "rdw", "--key", "0+4", "in.vb"]);
    let message = "gristmill: in.vb: the record at byte 16: it has 3 bytes, and the keys need 4";
    assert!(said(&short).starts_with(message), "{}", said(&short));
    let cut = piped(&["--format", "varlen:u8"], b"\x04ab");
    assert!(
        said(&cut).contains("the record at byte 0: the file ends within"),
        "{}",
        said(&cut)
    );
    let unknown = piped(&["--format", "varlen:u24"], b"");
    assert!(
        said(&unknown).contains("\"u24\" is not a length"),
        "{}",
        said(&unknown)
    );
}

/// A set of files without headers is sorted again, also without the rows that have mistakes.
#[test]
fn a_set_of_rows_is_sorted_again() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("a.csv"), "b,3\n\"a\n,\",x\nc,1\n").unwrap();
    let csv = ["--format", "csv", "--no-header"];
    let made = ["--key", "#1", "a.csv", "-o", "set/"];
    let made = sort_in(place.path(), &[&csv[..], &made].concat());
    assert!(made.status.success(), "{}", said(&made));
    let again = sort_in(
        place.path(),
        &[&csv[..], &["--key", "#1:desc", "set"]].concat(),
    );
    assert_eq!(again.stdout, b"c,1\nb,3\n\"a\n,\",x\n", "{}", said(&again));
    let numbers = ["--key", "#2:num", "--bad-records", "bad", "set"];
    let numbers = sort_in(place.path(), &[&csv[..], &numbers].concat());
    assert_eq!(numbers.stdout, b"c,1\nb,3\n", "{}", said(&numbers));
    let bad = fs::read_to_string(place.path().join("bad")).unwrap();
    assert!(
        bad.ends_with("column 2 is not a number\",\"\"\"a\n,\"\",x\"\n"),
        "{bad}"
    );
    // Read as lines, its rows would be torn.
    let lines = sort_in(place.path(), &["set"]);
    assert!(
        said(&lines).contains("lists records of format csv"),
        "{}",
        said(&lines)
    );
}

/// Each file of a set has the header, and a set without rows has none.
#[test]
fn a_set_of_rows_with_a_header_is_sorted_again() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    let row = |number: u64| format!("\"a\n{}\",{number}\n", number * 7919 % 200_000);
    let rows: String = (0..200_000).map(row).collect();
    fs::write(path("a.csv"), format!("name,number\n{rows}")).unwrap();
    let csv = |more: &[&str]| sort_in(place.path(), &[&["--format", "csv"], more].concat());
    let made = csv(&["--key", "name", "a.csv", "-o", "x/", "-o", "y/", "--verify"]);
    assert!(made.status.success(), "{}", said(&made));
    let parts = fs::read_dir(path("y")).unwrap().map(|part| part.unwrap());
    let mut count = 0;
    for part in parts {
        let part = fs::read_to_string(part.path()).unwrap();
        assert!(part.starts_with("name,number\n\"a\n"), "{part:.30}");
        count += 1;
    }
    assert!(count > 0, "a file in each directory");
    let again = csv(&["--key", "number:num", "x"]);
    let expected = format!("name,number\n{rows}");
    assert!(again.stdout == expected.as_bytes(), "{}", said(&again));
    let valid = Command::new(env!("CARGO_BIN_EXE_gristmill"))
        .args(["valsort", "x"])
        .current_dir(place.path())
        .output()
        .unwrap();
    assert!(valid.status.success(), "{}", said(&valid));
    let torn = csv(&["--no-header", "x"]);
    assert!(
        said(&torn).contains("leave --no-header out"),
        "{}",
        said(&torn)
    );
    csv(&["--no-header", "a.csv", "-o", "z/"]);
    let none = csv(&["--key", "name", "z"]);
    assert!(said(&none).contains("give --no-header"), "{}", said(&none));
    fs::write(path("none.csv"), "name,number\n").unwrap();
    let made = csv(&["none.csv", "-o", "none/"]);
    assert!(made.status.success(), "{}", said(&made));
    let again = csv(&["none", "a.csv"]);
    assert!(again.stdout.len() == expected.len(), "{}", said(&again));
}

/// Rows that agree in many words of their keys, in orders with positions and without.
#[test]
fn long_equal_fronts_of_keys_are_told_apart() {
    let place = crate::common::Place::new();
    let mut rows: Vec<String> = (0..64)
        .map(|row| format!("7,{}{:03}\n", "y".repeat(60), row * 37 % 64))
        .collect();
    place.write("in.csv", format!("b,a\n{}", rows.concat()));
    rows.sort();
    let ascending = format!("b,a\n{}", rows.concat());
    rows.reverse();
    let descending = format!("b,a\n{}", rows.concat());
    for options in ["", "-s", "-u"] {
        for (key, expected) in [("a", &ascending), ("a:desc", &descending)] {
            let line = format!("sort --format csv --key b:num --key {key} {options} in.csv");
            assert_eq!(
                place.run(&line).succeeded().out,
                expected.as_bytes(),
                "{line}"
            );
        }
    }
}

/// Rows of each format, from files, pipes and compressed files: the file of those set aside names
/// their place, and holds the rows whatever they are.
#[test]
fn rows_set_aside_can_be_traced_and_read_again() {
    let place = crate::common::Place::new();
    let csv = "\"a\nb\";n\n\"x\ny\";1\n\"q\"z;2\r\n\"two\nlines\";\"no\"\nc;3\n1;2;3\n";
    let broken =
        "column 4: a field in quotes ends before this; inside of quotes, write a quote twice";
    let csv_aside = format!(
        "file;line;reason;row\n\
         \"in\";\"5\";\"{broken}\";\"\"\"q\"\"z;2\r\"\n\
         \"in\";\"6\";\"\"\"no\"\" in column n is not a number\";\"\"\"two\nlines\"\";\"\"no\"\"\"\n\
         \"in\";\"9\";\"3 columns, the header has 2\";\"1;2;3\"\n"
    );
    let tsv = "s\tn\na\t1\nb\nc\tx\n";
    let tsv_aside = "file\tline\treason\ts\tn\nin\t3\t1 column, the header has 2\tb\n\
        in\t4\t\"x\" in column n is not a number\tc\tx\n";
    let json = b"{\"n\":1}\n{\"n\":\"x\"}\n{\"n\"\n\xff\"\n";
    let json_aside = "{\"file\":\"in\",\"line\":2,\"reason\":\"\\\"x\\\" in \\\"n\\\" is not a number\",\
        \"row\":\"{\\\"n\\\":\\\"x\\\"}\"}\n\
        {\"file\":\"in\",\"line\":3,\"reason\":\"column 4: EOF while parsing an object\",\
        \"row\":\"{\\\"n\\\"\"}\n\
        {\"file\":\"in\",\"line\":4,\"reason\":\"column 1: this byte is not UTF-8, as \
        JSON must be\",\"hex\":\"ff22\"}\n";
    for (options, input, expected) in [
        ("csv -t ;", csv.as_bytes(), &*csv_aside),
        ("tsv", tsv.as_bytes(), tsv_aside),
        ("jsonl", &json[..], json_aside),
    ] {
        place.write("in", input);
        let sort =
            format!("\"$GRISTMILL\" sort --format '{options}' --key n:num --bad-records bad");
        let sort = sort.replace(" -t ;'", "' -t ';'");
        let given = place.run_shell(&format!("{sort} in -o out")).succeeded();
        assert_eq!(String::from_utf8_lossy(&place.read("bad")), expected);
        assert!(
            given.err.contains("the first is in, line "),
            "{}",
            given.err
        );
        let out = place.read("out");
        // The same file is replaced: it has rows set aside. In a pipe lines are counted as they
        // pass.
        let piped = place.run_shell(&format!("cat in | {sort}")).succeeded();
        assert_eq!(piped.out, out);
        let from_pipe = String::from_utf8(place.read("bad")).unwrap();
        let quote = if options == "tsv" { "" } else { "\"" };
        let from_pipe = from_pipe.replace(
            &format!("{quote}standard input{quote}"),
            &format!("{quote}in{quote}"),
        );
        assert_eq!(from_pipe, expected, "{options}");
        place.run_shell("gzip -c in > in.gz").succeeded();
        place.run_shell(&format!("{sort} in.gz -o out")).succeeded();
        let from_gzip = String::from_utf8(place.read("bad")).unwrap();
        assert_eq!(from_gzip.replace("in.gz", "in"), expected, "{options}");
    }
}

/// A slip must not cost a file: only what an earlier sort wrote beside its output is replaced.
#[test]
fn other_files_are_not_replaced_by_what_is_written_beside_the_output() {
    let place = crate::common::Place::new();
    place.write("rows", "a,b\n1,x\n2\n");
    place.write("rows.jsonl", "{\"a\":1}\n{\n");
    for option in ["--bad-records", "--report"] {
        for (format, rows) in [("csv", "rows"), ("tsv", "rows"), ("jsonl", "rows.jsonl")] {
            place.write("mine", "{\"a\": 1}\n");
            let line = format!("sort --format {format} {rows} -o out {option} mine");
            let ran = place.run(&line);
            assert_eq!(ran.code, 2, "{line}: {}", ran.err);
            assert!(
                ran.err.contains("so it is not replaced; name another file"),
                "{}",
                ran.err
            );
            assert_eq!(place.read("mine"), b"{\"a\": 1}\n");
            assert!(!place.path("out").exists());
            place.write("mine", "");
            let aside = if option == "--report" {
                "--bad-records bad"
            } else {
                ""
            };
            let line = format!("{line} {aside}");
            // An empty file is replaced, and then its own one.
            place.run(&line).succeeded();
            let first = place.read("mine");
            assert!(format != "csv" || !first.is_empty());
            place.run(&line).succeeded();
            std::fs::remove_file(place.path("out")).unwrap();
        }
    }
}

/// Newlines in quotes count, in the header and in rows, wherever a row is named.
#[test]
fn a_row_is_named_by_the_line_where_it_begins() {
    let place = crate::common::Place::new();
    place.write("in", "\"a\nb\",n\n\"x\ny\",2\n\"z\n\",no\n");
    place.write("order", "\"a\nb\",n\n\"x\ny\",2\n\"z\n\",1\n");
    for (line, told) in [
        ("sort --format csv --key n:num in", "in, line 5: \"no\""),
        ("sort -m --format csv --key n:num in", "in, line 5: \"no\""),
        ("check --format csv --key n:num in", "in, line 5: \"no\""),
        (
            "sort -c --format csv --key n:num order",
            "order:5: disorder",
        ),
        (
            "sort -m --format csv --key n:num order",
            "order: line 5 is out of order",
        ),
        ("explain --format csv --key n:num in", "line 5: \"no\""),
    ] {
        let ran = place.run(line);
        assert!(ran.err.contains(told), "{line}: {}", ran.err);
        let from_pipe = line.rsplit_once(' ').unwrap();
        let script = format!("cat {} | \"$GRISTMILL\" {}", from_pipe.1, from_pipe.0);
        let ran = place.run_shell(&script);
        let (_, told) = told.split_once(|letter| ",:".contains(letter)).unwrap();
        assert!(ran.err.contains(told.trim()), "{script}: {}", ran.err);
    }
}
