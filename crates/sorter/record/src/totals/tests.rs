use super::*;
use crate::rows::Dialect;
use crate::spec::{Given, Keep, RecordSpec};

fn given(format: &str, keys: &[&str], sums: &[&str]) -> Given {
    let owned = |all: &[&str]| all.iter().map(|&each| each.to_owned()).collect();
    Given {
        format: format.to_owned(),
        keys: owned(keys),
        keep: Keep::First,
        sums: owned(sums),
        ..Given::default()
    }
}

fn totals(given: &Given, header: &str) -> Totals {
    let spec = RecordSpec::new(given).unwrap();
    let Some(rows) = spec.rows().filter(|rows| rows.has_header()) else {
        return spec.totals().clone();
    };
    let header = Header::parse(given.dialect().unwrap(), header.as_bytes()).unwrap();
    let order = rows.order(Some(&header)).unwrap();
    rows.totals(&order, Some(&header)).unwrap()
}

/// The record in the place of these ones.
fn joined(totals: &Totals, records: &[&[u8]]) -> Vec<u8> {
    let mut sums = RunningTotals::default();
    totals.begin(&mut sums, records[0]);
    for record in records {
        assert!(totals.check(record).is_ok());
    }
    for record in &records[1..] {
        assert!(totals.add(&mut sums, record));
    }
    let mut out = Vec::new();
    totals.write(&sums, records[0], &mut out);
    let checksum = |record: &[u8]| totals.check(record).unwrap().checksum;
    let checksums = records.iter().map(|record| checksum(record));
    assert_eq!(checksum(&out), checksums.fold(0, u128::wrapping_add));
    out
}

#[test]
fn bytes_around_numbers_stay() {
    let csv = given("csv", &["city"], &["b", "a"]);
    let csv = totals(&csv, "city,a,note,b");
    for (records, expected) in [
        (["Oslo,1,x,2.5", "Oslo,10,y,0.25"], "Oslo,11,x,2.75"),
        (["Oslo,\"1\",x,\"2\"", "Oslo,9,,-3"], "Oslo,\"10\",x,\"-1\""),
        (["Oslo,,x, 2 ", "Oslo,9,,"], "Oslo,9,x, 2 "),
        (["Oslo,,x,", "Oslo,,y,"], "Oslo,,x,"),
        (
            ["Oslo,,\"a\"\"b,c\",7\r", "Oslo,1,y,7\r"],
            "Oslo,1,\"a\"\"b,c\",14\r",
        ),
    ] {
        let joined = joined(&csv, &records.map(str::as_bytes));
        assert_eq!(String::from_utf8_lossy(&joined), expected);
    }
    let json = totals(&given("jsonl", &["k"], &["$.a.b", "n"]), "");
    for (records, expected) in [
        (
            [
                r#"{"k":1,"a":{"b":1},"n":null}"#,
                r#"{"n":"4","k":1,"a":{"b":2.50}}"#,
            ],
            r#"{"k":1,"a":{"b":3.50},"n":4}"#,
        ),
        (
            [
                r#"{"k":1, "n": "7", "a": {"b": 1e2}}"#,
                r#"{"a":{"b":null},"n":8,"k":1}"#,
            ],
            r#"{"k":1, "n": "15", "a": {"b": 100}}"#,
        ),
    ] {
        let joined = joined(&json, &records.map(str::as_bytes));
        assert_eq!(String::from_utf8_lossy(&joined), expected);
    }
    let lines = totals(&given("lines", &["1,1"], &["3", "2"]), "");
    let out = joined(&lines, &[b"a  7 10 x", b"a 8  -20"]);
    assert_eq!(String::from_utf8_lossy(&out), "a  15 -10 x");
    let tabs = Given {
        separator: Some(b'\t'),
        ..given("lines", &["1,1"], &["2"])
    };
    assert_eq!(
        joined(&totals(&tabs, ""), &[b"a\t", b"a\t3", b"a\t4\tx"]),
        b"a\t7"
    );
    let commas = Given {
        separator: Some(b','),
        ..given("lines", &["1,1"], &["2"])
    };
    let out = joined(&totals(&commas, ""), &[b"a,\r", b"a,3\r"]);
    assert_eq!(out, b"a,3\r", "the end of a line stays");
    let records = totals(
        &given("fixed:8", &["0+2"], &["2+2:packed", "4+4:i32be"]),
        "",
    );
    let out = joined(
        &records,
        &[b"ab\x01\x2C\0\0\0\x01", b"ab\x01\x3D\xFF\xFF\xFF\xFE"],
    );
    assert_eq!(out, b"ab\x00\x1D\xFF\xFF\xFF\xFF");
}

