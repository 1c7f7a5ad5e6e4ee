//! A packet that arrives at a switch in a window, with all that its port needs to know.

use crate::network::packet::{Class, Packet};
use crate::network::store::bins::{BinIndex, FLAG_BITS};
use crate::network::store::id::PacketId;
use crate::setting::Transport;

/// The place of a packet, and its moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrival {
    /// Its tick in the window, its sender and its sequence in one number.
    pub moment: u64,
    /// Its class, and its number in the bins of the window or in the slab.
    place: u32,
    /// Flits on the wire.
    pub flits: u16,
    /// The outgoing link.
    pub link: u16,
}

/// Bits of a sequence in a moment: a NIC sends fewer than 2^25 messages per window.
const SEQUENCE_BITS: u32 = 26;

/// Bits of sender and sequence in a moment: there are at most 2^24 ranks.
const SENDER_BITS: u32 = 50;

/// The longest window in ticks, which have the remaining bits.
pub const LONGEST_WINDOW: u64 = (1 << (u64::BITS - SENDER_BITS)) - 1;

const CLASS_SHIFT: u32 = u32::BITS - FLAG_BITS;

const DATA: u32 = (Class::Data as u32) << CLASS_SHIFT;

const HEADER: u32 = (Class::Header as u32) << CLASS_SHIFT;

impl Arrival {
    /// A packet in the bins that arrives at a tick of the window, for a link.
    #[inline]
    pub fn new(packet: &Packet, tick: u64, index: BinIndex, link: u32) -> Arrival {
        let sequence = u64::from(packet.sequence) & ((1 << SEQUENCE_BITS) - 1);
        Arrival {
            moment: tick << SENDER_BITS | u64::from(packet.from) << SEQUENCE_BITS | sequence,
            place: index.number() | (packet.kind.class() as u32) << CLASS_SHIFT,
            flits: packet.flits,
            link: link as u16,
        }
    }

    /// The packet, at a port with Homa's priorities.
    #[inline]
    pub fn with_priority(self, priority: usize) -> Arrival {
        Arrival {
            place: self.number() | (priority as u32) << CLASS_SHIFT,
            ..self
        }
    }

    /// With the priority of its packet, if ports have priorities.
    #[inline]
    pub fn prioritized(self, transport: Transport, packet: &Packet) -> Arrival {
        if transport == Transport::Ndp {
            return self;
        }
        self.by_priority(transport, packet)
    }

    /// Apart from the usual way, which every packet goes on every hop.
    #[cold]
    fn by_priority(self, transport: Transport, packet: &Packet) -> Arrival {
        self.with_priority(packet.priority(transport))
    }

    /// Its priority, in the place of a class.
    #[inline]
    pub fn priority(self) -> usize {
        (self.place >> CLASS_SHIFT) as usize
    }

    /// The packet, moved to the slab, where it waits for the next window.
    pub fn kept(self, id: PacketId) -> Arrival {
        Arrival {
            moment: 0,
            place: self.place >> CLASS_SHIFT << CLASS_SHIFT | id.number(),
            ..self
        }
    }

    /// The packet, trimmed to its header.
    pub fn trimmed(self, flits: u16) -> Arrival {
        Arrival {
            place: self.number() | HEADER,
            flits,
            ..self
        }
    }

    /// Its tick in the window.
    #[inline]
    pub fn tick(self) -> u64 {
        self.moment >> SENDER_BITS
    }

    #[inline]
    pub fn is_data(self) -> bool {
        self.place & DATA != 0
    }

    #[inline]
    pub fn is_header(self) -> bool {
        self.place & HEADER != 0
    }

    /// Its number in the bins or in the slab.
    #[inline]
    pub fn number(self) -> u32 {
        self.place & ((1 << CLASS_SHIFT) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::packet::Kind;
    use crate::network::store::slab::Slab;
    use crate::schedule::Ticks;

    #[test]
    fn classes_survive_a_window() {
        for (kind, is_data, is_header) in [
            (Kind::Ack, false, false),
            (Kind::DataAgain, true, false),
            (Kind::CopyTrimmed, false, true),
        ] {
            let (packet, mut slab) = (Packet::new(kind, Ticks(0), 5, 6), Slab::default());
            let arrival = Arrival::new(&packet, 77, BinIndex::new(3, 4), 9);
            let id = (0..13).map(|_| slab.put(packet.clone())).last().unwrap();
            let kept = arrival.kept(id);
            assert_eq!((arrival.tick(), arrival.number()), (77, 3 * 32 + 4));
            assert_eq!((kept.tick(), kept.number()), (0, 12));
            for seen in [arrival, kept] {
                assert_eq!((seen.is_data(), seen.is_header()), (is_data, is_header));
            }
            assert!(arrival.trimmed(9).is_header() && !arrival.trimmed(9).is_data());
        }
    }
}
