//! The options of `gristmill sim`: a subcommand for each program.
//!
//! A program has options of its own ([`Listing::command`]). Options of all programs may also
//! precede the program's name.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, Subcommand};
use lab::{
    Changes, DRIVER, LabError, Listing, Parameters, Place, RANKS, Seeds, joined, machines, programs,
};
use machine::Profile;

use super::map::{self, MapOptions};
use terminal::progress;
use units::{count, positive, threads, whole};

const EXAMPLES: &str = "Examples:
  gristmill sim nano-sort --cores 4096 --keys-per-core 32
  gristmill sim merge-min --switch-ns 100 --runs 10 --json
  gristmill sim tune nano-sort --cores 256
  gristmill sim sort --runs 100 --faults late,cut,death,disk";

const AFTER: &str = "`gristmill sim PROGRAM --help` shows a program's options and the machines.";

/// Run a program of tiny tasks on a simulated machine, or on threads of this one.
#[derive(Args)]
#[command(before_help = EXAMPLES, after_help = AFTER)]
#[command(
    subcommand_value_name = "PROGRAM",
    subcommand_help_heading = "Programs"
)]
#[command(disable_help_subcommand = true)]
pub struct Arguments {
    #[command(flatten, next_help_heading = "Machine")]
    pub(crate) machine: MachineOptions,
    #[command(flatten, next_help_heading = "Runs and reports")]
    pub(crate) runs: RunOptions,
    #[command(subcommand)]
    pub(crate) chosen: Chosen,
}

/// The words of the command line, if they name a program.
static ASKED: OnceLock<Vec<OsString>> = OnceLock::new();

/// Subcommands are made for the programs alone that the words behind `gristmill` name: to make all of them
/// takes longer than a small simulation. Without a known name, as for help and after a mistake, all are made.
pub fn make_for(words: &[OsString]) {
    let is_sim = words.first().is_some_and(|word| word == "sim");
    let is_program = |word: &OsString| programs().iter().any(|program| word == program.name);
    if is_sim && words.iter().any(is_program) {
        ASKED.get_or_init(|| words.to_vec());
    }
}

fn is_needed(name: &str) -> bool {
    let asked = ASKED.get();
    asked.is_none_or(|words| words.iter().any(|word| word == name))
}

/// A program with its own options, to be run or tuned, the network that is mapped, or the machine that is
/// shown.
pub(crate) enum Chosen {
    Program(Parameters),
    Tune(Parameters, TuneOptions),
    Map(MapOptions),
    Machine(Option<String>),
}

/// The subcommand that searches the dials of a program.
const TUNE: &str = "tune";

/// Options of runs that only a single run has.
const OF_ONE_RUN: [&str; 2] = ["trace", "critical_path"];

/// Fewer runs say little about a mean.
const RUNS_OF_TUNE: &str = "3";

const MACHINE: &str = "machine";

/// The subcommand that maps a network.
const MAP: &str = "map";

/// Options of other programs that it has.
const OF_MAP: [&str; 5] = ["machine", "link_ns", "switch_ns", "seed", "json"];

/// Its argument; `machine` is the option of programs.
const SHOWN: &str = "shown";

#[derive(Args)]
pub(crate) struct MachineOptions {
    /// Machine by name, or a file like those in machines/ [default: nanopu; under mpirun: mpi]
    #[arg(long, value_name = "NAME|FILE|threads", value_parser = Machine)]
    machine: Option<String>,
    #[command(flatten)]
    changes: Changes,
    /// Threads of this computer to simulate on; results do not depend on them [default: 1]
    #[arg(long, value_name = "N", value_parser = threads)]
    threads: Option<u16>,
}

#[derive(Args)]
pub(crate) struct RunOptions {
    /// Random seed; run i uses S + i
    #[arg(long, value_name = "S", default_value_t = Seeds::default().first, value_parser = whole)]
    seed: u64,
    /// Number of runs
    #[arg(long, value_name = "N", default_value_t = Seeds::default().runs, value_parser = count)]
    runs: u64,
    /// Write a trace of the first run, of at most 512 cores, for https://ui.perfetto.dev
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Show the critical path of the first run: the work, messages and waits that made its last
    /// core last
    #[arg(long)]
    pub critical_path: bool,
    /// Show progress
    #[arg(long, value_enum, default_value_t)]
    pub progress: progress::Mode,
    /// Run even if the estimate says that the memory is too small
    #[arg(long)]
    pub anyway: bool,
    /// Print the report as JSON on standard output
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub(crate) struct TuneOptions {
    /// An option to search, and the values to try; may be repeated [default: the program's own
    /// dials, at values near the present ones]
    #[arg(long = "dial", value_name = "NAME[=V,V..]")]
    pub dials: Vec<String>,
    /// Most readings that are tried, those that are refused included
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = positive)]
    pub tries: u64,
}

