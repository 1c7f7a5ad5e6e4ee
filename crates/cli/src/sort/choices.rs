//! What an option of `gristmill sort` may be.

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
