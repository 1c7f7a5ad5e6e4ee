//! The cost of orders of lines on one core: nanoseconds per line of 100 bytes with its end.
//!
//! `cargo bench -p gristmill-record --bench text` runs the real size; `cargo test` the smoke size.

use std::hint::black_box;
use std::time::Instant;

use record::text::{KeyOptions, TextKey, TextOrder, TextTies};

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
    TextOrder::new(keys, global, separator, TextTies::Line, Some([7; 16])).unwrap()
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
        let least = |mut task: Box<dyn FnMut() -> u64 + '_>| {
            let times = (0..rounds).map(|_| {
                let start = Instant::now();
                black_box(task());
                start.elapsed()
            });
            times.min().unwrap().as_secs_f64() * 1e9 / count as f64
        };
        let filled = least(Box::new(|| {
            order.prefixes(lines(), &mut prefixes);
            prefixes[0]
        }));
        let compared = least(Box::new(|| {
            let pairs = lines().zip(lines().skip(1));
            pairs.filter(|(a, b)| order.compare(a, b).is_lt()).count() as u64
        }));
        println!("{name:<30} prefixes {filled:7.2} ns/line   compare {compared:7.2} ns/pair");
    }
}
