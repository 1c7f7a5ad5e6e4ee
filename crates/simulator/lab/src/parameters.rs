//! A program with values for its options, from the command line or a file.

use std::fmt::Display;
use std::sync::Arc;

use clap::ArgMatches;
use serde_json::{Map, Value};

use crate::changes::word;
use crate::error::LabError;
use crate::program::{self, CORES, Erased, Facts, KEYS, KEYS_PER_CORE, Listing};

/// A program, its number of cores, and its options.
#[derive(Clone)]
pub struct Parameters {
    listing: Listing,
    cores: u32,
    pub(crate) program: Arc<dyn Erased>,
    /// Options with a value, by name, in the order of the help.
    values: Map<String, Value>,
}

impl std::fmt::Debug for Parameters {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} with {:?}", self.listing.name, self.values)
    }
}

/// The reason why some distributions of keys give equal figures.
pub(crate) const SAME_ORDER: &str = "uniform, heavy-tailed and clustered keys are the same draws in the \
    same order, and programs compare keys, so that their times are the same";

impl Parameters {
    /// The program of that name with these options, and defaults for the others.
    ///
    /// # Errors
    /// A usage error if the program or an option is unknown, or a value is wrong.
    pub fn of<N: AsRef<str>, V: Display>(
        program: &str,
        options: impl IntoIterator<Item = (N, V)>,
    ) -> Result<Parameters, LabError> {
        Parameters::with_options(program::named(program)?, options)
    }

    /// As [`Parameters::of`], for a program of any crate.
    ///
    /// # Errors
    /// A usage error if an option is unknown, or a value is wrong.
    pub fn with_options<N: AsRef<str>, V: Display>(
        program: &Listing,
        options: impl IntoIterator<Item = (N, V)>,
    ) -> Result<Parameters, LabError> {
        let known = program.options();
        let mut line = Vec::new();
        for (name, value) in options {
            let name = name.as_ref();
            if !known.iter().any(|known| known == name) {
                let (program, known) = (program.name, known.join(" --"));
                return Err(LabError::usage(format!(
                    "{program} has no --{name}; its options are --{known}"
                )));
            }
            line.push(format!("--{name}={value}"));
        }
        let command = program.command().no_binary_name(true);
        let matches = command
            .try_get_matches_from(line)
            .map_err(|error| refused(&error))?;
        Parameters::parsed(program, &matches)
    }

    /// Checks the value of an option by itself.
    ///
    /// # Errors
    /// A usage error if the value is wrong.
    pub(crate) fn check_value(
        program: &Listing,
        option: &str,
        value: &impl Display,
    ) -> Result<(), LabError> {
        let command = program.command().no_binary_name(true);
        let parsed = command.try_get_matches_from([format!("--{option}={value}")]);
        parsed.map(drop).map_err(|error| refused(&error))
    }

    /// The program with the options of a command line.
    ///
    /// # Errors
    /// A usage error if a value is wrong.
    pub fn parsed(program: &Listing, matches: &ArgMatches) -> Result<Parameters, LabError> {
        let cores = *matches.get_one::<u32>(CORES).expect("it has a default");
        let configured = (program.parse)(matches).map_err(|error| refused(&error))?;
        let mut values = Map::from_iter([(CORES.to_owned(), cores.into())]);
        let of_program = configured.values().into_iter();
        values.extend(of_program.filter(|(_, value)| !value.is_null()));
        let parameters = Parameters {
            listing: *program,
            cores,
            program: configured,
            values,
        };
        if !parameters.values.contains_key(KEYS_PER_CORE) {
            return Ok(parameters);
        }
        match matches.get_one::<u64>(KEYS) {
            Some(&keys) => parameters.with_keys_of_all(keys),
            None => Ok(parameters),
        }
    }

    /// Divides `--keys` among the cores.
    fn with_keys_of_all(self, keys: u64) -> Result<Parameters, LabError> {
        let cores = u64::from(self.cores);
        if !keys.is_multiple_of(cores) || keys / cores > u64::from(u32::MAX) {
            return Err(LabError::usage(format!(
                "--keys {keys} cannot be divided evenly among {cores} cores"
            )));
        }
        let mut divided = self.with(KEYS_PER_CORE, keys / cores)?;
        let after = divided.values.keys().position(|name| name == KEYS_PER_CORE);
        let place = after.map_or(0, |place| place + 1);
        divided
            .values
            .shift_insert(place, KEYS.to_owned(), keys.into());
        Ok(divided)
    }

