//! The sending end of a link: two queues, control packets before data (nanoPU's switches).
//!
//! A port makes no events. It computes a window at a time which packets leave: packets start one
//! after the other as soon as the link is free, waiting control before waiting data, without
//! preemption. Only trimmed headers alternate with data: in a large incast the headers of
//! retransmissions would otherwise fill the link for ever (NDP uses weights for the same reason).
//!
//! A link that has no headers and cannot overflow is run through at once; others are run arrival by
//! arrival ([`full`](self::full)). Both give the same departures. With Homa a port has more queues
//! ([`priorities`](self::priorities)).

mod full;
mod lanes;
mod line;
mod priorities;
#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::network::arrival::Arrival;
use crate::schedule::{Pace, Ticks};

pub use self::line::{Leaving, Line};

/// The sending end of a link of a switch.
#[derive(Debug)]
pub struct Port {
    /// When the link is free.
    busy: Ticks,
    pub sent_flits: u64,
    /// Flits of data that precede the next header.
    data_turn: u32,
    /// Packets in the slab that wait: control before data, or by priority.
    kept: Vec<Arrival>,
}

/// Waiting packets for which an empty port keeps memory: a machine has a million ports.
const MOST_SPARE: usize = 64;

/// The constants of a port.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    pub pace: Pace,
    /// The most flits that wait of control, or of data.
    pub queue_flits: u64,
    /// Flits of a header.
    pub header: u16,
    /// Whether the port has Homa's priorities, and drops what finds no room.
    pub has_priorities: bool,
}

impl Port {
    pub fn new() -> Port {
        Port {
            busy: Ticks(0),
            sent_flits: 0,
            data_turn: 0,
            kept: Vec::new(),
        }
    }

    /// When the next packet that waits starts; `Ticks::NEVER` without a packet. A packet waits for
    /// the link only, so it starts when that is free.
    #[inline]
    pub fn next_start(&self) -> Ticks {
        if self.kept.is_empty() {
            Ticks::NEVER
        } else {
            self.busy
        }
    }

    /// Computes the departures of a window with these arrivals.
    #[inline]
    pub fn run(&mut self, window: &Range<Ticks>, due: &[Arrival], model: &Model, line: &mut Line) {
        if model.has_priorities {
            line.begin(window.start, &self.kept, due, model.queue_flits);
            return self.run_by_priority(window, model, line);
        }
        let is_simple =
            line.begin(window.start, &self.kept, due, model.queue_flits) && self.data_turn == 0;
        if is_simple {
            self.run_through(window, model.pace, line);
        } else {
            self.run_full(window, model, line);
        }
    }

    /// The departures, if no packet is trimmed.
    fn run_through(&mut self, window: &Range<Ticks>, pace: Pace, line: &mut Line) {
        let length = (window.end - window.start).0;
        // Packets of earlier windows wait from tick 0 on, so the link does not count as idle there.
        let idle_from = u64::from(line.kept > 0);
        let Line {
            lanes,
            leaving,
            staying,
            ..
        } = line;
        let [control, data] = lanes.lists();
        let (mut next_control, mut next_data) = (control.first(), data.first());
        let (mut sent_control, mut sent_data) = (0, 0);
        let (mut busy, mut sent) = (self.busy.since(window.start).0, 0);
        loop {
            let ready = next_control.min(next_data).tick();
            let (tick, is_data) = if busy <= ready && ready >= idle_from {
                // It takes the first arrival, even if control arrives at the same tick.
                (ready, next_data < next_control)
            } else {
                (busy, next_control.tick() > busy)
            };
            if tick >= length {
                break;
            }
            let next = if is_data {
                sent_data += 1;
                std::mem::replace(&mut next_data, data.at(sent_data))
            } else {
                sent_control += 1;
                std::mem::replace(&mut next_control, control.at(sent_control))
            };
            sent += next.flits();
            busy = tick + pace.ticks(next.flits()).0;
            leaving.push(Leaving {
                position: next.position(),
                tick: tick as u32,
            });
        }
        if !leaving.is_empty() {
            (self.busy, self.sent_flits) = (window.start + Ticks(busy), self.sent_flits + sent);
        }
        staying.extend(control.after(sent_control).chain(data.after(sent_data)));
    }

    /// Keeps the packets that stay.
    pub fn keep(&mut self, staying: impl Iterator<Item = Arrival>) {
        self.kept.clear();
        self.kept.extend(staying);
        if self.kept.is_empty() && self.kept.capacity() > MOST_SPARE {
            self.kept = Vec::new();
        }
    }
}
