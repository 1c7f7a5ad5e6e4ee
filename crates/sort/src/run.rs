//! A sort from its inputs to its output: opens both, chooses how, and settles the end.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use node::Node;
use pipeline::Failure;

use crate::error::SortError;
use crate::input::Inputs;
use crate::job::{Choice, Job, Target};
use crate::one_pass::one_pass;
use crate::output::Output;
use crate::phase::Run;
use crate::plan::{Plan, Shape};
use crate::report::Report;
use crate::stages::Tally;
use crate::two_pass::two_pass;

/// Sorts the job's inputs.
///
/// # Errors
/// Nothing is left of an output that failed, and the target keeps its old content.
pub async fn run(node: &Node, job: &Job) -> Result<Report, Failure> {
    let begin = node.now();
    let record_bytes = job.contents.record_bytes();
    let inputs = Inputs::open(node, &job.sources, record_bytes, job.resources.io).await?;
    let mut output = Output::open(node, &job.target, job.resources.io).await?;
    let mut report = match sort(node, job, &Arc::new(inputs), &Arc::new(output.clone())).await {
        Ok(report) => report,
        Err(failure) => {
            output.discard(node).await;
            return Err(failure);
        }
    };
    if let Err(failure) = output.commit(node, report.bytes).await {
        output.discard(node).await;
        return Err(failure);
    }
    report.seconds = node.seconds(node.now().since(begin));
    Ok(report)
}

async fn sort(
    node: &Node,
    job: &Job,
    inputs: &Arc<Inputs>,
    output: &Arc<Output>,
) -> Result<Report, Failure> {
    let shape = Shape {
        records: inputs.records,
        record_bytes: job.contents.record_bytes(),
        sequential_output: output.is_sequential(),
        stable: job.contents.is_stable(),
    };
    let plan = choose(&shape, job)?;
    if let Some(bytes) = plan.input_bytes {
        output.reserve(node, bytes).await?;
    }
    job.control.enter("sort", plan.input_bytes.unwrap_or(0));
    let spilling = plan.spilling;
    let run = Run { node, job, plan, inputs, output, tally: Tally::default() };
    match spilling {
        None => one_pass(&run).await,
        Some(spilling) => two_pass(&run, spilling).await,
    }
}

/// One pass where all fits in memory for sure, two where it may not.
fn choose(shape: &Shape, job: &Job) -> Result<Plan, SortError> {
    let one = || Plan::new(shape, &job.resources, &job.tuning);
    let two = || Plan::two_pass(shape, &job.resources, &job.tuning);
    match job.plan {
        Choice::OnePass => one(),
        Choice::TwoPass => two(),
        Choice::Auto if shape.records.is_none() => two(),
        Choice::Auto => one().or_else(|_| two()),
    }
}

impl Run<'_> {
    /// The directories for spill files: those of the job, or that of the output; of an output that is no
    /// file, the one that the run was started in.
    pub(crate) fn temporary(&self) -> Vec<PathBuf> {
        if !self.job.temporary.is_empty() {
            return self.job.temporary.clone();
        }
        let beside = match &self.job.target {
            Target::Path(path) if !self.output.is_sequential() => path.parent(),
            _ => None,
        };
        let beside = beside.filter(|parent| *parent != Path::new(""));
        vec![beside.unwrap_or(Path::new(".")).to_owned()]
    }
}
