//! The fingerprint of a job: all ranks must have been started for the same sort.

use record::{Comparison, FormatError, Ties};
use serde::{Deserialize, Serialize};

use crate::error::SortError;
use crate::files::input::Stamp;
use crate::job::{ExchangeKind, Job, Shares, SplitterChoice, Target};
use crate::records::framing::Framing;

const OTHER_HEADER: &str = "other columns, as the header of the input names them";

/// The options of a job that all its ranks share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fingerprint {
    version: String,
    /// The format of its checkpoints. Those of before it was written are of the first.
    #[serde(default = "first_checkpoint")]
    pub checkpoint: u32,
    /// As `Comparison::describe` has it.
    pub format: String,
    pub keys: Vec<String>,
    pub stable: bool,
    pub unique: bool,
    /// Whether the last of equal records counts as the first; it is not written if it does not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    keeps_last: bool,
    /// Bytes of the header of rows, and their checksum.
    pub header: (u64, u32),
    pub exchange: ExchangeKind,
    /// Whether all ranks name the same input.
    pub shared: bool,
    together: bool,
    resume: bool,
    bytes: u64,
    /// How ranks divide the keys. Saved progress has the keys divided, and goes on with others.
    #[serde(default)]
    splitters: SplitterChoice,
    #[serde(default)]
    shares: Shares,
}

/// The format of checkpoints that this version writes and reads. It grows when their entries, or what lies in
/// spill files, change: then a checkpoint of another format is refused by name.
const CHECKPOINT: u32 = 1;

fn first_checkpoint() -> u32 {
    1
}

/// A part of the input: the records of one of the ranks that began the sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Part {
    pub bytes: u64,
    /// Delimiters that are missing at the ends of its files, and are added.
    pub added: u64,
    /// A checksum of probes (`sampling`).
    pub ends: u64,
    pub stamp: Stamp,
}

impl Part {
    /// Bytes of its records when they are written.
    pub(crate) fn out_bytes(&self) -> u64 {
        self.bytes + self.added
    }
}

impl Fingerprint {
    /// The fingerprint of a job whose inputs are not open yet.
    pub(crate) fn of(job: &Job) -> Result<Fingerprint, SortError> {
        let header = job.contents.header();
        // Records that are only counted have a length, and no order that ranks could differ in.
        let counted = || {
            (
                format!("fixed:{}", job.contents.framing().longest()),
                Vec::new(),
            )
        };
        let order = job.contents.comparison();
        let (format, keys) = order.map_or_else(counted, |order| order.describe());
        Ok(Fingerprint {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            checkpoint: CHECKPOINT,
            format,
            keys,
            stable: job.contents.is_stable(),
            unique: job.contents.is_unique(),
            keeps_last: job.contents.keeps_last(),
            header: (header.len() as u64, kernel::block_crc(header)),
            exchange: job.exchange,
            shared: job.shared,
            together: matches!(job.target, Target::Together(_)),
            resume: job.resume.is_some(),
            bytes: 0,
            splitters: job.splitters,
            shares: job.shares.clone(),
        })
    }

    /// Where the records end.
    ///
    /// # Errors
    /// When its order is none.
    pub(crate) fn framing(&self) -> Result<Framing, FormatError> {
        let ties = if self.stable {
            Ties::Position
        } else {
            Ties::Record
        };
        let order = Comparison::parse(&self.format, &self.keys, ties)?;
        Ok(Framing::ending(order.framing()))
    }

    /// The fingerprint with the length of the inputs.
    pub(crate) fn new(job: &Job, bytes: u64) -> Result<Fingerprint, SortError> {
        let own = Fingerprint::of(job)?;
        Ok(Fingerprint { bytes, ..own })
    }

    /// The first difference from `other`, in words.
    pub(crate) fn difference(&self, other: &Fingerprint) -> Option<String> {
        let differs = |what: &str, ours: &dyn ToString, theirs: &dyn ToString| {
            let (ours, theirs) = (ours.to_string(), theirs.to_string());
            (ours != theirs).then(|| format!("{what} {ours}, not {theirs}"))
        };
        let keys = |fingerprint: &Fingerprint| format!("[{}]", fingerprint.keys.join(" "));
        differs("version", &self.version, &other.version)
            .or_else(|| differs("checkpoint format", &self.checkpoint, &other.checkpoint))
            .or_else(|| differs("--format", &self.format, &other.format))
            .or_else(|| differs("keys", &keys(self), &keys(other)))
            .or_else(|| differs("--stable", &self.stable, &other.stable))
            .or_else(|| differs("-u", &self.unique, &other.unique))
            .or_else(|| differs("--keep last", &self.keeps_last, &other.keeps_last))
            .or_else(|| differs("--exchange", &self.exchange.name(), &other.exchange.name()))
            .or_else(|| differs("--resume", &self.resume, &other.resume))
            .or_else(|| differs("a shared input", &self.shared, &other.shared))
            .or_else(|| {
                differs(
                    "one output for all (-o without {rank})",
                    &self.together,
                    &other.together,
                )
            })
            .or_else(|| {
                let bytes = differs("input bytes", &self.bytes, &other.bytes);
                bytes.filter(|_| self.shared)
            })
            .or_else(|| (self.header != other.header).then(|| OTHER_HEADER.to_owned()))
    }
}

/// The first option of the division of keys that differs, which only the ranks of one run must share.
fn other_division(one: &Fingerprint, other: &Fingerprint) -> Option<String> {
    let differs = |is: bool, option: &str| is.then(|| format!("another {option}"));
    differs(one.splitters != other.splitters, "--splitters")
        .or_else(|| differs(one.shares != other.shares, "--shares"))
}

/// # Errors
/// When ranks were started for different sorts, with the same error on all ranks.
pub(crate) fn check_same(fingerprints: &[Fingerprint]) -> Result<(), SortError> {
    for (rank, fingerprint) in (0..).zip(fingerprints) {
        let first = &fingerprints[0];
        let what = fingerprint.difference(first);
        if let Some(what) = what.or_else(|| other_division(fingerprint, first)) {
            return Err(SortError::Different { rank, what });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_checkpoint_of_another_format_is_told_by_that() {
        let mut text = json!({
            "version": "0.1.0", "format": "lines", "keys": [], "stable": false, "unique": false,
            "header": [0, 0], "exchange": ExchangeKind::default(), "shared": false, "together": false,
            "resume": true, "bytes": 7,
        });
        let read =
            |text: &serde_json::Value| serde_json::from_value::<Fingerprint>(text.clone()).unwrap();
        // Those that name none are of the first.
        let first = read(&text);
        assert_eq!(first.checkpoint, CHECKPOINT);
        text["checkpoint"] = (CHECKPOINT + 1).into();
        let told = read(&text).difference(&first).unwrap();
        assert_eq!(
            told,
            format!("checkpoint format {}, not {CHECKPOINT}", CHECKPOINT + 1)
        );
    }
}
