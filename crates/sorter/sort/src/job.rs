//! A job: inputs, outputs, resources and options of a sort.

mod coding;
mod described;
mod lengths;
mod stripes;
mod tuning;

use codec::Packing;
use node::{Compression, Decompress, File, Lots, Metadata, Node, Open, View};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pipeline::Control;
use record::Headed;
use serde::{Deserialize, Serialize};

use crate::error::SortError;
use crate::records::contents::Contents;

pub use described::contents_of;
pub use lengths::LongestLine;
pub(crate) use lengths::{naming_source, without_lots};
pub use tuning::Tuning;

/// Where records come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file, a device or a named pipe.
    Path(PathBuf),
    /// A file that a manifest lists. It must be a regular file: a device has no end, and a pipe may
    /// have no writer.
    Listed(PathBuf),
    /// Standard input.
    Standard,
    /// Another source without its header.
    Behind(Box<Behind>),
}

/// A source without its header, the row at its front that names columns.
#[derive(Clone, Debug)]
pub struct Behind {
    pub(crate) source: Source,
    /// Bytes of the header.
    pub(crate) bytes: u64,
    /// A source that can be read only once, and the bytes behind the header that were read.
    pub(crate) begun: Option<(File, Arc<[u8]>)>,
    /// Its files as they were when the header was read; of a set, one behind the other.
    pub(crate) seen: Vec<Metadata>,
}

impl PartialEq for Behind {
    fn eq(&self, other: &Behind) -> bool {
        (&self.source, self.bytes) == (&other.source, other.bytes)
    }
}

impl Eq for Behind {}

impl Source {
    /// This source without the first `bytes` bytes.
    #[must_use]
    pub fn behind(self, bytes: u64) -> Source {
        Source::Behind(Box::new(Behind {
            source: self,
            bytes,
            begun: None,
            seen: Vec::new(),
        }))
    }

    /// The path of a file.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Source::Path(path) | Source::Listed(path) => Some(path),
            Source::Standard => None,
            Source::Behind(behind) => behind.source.path(),
        }
    }

    pub(crate) fn how(&self, direct: bool) -> Open {
        match self {
            Source::Listed(_) => Open::Regular { direct },
            Source::Path(_) | Source::Standard => Open::Read { direct },
            Source::Behind(behind) => behind.source.how(direct),
        }
    }

    /// Bytes of the header at its front.
    pub(crate) fn header_bytes(&self) -> u64 {
        match self {
            Source::Behind(behind) => behind.bytes,
            _ => 0,
        }
    }
}

/// Where a result goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A file, a device or a named pipe.
    Path(PathBuf),
    /// One file in which all ranks write their parts; all hosts must see it.
    Together(PathBuf),
    /// A set of files in these directories, at least one, which exist. Its manifest goes to the
    /// first.
    Directories(Vec<PathBuf>),
    /// Standard output.
    Standard,
}

/// Whether to bypass the page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IoChoice {
    /// Use the cache for inputs that are cached, and bypass it otherwise; decided on a sample of
    /// pages.
    #[default]
    Auto,
    /// Bypass the cache wherever the file system allows.
    Direct,
    /// Use the cache.
    Buffered,
}

/// How inputs are opened.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// Whether to bypass the page cache.
    pub io: IoChoice,
    /// The inputs to decompress.
    pub decompress: Decompress,
    /// Cores for the decompression of a file.
    pub cores: usize,
    /// Those of a pipe.
    pub cores_of_pipe: usize,
    /// The memory limit, of which a decompressor takes a part.
    pub memory_bytes: u64,
    /// Whether chained records are read in parts, and not from front to back.
    pub in_parts: bool,
    /// How their bytes look, if records have several lines.
    pub view: Option<Arc<dyn View>>,
    /// The lots of records that are shuffled. Each input has others ([`ReadOptions::of_input`]).
    pub lots: Option<Lots>,
}

/// The plan that the user asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// One pass if memory holds everything; a merge if the input is nearly sorted or of unknown
    /// length; otherwise two passes.
    #[default]
    Auto,
    /// One pass: everything in memory.
    OnePass,
    /// Two passes: records that memory does not hold are spilled.
    TwoPass,
    /// Two passes, or a merge if memory is too small: for pipes of records that seem in no order.
    Distribute,
    /// Sorted runs, then a merge of them.
    Merge,
    /// A merge of the inputs, which are sorted. Where a merge cannot stream them, they are sorted like
    /// any others: if only the first records are wanted, if pipes become a set of files, rows, and
    /// records with lengths.
    MergeInputs,
}

/// How ranks exchange records. Saved progress has the names in capitals, plans of papers the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExchangeKind {
    /// All pairs at once, each limited to its fair share (TritonSort 4.1).
    #[default]
    #[serde(alias = "streams")]
    Streams,
    /// In rounds; in each, a rank sends to one rank and receives from one (psort).
    #[serde(alias = "rounds")]
    Rounds,
}

impl ExchangeKind {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            ExchangeKind::Streams => "streams",
            ExchangeKind::Rounds => "rounds",
        }
    }
}

/// How the chunks of spill files are packed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pack {
    /// In the way that takes the least time, as found while the sort runs; not at all if memory has
    /// no room for it.
    Auto,
    /// Not at all.
    #[default]
    Never,
    /// In this format.
    In(Packing),
}

