//! The changes of a machine whose values are words.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// How switches carry a multicast, by the words of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Multicast {
    /// A copy for each link that leads to members
    On,
    /// They do not: the sender sends to each member
    Off,
    /// A copy for each member, made by the sender's leaf
    FirstLeaf,
    /// A copy for each member, made by the first spine
    OneSpine,
    /// A copy for each member, made by a spine that is drawn for each multicast
    DrawnSpines,
}

impl Multicast {
    pub(super) fn setting(self) -> machine::Multicast {
        match self {
            Multicast::On => machine::Multicast::PerPort,
            Multicast::Off => machine::Multicast::Off,
            Multicast::FirstLeaf => machine::Multicast::FirstLeaf,
            Multicast::OneSpine => machine::Multicast::OneSpine,
            Multicast::DrawnSpines => machine::Multicast::DrawnSpines,
        }
    }
}

/// Whether switches aggregate the ACKs of a multicast (NanoSort, section 5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AckAggregate {
    /// They keep the multicast until all members have it, and the sender hears one ACK
    On,
    /// They only copy, and the sender hears an ACK of each member
    Off,
}
