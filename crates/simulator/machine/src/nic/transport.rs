//! The transport of a NIC: what a receiver does beside its ACKs.
//!
//! ```text
//!   NDP    cut to its header -> NACK, PULL -> the packet again          (ndp)
//!   Homa   first packets -> GRANT, the shortest rest first -> the rest  (homa)
//!          no packet for long -> RESEND
//! ```
//!
//! Buffers, ACKs and the timeouts of senders are those of the NIC with either, as in the public one.

mod homa;
mod ndp;

use self::homa::Grants;
use self::ndp::Pulls;
use super::Nic;
use crate::network::fabric::Fabric;
use crate::network::packet::{Kind, Packet};
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

impl Nic {
    /// Handles the transport's own event that is due now.
    pub(super) fn act_for_transport(&mut self, fabric: &mut Fabric) {
        match self.transport {
            Transport::Ndp(_) => self.pull_if_idle(fabric),
            Transport::Homa(_) => self.resend_late(fabric),
        }
    }

    /// Tells the sender of a packet to send a segment.
    fn request(&mut self, kind: Kind, concerned: &Packet, fabric: &mut Fabric) {
        let ready = fabric.now() + fabric.nic_model().receive_cycles;
        let request = concerned.answer(kind, self.answering(concerned), ready);
        let id = fabric.put(request);
        self.emit(id, fabric);
    }
}
