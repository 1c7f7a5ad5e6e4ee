//! Options of programs.
//!
//! A program's struct derives [`clap::Args`]: its fields are its options, with their defaults and
//! ranges. A table of an experiment file is read as options of the same names, so both have the
//! same checks. `Serialize` writes the values to reports.

use clap::{Args, Command, ValueEnum};
use node::{MESSAGE_BYTES, Matching};
use serde::Serialize;

/// A program that can be run by name.
pub trait Described: Args + Serialize + Clone + Send + Sync + 'static {
    /// The name of its subcommand.
    const NAME: &'static str;
    /// The default number of cores: those of the paper's figure, if there is one.
    const CORES: u32;
    /// Example options for its help.
    const EXAMPLES: &'static [&'static str];

    /// Replaces the seed.
    #[must_use]
    fn seeded(self, seed: u64) -> Self;
}

/// Implements [`Described`] and `Default` for a program with a field `seed`.
#[macro_export]
macro_rules! described {
    ($program:ident is $name:literal on $cores:literal cores; $($example:literal),*) => {
        impl $crate::Described for $program {
            const NAME: &'static str = $name;
            const CORES: u32 = $cores;
            const EXAMPLES: &'static [&'static str] = &[$($example),*];

            fn seeded(self, seed: u64) -> $program {
                $program { seed, ..self }
            }
        }

        impl Default for $program {
            fn default() -> $program {
                $crate::defaults()
            }
        }
    };
}

/// The default options.
///
/// # Panics
/// If an option has no default.
pub fn defaults<A: Args>() -> A {
    let command = A::augment_args(Command::new("defaults").no_binary_name(true));
    let none: [&str; 0] = [];
    A::from_arg_matches(&command.get_matches_from(none)).expect("every option has a default")
}

/// Where messages wait that arrive before their step (NanoSort, section 5.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReorderBy {
    /// In a buffer of the program, as the paper built it
    #[default]
    Software,
    /// In a queue of the NIC for each step
    Port,
    /// In one queue of the NIC, which matches steps itself
    Nic,
}

impl ReorderBy {
    /// Whether the program or the NIC matches steps.
    pub fn matching(self) -> Matching {
        match self {
            ReorderBy::Software => Matching::Software,
            ReorderBy::Port | ReorderBy::Nic => Matching::Ports,
        }
    }
}

/// Parses a number from 0, with or without a unit.
///
/// # Errors
/// If the text is not such a number, or exceeds 32 bits.
pub fn from_0(text: &str) -> Result<u32, String> {
    let number = units::count(text)?;
    u32::try_from(number).map_err(|_| "must be below 4,294,967,296".to_owned())
}

/// Parses a number from 1, with or without a unit.
///
/// # Errors
/// If the text is not such a number, or exceeds 32 bits.
pub fn count(text: &str) -> Result<u32, String> {
    match from_0(text)? {
        0 => Err("must be at least 1".to_owned()),
        number => Ok(number),
    }
}

/// Parses a number from 2, with or without a unit.
pub(crate) fn from_2(text: &str) -> Result<u32, String> {
    match count(text)? {
        1 => Err("must be at least 2: the median of one is itself".to_owned()),
        number => Ok(number),
    }
}

pub(crate) fn message_bytes(text: &str) -> Result<u32, String> {
    words_of_bytes(text, MESSAGE_BYTES as u32)
}

/// Parses a number of bytes that is whole words, at most `most`.
pub(crate) fn words_of_bytes(text: &str, most: u32) -> Result<u32, String> {
    let wrong =
        format!("must be a multiple of 8, from 8 to {most}: messages are made of words of 8 bytes");
    let is_right = |bytes: &u32| bytes.is_multiple_of(8) && (8..=most).contains(bytes);
    from_0(text).and_then(|bytes| Some(bytes).filter(is_right).ok_or(wrong))
}
