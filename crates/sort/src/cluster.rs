//! A sort over several nodes: each reads its own inputs, and gets one range of keys (TritonSort
//! 3.3, NOW-Sort 6).
//!
//! ```text
//! agree       every rank says what it was started for; what one refuses, all refuse
//! sample      every rank looks at its input; rank 0 divides the keys among ranks, as even as the sample is
//! exchange    phase one: records go to the rank of their range, and there to their partition
//! sort        phase two, as on one node
//! settle      what all read is what all wrote; then each output gets its name
//! ```
//!
//! Meanwhile each rank tells the others that it is alive: whoever is silent for long, or fails,
//! ends the sort on all.
//!
//! Inputs are one sequence, rank 0's first. The outputs, rank 0's first, are its sorted records:
//! the same bytes for any number of ranks. Nothing gets its name before every rank is done.

use std::sync::Arc;

use node::Node;
use pipeline::Failure;

use crate::agreement::Agreement;
use crate::files::input::Inputs;
use crate::files::output::Output;
use crate::job::{Job, Target};
use crate::passes::exchange::Ports;
use crate::report::Report;

use crate::epochs::resume;
use crate::ranks::conflicts;
use crate::ranks::failure_detector::Watch;
use crate::ranks::fingerprint::{self, Statement};
use crate::ranks::member::Member;
use crate::ranks::sampling::mark;

/// This node's part of a sort over all nodes of the run.
pub(crate) async fn run(node: &Node, job: &Job) -> Result<Report, Failure> {
    run_and(node, job, async |report| Ok(report)).await
}

/// Sorts on several nodes; then each does what is to be done after that, while they still watch
/// each other.
///
/// # Errors
/// As [`crate::run`]; the outputs have their names when it is `then` that fails.
pub async fn run_and<T>(
    node: &Node,
    job: &Job,
    then: impl AsyncFnOnce(Report) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let begin = node.now();
    let watch = Watch::start(node, &job.control)?;
    let mut output = None;
    let all = async {
        let mut report = watched(node, job, &mut output).await?;
        output = None;
        report.seconds = node.seconds(node.now().since(begin));
        then(report).await
    };
    let ended = all.await.map_err(|failure| match failure {
        Failure::Closed => job.control.take_failure().unwrap_or(Failure::Closed),
        failure => failure,
    });
    // Others wait while a rank takes away what is its own. But of what it takes away of theirs,
    // before they have heard why, they would make a reason of their own.
    let (theirs, own) = output.into_iter().partition::<Vec<_>, _>(Output::is_part);
    for output in own {
        output.discard(node).await;
    }
    if let Err(failure) = &ended {
        watch.alarm(node, failure).await;
    }
    for output in theirs {
        output.discard(node).await;
    }
    watch.end(node, ended.is_ok()).await;
    ended
}

/// The same, while others are watched, and watch; `output` is what was opened.
async fn watched(node: &Node, job: &Job, output: &mut Option<Output>) -> Result<Report, Failure> {
    let mut agreement = Agreement::new(node, &job.control);
    // Who sends early waits for its owner.
    let ports = Ports::bind(node);
    if let Some(resume) = &job.resume {
        return resume::run(node, job, resume, &mut agreement, ports).await;
    }
    let opened = open(node, job).await;
    let (mut inputs, statements) = agreement.with(node, opened).await?;
    let total = fingerprint::settle(&statements, node, &mut inputs)?;
    let opened = match &job.target {
        Target::Together(path) => {
            let bytes = total * job.contents.record_bytes() as u64;
            Output::together(node, job, path, bytes).await
        }
        target => Output::open(node, target, job.resources.io).await,
    };
    // What one refuses is for all others to take away.
    let opened = opened.map(|opened| (output.insert(opened), ()));
    let (output, _) = agreement.with(node, opened).await?;
    conflicts::apart(node, &mut agreement, &[output]).await?;
    let member = Member {
        node,
        job,
        inputs: Arc::new(inputs),
        total,
        ports,
    };
    member.sort_to(output, &mut agreement).await
}

async fn open(node: &Node, job: &Job) -> Result<(Inputs, Statement), Failure> {
    let record_bytes = job.contents.record_bytes();
    let inputs = Arc::new(Inputs::open(node, &job.sources, record_bytes, job.resources.io).await?);
    let ends = if job.shared {
        mark(node, job, &inputs).await?
    } else {
        0
    };
    let statement = Statement::new(job, &inputs, ends)?;
    Ok((Inputs::clone(&inputs), statement))
}
