//! The command lines of ranks: `{rank}` in a path stands for the number of each.

use std::os::unix::fs::FileTypeExt;
use std::path::PathBuf;

use ::sort::{Choice, Manifest, Target, names_rank, of_rank};
use node::Rank;
use terminal::ending::failure::CliFailure;
use terminal::launcher::is_only_rank;

use super::target::is_directory;
use crate::sort::options::Arguments;

/// The list of the outputs of all ranks, next to rank 0's output; `None` for one common output.
pub(super) fn listing(arguments: &Arguments) -> Option<PathBuf> {
    let first = arguments.outputs.first().filter(|path| names_rank(path))?;
    let first = of_rank(first, 0);
    let mut path = first.components().as_path().as_os_str().to_owned();
    path.push(Manifest::SUFFIX);
    Some(path.into())
}

/// Turns an output without `{rank}` into one file that all ranks write.
pub(super) fn one_for_all(arguments: &Arguments, target: Target) -> Target {
    match target {
        Target::Path(path) if !arguments.outputs.iter().all(|path| names_rank(path)) => {
            Target::Together(path)
        }
        own => own,
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
pub(super) fn with_rank(arguments: &Arguments, rank: Rank) -> Arguments {
    let path = |path: &PathBuf| of_rank(path, rank.0);
    Arguments {
        inputs: arguments.inputs.iter().map(path).collect(),
        outputs: arguments.outputs.iter().map(path).collect(),
        temporary: arguments.temporary.iter().map(path).collect(),
        report: arguments.report.as_ref().map(path),
        ..arguments.clone()
    }
}

pub(super) fn check(arguments: &Arguments) -> Result<(), CliFailure> {
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
    } else if !arguments.order.sums.is_empty() {
        (
            "--sum",
            "sort without it and -u, and add up in a merge of the outputs, with -m -u --sum",
        )
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

/// The command lines of all ranks, to look at their files together. Those that ranks share are looked at
/// once.
pub(super) fn all(arguments: &Arguments, ranks: u32) -> Vec<Arguments> {
    let of_rank = |rank| {
        let mut own = with_rank(arguments, Rank(rank));
        if rank > 0 && is_shared(arguments) {
            own.inputs = Vec::new();
        }
        own
    };
    (0..ranks).map(of_rank).collect()
}
