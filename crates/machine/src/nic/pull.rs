//! PULLs: a receiver asks for what was cut down to its header.
//!
//! A header goes before data, so whoever asks for a cut packet at once gets a header again while
//! the queue is full, and headers alone fill the link. NDP therefore paces its PULLs. Here a PULL
//! leaves for each packet that comes whole, which keeps as many under way as the queue holds; and
//! at the pace of whole segments when no data have come for a while. (Ours: the public NIC switches
//! its pacer off.)

use std::collections::VecDeque;

use super::Nic;
use crate::engine::medium::Medium;
use crate::network::packet::{Kind, Packet};

/// What a NIC has to ask for.
pub struct Pulls {
    waiting: VecDeque<Packet>,
    last_data: u64,
    /// When it asks by itself.
    pub ask_at: u64,
}

impl Default for Pulls {
    fn default() -> Pulls {
        Pulls {
            waiting: VecDeque::new(),
            last_data: 0,
            ask_at: u64::MAX,
        }
    }
}

/// Windows without data after which a NIC asks by itself.
const IDLE_WINDOWS: u64 = 2;

impl Nic {
    /// A header came: its packet will be asked for.
    pub(super) fn owe_pull(&mut self, header: Packet, medium: &Medium) {
        self.pulls.waiting.push_back(header);
        if self.pulls.ask_at == u64::MAX {
            self.pulls.ask_at = medium.now + IDLE_WINDOWS * medium.fabric.window;
        }
    }

    /// Data came whole: one more may.
    pub(super) fn pull_for_data(&mut self, medium: &mut Medium) {
        self.pulls.last_data = medium.now;
        self.pull(medium);
    }

    /// Asks by itself when no data have come for a while.
    pub(super) fn pull_if_idle(&mut self, medium: &mut Medium) {
        let idle = IDLE_WINDOWS * medium.fabric.window;
        let mut next = self.pulls.last_data + idle;
        if next <= medium.now {
            self.pull(medium);
            let segment =
                medium.fabric.profile.nic.segment_bytes / medium.fabric.profile.network.flit_bytes;
            next = medium.now + u64::from(segment);
        }
        self.pulls.ask_at = if self.pulls.waiting.is_empty() {
            u64::MAX
        } else {
            next
        };
    }

    fn pull(&mut self, medium: &mut Medium) {
        let next = if self.is_full(medium) {
            // There is room for the rest of what is in assembly alone.
            let is_known = |header: &Packet| self.partial_of(header).is_some();
            self.pulls.waiting.iter().position(is_known)
        } else {
            Some(0)
        };
        if let Some(header) = next.and_then(|next| self.pulls.waiting.remove(next)) {
            let ready = medium.now + medium.fabric.profile.nic.receive;
            let pull = header.answer(Kind::Pull, self.first_rank, ready);
            let place = medium.bench.slab.put(pull);
            self.emit(place, medium);
        }
    }
}
