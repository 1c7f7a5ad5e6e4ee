//! A window of a link whose queue may overflow, arrival by arrival.
//!
//! A full queue trims data to their header, which waits as control; without room even for the
//! header, the packet is refused.

use std::ops::Range;

use super::{Line, Model, Port};
use crate::network::arrival::Arrival;
use crate::schedule::{Pace, Ticks};

/// Flits of waiting data between two trimmed headers: sixteen small packets. The receiver sends a
/// NACK and a PULL per header, and an ACK per data packet; for small messages these fill the way
/// back if there is more than one header per ten data packets.
const DATA_FLITS: u32 = 160;

/// Headers that may wait at a port: few enough that they arrive before a timeout.
const MOST_HEADERS: u32 = 64;

/// The packets that wait: control (0) and data (1).
#[derive(Debug, Default)]
pub struct Queues {
    queues: [Queue; 2],
    /// Waiting headers.
    headers: u32,
}

#[derive(Debug, Default)]
pub struct Queue {
    positions: Vec<u32>,
    /// The first that waits.
    first: usize,
    /// Waiting flits.
    pub flits: u64,
}

impl Queue {
    pub fn front(&self) -> Option<u32> {
        self.positions.get(self.first).copied()
    }

    pub fn clear(&mut self) {
        self.positions.clear();
        (self.first, self.flits) = (0, 0);
    }

    pub fn push(&mut self, position: usize, arrival: Arrival) {
        self.flits += u64::from(arrival.flits);
        self.positions.push(position as u32);
    }

    /// Takes out the first packet.
    pub fn pop(&mut self, arrival: Arrival) {
        self.first += 1;
        self.flits -= u64::from(arrival.flits);
    }

    /// The packets that wait.
    pub fn waiting(&self) -> &[u32] {
        &self.positions[self.first..]
    }
}

impl Queues {
    fn clear(&mut self) {
        for queue in &mut self.queues {
            queue.clear();
        }
        self.headers = 0;
    }

    fn is_empty(&self) -> bool {
        self.queues.iter().all(|queue| queue.front().is_none())
    }

    fn push(&mut self, position: usize, line: &Line) {
        let arrival = line.arrivals[position];
        self.headers += u32::from(arrival.is_header());
        self.queues[usize::from(arrival.is_data())].push(position, arrival);
    }

    /// Whether data of which `data_turn` flits precede the next header go first.
    fn is_datas_turn(&self, data_turn: u32, line: &Line) -> bool {
        let [control, data] = &self.queues;
        match (control.front(), data.front()) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(next), Some(_)) => data_turn > 0 && line.at(next).is_header(),
        }
    }

    /// Whether another packet or header fits.
    fn has_room(&self, is_data: bool, flits: u16, model: &Model) -> bool {
        self.queues[usize::from(is_data)].flits + u64::from(flits) <= model.queue_flits
    }
}

impl Port {
    /// The departures, if packets may be trimmed.
    pub(super) fn run_full(&mut self, window: &Range<Ticks>, model: &Model, line: &mut Line) {
        let mut queues = std::mem::take(&mut line.queues);
        queues.clear();
        for position in 0..line.kept {
            queues.push(position, line);
        }
        for position in line.kept..line.arrivals.len() {
            let arrival = line.arrivals[position];
            let now = window.start + Ticks(arrival.tick());
            // Packets that started before now make room.
            self.drain(now, model.pace, &mut queues, line);
            if self.busy <= now && queues.is_empty() {
                self.depart(position as u32, now, model.pace, line);
            } else if queues.has_room(arrival.is_data(), arrival.flits, model) {
                queues.push(position, line);
            } else if arrival.is_data()
                && queues.has_room(false, model.header, model)
                && queues.headers < MOST_HEADERS
            {
                line.arrivals[position] = arrival.trimmed(model.header);
                line.trimmed.push(position as u32);
                queues.push(position, line);
            } else {
                line.refused.push(position as u32);
            }
        }
        self.drain(window.end, model.pace, &mut queues, line);
        for queue in &queues.queues {
            line.staying.extend_from_slice(queue.waiting());
        }
        line.queues = queues;
    }

    pub(super) fn depart(&mut self, position: u32, start: Ticks, pace: Pace, line: &mut Line) {
        let flits = u64::from(line.at(position).flits);
        self.busy = start + pace.ticks(flits);
        self.sent_flits += flits;
        line.leave(position, start);
    }

    /// Sends the packets that start before `until`.
    fn drain(&mut self, until: Ticks, pace: Pace, queues: &mut Queues, line: &mut Line) {
        while self.busy < until && !queues.is_empty() {
            let is_data = queues.is_datas_turn(self.data_turn, line);
            let queue = &mut queues.queues[usize::from(is_data)];
            let position = queue.positions[queue.first];
            let arrival = line.at(position);
            queue.pop(arrival);
            if arrival.is_header() {
                queues.headers -= 1;
                self.data_turn = DATA_FLITS;
            } else if is_data {
                self.data_turn = self.data_turn.saturating_sub(arrival.flits.into());
            }
            self.depart(position, self.busy, pace, line);
        }
    }
}
