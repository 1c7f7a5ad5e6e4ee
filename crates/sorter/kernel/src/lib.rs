//! Sorting in memory: sort, partition, classify, gather, checksum.
//!
//! A sort does not move records. It moves an [`Entry`] of 16 bytes per record: the first eight
//! bytes of the record's normalised key, and the record's place. At the end, [`gather`] copies each
//! record once (NOW-Sort 6.5: "only keys and pointers are swapped").
//!
//! ```text
//! a block of records      [`Classifier`] > [`scatter`]        find partitions, copy records there
//! a partition of records  entries > [`sort`] > [`gather`]     sort, copy records in order
//! lines, in the same way  [`ends`] > [`scatter_rows`], [`gather_rows`], [`LineCrc`]
//! sorted runs             [`LoserTree`]                       find the run with the next record
//! any records             [`RecordCrc`]                       the checksum that valsort prints
//! blocks of a stripe      [`mix`]                             their parity
//! scratch memory          [`Slab`]                            zeroed, on huge pages
//! ```
//!
//! Each kernel is one file. [`patterns`] draws the inputs of tests, trials and measurements.
//!
//! The crate knows no format, no file and no other crate of the workspace: an order is a sequence
//! of eight-byte [`Words`].

mod classifier;
mod copy;
mod crc;
mod ends;
mod entry;
#[cfg(test)]
mod few;
mod gather;
mod gather_rows;
mod loser_tree;
mod parity;
pub mod patterns;
mod prefetch;
mod scatter;
mod scatter_rows;
mod slab;
mod sort;
mod threads;
mod words;

pub use classifier::Classifier;
pub use crc::{LineCrc, RecordCrc, block_crc};
pub use ends::{ends, first_end};
pub use entry::{Entry, Rows, row};
pub use gather::{gather, gather_parallel};
pub use gather_rows::{Gathered, gather_rows, gather_rows_within, prefetch_row};
pub use loser_tree::LoserTree;
pub use parity::mix;
pub use scatter::{Bin, scatter};
pub use scatter_rows::{ChunkRoom, Fill, RowBin, fresh_needed, scatter_rows};
pub use slab::Slab;
pub use sort::{sort, sort_parallel};
pub use words::{EQUAL, WholeRecords, Words, prefetch_ahead, prefix_of};
