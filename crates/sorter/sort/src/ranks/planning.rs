//! The plan of a rank: the exchange, and the sort of its own range, in one memory limit.

mod proposal;

use std::path::PathBuf;
use std::sync::Arc;

use node::{CodingMemory, Node};
use pipeline::Failure;

use crate::error::{SortError, asked};
use crate::files::disk_space::Demand;
use crate::files::input::Inputs;
use crate::files::input::index::Index;
use crate::files::output::Output;
use crate::job::{Job, LongestLine, Resources, SpillLayout, Tuning};
use crate::passes::choice::choose;
use crate::passes::merge_inputs::{inputs_at_once, merges_inputs};
use crate::passes::survey;
use crate::plan::{Exchanging, Plan, Shape, Sources};
use crate::stages::Counter;

const MIB: u64 = 1 << 20;

/// Copies of the header in memory: as it was read, its names, that of the order, and that of the output.
const HEADER_COPIES: u64 = 4;

/// No limit does where a refusal names as much: the tuning leaves no plan.
const NEVER_BYTES: u64 = 1 << 50;

/// Limits that are planned for, before a refusal names one: each is larger than the one before, and the
/// parts that grow with it are a small share.
const MOST_CONFIRMATIONS: usize = 32;

/// Everything that a plan depends on, except the size of the input.
#[derive(Clone)]
pub(crate) struct Planning<'a> {
    pub node: &'a Node,
    pub job: &'a Job,
    /// The output of the range; `None` for a rank without a range.
    pub output: Option<&'a Output>,
    pub temporary: Vec<PathBuf>,
    /// The parts of the input that this rank reads.
    pub parts: &'a [Arc<Inputs>],
    pub tuning: Tuning,
}

