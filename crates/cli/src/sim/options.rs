//! The options of `gristmill sim`.

use std::path::PathBuf;

use ::lab::trial::Faults;
use ::lab::{Changes, DRIVER, Knob, Parameters, Seeds};
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};

use super::help;
use crate::progress;
use crate::size::{count, number, threads, whole};

/// The program that does not run on a simulated machine, but on the driver.
const SORT: &str = "sort";

/// Run a program of tiny tasks on a simulated machine, or on threads of this one.
#[derive(Args)]
#[command(override_usage = help::usage(), after_help = help::programs_and_machines())]
pub struct Arguments {
    /// Which program; `gristmill sim PROGRAM --help` shows its options, and the list is below
    #[arg(value_name = "PROGRAM")]
    pub program: String,
    /// A machine by name, or the file of one; `gristmill sim --help` lists those with names
    /// [default: nanopu, and of sort driver]
    #[arg(long, value_name = "NAME|FILE|threads")]
    machine: Option<String>,
    /// Where messages of later steps wait: in a buffer of the program, in a queue of the NIC for
    /// each step, or in the NIC [default: software]
    #[arg(long, value_name = "software|port|nic", value_parser = words(Knob::Reorder))]
    reorder: Option<String>,
    /// Decides all that is drawn; run i has seed S + i
    #[arg(long, value_name = "S", default_value_t = Seeds::default().first)]
    #[arg(value_parser = whole, allow_negative_numbers = true)]
    seed: u64,
    /// How many runs
    #[arg(long, value_name = "N", default_value_t = Seeds::default().runs)]
    #[arg(value_parser = count, allow_negative_numbers = true)]
    runs: u64,
    /// Write what the cores of the first run did and when, at most 512 of them, to a file that
    /// https://ui.perfetto.dev opens
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Show progress
    #[arg(long, value_enum, default_value_t)]
    pub progress: progress::Mode,
    /// Print a report as JSON on standard output
    #[arg(long)]
    pub json: bool,
    // Their headings hold for all that follows, so they are last.
    #[command(flatten)]
    program_options: ProgramOptions,
    #[command(flatten)]
    machine_options: MachineOptions,
}

/// Each program knows some of these.
#[derive(Args)]
#[command(next_help_heading = "Options of the program (4K is 4096, 4KB 4000)")]
struct ProgramOptions {
    /// Cores that run it; more exactly ranks, which have four cores each on nanopu-nodes
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    cores: Option<u64>,
    /// Keys or values that each core begins with; documents of set-algebra; words that each core
    /// of map-reduce counts in a round
    #[arg(long, value_name = "K", value_parser = count, allow_negative_numbers = true)]
    keys_per_core: Option<u64>,
    /// The same over all cores, instead; in kv how many different keys there are to ask for
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    keys: Option<u64>,
    /// Bytes of a message, or of a value of kv: a multiple of 8, at most 2,048 (kv: 2,032)
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    bytes: Option<u64>,
    /// Messages of each core that sends, requests of each that asks; in all where only one core
    /// sends or receives
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    messages: Option<u64>,
    /// Into how many buckets each level of a sort divides its keys
    #[arg(long, value_name = "B", value_parser = count, allow_negative_numbers = true)]
    buckets: Option<u64>,
    /// How many a core of a tree merges in one step, its own among them; 1 makes the tree a chain.
    /// In milli-sort cores to a pivot sorter [nano-sort: as many as there are buckets]
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
    /// Keys that a core sends in the first shuffle before it receives as many, 1 to 16
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    burst: Option<u64>,
    /// Rows of a group whose cores name borders [default: none, all do]
    #[arg(long, value_name = "K", value_parser = count, allow_negative_numbers = true)]
    rows: Option<u64>,
    /// The bucket whose size pivot-select shows
    #[arg(long, value_name = "I", value_parser = count, allow_negative_numbers = true)]
    bucket: Option<u64>,
    /// How a core of pivot-select chooses the keys that it names: as the paper prints it, by
    /// Figure 5's strategies, or by the example of section 4.2 [default: printed]
    #[arg(long, value_name = "WORD", value_parser = words(Knob::Naming))]
    naming: Option<String>,
    /// How keys come to their buckets: in one message for each bucket, or one for each key to a
    /// drawn core [default: buckets]
    #[arg(long, visible_alias = "variant", value_name = "buckets|keys", value_parser = words(Knob::Exchange))]
    exchange: Option<String>,
    /// How keys lie [default: uniform]
    #[arg(long, value_name = "WORD", value_parser = words(Knob::Distribution))]
    distribution: Option<String>,
    /// What happens to the nodes of a sort: any of late (messages), cut (links), death (of nodes),
    /// disk (a request fails), with commas; when and to whom the seed draws [default: none]
    #[arg(long, value_name = "LIST", value_parser = faults)]
    faults: Option<String>,
}

