//! A sort by the ranks of a job: the part of each rank, and one report of all.

use std::os::unix::fs::FileTypeExt;
use std::path::PathBuf;

use ::sort::protocol::{BEGIN, END};
use ::sort::{Choice, Manifest, Target, names_rank, of_rank};
use node::Rank;
use pipeline::{Control, Failure};
use record::Comparison;

use super::part::{Part, Together};
use super::target::{Named, is_directory};
use super::tell::{tell, write_report};
use super::verify::check_output;
use super::{Arguments, apart, prepare, resume};
use host::machine;
use terminal::ending::failure::{CliFailure, Exit};
use terminal::ending::{say, signals};
use terminal::launcher::{Launch, is_only_rank};

pub(super) use host::job::RankJob;

/// Sorts this rank's part.
pub(super) fn sort(job: &RankJob, arguments: &Arguments) -> Result<Exit, CliFailure> {
    let own = with_rank(arguments, job.rank());
    let control = Control::default();
    let (given, watched) = (arguments.clone(), control.clone());
    let ended = machine::run_in(job, &control, own.progress, move |node| {
        let (given, control) = (given.clone(), watched.clone());
        async move {
            // If one rank refuses, it tells the others first, so that all refuse. Ranks watch each
            // other meanwhile: one that stops while it looks at its files is missed.
            let mut prepared = None;
            let refused = async {
                let found = prepare_part(&given, node.rank(), node.nodes(), &control);
                let said = found.as_ref().err().map(|failure| failure.message.clone());
                prepared = Some(found);
                said
            };
            let called = ::sort::roll_call(&node, &control, BEGIN, refused).await;
            let work = match prepared {
                Some(Err(refused)) => return Ok(Err(refused)),
                found => found.and_then(Result::ok),
            };
            called?;
            let is_first = node.rank() == Rank::ROOT;
            let launch = is_first.then(Launch::until_now).flatten();
            let (job, comparison, named) = work.ok_or(Failure::Closed)?;
            let (report, together) = ::sort::run_and(&node, &job, async |report| {
                let verified = match comparison {
                    Some(comparison) => check_output(&node, &job, comparison, &report).await,
                    None => Ok(()),
                };
                let part = serde_json::to_string(&Part::of(&report)).expect("text and numbers");
                let parting = ::sort::parting(&node, &job.control, END, verified.map(|()| part));
                Ok((report, together(&parting.await?, launch)))
            })
            .await?;
            named.keep();
            Ok(Ok((report, together)))
        }
    });
    let (report, together) = ended??;
    if job.is_first() {
        tell(&own, &report.of_all(), &together)?;
    } else if arguments.report.as_deref().is_some_and(names_rank) {
        // The sort is done, so only this rank can report the failure.
        write_report(&own, &report, &together)
            .inspect_err(|failure| say::err(format!("gristmill: {}", failure.message)))?;
    }
    signals::come_too_late();
    Ok(Exit::Done)
}

/// A rank's job, what to verify its output with, and its target.
fn prepare_part(
    arguments: &Arguments,
    rank: Rank,
    ranks: u32,
    control: &Control,
) -> Result<(::sort::Job, Option<Comparison>, Named), CliFailure> {
    check(arguments)?;
    let (own, listing) = (with_rank(arguments, rank), listing(arguments));
    let prepared = prepare(&own, listing.as_deref())?;
    if rank == Rank::ROOT {
        // Files that ranks share are looked at once.
        let of_rank = |rank| {
            let mut own = with_rank(arguments, Rank(rank));
            if rank > 0 && is_shared(arguments) {
                own.inputs = Vec::new();
            }
            own
        };
        let all: Vec<Arguments> = (0..ranks).map(of_rank).collect();
        apart::check(&all, listing.as_deref())?;
    }
    let job = ::sort::Job {
        shared: is_shared(arguments),
        resume: resume::of(arguments)?,
        listing,
        target: one_for_all(arguments, prepared.job.target),
        control: control.clone(),
        ..prepared.job
    };
    let comparison = own.verify.then_some(prepared.spec.order().clone());
    Ok((job, comparison, prepared.named))
}

/// The list of the outputs of all ranks, next to rank 0's output; `None` for one common output.
pub(super) fn listing(arguments: &Arguments) -> Option<PathBuf> {
    let first = arguments.outputs.first().filter(|path| names_rank(path))?;
    let first = of_rank(first, 0);
    let mut path = first.components().as_path().as_os_str().to_owned();
    path.push(Manifest::SUFFIX);
    Some(path.into())
}