/// Where the chunks of partitions lie in spill files (TritonSort 4.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpillLayout {
    /// Behind each other as they are written, on any disk that is idle: writes do not seek.
    #[default]
    Log,
    /// Each partition in a stretch of one disk, which is reserved: reads do not seek.
    Preallocated,
}

/// How splitters are chosen, which divide the keys among ranks and partitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SplitterChoice {
    /// From a sample of the input.
    #[default]
    Sampled,
    /// As if the bytes of keys were random, without a look at the input (NOW-Sort 6.1, psort); of
    /// records of one length alone. Other keys are sorted, too, in unlike partitions.
    Even,
}

/// How much of the output each rank sorts and writes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shares {
    /// As much as the others.
    #[default]
    Even,
    /// In proportion to the rates at which its disks write, which are measured when the sort begins.
    Measured,
    /// In proportion to these numbers, one for each rank.
    Given(Vec<u32>),
}

/// Resources that a run may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resources {
    /// Number of cores to keep busy.
    pub cores: usize,
    /// Total memory in bytes.
    pub memory_bytes: u64,
    /// Whether to bypass the page cache.
    pub io: IoChoice,
}

/// A resumable sort: it saves its progress, and the same job continues from there, with the same
/// ranks or fewer. Paths are as on the command line, with `{rank}` for the number of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resume {
    /// Identifies the job: the absolute path of its output.
    pub name: String,
    /// Inputs, in order.
    pub sources: Vec<Source>,
    /// The output: a file.
    pub target: PathBuf,
    /// Directories for saved progress; if there are none, the output's.
    pub temporary: Vec<PathBuf>,
}

/// A sort, as one rank is asked for it.
#[derive(Clone)]
pub struct Job {
    /// Inputs, in order.
    pub sources: Vec<Source>,
    /// The inputs to decompress.
    pub decompress: Decompress,
    /// Whether all ranks name the same inputs and divide them; otherwise each has its own.
    pub shared: bool,
    /// Directories for spill files; if there are none, the output's.
    pub temporary: Vec<PathBuf>,
    /// How chunks of spill files are packed.
    pub pack: Pack,
    /// Where spill files have their chunks.
    pub spill_layout: SpillLayout,
    /// Blocks of data in a stripe of spill files, if they have stripes: there is one directory more.
    pub stripe: Option<usize>,
    /// The most bytes of spill files on disk at any time, if there is a limit. Each rank has its own.
    /// Saved progress is not limited.
    pub temporary_limit: Option<u64>,
    /// How to sort.
    pub plan: Choice,
    /// The output; may be one of the inputs.
    pub target: Target,
    /// The format in which the output is compressed, if it is: a file, a pipe or standard output.
    pub compress: Option<Compression>,
    /// How ranks exchange records, if there are several.
    pub exchange: ExchangeKind,
    /// How much of the output each of them writes.
    pub shares: Shares,
    /// The records' format and order.
    pub contents: Arc<dyn Contents>,
    /// How splitters are chosen.
    pub splitters: SplitterChoice,
    /// Only so many of the sorted records are kept, the first ones.
    pub top: Option<u64>,
    /// Rows whose order is known when their header is read; it then replaces `contents`.
    pub headed: Option<Headed>,
    /// The file where rows with mistakes go; without it, one ends the sort.
    pub bad_rows: Option<PathBuf>,
    /// The longest line that buffers have room for.
    pub longest_line: LongestLine,
    /// Whether a sort on one node begins again with larger buffers if a line of a file does not fit;
    /// otherwise that is an error.
    pub may_begin_again: bool,
    /// Resources that the run may use.
    pub resources: Resources,
    /// Numbers that the plan must keep to.
    pub tuning: Tuning,
    /// The list of outputs, if each rank has its own: a manifest, which rank 0 writes.
    pub listing: Option<PathBuf>,
    /// Name of this rank's host; empty if that is not known.
    pub host: String,
    /// Saved progress, if the sort is resumable.
    pub resume: Option<Resume>,
    /// Observes the sort and stops it.
    pub control: Control,
}

impl Job {
    /// How its inputs are opened.
    pub(crate) fn reading(&self) -> ReadOptions {
        ReadOptions {
            io: self.resources.io,
            decompress: self.decompress,
            // Pipes are merged at once, each with a decompressor.
            cores_of_pipe: match self.plan {
                Choice::MergeInputs => 1,
                _ => self.resources.cores,
            },
            cores: self.resources.cores,
            memory_bytes: self.resources.memory_bytes,
            view: self.view(),
            lots: self.lots(),
            ..ReadOptions::default()
        }
    }

    /// Whether the sort neither exchanges records with other ranks nor saves its progress.
    pub(crate) fn is_alone(&self, node: &Node) -> bool {
        node.nodes() == 1 && self.resume.is_none()
    }

    /// # Errors
    /// When splitters are to be even, and records are not of one length.
    pub(crate) fn check_splitters(&self) -> Result<(), SortError> {
        let is_even = self.splitters == SplitterChoice::Even;
        if is_even && !self.contents.framing().is_fixed() {
            return Err(SortError::NotEven);
        }
        Ok(())
    }
}
