//! What is to be sorted, and with what.

use std::path::PathBuf;
use std::sync::Arc;

use pipeline::Control;

use crate::contents::Contents;
use crate::input::Source;

/// Where a result goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A file, a device or a named pipe.
    Path(PathBuf),
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
    /// In one pass if memory holds everything, else in two.
    #[default]
    Auto,
    /// Everything in memory.
    OnePass,
    /// What memory does not hold is spilled.
    TwoPass,
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
}

/// A sort to be done.
#[derive(Clone)]
pub struct Job {
    /// Inputs, in order.
    pub sources: Vec<Source>,
    /// Where what memory does not hold waits; beside the output, if there is none.
    pub temporary: Vec<PathBuf>,
    /// How to sort.
    pub plan: Choice,
    /// Where the sorted records go; may be one of the inputs.
    pub target: Target,
    /// How records are touched, and their order.
    pub contents: Arc<dyn Contents>,
    /// What the run may use.
    pub resources: Resources,
    /// What the plan must keep to.
    pub tuning: Tuning,
    /// To watch and stop it.
    pub control: Control,
}
