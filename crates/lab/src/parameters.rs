//! What a program can be told: how many cores, keys, bytes, messages.
//!
//! Each program knows some of these [`Knob`]s, with a default for each; one that it does not know
//! is refused rather than ignored, so that no experiment believes it varied what it did not.

use std::collections::BTreeMap;
use std::fmt;

use machine::Queues;
use node::Matching;
use serde_json::Value;

use crate::error::LabError;
use crate::programs::Listing;

/// Something a program can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Knob {
    /// How many cores run it.
    Cores,
    /// Keys, values, documents or words that each core begins with.
    KeysPerCore,
    /// The same over all cores.
    Keys,
    /// Bytes of each message.
    Bytes,
    /// Messages, of each core that sends.
    Messages,
    /// Into how many buckets a level of a sort divides its keys.
    Buckets,
    /// How many a core of a tree merges in one step.
    Incast,
    /// The one rank that all send to.
    To,
    /// How often it is done.
    Rounds,
    /// How many requests.
    Queries,
    /// How many cores own keys, while the others ask.
    Servers,
    /// How many tasks of a core that owns keys serve them.
    Workers,
    /// Keys that a core sends before it receives as many.
    Burst,
    /// Rows of a group that name borders.
    Rows,
    /// The bucket whose size is asked for.
    Bucket,
    /// How a core chooses the keys that it names: a word.
    Naming,
    /// How keys come to their buckets: a word.
    Exchange,
    /// How keys lie: a word.
    Distribution,
    /// Where messages of later steps wait: a word.
    Reorder,
    /// What happens to simulated nodes: a word for each set of faults.
    Faults,
}

/// Every knob with its name, which is the option's and the key's in a file.
const NAMES: [(Knob, &str); 20] = [
    (Knob::Cores, "cores"),
    (Knob::KeysPerCore, "keys-per-core"),
    (Knob::Keys, "keys"),
    (Knob::Bytes, "bytes"),
    (Knob::Messages, "messages"),
    (Knob::Buckets, "buckets"),
    (Knob::Incast, "incast"),
    (Knob::To, "to"),
    (Knob::Rounds, "rounds"),
    (Knob::Queries, "queries"),
    (Knob::Servers, "servers"),
    (Knob::Workers, "workers"),
    (Knob::Burst, "burst"),
    (Knob::Rows, "rows"),
    (Knob::Bucket, "bucket"),
    (Knob::Naming, "naming"),
    (Knob::Exchange, "exchange"),
    (Knob::Distribution, "distribution"),
    (Knob::Reorder, "reorder"),
    (Knob::Faults, "faults"),
];

/// Every set of [`crate::trial::Faults`], the number of each is that of its bits.
const SETS_OF_FAULTS: [&str; 16] = [
    "none",
    "late",
    "cut",
    "late,cut",
    "death",
    "late,death",
    "cut,death",
    "late,cut,death",
    "disk",
    "late,disk",
    "cut,disk",
    "late,cut,disk",
    "death,disk",
    "late,death,disk",
    "cut,death,disk",
    "late,cut,death,disk",
];

impl Knob {
    /// All of them.
    pub(crate) fn all() -> impl Iterator<Item = Knob> {
        NAMES.into_iter().map(|(knob, _)| knob)
    }

    /// The knob of that name.
    pub fn named(name: &str) -> Option<Knob> {
        NAMES
            .iter()
            .find(|(_, known)| *known == name)
            .map(|(knob, _)| *knob)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        let entry = NAMES.iter().find(|(knob, _)| *knob == self);
        entry.map(|(_, name)| *name).expect("every knob has a name")
    }

    /// The words that it is told with, the default first; none if it is told a number.
    pub fn words(self) -> &'static [&'static str] {
        match self {
            Knob::Naming => &[
                "printed",
                "naive",
                "two",
                "three",
                "least",
                "second-0.2",
                "second-0.29",
            ],
            Knob::Exchange => &["buckets", "keys"],
            Knob::Distribution => &["uniform", "heavy-tailed", "clustered", "sorted"],
            Knob::Reorder => &["software", "port", "nic"],
            Knob::Faults => &SETS_OF_FAULTS,
            _ => &[],
        }
    }
}

impl fmt::Display for Knob {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "--{}", self.name())
    }
}

/// Where messages of later steps wait (NanoSort, section 5.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReorderBy {
    /// In a buffer of the program, as the paper built it.
    #[default]
    Software,
    /// In a queue of the NIC for each step.
    Port,
    /// In the NIC, which matches steps itself: one queue for all.
    Nic,
}

impl ReorderBy {
    /// All, in the order of their words.
    const ALL: [ReorderBy; 3] = [ReorderBy::Software, ReorderBy::Port, ReorderBy::Nic];

    /// How programs match steps.
    pub fn matching(self) -> Matching {
        match self {
            ReorderBy::Software => Matching::Software,
            ReorderBy::Port | ReorderBy::Nic => Matching::Ports,
        }
    }

    /// How the NIC divides its receive queues.
    pub fn queues(self) -> Queues {
        match self {
            ReorderBy::Software => Queues::ByCore,
            ReorderBy::Port => Queues::ByPort,
            ReorderBy::Nic => Queues::Shared,
        }
    }
}

/// Values of knobs: what somebody asked for, or all that a program knows. A word is kept as its
/// number among the knob's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    values: BTreeMap<Knob, u64>,
}

