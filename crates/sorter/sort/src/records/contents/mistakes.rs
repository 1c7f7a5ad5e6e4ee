//! Records with mistakes, as contents find them in a block.

use record::rows::BadRow;

use crate::records::size::Size;

/// Records with mistakes.
#[derive(Clone, Debug, Default)]
pub struct Aside {
    /// Their number.
    pub records: u64,
    /// The records, one behind the other.
    pub rows: Vec<u8>,
    /// Those without others between them: their bytes, and the lines that end before them in the block.
    pub stretches: Vec<(usize, u64)>,
    /// Blank lines, which are no rows.
    pub blank: Size,
    /// The checksum of numbers that are added up, of all other records.
    pub totals: u128,
}

/// How a block is sifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sifting {
    /// Nothing is removed.
    Look,
    /// Blank lines are removed.
    Skip,
    /// Blank lines are removed, and records with mistakes.
    Aside,
}

/// A record with a mistake.
#[derive(Clone, Debug)]
pub struct Mistake {
    /// Position of the record.
    pub position: u64,
    /// The mistake.
    pub cause: MistakeCause,
}

/// The mistake in a record.
#[derive(Clone, Debug)]
pub enum MistakeCause {
    /// The record is no row of its format.
    Row(BadRow),
    /// A binary record, in words.
    Record(String),
}

impl MistakeCause {
    /// A binary record without the numbers that it needs.
    pub(super) fn of_record(bad: &BadRow) -> MistakeCause {
        MistakeCause::Record(format!("{bad}; mend the record, or leave it out"))
    }
}
