//! PULLs: a receiver asks for what was cut down to its header.
//!
//! A header goes before data, so a receiver that asks at once gets a header again while
//! the queue is full, and headers alone fill the link. NDP therefore paces its PULLs. Here a PULL
//! leaves for each packet that comes whole, which keeps as many under way as the queue holds; and
//! at the pace of whole segments when no data have come for a while. (Ours: the public NIC switches
//! its pacer off.)

use std::collections::VecDeque;

use super::Nic;
use crate::network::fabric::Fabric;
use crate::network::packet::{Kind, Packet};
use crate::schedule::Ticks;

/// The packets that a NIC has to ask for.
pub struct Pulls {
    waiting: VecDeque<Packet>,
    last_data: Ticks,
    /// When it asks by itself.
    pub ask_at: Ticks,
}

impl Default for Pulls {
    fn default() -> Pulls {
        Pulls {
            waiting: VecDeque::new(),
            last_data: Ticks(0),
            ask_at: Ticks::NEVER,
        }
    }
}

/// Windows without data after which a NIC asks by itself.
const IDLE_WINDOWS: u64 = 2;

impl Nic {
    /// A header came: its packet will be asked for.
    pub(super) fn owe_pull(&mut self, header: Packet, fabric: &Fabric) {
        self.pulls.waiting.push_back(header);
        if self.pulls.ask_at == Ticks::NEVER {
            self.pulls.ask_at = fabric.scheduler.now + fabric.layout.window * IDLE_WINDOWS;
        }
    }

    /// Data came whole: one more may.
    pub(super) fn pull_for_data(&mut self, fabric: &mut Fabric) {
        self.pulls.last_data = fabric.scheduler.now;
        self.pull(fabric);
    }

    /// Asks by itself when no data have come for a while.
    pub(super) fn pull_if_idle(&mut self, fabric: &mut Fabric) {
        let idle = fabric.layout.window * IDLE_WINDOWS;
        let mut next = self.pulls.last_data + idle;
        if next <= fabric.scheduler.now {
            self.pull(fabric);
            let segment =
                fabric.layout.profile.nic.segment_bytes / fabric.layout.profile.network.flit_bytes;
            next = fabric.scheduler.now + Ticks(u64::from(segment));
        }
        self.pulls.ask_at = if self.pulls.waiting.is_empty() {
            Ticks::NEVER
        } else {
            next
        };
    }

    fn pull(&mut self, fabric: &mut Fabric) {
        let next = if self.is_full(fabric) {
            // There is room for the rest of what is in assembly alone.
            let is_known = |header: &Packet| self.partial_of(header).is_some();
            self.pulls.waiting.iter().position(is_known)
        } else {
            Some(0)
        };
        if let Some(header) = next.and_then(|next| self.pulls.waiting.remove(next)) {
            let ready = fabric.scheduler.now + fabric.layout.profile.nic.receive_cycles;
            let pull = header.answer(Kind::Pull, self.first_rank, ready);
            let place = fabric.scratch.slab.put(pull);
            self.emit(place, fabric);
        }
    }
}
