//! One rank's sort under way: its parts of the input, and all that its ranges have in common.

use std::path::PathBuf;
use std::sync::Arc;

use node::{Node, Time};
use pipeline::{Failure, StageReport};

use crate::agreement::Agreement;
use crate::epochs::bounds::MOST_EPOCHS;
use crate::epochs::checkpoint::Sum;
use crate::epochs::parts::Parts;
use crate::epochs::paths::places;
use crate::epochs::range_owners::Round;
use crate::error::SortError;
use crate::files::input::Inputs;
use crate::files::output::Output;
use crate::files::spill::Spill;
use crate::job::{Job, Resume};
use crate::passes::exchange::Ports;
use crate::passes::wiring::Run;
use crate::plan::{Exchanging, Plan};
use crate::ranks::fingerprint::{Fingerprint, Part};
use crate::ranks::planning::Planning;
use crate::ranks::sampling::draw;
use crate::records::contents::Sample;
use crate::records::splitters::Splitters;
use crate::report::SampleCost;
use crate::stages::Drawn;

/// Facts that all ranges of a sort share.
#[derive(Clone)]
pub(crate) struct Common {
    /// Of a resumable sort: the job that it was started for.
    pub fingerprint: Option<Fingerprint>,
    pub division: u64,
    pub parts: Vec<Part>,
    pub epochs: u32,
    /// The splitters of the ranges, once they are chosen.
    pub ranges: Option<Vec<u8>>,
}

/// Files that are removed when the sort fails. Those of a resumable sort are not among them.
#[derive(Default)]
pub(crate) struct Unfinished {
    pub output: Option<Output>,
    pub spill: Option<Spill>,
}

/// A rank's sort under way.
pub(crate) struct Sorting<'a> {
    pub node: &'a Node,
    pub job: &'a Job,
    /// None where no records are exchanged.
    pub ports: Option<Ports>,
    pub common: Common,
    pub parts: Parts,
    pub stages: Vec<StageReport>,
    /// Whether progress of an earlier run was found.
    pub resumed: bool,
    pub sample: SampleCost,
    /// Records that this rank read.
    pub read: Sum,
    /// When the records began to move; of a resumable sort all of the run counts.
    pub began: Option<Time>,
    pub unfinished: &'a mut Unfinished,
}

impl<'a> Sorting<'a> {
    pub(crate) fn new(
        node: &'a Node,
        job: &'a Job,
        (ports, common, parts): (Option<Ports>, Common, Parts),
        unfinished: &'a mut Unfinished,
    ) -> Sorting<'a> {
        Sorting {
            node,
            job,
            ports,
            common,
            parts,
            stages: Vec::new(),
            resumed: false,
            sample: SampleCost::default(),
            read: Sum::default(),
            began: None,
            unfinished,
        }
    }

    /// The number of epochs that suits the largest part.
    pub(crate) fn epochs(job: &Job, parts: &Parts) -> u32 {
        if job.resume.is_none() {
            return 1;
        }
        if let Some(steps) = job.tuning.steps {
            return steps.clamp(1, MOST_EPOCHS);
        }
        let largest = parts.all.iter().map(|part| part.records).max().unwrap_or(0);
        let bytes = largest * job.contents.record_bytes() as u64;
        (bytes / job.resources.memory_bytes.max(1)).clamp(1, u64::from(MOST_EPOCHS)) as u32
    }

    /// Records begin to move: `bytes` of them are to be read here.
    pub(crate) fn begins_to_sort(&mut self, bytes: u64) {
        self.job.control.enter("sort", bytes);
        if self.resume().is_none() {
            self.began = Some(self.node.now());
        }
    }

    /// The job's wish to save progress.
    pub(crate) fn resume(&self) -> Option<&'a Resume> {
        self.job.resume.as_ref()
    }

    /// The directories for spill files of a range on this rank.
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
            inputs: self.parts.mine.iter().map(|part| part.files.len()).sum(),
            tuning: self.job.tuning,
        }
    }

    /// The plan of a rank without a range, in a round that exchanges or at all.
    pub(crate) fn idle(&self, exchanging: Option<&Exchanging>) -> Result<Plan, Failure> {
        let planning = self.planning(None, self.places(self.node.rank().0));
        Ok(planning.plan(0, exchanging)?)
    }

    /// A run with that plan, which reads nothing yet.
    pub(crate) fn run(&self, plan: Plan, output: Option<Arc<Output>>) -> Run<'a> {
        let inputs = match self.parts.mine.as_slice() {
            [one] if self.resume().is_none() => Arc::clone(one),
            _ => Arc::new(Inputs::none()),
        };
        Run {
            output,
            ..Run::new(self.node, self.job, plan, inputs)
        }
    }

    /// How records are exchanged, and how many places are sampled.
    pub(crate) async fn exchanging(
        &self,
        agreement: &mut Agreement,
        round: &Round,
    ) -> Result<(Exchanging, u64), Failure> {
        let ranges = self.node.nodes().max(round.owners.len() as u32);
        let output = self.unfinished.output.as_ref();
        let planning = self.planning(output, self.places(self.node.rank().0));
        let even = self.parts.total().div_ceil(round.owners.len() as u64);
        let agreed = planning.exchanging(agreement, even, ranges).await?;
        agreed.0.fits(self.job.resources.memory_bytes)?;
        Ok(agreed)
    }

    /// This rank's part of `places` that all ranks sample.
    pub(crate) async fn draw(&self, places: u64) -> Result<Drawn, Failure> {
        let mut all = Drawn::default();
        for part in &self.parts.mine {
            let own = part.records.unwrap_or(0);
            let share = places * own / self.parts.total().max(1);
            let drawn = draw(self.node, self.job, part, share).await?;
            all.sample.add(&drawn.sample);
            all.cost.add(drawn.cost);
        }
        Ok(all)
    }

    pub(crate) fn known(&self, bytes: &[u8]) -> Result<Sample, Failure> {
        let found = Sample::from_bytes(bytes, self.job.contents.record_bytes());
        let rank = self.node.rank().0;
        Ok(found.ok_or(SortError::Garbled { rank })?)
    }

    /// Splitters that an entry or another rank tells.
    pub(crate) fn splitters(&self, bytes: &[u8]) -> Result<Splitters, Failure> {
        let order = self.job.contents.order();
        let order = order.expect("real records: it was looked at before");
        let known = self.known(bytes)?;
        if !Splitters::are_ascending(order, &known) {
            let what = "says splitters that are not in order".to_owned();
            let file = self
                .resume()
                .map(|resume| resume.target.clone())
                .unwrap_or_default();
            return Err(SortError::Checkpoint { file, what }.into());
        }
        Ok(Splitters::of(order, known))
    }
}
