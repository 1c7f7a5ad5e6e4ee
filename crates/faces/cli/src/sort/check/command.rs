//! `gristmill check`: `gristmill sort -c` under a name of its own, which also says that all is well.

use std::path::PathBuf;

use ::sort::IoChoice;
use clap::{ArgAction, Args};

use crate::sort::choices::{CheckName, IO, one_of};
use crate::sort::memory::{Asked, asked};
use crate::sort::options::Order;
use crate::sort::{self, Arguments as SortArguments};
use terminal::ending::failure::{CliFailure, Exit};
use terminal::progress;
use units::{size, threads};

const EXAMPLES: &str = "\
Examples:
  gristmill sort -t, -k3,3nr sales.csv | gristmill check -t, -k3,3nr
  gristmill sort -u names.txt | gristmill check -u      # no line is there twice
  gristmill check --format gensort output.dat
  gristmill check --format fixed:16 --key 8+8:u64le:desc sorted.bin
  gristmill check --format gensort sorted/              # a set, by its manifest";

/// Check that a file is in order.
///
/// The options are those of sort. Give the options with which the file was sorted. With -u equal
/// keys are disorder, too.
///
/// Exit codes: 0 in order; 1 not in order; 2 an error.
#[derive(Args)]
#[command(before_long_help = EXAMPLES, args_override_self = true, infer_long_args = true)]
#[command(disable_help_flag = true)]
pub(crate) struct Arguments {
    /// File to check, or the directory of a set of files [default: standard input]
    #[arg(value_name = "FILE")]
    inputs: Vec<PathBuf>,

    #[command(flatten)]
    order: Order,

    /// Lines end with NUL, not with a newline
    #[arg(short, long, help_heading = "Input and output")]
    zero_terminated: bool,
    /// Print nothing; the exit code tells
    #[arg(short, long, help_heading = "Input and output")]
    quiet: bool,
    /// Show progress on standard error
    #[arg(long, value_enum, default_value_t, help_heading = "Input and output")]
    progress: progress::Mode,

    /// Memory limit, such as 2G or 50% [default: 75% of the available memory]
    #[arg(short = 'S', long, value_name = "SIZE|PCT", value_parser = asked)]
    #[arg(allow_hyphen_values = true, help_heading = "Expert")]
    memory: Vec<Asked>,
    /// Cores to use [default: all]
    #[arg(long, value_name = "N", value_parser = threads, help_heading = "Expert")]
    parallel: Option<u16>,
    /// Longest line that buffers have room for [default: what the memory suggests]
    #[arg(long, value_name = "SIZE", value_parser = size, help_heading = "Expert")]
    max_line: Option<u64>,
    /// Whether to bypass the page cache; auto measures how much of the input is in it
    #[arg(long, value_parser = one_of(IO), default_value = "auto", help_heading = "Expert")]
    io: IoChoice,

    /// Print help
    #[arg(long, action = ArgAction::HelpLong, help_heading = "Help")]
    help: Option<bool>,
}

/// Checks the file as `sort -c` does.
///
/// # Errors
/// Those of `sort -c`.
pub(crate) fn run(arguments: &Arguments) -> Result<Exit, CliFailure> {
    let how = if arguments.quiet {
        CheckName::Quiet
    } else {
        CheckName::Verdict
    };
    sort::run(&SortArguments {
        inputs: arguments.inputs.clone(),
        order: arguments.order.clone(),
        zero_terminated: arguments.zero_terminated,
        check: Some(how),
        quiet: arguments.quiet,
        progress: arguments.progress,
        memory: arguments.memory.clone(),
        parallel: arguments.parallel,
        max_line: arguments.max_line,
        io: arguments.io,
        ..SortArguments::plain()
    })
}
