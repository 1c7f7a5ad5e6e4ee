//! What is to be sorted, and with what.

use node::Open;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pipeline::Control;
use serde::{Deserialize, Serialize};

use crate::records::contents::Contents;

/// Where records come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file, a device or a named pipe.
    Path(PathBuf),
    /// A file that a manifest lists, which must be a regular one: a device has no end, and a pipe
    /// may have no writer.
    Listed(PathBuf),
    /// Standard input.
    Standard,
}

impl Source {
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Source::Path(path) | Source::Listed(path) => Some(path),
            Source::Standard => None,
        }
    }

    pub(crate) fn how(&self, direct: bool) -> Open {
        match self {
            Source::Listed(_) => Open::Regular { direct },
            Source::Path(_) | Source::Standard => Open::Read { direct },
        }
    }
}

/// Where a result goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A file, a device or a named pipe.
    Path(PathBuf),
    /// A file that all nodes write, each its part: it lies where all of them see it.
    Together(PathBuf),
    /// A set of files in these directories, one at least, which are there; its manifest goes to the
    /// first.
    Directories(Vec<PathBuf>),
    /// Standard output.
    Standard,
}

/// Whether to bypass the page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IoChoice {
    /// Read through it what lies in it already, bypass it otherwise: measured on a sample.
    #[default]
    Auto,
    /// Bypass it wherever the file system allows.
    Direct,
    /// Go through it.
    Buffered,
}

/// How to sort.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// In one pass if memory holds everything; what is nearly sorted, or of unknown length, by a
    /// merge; else in two passes.
    #[default]
    Auto,
    /// Everything in memory.
    OnePass,
    /// What memory does not hold is spilled.
    TwoPass,
    /// Sorted runs, and one merge of them.
    Merge,
}

/// How ranks exchange records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExchangeKind {
    /// All pairs at once, each limited to its fair share (TritonSort 4.1).
    #[default]
    Streams,
    /// In rounds, in which each rank sends to one and receives from one (psort).
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

/// What a run may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resources {
    /// Cores to keep busy.
    pub cores: usize,
    /// Bytes of memory, all in all.
    pub memory_bytes: u64,
    /// How to do I/O.
    pub io: IoChoice,
}

/// Where a sort begins that is tuned while it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// With the plan's numbers.
    #[default]
    Derived,
    /// With the least of everything: one worker of each stage, one request in flight, small units.
    /// It shows what tuning is worth.
    Worst,
}

/// Whether to move workers and requests to the bottleneck while the sort runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tune {
    /// Where stages wait for each other.
    #[default]
    Auto,
    /// Nothing moves.
    Off,
}

/// Numbers of the plan that somebody insists on; the rest is derived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tuning {
    /// Workers that read.
    pub readers: Option<usize>,
    /// Workers that distribute.
    pub distributors: Option<usize>,
    /// Workers that sort.
    pub sorters: Option<usize>,
    /// Workers that write.
    pub writers: Option<usize>,
    /// Requests in flight of each reader and writer.
    pub depth: Option<usize>,
    /// Records of a read unit.
    pub unit_records: Option<usize>,
    /// Buckets at most.
    pub buckets: Option<usize>,
    /// Bytes of a chunk, rounded up to whole disk blocks.
    pub chunk_bytes: Option<usize>,
    /// Chunks of a sort that may spill.
    pub chunks: Option<usize>,
    /// Chunks of a load, of a sort that merges.
    pub load_chunks: Option<usize>,
    /// Steps of each phase of a sort that can be gone on with.
    pub steps: Option<u32>,
    /// Where it begins.
    pub start: Start,
    /// Whether it is tuned.
    pub tune: Tune,
}

/// A sort that can be gone on with: what of it is done outlives the run, and the same job begun
/// again goes on there, with the same ranks or fewer. Paths are as the command line has them, with
/// `{rank}` for the number of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resume {
    /// Tells the job from others: the whole path of its output.
    pub name: String,
    /// Inputs, in order.
    pub sources: Vec<Source>,
    /// The output: a file.
    pub target: PathBuf,
    /// Where what is done waits; beside the output, if there is none.
    pub temporary: Vec<PathBuf>,
}

/// Where the outputs of all ranks are listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The manifest, which rank 0 writes.
    pub path: PathBuf,
    /// What this rank's host is called.
    pub host: String,
}

/// A sort to be done.
#[derive(Clone)]
pub struct Job {
    /// Inputs, in order.
    pub sources: Vec<Source>,
    /// Whether all nodes name the same inputs, which are divided among them; else each has its own.
    pub shared: bool,
    /// Where what memory does not hold waits; beside the output, if there is none.
    pub temporary: Vec<PathBuf>,
    /// How to sort.
    pub plan: Choice,
    /// Where the sorted records go; may be one of the inputs.
    pub target: Target,
    /// How ranks exchange records, where there are several.
    pub exchange: ExchangeKind,
    /// How records are touched, and their order.
    pub contents: Arc<dyn Contents>,
    /// What the run may use.
    pub resources: Resources,
    /// What the plan must keep to.
    pub tuning: Tuning,
    /// Where outputs are listed, if each node has its own.
    pub listing: Option<Listing>,
    /// Whether it can be gone on with, and how other ranks name what is theirs.
    pub resume: Option<Resume>,
    /// To watch and stop it.
    pub control: Control,
}
