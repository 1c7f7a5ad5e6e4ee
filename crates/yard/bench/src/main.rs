//! `gristmill-bench`: measures sorts, kernels, disks and the exchange against their floors.
//!
//! Each measurement has a file. `race` runs contenders in turn and `table` reports; `programs`
//! measures whole commands, `buffers` serves measurements in memory, `requests` and
//! `floor` those of a disk. Rates vary from hour to hour: compare ratios within one run.

mod buffers;
mod cold;
mod datamation;
mod disk;
mod exchange;
mod external;
mod floor;
mod heaper_merger;
mod host;
mod kernel;
mod library;
mod lines;
mod logp;
mod minute;
mod programs;
mod race;
mod records;
mod room;
mod same;
mod skew;
mod stages;
mod table;

use std::process::ExitCode;

use clap::{Args, CommandFactory, Parser, Subcommand};
use terminal::ending::failure::{CliFailure, Exit};
use terminal::ending::{self, usage};
use terminal::{completions, manual};

const EXAMPLES: &str = "\
Examples:
  gristmill-bench datamation --directory /scratch      a million records, cold, and cp
  gristmill-bench lines --case urls --size 500MB       lines of text, beside GNU sort
  gristmill-bench library --records 10000000           the Rust library, beside the command
  gristmill-bench external --size 10GB --memory 1G     more than memory holds
  gristmill-bench disk --dir /scratch                  a disk by the size of requests
  gristmill-bench stages --content lines               the rates of stages, in memory
  gristmill-bench skew --case heavy-key                skewed lines beside even ones
  gristmill-bench kernel --json                        the kernels in memory, for a script
  mpirun -n 4 gristmill-bench exchange --size 32M      the exchange between ranks

The measured command is the `gristmill` in the directory of this program, or else the one on PATH;
the variable GRISTMILL names another. --smoke tries everything in seconds.";

const COMPLETED: &str = "\
Examples:
  gristmill-bench completions bash > gristmill-bench.bash   # then: . ./gristmill-bench.bash";

/// Measures sorts, kernels, disks and the exchange between ranks, each with its floor.
#[derive(Parser)]
#[command(name = "gristmill-bench", version = env!("GRISTMILL_VERSION"), max_term_width = 100)]
#[command(before_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Subcommand)]
enum Bench {
    Datamation(datamation::Arguments),
    Lines(lines::Arguments),
    Library(library::Arguments),
    #[command(hide = true)]
    Pushed(library::Pushed),
    External(external::Arguments),
    Minute(minute::Arguments),
    Disk(disk::Arguments),
    Exchange(exchange::Arguments),
    Logp(logp::Arguments),
    Kernel(kernel::Arguments),
    Stages(stages::Arguments),
    Skew(skew::Arguments),
    HeaperMerger(heaper_merger::Arguments),
    #[command(before_long_help = COMPLETED)]
    Completions(completions::Arguments),
    Manual(manual::Arguments),
}

/// Options of every measurement.
#[derive(Args, Clone, Copy)]
struct Common {
    /// Runs of each contender
    #[arg(long, value_name = "N", default_value_t = 5,
        value_parser = clap::value_parser!(u16).range(1..=1000))]
    runs: u16,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Run at a tiny size, to see that it works; the figures mean nothing
    #[arg(long)]
    smoke: bool,
}

impl Common {
    /// The size to measure with: the one asked for, else the default or the tiny one.
    fn size(self, asked: Option<u64>, default: u64, smoke: u64) -> u64 {
        asked.unwrap_or(if self.smoke { smoke } else { default })
    }
}

/// The kinds of input that were asked for, or all of them.
fn chosen<'a, Kind>(asked: &'a [Kind], all: &'a [Kind]) -> &'a [Kind] {
    if asked.is_empty() { all } else { asked }
}

fn main() -> ExitCode {
    match Arguments::try_parse() {
        Ok(arguments) => ending::end(run(&arguments.bench)),
        Err(error) => usage::tell(error, &Arguments::command()),
    }
}

fn run(bench: &Bench) -> Result<Exit, CliFailure> {
    let (json, report) = match bench {
        // Every rank of a job measures, and one of them reports.
        Bench::Exchange(arguments) => return exchange::run(arguments),
        Bench::Logp(arguments) => return logp::run(arguments),
        Bench::Pushed(arguments) => return arguments.run().map(|()| Exit::Done),
        Bench::Completions(arguments) => {
            return completions::run(arguments, &Arguments::command(), |_, _| Vec::new());
        }
        Bench::Manual(arguments) => return arguments.run(Arguments::command()),
        Bench::Datamation(arguments) => (arguments.common.json, datamation::run(arguments)),
        Bench::Library(arguments) => (arguments.common.json, library::run(arguments)),
        Bench::Lines(arguments) => (arguments.common.json, lines::run(arguments)),
        Bench::External(arguments) => (arguments.common.json, external::run(arguments)),
        Bench::Minute(arguments) => (arguments.json, minute::run(arguments)),
        Bench::Disk(arguments) => (arguments.common.json, disk::run(arguments)),
        Bench::Kernel(arguments) => (arguments.common.json, kernel::run(arguments)),
        Bench::Stages(arguments) => (arguments.common.json, stages::run(arguments)),
        Bench::Skew(arguments) => (arguments.common.json, skew::run(arguments)),
        Bench::HeaperMerger(arguments) => (arguments.common.json, heaper_merger::run(arguments)),
    };
    let told = report.and_then(|report| report.tell(json));
    told.map_err(|failure| failure.with_json(json))?;
    Ok(Exit::Done)
}
