//! `gristmill sim`: runs a program of tiny tasks on a simulated machine, or on threads.

mod show;
mod trace_file;
mod watch;

use ::lab::{Changes, Job, Knob, Observer, Parameters, Place, ReorderBy, Seeds, programs};
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};

use crate::failure::{CliFailure, Exit};
use crate::size::count;
use crate::{progress, say};
use trace_file::TraceFile;

pub use watch::watched;

/// Run a program of tiny tasks on a simulated machine, or on threads of this one.
#[derive(Args)]
#[command(override_usage = usage(), after_help = programs_help())]
pub struct Arguments {
    /// Which program; the list is below
    #[arg(value_name = "PROGRAM")]
    program: String,
    /// A machine by name, the file of one, or threads: this computer
    #[arg(long, value_name = "NAME|FILE|threads", default_value = "nanopu")]
    machine: String,
    /// Where messages of later steps wait: in a buffer of the program, in a queue of the NIC for
    /// each step, or in the NIC [default: software]
    #[arg(long, value_name = "software|port|nic", value_parser = reorder_names())]
    reorder: Option<String>,
    /// Decides all that is drawn; run i has seed S + i
    #[arg(long, value_name = "S", default_value_t = Seeds::default().first)]
    #[arg(allow_negative_numbers = true)]
    seed: u64,
    /// How many runs
    #[arg(long, value_name = "N", default_value_t = Seeds::default().runs)]
    #[arg(value_parser = count, allow_negative_numbers = true)]
    runs: u64,
    /// Draw the first run for Perfetto: stages of at most 512 cores
    #[arg(long, value_name = "FILE")]
    trace: Option<std::path::PathBuf>,
    /// Show progress
    #[arg(long, value_enum, default_value_t)]
    progress: progress::Mode,
    /// Print a report as JSON on standard output
    #[arg(long)]
    json: bool,
    // Their headings hold for all that follows, so they are last.
    #[command(flatten)]
    told: Told,
    #[command(flatten)]
    changed: Changed,
}

/// What the program is told. Each program knows some of these.
#[derive(Args)]
#[command(next_help_heading = "What the program is told (4K is 4096, 4KB 4000; defaults below)")]
struct Told {
    /// Cores that run it; more exactly ranks, which have four cores each on nanopu-nodes
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    cores: Option<u64>,
    /// Keys or values that each core begins with; documents of set-algebra; words that each core
    /// of map-reduce counts in a round
    #[arg(long, value_name = "K", value_parser = count, allow_negative_numbers = true)]
    keys_per_core: Option<u64>,
    /// The same over all cores, instead [default: none]; in kv how many different keys there are
    /// to ask for [default there: 1024]
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    keys: Option<u64>,
    /// Bytes of a message, or of a value; at most 2,048
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    bytes: Option<u64>,
    /// Messages of each core that sends, requests of each that asks; in all where only one core
    /// sends or receives
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    messages: Option<u64>,
    /// How many a core of a tree merges in one step, its own among them
    #[arg(long, value_name = "F", value_parser = count, allow_negative_numbers = true)]
    incast: Option<u64>,
    /// The core behind whose NIC all messages go [default: none, to random cores]
    #[arg(long, value_name = "R", value_parser = count, allow_negative_numbers = true)]
    to: Option<u64>,
    /// Rounds of a stream
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    rounds: Option<u64>,
    /// Queries, one after the other
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    queries: Option<u64>,
    /// Cores that own keys, while the others ask [default: none, all own keys and all ask]
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    servers: Option<u64>,
    /// Tasks that serve what a core owns; four have a core each on the machine nanopu-nodes
    #[arg(long, value_name = "W", value_parser = count, allow_negative_numbers = true)]
    workers: Option<u64>,
}

