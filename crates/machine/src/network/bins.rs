//! Packets on their way to a switch, in bins.
//!
//! All bins have one size, so any emptied bin can be reused, and memory holds little more than the
//! packets under way.

use crate::network::packet::Packet;
use crate::schedule::Ticks;

pub type Bin = Vec<Packet>;

/// Bits of a packet's number in its bin.
const BITS: u32 = 5;

/// Packets per bin: 2 KiB.
const MOST: usize = 1 << BITS;

/// The position of a packet in a list of bins.
#[derive(Clone, Copy, Debug, Default)]
pub struct BinIndex(u32);

impl BinIndex {
    /// # Panics
    /// With 2^27 bins, which are 256 GiB of packets.
    #[inline]
    pub fn new(bin: usize, index: usize) -> BinIndex {
        assert!(
            bin < 1 << (u32::BITS - BITS),
            "packets are numbered in 32 bits"
        );
        BinIndex((bin as u32) << BITS | index as u32)
    }

    /// The position of packet `number` in full bins that begin with `first_bin`.
    pub fn nth(first_bin: usize, number: usize) -> BinIndex {
        BinIndex::new(first_bin + number / MOST, number % MOST)
    }

    #[inline]
    pub fn packet(self, bins: &mut [Bin]) -> &mut Packet {
        &mut bins[(self.0 >> BITS) as usize][(self.0 as usize) % MOST]
    }
}

/// The packets for one link.
#[derive(Debug, Default)]
pub struct Bins(Vec<Bin>);

impl Bins {
    /// Moves in a packet that arrives at `time`.
    #[inline]
    pub fn push(&mut self, packet: &mut Packet, time: Ticks, spare: &mut Vec<Bin>) {
        if self.0.last().is_none_or(|bin| bin.len() >= MOST) {
            self.0.push(spare.pop().unwrap_or_default());
        }
        if let Some(bin) = self.0.last_mut() {
            bin.push(packet.take());
            // Set after the move: a load of a packet that is still being stored would stall.
            if let Some(packet) = bin.last_mut() {
                packet.time = time;
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn move_to(&mut self, others: &mut Vec<Bin>) {
        others.append(&mut self.0);
    }

    /// Moves all bins to an empty list.
    pub fn hand_to(&mut self, others: &mut Bins) {
        debug_assert!(others.is_empty(), "it was emptied in the window before");
        std::mem::swap(self, others);
    }
}
