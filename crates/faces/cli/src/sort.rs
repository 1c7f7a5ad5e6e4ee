//! `gristmill sort`: sorts files of records.

mod balance;
mod check;
mod choices;
mod cluster;
mod cures;
mod debug;
mod explain;
mod json;
mod memory;
mod options;
mod part;
mod request;
mod shown;
mod tell;
mod verify;
mod words;

use ::sort::{Job, Report};
use node::Node;
use pipeline::Failure;
use record::Comparison;

use cures::Cures;
use host::busy::{Busy, Watch};
use host::machine;
use part::Together;
use request::{Check, Request};
use tell::tell;
use terminal::ending::failure::{CliFailure, Exit};
use verify::check_output;

pub(crate) use check::command as checking;
pub(crate) use explain::{Arguments as ExplainArguments, run as explain};
pub(crate) use options::Arguments;
pub(crate) use words::of_getopt;

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, CliFailure> {
    let arguments = &arguments.hushed();
    let with_json = |failure: CliFailure| failure.with_json(arguments.json);
    match cluster::RankJob::join(arguments.json)? {
        None => sort(arguments).map_err(with_json),
        Some(job) => job.leave(cluster::sort(&job, arguments).map_err(with_json)),
    }
}

fn sort(arguments: &Arguments) -> Result<Exit, CliFailure> {
    let arguments = &request::expanded(arguments)?;
    if let Some(check) = Check::of(arguments)? {
        return check::run(check);
    }
    let Request {
        job,
        spec,
        named,
        verifies,
        shows_keys,
        telling,
    } = Request::alone(arguments)?;
    let view = shows_keys.then(|| debug::View::of(&spec)).transpose()?;
    let job = match &view {
        Some(view) => view.takes(job),
        None => job,
    };
    let ended = machine::run(&job.control.clone(), telling.progress, move |node| {
        let (job, comparison) = (job.clone(), verifies.then(|| spec.order().clone()));
        async move { sort_and_verify(&node, &job, comparison).await }
    });
    // If the reader has gone away, the sort has failed to write the lines.
    view.map_or(Ok(()), debug::View::finish)?;
    let (report, busy) = ended?;
    named.keep();
    let together = Together {
        busy,
        ..Together::default()
    };
    tell(&telling, &report, &together)?;
    Ok(Exit::Done)
}

/// Sorts, and with a `comparison` reads the output again.
async fn sort_and_verify(
    node: &Node,
    job: &Job,
    comparison: Option<Comparison>,
) -> Result<(Report, Busy), Failure> {
    let watch = Watch::begin();
    let sorted = ::sort::run(node, job).await;
    let report = sorted.map_err(|failure| Cures::of(job).told(failure))?;
    let busy = watch.end(job, report.passes);
    if let Some(comparison) = comparison {
        check_output(node, job, comparison, &report).await?;
    }
    Ok((report, busy))
}
