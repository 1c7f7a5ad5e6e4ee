//! Newtypes for times and places, so that a rank is never taken for a time.

use std::fmt;

/// A time on a node's clock, in ticks since the run began. [`crate::Node::tick_fs`] gives the
/// length of a tick: one nanosecond on a real node, one cycle on a simulated core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

impl Time {
    /// The time `ticks` later, at most the last time that exists.
    pub fn after(self, ticks: u64) -> Time {
        Time(self.0.saturating_add(ticks))
    }

    /// Ticks from `earlier` to this time, 0 if `earlier` is later.
    pub fn since(self, earlier: Time) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// The number of a node among the nodes of one run, from zero (MPI's word).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank(pub u32);

impl Rank {
    /// The rank that decides for all, shows their progress and lists their files.
    pub const ROOT: Rank = Rank(0);
}

impl fmt::Display for Rank {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.0)
    }
}

/// The number of a mailbox of a node. One task owns a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Port(pub u16);

/// The receiver of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// The receiving node.
    pub rank: Rank,
    /// The mailbox on that node.
    pub port: Port,
}
