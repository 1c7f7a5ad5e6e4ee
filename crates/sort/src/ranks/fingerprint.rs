//! What a rank was started for: all must have been started for the same, and together they have one
//! input.

use node::{Node, Rank};
use pipeline::Failure;
use serde::{Deserialize, Serialize};

use crate::error::SortError;
use crate::files::input::Inputs;
use crate::job::{ExchangeKind, Job, Target};

/// Two files of one name and length.
const OTHER_INPUT: &str =
    "its input is another one (if each rank has its own, put {rank} in the name)";

/// What a rank says of its job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fingerprint {
    version: String,
    pub record_bytes: usize,
    /// As `--key` has them.
    keys: Vec<String>,
    stable: bool,
    pub exchange: ExchangeKind,
    /// Whether all ranks name the same input.
    pub shared: bool,
    /// Whether they write one output.
    together: bool,
    /// Whether it is to be gone on with.
    resume: bool,
    /// Records of its inputs.
    records: u64,
    /// Of an input that all ranks name, what tells it from another one of that length.
    ends: u64,
}

/// A part of the input: what one rank reads at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Part {
    pub records: u64,
    /// What tells it from another one of that length.
    pub ends: u64,
}

impl Fingerprint {
    /// What a rank says before it has looked at its inputs.
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
            records: 0,
            ends: 0,
        })
    }

    /// # Errors
    /// When its inputs cannot be looked at before they are read.
    pub(crate) fn new(job: &Job, inputs: &Inputs, ends: u64) -> Result<Fingerprint, SortError> {
        let records = inputs
            .records
            .ok_or_else(|| refused("an input is a pipe"))?;
        Ok(Fingerprint {
            records,
            ends,
            ..Fingerprint::of(job)?
        })
    }

    /// What of it is not as the other says.
    pub(crate) fn difference(&self, other: &Fingerprint) -> Option<String> {
        let differs = |what: &str, ours: &dyn ToString, theirs: &dyn ToString| {
            let (ours, theirs) = (ours.to_string(), theirs.to_string());
            (ours != theirs).then(|| format!("{what} {ours}, not {theirs}"))
        };
        let keys = |statement: &Fingerprint| format!("[{}]", statement.keys.join(" "));
        differs("version", &self.version, &other.version)
            .or_else(|| differs("records of bytes", &self.record_bytes, &other.record_bytes))
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
                let counts = differs("records", &self.records, &other.records);
                counts.filter(|_| self.shared)
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
/// When ranks were started for different sorts: the same one on all of them.
pub(crate) fn same(statements: &[Fingerprint]) -> Result<(), SortError> {
    for (rank, statement) in (0..).zip(statements) {
        if let Some(what) = statement.difference(&statements[0]) {
            return Err(SortError::Different { rank, what });
        }
    }
    Ok(())
}

/// The records of all ranks; leaves this one with its part of the input, at its place in the whole.
///
/// # Errors
/// When ranks were started for different sorts: the same one on all of them.
pub(crate) fn settle(
    statements: &[Fingerprint],
    node: &Node,
    inputs: &mut Inputs,
) -> Result<u64, Failure> {
    same(statements)?;
    let Rank(rank) = node.rank();
    if statements[0].shared {
        let total = statements[0].records;
        *inputs = inputs.part(rank, node.nodes());
        return Ok(total);
    }
    let records = |all: &[Fingerprint]| all.iter().map(|statement| statement.records).sum();
    inputs.base = records(&statements[..rank as usize]);
    Ok(records(statements))
}
