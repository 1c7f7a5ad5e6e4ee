//! What a program can be told: how many cores, keys, bytes, messages.
//!
//! Each program knows some of these [`Knob`]s, with a default for each; one that it does not know is
//! refused rather than ignored, so that no experiment believes it varied what it did not.

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
    /// Where messages of later steps wait.
    Reorder,
}

/// Every knob with its name, which is the option's and the key's in a file.
const NAMES: [(Knob, &str); 13] = [
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
    (Knob::Reorder, "reorder"),
];

impl Knob {
    /// All of them.
    pub(crate) fn all() -> impl Iterator<Item = Knob> {
        NAMES.into_iter().map(|(knob, _)| knob)
    }

    /// The knob of that name.
    pub fn named(name: &str) -> Option<Knob> {
        NAMES.iter().find(|(_, known)| *known == name).map(|(knob, _)| *knob)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        let entry = NAMES.iter().find(|(knob, _)| *knob == self);
        entry.map(|(_, name)| *name).expect("every knob has a name")
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
    /// All with their names.
    pub const ALL: [(ReorderBy, &str); 3] =
        [(ReorderBy::Software, "software"), (ReorderBy::Port, "port"), (ReorderBy::Nic, "nic")];

    /// The one of that name.
    pub fn named(name: &str) -> Option<ReorderBy> {
        ReorderBy::ALL.iter().find(|(_, known)| *known == name).map(|(by, _)| *by)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        let entry = ReorderBy::ALL.iter().find(|(by, _)| *by == self);
        entry.map(|(_, name)| *name).expect("each has a name")
    }

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

/// Values of knobs: what somebody asked for, or all that a program knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    values: BTreeMap<Knob, u64>,
    reorder: Option<ReorderBy>,
}

impl Parameters {
    /// Sets a knob.
    pub fn set(&mut self, knob: Knob, value: u64) {
        self.values.insert(knob, value);
    }

    /// Says where messages of later steps wait.
    pub fn set_reorder(&mut self, by: ReorderBy) {
        self.reorder = Some(by);
    }

    /// Where messages of later steps wait.
    pub fn reorder(&self) -> ReorderBy {
        self.reorder.unwrap_or_default()
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
        self.find(knob).unwrap_or_else(|| panic!("{knob} has no default"))
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
        let numbers = self.values.iter().map(|(knob, value)| (knob.name(), value.to_string()));
        let reorder = self.reorder.map(|by| (Knob::Reorder.name(), by.name().to_owned()));
        numbers.chain(reorder)
    }

    /// The same with values for JSON.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&'static str, Value)> {
        let numbers = self.values.iter().map(|(knob, value)| (knob.name(), Value::from(*value)));
        let reorder = self.reorder.map(|by| (Knob::Reorder.name(), Value::from(by.name())));
        numbers.chain(reorder)
    }

    /// These, with the program's defaults for what was not asked for.
    ///
    /// # Errors
    /// When the program does not know one of them, or it has a value that cannot be.
    pub fn resolved(&self, program: &Listing) -> Result<Parameters, LabError> {
        for knob in self.asked() {
            self.check(knob, program)?;
        }
        let mut all = self.clone();
        for &(knob, default) in program.knobs {
            if let Some(default) = default {
                all.values.entry(knob).or_insert(default);
            }
        }
        if program.knows(Knob::Reorder) {
            all.reorder.get_or_insert_default();
        }
        if program.knows(Knob::KeysPerCore) {
            all.divide_keys(self)?;
        }
        all.check_to()?;
        Ok(all)
    }

    fn asked(&self) -> impl Iterator<Item = Knob> {
        self.values.keys().copied().chain(self.reorder.map(|_| Knob::Reorder))
    }

    fn check(&self, knob: Knob, program: &Listing) -> Result<(), LabError> {
        let name = program.name;
        if !program.knows(knob) {
            let known: Vec<_> = program.knobs.iter().map(|(knob, _)| knob.to_string()).collect();
            let known = known.join(" ");
            return Err(LabError::usage(format!("{name} does not use {knob}; it knows {known}")));
        }
        let Some(value) = self.find(knob) else { return Ok(()) };
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
            _ if value == 0 => "must be at least 1",
            _ => return Ok(()),
        };
        Err(LabError::usage(format!("{knob} {value}: {wrong}")))
    }

    /// `--keys` in all is `--keys-per-core` times the cores.
    fn divide_keys(&mut self, asked: &Parameters) -> Result<(), LabError> {
        let Some(keys) = asked.find(Knob::Keys) else { return Ok(()) };
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
