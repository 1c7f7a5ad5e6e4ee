//! The facts of an error: for programs its kind, its file and its place there; the cause and the place
//! that its message names.

use std::path::PathBuf;

use crate::error::SortError;

impl SortError {
    /// Stable name of this kind of error, for `--json`.
    pub fn kind(&self) -> &'static str {
        match self {
            SortError::TruncatedRecord { .. } => "truncated_record",
            SortError::BadRecord { .. } | SortError::BadRow { .. } => "bad_record",
            SortError::Shrunk { .. } | SortError::Replaced { .. } => "input_changed",
            SortError::Directory { .. } => "is_directory",
            SortError::Manifest { .. } => "manifest",
            SortError::TooLittleMemory { .. }
            | SortError::PipeTooLong { .. }
            | SortError::LongLine { .. } => "memory_limit",
            SortError::Header { .. } => "header",
            SortError::NoRoom { .. } | SortError::NoTemporaryRoom { .. } => "no_space",
            SortError::TemporaryLimit { .. } => "temporary_limit",
            SortError::Lost { .. } | SortError::Totals => "records_lost",
            SortError::Disorder { .. } => "disorder",
            SortError::Unsorted { .. } => "unsorted_input",
            SortError::ReadBack { .. } | SortError::Spoilt { .. } => "read_back",
            SortError::NoMemory { .. } => "no_memory",
            SortError::Garbled { .. } => "garbled",
            SortError::Foreign { .. } => "foreign",
            SortError::SameOutput { .. } => "same_output",
            SortError::NotTogether { .. } => "not_together",
            SortError::Elsewhere { .. } => "elsewhere",
            SortError::Silent { .. } => "silent",
            SortError::Checkpoint { .. } | SortError::PartGone { .. } => "checkpoint",
            SortError::Different { .. } => "different",
            SortError::NotDivisible { .. } | SortError::Compressed { .. } => "not_divisible",
            SortError::NotCompressed { .. } => "not_compressed",
            SortError::SeveralLines { .. } | SortError::CountedLines { .. } => "several_lines",
            SortError::NotSetAside { .. } => "not_set_aside",
            SortError::NotShuffled { .. } => "not_shuffled",
            SortError::NotEven => "not_even",
            SortError::Shares { .. } => "shares",
            SortError::NotStriped { .. } => "not_striped",
        }
    }

    /// The memory that would do, of a refusal.
    pub(crate) fn needed_memory(&self) -> Option<u64> {
        match self {
            SortError::TooLittleMemory { needed, .. } => Some(*needed),
            _ => None,
        }
    }

    /// If both errors refuse too little memory, the one that asks for less; else this one.
    pub(crate) fn or_less(self, other: SortError) -> SortError {
        match self.needed_memory().zip(other.needed_memory()) {
            Some((own, others)) if others < own => other,
            _ => self,
        }
    }

    /// The file concerned, if there is one.
    pub fn file(&self) -> Option<&PathBuf> {
        match self {
            SortError::TruncatedRecord { file, .. }
            | SortError::BadRecord { file, .. }
            | SortError::BadRow { file, .. }
            | SortError::Shrunk { file, .. }
            | SortError::Replaced { file }
            | SortError::Unsorted { file, .. }
            | SortError::ReadBack { file, .. }
            | SortError::Spoilt { file, .. }
            | SortError::Header { file, .. }
            | SortError::Directory { file }
            | SortError::Manifest { file, .. }
            | SortError::Checkpoint { file, .. }
            | SortError::NotTogether { file, .. }
            | SortError::SameOutput { file, .. }
            | SortError::Compressed { file }
            | SortError::SeveralLines { file }
            | SortError::CountedLines { file }
            | SortError::NotCompressed { file, .. }
            | SortError::NotSetAside { file, .. }
            | SortError::NoRoom { file, .. } => Some(file),
            SortError::LongLine { file, .. } => file.as_ref(),
            SortError::NoTemporaryRoom { directories, .. } => directories.first(),
            _ => None,
        }
    }

    /// Byte offset in that file, if the error has one.
    pub fn offset(&self) -> Option<u64> {
        match self {
            SortError::LongLine {
                file: Some(_),
                position,
                ..
            } => *position,
            SortError::TruncatedRecord { offset, .. }
            | SortError::BadRecord { offset, .. }
            | SortError::BadRow { offset, .. }
            | SortError::Shrunk { offset, .. }
            | SortError::Spoilt { offset, .. } => Some(*offset),
            _ => None,
        }
    }
}

/// The system refused memory.
pub(crate) fn no_memory(bytes: usize, cause: &std::io::Error) -> SortError {
    SortError::NoMemory {
        bytes: bytes as u64,
        cause: cause.to_string(),
    }
}

pub(crate) fn row_place(line: Option<u64>, offset: u64) -> String {
    match line {
        Some(line) => format!("line {line}"),
        None => format!("the row at byte {offset}"),
    }
}

/// The limit to ask for where so many bytes are needed: whole MiB, as `-S` takes them.
pub(crate) fn asked(bytes: u64) -> u64 {
    bytes.next_multiple_of(1 << 20)
}
