//! Drops repeated lines of a bucket before it is sorted, where lines that compare equal are the same
//! bytes.
//!
//! A line that repeats many times would be compared word by word with all of its copies. A table of
//! the lines seen, by their checksums, drops it with one comparison. If few of a bucket's first lines
//! repeat, the table is left, and the sort finds the others.

use kernel::Entry;
use record::Framing;

use super::windows::line_at;

/// Lines after which the table is left if few of them repeat.
const TRIED: usize = 1024;

/// Slots looked at for a line, on average, after which the table is left. A table that is three
/// quarters full needs fewer.
const MOST_PROBES: usize = 8;

/// A prefix of a slot that is taken: 1 above the checksum.
const TAKEN: u64 = 1 << 32;

/// The lines of a bucket that were seen.
pub(super) struct Distinct<'a> {
    slices: &'a [&'a [u8]],
    framing: Framing,
    /// An open hash table: the checksum of a line, and its row.
    slots: &'a mut [Entry],
    seen: usize,
    kept: usize,
    probes: usize,
    is_left: bool,
}

impl<'a> Distinct<'a> {
    /// None seen; `slots` is memory for the table, one for each line of the bucket.
    pub(super) fn new(
        slices: &'a [&'a [u8]],
        framing: Framing,
        slots: &'a mut [Entry],
    ) -> Distinct<'a> {
        slots.fill(Entry::default());
        Distinct {
            slices,
            framing,
            slots,
            seen: 0,
            kept: 0,
            probes: 0,
            is_left: false,
        }
    }

    /// Whether the table is left.
    pub(super) fn is_left(&self) -> bool {
        self.is_left
    }

    /// Whether a line with that checksum, at `row`, was seen before.
    pub(super) fn repeats(&mut self, line: &[u8], checksum: u32, row: u64) -> bool {
        self.seen += 1;
        let prefix = TAKEN | u64::from(checksum);
        let all = self.slots.len();
        let mut at = ((u64::from(checksum) * all as u64) >> 32) as usize;
        loop {
            self.probes += 1;
            let slot = &mut self.slots[at];
            if slot.prefix == 0 {
                *slot = Entry { prefix, row };
                self.kept += 1;
                self.leave_if_useless();
                return false;
            }
            if slot.prefix == prefix && line_at(self.slices, slot.row, self.framing) == line {
                self.leave_if_useless();
                return true;
            }
            at = if at + 1 == all { 0 } else { at + 1 };
        }
    }

    /// Leaves the table while slots are free, so that every search ends, and if searches are long:
    /// lines may be made for that.
    fn leave_if_useless(&mut self) {
        let repeat_seldom = self.seen >= TRIED && self.kept > self.seen / 8 * 7;
        let is_slow = self.probes > MOST_PROBES * (self.seen + TRIED);
        self.is_left = repeat_seldom || is_slow || self.kept > self.slots.len() / 4 * 3;
    }
}
