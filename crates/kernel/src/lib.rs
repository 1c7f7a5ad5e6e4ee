//! Sorting in one core's memory: sort, partition, classify, gather, checksum.
//!
//! Records are never moved while their order is found. What moves is an [`Entry`] of 16 bytes: the
//! first eight bytes of the record's normalised key, and where the record is. Records are copied
//! once, at the end, by [`gather`] (NOW-Sort 6.5: "only keys and pointers are swapped").
//!
//! ```text
//! a block of records      [`Classifier`] > [`scatter`]        which partition, and copy it there
//! a partition of records  entries > [`sort`] > [`gather`]     its order, and one copy in that order
//! sorted runs             [`LoserTree`]                       which has the next record
//! any records             [`RecordCrc`]                       the checksum valsort prints
//! scratch for all of it   [`Slab`]                            zeroed, on huge pages
//! ```
//!
//! One kernel is one file. [`patterns`] draws the inputs that tests, trials and measurements share.
//!
//! The crate knows no format, no file and no other crate of the workspace: an order is whatever
//! [`Words`] says, eight bytes at a time.

mod classifier;
mod crc;
mod entry;
mod gather;
mod loser_tree;
pub mod patterns;
mod prefetch;
mod scatter;
mod slab;
mod sort;
mod threads;
mod words;

pub use classifier::Classifier;
pub use crc::{RecordCrc, block_crc};
pub use entry::{Entry, Rows, row};
pub use gather::{gather, gather_parallel};
pub use loser_tree::LoserTree;
pub use scatter::{Bin, scatter};
pub use slab::Slab;
pub use sort::{sort, sort_parallel};
pub use words::{WholeRecords, Words};