impl Planning<'_> {
    fn shape(&self, bytes: Option<u64>, decompressing: CodingMemory) -> Shape {
        let compressing = self.output.map(Output::coding_memory).unwrap_or_default();
        let indexes = || self.parts.iter().flat_map(|part| part.indexes());
        let longest_unit = indexes().map(Index::longest_unit).max();
        let header = self.job.contents.header().len() as u64;
        let inputs = self.parts.iter().map(|part| part.memory_bytes());
        let sources = Sources {
            longest_unit: longest_unit.unwrap_or(0) as usize,
            memory_bytes: inputs.sum::<u64>() + HEADER_COPIES * header,
            devices: self
                .parts
                .iter()
                .map(|part| part.devices())
                .max()
                .unwrap_or(1),
        };
        Shape {
            coding: [decompressing, compressing],
            inputs: self.parts.iter().map(|part| part.files.len()).sum(),
            sources,
            bytes,
            is_about: false,
            framing: self.job.contents.framing(),
            sequential_output: self.output.is_some_and(Output::is_sequential),
            outputs: self
                .output
                .map_or(1, |output| output.directories().len().max(1)),
            stable: self.job.contents.is_stable(),
            temporary: self.temporary.len(),
            pack: self.job.pack,
            spill_layout: self.spill_layout(bytes),
            stripe: self.job.stripe,
        }
    }

    /// Where chunks of partitions lie. Their sizes must be known, and several partitions be read at once; a
    /// limit has no room for areas that are not filled, and progress is saved of logs.
    fn spill_layout(&self, bytes: Option<u64>) -> SpillLayout {
        let job = self.job;
        let in_order = job.contents.is_unique()
            || job.contents.joins()
            || self.output.is_some_and(Output::is_sequential);
        let is_log =
            in_order || bytes.is_none() || job.resume.is_some() || job.temporary_limit.is_some();
        if is_log {
            SpillLayout::Log
        } else {
            job.spill_layout
        }
    }

    /// The plan of a sort on this node alone, and its reason if that is not memory alone.
    pub(crate) async fn alone(
        &self,
        inputs: &Arc<Inputs>,
    ) -> Result<(Plan, Option<String>), Failure> {
        let chosen = match self.choose_within(self.job, inputs).await {
            Err(failure) => return Err(self.confirmed(failure, inputs).await),
            Ok(chosen) => chosen,
        };
        if let Some(bytes) = chosen.0.input_bytes {
            let temporary_bytes = match merges_inputs(self.job, inputs, self.output) {
                // Some inputs are merged into runs first.
                true if inputs.files.len() > inputs_at_once(self.job, &chosen.0) => bytes,
                true => 0,
                false => chosen.0.temporary_bytes(),
            };
            self.demand(&chosen.0, temporary_bytes).await?;
        }
        Ok(chosen)
    }

    async fn choose_within(
        &self,
        job: &Job,
        inputs: &Arc<Inputs>,
    ) -> Result<(Plan, Option<String>), Failure> {
        let shape = Shape {
            framing: job.contents.framing(),
            ..self.shape(inputs.bytes, inputs.coding)
        };
        if job.contents.joins() {
            self.choose_beside_counter(job, &shape, inputs).await
        } else {
            choose(self.node, job, &shape, inputs).await
        }
    }

    /// A refusal with the least limit that is not refused. With more memory buffers have room for longer
    /// lines, and what is left is divided in other ways; so the limit that a refusal names is planned
    /// for, too.
    async fn confirmed(&self, mut refused: Failure, inputs: &Arc<Inputs>) -> Failure {
        let limit = self.job.resources.memory_bytes;
        let mut named = 0;
        for _ in 0..MOST_CONFIRMATIONS {
            let Some(needed) = needed_by(&refused).filter(|&needed| needed < NEVER_BYTES) else {
                return refused;
            };
            named = asked(needed).max(named + MIB);
            match self.fits(named, inputs).await {
                Err(more) if needed_by(&more).is_some() => refused = refused_with(more, 0, limit),
                Err(_) => return refused,
                Ok(()) => break,
            }
        }
        while named > limit + MIB && self.fits(named - MIB, inputs).await.is_ok() {
            named -= MIB;
            refused = named_by(refused, named);
        }
        refused
    }

    /// Whether a sort with another limit has a plan: at its first attempt, or as this one.
    async fn fits(&self, memory_bytes: u64, inputs: &Arc<Inputs>) -> Result<(), Failure> {
        if self.job.longest_line == LongestLine::Measured {
            let seen = self.plans(memory_bytes, LongestLine::Seen, inputs).await;
            let longest = self.job.contents.framing().longest();
            // Otherwise a line would be longer than the buffers, and all are measured.
            if seen.is_ok_and(|room| room >= longest) {
                return Ok(());
            }
        }
        let plans = self.plans(memory_bytes, self.job.longest_line, inputs);
        plans.await.map(drop)
    }

    /// The longest line that its plan with another limit has room for.
    async fn plans(
        &self,
        memory_bytes: u64,
        longest_line: LongestLine,
        inputs: &Arc<Inputs>,
    ) -> Result<usize, Failure> {
        let resources = Resources {
            memory_bytes,
            ..self.job.resources
        };
        let mut job = Job {
            resources,
            longest_line,
            ..self.job.clone()
        };
        // What was measured is known.
        let is_known = longest_line == LongestLine::Measured || job.resume.is_some();
        if !job.contents.framing().is_fixed() && !is_known {
            let lengths = survey::lengths(self.node, &job, inputs).await?;
            let contents = survey::with_lengths(&*job.contents, lengths);
            job.contents = contents.unwrap_or(job.contents);
        }
        self.choose_within(&job, inputs).await?;
        Ok(job.contents.framing().longest())
    }

    /// The plan of a sort whose lines are counted, in the memory that the counter leaves.
    async fn choose_beside_counter(
        &self,
        job: &Job,
        shape: &Shape,
        inputs: &Arc<Inputs>,
    ) -> Result<(Plan, Option<String>), Failure> {
        let (taken, given) = (Counter::bytes(&*job.contents, shape.framing), job.resources);
        let resources = Resources {
            memory_bytes: given.memory_bytes.saturating_sub(taken),
            ..given
        };
        let job = Job {
            resources,
            ..job.clone()
        };
        let chosen = choose(self.node, &job, shape, inputs).await;
        chosen.map_err(|failure| refused_with(failure, taken, given.memory_bytes))
    }

    /// The plan for this rank's range of `bytes` bytes, in the memory that the exchange leaves.
    pub(crate) fn plan(
        &self,
        bytes: u64,
        exchanging: Option<&Exchanging>,
    ) -> Result<Plan, SortError> {
        let limit = self.job.resources.memory_bytes;
        // A plan that is proposed counts on the largest exchange. So does one that is resumed: its chunks
        // have to fit beside the exchange of a later session, too.
        let rest = Exchanging::rest(limit);
        let known = exchanging.filter(|_| self.job.resume.is_none());
        let memory_bytes = known.map_or(rest, |exchanging| {
            rest.max(limit.saturating_sub(exchanging.all_bytes()))
        });
        let given = Resources {
            memory_bytes,
            ..self.job.resources
        };
        // Its pools are for the distributors and units of the exchange.
        let tuning = exchanging.map_or(self.tuning, |exchanging| Tuning {
            unit_bytes: Some(exchanging.read_bytes),
            distributors: Some(exchanging.distributors),
            node_distributors: Some(exchanging.node_distributors),
            ..self.tuning
        });
        let shape = Shape {
            is_about: true,
            ..self.shape(Some(bytes), CodingMemory::default())
        };
        let with = |tuning: &Tuning| Plan::two_pass(&shape, &given, tuning);
        let plan = with(&tuning).or_else(|refused| {
            if exchanging.is_some() || tuning.chunks.is_none() {
                return Err(refused);
            }
            // As many chunks as are asked for may fit beside the exchange as it turns out.
            let chunks = None;
            with(&Tuning { chunks, ..tuning })
        });
        plan.map_err(|refused| {
            let SortError::TooLittleMemory { needed, .. } = refused else {
                return refused;
            };
            let most = Exchanging::with_rest(needed) - needed;
            let beside = known.map_or(most, |exchanging| most.min(exchanging.all_bytes()));
            with_memory(refused, beside, limit)
        })
    }

    /// The plan for a range of `bytes` bytes, once its disk space is reserved.
    pub(crate) async fn prepare(
        &self,
        bytes: u64,
        exchanging: &Exchanging,
    ) -> Result<Plan, Failure> {
        exchanging.fits(self.job.resources.memory_bytes)?;
        // Reads are cut as they were when the exchange was planned.
        let plan = self.plan(bytes, Some(exchanging))?;
        self.demand(&plan, plan.temporary_bytes()).await?;
        Ok(plan)
    }

    /// # Errors
    /// When the disks have no room for the output and `temporary_bytes` of spill files.
    pub(crate) async fn demand(&self, plan: &Plan, temporary_bytes: u64) -> Result<(), Failure> {
        let Some(output) = self.output else {
            return Ok(());
        };
        self.keeps_to_limit(temporary_bytes)?;
        let own = plan.input_bytes.unwrap_or(0);
        let (output_bytes, beside) = output.due(self.node, own, temporary_bytes);
        // The length of a compressed output is not known, and a pipe has no directory.
        let outputs = if output.is_sequential() {
            Vec::new()
        } else {
            output.directories()
        };
        let temporary = self.temporary.clone();
        // Beside a file that all ranks write, all ranks spill.
        let temporary_bytes = if self.job.temporary.is_empty() {
            beside
        } else {
            temporary_bytes
        };
        let demand = Demand {
            outputs,
            output_bytes,
            temporary,
            temporary_bytes,
        };
        demand.check(self.node).await?;
        output.reserve(self.node, output_bytes).await
    }

    /// # Errors
    /// When spill files of about that size are more than the job may have. The size supposes that no
    /// record is dropped, so a sort that drops some is not refused before it meets the limit.
    fn keeps_to_limit(&self, temporary_bytes: u64) -> Result<(), SortError> {
        let drops = self.job.contents.is_unique() || self.job.top.is_some();
        let limit = self.job.temporary_limit.filter(|_| !drops);
        match limit.filter(|&limit| limit < temporary_bytes) {
            None => Ok(()),
            Some(limit) => Err(SortError::TemporaryLimit {
                needed: Some(temporary_bytes),
                limit,
            }),
        }
    }
}

