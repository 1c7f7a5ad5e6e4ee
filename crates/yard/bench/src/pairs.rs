//! Pairs of a 10-byte key and a row, and memory to sort them in.

use kernel::patterns::{Random, entries_of};
use kernel::{Entry, Rows, Slab, WholeRecords};
use terminal::ending::failure::CliFailure;

use crate::buffers::{checked, copy, timed, touch};

/// gensort's key.
pub const KEY_BYTES: usize = 10;

/// Bits of a row in the peers' pair; the other 80 are the key.
pub const ROW_BITS: usize = 48;

/// Drawn pairs; every sort begins with their copy.
pub struct Pairs {
    keys: Slab<u8>,
    entries: Vec<Entry>,
    sorted: Slab<Entry>,
    scratch: Slab<Entry>,
}

impl Pairs {
    /// Draws pairs with uniform keys.
    ///
    /// # Errors
    /// Too little memory.
    pub fn new(count: usize) -> Result<Pairs, CliFailure> {
        let mut keys = touch(Slab::<u8>::new(count * KEY_BYTES))?;
        Random::new(1).fill(&mut keys);
        Ok(Pairs {
            entries: entries_of(&keys, KEY_BYTES),
            keys,
            sorted: touch(Slab::new(count))?,
            scratch: touch(Slab::new(count))?,
        })
    }

    /// The seconds of a copy.
    pub fn copy(&mut self, threads: usize) -> f64 {
        copy(&self.entries, &mut self.sorted, threads)
    }

    /// The seconds of a sort of entries.
    ///
    /// # Errors
    /// Entries that are not in order.
    pub fn time(
        &mut self,
        sort: impl FnOnce(&mut [Entry], &mut [Entry], &WholeRecords),
    ) -> Result<f64, CliFailure> {
        let chunks = [&self.keys[..]];
        let words = WholeRecords(Rows::new(&chunks, KEY_BYTES));
        let (sorted, scratch) = (&mut self.sorted, &mut self.scratch);
        sorted.copy_from_slice(&self.entries);
        let seconds = timed(|| sort(sorted, scratch, &words));
        let is_sorted = sorted.is_sorted_by_key(|entry| entry.prefix);
        checked(seconds, is_sorted, "a sort of pairs")
    }

    /// The seconds of std's sort by (prefix, row).
    ///
    /// # Errors
    /// Entries that are not in order.
    pub fn time_standard(&mut self) -> Result<f64, CliFailure> {
        self.time(|entries, _, _| entries.sort_unstable_by_key(|pair| (pair.prefix, pair.row)))
    }

    /// The seconds of a sort of the pairs as peers hold them: one number each, ten key bytes and
    /// then six of the row.
    ///
    /// # Errors
    /// Numbers that are not in order.
    pub fn time_numbers<N: Ord>(
        &self,
        number: fn(u128) -> N,
        sort: impl FnOnce(&mut [N]),
    ) -> Result<f64, CliFailure> {
        let keys = self.keys.chunks_exact(KEY_BYTES).zip(&self.entries);
        let mut numbers: Vec<N> = keys
            .map(|(key, entry)| {
                let low = u128::from(u16::from_be_bytes([key[8], key[9]])) << ROW_BITS;
                number(u128::from(entry.prefix) << u64::BITS | low | u128::from(entry.row))
            })
            .collect();
        let seconds = timed(|| sort(&mut numbers));
        checked(seconds, numbers.is_sorted(), "a sort of numbers")
    }
}
