//! `sort -u --sum`: totals of equal keys, beside a plain sum.

use std::collections::BTreeMap;

use crate::common::Place;
use crate::gnu::draw::Draw;

/// Rows of few cities with cents and pieces; the totals that they make, of the first or the last note.
fn sales(draw: &mut Draw, keeps_last: bool) -> (String, String) {
    let (count, cities) = (draw.below(4000), 1 + draw.below(300));
    let mut rows = "city,cents,note,pieces\n".to_owned();
    let mut totals: BTreeMap<String, (i64, i64, String, usize)> = BTreeMap::new();
    for number in 0..count {
        let city = format!("c{:03}", draw.below(cities));
        let (cents, pieces) = (draw.below(100_000) as i64 - 50_000, draw.below(10) as i64);
        let (whole, part) = (cents.abs() / 100, cents.abs() % 100);
        let sign = if cents < 0 { "-" } else { "" };
        let note = ["\"a, b\"", "\"two\nlines\"", "", "x"][number % 4];
        let first = rows.len();
        rows += &format!("{city},{sign}{whole}.{part:02},{note},{pieces}\n");
        let row = rows[first..].to_owned();
        let total = totals.entry(city).or_insert((0, 0, row.clone(), 0));
        total.0 += cents;
        total.1 += pieces;
        total.3 += 1;
        if keeps_last {
            total.2 = row;
        }
    }
    let mut expected = "city,cents,note,pieces\n".to_owned();
    for (city, (cents, pieces, row, number)) in totals {
        if number == 1 {
            expected += &row;
            continue;
        }
        let note = row.split_once(',').unwrap().1.split_once(',').unwrap().1;
        let note = note.rsplit_once(',').unwrap().0;
        let (whole, part) = (cents.abs() / 100, cents.abs() % 100);
        let sign = if cents < 0 { "-" } else { "" };
        expected += &format!("{city},{sign}{whole}.{part:02},{note},{pieces}\n");
    }
    (rows, expected)
}

#[test]
fn totals_of_rows_are_those_of_a_plain_sum() {
    let (place, draw) = (Place::new(), &mut Draw(11));
    for case in 0..24 {
        let keeps_last = case % 3 == 2;
        let (rows, expected) = sales(draw, keeps_last);
        place.write("in.csv", rows);
        let keep = if keeps_last { "--keep last" } else { "" };
        let plan = draw.of(&["auto", "one-pass", "two-pass", "merge"]);
        let order = format!("--format csv --key city -u {keep} --sum pieces --sum cents");
        let to_file = format!("sort {order} --plan {plan} in.csv -o out");
        place.run(&to_file).succeeded();
        let out = String::from_utf8(place.read("out")).unwrap();
        assert_eq!(out, expected, "case {case}: {to_file}");
        let to_pipe = format!("sort {order} --plan {plan} in.csv");
        let ran = place.run(&to_pipe).succeeded();
        assert!(ran.out == expected.as_bytes(), "case {case}: {to_pipe}");
        // Totals of parts are added up by a merge.
        place
            .run(&format!("sort {order} in.csv -o one.csv"))
            .succeeded();
        place.write("none.csv", "city,cents,note,pieces\n");
        let merged = format!("sort -m {order} one.csv none.csv");
        assert!(
            place.run(&merged).succeeded().out == expected.as_bytes(),
            "{merged}"
        );
    }
}

