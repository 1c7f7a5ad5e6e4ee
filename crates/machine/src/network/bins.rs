//! Packets on their way to a switch, in bins.
//!
//! Bins are of one size, whoever fills them: so those that were emptied serve again anywhere, and
//! memory holds what is under way and little more.

use crate::network::packet::Packet;

/// Some packets.
pub type Bin = Vec<Packet>;

/// Packets that a bin holds: two KiB.
const MOST: usize = 32;

/// All that goes one way.
#[derive(Debug, Default)]
pub struct Bins(Vec<Bin>);

impl Bins {
    /// Moves a packet in that arrives at `time`.
    #[inline]
    pub fn push(&mut self, packet: &mut Packet, time: u64, spare: &mut Vec<Bin>) {
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
