//! The times of messages through a NIC, from wire to wire.

use std::collections::VecDeque;

use crate::network::fabric::Departure;
use crate::schedule::Ticks;

#[derive(Default)]
pub struct Tap {
    /// Times of first flits in, of messages that have not left.
    arrived: VecDeque<Ticks>,
    /// Times from a first flit in to a last flit out.
    pub times: Vec<Ticks>,
}

impl Tap {
    pub fn arrive(&mut self, first: Ticks) {
        self.arrived.push_back(first);
    }

    pub fn leave(&mut self, Departure { start, length }: Departure) {
        if let Some(&first) = self.arrived.front()
            && first < start
        {
            self.arrived.pop_front();
            self.times.push(start + length - first);
        }
    }
}
