//! The kernels beside their peers, in one run and interleaved, so that a noisy machine is noisy for
//! all.
//!
//! ```text
//! GLIBC_TUNABLES=glibc.malloc.hugetlb=1 cargo bench -p gristmill-kernel --bench compare -- [COUNT] [REPEATS] [PART]
//! ```
//!
//! `COUNT` is 10,000,000 records by default, `PART` one of pairs, records, checksum, patterns,
//! variants, partition. Each line says the median and the least time, in nanoseconds an item.
//! Without `--bench`, as under `cargo test --benches`, everything runs once at a smoke size.

use kernel::patterns::{Pattern, Random, draw, entries_of};
use kernel::variants::Variant;
use kernel::{Bin, Classifier, Entry, RecordCrc, Rows, Slab, WholeRecords, Words};
use kernel::{gather, gather_parallel, row, scatter, sort, sort_parallel};
use rayon::slice::ParallelSliceMut;
use rdst::{RadixKey, RadixSort};
use std::time::Instant;
use voracious_radix_sort::RadixSort as _;

/// A subject: what is measured. It prepares its input untimed, and returns the time of its work.
type Subject<'a> = (&'static str, Box<dyn FnMut() -> f64 + 'a>);

/// A part of this program: the number of items, and of repeats.
type Part = fn(usize, usize);

/// Measures all subjects in turn, `repeats` times over, and prints nanoseconds an item.
fn measure(title: &str, items: usize, repeats: usize, mut subjects: Vec<Subject<'_>>) {
    let mut times = vec![Vec::new(); subjects.len()];
    for _ in 0..repeats {
        for ((_, subject), times) in subjects.iter_mut().zip(&mut times) {
            times.push(subject() * 1e9 / items as f64);
        }
    }
    println!("\n{title}, {items} items, {repeats} repeats: median (least) ns an item");
    for ((name, _), mut times) in subjects.into_iter().zip(times) {
        times.sort_by(f64::total_cmp);
        println!(
            "  {name:<44} {:7.2} ({:.2})",
            times[times.len() / 2],
            times[0]
        );
    }
}

fn timed(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

fn slab<T: bytemuck::Pod>(len: usize) -> Slab<T> {
    let mut slab = Slab::new(len).expect("memory for the benchmark");
    slab.fill(T::zeroed());
    slab
}

/// Ten-byte keys: the prefix in the entry, two bytes in a second word.
struct TenBytes<'a>(Rows<'a>);

impl Words for TenBytes<'_> {
    fn words(&self) -> u32 {
        2
    }

    fn word(&self, row: u64, depth: u32) -> u64 {
        let key = self.0.get(row);
        match depth {
            0 => u64::from_be_bytes(*key.first_chunk().expect("ten bytes")),
            _ => u64::from(u16::from_be_bytes([key[8], key[9]])) << 48,
        }
    }
}

/// A pair of the peers: ten key bytes, then six of the row, as one number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Pair(u128);

impl RadixKey for Pair {
    const LEVELS: usize = 10;

    fn get_level(&self, level: usize) -> u8 {
        (self.0 >> (48 + 8 * level)) as u8
    }
}

fn pairs(count: usize, repeats: usize) {
    let mut keys = slab::<u8>(count * 10);
    Random::new(1).fill(&mut keys);
    let chunks = [&keys[..]];
    let words = &TenBytes(Rows::new(&chunks, 10));
    let number = |(index, key): (usize, &[u8])| {
        let mut bytes = [0; 16];
        bytes[..10].copy_from_slice(key);
        Pair(u128::from_be_bytes(bytes) | index as u128)
    };
    let peers: Vec<Pair> = keys.chunks_exact(10).enumerate().map(number).collect();
    let peers = &peers;
    let numbers: Vec<u128> = peers.iter().map(|pair| pair.0).collect();
    let numbers = &numbers;
    let entries = &entries_of(&keys, 10);

    let ours = |threads: usize| -> Box<dyn FnMut() -> f64> {
        let (mut sorted, mut scratch) = (slab::<Entry>(count), slab::<Entry>(count));
        Box::new(move || {
            sorted.copy_from_slice(entries);
            let time = match threads {
                1 => timed(|| sort(&mut sorted, &mut scratch, words)),
                _ => timed(|| sort_parallel(&mut sorted, &mut scratch, words, threads)),
            };
            assert!(sorted.is_sorted_by_key(|e| (e.prefix, words.word(e.row, 1))));
            time
        })
    };
    fn peer<'a, T: Copy + PartialOrd>(
        input: &'a [T],
        by: impl Fn(&mut [T]) + 'a,
    ) -> Box<dyn FnMut() -> f64 + 'a> {
        let mut sorted = input.to_vec();
        Box::new(move || {
            sorted.copy_from_slice(input);
            let time = timed(|| by(&mut sorted));
            assert!(sorted.is_sorted());
            time
        })
    }
    let copy = {
        let mut target = slab::<Entry>(count);
        Box::new(move || timed(|| target.copy_from_slice(entries)))
    };
    let subjects: Vec<Subject<'_>> = vec![
        ("copy, 1 thread", copy),
        ("gristmill, 1 thread", ours(1)),
        (
            "voracious_sort u128, 1 thread",
            peer(numbers, |v| v.voracious_sort()),
        ),
        (
            "rdst, 1 thread",
            peer(peers, |v| {
                v.radix_sort_builder().with_parallel(false).sort()
            }),
        ),
        (
            "std sort_unstable u128, 1 thread",
            peer(numbers, <[u128]>::sort_unstable),
        ),
        ("gristmill, 2 threads", ours(2)),
        (
            "voracious_mt_sort u128, 2 threads",
            peer(numbers, |v| v.voracious_mt_sort(2)),
        ),
        ("rdst, 2 threads", peer(peers, |v| v.radix_sort_unstable())),
        (
            "rayon par_sort_unstable u128, 2 threads",
            peer(numbers, |v| v.par_sort_unstable()),
        ),
    ];
    measure("pairs of 10-byte keys and rows", count, repeats, subjects);
}

