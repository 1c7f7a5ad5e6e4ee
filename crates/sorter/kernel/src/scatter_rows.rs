//! Copies the records of a block to their bins, where records have unlike lengths.
//!
//! ```text
//! bytes   | aaa ; b ; cccccc ; |      bin 0  ..tail of a chunk b ;][ fresh chunk      ]
//! bins    | 1     0   1        |      bin 1  ......tail aaa ;  ][cccccc ; fresh chunk ]
//! ```
//!
//! A record never straddles two chunks of a bin: where it does not fit, it opens the next chunk,
//! and the rest of the current one stays empty. So a bin reports how far each chunk is filled. As
//! for [`scatter`](crate::scatter) the caller counts the room in advance, here with
//! [`fresh_needed`].

use crate::copy::copy_front;
use crate::prefetch;

/// Records between a prefetch and its use: about the dozen misses that a core keeps open.
const AHEAD: usize = 12;

/// The records that a bin wrote to one chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fill {
    /// The length of all records, from the start of the chunk or tail on.
    pub bytes: u32,
    /// The number of records.
    pub records: u32,
}

/// The room of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkRoom {
    /// The length of a chunk.
    pub bytes: u32,
    /// The room that a shorter record takes all the same. It bounds the records of a chunk.
    pub least: u32,
}

/// The memory for the records of one bin: the tail of a current chunk, then fresh chunks.
#[derive(Debug, Default)]
pub struct RowBin<'a> {
    /// The rest of the current chunk.
    current: &'a mut [u8],
    /// The length of the current chunk.
    room: usize,
    /// The room that records may still take in it, at most its length.
    left: u32,
    /// Records in the current chunk.
    records: u32,
    /// The chunks before the current one.
    full: Vec<Fill>,
    /// Fresh chunks, the next one last.
    fresh: Vec<&'a mut [u8]>,
}

impl<'a> RowBin<'a> {
    /// A bin that fills `tail` first, where `left` bytes of room are left, and then the `fresh`
    /// chunks in their order. Bytes behind the last record of a chunk may change.
    pub fn new(
        tail: &'a mut [u8],
        left: u32,
        fresh: impl IntoIterator<Item = &'a mut [u8]>,
    ) -> Self {
        let mut fresh: Vec<_> = fresh.into_iter().collect();
        fresh.reverse();
        Self {
            room: tail.len(),
            left: left.min(tail.len() as u32),
            current: tail,
            records: 0,
            full: Vec::new(),
            fresh,
        }
    }

    /// The records in the tail and in each fresh chunk that was opened, in this order. A chunk where the
    /// next record did not fit may hold nothing.
    pub fn fills(&self) -> impl Iterator<Item = Fill> {
        self.full.iter().copied().chain([self.fill()])
    }

    /// The room that is left in the current chunk.
    pub fn left(&self) -> u32 {
        self.left
    }

    /// The records in the current chunk.
    fn fill(&self) -> Fill {
        Fill {
            bytes: (self.room - self.current.len()) as u32,
            records: self.records,
        }
    }

    /// Copies the first `len` bytes of `from`, which take the room of `takes`, behind the record
    /// before.
    #[inline(always)]
    fn push(&mut self, from: &[u8], len: usize, takes: u32) {
        while self.left < takes {
            self.open();
        }
        self.left -= takes;
        let current = std::mem::take(&mut self.current);
        copy_front(from, current, len);
        self.current = &mut current[len..];
        self.records += 1;
    }

    #[cold]
    #[inline(never)]
    fn open(&mut self) {
        let fresh = self.fresh.pop().expect("the caller counted the room");
        self.full.push(self.fill());
        self.room = fresh.len();
        self.left = self.room as u32;
        self.current = fresh;
        self.records = 0;
    }
}

