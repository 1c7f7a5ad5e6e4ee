//! PULLs: a receiver requests packets that were trimmed to their headers.
//!
//! Headers precede data, so a receiver that sends a PULL at once receives a header again while the
//! queue is full, and headers fill the link. NDP therefore paces its PULLs. Here a PULL follows
//! each packet that arrives whole, which keeps as many under way as the queue holds; and without
//! data for a while, PULLs leave at the pace of whole segments. (Ours: the public NIC switches its
//! pacer off.)

use super::Transport;
use super::pulls::Pulls;
use crate::network::fabric::Fabric;
use crate::network::packet::{Kind, Packet};
use crate::nic::state::Nic;
use crate::schedule::Ticks;

/// Windows without data after which a NIC sends a PULL.
const IDLE_WINDOWS: u64 = 2;

impl Nic {
    /// Notes a header, whose packet will be requested.
    pub(in crate::nic) fn queue_pull(&mut self, header: Packet, fabric: &Fabric) {
        let Transport::Ndp(pulls) = &mut self.transport else {
            unreachable!("only NDP cuts packets")
        };
        pulls.waiting.push_back(header);
        if pulls.ask_at == Ticks::NEVER {
            pulls.ask_at = fabric.now() + fabric.layout.window * IDLE_WINDOWS;
        }
    }

    /// Requests a packet, since data arrived whole.
    #[inline]
    pub(in crate::nic) fn pull_for_data(&mut self, fabric: &mut Fabric) {
        if let Transport::Ndp(pulls) = &mut self.transport {
            pulls.last_data = fabric.now();
            if !pulls.waiting.is_empty() {
                self.pull(fabric);
            }
        }
    }

    /// Requests a packet if no data have arrived for a while.
    pub(in crate::nic) fn pull_if_idle(&mut self, fabric: &mut Fabric) {
        let idle = fabric.layout.window * IDLE_WINDOWS;
        let mut next = self.pulls().last_data + idle;
        if next <= fabric.now() {
            self.pull(fabric);
            let segment =
                fabric.nic_model().segment_bytes / fabric.layout.profile.network.flit_bytes;
            next = fabric.now() + self.pace(fabric).ticks(segment.into());
        }
        let pulls = self.pulls();
        pulls.ask_at = if pulls.waiting.is_empty() {
            Ticks::NEVER
        } else {
            next
        };
    }

    fn pull(&mut self, fabric: &mut Fabric) {
        let next = if self.is_full(fabric) {
            // Only the other segments of partial messages have room.
            let waiting = std::mem::take(&mut self.pulls().waiting);
            let next = waiting.iter().position(|it| self.partial_of(it).is_some());
            self.pulls().waiting = waiting;
            next
        } else {
            Some(0)
        };
        if let Some(header) = next.and_then(|next| self.pulls().waiting.remove(next)) {
            self.request(Kind::Pull, &header, fabric);
        }
    }

    fn pulls(&mut self) -> &mut Pulls {
        match &mut self.transport {
            Transport::Ndp(pulls) => pulls,
            Transport::Homa(_) => unreachable!("only NDP requests cut packets"),
        }
    }
}
