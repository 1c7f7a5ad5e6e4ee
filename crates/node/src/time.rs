//! Names for moments and places: newtypes, so that a rank is never taken for a time.

use std::fmt;

/// A moment on a node's clock, in ticks since the run began. The backend names its tick
/// ([`crate::Node::tick_fs`]): one nanosecond on a real node, one cycle on a simulated core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

impl Time {
    /// The moment `ticks` later.
    pub fn after(self, ticks: u64) -> Time {
        Time(self.0.saturating_add(ticks))
    }

    /// Ticks from `earlier` to here, zero if `earlier` is later.
    pub fn since(self, earlier: Time) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// The number of a node among the nodes of one run, from zero (MPI's word).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank(pub u32);

impl fmt::Display for Rank {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.0)
    }
}

/// A mailbox of a node. One task owns a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Port(pub u16);

/// Where a message goes: a node and a port there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// The node.
    pub rank: Rank,
    /// Its port.
    pub port: Port,
}
