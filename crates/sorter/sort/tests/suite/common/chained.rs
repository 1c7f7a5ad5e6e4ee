//! Drawn records whose ends follow from those before: rows with quotes, and records with lengths.

use node::Random;
use record::Ties;
use record::rows::{Dialect, RowOrder};
use record::text::{KeyOptions, TextOrder};
use record::{FieldOrder, Framing, LineOrder, Prefix, Quoting};

use super::lines::drawn_ties;

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
            if kinds[0] == b'\n' || random.below(8) == 0 {
                let text = String::from_utf8(text).unwrap().replace('"', "\"\"");
                rows.extend(format!("\"{text}\"").bytes());
            } else {
                rows.extend(text)
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

pub fn whole_records(ties: Ties) -> TextOrder {
    TextOrder::new(Vec::new(), KeyOptions::default(), None, ties, None).unwrap()
}

pub fn framing(format: &str) -> Framing {
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

/// Files of about `bytes` bytes together, and an order of their records. The last row of the first
/// file may lack its delimiter.
pub fn drawn_chained(count: usize, bytes: usize, random: &mut Random) -> (Vec<Vec<u8>>, LineOrder) {
    let format = ["csv", "csv", "varlen:u32le", "kv:u16be", "rdw"][random.below(5)];
    let mut file = || {
        let bytes = random.below(bytes / count);
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
        None => LineOrder::rows(RowOrder::new(Dialect::CSV, None, &[], ties).unwrap()),
    };
    (files, order)
}
