//! The memory in which a sorter finds the order of a bucket.

use std::io;

use kernel::{Entry, Slab};

/// A sorter's memory, kept from bucket to bucket.
#[derive(Debug, Default)]
pub struct Workspace {
    entries: Option<Slab<Entry>>,
    scratch: Option<Slab<Entry>>,
    pub(super) prefixes: Vec<u64>,
    len: usize,
}

impl Workspace {
    /// `len` entries and as much scratch.
    pub(super) fn reserve(&mut self, len: usize) -> io::Result<(&mut [Entry], &mut [Entry])> {
        for slab in [&mut self.entries, &mut self.scratch] {
            if slab.as_ref().is_none_or(|slab| slab.len() < len) {
                // The old memory is freed first. Buckets differ, so a little more is requested.
                *slab = None;
                *slab = Some(Slab::new(len + len / 8)?);
            }
        }
        self.len = len;
        Ok(self.both())
    }

    /// The entries, and as much scratch.
    pub(super) fn both(&mut self) -> (&mut [Entry], &mut [Entry]) {
        let (entries, scratch) = (self.entries.as_mut(), self.scratch.as_mut());
        let (entries, scratch) = entries.zip(scratch).expect("both are reserved");
        (&mut entries[..self.len], &mut scratch[..self.len])
    }

    /// Takes the sorted order with its memory; the scratch stays.
    pub(crate) fn take_order(&mut self) -> Workspace {
        Workspace {
            entries: self.entries.take(),
            len: self.len,
            ..Workspace::default()
        }
    }

    /// Drops all but the first `rows` entries.
    pub(crate) fn truncate(&mut self, rows: usize) {
        self.len = self.len.min(rows);
    }

    /// The rows in the order in which they lie in memory; the sorted order is lost.
    pub(super) fn take_rows(&mut self) -> impl Iterator<Item = u64> {
        let len = std::mem::take(&mut self.len);
        let entries = self
            .entries
            .as_mut()
            .map_or(&mut [][..], |all| &mut all[..len]);
        entries.sort_unstable_by_key(|entry| entry.row);
        entries.iter().map(|entry| entry.row)
    }

    /// Drops the entries for which `is_equal` to the one before, which may be dropped itself: a long
    /// record that is kept is not looked at again for each that is equal to it.
    pub(super) fn dedup(&mut self, mut is_equal: impl FnMut(&Entry, &Entry) -> bool) {
        let Some(entries) = self.entries.as_mut().filter(|_| self.len > 0) else {
            return;
        };
        let mut kept = 0;
        for number in 1..self.len {
            if !is_equal(&entries[number - 1], &entries[number]) {
                kept += 1;
                entries[kept] = entries[number];
            }
        }
        self.len = kept + 1;
    }

    pub(super) fn entries(&self) -> &[Entry] {
        self.entries
            .as_ref()
            .map_or(&[], |entries| &entries[..self.len])
    }

    /// Bytes that sorting `records` records needs.
    pub(crate) fn bytes(records: u64) -> u64 {
        const PREFIX_BYTES: u64 = 8;
        2 * Workspace::order_bytes(records) + records * PREFIX_BYTES
    }

    /// Bytes that the order of `records` records needs.
    pub(crate) fn order_bytes(records: u64) -> u64 {
        (records + records / 8) * size_of::<Entry>() as u64
    }
}
