//! `gristmill bench`: what is measured stands beside its floor, in one run.
//!
//! A machine's noise is larger than what is looked for, so no figure stands alone: every section
//! begins with a floor (a copy of the same bytes), contenders take turns, each round begins with
//! another one, and all runs are told:
//!
//! ```text
//! round 1   floor  a  b  c
//! round 2          a  b  c  floor
//! round 3             b  c  floor  a        > median of each, and its ratio to the floor's
//! ```
//!
//! Rates of one hour are not those of the next; ratios within one run are what compares.

mod child;
mod cold;
mod contender;
mod datamation;
mod disk;
mod exchange;
mod external;
mod floor;
mod group;
mod heaper_merger;
mod kernel;
mod measure;
mod memory;
mod minute;
mod records;
mod requests;
mod room;
mod scratches;
mod stage;
mod table;

use std::future::Future;

use clap::{Args, Subcommand};
use node::Node;
use node_real::Cluster;
use pipeline::Failure;

use crate::failure::{CliFailure, Exit};
use crate::machine;
use crate::size::readable;

/// Measure this machine: sorts beside a copy and peers, kernels, stages, disks, the exchange
/// between ranks; each with its floor.
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Subcommand)]
enum Bench {
    Datamation(datamation::Arguments),
    External(external::Arguments),
    Minute(minute::Arguments),
    Disk(disk::Arguments),
    Exchange(exchange::Arguments),
    Memory(memory::Arguments),
    Kernel(kernel::Arguments),
    Stage(stage::Arguments),
    HeaperMerger(heaper_merger::Arguments),
}

/// What every measurement may be asked.
#[derive(Args, Clone, Copy)]
struct Common {
    /// Runs of each contender
    #[arg(long, value_name = "N", default_value_t = 5,
        value_parser = clap::value_parser!(u16).range(1..=1000))]
    runs: u16,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// A tiny size, to see that it works; the figures mean nothing
    #[arg(long)]
    smoke: bool,
}

impl Common {
    /// What to measure with: as asked for, or the default, or the tiny size.
    fn size(self, asked: Option<u64>, default: u64, smoke: u64) -> u64 {
        asked.unwrap_or(if self.smoke { smoke } else { default })
    }
}

/// Measures.
pub fn run(arguments: &Arguments) -> Result<Exit, CliFailure> {
    let (json, report) = match &arguments.bench {
        // Ranks of a job: one of them tells.
        Bench::Exchange(arguments) => return exchange::run(arguments),
        Bench::Datamation(arguments) => (arguments.common.json, datamation::run(arguments)),
        Bench::External(arguments) => (arguments.common.json, external::run(arguments)),
        Bench::Minute(arguments) => (arguments.json, minute::run(arguments)),
        Bench::Disk(arguments) => (arguments.common.json, disk::run(arguments)),
        Bench::Memory(arguments) => (arguments.common.json, memory::run(arguments)),
        Bench::Kernel(arguments) => (arguments.common.json, kernel::run(arguments)),
        Bench::Stage(arguments) => (arguments.common.json, stage::run(arguments)),
        Bench::HeaperMerger(arguments) => (arguments.common.json, heaper_merger::run(arguments)),
    };
    let told = report.and_then(|report| report.tell(json));
    told.map_err(|failure| failure.with_json(json))?;
    Ok(Exit::Done)
}

/// Runs a program on one real node, in this process.
fn on_node<T, P, Task>(program: P) -> Result<T, CliFailure>
where
    T: Send + 'static,
    P: Fn(Node) -> Task + Clone + Send + 'static,
    Task: Future<Output = Result<T, Failure>> + 'static,
{
    const SEED: u64 = 1; // places of samples and names of temporary files: the same in every run
    let end = Cluster::new(1, SEED).run(program).pop().expect("one node");
    end.map_err(CliFailure::from)
}

/// Refuses what does not fit into the memory that is free.
fn check_memory(needed: u64, option: &str) -> Result<(), CliFailure> {
    let limit = machine::memory_limit(None);
    if needed <= limit {
        return Ok(());
    }
    let message = format!(
        "this needs {} of memory, and {} can be had; give a smaller {option}",
        readable(needed),
        readable(limit)
    );
    Err(CliFailure::new("memory_limit", message))
}

/// One thread, and all cores where there are more.
fn thread_counts() -> Vec<usize> {
    let mut counts = vec![1, machine::cores()];
    counts.dedup();
    counts
}

/// The number of threads, in words.
fn threads_in_words(threads: usize) -> String {
    if threads == 1 {
        "one thread".to_owned()
    } else {
        format!("{threads} threads")
    }
}
