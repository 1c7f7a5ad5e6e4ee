//! The `gristmill` command: one file per subcommand.

mod completed;
#[cfg(feature = "both")]
mod demo;
#[cfg(feature = "sorter")]
mod doctor;
#[cfg(feature = "sorter")]
mod gensort;
mod help;
#[cfg(feature = "sorter")]
mod listed;
#[cfg(feature = "both")]
mod plan;
#[cfg(feature = "sorter")]
mod ps;
#[cfg(feature = "both")]
mod ranks;
#[cfg(feature = "sorter")]
mod sort;
#[cfg(feature = "sorter")]
mod valsort;

use std::ffi::OsString;
use std::mem::ManuallyDrop;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

#[cfg(feature = "simulator")]
use sim::{command, experiments};
use terminal::ending::failure::{CliFailure, Exit};
use terminal::ending::{end, usage};
use terminal::{completions, manual};

/// The version of the package and, in a release build, the commit.
const VERSION: &str = env!("GRISTMILL_VERSION");

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
    #[cfg(feature = "sorter")]
    Sort(Box<sort::Arguments>),
    #[cfg(feature = "sorter")]
    Check(Box<sort::checking::Arguments>),
    #[cfg(feature = "sorter")]
    Explain(Box<sort::ExplainArguments>),
    #[cfg(feature = "sorter")]
    Gensort(gensort::Arguments),
    #[cfg(feature = "sorter")]
    Valsort(valsort::Arguments),
    #[cfg(feature = "simulator")]
    Sim(Box<command::Arguments>),
    #[cfg(feature = "simulator")]
    Lab(experiments::Arguments),
    #[cfg(feature = "both")]
    Plan(plan::Arguments),
    #[cfg(feature = "both")]
    Demo(demo::Arguments),
    #[cfg(feature = "sorter")]
    Doctor(doctor::Arguments),
    #[cfg(feature = "sorter")]
    Ps(ps::Arguments),
    Completions(completions::Arguments),
    Manual(manual::Arguments),
}

impl Command {
    fn run(self) -> Result<Exit, CliFailure> {
        match self {
            #[cfg(feature = "sorter")]
            Command::Sort(arguments) => sort::run(&arguments),
            #[cfg(feature = "sorter")]
            Command::Check(arguments) => sort::checking::run(&arguments),
            #[cfg(feature = "sorter")]
            Command::Explain(arguments) => sort::explain(&arguments),
            #[cfg(feature = "sorter")]
            Command::Gensort(arguments) => gensort::run(&arguments),
            #[cfg(feature = "sorter")]
            Command::Valsort(arguments) => valsort::run(&arguments),
            #[cfg(feature = "both")]
            Command::Sim(arguments) => ranks::run(&arguments),
            #[cfg(all(feature = "simulator", not(feature = "both")))]
            Command::Sim(arguments) => command::run(&arguments),
            #[cfg(feature = "simulator")]
            Command::Lab(arguments) => experiments::run(&arguments),
            #[cfg(feature = "both")]
            Command::Plan(arguments) => plan::run(&arguments),
            #[cfg(feature = "both")]
            Command::Demo(arguments) => demo::run(&arguments),
            #[cfg(feature = "sorter")]
            Command::Doctor(arguments) => doctor::run(&arguments),
            #[cfg(feature = "sorter")]
            Command::Ps(arguments) => ps::run(&arguments),
            Command::Completions(arguments) => {
                completions::run(&arguments, &Arguments::command(), completed::values)
            }
            Command::Manual(arguments) => arguments.run(Arguments::command()),
        }
    }
}

/// The words of a command line; those of commands with the options of sort as getopt
/// reads them.
#[cfg(feature = "sorter")]
fn words(words: Vec<OsString>) -> Vec<OsString> {
    let name = words.get(1).and_then(|word| word.to_str());
    let Some(name) = name.filter(|name| usage::OF_SORT.contains(name)) else {
        return words;
    };
    let command = ManuallyDrop::new(Arguments::command());
    let found = command.find_subcommand(name).expect("a subcommand");
    sort::of_getopt(words, found)
}

#[cfg(not(feature = "sorter"))]
fn words(words: Vec<OsString>) -> Vec<OsString> {
    words
}

/// As [`Parser::try_parse_from`], but leaves the tree of commands to the end of the process: it has thousands of
/// parts, and to free them takes as long as to parse.
fn parse(words: &[OsString]) -> Result<Arguments, clap::Error> {
    let mut command = ManuallyDrop::new(Arguments::command());
    let mut matches = command.try_get_matches_from_mut(words)?;
    let arguments = Arguments::from_arg_matches_mut(&mut matches);
    arguments.map_err(|error| error.format(&mut command))
}

fn main() -> ExitCode {
    #[cfg(feature = "simulator")]
    add_programs();
    node_real::allow_inherited_descriptors_only();
    let (asked, all) = help::asked(std::env::args_os().collect());
    let words = words(asked);
    #[cfg(feature = "both")]
    ranks::join(&words);
    #[cfg(feature = "simulator")]
    command::make_for(words.get(1..).unwrap_or_default());
    match parse(&words) {
        Ok(arguments) => end(arguments.command.run()),
        Err(error) => {
            #[cfg(feature = "both")]
            let is_mistake = error.use_stderr();
            let tell = || refuse(error, &words, all);
            #[cfg(feature = "both")]
            let tell = || ranks::refused(is_mistake, tell);
            tell()
        }
    }
}

/// Tells of a command line that cannot be understood, or shows its help: a short one unless `all` is asked for.
fn refuse(error: clap::Error, words: &[OsString], all: bool) -> ExitCode {
    if error.kind() == ErrorKind::DisplayHelp && !all {
        let short = help::short(Arguments::command()).try_get_matches_from(words);
        return usage::tell(short.err().unwrap_or(error), &Arguments::command());
    }
    usage::tell(error, &Arguments::command())
}

/// The programs of `sim` beside those of tiny tasks.
#[cfg(feature = "simulator")]
fn add_programs() {
    #[cfg(feature = "both")]
    {
        simulated_sort::programs().into_iter().for_each(lab::add);
        lab::add_experiments(&simulated_sort::EXPERIMENTS);
    }
}
