//! Records whose ends follow from those before: rows with quotes, and records with lengths.

use record::text::{KeyOptions, TextOrder, TextTies};
use record::{FieldOrder, Framing, LineKeys, LineOrder, Prefix, Quoting};

use std::sync::Arc;

use node::Random;
use pipeline::Failure;
use sort::{Lines, SortError};

use crate::common::lines::{LineSort, drawn_ties, seeds};

/// Rows of fields, some quoted with newlines in them.
fn rows(bytes: usize, random: &mut Random) -> Vec<u8> {
    let mut rows = Vec::new();
    while rows.len() < bytes {
        for field in 0..=random.below(3) {
            if field > 0 {
                rows.push(b',');
            }
            let kinds: &[u8] = match random.below(4) {
                0 => b"\n,\"\r\nab",
                _ => b"abcdefgh ",
            };
            let count = random.below(30);
            let text: Vec<u8> = (0..count)
                .map(|_| kinds[random.below(kinds.len())])
                .collect();
            match kinds[0] == b'\n' || random.below(8) == 0 {
                true => {
                    let text = String::from_utf8(text).unwrap().replace('"', "\"\"");
                    rows.extend(format!("\"{text}\"").bytes());
                }
                false => rows.extend(text),
            }
        }
        rows.push(b'\n');
    }
    rows
}

/// Records of up to 200 bytes, rarely more, with lengths in front.
fn with_lengths(format: &str, bytes: usize, random: &mut Random) -> Vec<u8> {
    let mut records = Vec::new();
    while records.len() < bytes {
        let most = if random.below(50) == 0 { 3000 } else { 200 };
        let body: Vec<u8> = (0..random.below(most))
            .map(|_| random.below(4) as u8)
            .collect();
        let length = body.len() as u16;
        match format {
            "rdw" => {
                records.extend((length + 4).to_be_bytes());
                records.extend([0, 0]);
            }
            "kv:u16be" => {
                let key = length / 3;
                records.extend(key.to_be_bytes());
                records.extend((length - key).to_be_bytes());
            }
            _ => records.extend(u32::from(length).to_le_bytes()),
        }
        records.extend(body);
    }
    records
}

fn whole_records(ties: TextTies) -> TextOrder {
    TextOrder::new(Vec::new(), KeyOptions::default(), None, ties, None).unwrap()
}

fn framing(format: &str) -> Framing {
    match Prefix::parse(format) {
        Some(prefix) => Framing::Prefixed(prefix.unwrap()),
        None => Framing::Quoted(Quoting::CSV),
    }
}

/// Keys that may lie behind the end of a record, where they are zeros.
fn drawn_keys(random: &mut Random) -> Vec<&'static str> {
    let all = [
        "0+1",
        "3+2:u16le:desc",
        "8+4:packed",
        "1+3:as-ebcdic",
        "5+8:f64be",
    ];
    let count = random.below(3);
    (0..count).map(|_| all[random.below(all.len())]).collect()
}

fn drawn(seed: u64) -> LineSort {
    let random = &mut Random::new(seed);
    let format = ["csv", "csv", "varlen:u32le", "kv:u16be", "rdw"][random.below(5)];
    let count = 1 + random.below(3);
    let mut file = || {
        let bytes = random.below(200_000 / count);
        match format {
            "csv" => rows(bytes, random),
            _ => with_lengths(format, bytes, random),
        }
    };
    let mut files: Vec<Vec<u8>> = (0..count).map(|_| file()).collect();
    if format == "csv" && random.below(3) == 0 {
        files[0].pop();
    }
    let (ties, keys) = (drawn_ties(random), drawn_keys(random));
    let order = match FieldOrder::parse(format, &keys, ties) {
        Some(fields) => LineOrder::fields(fields.unwrap()),
        None => LineOrder {
            text: whole_records(ties),
            framing: framing(format),
            keys: LineKeys::Text,
        },
    };
    let mut sort = LineSort::of(files, order);
    sort.pipes
        .iter_mut()
        .for_each(|pipe| *pipe = random.below(4) == 0);
    sort.draw(random);
    sort.job.tuning.chunks = None;
    sort
}

#[test]
fn hundreds_of_schedules_sort_chained_records() {
    for seed in 0..seeds(200, 3000) {
        drawn(seed).check(seed);
    }
}

/// The message of a sort that fails.
fn refusal(framing: Framing, file: &[u8]) -> String {
    let text = whole_records(TextTies::Line);
    let sort = LineSort::of(
        vec![file.to_vec()],
        LineOrder {
            text,
            framing,
            keys: LineKeys::Text,
        },
    );
    match sort.failure(1) {
        Failure::Program(error) => {
            let error = error.downcast::<SortError>().expect("an error of the sort");
            assert_eq!(error.kind(), "bad_record", "{error}");
            error.to_string()
        }
        other => panic!("{other}"),
    }
}

#[test]
fn records_that_cannot_be_are_named() {
    let csv = Framing::Quoted(Quoting::CSV);
    let said = refusal(csv, b"a,b\n\"c\"\"\nd\n");
    assert_eq!(
        said,
        "/in0: the record at byte 4: a quote in this row is never closed"
    );
    let lengths = framing("varlen:u32le");
    let said = refusal(lengths, b"\x01\0\0\0a\x05\0\0\0bcd");
    assert!(
        said.starts_with("/in0: the record at byte 5: the file ends"),
        "{said}"
    );
    let said = refusal(framing("rdw"), b"\0\x05\0\0a\0\x03\0\0");
    assert!(
        said.starts_with("/in0: the record at byte 5: 3 is no length"),
        "{said}"
    );
    // All of that at the end of every read, too.
    let long = [&b"\0\x05\0\0a".repeat(500_000)[..], b"\0\x06\x01\0ab"].concat();
    let said = refusal(framing("rdw"), &long);
    assert!(
        said.starts_with("/in0: the record at byte 2500000: 6 is no"),
        "{said}"
    );
}

#[test]
fn a_record_that_is_too_short_for_a_key_is_named() {
    let records = b"\x03\0\0\0abc\x02\0\0\0ab";
    let fields = FieldOrder::parse("varlen:u32le", &["1+2"], TextTies::Line);
    let fields = fields.unwrap().unwrap();
    let mut sort = LineSort::of(vec![records.to_vec()], LineOrder::fields(fields.clone()));
    sort.job.contents = Arc::new(Lines::fields(fields));
    let Failure::Program(error) = sort.failure(1) else {
        panic!("a refusal")
    };
    let said = error.to_string();
    let expected =
        "/in0: the record at byte 7: it has 2 bytes, and the keys need 3; shorten the keys";
    assert_eq!(said, expected);
}
