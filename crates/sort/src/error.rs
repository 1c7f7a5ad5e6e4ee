//! What a sort refuses, and what it finds wrong: one line each, with what to do.

use std::path::PathBuf;

use pipeline::Failure;
use thiserror::Error;

/// Why a sort cannot be done, or must not be trusted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SortError {
    /// The input does not end at the end of a record.
    #[error(
        "{file} ends inside a record: {left} of {record_bytes} bytes at byte {offset}; \
         check --format, or cut the file there",
        file = file.display()
    )]
    TruncatedRecord {
        /// The input.
        file: PathBuf,
        /// Where the short record begins.
        offset: u64,
        /// How much of it is there.
        left: u64,
        /// How long a record is.
        record_bytes: usize,
    },
    /// The input became shorter while it was read.
    #[error(
        "{file} ended early, at byte {offset}: it was changed while it was read; sort again when \
         nobody writes to it",
        file = file.display()
    )]
    Shrunk {
        /// The input.
        file: PathBuf,
        /// Where it ended.
        offset: u64,
    },
    /// Another file took the input's name while it was waiting to be read.
    #[error(
        "{file} was replaced by another file while sorting; sort again when nobody writes there",
        file = file.display()
    )]
    Replaced {
        /// The input.
        file: PathBuf,
    },
    /// A directory where a file was asked for.
    #[error("{file} is a directory; name a file", file = file.display())]
    Directory {
        /// The path.
        file: PathBuf,
    },
    /// A set of files that cannot be used.
    #[error("{file} {what}", file = file.display())]
    Manifest {
        /// Its manifest, or its directory.
        file: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The data and what goes with them do not fit into the memory limit.
    #[error(
        "sorting {what} in {passes} needs {needed} of memory, and the limit is {limit}; give at least -S {mib}M",
        what = bytes.map_or("a pipe".to_owned(), amount),
        needed = amount(*needed),
        limit = amount(*limit),
        mib = needed.div_ceil(1 << 20)
    )]
    TooLittleMemory {
        /// The input; `None` for a pipe, for which this is the least to begin with.
        bytes: Option<u64>,
        /// What a sort needs.
        needed: u64,
        /// What it may use.
        limit: u64,
        /// In how many passes.
        passes: &'static str,
    },
    /// A pipe gave more than fits into the memory limit.
    #[error(
        "the input is more than fits into {limit} of memory ({bytes} read so far); give a larger -S",
        limit = amount(*limit),
        bytes = amount(*bytes)
    )]
    PipeTooLong {
        /// Bytes read when memory ran out.
        bytes: u64,
        /// What may be used.
        limit: u64,
    },
    /// The output would not fit on its disk.
    #[error(
        "{file} needs {needed} bytes and only {free} are free there; free some space or name \
         another place",
        file = file.display()
    )]
    NoRoom {
        /// The output.
        file: PathBuf,
        /// What it needs.
        needed: u64,
        /// What there is.
        free: u64,
    },
    /// What memory does not hold would not fit on the temporary disks.
    #[error(
        "what memory does not hold needs about {needed} bytes, with the output where that is on the same \
         disk, and only {free} are free in {places}; free some space, name other directories with -T, or \
         give a larger -S",
        places = directories.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    )]
    NoTemporaryRoom {
        /// Where it would go.
        directories: Vec<PathBuf>,
        /// What is needed there.
        needed: u64,
        /// What there is.
        free: u64,
    },
    /// What came out is not what went in.
    #[error(
        "records were lost or changed while sorting: {records_in} in with checksum {sum_in:x}, \
         {records_out} out with {sum_out:x}; nothing was written over, please report it and test \
         this machine's memory"
    )]
    Lost {
        /// Records read.
        records_in: u64,
        /// Records written.
        records_out: u64,
        /// Checksum of what was read.
        sum_in: u128,
        /// Checksum of what was to be written.
        sum_out: u128,
    },
    /// The output is not in order.
    #[error(
        "record {record} of the output is out of order; nothing was written over, please report \
         it and test this machine's memory"
    )]
    Disorder {
        /// Which record.
        record: u64,
    },
    /// The output was complete in memory, and reads back as something else.
    #[error(
        "{file} does not read back as it was written: {what}; sort again elsewhere and test \
         this disk",
        file = file.display()
    )]
    ReadBack {
        /// The output.
        file: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// What was spilled reads back as something else.
    #[error(
        "{file} does not read back as it was written, at byte {offset}; nothing was written over; sort \
         again with another --tmp and test this disk",
        file = file.display()
    )]
    Spoilt {
        /// The spill file.
        file: PathBuf,
        /// Where in it.
        offset: u64,
    },
    /// What another node sent came as something else.
    #[error(
        "what rank {rank} sent came as something else; nothing was written over; sort again and test that \
         machine's memory and network"
    )]
    Garbled {
        /// The sender.
        rank: u32,
    },
    /// Another node says what no node of this version says.
    #[error(
        "what rank {rank} says cannot be understood ({what}); run the same version on all ranks"
    )]
    Foreign {
        /// Which.
        rank: u32,
        /// What is wrong with it.
        what: String,
    },
    /// Two nodes were to write one output.
    #[error(
        "{file}: rank {rank} writes the same file; let each rank write its own, or all of them one, without {{rank}} in -o"
    )]
    SameOutput {
        /// Which.
        file: PathBuf,
        /// Who else.
        rank: u32,
    },
    /// All nodes were to write one file.
    #[error(
        "{file}: all ranks are to write this file, {what}; or let each write its own: put {{rank}} in the name"
    )]
    NotTogether {
        /// Which.
        file: PathBuf,
        /// What it must be.
        what: String,
    },
    /// Another node cannot go on.
    #[error("rank {rank}: {what}")]
    Elsewhere {
        /// Which.
        rank: u32,
        /// What it said.
        what: String,
    },
    /// Another node does not answer any more.
    #[error(
        "rank {rank} has not been heard for {seconds} s: its process or host has died, or its link is cut; \
         no output shows a part of itself; start again (what was kept with --resume is gone on with)"
    )]
    Silent {
        /// Which.
        rank: u32,
        /// For how long.
        seconds: u64,
    },
    /// What an earlier run left cannot be gone on with.
    #[error(
        "{file} {what}; name another output or --tmp, or to begin again remove .gristmill-* beside it and from --tmp, on all hosts",
        file = file.display()
    )]
    Checkpoint {
        /// An entry of it.
        file: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// What is lost cannot be built again.
    #[error(
        "part {part} of the input is not as it was when the sort began: {what}; bring it back, or to begin again \
         remove .gristmill-* in the directories of -T and of the output"
    )]
    PartGone {
        /// Which: the rank's that read it first.
        part: u32,
        /// Why this rank does not have it.
        what: String,
    },
    /// The nodes were not started for the same sort.
    #[error(
        "rank {rank} was started for another sort than rank 0: {what}; give all ranks the same options"
    )]
    Different {
        /// Which.
        rank: u32,
        /// What differs.
        what: String,
    },
    /// Several nodes cannot share this input.
    #[error(
        "{what}; several ranks sort files alone, which they can look at first: save it to a file"
    )]
    NotDivisible {
        /// What it is.
        what: String,
    },
    /// The system has no memory for us.
    #[error(
        "cannot have {bytes} bytes of memory: {cause}; free some, or raise the limit on it (ulimit -v)"
    )]
    NoMemory {
        /// What was asked for.
        bytes: u64,
        /// What the system said.
        cause: String,
    },
}

