//! A sort over several nodes: each reads its own inputs, and gets one range of keys (TritonSort 3.3, NOW-Sort 6).
//!
//! ```text
//! agree       every rank says what it was started for; what one refuses, all refuse
//! sample      every rank looks at its input; rank 0 divides the keys among ranks, as even as the sample is
//! exchange    phase one: records go to the rank of their range, and there to their partition
//! sort        phase two, as on one node
//! settle      what all read is what all wrote; then each output gets its name
//! ```
//!
//! Meanwhile each rank tells the others that it is alive: whoever is silent for long, or fails, ends the sort on all.
//!
//! Inputs are one sequence, rank 0's first. The outputs, rank 0's first, are its sorted records: the same bytes
//! for any number of ranks. Nothing gets its name before every rank is done.

mod agreement;
mod division;
mod statement;
mod watch;

use std::path::PathBuf;
use std::sync::Arc;

use node::{BulkPort, Node, Port, Posted};
use pipeline::{Failure, Pipeline, Tuner, Worker};
use serde::{Deserialize, Serialize};

use crate::dials::Dials;
use crate::error::SortError;
use crate::exchange::{CHUNKS, Exchange};
use crate::input::{BLOCK_BYTES, Files, Inputs};
use crate::job::{Job, Resources, Tune, Tuning};
use crate::output::Output;
use crate::phase::{Run, no_memory};
use crate::plan::{Exchanging, Plan, Shape};
use crate::report::{RankReport, Report};
use crate::room::Demand;
use crate::run::temporary;
use crate::stages::{Drawn, InFlight, Places, Tally, draw};
use crate::two_pass::two_pass;

use agreement::Agreement;
use division::Division;
use statement::Statement;
use watch::Watch;

/// Whether a step went well on every rank, over a port that nobody else owns: what one of them has refused, all
/// refuse.
///
/// # Errors
/// When any has refused, with what it said.
pub async fn roll_call(node: &Node, port: Port, refused: Option<String>) -> Result<(), Failure> {
    let mine = refused.map_or(Ok(((), ())), |what| Err(Failure::Program(what.into())));
    Agreement::over(node, port).with(node, mine).await.map(drop)
}

/// What is sampled may take this part of memory.
const SAMPLE_SHARE: u64 = 64;

/// What a rank read and wrote.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Account {
    did: RankReport,
    /// Sum of the CRC-32 of what it read.
    read_sum: u128,
}

/// This node's part of a sort over all nodes of the run.
pub(crate) async fn run(node: &Node, job: &Job) -> Result<Report, Failure> {
    let begin = node.now();
    let watch = Watch::start(node, &job.control)?;
    let sorted = watched(node, job).await.map_err(|failure| match failure {
        Failure::Closed => job.control.take_failure().unwrap_or(Failure::Closed),
        failure => failure,
    });
    if let Err(failure) = &sorted {
        watch.alarm(node, failure).await;
    }
    watch.end(node).await;
    let mut report = sorted?;
    report.seconds = node.seconds(node.now().since(begin));
    Ok(report)
}

/// The same, while others are watched, and watch.
async fn watched(node: &Node, job: &Job) -> Result<Report, Failure> {
    let mut agreement = Agreement::new(node, &job.control);
    // Who sends early waits for its owner.
    let port = Arc::new(node.bind_bulk(CHUNKS));
    let opened = open(node, job).await;
    let (mut inputs, statements) = agreement.with(node, opened).await?;
    let total = statement::settle(&statements, node, &mut inputs)?;
    let opened = Output::open(node, &job.target, job.resources.io).await;
    // What one refuses is for all others to take away.
    let own = opened.as_ref().ok().cloned();
    let agreed = agreement.with(node, opened.map(|_| ((), ()))).await;
    let Some(mut output) = own else { return Err(agreed.expect_err("it was refused here")) };
    let member = Member { node, job, inputs: Arc::new(inputs), total, port };
    let sorted = match agreed {
        Ok(_) => member.sort_to(&mut output, &mut agreement).await,
        Err(failure) => Err(failure),
    };
    if sorted.is_err() {
        output.discard(node).await;
    }
    sorted
}

async fn open(node: &Node, job: &Job) -> Result<(Inputs, Statement), Failure> {
    let record_bytes = job.contents.record_bytes();
    let inputs = Arc::new(Inputs::open(node, &job.sources, record_bytes, job.resources.io).await?);
    let ends = if job.shared { ends(node, job, &inputs).await? } else { 0 };
    let statement = Statement::new(job, &inputs, ends)?;
    Ok((Inputs::clone(&inputs), statement))
}

