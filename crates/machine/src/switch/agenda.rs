//! What arrives at a switch in a window, in order: by time, sender and sequence.
//!
//! Times of a window are few and small, so a counting sort comes first: how many come at each tick,
//! where each tick's begin, and each packet to its place. Of those of one tick, mostly one or two,
//! the sender and the sequence decide: a pass of insertions mends their order.

use std::ops::Range;

use crate::packet::Packet;

/// Packets on their way between switches; each is taken out once.
pub type Batch = Vec<Option<Packet>>;

/// What arrives in a window.
#[derive(Default)]
pub struct Agenda {
    pub due: Vec<Due>,
    /// For each tick: how many arrive, then where the next of them goes.
    ticks: Vec<u32>,
}

/// A packet that arrives: when and from whom, and where it lies.
#[derive(Clone, Copy, Debug, Default)]
pub struct Due {
    moment: u64,
    pub batch: u32,
    pub index: u32,
}

/// Fewer are put in order by comparing.
const FEW: usize = 64;

impl Agenda {
    /// Puts in order what arrives in these ticks; whether something arrives later.
    pub fn fill(&mut self, batches: &[Batch], ticks: &Range<u64>) -> bool {
        let all: usize = batches.iter().map(Vec::len).sum();
        self.due.clear();
        if all < FEW {
            each(batches, ticks, |_, due| self.due.push(due));
            self.due.sort_unstable_by_key(|due| due.moment);
        } else {
            self.count(batches, ticks);
        }
        self.due.len() < all
    }

    fn count(&mut self, batches: &[Batch], ticks: &Range<u64>) {
        let length = (ticks.end - ticks.start) as usize;
        self.ticks.clear();
        self.ticks.resize(length, 0);
        each(batches, ticks, |tick, _| self.ticks[tick] += 1);
        let mut sum = 0;
        for tick in &mut self.ticks {
            sum += std::mem::replace(tick, sum);
        }
        self.due.resize(sum as usize, Due::default());
        each(batches, ticks, |tick, due| {
            let place = &mut self.ticks[tick];
            self.due[*place as usize] = due;
            *place += 1;
        });
        for next in 1..self.due.len() {
            let due = self.due[next];
            let mut hole = next;
            while hole > 0 && self.due[hole - 1].moment > due.moment {
                self.due[hole] = self.due[hole - 1];
                hole -= 1;
            }
            if hole < next {
                self.due[hole] = due;
            }
        }
    }
}

/// Each packet that arrives in these ticks.
fn each(batches: &[Batch], ticks: &Range<u64>, mut see: impl FnMut(usize, Due)) {
    for (batch, packets) in batches.iter().enumerate() {
        for (index, packet) in packets.iter().enumerate() {
            if let Some(packet) = packet
                && packet.time < ticks.end
            {
                let tick = packet.time - ticks.start;
                let moment = tick << 50 | moment_of(packet);
                see(tick as usize, Due { moment, batch: batch as u32, index: index as u32 });
            }
        }
    }
}

/// Sender and sequence in 50 bits: there are fewer than 2^24 ranks, and what a NIC sends in a window
/// is numbered in less than 26.
fn moment_of(packet: &Packet) -> u64 {
    u64::from(packet.from) << 26 | u64::from(packet.sequence & 0x3ff_ffff)
}
