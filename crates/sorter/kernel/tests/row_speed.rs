//! The time that the kernels of lines take for each record, beside those of records of one length.
//!
//! ```text
//! cargo test --release -p gristmill-kernel --test row_speed -- --ignored --nocapture
//! ```
//!
//! Each figure is the shortest time of several runs, because other programs disturb most of them.

use kernel::patterns::Random;
use kernel::{
    Bin, ChunkRoom, Entry, LineCrc, RecordCrc, RowBin, Rows, Slab, ends, first_end, fresh_needed,
    gather, gather_rows, row, scatter, scatter_rows,
};
use std::hint::black_box;
use std::time::Instant;

/// Bytes of a block, which lies in the second-level cache.
const BLOCK: usize = 400 << 10;

/// Bytes of the rows to gather: more than the caches hold.
const ROWS: usize = 64 << 20;

const BINS: usize = 300;
const CHUNK: usize = 64 << 10;

/// Nanoseconds for each of `count` records: the shortest of several runs.
fn shortest(count: usize, mut run: impl FnMut()) -> f64 {
    let time = |run: &mut dyn FnMut()| {
        let start = Instant::now();
        run();
        start.elapsed().as_nanos() as f64 / count as f64
    };
    (0..40).map(|_| time(&mut run)).fold(f64::MAX, f64::min)
}

/// Lines of a drawn length, delimiter included, as many as fit in `bytes` bytes.
fn lines(bytes: usize, from: u64, to: u64) -> (Slab<u8>, Vec<u32>) {
    let mut random = Random::new(1);
    let mut lines = Slab::<u8>::new(bytes).unwrap();
    random.fill(&mut lines);
    for byte in lines.iter_mut().filter(|byte| **byte == b'\n') {
        *byte = b' ';
    }
    let (mut end, mut ends) = (0, Vec::new());
    loop {
        end += (from + random.below(to - from + 1)) as usize;
        if end > bytes {
            return (lines, ends);
        }
        lines[end - 1] = b'\n';
        ends.push(end as u32);
    }
}

fn length(rest: &[u8]) -> usize {
    first_end(rest, b'\n').unwrap()
}

#[test]
#[ignore = "a measurement"]
fn lines_take_so_many_nanoseconds() {
    println!("length       ends   sum  scatter (+ fresh_needed)  gather (of that length())");
    for (from, to) in [(8, 8), (20, 20), (8, 60), (100, 100), (1, 200), (1, 2000)] {
        let (bytes, expected) = lines(BLOCK, from, to);
        let count = expected.len();
        let mut found = Vec::new();
        let scan = shortest(count, || ends(black_box(&bytes), b'\n', &mut found));
        assert_eq!(found, expected);
        let crc = LineCrc::new();
        let sum = shortest(count, || {
            black_box(crc.sum(black_box(&bytes), &found));
        });
        let (scatter, needed) = time_scatter(&bytes, &found);
        let (gather, measure) = time_gather(from, to);
        println!(
            "{from:4}..={to:<5}{scan:5.2} {sum:5.2}  {scatter:5.2} (+ {needed:.2})            \
             {gather:6.2} ({measure:.2})"
        );
    }
}

fn draw_bins(count: usize) -> Vec<u32> {
    let mut random = Random::new(2);
    (0..count)
        .map(|_| random.below(BINS as u64) as u32)
        .collect()
}

/// A chunk for each bin, and another one.
fn time_scatter(bytes: &[u8], ends: &[u32]) -> (f64, f64) {
    let bins = draw_bins(ends.len());
    let mut memory = Slab::<u8>::new(2 * BINS * CHUNK).unwrap();
    memory.fill(1);
    // Each run goes on where the last one ended, so that places are not in the caches.
    let mut used = vec![0; BINS];
    let scatter = shortest_part(200, ends.len(), || {
        let mut outs: Vec<RowBin<'_>> = (memory.chunks_exact_mut(2 * CHUNK).zip(&used))
            .map(|(chunks, &used)| {
                let (tail, fresh) = chunks.split_at_mut(CHUNK);
                RowBin::new(&mut tail[used..], u32::MAX, [fresh])
            })
            .collect();
        let start = Instant::now();
        scatter_rows(bytes, ends, &bins, 1, &mut outs);
        let time = start.elapsed().as_nanos() as f64;
        for (used, out) in used.iter_mut().zip(&outs) {
            let wrote: usize = out.fills().map(|fill| fill.bytes as usize).sum();
            *used = (*used + wrote) % (CHUNK - 2000);
        }
        time
    });
    let (mut left, mut fresh) = (vec![0; BINS], vec![0; BINS]);
    let needed = shortest(ends.len(), || {
        let bytes = CHUNK as u32;
        fresh_needed(
            ends,
            &bins,
            ChunkRoom { bytes, least: 1 },
            &mut left,
            &mut fresh,
        );
    });
    (scatter, needed)
}

