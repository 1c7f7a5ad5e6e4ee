//! The values of the options of `gristmill sort`.

use std::path::Path;

use ::sort::{Choice, ExchangeKind, IoChoice, Pack, Packing, Start, Tune};
use clap::ValueEnum;
use node::{Compression, Decompress};

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum PlanName {
    /// One pass if memory holds everything, a merge for pipes and nearly sorted input, else two
    /// passes
    #[default]
    Auto,
    /// Hold everything in memory: read once, write once
    OnePass,
    /// Divide the records into partitions, on disk if need be, and sort each
    TwoPass,
    /// Write sorted runs, and merge them
    Merge,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum IoName {
    #[default]
    Auto,
    Direct,
    Buffered,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum TuneName {
    /// Move them where stages wait for each other
    #[default]
    Auto,
    /// Keep the numbers of the plan
    Off,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum StartName {
    #[default]
    Derived,
    Worst,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum ExchangeName {
    /// All pairs of ranks at once, each limited to its fair share
    #[default]
    Streams,
    /// In rounds: each rank sends to one rank and receives from one
    Rounds,
}

/// Whether files are compressed.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum CompressionName {
    #[default]
    Auto,
    None,
    Gzip,
    Zstd,
    Lz4,
    Bzip2,
    Xz,
}

/// How temporary data is compressed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum PackName {
    Auto,
    Lz4,
    Zstd,
    None,
}

impl PackName {
    /// The choice of `--compress`, or of the program that `--compress-program` names: those that
    /// compress by more than lz4 stand for zstd.
    pub fn pack(name: Option<PackName>, program: Option<&Path>) -> Pack {
        let program = program.map(|program| program.file_name().unwrap_or_default());
        match (name, program) {
            (Some(PackName::Lz4), _) => Pack::In(Packing::Lz4),
            (Some(PackName::Zstd), _) => Pack::In(Packing::Zstd),
            (Some(PackName::None), _) => Pack::Never,
            (Some(PackName::Auto), _) | (None, None) => Pack::Auto,
            (None, Some(name)) if name == "lz4" || name == "lzop" => Pack::In(Packing::Lz4),
            (None, Some(_)) => Pack::In(Packing::Zstd),
        }
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

impl From<PlanName> for Choice {
    fn from(name: PlanName) -> Choice {
        match name {
            PlanName::Auto => Choice::Auto,
            PlanName::OnePass => Choice::OnePass,
            PlanName::TwoPass => Choice::TwoPass,
            PlanName::Merge => Choice::Merge,
        }
    }
}

impl CompressionName {
    /// The format, if it is one.
    pub fn format(self) -> Option<Compression> {
        match self {
            CompressionName::Auto | CompressionName::None => None,
            CompressionName::Gzip => Some(Compression::Gzip),
            CompressionName::Zstd => Some(Compression::Zstd),
            CompressionName::Lz4 => Some(Compression::Lz4),
            CompressionName::Bzip2 => Some(Compression::Bzip2),
            CompressionName::Xz => Some(Compression::Xz),
        }
    }
}

impl From<CompressionName> for Decompress {
    fn from(name: CompressionName) -> Decompress {
        match (name, name.format()) {
            (_, Some(format)) => Decompress::From(format),
            (CompressionName::Auto, None) => Decompress::Auto,
            (_, None) => Decompress::Never,
        }
    }
}

impl From<IoName> for IoChoice {
    fn from(name: IoName) -> IoChoice {
        match name {
            IoName::Auto => IoChoice::Auto,
            IoName::Direct => IoChoice::Direct,
            IoName::Buffered => IoChoice::Buffered,
        }
    }
}

impl From<TuneName> for Tune {
    fn from(name: TuneName) -> Tune {
        match name {
            TuneName::Auto => Tune::Auto,
            TuneName::Off => Tune::Off,
        }
    }
}

impl From<StartName> for Start {
    fn from(name: StartName) -> Start {
        match name {
            StartName::Derived => Start::Derived,
            StartName::Worst => Start::Worst,
        }
    }
}

impl From<ExchangeName> for ExchangeKind {
    fn from(name: ExchangeName) -> ExchangeKind {
        match name {
            ExchangeName::Streams => ExchangeKind::Streams,
            ExchangeName::Rounds => ExchangeKind::Rounds,
        }
    }
}
