//! A sort by the ranks of a job: the part of each rank, and one report of all.

use ::sort::protocol::{BEGIN, END};
use node::{Node, Rank};
use pipeline::{Control, Failure};

use super::options::Arguments;
use super::part::{Part, Together};
use super::request::Request;
use super::tell::{tell, write_report};
use super::verify::check_output;
use host::busy::{Busy, Watch};
use host::machine;
use terminal::ending::failure::{CliFailure, Exit};
use terminal::ending::{say, signals};
use terminal::launcher::Launch;

pub(super) use host::job::RankJob;

/// Sorts this rank's part.
pub(super) fn sort(job: &RankJob, arguments: &Arguments) -> Result<Exit, CliFailure> {
    let control = Control::default();
    let (given, watched) = (arguments.clone(), control.clone());
    let ended = machine::run_in(job, &control, arguments.progress, move |node| {
        let (given, control) = (given.clone(), watched.clone());
        async move {
            let request = match prepare(&node, &given, &control).await? {
                Ok(request) => request,
                Err(refused) => return Ok(Err(refused)),
            };
            let is_first = node.rank() == Rank::ROOT;
            let launch = is_first.then(Launch::until_now).flatten();
            let Request {
                job,
                spec,
                named,
                verifies,
                telling,
                ..
            } = request;
            let watch = Watch::begin();
            let (report, together) = ::sort::run_and(&node, &job, async |report| {
                let busy = watch.end(&job, report.passes);
                let verified = if verifies {
                    check_output(&node, &job, spec.order().clone(), &report).await
                } else {
                    Ok(())
                };
                let part = Part::of(&report, busy.clone());
                let part = serde_json::to_string(&part).expect("text and numbers");
                let parting = ::sort::parting(&node, &job.control, END, verified.map(|()| part));
                Ok((report, together(&parting.await?, launch, busy)))
            })
            .await?;
            named.keep();
            Ok(Ok((telling, report, together)))
        }
    });
    let (telling, report, together) = ended??;
    if job.is_first() {
        tell(&telling, &report.of_all(), &together)?;
    } else if telling.of_each_rank {
        // The sort is done, so only this rank can report the failure.
        write_report(&telling, &report, &together)
            .inspect_err(|failure| say::err(format!("gristmill: {}", failure.message)))?;
    }
    signals::come_too_late();
    Ok(Exit::Done)
}

/// Reads the command line on each rank. If one rank refuses, it tells the others first, so that all
/// refuse. Ranks watch each other meanwhile: one that stops while it looks at its files is missed.
async fn prepare(
    node: &Node,
    given: &Arguments,
    control: &Control,
) -> Result<Result<Request, CliFailure>, Failure> {
    let mut prepared = None;
    let refused = async {
        let found = Request::of_rank(given, node.rank(), node.nodes(), control);
        let said = found.as_ref().err().map(|failure| failure.message.clone());
        prepared = Some(found);
        said
    };
    let called = ::sort::roll_call(node, control, BEGIN, refused).await;
    match prepared {
        Some(Err(refused)) => Ok(Err(refused)),
        Some(Ok(request)) => called.map(|_| Ok(request)),
        None => called.and(Err(Failure::Closed)),
    }
}

/// Parses the parts of all ranks; the part of another build counts as empty.
fn together(said: &[String], launch: Option<Launch>, busy: Busy) -> Together {
    let part = |said: &String| serde_json::from_str(said).unwrap_or_default();
    Together {
        parts: said.iter().map(part).collect(),
        launch,
        busy,
    }
}
