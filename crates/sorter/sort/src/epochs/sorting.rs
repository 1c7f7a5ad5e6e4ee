//! One rank's part of a running sort: its parts of the input, and facts that all its ranges share.

use std::path::PathBuf;
use std::sync::Arc;

use node::{Node, Time};
use pipeline::{Failure, StageReport};

use crate::agreement::Agreement;
use crate::epochs::bounds::MOST_EPOCHS;
use crate::epochs::parts::Parts;
use crate::epochs::paths::places;
use crate::epochs::range_owners::Round;
use crate::error::SortError;
use crate::files::bad_rows::BadRows;
use crate::files::input::Inputs;
use crate::files::output::Output;
use crate::files::spill::Spill;
use crate::job::{Job, Resume, SplitterChoice};
use crate::names::Phase;
use crate::passes::exchange::Ports;
use crate::passes::wiring::RunContext;
use crate::plan::{Exchanging, Plan};
use crate::ranks::fingerprint::{Fingerprint, Part};
use crate::ranks::planning::Planning;
use crate::ranks::sampling::draw;
use crate::records::sample::Sample;
use crate::records::size::{Sum, portion};
use crate::records::splitters::Splitters;
use crate::report::SampleCost;
use crate::stages::{Drawn, Sifted};

/// Facts that all ranges of a sort share.
#[derive(Clone)]
pub(crate) struct SharedFacts {
    /// `None` in a sort on one node without `--resume`.
    pub fingerprint: Option<Fingerprint>,
    pub division: u64,
    pub parts: Vec<Part>,
    pub epochs: u32,
    /// The splitters of the ranges ([`Sample::to_bytes`]), once they are chosen.
    pub ranges: Option<Vec<u8>>,
}

/// Files to remove if the sort fails. Those of a resumable sort stay.
#[derive(Default)]
pub(crate) struct Unfinished {
    pub output: Option<Output>,
    pub spill: Option<Spill>,
    pub bad_rows: Option<BadRows>,
}

pub(crate) struct RankSort<'a> {
    pub node: &'a Node,
    pub job: &'a Job,
    /// `None` if no records are exchanged.
    pub ports: Option<Ports>,
    pub common: SharedFacts,
    pub parts: Parts,
    pub stages: Vec<StageReport>,
    /// The percentage of the work that an earlier run has done, if its progress was found.
    pub percent_resumed: Option<u32>,
    pub sample: SampleCost,
    /// Records that this rank has read.
    pub read: Sum,
    pub sifted: Sifted,
    /// When records began to move; `None` in a resumable sort, where the whole run counts.
    pub began: Option<Time>,
    pub unfinished: &'a mut Unfinished,
}

