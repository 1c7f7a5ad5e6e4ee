//! The `gristmill` command: one file a subcommand.
//!
//! It is a library so that `gristmill-bench` fails, speaks and cleans up as the command does.

mod completions;
mod demo;
mod doctor;
pub mod ending;
mod files;
mod gensort;
pub mod job;
mod lab;
pub mod launcher;
pub mod machine;
mod moved;
mod progress;
mod sim;
pub mod size;
mod sort;
mod text;
mod valsort;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use crate::ending::failure::{CliFailure, Exit};
use crate::ending::{failure, say, scratch, signals, usage};

/// Sorts records from disk to disk, inside a memory limit, losing none.
#[derive(Parser)]
#[command(name = "gristmill", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Sort(sort::Arguments),
    Gensort(gensort::Arguments),
    Valsort(valsort::Arguments),
    Sim(Box<sim::Arguments>),
    Lab(lab::Arguments),
    Demo(demo::Arguments),
    Doctor(doctor::Arguments),
    Completions(completions::Arguments),
    Bench(moved::Bench),
}

impl Command {
    fn run(self) -> Result<Exit, CliFailure> {
        match self {
            Command::Sort(arguments) => sort::run(&arguments),
            Command::Gensort(arguments) => gensort::run(&arguments),
            Command::Valsort(arguments) => valsort::run(&arguments),
            Command::Sim(arguments) => sim::run(&arguments),
            Command::Lab(arguments) => lab::run(&arguments),
            Command::Demo(arguments) => demo::run(&arguments),
            Command::Doctor(arguments) => doctor::run(&arguments),
            Command::Completions(arguments) => completions::run(&arguments, Arguments::command()),
            Command::Bench(arguments) => arguments.run(),
        }
    }
}

/// Runs the command line of this process; the exit code.
pub fn main() -> ExitCode {
    match Arguments::try_parse() {
        Ok(arguments) => end(arguments.command.run()),
        Err(error) => usage::tell(error),
    }
}

/// Ends a command: reports its failure, and gives its exit code.
pub fn end(ended: Result<Exit, CliFailure>) -> ExitCode {
    scratch::give_way_to_signal();
    match ended {
        Ok(exit) => exit.code(),
        Err(failure) => failure.tell(),
    }
}
