//! The PULLs of NDP that a NIC will send.

use std::collections::VecDeque;

use crate::network::packet::Packet;
use crate::schedule::Ticks;

/// The packets that a NIC will request.
pub struct Pulls {
    pub waiting: VecDeque<Packet>,
    pub last_data: Ticks,
    /// When it sends a PULL without having received data.
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
