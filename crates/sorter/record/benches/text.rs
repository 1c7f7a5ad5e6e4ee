//! The cost of orders of lines and rows on one core: nanoseconds per line of 100 bytes with its
//! end, and per row of about as many.
//!
//! `cargo bench -p gristmill-record --bench text` runs the real size; `cargo test` the smoke size.

use std::hint::black_box;
use std::time::Instant;

use record::Ties;
use record::rows::{Dialect, Header, RowCheck, RowOrder};
use record::text::{KeyOptions, TextKey, TextOrder};

/// Words, a number, a date, a version, a float; the rest of the line is filled up.
fn line(number: u64) -> Vec<u8> {
    let random = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let random = (random ^ random >> 31).wrapping_mul(0x94D0_49BB_1331_11EB);
    let name: String = (0..5 + random % 6)
        .map(|place| char::from(b'a' + (random >> (5 * place)) as u8 % 26))
        .collect();
    let month = ["Jan", "Feb", "Mar", "Sep", "Dec"][(random >> 40) as usize % 5];
    let mut line = format!(
        "{name},{:x},{},{month} 5,v1.{}.{},{}e-{},",
        random >> 36,
        random >> 34,
        random >> 60,
        random >> 50 & 0xFF,
        (random >> 11) as f64 / 1e9,
        random & 0x1F,
    );
    while line.len() < 99 {
        line.push((b'a' + (line.len() % 26) as u8) as char);
    }
    line.truncate(99);
    line.into_bytes()
}

fn order(separator: Option<u8>, keys: &[&str], global: &str) -> TextOrder {
    let keys: Vec<TextKey> = keys.iter().map(|key| key.parse().unwrap()).collect();
    let global: KeyOptions = global.parse().unwrap();
    TextOrder::new(keys, global, separator, Ties::Record, Some([7; 16])).unwrap()
}

/// The fields of a line as a row: plain, all in quotes, or as members.
fn row(number: u64, style: Style) -> Vec<u8> {
    let random = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let date = format!(
        "20{:02}-{:02}-{:02}T{:02}:{:02}:07Z",
        random >> 32 & 0x1F,
        1 + (random >> 40) % 12,
        1 + (random >> 50) % 28,
        random % 24,
        (random >> 20) % 60,
    );
    let line = String::from_utf8(line(number)).unwrap();
    let fields: Vec<&str> = line.split(',').chain([&date[..]]).collect();
    let fields = fields.iter().zip(NAMES).map(|(field, name)| match style {
        Style::Plain => (*field).to_owned(),
        Style::Quoted => format!("\"{field}\""),
        Style::Json if name == "price" => format!("\"{name}\": {field}"),
        Style::Json => format!("\"{name}\": \"{field}\""),
    });
    let row = fields.collect::<Vec<_>>().join(",");
    match style {
        Style::Json => format!("{{{row}}}").into_bytes(),
        _ => row.into_bytes(),
    }
}

/// The columns of a row.
const NAMES: [&str; 8] = [
    "name", "code", "price", "month", "version", "float", "rest", "at",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Plain,
    Quoted,
    Json,
}

/// The least time of an item in some rounds.
fn least(rounds: u32, count: u64, mut task: impl FnMut() -> u64) -> f64 {
    let times = (0..rounds).map(|_| {
        let start = Instant::now();
        black_box(task());
        start.elapsed()
    });
    times.min().unwrap().as_secs_f64() * 1e9 / count as f64
}

fn measure_rows(rounds: u32, count: u64, style: Style) {
    let dialect = match style {
        Style::Json => Dialect::JsonLines,
        _ => Dialect::CSV,
    };
    let header = Header::parse(dialect, NAMES.join(",").as_bytes()).unwrap();
    let rows: Vec<Vec<u8>> = (0..count).map(|number| row(number, style)).collect();
    let rows = || rows.iter().map(|row| &row[..]);
    let mut prefixes = vec![0; count as usize];
    for key in ["name", "price:num", "version:natural", "at:date", "at"] {
        let keys = [key.parse().unwrap()];
        let order = RowOrder::new(dialect, Some(&header), &keys, Ties::Record).unwrap();
        let (text, check) = (order.text(), RowCheck::new(&order, Some(&header)));
        let filled = least(rounds, count, || {
            text.prefixes(rows(), &mut prefixes);
            prefixes[0]
        });
        let checked = least(rounds, count, || {
            rows().filter(|row| check.check(row).is_ok()).count() as u64
        });
        let compared = least(rounds, count, || {
            let pairs = rows().zip(rows().skip(1));
            pairs.filter(|(a, b)| text.compare(a, b).is_lt()).count() as u64
        });
        let name = format!("{style:?} {key}");
        println!(
            "{name:<30} prefixes {filled:7.2} ns/row    compare {compared:7.2} ns/pair   \
             check {checked:7.2} ns/row"
        );
        assert!(rows().all(|row| check.check(row).is_ok()));
    }
}

fn main() {
    let real = std::env::args().any(|argument| argument == "--bench");
    let (count, rounds) = if real { (400_000, 7) } else { (1_000, 1) };
    let text: Vec<u8> = (0..count).flat_map(line).collect();
    let lines = || text.chunks_exact(99);
    let mut prefixes = vec![0; count as usize];
    let comma = Some(b',');
    for (separator, keys, global) in [
        (None, &[][..], ""),
        (None, &[], "r"),
        (None, &[], "f"),
        (comma, &["3,3n", "1,1"], ""),
        (comma, &["1,1", "3,3n"], ""),
        (comma, &["3,3"], ""),
        (None, &["2"], ""),
        (None, &["2n"], ""),
        (comma, &["1,1"], "d"),
        (comma, &["3,3h"], ""),
        (comma, &["4,4M"], ""),
        (comma, &["5,5V"], ""),
        (comma, &["6,6g"], ""),
        (comma, &["3,3g"], ""),
        (comma, &["1,1R"], ""),
    ] {
        let order = order(separator, keys, global);
        let separator = separator.map_or(String::new(), |byte| format!("-t{} ", char::from(byte)));
        let name = format!("{separator}-k {} -{global}", keys.join(" -k "));
        let filled = least(rounds, count, || {
            order.prefixes(lines(), &mut prefixes);
            prefixes[0]
        });
        let compared = least(rounds, count, || {
            let pairs = lines().zip(lines().skip(1));
            pairs.filter(|(a, b)| order.compare(a, b).is_lt()).count() as u64
        });
        println!("{name:<30} prefixes {filled:7.2} ns/line   compare {compared:7.2} ns/pair");
    }
    for style in [Style::Plain, Style::Quoted, Style::Json] {
        measure_rows(rounds, count, style);
    }
}
