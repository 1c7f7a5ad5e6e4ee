//! The `gristmill` command: one file per subcommand.
//!
//! It is a library so that `gristmill-bench` fails, speaks and cleans up as the command does.

pub mod completions;
mod demo;
mod doctor;
pub mod ending;
mod files;
mod gensort;
mod glance;
mod help;
pub mod job;
mod lab;
pub mod launcher;
pub mod machine;
pub mod manual;
mod moved;
mod progress;
pub mod sim;
pub mod size;
mod sort;
mod text;
mod valsort;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

use crate::ending::failure::{CliFailure, Exit};
use crate::ending::{scratch, usage};

/// The version of the package and, in a release build, the commit.
pub const VERSION: &str = env!("GRISTMILL_VERSION");

const EXAMPLES: &str = "\
Examples:
  gristmill sort -t, -k3,3nr sales.csv  # lines, with the options of GNU sort
  gristmill sort --format csv --no-header --key '#2:num' sales.csv
  gristmill gensort 100000 input.dat    # records to try it with
  gristmill sort --format gensort input.dat -o output.dat
  gristmill check --format gensort output.dat   # is it in order?
  gristmill sim nano-sort --cores 256   # NanoSort on simulated cores
  gristmill doctor                      # what this machine offers a sort";

/// Sorts lines of text, rows of CSV, TSV and JSON Lines, and binary records from disk to disk,
/// within a memory limit.
#[derive(Parser)]
#[command(name = "gristmill", version = VERSION, max_term_width = 100)]
#[command(before_long_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Sort(Box<sort::Arguments>),
    Check(Box<sort::checking::Arguments>),
    Explain(Box<sort::ExplainArguments>),
    Gensort(gensort::Arguments),
    Valsort(valsort::Arguments),
    Sim(Box<sim::Arguments>),
    Lab(lab::Arguments),
    Demo(demo::Arguments),
    Doctor(doctor::Arguments),
    Completions(completions::Arguments),
    Manual(manual::Arguments),
    Bench(moved::Bench),
}

impl Command {
    fn run(self) -> Result<Exit, CliFailure> {
        match self {
            Command::Sort(arguments) => sort::run(&arguments),
            Command::Check(arguments) => sort::checking::run(&arguments),
            Command::Explain(arguments) => sort::explain(&arguments),
            Command::Gensort(arguments) => gensort::run(&arguments),
            Command::Valsort(arguments) => valsort::run(&arguments),
            Command::Sim(arguments) => sim::run(&arguments),
            Command::Lab(arguments) => lab::run(&arguments),
            Command::Demo(arguments) => demo::run(&arguments),
            Command::Doctor(arguments) => doctor::run(&arguments),
            Command::Completions(arguments) => completions::run(&arguments, Arguments::command()),
            Command::Manual(arguments) => arguments.run(Arguments::command()),
            Command::Bench(arguments) => arguments.run(),
        }
    }
}

/// The words of a command line; those of commands with the options of sort as getopt
/// reads them.
fn words(words: Vec<OsString>) -> Vec<OsString> {
    let name = words.get(1).and_then(|word| word.to_str());
    let Some(name) = name.filter(|name| usage::OF_SORT.contains(name)) else {
        return words;
    };
    let command = Arguments::command();
    let found = command.find_subcommand(name).expect("a subcommand");
    sort::of_getopt(words, found)
}

/// Runs the command line of this process, and returns its exit code.
pub fn main() -> ExitCode {
    node_real::allow_inherited_descriptors_only();
    let (asked, all) = help::asked(std::env::args_os().collect());
    let words = words(asked);
    match Arguments::try_parse_from(&words) {
        Ok(arguments) => end(arguments.command.run()),
        Err(error) if error.kind() == ErrorKind::DisplayHelp && !all => {
            let short = help::short(Arguments::command()).try_get_matches_from(&words);
            usage::tell(short.err().unwrap_or(error), &Arguments::command())
        }
        Err(error) => usage::tell(error, &Arguments::command()),
    }
}

/// Ends a command: reports its failure, and returns its exit code.
pub fn end(ended: Result<Exit, CliFailure>) -> ExitCode {
    scratch::give_way_to_signal();
    match ended {
        Ok(exit) => exit.code(),
        Err(failure) => failure.tell(),
    }
}
