//! The transport of a NIC: what a receiver does beside its ACKs.
//!
//! ```text
//!   NDP    cut to its header -> NACK, PULL -> the packet again          (ndp)
//!   Homa   first packets -> GRANT, the shortest rest first -> the rest  (homa)
//!          no packet for long -> RESEND
//! ```
//!
//! Buffers, ACKs and the timeouts of senders are those of the NIC with either, as in the public one.

pub mod grants;
mod homa;
mod ndp;
pub mod pulls;

use self::grants::Grants;
use self::pulls::Pulls;
use crate::schedule::Ticks;
use crate::setting;

/// The state of a receiver.
pub enum Transport {
    Ndp(Pulls),
    Homa(Grants),
}

impl Transport {
    pub fn new(transport: setting::Transport) -> Transport {
        match transport {
            setting::Transport::Ndp => Transport::Ndp(Pulls::default()),
            setting::Transport::Homa { .. } => Transport::Homa(Grants::default()),
        }
    }

    /// The time of its next own event.
    pub fn next(&self) -> Ticks {
        match self {
            Transport::Ndp(pulls) => pulls.ask_at,
            Transport::Homa(grants) => grants.check_at,
        }
    }
}
