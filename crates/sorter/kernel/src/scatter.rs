//! Copies the records of a block to their bins.
//!
//! ```text
//! records | a | b | c | d |       bin 0  ..tail of a chunk][ fresh chunk   ]
//! bins    | 1 | 0 | 1 | 1 |       bin 1  ......tail][ fresh chunk   ]
//! ```
//!
//! A record never straddles two chunks of a bin. The place of a record some steps ahead is
//! prefetched while one is copied. Bins do not grow: the caller counts their records in advance.

use crate::prefetch;

/// Records between a prefetch and its use: about the dozen misses that a core keeps open.
const AHEAD: usize = 12;

/// The memory for the records of one bin: the tail of a current chunk, then fresh chunks.
#[derive(Debug, Default)]
pub struct Bin<'a> {
    current: &'a mut [u8],
    /// Fresh chunks, the next one last.
    fresh: Vec<&'a mut [u8]>,
    written: usize,
}

impl<'a> Bin<'a> {
    /// A bin that fills `tail` first and then the `fresh` chunks in their order. Bytes at the end
    /// of a chunk that hold no whole record stay unchanged.
    pub fn new(tail: &'a mut [u8], fresh: impl IntoIterator<Item = &'a mut [u8]>) -> Self {
        let mut fresh: Vec<_> = fresh.into_iter().collect();
        fresh.reverse();
        Self {
            current: tail,
            fresh,
            written: 0,
        }
    }

    /// The bytes of all records in this bin.
    pub fn written(&self) -> usize {
        self.written
    }

    /// Room for the next record.
    #[inline(always)]
    fn next(&mut self, record_bytes: usize) -> &'a mut [u8] {
        while self.current.len() < record_bytes {
            self.current = self.fresh.pop().expect("the caller counted the room");
        }
        self.written += record_bytes;
        let current = std::mem::take(&mut self.current);
        let (place, rest) = current.split_at_mut(record_bytes);
        self.current = rest;
        place
    }
}

/// Copies each record to its bin; `bins` has the number of each record's bin. Within a bin, records
/// keep their order.
///
/// # Panics
/// If `records` are not `bins.len()` records of `record_bytes` bytes, a bin does not exist, or a
/// bin has no room left.
pub fn scatter(records: &[u8], record_bytes: usize, bins: &[u32], outs: &mut [Bin<'_>]) {
    assert_eq!(records.len(), bins.len() * record_bytes, "one bin a record");
    match record_bytes {
        0 => {}
        16 => scatter_fixed::<16>(records, bins, outs),
        32 => scatter_fixed::<32>(records, bins, outs),
        64 => scatter_fixed::<64>(records, bins, outs),
        100 => scatter_fixed::<100>(records, bins, outs),
        128 => scatter_fixed::<128>(records, bins, outs),
        _ => scatter_any(records, record_bytes, bins, outs),
    }
}

/// For records of `N` bytes, whose copy is a few instructions instead of a call.
fn scatter_fixed<const N: usize>(records: &[u8], bins: &[u32], outs: &mut [Bin<'_>]) {
    let (records, _) = records.as_chunks::<N>();
    for (number, (record, &bin)) in records.iter().zip(bins).enumerate() {
        fetch_ahead(bins, number, outs, N);
        outs[bin as usize].next(N).copy_from_slice(record);
    }
}

fn scatter_any(records: &[u8], record_bytes: usize, bins: &[u32], outs: &mut [Bin<'_>]) {
    let records = records.chunks_exact(record_bytes);
    for (number, (record, &bin)) in records.zip(bins).enumerate() {
        fetch_ahead(bins, number, outs, record_bytes);
        let place = outs[bin as usize].next(record_bytes);
        place.copy_from_slice(record);
    }
}

/// Prefetches the place of the record [`AHEAD`] of this one.
#[inline(always)]
fn fetch_ahead(bins: &[u32], number: usize, outs: &[Bin<'_>], record_bytes: usize) {
    let later = bins.get(number + AHEAD).map(|&bin| &outs[bin as usize]);
    if let Some(bin) = later {
        prefetch::read_range(bin.current.as_ptr(), record_bytes.min(256));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::few::few;

    fn check(record_bytes: usize, count: usize, chunk_records: usize) {
        let records: Vec<u8> = (0..count * record_bytes).map(|i| (i % 251) as u8).collect();
        let bins: Vec<u32> = (0..count).map(|i| (i * i % 5) as u32).collect();
        let mut expected = vec![Vec::new(); 5];
        for (record, &bin) in records.chunks_exact(record_bytes).zip(&bins) {
            expected[bin as usize].extend_from_slice(record);
        }
        // A chunk has room for some records and a rest that is too short for another one.
        let chunk = chunk_records * record_bytes + record_bytes - 1;
        let chunks = count / chunk_records + 1;
        let mut memory = vec![vec![vec![0; chunk]; chunks]; 5];
        let mut outs: Vec<Bin<'_>> = memory
            .iter_mut()
            .map(|chunks| {
                let mut chunks = chunks.iter_mut().map(Vec::as_mut_slice);
                Bin::new(chunks.next().unwrap(), chunks)
            })
            .collect();
        scatter(&records, record_bytes, &bins, &mut outs);
        for (out, expected) in outs.iter().zip(&expected) {
            assert_eq!(out.written(), expected.len());
        }
        for (chunks, expected) in memory.iter().zip(&expected) {
            let got: Vec<u8> = chunks
                .iter()
                .flat_map(|chunk| &chunk[..chunk_records * record_bytes])
                .copied()
                .take(expected.len())
                .collect();
            assert_eq!(&got, expected);
        }
    }

    #[test]
    fn records_reach_their_bins_in_order() {
        for record_bytes in few(&[1, 7, 16, 32, 64, 99, 100, 101, 128, 300]) {
            for count in few(&[0, 1, 11, 12, 200, 13]) {
                check(record_bytes, count, 3);
            }
        }
    }

    #[test]
    #[should_panic(expected = "the caller counted the room")]
    fn a_full_bin_is_a_bug() {
        let mut memory = [0; 100];
        let mut outs = [Bin::new(&mut memory, [])];
        scatter(&[1; 200], 100, &[0, 0], &mut outs);
    }
}
