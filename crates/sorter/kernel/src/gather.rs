//! Copies records in the order of their entries, the only time that a sort moves them.
//!
//! Reads jump over all of memory, and writes are one stream. So records are prefetched some steps
//! ahead, and several misses are always under way:
//!
//! ```text
//! entries  | row | row | row | ...             records, anywhere in memory
//!                           ^ fetch this          |        |
//!            ^ copy this                          v        v
//! output   | record | record | ...
//! ```
//!
//! Writes go through the caches: lines that bypass them occupy the buffers that misses need, and
//! take a tenth more time in all (Zen 4).

use crate::prefetch;
use crate::threads::on_threads;
use crate::{Entry, Rows};

/// Records between a prefetch and its copy. A core has some twelve misses open at a time, and a
/// record of 100 bytes has two or three lines; the rest is for uneven latency.
const AHEAD: usize = 16;

/// The most bytes of a record to prefetch; the hardware prefetches the rest of a longer one.
const FETCHED: usize = 256;

/// Copies the record of each entry, in their order, to `out`.
///
/// # Panics
/// If `out` is not as long as the records, or an entry's row is not a record.
pub fn gather(rows: &Rows<'_>, entries: &[Entry], out: &mut [u8]) {
    let record_bytes = rows.record_bytes();
    assert_eq!(
        out.len(),
        entries.len() * record_bytes,
        "room for each record"
    );
    match record_bytes {
        16 => gather_by(rows, entries, out, copy_fixed::<16>),
        32 => gather_by(rows, entries, out, copy_fixed::<32>),
        64 => gather_by(rows, entries, out, copy_fixed::<64>),
        100 => gather_by(rows, entries, out, copy_fixed::<100>),
        128 => gather_by(rows, entries, out, copy_fixed::<128>),
        _ => gather_by(rows, entries, out, <[u8]>::copy_from_slice),
    }
}

/// As [`gather`] on `threads` threads, each of which writes a part of the output.
pub fn gather_parallel(rows: &Rows<'_>, entries: &[Entry], out: &mut [u8], threads: usize) {
    let share = entries.len().div_ceil(threads.max(1)).max(1);
    let outs = out.chunks_mut(share * rows.record_bytes());
    on_threads(entries.chunks(share).zip(outs), |(entries, out)| {
        gather(rows, entries, out);
    });
}

/// A copy of known length, which is a few instructions instead of a call.
#[inline(always)]
fn copy_fixed<const N: usize>(to: &mut [u8], from: &[u8]) {
    if let (Some(to), Some(from)) = (to.first_chunk_mut::<N>(), from.first_chunk::<N>()) {
        *to = *from;
    }
}

#[inline(always)]
fn gather_by(rows: &Rows<'_>, entries: &[Entry], out: &mut [u8], copy: impl Fn(&mut [u8], &[u8])) {
    let record_bytes = rows.record_bytes();
    let fetched = record_bytes.min(FETCHED);
    for entry in entries.iter().take(AHEAD) {
        prefetch::read_range(rows.address(entry.row), fetched);
    }
    let records = entries.iter().enumerate().map(|(number, entry)| {
        if let Some(later) = entries.get(number + AHEAD) {
            prefetch::read_range(rows.address(later.row), fetched);
        }
        rows.get(entry.row)
    });
    let places = out.chunks_exact_mut(record_bytes);
    records.zip(places).for_each(|(from, to)| copy(to, from));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::few::few;
    use crate::row;

    fn check(record_bytes: usize, count: usize) {
        let half = count / 2;
        let bytes: Vec<u8> = (0..count * record_bytes).map(|i| (i % 253) as u8).collect();
        let (low, high) = bytes.split_at(half * record_bytes);
        let chunks = [low, high];
        let rows = Rows::new(&chunks, record_bytes);
        let entries: Vec<Entry> = (0..count)
            .map(|i| i * 7919 % count)
            .map(|number| match number.checked_sub(half) {
                None => row(0, (number * record_bytes) as u32),
                Some(number) => row(1, (number * record_bytes) as u32),
            })
            .map(|row| Entry { prefix: 0, row })
            .collect();
        let records = entries.iter().flat_map(|entry| rows.get(entry.row));
        let expected: Vec<u8> = records.copied().collect();
        for threads in [1, 2, 3] {
            let mut out = vec![0; expected.len()];
            gather_parallel(&rows, &entries, &mut out, threads);
            assert!(
                out == expected,
                "{record_bytes} x {count}, {threads} threads"
            );
        }
    }

    #[test]
    fn records_of_every_length_arrive_in_order() {
        for record_bytes in few(&[1, 9, 16, 32, 64, 99, 100, 101, 128, 1024, 1025]) {
            for count in few(&[0, 1, 2, 15, 16, 17, 100]) {
                check(record_bytes, count);
            }
        }
    }

    #[test]
    #[should_panic(expected = "room for each record")]
    fn the_output_must_fit() {
        let bytes = [0; 20];
        let chunks = [&bytes[..]];
        gather(&Rows::new(&chunks, 10), &[Entry::default()], &mut [0; 9]);
    }
}