/// Checksum of the first record and the last one: what all ranks name must be the same for all.
async fn ends(node: &Node, job: &Job, inputs: &Arc<Inputs>) -> Result<u64, Failure> {
    let (bytes, last) = (job.contents.record_bytes(), inputs.records.unwrap_or(0).checked_sub(1));
    let room = bytes.next_multiple_of(BLOCK_BYTES as usize) + 2 * BLOCK_BYTES as usize;
    let mut files = Files::new(inputs);
    let mut sum = 0_u64;
    for place in last.map_or(0..0, |last| 0..last.min(1) + 1).map(|end| end * last.unwrap_or(0)) {
        let buffers = job.contents.buffers(node, 1, room);
        let buffer = buffers.map_err(|cause| no_memory(room, &cause))?.pop().expect("one was made");
        let unit = inputs.unit_at(place, 1);
        let file = files.of(node, unit.input).await?;
        let block = InFlight::submit(node, file, unit, bytes, buffer).wait(node, bytes).await?;
        sum = sum.rotate_left(1).wrapping_add(job.contents.checksum(&block));
    }
    Ok(sum)
}

/// A node of the sort.
struct Member<'a> {
    node: &'a Node,
    job: &'a Job,
    inputs: Arc<Inputs>,
    /// Records of all nodes.
    total: u64,
    port: Arc<BulkPort>,
}