/// Copies each record with its delimiter to its bin: record `i` is `bytes[ends[i - 1]..ends[i]]`,
/// and goes to bin `bins[i]`, where it takes room for `least` bytes or more. Within a bin, records
/// keep their order.
///
/// # Panics
/// If there is not one bin a record, a bin does not exist, a record ends before it starts or beyond
/// `bytes`, or a bin has no room left.
pub fn scatter_rows(bytes: &[u8], ends: &[u32], bins: &[u32], least: u32, outs: &mut [RowBin<'_>]) {
    assert_eq!(ends.len(), bins.len(), "one bin a record");
    let total = ends.last().map_or(0, |&end| end as usize);
    let lines = prefetch::lines_of(total / ends.len().max(1));
    let mut start = 0;
    for (number, (&end, &bin)) in ends.iter().zip(bins).enumerate() {
        if let Some(&later) = bins.get(number + AHEAD) {
            prefetch::read_lines(outs[later as usize].current.as_ptr(), lines);
        }
        let end = end as usize;
        let len = bytes[start..end].len();
        outs[bin as usize].push(&bytes[start..], len, least.max(len as u32));
        start = end;
    }
}

/// Counts the fresh chunks that [`scatter_rows`] will open. For each bin, `left` has the bytes left
/// in its current chunk, and is updated; the number of fresh chunks that it needs is added to
/// `fresh`.
///
/// # Panics
/// If there is not one bin a record, a bin does not exist, or a record is longer than `room`.
pub fn fresh_needed(
    ends: &[u32],
    bins: &[u32],
    room: ChunkRoom,
    left: &mut [u32],
    fresh: &mut [u32],
) {
    assert_eq!(ends.len(), bins.len(), "one bin a record");
    let mut start = 0;
    for (&end, &bin) in ends.iter().zip(bins) {
        let takes = end.wrapping_sub(start).max(room.least);
        let left = &mut left[bin as usize];
        if *left < takes {
            assert!(takes <= room.bytes, "a record longer than a chunk");
            fresh[bin as usize] += 1;
            *left = room.bytes;
        }
        *left -= takes;
        start = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patterns::Random;

    const BINS: usize = 5;

    /// Records of up to `longest` bytes, and a bin for each.
    fn draw(longest: u64, count: usize, seed: u64) -> (Vec<u8>, Vec<u32>, Vec<u32>) {
        let mut random = Random::new(seed);
        let mut end = 0;
        let ends: Vec<u32> = (0..count)
            .map(|_| {
                end += random.below(longest) as u32 + 1;
                end
            })
            .collect();
        let mut bytes = vec![0; end as usize];
        random.fill(&mut bytes);
        let bins = ends.iter().map(|_| random.below(BINS as u64) as u32);
        (bytes, bins.collect(), ends)
    }

    /// The records that each chunk of a bin should hold: the first has `tail` bytes, the others `room`.
    fn naive(records: &[&[u8]], tail: usize, room: ChunkRoom) -> Vec<(Vec<u8>, u32)> {
        let mut chunks = vec![(Vec::new(), 0)];
        let mut left = tail;
        for record in records {
            let takes = record.len().max(room.least as usize);
            if takes > left {
                chunks.push((Vec::new(), 0));
                left = room.bytes as usize;
            }
            left -= takes;
            let (chunk, count) = chunks.last_mut().unwrap();
            chunk.extend_from_slice(record);
            *count += 1;
        }
        chunks
    }

    fn check(longest: u64, count: usize, tail: usize, room: usize) {
        let least = (count % 7 * 3).min(room) as u32;
        let bytes = room as u32;
        check_room(longest, count, tail, ChunkRoom { bytes, least });
    }

    fn check_room(longest: u64, count: usize, tail: usize, each: ChunkRoom) {
        let room = each.bytes as usize;
        let (bytes, bins, ends) = draw(longest, count, tail as u64);
        let mut records = vec![Vec::new(); BINS];
        let starts = std::iter::once(&0).chain(&ends);
        for ((&start, &end), &bin) in starts.zip(&ends).zip(&bins) {
            records[bin as usize].push(&bytes[start as usize..end as usize]);
        }
        let (mut left, mut fresh) = (vec![tail as u32; BINS], vec![0; BINS]);
        fresh_needed(&ends, &bins, each, &mut left, &mut fresh);
        let mut tails = vec![vec![0; tail]; BINS];
        let mut chunks: Vec<_> = fresh
            .iter()
            .map(|&fresh| vec![vec![0; room]; fresh as usize])
            .collect();
        let mut outs: Vec<RowBin<'_>> = (tails.iter_mut().zip(&mut chunks))
            .map(|(tail, chunks)| {
                let chunks = chunks.iter_mut().map(Vec::as_mut_slice);
                RowBin::new(tail, u32::MAX, chunks)
            })
            .collect();
        scatter_rows(&bytes, &ends, &bins, each.least, &mut outs);
        let lefts: Vec<u32> = outs.iter().map(RowBin::left).collect();
        let fills: Vec<Vec<Fill>> = outs.iter().map(|out| out.fills().collect()).collect();
        for bin in 0..BINS {
            let chunks = std::iter::once(&tails[bin]).chain(&chunks[bin]);
            let got: Vec<(Vec<u8>, u32)> = (chunks.zip(&fills[bin]))
                .map(|(chunk, fill)| (chunk[..fill.bytes as usize].to_vec(), fill.records))
                .collect();
            assert_eq!(got, naive(&records[bin], tail, each));
            assert_eq!(fills[bin].len(), 1 + fresh[bin] as usize);
            assert_eq!(left[bin], lefts[bin], "both count the same room");
        }
    }

    #[test]
    fn records_reach_their_bins_in_order() {
        // Under Miri, every hundredth.
        let (mut numbers, step) = (0.., if cfg!(miri) { 101 } else { 1 });
        for longest in [1, 2, 20, 64, 65, 130, 300, 1000] {
            for count in [0, 1, 11, 12, 13, 200] {
                for tail in [0, 1, 63, 200, 100_000] {
                    for room in [longest as usize, 1000, 4096] {
                        if numbers.next().is_some_and(|number| number % step == 0) {
                            check(longest, count, tail, room);
                        }
                    }
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "the caller counted the room")]
    fn a_full_bin_is_a_bug() {
        let mut memory = [0; 100];
        let mut outs = [RowBin::new(&mut memory, 100, [])];
        scatter_rows(&[1; 101], &[100, 101], &[0, 0], 1, &mut outs);
    }

    #[test]
    #[should_panic(expected = "a record longer than a chunk")]
    fn a_record_longer_than_a_chunk_is_a_bug() {
        let room = ChunkRoom {
            bytes: 100,
            least: 1,
        };
        fresh_needed(&[101], &[0], room, &mut [0], &mut [0]);
    }

    #[test]
    #[should_panic(expected = "range")]
    fn a_record_beyond_the_bytes_is_a_bug() {
        let mut memory = [0; 100];
        let mut outs = [RowBin::new(&mut memory, 100, [])];
        scatter_rows(&[1; 9], &[10], &[0], 1, &mut outs);
    }
}
