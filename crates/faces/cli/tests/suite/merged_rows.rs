//! `sort -m` of rows and of records with lengths, and `--debug` of both.

use std::fmt::Write as _;

use crate::common::{Place, Ran};
use crate::gnu::draw::Draw;

/// Rows by their number, some with a newline in quotes; the keys of files interleave.
fn rows(draw: &mut Draw, count: usize, with_newlines: bool) -> String {
    let mut number = 0;
    let mut rows = "name,number\n".to_owned();
    for _ in 0..count {
        number += draw.below(3);
        let name = match draw.below(4) {
            0 if with_newlines => "\"two\nlines\"",
            1 => "\"a, b\"",
            _ => "plain",
        };
        writeln!(rows, "{name},{number}").unwrap();
    }
    rows
}

fn text(ran: &Ran) -> String {
    String::from_utf8(ran.out.clone()).unwrap()
}

/// Merges and sorts the same inputs, and compares the outputs.
fn is_merged(place: &Place, options: &str, inputs: &str) {
    let merged = format!("sort -m {options} {inputs} -o merged --json");
    let report = place.run(&merged).succeeded().json();
    let reason = report["reason"].as_str().unwrap();
    let count = inputs.split(' ').count();
    assert!(
        reason.starts_with(&format!("-m merges {count} sorted inputs")),
        "{reason}"
    );
    place
        .run(&format!("sort {options} {inputs} -o sorted"))
        .succeeded();
    assert!(place.read("merged") == place.read("sorted"), "{merged}");
}

#[test]
fn sorted_rows_are_merged() {
    let (place, draw) = (Place::new(), &mut Draw(5));
    for with_newlines in [false, true] {
        let mut inputs = Vec::new();
        for number in 0..11 {
            // Longer than a read, and without rows.
            let count = [3000, 60_000, 0][usize::from(number == 3) + 2 * usize::from(number == 5)];
            let name = format!("in{number}.csv");
            place.write(&name, rows(draw, count, with_newlines));
            inputs.push(name);
        }
        let inputs = inputs.join(" ");
        for options in ["-s -S 32M", "-u", "-s --batch-size 3", "-s --io direct"] {
            is_merged(
                &place,
                &format!("--format csv --key number:num {options}"),
                &inputs,
            );
        }
        let piped = "sort -m -s --format csv --key number:num in0.csv - in2.csv < in1.csv";
        let piped = place.run_shell(&piped.replacen("sort", "\"$GRISTMILL\" sort", 1));
        let merged = "sort -s --format csv --key number:num in0.csv in1.csv in2.csv";
        assert!(piped.succeeded().out == place.run(merged).succeeded().out);
    }
}

#[test]
fn sorted_records_with_lengths_are_merged() {
    let (place, draw) = (Place::new(), &mut Draw(6));
    for name in ["a", "b", "c"] {
        let mut bodies: Vec<Vec<u8>> = (0..5000)
            .map(|_| {
                (0..4 + draw.below(60))
                    .map(|_| draw.below(4) as u8)
                    .collect()
            })
            .collect();
        bodies.sort();
        let record = |body: Vec<u8>| [&(body.len() as u16).to_le_bytes()[..], &body].concat();
        place.write(
            name,
            bodies.into_iter().flat_map(record).collect::<Vec<u8>>(),
        );
    }
    is_merged(&place, "--format varlen:u16le", "a b c");
    is_merged(&place, "--format varlen:u16le --key 0+2 -u", "a b c");
    place.write("jsonl", "{\"n\": 1}\n{\"n\": 3}\n");
    place.write("more", "{\"n\": 2}\n{\"n\": 4}");
    is_merged(&place, "--format jsonl --key $.n:num", "jsonl more");
}

#[test]
fn rows_out_of_order_and_with_mistakes_are_refused() {
    let place = Place::new();
    place.write("a.csv", "n,s\n1,a\n3,b\n");
    for (rows, told) in [
        ("n,s\n2,\"x\ny\"\n1,b\n", "b.csv: line 4 is out of order"),
        ("n,s\n1,a\n2,b,c\n", "b.csv, line 3"),
        (
            "n,s\n1,a\n2,\"b\n",
            "b.csv, line 3: column 3: the quote that begins here does not end",
        ),
        ("n,s\nx,a\n", "b.csv, line 2"),
    ] {
        place.write("b.csv", rows);
        let ran = place.run("sort -m --format csv --key n:num a.csv b.csv -o out");
        assert_eq!(ran.code, 2, "{rows:?}");
        assert!(ran.err.contains(told), "{rows:?}: {}", ran.err);
        assert!(!place.path("out").exists());
    }
    // Rows that are set aside are no part of a merge.
    place.write("b.csv", "n,s\n4,a\nx,b\n2,c\n");
    let line = "sort -m --format csv --key n:num a.csv b.csv -o out --bad-records bad";
    place.run(line).succeeded();
    assert_eq!(place.read("out"), b"n,s\n1,a\n2,c\n3,b\n4,a\n");
    let bad =
        "file,line,reason,row\n\"b.csv\",\"3\",\"\"\"x\"\" in column n is not a number\",\"x,b\"\n";
    assert_eq!(String::from_utf8_lossy(&place.read("bad")), bad);
}

#[test]
fn keys_of_rows_and_records_are_shown() {
    let place = Place::new();
    place.write("in.csv", "name,n\n\"a\nb\",12\nc\td,3\n");
    let ran = place
        .run("sort --debug --format csv --key n:num in.csv")
        .succeeded();
    let shown = "name,n\nc>d,3\n    _\n_____\n\"a|b\",12\n      __\n________\n";
    assert_eq!(text(&ran), shown);
    assert!(ran.err.contains("key 1, n: a number"), "{}", ran.err);
    place.write("in", "\x02\0bb\x03\0abc");
    let ran = place
        .run("sort --debug --format varlen:u16le --key 0+1 in")
        .succeeded();
    let shown =
        "record 1: 3 bytes\n  key 1, 0+1: 61, \"a\"\nrecord 2: 2 bytes\n  key 1, 0+1: 62, \"b\"\n";
    assert_eq!(text(&ran), shown);
    place.write("empty", "");
    let ran = place
        .run("sort --debug --format csv --key n empty")
        .succeeded();
    assert_eq!(text(&ran), "");
}
