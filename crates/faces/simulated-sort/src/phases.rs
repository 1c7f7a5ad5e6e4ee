//! The phases of a predicted sort (TritonSort 2.5), from the times of its stages.
//!
//! ```text
//! sample      on several nodes, before the keys are divided; a node alone samples in phase one
//! phase one   read, distribute, spill    or: form sorted runs
//! phase two   load, sort, write          or: merge the runs
//! the rest    open files, agree, make the output durable
//! ```
//!
//! A stage lives from the beginning of its pipeline until its last unit, so the last stage of a phase tells
//! the length of the phase. One pass has the same phases: the first reads, and the second writes.

use pipeline::{StageReport, bottleneck};
use sort::{Report, StageName};

use crate::prediction::Prediction;

/// The time of a phase, on the node that is slowest in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhaseTime {
    /// Its name; [`PhaseTime::ONE`] and [`PhaseTime::TWO`] are always there.
    pub name: &'static str,
    /// From its beginning to its end.
    pub seconds: f64,
    /// The stage of the phase whose workers were busiest; the rest has none.
    pub bottleneck: Option<&'static str>,
}

impl PhaseTime {
    /// From the first read to the last spilled chunk, divisions of large partitions included.
    pub const ONE: &'static str = "phase one";
    /// From the first partition that is read back or sorted to the last write.
    pub const TWO: &'static str = "phase two";
}

impl Prediction {
    /// The phases in their order, and the rest of the time behind them.
    pub fn phases(&self) -> Vec<PhaseTime> {
        let samples = self.reports.iter().map(|report| report.sample.seconds);
        let mut phases = Vec::new();
        if self.reports.len() > 1 {
            phases.push(PhaseTime {
                name: "sample",
                seconds: samples.fold(0.0, f64::max),
                bottleneck: Some(StageName::Sampler.name()),
            });
        }
        phases.extend([PhaseTime::ONE, PhaseTime::TWO].map(|name| self.phase(name)));
        let known: f64 = phases.iter().map(|phase| phase.seconds).sum();
        phases.push(PhaseTime {
            name: "the rest",
            seconds: (self.seconds - known).max(0.0),
            bottleneck: None,
        });
        phases
    }

    pub(crate) fn phase(&self, name: &'static str) -> PhaseTime {
        let is_two = name == PhaseTime::TWO;
        let life = |report: &Report| phase_s(report, is_two);
        let nodes = self.reports.iter();
        let slowest = nodes.max_by(|a, b| life(a).total_cmp(&life(b)));
        let slowest = slowest.expect("a node at least");
        let stages = slowest.stages.iter();
        let merges = slowest.plan == "merge";
        let of_phase = stages.filter(|stage| is_of_phase_two(stage, merges) == is_two);
        PhaseTime {
            name,
            seconds: life(slowest),
            bottleneck: Some(bottleneck(&of_phase.cloned().collect::<Vec<_>>())),
        }
    }
}

/// Seconds of a phase on a node.
pub(crate) fn phase_s(report: &Report, is_two: bool) -> f64 {
    let last: &[StageName] = if is_two {
        &[StageName::Writer]
    } else {
        &[StageName::PartitionBuffers, StageName::Loads]
    };
    let stage = last.iter().find_map(|last| report.stage(last.name()));
    stage.map_or(0.0, |stage| stage.alive_s() / stage.workers.max(1) as f64)
}

pub(crate) fn is_of_phase_two(stage: &StageReport, merges: bool) -> bool {
    use StageName::{Counter, Loader, Merger, RunMerger, RunReader, Slicer, Sorter, Writer};
    match StageName::of(stage.name) {
        Some(Sorter) => !merges,
        Some(Loader | Counter | RunReader | RunMerger | Slicer | Merger | Writer) => true,
        _ => false,
    }
}