#[test]
fn each_format_has_totals() {
    let place = Place::new();
    for (input, options, expected) in [
        ("a 1\nb 5\na 2.5\n", "-k1,1 --sum 2", "a 3.5\nb 5\n"),
        (
            "a 1\nb 5\na 2\n",
            "-k1,1 --sum 2 --count",
            "      2 a 3\n      1 b 5\n",
        ),
        (
            "# top\na 1\na 2\n",
            "--header # -k1,1 --sum 2",
            "# top\na 3\n",
        ),
        (
            "a\tx\t1e2\na\ty\t \n",
            "--format tsv --no-header --key #1 --sum #3",
            "a\tx\t100\n",
        ),
        (
            "a\tx\t1e2\na\ty\t1\n",
            "--format tsv --no-header --key #1 --sum #3",
            "a\tx\t101\n",
        ),
        (
            "k;n\nb;NA\na;1\na;NA\nb;NA\n",
            "--format csv -t ; --key k --null NA --sum n",
            "k;n\na;1\nb;NA\n",
        ),
        (
            "{\"k\":\"x\",\"n\":\"7\"}\n{\"n\":-8,\"k\":\"x\"}\n",
            "--format jsonl --key k --sum n",
            "{\"k\":\"x\",\"n\":\"-1\"}\n",
        ),
        (
            "ab12cb0Rab3}",
            "--format fixed:4 --key 0+2 --sum 2+2:zoned-ascii",
            "ab1Qcb0R",
        ),
        (
            "\u{3}a\u{1}\u{2}\u{3}a\u{1}\u{3}",
            "--format varlen:u8 --key 0+1 --sum 1+2:u16be",
            "\u{3}a\u{2}\u{5}",
        ),
        (
            "k,n\n\"a\nb\",\"1\"\n\"a\nb\",2\n",
            "--format csv --key k --sum n",
            "k,n\n\"a\nb\",\"3\"\n",
        ),
        (
            "k,n\r\na,1\r\na,2\r\n",
            "--format csv --key k --sum n",
            "k,n\r\na,3\r\n",
        ),
        (
            "{\"k\":1}\n{\"k\":1,\"n\":5}\n",
            "--format jsonl --key k --sum n",
            "{\"k\":1,\"n\":5}\n",
        ),
        (
            "k,m,n\nx\nx,,5\n",
            "--format csv --short-rows --key k --sum n",
            "k,m,n\nx,,5\n",
        ),
        ("k,n\n", "--format csv --key k --sum n", "k,n\n"),
        ("", "-k1,1 --sum 2", ""),
    ] {
        place.write("in", input);
        let ran = place.run(&format!("sort -u {options} in")).succeeded();
        assert_eq!(String::from_utf8_lossy(&ran.out), expected, "{options}");
        let ran = place.feed(&format!("sort -u {options}"), input.as_bytes());
        assert_eq!(String::from_utf8_lossy(&ran.out), expected, "{options}");
    }
}

#[test]
fn records_that_no_total_fits_stay_apart() {
    let place = Place::new();
    place.write("in", b"a\xC8b\x01a\x64a\x02");
    let options = "sort -u --format fixed:2 --key 0+1 --sum 1+1:u8 in -o out --json";
    let ran = place.run(options).succeeded();
    assert_eq!(place.read("out"), b"a\xC8a\x66b\x01");
    let report = ran.json();
    assert_eq!(report["records"], 3);
    assert_eq!(report["warnings"][0]["kind"], "apart");
    assert!(
        ran.err.contains("1 record more with the same keys"),
        "{}",
        ran.err
    );
    let most = "9".repeat(38);
    place.write("in", format!("a {most}\na 0.1\na -1\n"));
    let ran = place.run("sort -u -k1,1 --sum 2 in").succeeded();
    assert_eq!(ran.out, format!("a {most}\na -0.9\n").as_bytes());
    assert!(ran.err.contains("1 record more"), "{}", ran.err);
}

