//! A sort from its inputs to its outputs, on one node or on several.
//!
//! ```text
//! agree    every rank says what it was started for; what one refuses, all refuse
//! open     inputs, then outputs
//! plan     memory, workers, passes; on several nodes how keys are divided, too
//! sort     by distribution (one pass, two, or more) or by a merge of sorted runs
//! settle   the records that all read are the records that all wrote
//! commit   outputs get their names
//! ```
//!
//! Alone, a rank has nothing to agree on. On several nodes each reads its own inputs, one sequence,
//! rank 0's first, and writes one range of the keys: the outputs, rank 0's first, have the same
//! bytes for any number of ranks. Meanwhile ranks watch each other: a failure, or a long silence of
//! one, ends the sort on all (TritonSort 3.3, NOW-Sort 6).

use std::sync::Arc;

use node::Node;
use pipeline::Failure;

use crate::agreement::Agreement;
use crate::epochs::resume;
use crate::files::input::Inputs;
use crate::files::output::Output;
use crate::job::{Job, Target};
use crate::passes::distribution::distribution_sort;
use crate::passes::exchange::Ports;
use crate::passes::merge::merge;
use crate::passes::wiring::Run;
use crate::ranks::account;
use crate::ranks::conflicts;
use crate::ranks::failure_detector::Watch;
use crate::ranks::fingerprint::{self, Fingerprint};
use crate::ranks::listing;
use crate::ranks::planning::{Planned, Planning};
use crate::ranks::sampling::mark;
use crate::report::Report;

/// Sorts the job's inputs; on several nodes each gives its own, and gets one range of keys.
///
/// # Errors
/// Nothing is left of an output that failed, and the target keeps its old content; unless only the
/// list of outputs (`Job::listing`), which is written last, has failed.
pub async fn run(node: &Node, job: &Job) -> Result<Report, Failure> {
    run_and(node, job, async |report| Ok(report)).await
}

/// Sorts; then each node does what is to be done after that, while they still watch each other.
///
/// # Errors
/// As [`run`]; the outputs have their names when it is `then` that fails.
pub async fn run_and<T>(
    node: &Node,
    job: &Job,
    then: impl AsyncFnOnce(Report) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let begin = node.now();
    let watch = Watch::start(node, &job.control)?;
    let mut output = None;
    let all = async {
        let mut report = sort(node, job, &mut output).await?;
        output = None;
        report.seconds = node.seconds(node.now().since(begin));
        then(report).await
    };
    let ended = all.await.map_err(|failure| match failure {
        Failure::Closed => job.control.take_failure().unwrap_or(Failure::Closed),
        failure => failure,
    });
    // The other ranks wait while a rank removes files of its own. But if it removed a part of their
    // file before they heard why, they would report that as the cause.
    let (shared, own) = output.into_iter().partition::<Vec<_>, _>(Output::is_part);
    for output in own {
        output.discard(node).await;
    }
    if let Err(failure) = &ended {
        watch.alarm(node, failure).await;
    }
    for output in shared {
        output.discard(node).await;
    }
    watch.end(node, ended.is_ok()).await;
    ended
}

/// The same while ranks are watched; `opened` is the output, to be discarded after a failure.
async fn sort(node: &Node, job: &Job, opened: &mut Option<Output>) -> Result<Report, Failure> {
    let mut agreement = Agreement::new(node, &job.control);
    // A rank that sends early waits until the port has its owner.
    let ports = Ports::bind(node);
    if let Some(resume) = &job.resume {
        return resume::run(node, job, resume, &mut agreement, ports).await;
    }
    let inputs = open_inputs(node, job).await;
    let (mut inputs, fingerprints) = agreement.agree_and_tell(node, inputs).await?;
    let several: Option<Vec<Fingerprint>> = fingerprints.into_iter().collect();
    let total = match &several {
        Some(all) => Some(fingerprint::settle(all, node, &mut inputs)?),
        None => inputs.records,
    };
    let output = open_output(node, job, total.unwrap_or(0)).await;
    // What one rank refuses is for all others to take away.
    let output = agreement
        .agree(node, output.map(|output| opened.insert(output)))
        .await?;
    conflicts::apart(node, &mut agreement, &[output]).await?;
    let (inputs, writer) = (Arc::new(inputs), Arc::new(output.clone()));
    let planning = Planning::new(node, job, &inputs, &writer);
    let planned = match several {
        Some(_) => {
            planning
                .divided(&mut agreement, &ports, (&inputs, total.unwrap_or(0)))
                .await?
        }
        None => planning.alone(&inputs).await?,
    };
    let own = inputs.records.unwrap_or(0) * job.contents.record_bytes() as u64;
    job.control.enter("sort", own);
    let began = node.now();
    let Planned {
        plan,
        why,
        exchange,
        tally,
    } = planned;
    let run = Run {
        why,
        output: Some(&writer),
        temporary: planning.temporary,
        tally,
        exchange,
        ..Run::new(node, job, plan, &inputs)
    };
    // While records are under way ranks do not agree on anything: a failure is an alarm.
    let mut report = match run.plan.merging {
        Some(merging) => merge(&run, merging).await?,
        None => distribution_sort(&run).await?,
    };
    account::settle(&mut agreement, &run, &mut report, began).await?;
    let (contents, spans) = (&*job.contents, run.tally.spans());
    writer.list(node, contents, &spans).await;
    // Before the output takes the name of an input.
    report.warnings = inputs.grown(node).await;
    let written = (report.bytes, writer.listed(contents, &spans));
    let warnings = listing::commit(node, job, &mut agreement, output, written).await?;
    report.warnings.extend(warnings);
    Ok(report)
}

/// This rank's inputs; of several ranks also what tells their jobs from each other.
async fn open_inputs(node: &Node, job: &Job) -> Result<(Inputs, Option<Fingerprint>), Failure> {
    let record_bytes = job.contents.record_bytes();
    let inputs = Inputs::open(node, &job.sources, record_bytes, job.resources.io).await?;
    if node.nodes() == 1 {
        return Ok((inputs, None));
    }
    let inputs = Arc::new(inputs);
    let mark = match job.shared {
        true => mark(node, job, &inputs).await?,
        false => 0,
    };
    let fingerprint = Fingerprint::new(job, &inputs, mark)?;
    Ok((Inputs::clone(&inputs), Some(fingerprint)))
}

/// This rank's output, or its part of a file that all ranks write, of `records` in all.
async fn open_output(node: &Node, job: &Job, records: u64) -> Result<Output, Failure> {
    match &job.target {
        Target::Together(path) if node.nodes() > 1 => {
            let bytes = records * job.contents.record_bytes() as u64;
            Output::together(node, job, path, bytes).await
        }
        target => Output::open(node, target, job.resources.io).await,
    }
}
