//! `gristmill sim` on the processes that a launcher has started: each is a core of the program.

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::OnceLock;

use host::job::RankJob;
use lab::RANKS;
use sim::command::{self, Arguments};
use terminal::ending::codes::FAILED;
use terminal::ending::failure::{CliFailure, Exit};
use terminal::launcher;

/// Failures that a rank has by itself. Of the others rank 0 tells.
const OF_ONE_RANK: [&str; 3] = ["bug", "no_thread", "network"];

static JOB: OnceLock<RankJob> = OnceLock::new();

/// Joins the other ranks before the options are read: the default number of cores is theirs.
pub(crate) fn join(words: &[OsString]) {
    let is_sim = words.get(1).is_some_and(|word| word == "sim");
    let simulates = launcher::is_only_rank() && names_a_machine(words);
    if !is_sim || !launcher::is_launched() || simulates {
        return;
    }
    let job = RankJob::join(words.iter().any(|word| word == "--json"));
    let job = job.ok().flatten();
    lab::join(job.as_ref().map(RankJob::network));
    job.map(|job| JOB.set(job));
}

/// Whether the words name another machine than the ranks.
fn names_a_machine(words: &[OsString]) -> bool {
    let mut words = words.iter().filter_map(|word| word.to_str());
    let named = words.find_map(|word| word.strip_prefix("--machine"));
    named.is_some_and(|value| value.strip_prefix('=').or_else(|| words.next()) != Some(RANKS))
}

/// Runs `gristmill sim`, and leaves the job.
pub(crate) fn run(arguments: &Arguments) -> Result<Exit, CliFailure> {
    let ended = command::run(arguments);
    match (JOB.get(), ended) {
        (None, ended) => ended,
        (Some(job), Err(failure)) if OF_ONE_RANK.contains(&failure.kind) => {
            job.fail_alone(&failure)
        }
        (Some(job), ended) => job.leave(ended),
    }
}

/// Ends with the words for a command line that asks for help, or that no rank can understand: rank 0 tells, or
/// each rank where they have unlike ones.
pub(crate) fn refused(is_mistake: bool, tell: impl FnOnce() -> ExitCode) -> ExitCode {
    let Some(job) = JOB.get() else { return tell() };
    let is_alone = is_mistake && launcher::is_one_of_several_commands();
    let code = if job.is_first() || is_alone {
        tell()
    } else if is_mistake {
        ExitCode::from(FAILED)
    } else {
        ExitCode::SUCCESS
    };
    if is_alone {
        let told = "its command line, which other ranks do not share, is wrong";
        job.fail_alone(&CliFailure::usage(told));
    }
    // A failure to leave adds nothing to the words.
    let _ = job.leave(Ok(Exit::Done));
    code
}
