//! The values of the options of `gristmill sort`.

use std::path::Path;

use ::sort::{Choice, ExchangeKind, IoChoice, Pack, Packing, Shares, SpillLayout, SplitterChoice};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use node::{Compression, Decompress};

/// The words of an option: each with its line in the help, which may be empty, and its value.
type Words<T> = &'static [(&'static str, &'static str, T)];

pub const PLANS: Words<Choice> = &[
    (
        "auto",
        "One pass if memory holds everything, a merge for pipes and nearly sorted input, else two passes",
        Choice::Auto,
    ),
    (
        "one-pass",
        "Hold everything in memory: read once, write once",
        Choice::OnePass,
    ),
    (
        "two-pass",
        "Divide the records into partitions, on disk if need be, and sort each",
        Choice::TwoPass,
    ),
    ("merge", "Write sorted runs, and merge them", Choice::Merge),
];

pub const IO: Words<IoChoice> = &[
    ("auto", "", IoChoice::Auto),
    ("direct", "", IoChoice::Direct),
    ("buffered", "", IoChoice::Buffered),
];

pub const LAYOUTS: Words<SpillLayout> = &[
    (
        "log",
        "One behind the other as they are written, so that writing does not seek",
        SpillLayout::Log,
    ),
    (
        "preallocated",
        "Those of a partition in a reserved stretch of one disk, so that reading does not seek",
        SpillLayout::Preallocated,
    ),
];

pub const SPLITTERS: Words<SplitterChoice> = &[
    (
        "sampled",
        "From a sample of the input",
        SplitterChoice::Sampled,
    ),
    (
        "even",
        "As if keys were random bytes, without a sample; for records of one length",
        SplitterChoice::Even,
    ),
];

/// Reads how much each rank sorts.
///
/// # Errors
/// If it is no word and no list of numbers above 0.
pub fn shares(word: &str) -> Result<Shares, String> {
    match word {
        "even" => Ok(Shares::Even),
        "auto" => Ok(Shares::Measured),
        list => {
            let numbers = list
                .split(',')
                .map(|number| number.trim().parse::<u32>().ok());
            let numbers: Option<Vec<u32>> = numbers.collect();
            let given = numbers.filter(|numbers| numbers.iter().all(|&number| number > 0));
            given.map(Shares::Given).ok_or_else(|| {
                "give even, auto, or a whole number above 0 for each rank, as 3,1,1".to_owned()
            })
        }
    }
}

pub const EXCHANGES: Words<ExchangeKind> = &[
    (
        "streams",
        "All pairs of ranks at once, each limited to its fair share",
        ExchangeKind::Streams,
    ),
    (
        "rounds",
        "In rounds: each rank sends to one rank and receives from one",
        ExchangeKind::Rounds,
    ),
];

/// The formats of inputs; those of the output are told in the same words.
pub const FORMATS: Words<Decompress> = &[
    ("auto", "", Decompress::Auto),
    ("none", "", Decompress::Never),
    ("gzip", "", Decompress::From(Compression::Gzip)),
    ("zstd", "", Decompress::From(Compression::Zstd)),
    ("lz4", "", Decompress::From(Compression::Lz4)),
    ("bzip2", "", Decompress::From(Compression::Bzip2)),
    ("xz", "", Decompress::From(Compression::Xz)),
];

/// How temporary data is compressed.
pub const PACKS: Words<Pack> = &[
    ("auto", "", Pack::Auto),
    ("lz4", "", Pack::In(Packing::Lz4)),
    ("zstd", "", Pack::In(Packing::Zstd)),
    ("none", "", Pack::Never),
];

/// Reads one of these words.
pub fn one_of<T: Copy + Send + Sync + 'static>(
    words: Words<T>,
) -> impl TypedValueParser<Value = T> {
    let known = words.iter().map(|&(word, about, _)| {
        let about = (!about.is_empty()).then_some(about);
        PossibleValue::new(word).help(about)
    });
    PossibleValuesParser::new(known).map(|given| {
        let found = words.iter().find(|(word, ..)| *word == given);
        found.expect("one of the words").2
    })
}

/// The way of a program that `--compress-program` names: those that compress by more than lz4 stand
/// for zstd.
pub fn pack_of(program: &Path) -> Pack {
    let name = program.file_name().unwrap_or_default();
    if name == "lz4" || name == "lzop" {
        Pack::In(Packing::Lz4)
    } else {
        Pack::In(Packing::Zstd)
    }
}

/// How `--check` tells of disorder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckName {
    /// By the first record that is out of order.
    DiagnoseFirst,
    /// By the exit code alone.
    Quiet,
    /// As the first does, and by a line if all is in order.
    Verdict,
}

impl CheckName {
    /// Reads one of its names, or the beginning of one.
    pub fn read(text: &str) -> Result<CheckName, String> {
        let names = [
            ("diagnose-first", CheckName::DiagnoseFirst),
            ("quiet", CheckName::Quiet),
            ("silent", CheckName::Quiet),
        ];
        let begun = |(name, _): &&(&str, CheckName)| !text.is_empty() && name.starts_with(text);
        let found = names.iter().find(begun).map(|&(_, how)| how);
        found.ok_or_else(|| "give diagnose-first, or quiet or silent to print nothing".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_words_or_lists() {
        assert_eq!(shares("auto"), Ok(Shares::Measured));
        assert_eq!(shares("3, 1,1"), Ok(Shares::Given(vec![3, 1, 1])));
        for wrong in ["", "3,0", "3,-1", "1,,2", "fast", "4294967296"] {
            assert!(shares(wrong).is_err(), "{wrong}");
        }
    }
}