/// Turns an output without `{rank}` into one file that all ranks write.
fn one_for_all(arguments: &Arguments, target: Target) -> Target {
    match target {
        Target::Path(path) if !arguments.outputs.iter().all(|path| names_rank(path)) => {
            Target::Together(path)
        }
        own => own,
    }
}

/// Parses the parts of all ranks; the part of another build counts as empty.
fn together(said: &[String], launch: Option<Launch>) -> Together {
    let part = |said: &String| serde_json::from_str(said).unwrap_or_default();
    Together {
        parts: said.iter().map(part).collect(),
        launch,
    }
}

/// Whether all ranks name the same inputs.
pub(super) fn is_shared(arguments: &Arguments) -> bool {
    !arguments.inputs.iter().any(|path| names_rank(path))
}

/// The command line of a process without other ranks.
pub(super) fn alone(arguments: &Arguments) -> Result<Arguments, CliFailure> {
    let mut paths = arguments
        .inputs
        .iter()
        .chain(&arguments.outputs)
        .chain(&arguments.temporary);
    if !paths.any(|path| names_rank(path)) {
        return Ok(arguments.clone());
    }
    if is_only_rank() {
        Ok(with_rank(arguments, Rank::ROOT))
    } else {
        Err(CliFailure::usage(
            "{rank} needs several ranks, and this process runs alone: start it with mpirun, or with srun and the \
         --mpi option of your MPI",
        ))
    }
}

/// The command line of `rank`, with its number for `{rank}`.
fn with_rank(arguments: &Arguments, rank: Rank) -> Arguments {
    let path = |path: &PathBuf| of_rank(path, rank.0);
    Arguments {
        inputs: arguments.inputs.iter().map(path).collect(),
        outputs: arguments.outputs.iter().map(path).collect(),
        temporary: arguments.temporary.iter().map(path).collect(),
        report: arguments.report.as_ref().map(path),
        ..arguments.clone()
    }
}

fn check(arguments: &Arguments) -> Result<(), CliFailure> {
    check_alone(arguments)?;
    let is_pipe =
        |path: &PathBuf| std::fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo());
    if arguments.order.random_source.iter().any(is_pipe) {
        return Err(CliFailure::usage(
            "--random-source is a pipe, which only one rank can read; save it to a file",
        ));
    }
    let named = arguments
        .inputs
        .iter()
        .filter(|path| names_rank(path))
        .count();
    if named > 0 && named < arguments.inputs.len() {
        return Err(CliFailure::usage(
            "only some inputs have {rank} in their name: put it in all of them or in none",
        ));
    }
    if !matches!(arguments.plan, Choice::Auto | Choice::TwoPass) {
        return Err(CliFailure::usage(
            "--plan one-pass and --plan merge need a single process; omit --plan: data that fits in the memory of all ranks is not spilled",
        ));
    }
    let own = arguments
        .outputs
        .iter()
        .filter(|path| names_rank(path))
        .count();
    let refused = match arguments.outputs.as_slice() {
        [] => {
            "ranks have no common standard output: name one file that all hosts see, or one file per rank, as in \
             -o sorted-{rank}"
        }
        all if own == all.len() => return Ok(()),
        [_] if arguments.resume => {
            "--resume needs one output per rank: put {rank} in the name, as in -o sorted-{rank}"
        }
        [_] if arguments.order.unique => {
            "-u needs one output per rank: put {rank} in the name, as in -o sorted-{rank}"
        }
        [one] if !is_directory(one) => return Ok(()),
        _ => "sets need directories per rank: put {rank} in their names, as in -o sorted-{rank}/",
    };
    Err(CliFailure::usage(refused))
}

/// Refuses what only a single process does.
fn check_alone(arguments: &Arguments) -> Result<(), CliFailure> {
    let (option, instead) = if arguments.checks().is_some() {
        ("-c", "--verify checks the output of the sort")
    } else if arguments.debug {
        ("--debug", "try the keys on a few lines first")
    } else if arguments.order.top.is_some() {
        ("--top", "sort all records, and take the first ones")
    } else if arguments.bad_records.is_some() {
        ("--bad-records", "set the bad rows aside on one rank first")
    } else if arguments.order.count {
        ("--count", "sort without it, and count with uniq -c")
    } else if arguments.files0_from.is_some() {
        ("--files0-from", "name the inputs")
    } else if arguments.order.draws_salt() {
        (
            "-R without --random-source",
            "give one, so that all ranks shuffle in the same way",
        )
    } else {
        return Ok(());
    };
    let message = format!("{option} needs a single process; {instead}");
    Err(CliFailure::usage(message))
}
