//! Errors of a sort: one line each, which says what happened, where, and what to do.

mod facts;

use std::path::PathBuf;

use pipeline::Failure;
use record::rows::BadRow;
use thiserror::Error;

use units::amount;

pub(crate) use facts::{asked, no_memory, row_place};

/// Why a sort was refused, or its result must not be trusted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "fields with plain names need no sentence")]
pub enum SortError {
    /// The input does not end at the end of a record.
    #[error(
        "{file} ends inside a record: the last one, at byte {offset}, has {left} of {record_bytes} \
         bytes; check --format, or cut the file there",
        file = file.display()
    )]
    TruncatedRecord {
        file: PathBuf,
        /// Byte offset of the short record.
        offset: u64,
        /// Bytes of it that exist.
        left: u64,
        record_bytes: usize,
    },
    /// The input became shorter while it was read.
    #[error(
        "{file} ended early, at byte {offset}: it was changed while it was read; sort again when \
         no other program writes to it",
        file = file.display()
    )]
    Shrunk {
        file: PathBuf,
        /// Byte offset of the unexpected end.
        offset: u64,
    },
    /// Another file got the input's name before the input was read, or its content was changed.
    #[error(
        "{file} was changed, or replaced by another file, while sorting; sort again when no other program writes there",
        file = file.display()
    )]
    Replaced { file: PathBuf },
    /// A directory was given instead of a file.
    #[error("{file} is a directory; name a file", file = file.display())]
    Directory { file: PathBuf },
    /// A set of files that cannot be read.
    #[error("{file} {what}", file = file.display())]
    Manifest {
        /// Its manifest, or its directory.
        file: PathBuf,
        what: String,
    },
    /// The data, and the buffers to sort them, do not fit into the memory limit.
    #[error(
        "sorting {what} in {passes} needs {needed} of memory, but the limit is {limit}; give at least -S {mib}M",
        what = bytes.map_or("an input of unknown length".to_owned(), amount),
        needed = amount(*needed),
        limit = amount(*limit),
        mib = asked(*needed) >> 20
    )]
    TooLittleMemory {
        /// Bytes of the input; `None` if the length is not known, where `needed` is the least to start with.
        bytes: Option<u64>,
        /// The least memory that would do, in bytes.
        needed: u64,
        limit: u64,
        /// Number of passes, in words.
        passes: &'static str,
    },
    /// A pipe had more data than the memory limit holds.
    #[error(
        "the input does not fit in {limit} of memory ({bytes} read so far); give a larger -S",
        limit = amount(*limit),
        bytes = amount(*bytes)
    )]
    PipeTooLong {
        /// Bytes read when memory ran out.
        bytes: u64,
        limit: u64,
    },
    /// A record that the format does not allow, so that the records behind it cannot be found.
    #[error("{file}: the record at byte {offset}: {what}", file = file.display())]
    BadRecord {
        file: PathBuf,
        /// Bytes of the file before the record.
        offset: u64,
        what: String,
    },
    /// The header of rows does not fit the job.
    #[error("{file}: {what}", file = file.display())]
    Header { file: PathBuf, what: String },
    /// A row with a mistake.
    #[error("{file}, {place}: {bad}{cure}", file = file.display(), place = row_place(*line, *offset))]
    BadRow {
        file: PathBuf,
        /// The number of the line where the row begins, from 1; `None` if lines cannot be counted.
        line: Option<u64>,
        /// Bytes of the file before the row.
        offset: u64,
        bad: Box<BadRow>,
        /// A remedy that the caller of the sort offers, behind a semicolon; may be empty.
        cure: &'static str,
    },
    /// A line is longer than the buffers of this run.
    #[error(
        "{place} is longer than the buffers ({limit}): {read} of it were read; set --max-line to at \
         least its length, 2 GiB at most, and a larger -S if that is refused",
        place = match (file, position) {
            (Some(file), Some(at)) => format!("{}: the line at byte {at}", file.display()),
            (Some(file), None) => format!("{}: a line", file.display()),
            (None, Some(at)) => format!("the line at byte {at} of the input"),
            (None, None) => "a line of the input".to_owned(),
        },
        read = amount(*read),
        limit = amount(*limit)
    )]
    LongLine {
        /// The input, if there is only one.
        file: Option<PathBuf>,
        /// Bytes of the input before the line, if they are known.
        position: Option<u64>,
        /// Bytes of the line that were read.
        read: u64,
        /// The longest line that fits.
        limit: u64,
    },
    /// The output would not fit on its disk.
    #[error(
        "{file} needs {needed}, and {free} are free there; free some space, or write the output to \
         another disk",
        file = file.display(),
        needed = amount(*needed),
        free = amount(*free)
    )]
    NoRoom {
        file: PathBuf,
        /// Bytes of the output.
        needed: u64,
        /// Free bytes on its disk.
        free: u64,
    },
    /// The temporary files would not fit on their disks.
    #[error(
        "temporary files, and the output if it is on the same disk, need about {needed}, and {free} are \
         free in {places}; free some space, name other directories with -T, or give a larger -S",
        needed = amount(*needed),
        free = amount(*free),
        places = directories.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    )]
    NoTemporaryRoom {
        directories: Vec<PathBuf>,
        /// Bytes needed on their disks.
        needed: u64,
        /// Free bytes on their disks.
        free: u64,
    },
    /// The temporary files would be, or are, larger than their limit.
    #[error(
        "temporary files {excess} --tmp-limit, which is {limit}; give a larger one, or a larger -S, \
         which needs less of them",
        excess = match needed {
            Some(needed) => format!("need about {}, more than", amount(*needed)),
            None => "have reached".to_owned(),
        },
        limit = amount(*limit)
    )]
    TemporaryLimit {
        /// Bytes needed, estimated before the sort; `None` if the limit was met while sorting.
        needed: Option<u64>,
        limit: u64,
    },
    /// The output would not hold the records of the input.
    #[error(
        "records were lost or changed while sorting: {records_in} in with checksum {sum_in:x}, \
         {records_out} out with {sum_out:x}; no file was overwritten; report this, and test this \
         machine's memory"
    )]
    Lost {
        records_in: u64,
        records_out: u64,
        sum_in: u128,
        sum_out: u128,
    },
    /// Numbers were added up, and their totals are not the numbers that were read.
    #[error(
        "totals differ from the numbers that were read; no file was overwritten; report this, and test this \
         machine's memory"
    )]
    Totals,
    /// The output is not in order.
    #[error(
        "record {record} of the output is out of order; no file was overwritten; report this, and \
         test this machine's memory"
    )]
    Disorder {
        /// Number of the first record out of order, from 0.
        record: u64,
    },
    /// An input of a merge is not sorted.
    #[error(
        "{file}: {what} {record} is out of order, and -m only merges inputs that are in order; leave -m \
         out to sort it",
        file = file.display(),
        what = noun
    )]
    Unsorted {
        file: PathBuf,
        /// The line where it begins, or the number of a record without lines, from 1.
        record: u64,
        /// The word before that number.
        noun: &'static str,
    },
    /// The output was correct in memory, but the disk returned other bytes.
    #[error(
        "{file} does not read back as it was written: {what}; sort again to another disk, and test \
         this one",
        file = file.display()
    )]
    ReadBack { file: PathBuf, what: String },
    /// A spill file returned other bytes than were written.
    #[error(
        "{file} does not read back as it was written, at byte {offset}; no file was overwritten; sort \
         again with another -T, and test this disk",
        file = file.display()
    )]
    Spoilt {
        file: PathBuf,
        /// Byte offset of the damaged chunk.
        offset: u64,
    },
    /// Data of another rank was damaged on the way.
    #[error(
        "data from rank {rank} arrived damaged; no file was overwritten; sort again, and test that \
         machine's memory and network"
    )]
    Garbled { rank: u32 },
    /// A message that no rank of this version sends.
    #[error("cannot understand rank {rank} ({what}); run the same version on all ranks")]
    Foreign { rank: u32, what: String },
    /// Two ranks would write one output.
    #[error(
        "{file}: rank {rank} writes the same file; give each rank its own with {{rank}} in -o, or let all write one file without it"
    )]
    SameOutput { file: PathBuf, rank: u32 },
    /// A file that all ranks would write cannot be shared.
    #[error(
        "{file}: all ranks would write this file, {what}; or put {{rank}} in -o to give each rank its own file"
    )]
    NotTogether {
        file: PathBuf,
        /// Why it cannot be shared, and what to do.
        what: String,
    },
    /// Another rank failed.
    #[error("rank {rank}: {what}")]
    Elsewhere { rank: u32, what: String },
    /// Another rank has fallen silent.
    #[error(
        "rank {rank} has not been heard for {seconds} s: its process or host has died, or its link is cut; \
         no partial output is visible; run it again (with --resume it continues)"
    )]
    Silent {
        rank: u32,
        /// Seconds since its last message.
        seconds: u64,
    },
    /// The progress that an earlier run saved cannot be used.
    #[error(
        "{file} {what}; name another output or -T, or start from the beginning: remove .gristmill-* from the directories of -T and of the output, on all hosts",
        file = file.display()
    )]
    Checkpoint {
        /// A file of the checkpoint, or the output.
        file: PathBuf,
        what: String,
    },
    /// A lost range cannot be sorted again, since a part of the input has changed.
    #[error(
        "part {part} of the input has changed since the sort began: {what}; restore it, or start from \
         the beginning: remove .gristmill-* from the directories of -T and of the output"
    )]
    PartGone {
        /// Number of the part: that of the rank that read it first.
        part: u32,
        /// Why it cannot be read.
        what: String,
    },
    /// The ranks were not started for the same sort.
    #[error(
        "rank {rank} was started for another sort than rank 0: {what}; give all ranks the same options"
    )]
    Different {
        /// The rank whose job differs from rank 0's.
        rank: u32,
        what: String,
    },
    /// Several ranks cannot divide this input.
    #[error(
        "{what}; several ranks sort only files, since they sample them first: save it to a file"
    )]
    NotDivisible {
        /// Why not.
        what: String,
    },
    /// An output that cannot be compressed.
    #[error(
        "{file}: a compressed output is written front to back by one process, and {why}, or give \
         --compress-output none",
        file = file.display()
    )]
    NotCompressed {
        file: PathBuf,
        /// Why not, and what to do.
        why: &'static str,
    },
    /// A file in which no rows are set aside.
    #[error(
        "cannot set rows aside in {file}: it {why}; name another file, or remove this one",
        file = file.display()
    )]
    NotSetAside {
        file: PathBuf,
        /// Why not.
        why: &'static str,
    },
    /// A set of files has records of several lines.
    #[error(
        "{file}: a set of files has records of one line, as its manifest lists them; name one file",
        file = file.display()
    )]
    SeveralLines { file: PathBuf },
    /// Records that cannot be shuffled.
    #[error("a shuffle is one process's work, and its output one file; {why}")]
    NotShuffled {
        /// Why not, and what to do.
        why: &'static str,
    },
    /// Splitters that are even cannot divide these records.
    #[error(
        "splitters are even only between records of one length, such as --format gensort; leave out \
         --splitters even"
    )]
    NotEven,
    /// Spill files cannot have these stripes.
    #[error("--stripe {blocks}+1 {why}")]
    NotStriped {
        /// Blocks of data in a stripe.
        blocks: usize,
        /// Why not, and what to do.
        why: String,
    },
    /// A list of shares does not fit the ranks.
    #[error(
        "--shares has {given} numbers, and the number of ranks is {ranks}; give one number for each rank, above 0"
    )]
    Shares {
        /// Numbers that were given.
        given: usize,
        /// Ranks of the job.
        ranks: u32,
    },
    /// A compressed file was to be divided.
    #[error(
        "{file} is compressed, so that it can be read only from its begin; decompress it into a file, \
         or sort it on one node without --resume (--decompress none sorts its bytes as they are)",
        file = file.display()
    )]
    Compressed { file: PathBuf },
    /// A file of records of a number of lines was to be divided.
    #[error(
        "{file}: the lines of its records are counted from its begin, so that it is read by one process, without --resume",
        file = file.display()
    )]
    CountedLines { file: PathBuf },
    /// The system refused memory.
    #[error(
        "cannot allocate {bytes} of memory: {cause}; free some, or raise its limit (ulimit -v)",
        bytes = amount(*bytes)
    )]
    NoMemory {
        bytes: u64,
        /// The system's message.
        cause: String,
    },
}

impl From<SortError> for Failure {
    fn from(error: SortError) -> Failure {
        Failure::Program(Box::new(error))
    }
}