/// The same for every program.
#[derive(Args)]
#[command(next_help_heading = "Options of the simulated machine")]
struct MachineOptions {
    /// Whether switches carry one message to a group [default: on]
    #[arg(long, value_enum, value_name = "on|off")]
    multicast: Option<Switch>,
    /// Latency of a switch in nanoseconds [default: the machine's]
    #[arg(long, value_name = "X", value_parser = number, allow_negative_numbers = true)]
    switch_ns: Option<f64>,
    /// Latency of a link in nanoseconds [default: the machine's]
    #[arg(long, value_name = "X", value_parser = number, allow_negative_numbers = true)]
    link_ns: Option<f64>,
    /// Latency in nanoseconds that is added to some messages [default: none]
    #[arg(long, value_name = "X", requires = "tail_fraction", value_parser = number)]
    #[arg(allow_negative_numbers = true)]
    tail_ns: Option<f64>,
    /// To which share of them, 0 to 1
    #[arg(long, value_name = "P", requires = "tail_ns", value_parser = number)]
    #[arg(allow_negative_numbers = true)]
    tail_fraction: Option<f64>,
    /// The share of packets that is lost on each link, from 0 to below 0.5 [default: 0]
    #[arg(long, value_name = "P", value_parser = number, allow_negative_numbers = true)]
    loss: Option<f64>,
    /// Threads of this computer to simulate on; the results do not depend on them [default: 1]
    #[arg(long, value_name = "N", value_parser = threads, allow_negative_numbers = true)]
    threads: Option<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

fn words(knob: Knob) -> PossibleValuesParser {
    PossibleValuesParser::new(knob.words())
}

/// A list of faults, as the knob has it.
fn faults(list: &str) -> Result<String, String> {
    list.parse::<Faults>().map(|faults| faults.to_string())
}

impl Arguments {
    /// Where it runs.
    pub fn machine(&self) -> &str {
        let usual = if self.program == SORT {
            DRIVER
        } else {
            "nanopu"
        };
        self.machine.as_deref().unwrap_or(usual)
    }

    /// From which seeds.
    pub fn seeds(&self) -> Seeds {
        Seeds {
            first: self.seed,
            runs: self.runs,
        }
    }

    /// What is changed of the machine.
    pub fn changes(&self) -> Changes {
        self.machine_options.changes()
    }

    /// What the program is told.
    pub fn parameters(&self) -> Parameters {
        let told = &self.program_options;
        let given = [
            (Knob::Cores, told.cores),
            (Knob::KeysPerCore, told.keys_per_core),
            (Knob::Keys, told.keys),
            (Knob::Bytes, told.bytes),
            (Knob::Messages, told.messages),
            (Knob::Buckets, told.buckets),
            (Knob::Incast, told.incast),
            (Knob::To, told.to),
            (Knob::Rounds, told.rounds),
            (Knob::Queries, told.queries),
            (Knob::Servers, told.servers),
            (Knob::Workers, told.workers),
            (Knob::Burst, told.burst),
            (Knob::Rows, told.rows),
            (Knob::Bucket, told.bucket),
        ];
        let mut parameters = Parameters::default();
        for (knob, value) in given {
            if let Some(value) = value {
                parameters.set(knob, value);
            }
        }
        let words = [
            (Knob::Naming, &told.naming),
            (Knob::Exchange, &told.exchange),
            (Knob::Distribution, &told.distribution),
            (Knob::Faults, &told.faults),
            (Knob::Reorder, &self.reorder),
        ];
        for (knob, word) in words {
            if let Some(word) = word {
                parameters.set_word(knob, word);
            }
        }
        parameters
    }
}

impl MachineOptions {
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
