//! Copies records of unlike length in the order of their entries, until the output is full.
//!
//! ```text
//! entries  | row | row | row | ...           records, anywhere in memory
//!                           ^ fetch this        |       |     |
//!            ^ measure and copy this            v       v     v
//! output   | record ; | rec ; | longer record ; |        as many as there is room for
//! ```
//!
//! See [`gather`](crate::gather) for records of one length. Here a length is known only when the
//! record is read, so as many lines are prefetched as records had before.

use crate::Entry;
use crate::copy::copy_front;
use crate::prefetch;

/// Records between a prefetch and its copy. A core has some twelve misses open at a time; the rest
/// is for uneven latency.
const AHEAD: usize = 16;

/// Records between two looks at the mean length, for the number of lines to prefetch. A power of
/// two, so that it is no division.
const STRIP: usize = 64;

/// The size of a gather.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gathered {
    /// The number of records.
    pub rows: usize,
    /// Their length.
    pub bytes: usize,
}

/// Copies the record of each entry, in their order, to `out`, until the records reach `room` bytes:
/// the last one may reach beyond. `length` is the length of the record at the front of the bytes
/// that it is given, which are the rest of a chunk (see [`first_end`](crate::first_end)). Bytes of
/// `out` behind the records may change.
///
/// # Panics
/// If `out` is too short for the records, an entry's row is not in `chunks`, or `length` is longer
/// than what it was given.
pub fn gather_rows(
    chunks: &[&[u8]],
    entries: &[Entry],
    length: impl Fn(&[u8]) -> usize,
    room: usize,
    out: &mut [u8],
) -> Gathered {
    gather_until::<false>(chunks, entries, length, room, out)
}

/// As [`gather_rows`], but stops before the record that would reach beyond `room`.
pub fn gather_rows_within(
    chunks: &[&[u8]],
    entries: &[Entry],
    length: impl Fn(&[u8]) -> usize,
    room: usize,
    out: &mut [u8],
) -> Gathered {
    gather_until::<true>(chunks, entries, length, room, out)
}

#[inline(always)]
fn gather_until<const WITHIN: bool>(
    chunks: &[&[u8]],
    entries: &[Entry],
    length: impl Fn(&[u8]) -> usize,
    room: usize,
    out: &mut [u8],
) -> Gathered {
    let mut lines = prefetch::MOST_LINES;
    for entry in entries.iter().take(AHEAD) {
        prefetch::read_lines(address(chunks, entry.row), lines);
    }
    let mut bytes = 0;
    for (rows, entry) in entries.iter().enumerate() {
        if rows % STRIP == STRIP - 1 {
            lines = prefetch::lines_of(bytes / rows);
        }
        if let Some(later) = entries.get(rows + AHEAD) {
            prefetch::read_lines(address(chunks, later.row), lines);
        }
        if !WITHIN && bytes >= room {
            return Gathered { rows, bytes };
        }
        let rest = &chunks[(entry.row >> 32) as usize][entry.row as u32 as usize..];
        let len = length(rest);
        if WITHIN && len > room - bytes {
            return Gathered { rows, bytes };
        }
        copy_front(rest, &mut out[bytes..], len);
        bytes += len;
    }
    let rows = entries.len();
    Gathered { rows, bytes }
}

/// Prefetches the first lines of the record at `row` of chunks, of which the number is the row's upper half
/// and the byte its lower one.
#[inline(always)]
pub fn prefetch_row(chunks: &[&[u8]], row: u64) {
    // Most lines of text fit into two, wherever they start.
    prefetch::read_lines(address(chunks, row), 2);
}

/// The address of the record at `row`, for a prefetch, which accepts any address.
#[inline(always)]
fn address(chunks: &[&[u8]], row: u64) -> *const u8 {
    let chunk = chunks.get((row >> 32) as usize);
    chunk.map_or(std::ptr::null(), |chunk| {
        chunk.as_ptr().wrapping_add(row as u32 as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::few::few;
    use crate::patterns::Random;
    use crate::row;

    /// Records end with a zero byte, which they do not have elsewhere.
    fn length(rest: &[u8]) -> usize {
        rest.iter().position(|&byte| byte == 0).unwrap() + 1
    }

    /// Two chunks of records, and an entry for each in a random order.
    fn draw(longest: u64, count: usize, random: &mut Random) -> ([Vec<u8>; 2], Vec<Entry>) {
        let mut chunks = [Vec::new(), Vec::new()];
        let mut entries = Vec::new();
        for _ in 0..count {
            let number = random.below(2);
            let chunk = &mut chunks[number as usize];
            let row = row(number as u32, chunk.len() as u32);
            entries.push(Entry { prefix: 0, row });
            chunk.extend((0..random.below(longest)).map(|_| random.next_u64() as u8 | 1));
            chunk.push(0);
        }
        for last in (1..count).rev() {
            entries.swap(last, random.below(last as u64 + 1) as usize);
        }
        (chunks, entries)
    }

    fn check(longest: u64, count: usize, random: &mut Random) {
        let (chunks, entries) = draw(longest, count, random);
        let chunks = [&chunks[0][..], &chunks[1][..]];
        let mut expected = Vec::new();
        let mut ends = vec![0];
        for entry in &entries {
            let rest = &chunks[(entry.row >> 32) as usize][entry.row as u32 as usize..];
            expected.extend_from_slice(&rest[..length(rest)]);
            ends.push(expected.len());
        }
        let all = expected.len();
        let rooms = [
            0,
            1,
            all / 2,
            all / 2 + 1,
            all.saturating_sub(1),
            all,
            all + 9,
        ];
        for room in rooms {
            let rows = ends.iter().position(|&end| end >= room).unwrap_or(count);
            let mut out = vec![0; ends[rows]];
            let gathered = gather_rows(&chunks, &entries, length, room, &mut out);
            let bytes = ends[rows];
            assert_eq!(gathered, Gathered { rows, bytes });
            assert!(out == expected[..bytes]);

            let rows = ends.iter().rposition(|&end| end <= room).unwrap();
            let mut out = vec![0; room];
            let gathered = gather_rows_within(&chunks, &entries, length, room, &mut out);
            let bytes = ends[rows];
            assert_eq!(gathered, Gathered { rows, bytes });
            assert!(out[..bytes] == expected[..bytes]);
        }
    }

    #[test]
    fn records_arrive_in_order_until_the_room_is_full() {
        let mut random = Random::new(1);
        for longest in few(&[1, 2, 20, 64, 65, 130, 300, 1000]) {
            for count in few(&[0, 1, 2, 15, 16, 17, 100]) {
                check(longest, count, &mut random);
            }
        }
    }

    #[test]
    #[should_panic(expected = "range")]
    fn the_output_must_have_room_for_the_last_record() {
        let chunks = [&[1, 2, 3, 0][..]];
        gather_rows(&chunks, &[Entry::default()], length, 3, &mut [0; 3]);
    }
}