impl Member<'_> {
    /// Sorts, and gives the output its name when those of all nodes have nothing left to fail but that.
    async fn sort_to(
        &self,
        output: &mut Output,
        agreement: &mut Agreement,
    ) -> Result<Report, Failure> {
        let node = self.node;
        let mut report = self.sort(agreement, &Arc::new(output.clone())).await?;
        report.warnings = self.inputs.grown(node).await;
        let finished = output.finish(node, report.bytes).await;
        agreement.with(node, finished.map(|()| ((), ()))).await?;
        let named = output.name(node).await;
        agreement.with(node, named.map(|()| ((), ()))).await?;
        Ok(report)
    }

    async fn sort(
        &self,
        agreement: &mut Agreement,
        output: &Arc<Output>,
    ) -> Result<Report, Failure> {
        let (node, job) = (self.node, self.job);
        let temporary = temporary(job, output);
        let ranks = u64::from(node.nodes());
        let even = self.shape(output, &temporary, self.total.div_ceil(ranks));
        let limit = job.resources.memory_bytes;
        let proposed = self.plan(&even, None).map(|plan| {
            let exchanging = Exchanging::new(&plan, node.nodes(), limit);
            let proposal = (plan.samples as u64, exchanging.chunk_bytes as u64);
            ((plan, exchanging), proposal)
        });
        let ((even, exchanging), all) =
            agreement.with(node, proposed.map_err(Failure::from)).await?;
        // A chunk must fit wherever it comes from.
        let chunk = all.iter().map(|&(_, chunk)| chunk).min().unwrap_or(0);
        let exchanging = exchanging.with_chunks(&even, node.nodes(), chunk);
        let each = all.iter().map(|&(samples, _)| samples).max().unwrap_or(0);
        let samples = ranks * each.max(Division::places(job.contents.record_bytes()));
        let drawn = self.draw(samples).await.map(|drawn| {
            let sampled = drawn.sample.positions.len() as u64;
            (drawn, sampled)
        });
        let (Drawn { sample, cost }, sampled) = agreement.with(node, drawn).await?;
        let division = Division::agree(node, agreement, &*job.contents, &sample, &sampled).await?;
        let expected = division.records(self.total);
        let shape = self.shape(output, &temporary, expected);
        let planned = self.prepare(output, &temporary, &shape, &exchanging).await;
        let (plan, _) = agreement.with(node, planned.map(|plan| (plan, ()))).await?;
        let exchange = Exchange {
            plan: exchanging,
            ranks: Posted::new(node, "splitters of ranks"),
            partitions: Posted::new(node, "splitters"),
            port: Arc::clone(&self.port),
            read: Tally::default(),
        };
        let read = exchange.read.clone();
        exchange.partitions.post(node, division.partitions(&*job.contents, plan.buckets)).await;
        exchange.ranks.post(node, division.ranks).await;
        job.control.enter("sort", plan.input_bytes.unwrap_or(0));
        let spilling = plan.spilling.expect("a plan of two passes");
        let dials = Dials::new(&plan, job.tuning.start);
        let tuner = match job.tuning.tune {
            Tune::Auto => Tuner::new(node.now()),
            Tune::Off => Tuner::off(),
        };
        let (tally, why, inputs) = (Tally::default(), None, &self.inputs);
        tally.sampled(cost);
        let begin = node.now();
        let exchange = Some(exchange);
        let run =
            Run { node, job, plan, why, inputs, output, temporary, tally, dials, tuner, exchange };
        // While records are under way nobody comes to an agreement: a failure is an alarm.
        let mut report = two_pass(&run, spilling).await?;
        let (read_records, read_sum) = read.came();
        let did = RankReport {
            read_records,
            records: report.records,
            bytes: report.bytes,
            checksum: report.checksum,
            seconds: node.seconds(node.now().since(begin)),
            bottleneck: report.bottleneck.to_owned(),
        };
        let account = Account { did, read_sum };
        let ((), accounts) = agreement.with(node, Ok(((), account))).await?;
        settle(&accounts)?;
        report.ranks = accounts.into_iter().map(|account| account.did).collect();
        output.list(node, &*job.contents, &run.tally.spans()).await;
        Ok(report)
    }

    fn shape(&self, output: &Output, temporary: &[PathBuf], records: u64) -> Shape {
        Shape {
            inputs: self.inputs.files.len(),
            records: Some(records),
            record_bytes: self.job.contents.record_bytes(),
            sequential_output: output.is_sequential(),
            outputs: output.at_once(),
            stable: self.job.contents.is_stable(),
            temporary: temporary.len(),
        }
    }

    /// A plan of what this node does with its own range, beside the exchange.
    fn plan(&self, shape: &Shape, exchanging: Option<&Exchanging>) -> Result<Plan, SortError> {
        let limit = self.job.resources.memory_bytes;
        let memory_bytes = Exchanging::rest(limit);
        let given = Resources { memory_bytes, ..self.job.resources };
        // Its pools are for so many distributors and units of that size.
        let tuning = exchanging.map_or(self.job.tuning, |exchanging| Tuning {
            unit_records: Some(exchanging.unit_records),
            distributors: Some(exchanging.distributors),
            ..self.job.tuning
        });
        Plan::two_pass(shape, &given, &tuning).map_err(|refused| match refused {
            SortError::TooLittleMemory { bytes, needed, passes, .. } => {
                let needed = Exchanging::with_rest(needed);
                SortError::TooLittleMemory { bytes, needed, limit, passes }
            }
            refused => refused,
        })
    }

    /// The plan, if there is room for what it writes.
    async fn prepare(
        &self,
        output: &Output,
        temporary: &[PathBuf],
        shape: &Shape,
        exchanging: &Exchanging,
    ) -> Result<Plan, Failure> {
        exchanging.fits(self.job.resources.memory_bytes)?;
        // What is read is cut as it was when the exchange was planned.
        let plan = self.plan(shape, Some(exchanging))?;
        let output_bytes = plan.input_bytes.unwrap_or(0);
        let demand = Demand {
            outputs: output.directories(),
            output_bytes,
            temporary: temporary.to_vec(),
            temporary_bytes: plan.temporary_bytes(),
        };
        demand.check(self.node).await?;
        output.reserve(self.node, output_bytes).await?;
        Ok(plan)
    }

    /// This node's part of so many places that are looked at in all.
    async fn draw(&self, samples: u64) -> Result<Drawn, Failure> {
        let (node, job) = (self.node, self.job);
        let own = self.inputs.records.unwrap_or(0);
        let share = u128::from(samples) * u128::from(own) / u128::from(self.total.max(1));
        // With large records memory bounds the sample, of which some copies are made on the way.
        let place = BLOCK_BYTES.max(job.contents.record_bytes() as u64);
        let most = job.resources.memory_bytes / SAMPLE_SHARE / place;
        let count = (share as u64).min(most).max(u64::from(own > 0)) as usize;
        job.control.enter("sample", 0);
        let (inputs, contents) = (Arc::clone(&self.inputs), Arc::clone(&job.contents));
        let places = Places { inputs, contents, count };
        let mut pipeline = Pipeline::new(&job.control);
        let drawn = pipeline.owns(Posted::new(node, "sample"));
        let post = drawn.clone();
        let look = async move |worker: &Worker| {
            let begin = worker.node.now();
            let mut drawn = draw(worker, &places).await?;
            drawn.cost.seconds = worker.node.seconds(worker.node.now().since(begin));
            post.post(&worker.node, drawn).await;
            Ok(())
        };
        pipeline.stage(node, "sampler", 1, look);
        pipeline.join(node).await?;
        let Drawn { sample, cost } = &*drawn.read(node).await?;
        Ok(Drawn { sample: sample.clone(), cost: *cost })
    }
}

/// What all ranks read must be what all ranks wrote.
fn settle(accounts: &[Account]) -> Result<(), SortError> {
    let records = |of: fn(&RankReport) -> u64| accounts.iter().map(|rank| of(&rank.did)).sum();
    let sum = |of: fn(&Account) -> u128| accounts.iter().map(of).fold(0, u128::wrapping_add);
    let (records_in, sum_in) = (records(|did| did.read_records), sum(|rank| rank.read_sum));
    let (records_out, sum_out) = (records(|did| did.records), sum(|rank| rank.did.checksum));
    match (records_in, sum_in) == (records_out, sum_out) {
        true => Ok(()),
        false => Err(SortError::Lost { records_in, records_out, sum_in, sum_out }),
    }
}