#[test]
fn a_record_that_lacks_a_field_gets_it() {
    let json = totals(&given("jsonl", &["k"], &["n", "m \""]), "");
    for (records, expected) in [
        ([r#"{"k":1 }"#, r#"{"n":2,"k":1}"#], r#"{"k":1,"n":2 }"#),
        ([r#"{}"#, r#"{"m \"":3,"n":2}"#], r#"{"n":2,"m \"":3}"#),
        ([r#"{"k":1}"#, r#"{"k":1}"#], r#"{"k":1}"#),
        ([r#"{"n":1,"k":1}"#, r#"{"k":1}"#], r#"{"n":1,"k":1}"#),
    ] {
        let joined = joined(&json, &records.map(str::as_bytes));
        assert_eq!(String::from_utf8_lossy(&joined), expected);
    }
    let short = Given {
        has_short_rows: true,
        ..given("csv", &["k"], &["d", "b"])
    };
    let short = totals(&short, "k,b,c,d");
    for (records, expected) in [
        (["x", "x,1,,2"], "x,1,,2"),
        (["x,,c\r", "x,,,2\r"], "x,,c,2\r"),
        (["x,5", "x"], "x,5"),
    ] {
        let joined = joined(&short, &records.map(str::as_bytes));
        assert_eq!(String::from_utf8_lossy(&joined), expected);
    }
    assert_eq!(short.unseen(0), Vec::<String>::new());
    let found = short.check(b"x,1").unwrap().found;
    assert_eq!(short.unseen(found), ["column d"]);
}

#[test]
fn words_for_null_count_for_nothing() {
    let csv = Given {
        nulls: vec!["NA".to_owned()],
        ..given("csv", &["k"], &["n:num"])
    };
    let csv = totals(&csv, "k,n");
    assert_eq!(joined(&csv, &[b"a,NA", b"a,2", b"a,NA"]), b"a,2");
    assert_eq!(joined(&csv, &[b"a,NA", b"a,NA"]), b"a,NA");
}

#[test]
fn a_total_that_does_not_fit_is_not_added() {
    let records = totals(&given("fixed:3", &["0+1"], &["1+1:u8", "2+1:i8"]), "");
    let mut sums = RunningTotals::default();
    records.begin(&mut sums, &[7, 250, 1]);
    assert!(records.add(&mut sums, &[7, 5, 1]));
    assert!(!records.add(&mut sums, &[7, 1, 1]));
    assert!(!records.add(&mut sums, &[7, 0, 126]));
    let mut out = Vec::new();
    records.write(&sums, &[7, 250, 1], &mut out);
    assert_eq!(out, [7, 255, 2]);
    let lines = totals(&given("lines", &["1,1"], &["2"]), "");
    let most = format!("a {}", "9".repeat(38));
    lines.begin(&mut sums, most.as_bytes());
    assert!(!lines.add(&mut sums, b"a 1"));
    assert!(lines.add(&mut sums, b"a -1"));
}

#[test]
fn bad_numbers_are_told() {
    let message = |totals: &Totals, record: &[u8]| totals.check(record).unwrap_err().to_string();
    let csv = totals(&given("csv", &["k"], &["n"]), "k,n");
    assert_eq!(message(&csv, b"a,x1"), "\"x1\" in column n is not a number");
    let long = format!("a,{}", "1".repeat(39));
    assert!(message(&csv, long.as_bytes()).contains("more than 38 digits"));
    assert!(
        message(&csv, b"a").contains("it has no column n"),
        "a short row"
    );
    let json = totals(&given("jsonl", &["k"], &["n"]), "");
    assert!(message(&json, br#"{"k":1,"n":true}"#).contains("not a number"));
    assert!(message(&json, br#"{"k":1,"n":[1]}"#).contains("is an array"));
    assert!(message(&json, br#"{"k":1,"n":1,"n":2}"#).contains("occurs twice"));
    let lines = totals(&given("lines", &["1,1"], &["2"]), "");
    assert!(message(&lines, b"a").contains("it has no field 2"));
    assert!(
        message(&lines, b"a  ").contains("it has no field 2"),
        "blanks are no field"
    );
    assert_eq!(
        message(&lines, b"a 0x1"),
        "\"0x1\" in field 2 is not a number"
    );
    let records = totals(&given("fixed:4", &["0+2"], &["2+2:packed"]), "");
    assert_eq!(
        message(&records, b"ab\x40\x40"),
        "\"X'4040'\" in bytes 2+2:packed is not a number"
    );
    let lengths = totals(&given("varlen:u8", &["0+2"], &["2+2:u16be"]), "");
    assert!(message(&lengths, b"ab\0").contains("it has no bytes 2+2:u16be"));
}

#[test]
fn totals_that_cannot_be_are_refused() {
    let refused = |given: &Given| RecordSpec::new(given).unwrap_err().to_string();
    for (format, key, sum, hint) in [
        ("csv", "a", ":num", "has no name"),
        ("csv", "a", "b:date", "no other types"),
        ("csv", "a", "b:desc", "no direction"),
        ("jsonl", "a", "a", "is a key"),
        ("jsonl", "a", "#1", "have no columns"),
        ("lines", "1,1", "0", "write its number"),
        ("lines", "1,1", "x", "write its number"),
        ("lines", "2,3", "3", "is a key"),
        ("lines", "2", "9", "-k1,1"),
        ("fixed:8", "0+4", "5,4,ZD", "4+4:zoned for ZD"),
        ("fixed:8", "0+4", "4+4:ZD", "write zoned"),
        ("lines", "1,1.5", "2", "ends at a character"),
        ("lines", "3,2.9", "3", "ends at a character"),
        ("lines", "3,2.9", "2", "ends at a character"),
        ("fixed:8", "0+4", "4+4:BI", "whole number"),
        ("fixed:8", "0+4", "4+4:u32be:desc", "no direction"),
        ("fixed:8", "0+4", "3+2:u16le", "is a key"),
        ("fixed:8", "0+4", "4+8:u64le", "behind the 8 bytes"),
        ("fixed:8", "0+4", "4+4:f32le", "whole number"),
        ("fixed:8", "0+4", "4+4", "whole number"),
        ("fixed:8", "0+4", "4+2:y2c=1950", "whole number"),
        ("fixed:8", "0+4", "4", "write OFFSET+LENGTH"),
        ("csv", "a", "b:amount", "take signs of currencies off"),
        ("rdw", "0+4", "0+4:u32be", "is a key"),
        ("kv:u32le", "0+4", "4+4:u32be", "varlen"),
    ] {
        let said = refused(&given(format, &[key], &[sum]));
        assert!(said.contains(hint), "{format} {key} {sum}: {said}");
    }
    for (format, sum) in [("jsonl", "n"), ("lines", "2"), ("fixed:8", "4+4:u32le")] {
        assert!(
            refused(&given(format, &[], &[sum])).contains("give a key"),
            "{format}"
        );
    }
    let all = Given {
        keep: Keep::Stable,
        ..given("lines", &["1,1"], &["2"])
    };
    assert!(refused(&all).contains("unique"));
    assert!(refused(&given("lines", &["1,1"], &["2", "2"])).contains("twice"));
    let halves = &["4+4:u32be", "6+2:u16be"];
    assert!(refused(&given("fixed:8", &["0+4"], halves)).contains("bytes of another one"));
    let words = Given {
        nulls: vec!["-1".to_owned()],
        ..given("jsonl", &["a"], &["b"])
    };
    assert!(refused(&words).contains("stands for a missing value"));
    assert!(refused(&given("csv", &[], &["b"])).contains("give a key"));
    let points = Given {
        separator: Some(b'.'),
        ..given("lines", &["1,1"], &["2"])
    };
    assert!(refused(&points).contains("another separator"));
    let rows = RecordSpec::new(&given("csv", &["a"], &["b"])).unwrap();
    let header = Header::parse(Dialect::CSV, b"a,c").unwrap();
    let order = rows.rows().unwrap().order(Some(&header)).unwrap();
    let error = rows.rows().unwrap().totals(&order, Some(&header));
    assert!(error.unwrap_err().to_string().starts_with("sum b: "));
}
