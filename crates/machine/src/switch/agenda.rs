//! What arrives at a switch in a window, in order: by time, sender and sequence.
//!
//! Times of a window are few and small, so a counting sort does: how many come at each tick, where
//! each tick's begin, and each packet to its place. Of those of one tick, mostly one or two, the
//! sender and the sequence decide.

use std::ops::Range;

use crate::packet::Packet;

/// What arrives in a window.
#[derive(Default)]
pub struct Agenda {
    pub due: Vec<Due>,
    /// For each tick: how many arrive, then where the next of them goes.
    ticks: Vec<u32>,
}

/// A packet that arrives: its sender and sequence, and where it lies.
#[derive(Clone, Copy, Debug, Default)]
pub struct Due {
    sender: u64,
    pub bin: u32,
    pub index: u32,
}

/// Fewer are put in order by comparing.
const FEW: usize = 64;

impl Agenda {
    /// Puts in order what arrives in these ticks; whether something arrives later.
    pub fn fill(&mut self, bins: &[Vec<Packet>], ticks: Range<u64>) -> bool {
        let all: usize = bins.iter().map(Vec::len).sum();
        self.due.clear();
        if all < FEW {
            self.compare(bins, &ticks);
        } else {
            self.count(bins, &ticks);
        }
        self.due.len() < all
    }

    fn compare(&mut self, bins: &[Vec<Packet>], ticks: &Range<u64>) {
        for (bin, packets) in bins.iter().enumerate() {
            for (index, packet) in packets.iter().enumerate() {
                if packet.time < ticks.end {
                    self.due.push(Due::new(packet, bin, index));
                }
            }
        }
        self.due.sort_unstable_by_key(|due| {
            (bins[due.bin as usize][due.index as usize].time, due.sender)
        });
    }

    fn count(&mut self, bins: &[Vec<Packet>], ticks: &Range<u64>) {
        let length = (ticks.end - ticks.start) as usize;
        self.ticks.clear();
        self.ticks.resize(length + 1, 0);
        for packet in bins.iter().flatten() {
            // What arrives later is counted behind the last tick.
            let tick = ((packet.time - ticks.start) as usize).min(length);
            self.ticks[tick] += 1;
        }
        let mut sum = 0;
        for tick in &mut self.ticks {
            sum += std::mem::replace(tick, sum);
        }
        let due = self.ticks[length] as usize;
        self.due.resize(due, Due::default());
        for (bin, packets) in bins.iter().enumerate() {
            for (index, packet) in packets.iter().enumerate() {
                let tick = (packet.time - ticks.start) as usize;
                if tick < length {
                    let place = self.ticks[tick] as usize;
                    self.ticks[tick] += 1;
                    self.insert(place, tick, Due::new(packet, bin, index));
                }
            }
        }
    }

    /// Puts one at its place among those of its tick that are there.
    fn insert(&mut self, place: usize, tick: usize, due: Due) {
        // The tick before ends where this one began.
        let first = if tick == 0 { 0 } else { self.ticks[tick - 1] as usize };
        let mut hole = place;
        while hole > first && self.due[hole - 1].sender > due.sender {
            self.due[hole] = self.due[hole - 1];
            hole -= 1;
        }
        self.due[hole] = due;
    }
}

impl Due {
    fn new(packet: &Packet, bin: usize, index: usize) -> Due {
        Due { sender: packet.sender(), bin: bin as u32, index: index as u32 }
    }
}
