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
        phases.extend([Phase::One, Phase::Two].map(|phase| self.phase(phase)));
        let known: f64 = phases.iter().map(|phase| phase.seconds).sum();
        phases.push(PhaseTime {
            name: "the rest",
            seconds: (self.seconds - known).max(0.0),
            bottleneck: None,
        });
        phases
    }

    pub(crate) fn phase(&self, phase: Phase) -> PhaseTime {
        let life = |report: &Report| phase.seconds(report);
        let nodes = self.reports.iter();
        let slowest = nodes.max_by(|a, b| life(a).total_cmp(&life(b)));
        let slowest = slowest.expect("a node at least");
        let stages = slowest.stages.iter();
        let of_phase = stages.filter(|stage| Phase::of(stage, slowest.plan) == phase);
        PhaseTime {
            name: phase.name(),
            seconds: life(slowest),
            bottleneck: Some(bottleneck(&of_phase.cloned().collect::<Vec<_>>())),
        }
    }
}

/// Phase one or two of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    One,
    Two,
}

impl Phase {
    /// The phase of a stage, in a sort by the plan of this name.
    pub(crate) fn of(stage: &StageReport, plan: &str) -> Phase {
        use StageName::{Counter, Loader, Merger, RunMerger, RunReader, Slicer, Sorter, Writer};
        match StageName::of(stage.name) {
            // It sorts the runs before they are merged.
            Some(Sorter) if plan == "merge" => Phase::One,
            Some(Sorter | Loader | Counter | RunReader | RunMerger | Slicer | Merger | Writer) => {
                Phase::Two
            }
            _ => Phase::One,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Phase::One => PhaseTime::ONE,
            Phase::Two => PhaseTime::TWO,
        }
    }

    /// Its seconds on a node.
    pub(crate) fn seconds(self, report: &Report) -> f64 {
        let last: &[StageName] = match self {
            Phase::One => &[StageName::PartitionBuffers, StageName::Loads],
            Phase::Two => &[StageName::Writer],
        };
        let stage = last.iter().find_map(|last| report.stage(last.name()));
        stage.map_or(0.0, |stage| stage.alive_s() / stage.workers.max(1) as f64)
    }
}