    /// The program with another value for an option.
    pub(crate) fn with(&self, option: &str, value: u64) -> Result<Parameters, LabError> {
        let has_each = self.values.contains_key(KEYS_PER_CORE);
        let goes = |name: &str| name == option || (name == KEYS && has_each);
        let others = self.iter().filter(|(name, _)| !goes(name));
        let changed = others.chain([(option, value.to_string())]);
        Parameters::with_options(&self.listing, changed)
    }

    /// The program with other values for some options; `None` leaves an option out. `--keys` stays
    /// as it is when the number of cores changes.
    pub(crate) fn turned(&self, values: &[(&str, Option<String>)]) -> Result<Parameters, LabError> {
        let is_turned = |name: &str| values.iter().any(|(turned, _)| *turned == name);
        let has_each = self.values.contains_key(KEYS_PER_CORE);
        let of_all = is_turned(KEYS) || self.values.contains_key(KEYS) && !is_turned(KEYS_PER_CORE);
        let goes = |name: &str| match name {
            KEYS_PER_CORE => has_each && of_all,
            KEYS => has_each && !of_all,
            _ => false,
        };
        let others = self.iter();
        let others = others.filter(|(name, _)| !is_turned(name) && !goes(name));
        let set = values.iter();
        let set = set.filter_map(|(name, value)| Some((*name, value.clone()?)));
        Parameters::with_options(&self.listing, others.chain(set))
    }

    /// Options and values for a command line: those that differ from the defaults.
    pub fn given(&self) -> Vec<(&str, String)> {
        let none: [(&str, &str); 0] = [];
        let defaults = Parameters::with_options(&self.listing, none);
        let defaults = defaults.map_or_else(|_| Map::new(), |defaults| defaults.values);
        let is_derived = |name: &str| name == KEYS_PER_CORE && self.values.contains_key(KEYS);
        let is_given = |(name, value): &(&String, &Value)| {
            defaults.get(*name) != Some(*value) && !is_derived(name)
        };
        let given = self.values.iter().filter(is_given);
        given
            .map(|(name, value)| (name.as_str(), word(value)))
            .collect()
    }

    /// The program without options.
    pub fn listing(&self) -> &Listing {
        &self.listing
    }

    /// Number of cores that run the program.
    pub fn cores(&self) -> u32 {
        self.cores
    }

    pub(crate) fn facts(&self) -> Facts {
        self.program.facts(self.cores)
    }

    /// A remark on the options, for people.
    pub fn note(&self) -> Option<String> {
        let distribution = self.word("distribution");
        let is_alike = |name: &String| ["heavy-tailed", "clustered"].contains(&name.as_str());
        let alike = distribution.filter(is_alike);
        let alike = alike.map(|name| format!("--distribution {name}: {SAME_ORDER}"));
        let notes: Vec<String> = self.facts().note.into_iter().chain(alike).collect();
        (!notes.is_empty()).then(|| notes.join("; "))
    }

    /// The value of an option, if it is a number.
    pub fn find(&self, option: &str) -> Option<u64> {
        self.values.get(option)?.as_u64()
    }

    /// The value of an option as a word of the command line; `None` if it is left out.
    pub(crate) fn word(&self, option: &str) -> Option<String> {
        self.values.get(option).map(word)
    }

    pub(crate) fn values(&self) -> &Map<String, Value> {
        &self.values
    }

    /// Options and their values, for people.
    pub fn iter(&self) -> impl Iterator<Item = (&str, String)> {
        let values = self.values.iter();
        values.map(|(name, value)| (name.as_str(), word(value)))
    }
}

/// The parser's error in one line.
fn refused(error: &clap::Error) -> LabError {
    let text = error.render().to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    let words: Vec<_> = first
        .trim_start_matches("error: ")
        .split_whitespace()
        .collect();
    LabError::usage(words.join(" "))
}
