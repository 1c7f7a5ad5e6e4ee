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

use node::{BulkPort, Node, Posted};
use pipeline::{Failure, Pipeline, Tuner, Worker};
use serde::{Deserialize, Serialize};

use crate::dials::Dials;
use crate::error::SortError;
use crate::exchange::{CHUNKS, Exchange};
use crate::input::Inputs;
use crate::job::{Job, Resources, Tune, Tuning};
use crate::output::Output;
use crate::phase::Run;
use crate::plan::{Exchanging, Plan, Shape};
use crate::report::{RankReport, Report};
use crate::room::Demand;
use crate::run::temporary;
use crate::stages::{Drawn, Places, Tally, draw};
use crate::two_pass::two_pass;

use agreement::{Agreement, ROLL_CALL};
use division::Division;
use statement::Statement;
use watch::Watch;

/// Whether every rank can begin: what one of them has refused already, all refuse.
///
/// # Errors
/// When any has refused, with what it said.
pub async fn roll_call(node: &Node, refused: Option<String>) -> Result<(), Failure> {
    let mine = refused.map_or(Ok(((), ())), |what| Err(Failure::Program(what.into())));
    Agreement::over(node, ROLL_CALL).with(node, mine).await.map(drop)
}

/// What a rank read and wrote.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Account {
    did: RankReport,
    /// Sums of CRC-32: of what it read, and of what it wrote.
    read_sum: u128,
    sum: u128,
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
    let (mut output, _) = agreement.with(node, opened.map(|output| (output, ()))).await?;
    let member = Member { node, job, inputs: Arc::new(inputs), total, port };
    let mut report = match member.sort(&mut agreement, &Arc::new(output.clone())).await {
        Ok(report) => report,
        Err(failure) => {
            output.discard(node).await;
            return Err(failure);
        }
    };
    report.warnings = member.inputs.grown(node).await;
    let committed = output.commit(node, report.bytes).await;
    if committed.is_err() {
        output.discard(node).await;
    }
    agreement.with(node, committed.map(|()| ((), ()))).await?;
    Ok(report)
}

async fn open(node: &Node, job: &Job) -> Result<(Inputs, Statement), Failure> {
    let record_bytes = job.contents.record_bytes();
    let inputs = Inputs::open(node, &job.sources, record_bytes, job.resources.io).await?;
    let statement = Statement::new(job, &inputs)?;
    Ok((inputs, statement))
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
    async fn sort(
        &self,
        agreement: &mut Agreement,
        output: &Arc<Output>,
    ) -> Result<Report, Failure> {
        let (node, job) = (self.node, self.job);
        let temporary = temporary(job, output);
        let ranks = u64::from(node.nodes());
        let even = self.shape(output, &temporary, self.total.div_ceil(ranks));
        let even = self.plan(&even, None).map(|plan| (plan.clone(), plan.samples as u64));
        let (even, samples) = agreement.with(node, even.map_err(Failure::from)).await?;
        let each = samples.into_iter().max().unwrap_or(0);
        let samples = ranks * each.max(Division::places(job.contents.record_bytes()));
        let drawn = self.draw(samples).await.map(|drawn| {
            let sampled = drawn.sample.positions.len() as u64;
            (drawn, sampled)
        });
        let (Drawn { sample, cost }, sampled) = agreement.with(node, drawn).await?;
        let division = Division::agree(node, agreement, &*job.contents, &sample, &sampled).await?;
        let expected = division.records(self.total);
        let exchanging = Exchanging::new(&even, node.nodes(), job.resources.memory_bytes);
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
            seconds: node.seconds(node.now().since(begin)),
            bottleneck: report.bottleneck.to_owned(),
        };
        let account = Account { did, read_sum, sum: report.checksum };
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
    fn plan(&self, shape: &Shape, unit_records: Option<usize>) -> Result<Plan, SortError> {
        let limit = self.job.resources.memory_bytes;
        let memory_bytes = Exchanging::rest(limit);
        let given = Resources { memory_bytes, ..self.job.resources };
        let insisted = self.job.tuning.unit_records.or(unit_records);
        let tuning = Tuning { unit_records: insisted, ..self.job.tuning };
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
        let plan = self.plan(shape, Some(exchanging.unit_records))?;
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
        let count = (share as usize).max(usize::from(own > 0));
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
    let (records_out, sum_out) = (records(|did| did.records), sum(|rank| rank.sum));
    match (records_in, sum_in) == (records_out, sum_out) {
        true => Ok(()),
        false => Err(SortError::Lost { records_in, records_out, sum_in, sum_out }),
    }
}