impl SortError {
    /// A word for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            SortError::TruncatedRecord { .. } => "truncated_record",
            SortError::Shrunk { .. } | SortError::Replaced { .. } => "input_changed",
            SortError::Directory { .. } => "is_directory",
            SortError::Manifest { .. } => "manifest",
            SortError::TooLittleMemory { .. } | SortError::PipeTooLong { .. } => "memory_limit",
            SortError::NoRoom { .. } | SortError::NoTemporaryRoom { .. } => "no_space",
            SortError::Lost { .. } => "records_lost",
            SortError::Disorder { .. } => "disorder",
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
            SortError::NotDivisible { .. } => "not_divisible",
        }
    }

    /// If both errors refuse too little memory, the one that asks for less; else this one.
    pub(crate) fn or_less(self, other: SortError) -> SortError {
        let needed = |error: &SortError| match error {
            SortError::TooLittleMemory { needed, .. } => Some(*needed),
            _ => None,
        };
        match needed(&self).zip(needed(&other)) {
            Some((own, others)) if others < own => other,
            _ => self,
        }
    }

    /// The file it is about.
    pub fn file(&self) -> Option<&PathBuf> {
        match self {
            SortError::TruncatedRecord { file, .. }
            | SortError::Shrunk { file, .. }
            | SortError::Replaced { file }
            | SortError::ReadBack { file, .. }
            | SortError::Spoilt { file, .. }
            | SortError::Directory { file }
            | SortError::Manifest { file, .. }
            | SortError::Checkpoint { file, .. }
            | SortError::NotTogether { file, .. }
            | SortError::SameOutput { file, .. }
            | SortError::NoRoom { file, .. } => Some(file),
            SortError::NoTemporaryRoom { directories, .. } => directories.first(),
            _ => None,
        }
    }

    /// Where in that file.
    pub fn offset(&self) -> Option<u64> {
        match self {
            SortError::TruncatedRecord { offset, .. }
            | SortError::Shrunk { offset, .. }
            | SortError::Spoilt { offset, .. } => Some(*offset),
            _ => None,
        }
    }
}

impl From<SortError> for Failure {
    fn from(error: SortError) -> Failure {
        Failure::Program(Box::new(error))
    }
}

/// A number of bytes as people write it: 5.9 GB.
pub(crate) fn amount(bytes: u64) -> String {
    let (mut number, mut unit) = (bytes as f64, None);
    for next in ["KB", "MB", "GB", "TB", "PB", "EB"] {
        // A number that would round to 1000.0 is written as 1.0 of the next unit.
        if number < 999.95 {
            break;
        }
        (number, unit) = (number / 1000.0, Some(next));
    }
    unit.map_or_else(
        || format!("{bytes} bytes"),
        |unit| format!("{number:.1} {unit}"),
    )
}

/// The system refused memory.
pub(crate) fn no_memory(bytes: usize, cause: &std::io::Error) -> SortError {
    SortError::NoMemory {
        bytes: bytes as u64,
        cause: cause.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_as_people_do() {
        let cases = [
            (0, "0 bytes"),
            (999, "999 bytes"),
            (1000, "1.0 KB"),
            (999_949, "999.9 KB"),
            (999_950, "1.0 MB"),
            (5_900_000_000, "5.9 GB"),
            (u64::MAX, "18.4 EB"),
        ];
        for (bytes, text) in cases {
            assert_eq!(amount(bytes), text);
        }
    }
}
