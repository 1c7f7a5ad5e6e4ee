//! What a run did, in figures, and what it noticed.

use std::fmt;
use std::path::{Path, PathBuf};

use pipeline::{Move, StageReport};
use serde::{Deserialize, Serialize};

/// How a run did its I/O, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectIo {
    /// Whether the input was read past the page cache.
    pub read: bool,
    /// Whether the output was written past the page cache.
    pub write: bool,
    /// Why.
    pub reason: String,
}

/// What the splitters cost: looking at the input here and there before it is divided.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SampleCost {
    /// Places looked at; of a pipe its first blocks.
    pub places: u64,
    /// Bytes read for nothing else; the first blocks of a pipe are read once.
    pub bytes: u64,
    /// Reading them and choosing splitters.
    pub seconds: f64,
}

impl SampleCost {
    pub(crate) fn add(&mut self, other: SampleCost) {
        self.places += other.places;
        self.bytes += other.bytes;
        self.seconds += other.seconds;
    }
}

/// What a sort noticed that did not stop it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// An input became longer while it was sorted; its length at opening counts.
    Grew {
        /// The input.
        file: PathBuf,
        /// Its length at opening, in bytes.
        was: u64,
        /// Its length at the end of the sort.
        now: u64,
    },
    /// Outputs of an earlier sort over more nodes are there, beside those of this one.
    Stale {
        /// The first of them.
        file: PathBuf,
        /// How many.
        count: usize,
    },
    /// Files of the set that this one replaced are still there.
    OldSet {
        /// The manifest, which listed them.
        manifest: PathBuf,
        /// How many.
        count: usize,
    },
}

impl Warning {
    /// A word for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Warning::Grew { .. } => "input_grew",
            Warning::Stale { .. } => "stale_output",
            Warning::OldSet { .. } => "old_set",
        }
    }

    /// The file it is about.
    pub fn file(&self) -> &Path {
        match self {
            Warning::Grew { file, .. }
            | Warning::Stale { file, .. }
            | Warning::OldSet { manifest: file, .. } => file,
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::Grew { file, was, now } => write!(
                out,
                "{}: grew from {was} to {now} bytes while it was sorted; its first {was} were",
                file.display()
            ),
            Warning::OldSet { manifest, count } => write!(
                out,
                "{}: {count} files of the old set were left: they lie in directories that -o does not name, or another user \
                 may have written the old manifest; remove them by hand",
                manifest.display()
            ),
            Warning::Stale { file, count } => write!(
                out,
                "{}: is of an earlier sort, one of {count} that this one has not written; test that this one had \
                 all inputs, and remove what is still there",
                file.display()
            ),
        }
    }
}

/// A finished sort. Bytes count input, temp and output.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Records sorted.
    pub records: u64,
    /// Bytes sorted.
    pub bytes: u64,
    /// Most writes of any record.
    pub passes: u32,
    /// How it was done.
    pub plan: &'static str,
    /// Why so.
    pub reason: String,
    /// Buckets with at least one record.
    pub partitions: u64,
    /// From the start of the run to the durable output.
    pub seconds: f64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Most temporary bytes at any time.
    pub temp_peak_bytes: u64,
    /// How I/O was done.
    pub direct_io: DirectIo,
    /// Sum of the CRC-32 of every record, as valsort prints it.
    pub checksum: u128,
    /// The stage that held the others up.
    pub bottleneck: &'static str,
    /// What each stage did, in the order in which records pass.
    pub stages: Vec<StageReport>,
    /// What it took to choose the splitters.
    pub sample: SampleCost,
    /// Records of the largest partition over the mean of all that were sorted (in one pass: of
    /// buckets); 1 is even.
    pub unevenness: f64,
    /// What was noticed beside.
    pub warnings: Vec<Warning>,
    /// What was moved to the bottleneck.
    pub moves: Vec<Move>,
    /// Of a sort over several nodes, what each of them did; all else is this node's (see
    /// [`Report::of_all`]).
    pub ranks: Vec<RankReport>,
    /// Of a sort that can be gone on with, the files that this node has written: as many as ranges
    /// fell to it.
    pub written: Vec<Written>,
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// Where.
    pub path: PathBuf,
    /// Its records.
    pub records: u64,
    /// Sum of the CRC-32 of every record.
    pub checksum: u128,
}

/// What one of several nodes did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankReport {
    /// Records read.
    pub read_records: u64,
    /// Records of its range, written.
    pub records: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Sum of their CRC-32.
    pub checksum: u128,
    /// Its phases, without opening and sampling.
    pub seconds: f64,
    /// The stage that held its others up.
    pub bottleneck: String,
}

impl Report {
    /// The same with the records, bytes and checksum of all nodes, where there are several.
    #[must_use]
    pub fn of_all(self) -> Report {
        if self.ranks.is_empty() {
            return self;
        }
        Report {
            records: self.ranks.iter().map(|rank| rank.records).sum(),
            bytes: self.ranks.iter().map(|rank| rank.bytes).sum(),
            checksum: self
                .ranks
                .iter()
                .fold(0, |sum, rank| sum.wrapping_add(rank.checksum)),
            ..self
        }
    }

    /// Records of the largest rank over the mean; 1 is even, and where there is one node.
    pub fn skew(&self) -> f64 {
        let all: u64 = self.ranks.iter().map(|rank| rank.records).sum();
        let largest = self
            .ranks
            .iter()
            .map(|rank| rank.records)
            .max()
            .unwrap_or(0);
        if all == 0 {
            1.0
        } else {
            largest as f64 * self.ranks.len() as f64 / all as f64
        }
    }

    /// The stage of that name.
    pub fn stage(&self, name: &str) -> Option<&StageReport> {
        self.stages.iter().find(|stage| stage.name == name)
    }
}
