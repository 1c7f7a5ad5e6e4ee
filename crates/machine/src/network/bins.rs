//! Packets on their way to a switch, in bins.
//!
//! Bins are of one size, whoever fills them: so those that were emptied serve again anywhere, and
//! memory holds what is under way and little more.

use crate::network::packet::Packet;
use crate::schedule::Ticks;

/// Some packets.
pub type Bin = Vec<Packet>;

/// Bits of a place in a bin.
const BITS: u32 = 5;

/// Packets that a bin holds: two KiB.
const MOST: usize = 1 << BITS;

/// Where a packet lies in a list of bins.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spot(u32);

impl Spot {
    /// The place of that number in the bin of that number.
    ///
    /// # Panics
    /// When there are 2^27 bins: 256 GiB of packets.
    #[inline]
    pub fn new(bin: usize, index: usize) -> Spot {
        assert!(
            bin < 1 << (u32::BITS - BITS),
            "packets are numbered in 32 bits"
        );
        Spot((bin as u32) << BITS | index as u32)
    }

    /// The place of the packet of that number in bins that are full, from one on.
    pub fn nth(first_bin: usize, number: usize) -> Spot {
        Spot::new(first_bin + number / MOST, number % MOST)
    }

    #[inline]
    pub fn packet(self, bins: &mut [Bin]) -> &mut Packet {
        &mut bins[(self.0 >> BITS) as usize][(self.0 as usize) % MOST]
    }
}

/// All that goes one way.
#[derive(Debug, Default)]
pub struct Bins(Vec<Bin>);

impl Bins {
    /// Moves a packet in that arrives at `time`.
    #[inline]
    pub fn push(&mut self, packet: &mut Packet, time: Ticks, spare: &mut Vec<Bin>) {
        if self.0.last().is_none_or(|bin| bin.len() >= MOST) {
            self.0.push(spare.pop().unwrap_or_default());
        }
        if let Some(bin) = self.0.last_mut() {
            bin.push(packet.take());
            // Not before: a load of what is just being stored in parts would have to wait.
            if let Some(packet) = bin.last_mut() {
                packet.time = time;
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Moves all bins to others.
    pub fn move_to(&mut self, others: &mut Vec<Bin>) {
        others.append(&mut self.0);
    }

    /// Moves all bins to where there are none.
    pub fn hand_to(&mut self, others: &mut Bins) {
        debug_assert!(others.is_empty(), "they were taken in the window before");
        std::mem::swap(self, others);
    }
}
