//! The values that options of `gristmill sort` take.

use ::sort::{Choice, ExchangeKind, IoChoice, Start, Tune};
use clap::ValueEnum;

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum PlanName {
    /// One pass if memory holds everything; a merge of pipes and of what is nearly sorted; else two
    /// passes
    #[default]
    Auto,
    /// Everything in memory: read once, write once
    OnePass,
    /// What memory does not hold waits on disk in partitions
    TwoPass,
    /// What memory does not hold waits on disk in sorted runs, which are merged
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
    /// Where stages wait for each other
    #[default]
    Auto,
    /// Nothing moves: the plan's numbers stay
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
    /// All pairs at once, each limited to its fair share
    #[default]
    Streams,
    /// In rounds, in which each rank sends to one and receives from one
    Rounds,
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
