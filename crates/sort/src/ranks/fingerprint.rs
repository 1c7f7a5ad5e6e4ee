//! The fingerprint of a job: all ranks must have been started for the same sort.

use serde::{Deserialize, Serialize};

use crate::error::SortError;
use crate::job::{ExchangeKind, Job, Target};

/// Files of one name and length that differ.
const OTHER_INPUT: &str =
    "its input differs from that of rank 0 (if each rank has its own, put {rank} in the name)";

/// The options of a job that all its ranks share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fingerprint {
    version: String,
    pub record_bytes: usize,
    /// In the syntax of `--key`.
    keys: Vec<String>,
    stable: bool,
    pub exchange: ExchangeKind,
    /// Whether all ranks name the same input.
    pub shared: bool,
    together: bool,
    resume: bool,
    bytes: u64,
    /// A checksum of probes, if all ranks name the same input (`sampling`).
    ends: u64,
}

/// A part of the input: the records of one of the ranks that began the sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Part {
    pub bytes: u64,
    /// A checksum of probes (`sampling`).
    pub ends: u64,
}

impl Fingerprint {
    /// The fingerprint of a job whose inputs are not open yet.
    pub(crate) fn of(job: &Job) -> Result<Fingerprint, SortError> {
        let order = job
            .contents
            .order()
            .ok_or_else(|| refused("records are only counted"))?;
        Ok(Fingerprint {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            record_bytes: order.record_bytes(),
            keys: order.keys().iter().map(ToString::to_string).collect(),
            stable: job.contents.is_stable(),
            exchange: job.exchange,
            shared: job.shared,
            together: matches!(job.target, Target::Together(_)),
            resume: job.resume.is_some(),
            bytes: 0,
            ends: 0,
        })
    }

    /// The fingerprint with the length of the inputs and the checksum of their probes.
    pub(crate) fn new(job: &Job, bytes: u64, ends: u64) -> Result<Fingerprint, SortError> {
        Ok(Fingerprint {
            bytes,
            ends,
            ..Fingerprint::of(job)?
        })
    }

    /// The first difference from `other`, in words.
    pub(crate) fn difference(&self, other: &Fingerprint) -> Option<String> {
        let differs = |what: &str, ours: &dyn ToString, theirs: &dyn ToString| {
            let (ours, theirs) = (ours.to_string(), theirs.to_string());
            (ours != theirs).then(|| format!("{what} {ours}, not {theirs}"))
        };
        let keys = |fingerprint: &Fingerprint| format!("[{}]", fingerprint.keys.join(" "));
        differs("version", &self.version, &other.version)
            .or_else(|| differs("record length", &self.record_bytes, &other.record_bytes))
            .or_else(|| differs("keys", &keys(self), &keys(other)))
            .or_else(|| differs("--stable", &self.stable, &other.stable))
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
            .or_else(|| (self.ends != other.ends).then(|| OTHER_INPUT.to_owned()))
    }
}

fn refused(what: &str) -> SortError {
    SortError::NotDivisible {
        what: what.to_owned(),
    }
}

/// # Errors
/// When ranks were started for different sorts, with the same error on all ranks.
pub(crate) fn check_same(fingerprints: &[Fingerprint]) -> Result<(), SortError> {
    for (rank, fingerprint) in (0..).zip(fingerprints) {
        if let Some(what) = fingerprint.difference(&fingerprints[0]) {
            return Err(SortError::Different { rank, what });
        }
    }
    Ok(())
}
