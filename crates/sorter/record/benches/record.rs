//! The cost of records on one core: nanoseconds per record, and bytes per second.
//!
//! `cargo bench -p gristmill-record` runs the real size (64 MiB of records, the best of 7 rounds);
//! `cargo test` runs the smoke size. Each line ends with a hash of the result, which must not
//! depend on the machine.

use std::hint::black_box;
use std::time::{Duration, Instant};

use record::{Checksum, Comparison, Generator, Order, RECORD_BYTES, Style, Ties, Validator};

struct Size {
    bytes: usize,
    rounds: u32,
}

/// Larger than any cache, like the input of a sort.
const REAL: Size = Size {
    bytes: 64 << 20,
    rounds: 7,
};
const SMOKE: Size = Size {
    bytes: 64 << 10,
    rounds: 1,
};

/// Bytes generated at a time: they fit in the second-level cache, as those of a generator's worker.
const BLOCK_BYTES: usize = 1000 * RECORD_BYTES;

fn main() {
    let real = std::env::args().any(|argument| argument == "--bench");
    let size = if real { REAL } else { SMOKE };
    generators(&size);
    checksums(&size);
    prefixes(&size);
    comparisons(&size);
    validators(&size);
}

/// Runs `task`, which returns a hash of its result, and prints its best time per record.
fn measure(size: &Size, name: &str, record_bytes: usize, mut task: impl FnMut() -> u64) {
    let mut best = Duration::MAX;
    let mut hash = 0;
    for _ in 0..size.rounds {
        let start = Instant::now();
        hash = black_box(task());
        best = best.min(start.elapsed());
    }
    let record_ns = best.as_secs_f64() * 1e9 / (size.bytes / record_bytes) as f64;
    let gb_per_s = record_bytes as f64 / record_ns;
    println!("{name:<40} {record_ns:8.2} ns/record {gb_per_s:8.2} GB/s  {hash:016x}");
}

fn generated(size: &Size) -> Vec<u8> {
    let mut records = vec![0; size.bytes / RECORD_BYTES * RECORD_BYTES];
    Generator::default().fill(0, &mut records);
    records
}

fn generators(size: &Size) {
    let mut block = vec![0; BLOCK_BYTES];
    for (style, skewed) in [
        (Style::Binary, false),
        (Style::Binary, true),
        (Style::Ascii, false),
        (Style::Ascii, true),
    ] {
        let generator = Generator { style, skewed };
        measure(
            size,
            &format!("generate {style:?} skewed {skewed}"),
            RECORD_BYTES,
            || {
                let blocks = size.bytes.div_ceil(BLOCK_BYTES);
                (0..blocks).fold(0, |hash, index| {
                    generator.fill((index * 1000) as u128, &mut block);
                    hash ^ u64::from(block[BLOCK_BYTES - 60]) << (index % 56)
                })
            },
        );
    }
}

fn checksums(size: &Size) {
    let records = generated(size);
    for record_bytes in [16, 50, RECORD_BYTES, 200, 4000] {
        let whole = &records[..records.len() / record_bytes * record_bytes];
        measure(
            size,
            &format!("checksum of {record_bytes} bytes"),
            record_bytes,
            || {
                let mut sum = Checksum::default();
                sum.add_records(whole, record_bytes);
                sum.0 as u64
            },
        );
    }
}

fn prefixes(size: &Size) {
    let records = generated(size);
    for (format, keys) in [
        ("gensort", &[][..]),
        ("gensort", &["33+16"]),
        ("gensort", &["40+8:i64le"]),
        ("gensort", &["40+8:f64le:desc"]),
        ("gensort", &["40+4:u32le"]),
        ("gensort", &["40+2:u16le", "10+4:f32be", "90+10"]),
        ("fixed:8", &[]),
        ("fixed:16", &["0+8:u64le"]),
        ("fixed:16", &["4+4:u32le"]),
        ("fixed:6", &[]),
    ] {
        let order = Order::parse(format, keys, Ties::Record).unwrap();
        let record_bytes = order.record_bytes();
        let count = records.len() / record_bytes;
        let whole = &records[..count * record_bytes];
        let mut out = vec![0; count];
        measure(
            size,
            &format!("prefixes {format} {keys:?}"),
            record_bytes,
            || {
                order.prefixes(whole, &mut out);
                out.iter().fold(0, |hash, &word| hash.rotate_left(1) ^ word)
            },
        );
        measure(size, "  the same by word()", record_bytes, || {
            let each = whole.chunks_exact(record_bytes);
            each.fold(0, |hash, record| {
                hash.rotate_left(1) ^ order.word(record, 0)
            })
        });
    }
}

fn comparisons(size: &Size) {
    let records = generated(size);
    for (format, keys) in [
        ("gensort", &[][..]),
        ("gensort", &["40+8:f64le:desc"]),
        ("fixed:8", &[]),
    ] {
        let order = Order::parse(format, keys, Ties::Record).unwrap();
        let record_bytes = order.record_bytes();
        let each = || records.chunks_exact(record_bytes);
        measure(
            size,
            &format!("compare {format} {keys:?}"),
            record_bytes,
            || {
                let pairs = each().zip(each().skip(1));
                pairs.filter(|(a, b)| order.compare(a, b).is_gt()).count() as u64
            },
        );
    }
}

fn validators(size: &Size) {
    let records = generated(size);
    for (name, comparison) in [
        ("valsort", Comparison::valsort(false)),
        ("valsort -i", Comparison::valsort(true)),
        (
            "gensort with ties",
            Comparison::Order(Order::gensort(Ties::Record)),
        ),
    ] {
        measure(size, &format!("validate {name}"), RECORD_BYTES, || {
            let mut validator = Validator::new(comparison.clone());
            validator.push(&records);
            validator.finish().unordered as u64
        });
    }
}
