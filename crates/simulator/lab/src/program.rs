//! Programs by name: what the lab knows of a program of any type.
//!
//! ```text
//!   type of a program --> Listing, its name and options --> Parameters, with values for them
//!                                                               '--> facts, bytes, a run
//! ```
//!
//! [`grain::visit_all`] visits every program of tiny tasks; the caller may [`add`] others.

use std::sync::{Arc, LazyLock};

use clap::{Arg, ArgMatches, Command};
use grain::{Described, Load, Program, Timing, Visitor};
use node::Mutex;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::DRIVER;
use crate::error::LabError;
use crate::ranks::{Ranks, joined};
use crate::report::RunReport;
use crate::run::{self, Ground};

/// The option for the number of cores.
pub(crate) const CORES: &str = "cores";

/// The option for keys that each core begins with.
pub(crate) const KEYS_PER_CORE: &str = "keys-per-core";

/// The option for keys over all cores, instead.
pub(crate) const KEYS: &str = "keys";

/// The heading of a program's options in its help.
const HEADING: &str = "Options of the program (4K is 4096, 4KB 4000)";

/// A program that can be run by name.
#[derive(Clone, Copy, Debug)]
pub struct Listing {
    /// Name on the command line.
    pub name: &'static str,
    /// The machine if none is named.
    pub machine: &'static str,
    /// Options for the examples of the help.
    pub examples: &'static [&'static str],
    cores: u32,
    augment: fn(Command) -> Command,
    pub(crate) parse: Parse,
}

/// Reads the options of a program.
pub(crate) type Parse = fn(&ArgMatches) -> Result<Arc<dyn Erased>, clap::Error>;

/// An option that takes a value: its name, and its words if it takes no other values.
pub(crate) type Valued = (String, Vec<String>);

/// A program of any type with values for its options.
pub(crate) trait Erased: Send + Sync {
    fn facts(&self, cores: u32) -> Facts;
    /// Bytes of all cores in memory while `at_once` of them compute.
    fn bytes(&self, cores: u32, at_once: usize) -> u64;
    /// The values of its options by name; `null` for an option that is left out.
    fn values(&self) -> Map<String, Value>;
    /// Runs it once with the seed of the ground.
    fn run(&self, ground: &Ground<'_>) -> Result<RunReport, LabError>;
}

/// Facts of a program on a number of cores, known before it runs.
pub(crate) struct Facts {
    /// Why it cannot run.
    pub objection: Option<String>,
    /// Whether it needs messages from another NIC.
    pub needs_two_nics: bool,
    /// The load of a run, if it is known.
    pub load: Option<Load>,
    /// Meaning of the program's time.
    pub timing: Timing,
    /// A remark on its options, for people.
    pub note: Option<String>,
    /// The options that a search turns, each with the number that it has in effect.
    pub dials: Vec<(&'static str, u32)>,
}

/// A program with a task on each core.
struct OnCores<P>(P);

impl<P: Program + Described> Erased for OnCores<P> {
    fn facts(&self, cores: u32) -> Facts {
        let OnCores(program) = self;
        let objection = program.objection(cores);
        let runs = objection.is_none();
        Facts {
            objection,
            needs_two_nics: program.needs_two_nics(),
            load: runs.then(|| program.load(cores)).flatten(),
            timing: program.timing(),
            note: program.note(cores),
            dials: program.dials(cores),
        }
    }

    fn bytes(&self, cores: u32, at_once: usize) -> u64 {
        self.0.bytes(cores.into(), at_once as u64)
    }

    fn values(&self) -> Map<String, Value> {
        values(&self.0)
    }

    fn run(&self, ground: &Ground<'_>) -> Result<RunReport, LabError> {
        run::run(&self.0.clone().seeded(ground.seed), ground)
    }
}

pub(crate) fn values(program: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(program) {
        Ok(Value::Object(values)) => values,
        _ => unreachable!("options are fields of a struct"),
    }
}

impl Listing {
    /// A program of any crate.
    pub fn of<P: Program + Described>() -> Listing {
        let parse: Parse = |matches| Ok(Arc::new(OnCores(P::from_arg_matches(matches)?)));
        Listing::parsed::<P>("nanopu", parse)
    }

    pub(crate) fn parsed<P: Described>(machine: &'static str, parse: Parse) -> Listing {
        Listing {
            name: P::NAME,
            machine,
            examples: P::EXAMPLES,
            cores: P::CORES,
            augment: P::augment_args,
            parse,
        }
    }

