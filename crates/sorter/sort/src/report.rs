//! The report of a run: figures and warnings.

use std::fmt;
use std::path::{Path, PathBuf};

use pipeline::StageReport;
use serde::{Deserialize, Serialize};
use units::{amount, counted};

/// Whether a run bypassed the page cache, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectIo {
    /// Whether the input was read past the page cache.
    pub read: bool,
    /// Whether the output was written past the page cache.
    pub write: bool,
    /// The reason, in words.
    pub reason: String,
}

/// Cost of choosing the splitters: the input is sampled before it is divided.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SampleCost {
    /// Places sampled; for a pipe, its first blocks.
    pub places: u64,
    /// Bytes read only for the sample; 0 for a pipe, whose first blocks are sorted as well.
    pub bytes: u64,
    /// Seconds to read them and choose splitters.
    pub seconds: f64,
}

impl SampleCost {
    pub(crate) fn add(&mut self, other: SampleCost) {
        self.places += other.places;
        self.bytes += other.bytes;
        self.seconds += other.seconds;
    }
}

/// A problem that did not stop the sort.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "fields with plain names need no sentence")]
pub enum Warning {
    /// An input grew while it was sorted; only its length at opening was sorted.
    Grew {
        file: PathBuf,
        /// Its length at opening, in bytes.
        was: u64,
        /// Its length at the end of the sort.
        now: u64,
    },
    /// Outputs of an earlier sort, which this one did not write, still exist.
    Stale {
        /// The first of these files.
        file: PathBuf,
        count: usize,
    },
    /// Files of the replaced set still exist.
    OldSet { manifest: PathBuf, count: usize },
    /// The output was written over the old file, which could not be replaced.
    InPlace { file: PathBuf, why: String },
    /// The rows that an earlier sort had set aside in the file were replaced.
    OldBadRows { file: PathBuf },
    /// Rows with mistakes were set aside.
    BadRows {
        file: PathBuf,
        count: u64,
        /// The input, the line and the mistake of the first.
        first: String,
        /// Whether they are lines, and no rows.
        of_lines: bool,
    },
    /// No row had a value for a key, which may be misspelt; or no line had such a field.
    NoSuchKey { key: String, of_lines: bool },
    /// No line began as those do that stay on top.
    NoHeader { begin: String },
    /// Records stayed apart from those with their keys.
    Apart { count: u64 },
    /// A temporary directory of stripes failed.
    Rebuilt(Rebuilt),
}

/// A temporary directory that stripes did without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rebuilt {
    /// The directory that failed.
    pub directory: PathBuf,
    /// Bytes of it that were read from the others.
    pub bytes: u64,
    /// Its first failure.
    pub cause: String,
}

/// The stripes of temporary files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StripeReport {
    /// Blocks of data in a stripe.
    pub blocks: usize,
    /// Bytes of parity that were written.
    pub parity_bytes: u64,
    /// Directories that failed.
    pub rebuilt: Vec<Rebuilt>,
    /// Bytes, at most, of blocks whose parity could not be written.
    pub unprotected_bytes: u64,
}