const RECORD: usize = 100;

/// Builds one entry a record, on `threads` threads.
fn build(records: &[u8], entries: &mut [Entry], threads: usize) {
    let share = entries.len().div_ceil(threads);
    std::thread::scope(|scope| {
        for (part, entries) in entries.chunks_mut(share).enumerate() {
            let first = part * share;
            scope.spawn(move || {
                let records = records[first * RECORD..].chunks_exact(RECORD);
                for (index, (entry, record)) in entries.iter_mut().zip(records).enumerate() {
                    let prefix = u64::from_be_bytes(*record.first_chunk().expect("a key"));
                    let row = row(0, ((first + index) * RECORD) as u32);
                    *entry = Entry { prefix, row };
                }
            });
        }
    });
}

fn copy(from: &[u8], to: &mut [u8], threads: usize) {
    let share = from.len().div_ceil(threads);
    std::thread::scope(|scope| {
        for (from, to) in from.chunks(share).zip(to.chunks_mut(share)) {
            scope.spawn(|| to.copy_from_slice(from));
        }
    });
}

fn records(count: usize, repeats: usize) {
    let mut records = slab::<u8>(count * RECORD);
    Random::new(2).fill(&mut records);
    let mut out = slab::<u8>(count * RECORD);
    let (mut entries, mut scratch) = (slab::<Entry>(count), slab::<Entry>(count));
    let chunks = [&records[..]];
    let rows = Rows::new(&chunks, RECORD);
    let words = &TenBytes(rows);
    for threads in [1, 2] {
        let mut times = vec![Vec::new(); 6];
        for _ in 0..repeats {
            let copied = timed(|| copy(&records, &mut out, threads));
            let built = timed(|| build(&records, &mut entries, threads));
            let sorted = timed(|| sort_parallel(&mut entries, &mut scratch, words, threads));
            let gathered = timed(|| gather_parallel(&rows, &entries, &mut out, threads));
            let total = built + sorted + gathered;
            let row = [copied, built, sorted, gathered, total];
            for (times, time) in times.iter_mut().zip(row) {
                times.push(time * 1e9 / count as f64);
            }
            times[5].push(total / copied);
        }
        println!(
            "\nrecords of 100 bytes, {count} items, {threads} threads: median (least) ns an item"
        );
        let names = ["copy", "build", "sort", "gather", "in all", "ratio to copy"];
        for (name, times) in names.iter().zip(&mut times) {
            times.sort_by(f64::total_cmp);
            println!(
                "  {name:<44} {:7.2} ({:.2})",
                times[times.len() / 2],
                times[0]
            );
        }
    }
}

fn checksum(count: usize, repeats: usize) {
    for record_bytes in [16, 64, 100, 200, 500, 1000, 2000] {
        let count = (count * RECORD / record_bytes).min(400_000_000 / record_bytes);
        // A block that stays in the second-level cache, as where a record was just copied.
        let block = (256 << 10) / record_bytes * record_bytes;
        let mut records = slab::<u8>(block);
        Random::new(3).fill(&mut records);
        let records = &records[..];
        let rounds = (count * record_bytes / block).max(1);
        let crc = RecordCrc::new(record_bytes);
        let ours = move || {
            timed(|| {
                (0..rounds)
                    .for_each(|_| _ = std::hint::black_box(crc.sum(std::hint::black_box(records))))
            })
        };
        let peer = move || {
            let one = |record: &[u8]| u64::from(crc32fast::hash(record));
            let sum = || {
                std::hint::black_box(records)
                    .chunks_exact(record_bytes)
                    .map(one)
                    .sum::<u64>()
            };
            timed(|| (0..rounds).for_each(|_| _ = std::hint::black_box(sum())))
        };
        let subjects: Vec<Subject<'_>> =
            vec![("RecordCrc", Box::new(ours)), ("crc32fast", Box::new(peer))];
        let title = format!("CRC-32 of records of {record_bytes} bytes");
        measure(&title, rounds * block / record_bytes, repeats, subjects);
    }
}