impl MachineOptions {
    /// The name or the file of the machine.
    pub fn name(&self, parameters: &Parameters) -> &str {
        let own = parameters.listing().machine;
        let implied = joined().map(|_| RANKS).filter(|_| own != DRIVER);
        let named = self.machine.as_deref();
        named.or(implied).unwrap_or(own)
    }

    /// The name or the file of the machine, or another name.
    pub fn or<'a>(&'a self, name: &'a str) -> &'a str {
        self.machine.as_deref().unwrap_or(name)
    }

    /// The machine of this name with its changes.
    pub fn place(&self, name: &str) -> Result<Place, LabError> {
        let changes = Changes {
            threads: self.threads.map(usize::from),
            ..self.changes
        };
        Place::named(name, &changes)
    }
}

impl RunOptions {
    /// The seeds of all runs.
    pub fn seeds(&self) -> Seeds {
        Seeds {
            first: self.seed,
            runs: self.runs,
        }
    }
}

/// The program with the options of a command line.
pub(super) fn parameters(
    listing: &Listing,
    matches: &ArgMatches,
) -> Result<Parameters, clap::Error> {
    let refused = |error: LabError| clap::Error::raw(ErrorKind::ValueValidation, error);
    Parameters::parsed(listing, matches).map_err(refused)
}

impl FromArgMatches for Chosen {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Chosen, clap::Error> {
        let missing = || clap::Error::new(ErrorKind::MissingSubcommand);
        let (name, matches) = matches.subcommand().ok_or_else(missing)?;
        if name == MACHINE {
            return Ok(Chosen::Machine(matches.get_one::<String>(SHOWN).cloned()));
        }
        if name == MAP {
            return MapOptions::from_arg_matches(matches).map(Chosen::Map);
        }
        if name == TUNE {
            let (name, matches) = matches.subcommand().ok_or_else(missing)?;
            let program = parameters(named_program(name).ok_or_else(missing)?, matches)?;
            return Ok(Chosen::Tune(
                program,
                TuneOptions::from_arg_matches(matches)?,
            ));
        }
        let listing = named_program(name).ok_or_else(missing)?;
        parameters(listing, matches).map(Chosen::Program)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Chosen::from_arg_matches(matches)?;
        Ok(())
    }
}

fn named_program(name: &str) -> Option<&'static Listing> {
    programs().iter().find(|program| program.name == name)
}

impl Subcommand for Chosen {
    /// Gives the options of `sim` to every program.
    fn augment_subcommands(sim: Command) -> Command {
        let shared: Vec<Arg> = sim.get_arguments().cloned().collect();
        let named: Vec<&Listing> = programs().iter().filter(|it| is_needed(it.name)).collect();
        let own = named.iter().map(|program| {
            let own = format!("gristmill sim {}", program.name);
            command(program, &own, &shared)
        });
        let sim = sim.mut_args(|option| option.global(true).hide(true));
        let mut sim = sim.subcommands(own).subcommand(machine_command());
        if is_needed(TUNE) {
            sim = sim.subcommand(tune_command(&shared, &named));
        }
        if is_needed(MAP) {
            sim = sim.subcommand(map_command(&shared));
        }
        sim
    }

    fn augment_subcommands_for_update(sim: Command) -> Command {
        Chosen::augment_subcommands(sim)
    }

    fn has_subcommand(name: &str) -> bool {
        [MACHINE, MAP, TUNE].contains(&name) || named_program(name).is_some()
    }
}