/// A refusal of a plan in a part of the `limit`: `more` memory is needed beside it.
fn with_memory(refused: SortError, more: u64, limit: u64) -> SortError {
    match refused {
        SortError::TooLittleMemory {
            bytes,
            needed,
            passes,
            ..
        } => SortError::TooLittleMemory {
            bytes,
            needed: needed + more,
            limit,
            passes,
        },
        refused => refused,
    }
}

fn refused_with(failure: Failure, more: u64, limit: u64) -> Failure {
    match failure {
        Failure::Program(error) => match error.downcast::<SortError>() {
            Ok(refused) => with_memory(*refused, more, limit).into(),
            Err(error) => Failure::Program(error),
        },
        failure => failure,
    }
}

/// A refusal that names this memory.
fn named_by(mut failure: Failure, memory_bytes: u64) -> Failure {
    if let Failure::Program(error) = &mut failure
        && let Some(SortError::TooLittleMemory { needed, .. }) = error.downcast_mut()
    {
        *needed = memory_bytes;
    }
    failure
}

/// The memory that a refusal names, if it is one.
fn needed_by(failure: &Failure) -> Option<u64> {
    match failure {
        Failure::Program(error) => error.downcast_ref::<SortError>()?.needed_memory(),
        _ => None,
    }
}
