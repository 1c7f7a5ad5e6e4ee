//! The report of a run, from the figures of its stages.

use node::LOT_BYTES;
use pipeline::{StageReport, bottleneck};

use crate::job::IoChoice;
use crate::names::StageName;
use crate::passes::wiring::RunContext;
use crate::report::{DirectIo, Report, StripeReport, Warning};
use crate::stages::Settled;

/// Figures of a run that its stages do not have.
pub(crate) struct Outcome {
    pub plan: &'static str,
    pub reason: String,
    pub passes: u32,
    pub temp_peak_bytes: u64,
    /// Sorted runs of a merge.
    pub runs: Option<u64>,
    pub stripes: Option<StripeReport>,
}

impl RunContext<'_> {
    /// The report of all stages, once the account of records is settled.
    pub(crate) fn report(
        &self,
        stages: Vec<StageReport>,
        (settled, outcome): (Settled, Outcome),
    ) -> Report {
        let sum = |counts: fn(StageName) -> bool, of: fn(&StageReport) -> u64| {
            stages
                .iter()
                .filter(|stage| StageName::of(stage.name).is_some_and(counts))
                .map(of)
                .sum()
        };
        let is_sorter = |stage| stage == StageName::Sorter;
        let stripes = outcome.stripes.as_ref();
        let parity_bytes = stripes.map_or(0, |stripes| stripes.parity_bytes);
        let rebuilt = stripes.map_or(Vec::new(), |stripes| stripes.rebuilt.clone());
        let rebuilt = rebuilt.into_iter().map(Warning::Rebuilt);
        let count = settled.apart;
        let records = settled.sum.size.records;
        let lot_bytes = match self.job.contents.shuffle() {
            Some(_) => LOT_BYTES as u64,
            None => 0,
        };
        let read_lots = lot_bytes * (records + settled.dropped.size.records);
        let apart = (count > 0).then_some(Warning::Apart { count });
        Report {
            records,
            bytes: settled.bytes() - lot_bytes * records,
            dropped: settled.dropped.size.records,
            blank_lines: 0,
            header_bytes: self.job.contents.header().len() as u64,
            passes: outcome.passes,
            plan: outcome.plan,
            reason: match &self.why {
                Some(why) => format!("{}; {why}", outcome.reason),
                None => outcome.reason,
            },
            partitions: outcome.runs.unwrap_or(sum(is_sorter, |stage| stage.units)),
            seconds: 0.0,
            read_bytes: sum(StageName::reads, |stage| stage.bytes).saturating_sub(read_lots),
            written_bytes: (sum(StageName::writes, |stage| stage.bytes) + parity_bytes)
                .saturating_sub(lot_bytes * records),
            temp_peak_bytes: outcome.temp_peak_bytes,
            stripes: outcome.stripes,
            direct_io: self.direct_io(),
            checksum: settled.sum.crc,
            bottleneck: bottleneck(&stages),
            stages,
            seed: self.job.contents.shuffle(),
            sample: settled.sample,
            unevenness: settled.unevenness(),
            warnings: rebuilt.chain(apart).collect(),
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
            _ => "as requested",
        };
        DirectIo {
            read,
            write,
            reason: reason.to_owned(),
        }
    }
}

/// Stages of one name that ran at the same time, as one stage.
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

/// Adds the figures of a later phase's stages to those of the stages with the same names.
pub(crate) fn add_up(stages: &mut Vec<StageReport>, later: Vec<StageReport>) {
    for stage in side_by_side(later) {
        match stages.iter_mut().find(|known| known.name == stage.name) {
            Some(known) => known.add(&stage),
            None => stages.push(stage),
        }
    }
}