fn patterns(count: usize, repeats: usize) {
    for pattern in Pattern::ALL {
        let records = draw(pattern, 4, count, 10);
        let chunks = [&records[..]];
        let words = &WholeRecords(Rows::new(&chunks, 10));
        let entries = &entries_of(&records, 10);
        let subject = |threads: usize| -> Box<dyn FnMut() -> f64> {
            let (mut sorted, mut scratch) = (slab::<Entry>(count), slab::<Entry>(count));
            Box::new(move || {
                sorted.copy_from_slice(entries);
                timed(|| sort_parallel(&mut sorted, &mut scratch, words, threads))
            })
        };
        let subjects: Vec<Subject<'_>> = vec![("1 thread", subject(1)), ("2 threads", subject(2))];
        measure(pattern.name(), count, repeats, subjects);
    }
}

fn variants(count: usize, repeats: usize) {
    let records = draw(Pattern::Uniform, 5, count, 10);
    let chunks = [&records[..]];
    let words = &WholeRecords(Rows::new(&chunks, 10));
    let entries = &entries_of(&records, 10);
    let subject = |variant: Variant| -> Subject<'_> {
        let (mut sorted, mut scratch) = (slab::<Entry>(count), slab::<Entry>(count));
        let run = move || {
            sorted.copy_from_slice(entries);
            timed(|| variant.sort(&mut sorted, &mut scratch, words))
        };
        (variant.name(), Box::new(run))
    };
    let subjects = Variant::ALL.into_iter().map(subject).collect();
    measure("variants, uniform pairs", count, repeats, subjects);
}

fn partition(count: usize, repeats: usize) {
    let mut records = slab::<u8>(count * RECORD);
    Random::new(6).fill(&mut records);
    let records = &records[..];
    let mut prefixes = slab::<u64>(count);
    Random::new(6).fill(bytemuck::cast_slice_mut(&mut prefixes));
    let prefixes = &prefixes[..];
    for bins in [16usize, 128, 512] {
        let splitters: Vec<u64> = (1..bins as u64)
            .map(|bin| bin * (u64::MAX / bins as u64))
            .collect();
        let classifier = Classifier::new(&splitters);
        let mut numbers = vec![0; count];
        classifier.classify(prefixes, &mut numbers);
        let mut sizes = vec![0; bins];
        numbers
            .iter()
            .for_each(|&bin| sizes[bin as usize] += RECORD);
        let mut memory = slab::<u8>(count * RECORD);
        let numbers_of = &numbers;
        let scattered = move || {
            let mut rest = &mut memory[..];
            let mut bin = |&size: &usize| Bin::new(rest.split_off_mut(..size).expect("room"), []);
            let mut outs: Vec<Bin<'_>> = sizes.iter().map(&mut bin).collect();
            timed(|| {
                for (records, bins) in records.chunks(RECORD << 12).zip(numbers_of.chunks(1 << 12))
                {
                    scatter(records, RECORD, bins, &mut outs);
                }
            })
        };
        let mut found = vec![0; count];
        let classified = move || timed(|| _ = classifier.classify(prefixes, &mut found));
        let subjects: Vec<Subject<'_>> = vec![
            ("classify", Box::new(classified)),
            ("scatter", Box::new(scattered)),
        ];
        measure(&format!("{bins} bins"), count, repeats, subjects);
    }
    let mut out = slab::<u8>(count * RECORD);
    let chunks = [records];
    let rows = Rows::new(&chunks, RECORD);
    let mut entries = entries_of(records, RECORD);
    let mut scratch = slab::<Entry>(count);
    sort(&mut entries, &mut scratch, &TenBytes(rows));
    let gathered = || timed(|| gather(&rows, &entries, &mut out));
    let subjects: Vec<Subject<'_>> = vec![("gather", Box::new(gathered))];
    measure("random order", count, repeats, subjects);
}

fn main() {
    let real = std::env::args().any(|argument| argument == "--bench");
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with('-'))
        .collect();
    let number = |index: usize, default| {
        let argument = arguments.get(index).map(|a| a.parse().expect("a number"));
        argument.unwrap_or(default)
    };
    let count = number(0, if real { 10_000_000 } else { 2_000 });
    let repeats = number(1, if real { 7 } else { 1 });
    rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .build_global()
        .expect("the first pool");
    let parts: [(&str, Part); 6] = [
        ("pairs", pairs),
        ("records", records),
        ("checksum", checksum),
        ("patterns", patterns),
        ("variants", variants),
        ("partition", partition),
    ];
    for (name, part) in parts {
        if arguments.get(2).is_none_or(|wanted| wanted == name) {
            part(count, repeats);
        }
    }
}