/// What changes of the simulated machine.
#[derive(Args)]
#[command(next_help_heading = "What changes of the machine")]
struct Changed {
    /// Whether switches carry one message to a group [default: on]
    #[arg(long, value_enum, value_name = "on|off")]
    multicast: Option<Switch>,
    /// Latency of a switch in nanoseconds [default: the machine's]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    switch_ns: Option<f64>,
    /// Latency of a link in nanoseconds [default: the machine's]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    link_ns: Option<f64>,
    /// Latency in nanoseconds that is added to some messages [default: none]
    #[arg(long, value_name = "X", requires = "tail_fraction", allow_negative_numbers = true)]
    tail_ns: Option<f64>,
    /// To which share of them, 0 to 1
    #[arg(long, value_name = "P", requires = "tail_ns", allow_negative_numbers = true)]
    tail_fraction: Option<f64>,
    /// The share of packets that is lost on each link, from 0 to below 0.5 [default: 0]
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    loss: Option<f64>,
    /// Threads of this computer to simulate on; the results do not depend on them [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    #[arg(allow_negative_numbers = true)]
    threads: Option<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

fn reorder_names() -> PossibleValuesParser {
    PossibleValuesParser::new(ReorderBy::ALL.map(|(_, name)| name))
}

/// What a wrong command line is told: which programs there are, too.
fn usage() -> String {
    let names: Vec<_> = programs().iter().map(|program| program.name).collect();
    format!("gristmill sim [OPTIONS] <PROGRAM>\n\nPrograms: {}", names.join(" "))
}

/// The programs, each with the options that it knows.
fn programs_help() -> String {
    let mut help = "Programs, each with its options and their defaults:\n".to_owned();
    for program in programs() {
        help += &format!("  {:<12} {}\n", program.name, program.help);
        let knobs = program.knobs.iter().map(|(knob, default)| match default {
            Some(default) => format!("{knob} {default}"),
            None if *knob == Knob::Reorder => format!("{knob} {}", ReorderBy::default().name()),
            None => format!("{knob} none"),
        });
        help += &format!("  {:<12}   {}\n", "", knobs.collect::<Vec<_>>().join(" "));
    }
    help
}

/// Runs it.
pub fn run(arguments: &Arguments) -> Result<Exit, CliFailure> {
    simulate(arguments).map_err(|failure| failure.with_json(arguments.json))
}

fn simulate(arguments: &Arguments) -> Result<Exit, CliFailure> {
    let place = Place::named(&arguments.machine, &arguments.changed.changes())?;
    let seeds = Seeds { first: arguments.seed, runs: arguments.runs };
    let mut job = Job::new(&arguments.program, &arguments.parameters(), place, seeds)?;
    let trace = arguments.trace.as_deref().map(TraceFile::open).transpose()?;
    if trace.is_some() {
        job = job.traced()?;
    }
    if !arguments.json {
        show::head(&job)?;
    }
    let observer = Observer::default();
    let report = watched(&observer, job.place(), arguments.progress, || job.run(&observer))?;
    if let Some(trace) = trace {
        trace.write(&job, &report)?;
    }
    if arguments.json {
        say::out(format!("{:#}", report.to_json()))?;
    } else {
        show::report(&report)?;
    }
    for run in &report.runs {
        if let Some(fault) = &run.verdict.fault {
            say::err(format!("gristmill: the check of seed {} failed: {fault}", run.seed));
        }
    }
    Ok(if report.is_right() { Exit::Done } else { Exit::CheckFailed })
}

impl Arguments {
    fn parameters(&self) -> Parameters {
        let told = &self.told;
        let given = [
            (Knob::Cores, told.cores),
            (Knob::KeysPerCore, told.keys_per_core),
            (Knob::Keys, told.keys),
            (Knob::Bytes, told.bytes),
            (Knob::Messages, told.messages),
            (Knob::Incast, told.incast),
            (Knob::To, told.to),
            (Knob::Rounds, told.rounds),
            (Knob::Queries, told.queries),
            (Knob::Servers, told.servers),
            (Knob::Workers, told.workers),
        ];
        let mut parameters = Parameters::default();
        for (knob, value) in given {
            if let Some(value) = value {
                parameters.set(knob, value);
            }
        }
        if let Some(by) = self.reorder.as_deref().and_then(ReorderBy::named) {
            parameters.set_reorder(by);
        }
        parameters
    }
}

impl Changed {
    fn changes(&self) -> Changes {
        Changes {
            multicast: self.multicast.map(|switch| switch == Switch::On),
            switch_ns: self.switch_ns,
            link_ns: self.link_ns,
            tail: self.tail_ns.zip(self.tail_fraction),
            loss: self.loss,
            threads: self.threads.map(usize::from),
        }
    }
}