impl Parameters {
    /// Sets a knob.
    pub fn set(&mut self, knob: Knob, value: u64) {
        self.values.insert(knob, value);
    }

    /// Sets a knob that is told with a word; whether it knows that word.
    pub fn set_word(&mut self, knob: Knob, word: &str) -> bool {
        let number = knob.words().iter().position(|known| *known == word);
        number.is_some_and(|number| {
            self.values.insert(knob, number as u64);
            true
        })
    }

    /// The one of these that a knob's word names; they are in the order of its words.
    pub(crate) fn choice<T: Copy>(&self, knob: Knob, all: &[T]) -> T {
        debug_assert_eq!(all.len(), knob.words().len(), "{knob}: a word for each");
        all[self.find(knob).unwrap_or(0) as usize]
    }

    /// Where messages of later steps wait.
    pub fn reorder(&self) -> ReorderBy {
        self.choice(Knob::Reorder, &ReorderBy::ALL)
    }

    /// The value of a knob, if it is set.
    pub fn find(&self, knob: Knob) -> Option<u64> {
        self.values.get(&knob).copied()
    }

    /// The value of a knob that has a default.
    ///
    /// # Panics
    /// When it is not set: a bug of the table of programs.
    pub fn get(&self, knob: Knob) -> u64 {
        self.find(knob)
            .unwrap_or_else(|| panic!("{knob} has no default"))
    }

    /// The same for a knob of at most 32 bits, which is all but the keys of all cores.
    pub fn number(&self, knob: Knob) -> u32 {
        self.get(knob).try_into().expect("checked when it was set")
    }

    /// How many cores.
    pub fn cores(&self) -> u32 {
        self.number(Knob::Cores)
    }

    /// All that are set, by name, in the order of the knobs.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, String)> {
        self.values
            .iter()
            .map(|(knob, value)| match knob.words().get(*value as usize) {
                Some(word) => (knob.name(), (*word).to_owned()),
                None => (knob.name(), value.to_string()),
            })
    }

    /// The same with values for JSON.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&'static str, Value)> {
        self.values
            .iter()
            .map(|(knob, value)| match knob.words().get(*value as usize) {
                Some(word) => (knob.name(), Value::from(*word)),
                None => (knob.name(), Value::from(*value)),
            })
    }

    /// These, with the program's defaults for what was not asked for.
    ///
    /// # Errors
    /// When the program does not know one of them, or it has a value that cannot be.
    pub fn resolved(&self, program: &Listing) -> Result<Parameters, LabError> {
        for knob in self.values.keys() {
            self.check(*knob, program)?;
        }
        let mut all = self.clone();
        for &(knob, default) in program.knobs {
            let first_word = (!knob.words().is_empty()).then_some(0);
            if let Some(default) = default.or(first_word) {
                all.values.entry(knob).or_insert(default);
            }
        }
        if program.knows(Knob::KeysPerCore) {
            all.divide_keys(self)?;
        }
        all.check_to()?;
        Ok(all)
    }

    fn check(&self, knob: Knob, program: &Listing) -> Result<(), LabError> {
        let name = program.name;
        if !program.knows(knob) {
            let known: Vec<_> = program
                .knobs
                .iter()
                .map(|(knob, _)| knob.to_string())
                .collect();
            let known = known.join(" ");
            return Err(LabError::usage(format!(
                "{name} does not use {knob}; it knows {known}"
            )));
        }
        let Some(value) = self.find(knob) else {
            return Ok(());
        };
        let wrong = match knob {
            Knob::Bytes if value == 0 || value % 8 != 0 || value > program.most_bytes() => {
                let most = program.most_bytes();
                return Err(LabError::usage(format!(
                    "{knob} {value}: must be a multiple of 8, from 8 to {most}: messages are made of \
                     words of 8 bytes"
                )));
            }
            Knob::Keys if program.knows(Knob::KeysPerCore) => return Ok(()),
            _ if value > u64::from(u32::MAX) => "must be below 4,294,967,296",
            Knob::To | Knob::KeysPerCore => return Ok(()),
            _ if !knob.words().is_empty() => return Ok(()),
            _ if value == 0 => "must be at least 1",
            _ => return Ok(()),
        };
        Err(LabError::usage(format!("{knob} {value}: {wrong}")))
    }

    /// `--keys` in all is `--keys-per-core` times the cores.
    fn divide_keys(&mut self, asked: &Parameters) -> Result<(), LabError> {
        let Some(keys) = asked.find(Knob::Keys) else {
            return Ok(());
        };
        if asked.find(Knob::KeysPerCore).is_some() {
            let both = "--keys and --keys-per-core say the same; give one of them";
            return Err(LabError::usage(both));
        }
        let cores = self.get(Knob::Cores);
        if keys % cores != 0 || keys / cores > u64::from(u32::MAX) {
            return Err(LabError::usage(format!(
                "--keys {keys} cannot be divided evenly among {cores} cores"
            )));
        }
        self.set(Knob::KeysPerCore, keys / cores);
        Ok(())
    }

    fn check_to(&self) -> Result<(), LabError> {
        match (self.find(Knob::To), self.get(Knob::Cores)) {
            (Some(to), cores) if to >= cores => Err(LabError::usage(format!(
                "--to {to}: there is no such core; {cores} cores are 0 to {}",
                cores - 1
            ))),
            _ => Ok(()),
        }
    }
}