#[test]
fn numbers_with_mistakes_end_the_sort_or_are_set_aside() {
    let place = Place::new();
    place.write("in.csv", "k,n\na,1\na,one\na,3\n");
    let order = "sort -u --format csv --key k --sum n in.csv -o out";
    let ran = place.run(order);
    assert_eq!(ran.code, 2);
    let told = "in.csv, line 3";
    assert!(
        ran.err.contains(told) && ran.err.contains("\"one\" in column n"),
        "{}",
        ran.err
    );
    place.run(&format!("{order} --bad-records bad")).succeeded();
    assert_eq!(place.read("out"), b"k,n\na,4\n");
    assert!(
        String::from_utf8(place.read("bad"))
            .unwrap()
            .contains("a,one")
    );
    for (input, options, hint) in [
        ("a 1\na\n", "-k1,1 --sum 2", "line 2"),
        ("a 1\na  \n", "-k1,1 --sum 2", "it has no field 2"),
        ("a\n,1\0b,x\0", "-z -t , -k1,1 --sum 2", "line 2"),
        (
            "a 1\na x\n",
            "-k1,1 --sum 2",
            "set such lines aside with --bad-records FILE",
        ),
        (
            "a 1\na x\n",
            "-k1,1 --sum 2",
            "\"x\" in field 2 is not a number",
        ),
        (
            "a\u{1}\u{c}b1b",
            "--format fixed:3 --key 0+1 --sum 1+2:packed",
            "X'3162'\" in bytes 1+2:packed",
        ),
        (
            "{\"k\":1}\n",
            "--format jsonl --key k --sum $.n.m",
            "it has no $.n.m",
        ),
    ] {
        place.write("in", input);
        let ran = place.run(&format!("sort -u {options} in"));
        assert_eq!(ran.code, 2, "{options}");
        assert!(ran.err.contains(hint), "{options}: {}", ran.err);
    }
}

/// A name that is misspelt adds nothing up.
#[test]
fn a_number_that_no_record_has_gives_a_warning() {
    let place = Place::new();
    place.write("in", "{\"k\":1,\"n\":5}\n{\"k\":1,\"n\":6}\n");
    for (sum, warns) in [("N", true), ("n", false)] {
        let sort = format!("sort --format jsonl --key k -u --sum {sum} in");
        let ran = place.run(&sort).succeeded();
        let told = ran.err.contains("no row has a value for \"N\"");
        assert_eq!(told, warns, "{}", ran.err);
    }
}

#[test]
fn explain_tells_of_totals() {
    let place = Place::new();
    place.write("in.csv", "k,n\na,x\n");
    let ran = place
        .run("explain --format csv --key k -u --sum n in.csv")
        .succeeded();
    let said = String::from_utf8(ran.out).unwrap();
    assert!(
        said.contains("only the first is kept, with the totals of n"),
        "{said}"
    );
    assert!(
        ran.err.contains("\"x\" in column n is not a number"),
        "{}",
        ran.err
    );
    place.write("n", "a file that is called as the column");
    place
        .run("explain --format csv --key k -u --sum n in.csv")
        .succeeded();
    place.write("in", "a 1\n");
    let ran = place.run("explain -k1,1 -u --sum 2 in").succeeded();
    assert!(
        String::from_utf8(ran.out)
            .unwrap()
            .contains("the totals of 2")
    );
    let ran = place.run("explain --format csv --key k -u --sum m in.csv");
    assert_eq!(ran.code, 2);
}

#[test]
fn totals_are_refused_where_they_stand_in_the_way() {
    let place = Place::new();
    place.write("in", "a 1\n");
    for (options, hint) in [
        ("-k1,1 in", "add -u"),
        ("-u in", "give a key"),
        ("-u -k2 in", "end it with its field"),
        ("-u -k2,3 in", "is a key"),
        ("-u -k1,1 --top 3 in", "leave --top out"),
        ("-u -k1,1 --debug in", "--debug shows all of them"),
        ("-u -k1,1 --verify in -o out", "--verify reads them again"),
        ("-u -k1,1 in -o out/", "name one file with -o"),
        ("-u -k1,1 in -o out --resume", "--sum has no --resume"),
        ("-u -k1,1 in -o out-{rank}", "{rank}"),
        ("-u -k1,1 -c in", "--sum has nothing to do"),
    ] {
        let ran = place.run(&format!("sort --sum 2 {options}"));
        assert_eq!(ran.code, 2, "{options}: {}", ran.err);
        assert!(ran.err.contains(hint), "{options}: {}", ran.err);
    }
}
