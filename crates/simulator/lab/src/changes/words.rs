//! The changes of a machine whose values are words.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::error::LabError;

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

/// The transport of the NICs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// Full queues cut data to their headers, whose receivers request them again
    Ndp,
    /// Ports have priorities, full queues drop, and receivers grant what is not sent by itself
    Homa,
}

/// Packets that Homa sends without a GRANT: all of a message, as the public NIC's configurations.
const UNSCHEDULED: u32 = 2;

impl Transport {
    /// Checks how many packets need no GRANT.
    ///
    /// # Errors
    /// A usage error if the transport has no GRANTs, or no message has so many packets.
    pub(super) fn check(named: Option<Transport>, unscheduled: u32) -> Result<(), LabError> {
        if named != Some(Transport::Homa) {
            return Err(LabError::usage(
                "--unscheduled is about Homa's GRANTs; add --transport homa, or omit it",
            ));
        }
        if unscheduled > UNSCHEDULED {
            return Err(LabError::usage(format!(
                "--unscheduled {unscheduled}: must be 1 or 2, since a message has two packets at most"
            )));
        }
        Ok(())
    }

    pub(super) fn setting(
        named: Option<Transport>,
        unscheduled: Option<u32>,
    ) -> machine::Transport {
        match named {
            None | Some(Transport::Ndp) => machine::Transport::Ndp,
            Some(Transport::Homa) => machine::Transport::Homa {
                unscheduled: unscheduled.unwrap_or(UNSCHEDULED),
            },
        }
    }
}
