//! Areas: the stretches of spill files that each belong to one partition (TritonSort 4.3).
//!
//! ```text
//! file 0   |partition 0 ====......|partition 2 ===.......|partition 0 =.|     written up to here
//! file 1   |partition 1 =====.....|partition 3 ==........|
//! ```
//!
//! A partition gets its first area with its first run. One that is larger than expected gets small ones
//! behind it.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::files::spill::Extent;
use crate::records::block::BLOCK_BYTES;

/// Later areas are this part of the first.
const LATER: u64 = 16;

/// The areas of a generation of spill files.
#[derive(Debug)]
pub(crate) struct Areas {
    /// Bytes of the first area of a partition.
    first: u64,
    /// By partition: its last area.
    open: BTreeMap<usize, Area>,
}

#[derive(Clone, Copy, Debug)]
struct Area {
    file: usize,
    next: u64,
    end: u64,
}

impl Areas {
    /// No areas yet; the first of each partition will have about so many bytes.
    pub(super) fn new(first: u64) -> Areas {
        Areas {
            first: first.next_multiple_of(BLOCK_BYTES),
            open: BTreeMap::new(),
        }
    }

    /// Room in the area of a partition, if that has some.
    pub(super) fn take(&mut self, partition: usize, bytes: u64) -> Option<Extent> {
        let area = self.open.get_mut(&partition)?;
        let extent = Extent {
            file: area.file,
            offset: area.next,
            bytes,
        };
        (area.next + bytes <= area.end).then(|| {
            area.next += bytes;
            extent
        })
    }

    /// Bytes of the next area of a partition, of which `bytes` are taken at once.
    pub(super) fn wanted(&self, partition: usize, bytes: u64) -> u64 {
        let wanted = match self.open.get(&partition) {
            None => self.first,
            Some(_) => (self.first / LATER).next_multiple_of(BLOCK_BYTES),
        };
        wanted.max(bytes)
    }

    /// Begins an area of a partition: what is left of it behind an extent.
    pub(super) fn begin(&mut self, partition: usize, taken: Extent, end: u64) {
        let area = Area {
            file: taken.file,
            next: taken.offset + taken.bytes,
            end,
        };
        self.open.insert(partition, area);
    }

    /// Closes the areas of a file: no more is taken of them.
    pub(super) fn close(&mut self, file: usize) {
        self.open.retain(|_, area| area.file != file);
    }

    /// The ranges of files that are not taken.
    pub(super) fn idle(self) -> impl Iterator<Item = (usize, Range<u64>)> {
        let areas = self.open.into_values();
        areas.map(|area| (area.file, area.next..area.end))
    }
}
