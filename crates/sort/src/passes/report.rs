//! The report of a run, from what its stages tell.

use pipeline::{StageReport, bottleneck};

use crate::job::IoChoice;
use crate::passes::wiring::Run;
use crate::report::{DirectIo, Report};
use crate::stages::Settled;

/// What a run did beside what its stages tell.
pub(crate) struct Outcome {
    pub plan: &'static str,
    pub reason: String,
    pub passes: u32,
    pub temp_peak_bytes: u64,
    /// Sorted runs of a merge.
    pub runs: Option<u64>,
}

impl Run<'_> {
    /// The report of all stages, on records whose account is settled.
    pub(crate) fn report(
        &self,
        stages: Vec<StageReport>,
        (settled, outcome): (Settled, Outcome),
    ) -> Report {
        let sum = |names: &[&str], of: fn(&StageReport) -> u64| {
            stages
                .iter()
                .filter(|stage| names.contains(&stage.name))
                .map(of)
                .sum()
        };
        Report {
            records: settled.records,
            bytes: settled.records * self.plan.record_bytes as u64,
            passes: outcome.passes,
            plan: outcome.plan,
            reason: match &self.why {
                Some(why) => format!("{}; {why}", outcome.reason),
                None => outcome.reason,
            },
            partitions: outcome
                .runs
                .unwrap_or(sum(&["sorter"], |stage| stage.units)),
            seconds: 0.0,
            read_bytes: sum(
                &["reader", "sampler", "loader", "reloader", "run reader"],
                |stage| stage.bytes,
            ),
            written_bytes: sum(
                &["writer", "spiller", "run writer", "run merger"],
                |stage| stage.bytes,
            ),
            temp_peak_bytes: outcome.temp_peak_bytes,
            direct_io: self.direct_io(),
            checksum: settled.checksum,
            bottleneck: bottleneck(&stages),
            stages,
            sample: settled.sample,
            unevenness: settled.unevenness(),
            warnings: Vec::new(),
            moves: self.tuner.moves(),
            ranks: Vec::new(),
            written: Vec::new(),
        }
    }

    fn direct_io(&self) -> DirectIo {
        let write = self.output.as_ref().is_none_or(|output| output.is_direct());
        let read = self.inputs.is_direct();
        let reason = match (self.job.resources.io, read) {
            (IoChoice::Auto, true) => "the input is not in the page cache",
            (IoChoice::Auto, false) => "the input is in the page cache, or cannot bypass it",
            _ => "as asked for",
        };
        DirectIo {
            read,
            write,
            reason: reason.to_owned(),
        }
    }
}

/// What stages of one name did side by side, as one stage.
fn side_by_side(stages: Vec<StageReport>) -> Vec<StageReport> {
    let mut all: Vec<StageReport> = Vec::new();
    for stage in stages {
        match all.iter_mut().find(|known| known.name == stage.name) {
            Some(known) => {
                let workers = known.workers + stage.workers;
                known.add(&stage);
                known.workers = workers;
            }
            None => all.push(stage),
        }
    }
    all
}

/// Adds what stages did in a later phase to what those of the same names did before.
pub(crate) fn add_up(stages: &mut Vec<StageReport>, later: Vec<StageReport>) {
    for stage in side_by_side(later) {
        match stages.iter_mut().find(|known| known.name == stage.name) {
            Some(known) => known.add(&stage),
            None => stages.push(stage),
        }
    }
}
