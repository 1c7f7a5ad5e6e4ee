//! A sort from its inputs to its output: opens both, chooses how, and settles the end.

use std::sync::Arc;

use node::Node;
use pipeline::Failure;

use crate::cluster;
use crate::files::disk_space::Demand;
use crate::files::input::Inputs;
use crate::files::manifest::ListedFile;
use crate::files::output::Output;
use crate::job::{Choice, Job};
use crate::passes::merge::merge;
use crate::passes::one_pass::one_pass;
use crate::passes::presorted::Presorted;
use crate::passes::two_pass::two_pass;
use crate::passes::wiring::Run;
use crate::plan::{Plan, Shape};
use crate::ranks::listing;
use crate::report::Report;

/// Sorts the job's inputs; on several nodes each gives its own, and gets one range of keys.
///
/// # Errors
/// Nothing is left of an output that failed, and the target keeps its old content; unless only the
/// list of outputs (`Job::listing`), which is written last, has failed.
pub async fn run(node: &Node, job: &Job) -> Result<Report, Failure> {
    if node.nodes() > 1 || job.resume.is_some() {
        return cluster::run(node, job).await;
    }
    let begin = node.now();
    let record_bytes = job.contents.record_bytes();
    let inputs = Inputs::open(node, &job.sources, record_bytes, job.resources.io).await?;
    let inputs = Arc::new(inputs);
    let mut output = Output::open(node, &job.target, job.resources.io).await?;
    let (mut report, files) = match sort(node, job, &inputs, &Arc::new(output.clone())).await {
        Ok(sorted) => sorted,
        Err(failure) => {
            output.discard(node).await;
            return Err(failure);
        }
    };
    // Before the output takes the name of an input.
    report.warnings = inputs.grown(node).await;
    match listing::commit_alone(node, job, &mut output, (report.bytes, files)).await {
        Ok(warnings) => report.warnings.extend(warnings),
        Err(failure) => {
            output.discard(node).await;
            return Err(failure);
        }
    }
    report.seconds = node.seconds(node.now().since(begin));
    Ok(report)
}

async fn sort(
    node: &Node,
    job: &Job,
    inputs: &Arc<Inputs>,
    output: &Arc<Output>,
) -> Result<(Report, Vec<ListedFile>), Failure> {
    let temporary = output.spill_directories(job);
    let shape = Shape {
        inputs: inputs.files.len(),
        records: inputs.records,
        record_bytes: job.contents.record_bytes(),
        sequential_output: output.is_sequential(),
        outputs: output.at_once(),
        stable: job.contents.is_stable(),
        temporary: temporary.len(),
    };
    let (plan, why) = choose(node, job, &shape, inputs).await?;
    if let Some(bytes) = plan.input_bytes {
        let demand = Demand {
            outputs: output.directories(),
            output_bytes: bytes,
            temporary: temporary.clone(),
            temporary_bytes: plan.temporary_bytes(),
        };
        demand.check(node).await?;
        output.reserve(node, bytes).await?;
    }
    job.control.enter("sort", plan.input_bytes.unwrap_or(0));
    let (spilling, merging) = (plan.spilling, plan.merging);
    let run = Run {
        why,
        output: Some(output),
        temporary,
        ..Run::new(node, job, plan, inputs)
    };
    let report = match (spilling, merging) {
        (Some(spilling), _) => two_pass(&run, spilling).await?,
        (None, Some(merging)) => merge(&run, merging).await?,
        (None, None) => one_pass(&run).await?,
    };
    let (contents, spans) = (&*job.contents, run.tally.spans());
    output.list(node, contents, &spans).await;
    Ok((report, output.listed(contents, &spans)))
}

/// A plan, and what spoke for it beside the memory.
///
/// One pass where all fits in memory for sure. A merge for what has unknown length, since it needs
/// no splitters of what has not come yet, and for what is nearly sorted: its runs are few and long.
/// Else two passes: distribution does not slow down as the input grows (TritonSort 2.5). But where
/// memory is so little that partitions would be divided again, a merge that writes no record more
/// often makes larger writes.
async fn choose(
    node: &Node,
    job: &Job,
    shape: &Shape,
    inputs: &Arc<Inputs>,
) -> Result<(Plan, Option<String>), Failure> {
    let one = || Plan::new(shape, &job.resources, &job.tuning);
    let two = || Plan::two_pass(shape, &job.resources, &job.tuning);
    let merge = || Plan::merge(shape, &job.resources, &job.tuning);
    let plan = match job.plan {
        Choice::OnePass => one()?,
        Choice::TwoPass => two()?,
        Choice::Merge => merge()?,
        Choice::Auto if shape.records.is_none() => {
            merge().or_else(|refused| two().map_err(|other| refused.or_less(other)))?
        }
        Choice::Auto => match one() {
            Ok(plan) => plan,
            Err(in_one) => {
                let seen = Presorted::measure(node, job, inputs).await?;
                let merged = seen.is_nearly_sorted().then(|| merge().ok()).flatten();
                if merged.is_none()
                    && let Ok(divided) = two()
                    && divided.divides_again()
                    && let Ok(plan) = merge()
                    && plan.times_spilled() <= divided.times_spilled()
                {
                    let why = "partitions would have to be divided again".to_owned();
                    return Ok((plan, Some(why)));
                }
                // Large records need much memory for a sample, and a merge needs none.
                let plan = merged.map_or_else(two, Ok).or_else(|in_two| {
                    merge().map_err(|refused| refused.or_less(in_two).or_less(in_one))
                })?;
                return Ok((plan, seen.reason()));
            }
        },
    };
    Ok((plan, None))
}