impl<'a> RankSort<'a> {
    pub(crate) fn new(
        node: &'a Node,
        job: &'a Job,
        (ports, common, parts): (Option<Ports>, SharedFacts, Parts),
        unfinished: &'a mut Unfinished,
    ) -> RankSort<'a> {
        RankSort {
            node,
            job,
            ports,
            common,
            parts,
            stages: Vec::new(),
            percent_resumed: None,
            sample: SampleCost::default(),
            read: Sum::default(),
            sifted: Sifted::default(),
            began: None,
            unfinished,
        }
    }

    /// The number of epochs: each reads as much of the largest part as memory holds.
    pub(crate) fn epochs(job: &Job, parts: &Parts) -> u32 {
        if job.resume.is_none() {
            return 1;
        }
        if let Some(steps) = job.tuning.steps {
            return steps.clamp(1, MOST_EPOCHS);
        }
        let largest = parts.all.iter().map(|part| part.bytes).max().unwrap_or(0);
        (largest / job.resources.memory_bytes.max(1)).clamp(1, u64::from(MOST_EPOCHS)) as u32
    }

    /// Notes that records begin to move: this rank will read `bytes`.
    pub(crate) fn begins_to_sort(&mut self, bytes: u64) {
        self.job.control.enter(Phase::Sort.name(), bytes);
        if self.resume().is_none() {
            self.began = Some(self.node.now());
        }
    }

    pub(crate) fn resume(&self) -> Option<&'a Resume> {
        self.job.resume.as_ref()
    }

    /// The directories for this rank's spill files of a range.
    pub(crate) fn places(&self, range: u32) -> Vec<PathBuf> {
        match (self.resume(), &self.unfinished.output) {
            (Some(resume), _) => places(resume, self.node.rank().0, range),
            (None, Some(output)) => output.spill_directories(self.job),
            (None, None) => self.job.temporary.clone(),
        }
    }

    pub(crate) fn planning<'p>(
        &'p self,
        output: Option<&'p Output>,
        places: Vec<PathBuf>,
    ) -> Planning<'p> {
        Planning {
            node: self.node,
            job: self.job,
            output,
            temporary: places,
            parts: &self.parts.mine,
            tuning: self.job.tuning,
        }
    }

    /// The plan of a rank that has no range in a round.
    pub(crate) fn idle_plan(&self, exchanging: Option<&Exchanging>) -> Result<Plan, Failure> {
        let planning = self.planning(None, self.places(self.node.rank().0));
        Ok(planning.plan(0, exchanging)?)
    }

    pub(crate) fn run(&self, plan: Plan, output: Option<Arc<Output>>) -> RunContext<'a> {
        let inputs = match self.parts.mine.as_slice() {
            [one] if self.resume().is_none() => Arc::clone(one),
            _ => Arc::new(Inputs::none(self.job.contents.framing())),
        };
        RunContext {
            output,
            sifted: self.sifted.clone(),
            bad_rows: self.unfinished.bad_rows.clone(),
            ..RunContext::new(self.node, self.job, plan, inputs)
        }
    }

    /// Plans the exchange. Also returns the number of places to sample.
    pub(crate) async fn exchanging(
        &self,
        agreement: &mut Agreement,
        round: &Round,
    ) -> Result<(Exchanging, u64), Failure> {
        let ranges = self.node.nodes().max(round.owners.len() as u32);
        let output = self.unfinished.output.as_ref();
        let planning = self.planning(output, self.places(self.node.rank().0));
        let even = self.parts.total().div_ceil(round.owners.len() as u64);
        planning.exchanging(agreement, even, ranges).await
    }

    /// Draws this rank's share of the `places` that all ranks sample.
    pub(crate) async fn draw(&self, places: u64) -> Result<Drawn, Failure> {
        let mut all = Drawn::none(self.job.contents.framing());
        // A range that was lost is sampled: the splitters of ranges are known.
        if self.job.splitters == SplitterChoice::Even && self.common.ranges.is_none() {
            return Ok(all);
        }
        for part in &self.parts.mine {
            let own = part.bytes.unwrap_or(0);
            let share = portion(places, own, self.parts.total());
            let drawn = draw(self.node, self.job, part, share).await?;
            all.sample.add(&drawn.sample);
            all.cost.add(drawn.cost);
        }
        Ok(all)
    }

    pub(crate) fn parse_sample(&self, bytes: &[u8]) -> Result<Sample, Failure> {
        let found = Sample::from_bytes(bytes, self.job.contents.framing());
        let rank = self.node.rank().0;
        Ok(found.ok_or(SortError::Garbled { rank })?)
    }

    /// Splitters from an entry or from another rank.
    pub(crate) fn parse_splitters(&self, bytes: &[u8]) -> Result<Splitters, Failure> {
        let known = self.parse_sample(bytes)?;
        let Some(known) = self.job.contents.known_splitters(known) else {
            let what = "has splitters that are not in order".to_owned();
            let file = self
                .resume()
                .map(|resume| resume.target.clone())
                .unwrap_or_default();
            return Err(SortError::Checkpoint { file, what }.into());
        };
        Ok(known)
    }
}
