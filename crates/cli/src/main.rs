//! The `gristmill` command: one file a subcommand.

mod bench;
mod completions;
mod demo;
mod doctor;
mod ending;
mod files;
mod gensort;
mod job;
mod lab;
mod launcher;
mod machine;
mod progress;
mod sim;
mod size;
mod sort;
mod text;
mod valsort;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use ending::failure::{CliFailure, Exit};
use ending::{failure, say, scratch, signals, usage};

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
    Bench(bench::Arguments),
    Demo(demo::Arguments),
    Doctor(doctor::Arguments),
    Completions(completions::Arguments),
}

impl Command {
    fn run(self) -> Result<Exit, CliFailure> {
        match self {
            Command::Sort(arguments) => sort::run(&arguments),
            Command::Gensort(arguments) => gensort::run(&arguments),
            Command::Valsort(arguments) => valsort::run(&arguments),
            Command::Sim(arguments) => sim::run(&arguments),
            Command::Lab(arguments) => lab::run(&arguments),
            Command::Bench(arguments) => bench::run(&arguments),
            Command::Demo(arguments) => demo::run(&arguments),
            Command::Doctor(arguments) => doctor::run(&arguments),
            Command::Completions(arguments) => completions::run(&arguments, Arguments::command()),
        }
    }
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return usage::tell(error),
    };
    let ended = arguments.command.run();
    scratch::give_way_to_signal();
    match ended {
        Ok(exit) => exit.code(),
        Err(failure) => failure.tell(),
    }
}