/// The subcommand that searches dials, with a subcommand for each program.
fn tune_command(shared: &[Arg], programs: &[&Listing]) -> Command {
    let of_one_run = |option: &&Arg| OF_ONE_RUN.contains(&option.get_id().as_str());
    let shared = shared.iter().filter(|option| !of_one_run(option));
    let shared = shared
        .cloned()
        .map(|option| match option.get_id().as_str() {
            "runs" => option
                .help("Number of runs of a reading")
                .default_value(RUNS_OF_TUNE),
            _ => option,
        });
    let search = Command::new(TUNE).next_help_heading("Search");
    let search = TuneOptions::augment_args(search);
    let shared: Vec<Arg> = search.get_arguments().cloned().chain(shared).collect();
    let programs = programs.iter().map(|program| {
        let own = format!("gristmill sim {TUNE} {}", program.name);
        let examples = format!("Examples:\n  {own}\n  {own} --dial cores=16,64 --runs 5 --json");
        command(program, &own, &shared)
            .about(format!(
                "Search the dials of {} for the shortest time",
                program.name
            ))
            .before_help(examples)
    });
    Command::new(TUNE)
        .about("Search the dials of a program for the shortest mean time")
        .before_help(
            "Examples:\n  gristmill sim tune nano-sort --cores 256\n  \
             gristmill sim tune merge-min --dial incast=4,8,16 --dial reorder",
        )
        .after_help("`gristmill sim tune PROGRAM --help` shows a program's options.")
        .subcommand_value_name("PROGRAM")
        .subcommand_help_heading("Programs")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .subcommands(programs)
}

/// The subcommand that maps a network by probes.
fn map_command(shared: &[Arg]) -> Command {
    let shared = shared.iter().cloned();
    let of_map = shared.filter(|option| OF_MAP.contains(&option.get_id().as_str()));
    let of_map = of_map.map(|option| match option.get_id().as_str() {
        "machine" => option.value_name("NAME|FILE").help(format!(
            "Machine by name, or a file, with a [graph] [default: {}]",
            map::MACHINE
        )),
        _ => option,
    });
    MapOptions::augment_args(Command::new(MAP))
        .args(of_map)
        .about("Map a network by probes, route its hosts, and let a part of it die")
        .before_help(
            "Examples:\n  gristmill sim map --cores 100\n  \
             gristmill sim map --machine now-subcluster --without switch:a.two0\n  \
             gristmill sim map --machine now-subcluster --death switch:a.leaf3 --json",
        )
        .override_usage("gristmill sim map [OPTIONS]")
}

/// The subcommand that shows machines.
fn machine_command() -> Command {
    let named = Profile::BUILT_IN.map(|(name, _)| name).join(", ");
    Command::new(MACHINE)
        .about("Show the machines, the file of one, or the network of a file")
        .before_help(
            "Examples:\n  gristmill sim machine\n  gristmill sim machine nanopu > my.toml\n  \
             gristmill sim machine my.toml",
        )
        .override_usage("gristmill sim machine [NAME|FILE]")
        .arg(
            Arg::new(SHOWN)
                .value_name("NAME|FILE")
                .help(format!("A machine: {named}, or a file")),
        )
}

/// The command `own` of a program. Options of machines are hidden if it has no machine.
pub(super) fn command(program: &Listing, own: &str, shared: &[Arg]) -> Command {
    let examples = program.examples.iter();
    let examples = examples.map(|options| format!("\n  {own} {options}"));
    let has_no_machine = program.machine == DRIVER;
    let shared = shared.iter().cloned().map(|option| {
        let is_of_machine = option.get_help_heading() == Some("Machine");
        option.hide(has_no_machine && is_of_machine)
    });
    program
        .command()
        .args(shared)
        .mut_args(|option| {
            let has_value = option.get_action().takes_values();
            option.allow_negative_numbers(has_value)
        })
        .override_usage(format!("{own} [OPTIONS]"))
        .before_help(format!("Examples:{}", examples.collect::<String>()))
}

/// Parses the name of a machine. A value that looks like a file is accepted, and read later.
#[derive(Clone)]
struct Machine;

impl TypedValueParser for Machine {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        option: Option<&Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<String, clap::Error> {
        let text = value.to_string_lossy();
        // A dangling link counts as a file: reading it says what is wrong.
        let is_there = Path::new(value).symlink_metadata().is_ok();
        let is_file = text.contains('/') || text.ends_with(".toml") || is_there;
        if is_file {
            return Ok(text.into_owned());
        }
        PossibleValuesParser::new(named()).parse_ref(command, option, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(named()))
    }
}

fn named() -> impl Iterator<Item = PossibleValue> {
    let machines = machines().into_iter();
    machines.map(|(name, about)| PossibleValue::new(name).help(about))
}
