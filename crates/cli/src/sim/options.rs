//! The options of `gristmill sim`: a subcommand for each program.
//!
//! A program has options of its own ([`Listing::command`]). Options of all programs may also
//! precede the program's name.

use std::path::{Path, PathBuf};

use ::lab::{Changes, DRIVER, LabError, Listing, Parameters, Place, Seeds, machines, programs};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, Subcommand};

use crate::progress;
use crate::size::{count, threads, whole};

const EXAMPLES: &str = "Examples:
  gristmill sim nano-sort --cores 4096 --keys-per-core 32
  gristmill sim merge-min --switch-ns 100 --runs 10 --json
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
pub(crate) struct Arguments {
    #[command(flatten, next_help_heading = "Machine")]
    machine: MachineOptions,
    #[command(flatten, next_help_heading = "Runs and reports")]
    pub runs: RunOptions,
    #[command(subcommand)]
    program: Program,
}

/// The program and its own options.
struct Program {
    listing: &'static Listing,
    parameters: Parameters,
}

#[derive(Args)]
struct MachineOptions {
    /// Machine by name, or a file like those in machines/ [default: nanopu]
    #[arg(long, value_name = "NAME|FILE|threads", value_parser = Machine)]
    machine: Option<String>,
    #[command(flatten)]
    changes: Changes,
    /// Threads of this computer to simulate on; results do not depend on them [default: 1]
    #[arg(long, value_name = "N", value_parser = threads)]
    threads: Option<u16>,
}

/// Options of runs and reports.
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

impl Arguments {
    /// The name or the file of the machine.
    pub(crate) fn machine(&self) -> &str {
        let named = self.machine.machine.as_deref();
        named.unwrap_or(self.program.listing.machine)
    }

    /// The machine with its changes.
    pub(crate) fn place(&self) -> Result<Place, LabError> {
        let changes = Changes {
            threads: self.machine.threads.map(usize::from),
            ..self.machine.changes
        };
        Place::named(self.machine(), &changes)
    }

    /// The seeds of all runs.
    pub(crate) fn seeds(&self) -> Seeds {
        Seeds {
            first: self.runs.seed,
            runs: self.runs.runs,
        }
    }

    /// The program with its options.
    pub(crate) fn parameters(&self) -> Parameters {
        self.program.parameters.clone()
    }
}

impl FromArgMatches for Program {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Program, clap::Error> {
        let chosen = matches.subcommand().and_then(|(name, matches)| {
            let listing = programs().iter().find(|program| program.name == name)?;
            Some((listing, matches))
        });
        let missing = || clap::Error::new(ErrorKind::MissingSubcommand);
        let (listing, matches) = chosen.ok_or_else(missing)?;
        let refused = |error: LabError| clap::Error::raw(ErrorKind::ValueValidation, error);
        let parameters = Parameters::parsed(listing, matches).map_err(refused)?;
        Ok(Program {
            listing,
            parameters,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Program::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Subcommand for Program {
    /// Gives the options of `sim` to every program.
    fn augment_subcommands(sim: Command) -> Command {
        let shared: Vec<Arg> = sim.get_arguments().cloned().collect();
        let programs = programs().iter().map(|program| command(program, &shared));
        sim.mut_args(|option| option.global(true).hide(true))
            .subcommands(programs)
    }

    fn augment_subcommands_for_update(sim: Command) -> Command {
        Program::augment_subcommands(sim)
    }

    fn has_subcommand(name: &str) -> bool {
        programs().iter().any(|program| program.name == name)
    }
}

/// The subcommand of a program. Options of machines are hidden if it has no machine.
fn command(program: &Listing, shared: &[Arg]) -> Command {
    let own = format!("gristmill sim {}", program.name);
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