    /// A command with the program's options.
    pub fn command(&self) -> Command {
        let number = |name, letter| Arg::new(name).long(name).value_name(letter);
        let ranks = joined().filter(|_| self.machine != DRIVER);
        let cores = number(CORES, "N")
            .help("Number of cores (ranks; on nanopu-nodes each rank has four cores)")
            .default_value(ranks.map_or(self.cores, Ranks::count).to_string())
            .value_parser(grain::count);
        let command = Command::new(self.name)
            .next_help_heading(HEADING)
            .arg(cores);
        let command = (self.augment)(command);
        if !has_keys_per_core(&command) {
            return command;
        }
        let keys = number(KEYS, "N")
            .help("Keys over all cores, instead of --keys-per-core")
            .conflicts_with(KEYS_PER_CORE)
            .value_parser(units::count);
        command.arg(keys)
    }

    pub(crate) fn options(&self) -> Vec<String> {
        let command = self.command();
        let named = command.get_arguments().filter_map(Arg::get_long);
        named.map(str::to_owned).collect()
    }

    /// The options that take a value.
    pub(crate) fn choices(&self) -> Vec<Valued> {
        let command = self.command();
        let valued = command
            .get_arguments()
            .filter(|option| option.get_action().takes_values());
        let choices = valued.filter_map(|option| {
            let words = option.get_possible_values().into_iter();
            let words = words.map(|word| word.get_name().to_owned()).collect();
            Some((option.get_long()?.to_owned(), words))
        });
        choices.collect()
    }

    /// Whether the program has that option.
    pub(crate) fn knows(&self, option: &str) -> bool {
        self.options().iter().any(|known| known == option)
    }
}

/// Whether the program has an option for keys per core.
fn has_keys_per_core(command: &Command) -> bool {
    command
        .get_arguments()
        .any(|option| option.get_id() == KEYS_PER_CORE)
}

/// The programs that callers have added.
static ADDED: Mutex<Vec<Listing>> = Mutex::new(Vec::new());

/// Adds a program to the list, before anyone asks for that.
pub fn add(program: Listing) {
    ADDED.lock().push(program);
}

/// All programs in the order of the help.
pub fn programs() -> &'static [Listing] {
    static PROGRAMS: LazyLock<Vec<Listing>> = LazyLock::new(|| {
        let mut all = All(Vec::new());
        grain::visit_all(&mut all);
        all.0.append(&mut ADDED.lock());
        all.0
    });
    &PROGRAMS
}

struct All(Vec<Listing>);

impl Visitor for All {
    fn visit<P: Program + Described>(&mut self) {
        self.0.push(Listing::of::<P>());
    }
}

/// The program of that name.
///
/// # Errors
/// A usage error if there is none.
pub fn named(name: &str) -> Result<&'static Listing, LabError> {
    let known = programs().iter().find(|program| program.name == name);
    known.ok_or_else(|| {
        let names: Vec<_> = programs().iter().map(|program| program.name).collect();
        let names = names.join(", ");
        LabError::usage(format!("there is no program '{name}'; there are {names}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::Parameters;

    #[test]
    fn defaults_make_a_program_that_runs() {
        for program in programs() {
            program.command().debug_assert();
            let defaults = Parameters::of(program.name, [("cores", program.cores)]).unwrap();
            let objection = defaults.facts().objection;
            assert_eq!(objection, None, "{}", program.name);
        }
    }

    #[test]
    fn the_most_bytes_are_what_a_program_accepts() {
        for program in programs().iter().filter(|program| program.knows("bytes")) {
            let name = program.name;
            let most = if name == "kv" { 2032 } else { 2048 };
            let with = |bytes: u32| {
                let told = Parameters::of(name, [("bytes", bytes)])?;
                Ok::<_, LabError>(told.facts().objection)
            };
            assert_eq!(with(most), Ok(None), "{name}");
            let told = with(most + 8).unwrap_err().to_string();
            assert!(told.contains(&format!("from 8 to {most}")), "{told}");
        }
    }

    #[test]
    fn an_unknown_program_lists_the_known_ones() {
        let told = named("sleep").unwrap_err().to_string();
        for program in programs() {
            assert!(told.contains(program.name), "{told}");
        }
    }
}