impl Warning {
    /// Stable name of this kind of warning, for `--json`.
    pub fn kind(&self) -> &'static str {
        match self {
            Warning::Grew { .. } => "input_grew",
            Warning::Stale { .. } => "stale_output",
            Warning::OldSet { .. } => "old_set",
            Warning::InPlace { .. } => "in_place",
            Warning::OldBadRows { .. } => "old_bad_rows",
            Warning::BadRows { .. } => "bad_rows",
            Warning::NoSuchKey { .. } => "no_such_key",
            Warning::NoHeader { .. } => "no_header",
            Warning::Apart { .. } => "apart",
            Warning::Rebuilt(_) => "rebuilt",
        }
    }

    /// The file concerned; empty if it is none.
    pub fn file(&self) -> &Path {
        match self {
            Warning::Grew { file, .. }
            | Warning::InPlace { file, .. }
            | Warning::OldBadRows { file }
            | Warning::BadRows { file, .. }
            | Warning::Stale { file, .. }
            | Warning::OldSet { manifest: file, .. } => file,
            Warning::NoSuchKey { .. } | Warning::NoHeader { .. } | Warning::Apart { .. } => {
                Path::new("")
            }
            Warning::Rebuilt(rebuilt) => &rebuilt.directory,
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::Grew { file, was, now } => write!(
                out,
                "{}: grew from {was} to {now} bytes while it was sorted; its first {was} bytes were sorted",
                file.display()
            ),
            Warning::InPlace { file, why } => write!(
                out,
                "{}: was written in place, which is done: it could not be replaced ({why})",
                file.display()
            ),
            Warning::OldBadRows { file } => write!(
                out,
                "{}: rows that an earlier sort had set aside here were replaced",
                file.display()
            ),
            Warning::BadRows {
                file,
                count,
                first,
                of_lines,
            } => write!(
                out,
                "{}: {count} {}{} set aside here; the first is {first}",
                file.display(),
                if *of_lines { "line" } else { "row" },
                if *count == 1 {
                    " with mistakes was"
                } else {
                    "s with mistakes were"
                },
            ),
            Warning::NoSuchKey {
                key,
                of_lines: true,
            } => write!(
                out,
                "no line has a value for {key}, so it decided nothing, or nothing was added up; check its number, and -t, the \
                 byte between fields"
            ),
            Warning::NoSuchKey { key, .. } => write!(
                out,
                "no row has a value for {key}, so it decided nothing, or nothing was added up; check its name (capital letters \
                 count), and write $.NAME.NAME for a member of a member"
            ),
            Warning::NoHeader { begin } => write!(
                out,
                "no input begins with {begin}, as --header has it; check those letters"
            ),
            Warning::Apart { count } => write!(
                out,
                "a total had no room (38 digits, or the bytes of its field), and stands in parts: {} more with the same \
                 keys; no number is lost, but add them up again in wider fields",
                counted(*count, "record"),
            ),
            Warning::Rebuilt(Rebuilt {
                directory,
                bytes,
                cause,
            }) => write!(
                out,
                "--tmp {}: {} of its data were rebuilt from the other directories, and the output is complete; \
                 test that disk, which failed first with: {cause}",
                directory.display(),
                amount(*bytes)
            ),
            Warning::OldSet { manifest, count } => write!(
                out,
                "{}: files of the old set were not removed ({count}), because -o does not name their \
                 directories or another user may have written the old manifest; remove them yourself",
                manifest.display()
            ),
            Warning::Stale { file, count } => write!(
                out,
                "{}: an earlier sort left this file, one of {count}; check that this sort \
                 had all inputs, then remove these files",
                file.display()
            ),
        }
    }
}

/// The report of a finished sort. Bytes count input, temporary files and output.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The seed of a shuffle.
    pub seed: Option<u64>,
    /// Records sorted.
    pub records: u64,
    /// Bytes sorted.
    pub bytes: u64,
    /// Records dropped, because they had the keys of another.
    pub dropped: u64,
    /// Blank lines of the input, which are no rows: of all ranks, and of the runs before this one.
    pub blank_lines: u64,
    /// Bytes of the lines on top of the output.
    pub header_bytes: u64,
    /// The most often that any record was written.
    pub passes: u32,
    /// Name of the plan: one-pass, two-pass or merge.
    pub plan: &'static str,
    /// Why that plan, in words.
    pub reason: String,
    /// Buckets with at least one record.
    pub partitions: u64,
    /// Seconds from the start of the run to the durable output.
    pub seconds: f64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Peak size of temporary files in bytes.
    pub temp_peak_bytes: u64,
    /// The stripes of temporary files, if there are some.
    pub stripes: Option<StripeReport>,
    /// Whether the page cache was bypassed.
    pub direct_io: DirectIo,
    /// Sum of the CRC-32 of every record, as valsort prints it.
    pub checksum: u128,
    /// The slowest stage, which limited the others.
    pub bottleneck: &'static str,
    /// Figures of each stage, in the order in which records pass.
    pub stages: Vec<StageReport>,
    /// Cost of choosing the splitters.
    pub sample: SampleCost,
    /// Records of the largest partition over the mean (in one pass: of buckets); 1 is even.
    pub unevenness: f64,
    /// Problems that did not stop the sort.
    pub warnings: Vec<Warning>,
    /// Figures of each rank in a sort over several nodes; all other fields are this node's (see
    /// [`Report::of_all`]).
    pub ranks: Vec<RankReport>,
    /// The files that this node wrote in a resumable sort: one for each range it sorted.
    pub written: Vec<WrittenFile>,
}

/// An output file of a resumable sort.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenFile {
    /// Its path.
    pub path: PathBuf,
    /// Number of its records.
    pub records: u64,
    /// Sum of the CRC-32 of every record.
    pub checksum: u128,
}

/// Figures of one rank.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankReport {
    /// Records read.
    pub read_records: u64,
    /// Records written: those of its ranges.
    pub records: u64,
    /// Bytes written.
    pub bytes: u64,
    /// Sum of the CRC-32 of the records written.
    pub checksum: u128,
    /// Seconds of both phases, without opening and sampling.
    pub seconds: f64,
    /// Its slowest stage.
    pub bottleneck: String,
}

impl Report {
    /// This report with the records, bytes and checksum of all ranks, if there are several.
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

    /// Records of the largest rank over the mean; 1 is even, and for one node.
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

    /// The figures of the stage called `name`.
    pub fn stage(&self, name: &str) -> Option<&StageReport> {
        self.stages.iter().find(|stage| stage.name == name)
    }
}