/// As [`shortest`] for runs that measure a part of themselves.
fn shortest_part(runs: usize, count: usize, mut run: impl FnMut() -> f64) -> f64 {
    let times = (0..runs).map(|_| run() / count as f64);
    times.fold(f64::MAX, f64::min)
}

/// Records in a random order.
fn shuffled(ends: &[u32]) -> Vec<Entry> {
    let starts = std::iter::once(&0).chain(ends).take(ends.len());
    let entry = |&start| Entry {
        prefix: 0,
        row: row(0, start),
    };
    let mut entries: Vec<Entry> = starts.map(entry).collect();
    let mut random = Random::new(3);
    for last in (1..entries.len()).rev() {
        entries.swap(last, random.below(last as u64 + 1) as usize);
    }
    entries
}

fn time_gather(from: u64, to: u64) -> (f64, f64) {
    let (bytes, ends) = lines(ROWS, from, to);
    let mut entries = shuffled(&ends);
    entries.truncate(1 << 20);
    let mut out = Slab::<u8>::new(ROWS).unwrap();
    out.fill(1);
    let chunks = [&bytes[..]];
    let all = shortest_part(12, entries.len(), || {
        let start = Instant::now();
        let gathered = gather_rows(&chunks, &entries, length, usize::MAX, &mut out);
        assert_eq!(gathered.rows, entries.len());
        start.elapsed().as_nanos() as f64
    });
    // What the closure takes in the caches.
    let near: Vec<u32> = ends.iter().copied().take(2000).collect();
    let measure = shortest(near.len(), || {
        for &start in &near {
            black_box(length(&bytes[black_box(start as usize)..]));
        }
    });
    (all, measure)
}

#[test]
#[ignore = "a measurement"]
fn records_of_one_length_take_so_many_nanoseconds() {
    const RECORD: usize = 100;
    let (bytes, ends) = lines(BLOCK, RECORD as u64, RECORD as u64);
    let bytes = &bytes[..ends.len() * RECORD];
    let crc = RecordCrc::new(RECORD);
    let sum = shortest(ends.len(), || {
        black_box(crc.sum(black_box(bytes)));
    });
    let bins = draw_bins(ends.len());
    let mut memory = Slab::<u8>::new(2 * BINS * CHUNK).unwrap();
    memory.fill(1);
    let mut used = vec![0; BINS];
    let scattered = shortest_part(200, ends.len(), || {
        let mut outs: Vec<Bin<'_>> = (memory.chunks_exact_mut(2 * CHUNK).zip(&used))
            .map(|(chunks, &used)| Bin::new(&mut chunks[used..], []))
            .collect();
        let start = Instant::now();
        scatter(bytes, RECORD, &bins, &mut outs);
        let time = start.elapsed().as_nanos() as f64;
        for (used, out) in used.iter_mut().zip(&outs) {
            *used = (*used + out.written()) % CHUNK;
        }
        time
    });
    let (bytes, ends) = lines(ROWS, RECORD as u64, RECORD as u64);
    let entries = shuffled(&ends);
    let mut out = Slab::<u8>::new(entries.len() * RECORD).unwrap();
    out.fill(1);
    let chunks = [&bytes[..]];
    let gathered = shortest(entries.len(), || {
        gather(&Rows::new(&chunks, RECORD), &entries, &mut out);
    });
    println!("fixed 100: sum {sum:.2}, scatter {scattered:.2}, gather {gathered:.2}");
}
