//! Packets, and lists of them in one store.
//!
//! A packet is 64 bytes, a cache line, with up to three words of its message inside. On its way to
//! a switch it is in a bin; at NICs it is in the slab, in a linked list.

use node::Words;

use crate::network::slab::{NO_PACKET, PacketId, Slab};
use crate::profile::GROUP_WORDS;
use crate::schedule::Ticks;

#[derive(Clone, Debug)]
pub struct Packet {
    /// When it reaches its next stop.
    pub time: Ticks,
    /// The next packet of its list.
    pub next: PacketId,
    /// The sending rank; for a control packet, the first rank of its NIC.
    pub from: u32,
    /// The receiving rank.
    pub to: u32,
    /// Twice the message's number at its NIC, plus the segment. A control packet has the sequence
    /// of the packet that it concerns.
    pub sequence: u32,
    /// Flits on the wire.
    pub flits: u16,
    /// The receiver's port; between switches, the branch of the multicast that it concerns.
    pub port: u16,
    pub kind: Kind,
    /// The transmit buffer of its message, and [`PART`]; between switches, the way of a multicast.
    pub slot: u8,
    /// The words of its message; a multicast has two more in front, which name its group.
    pub words: Words,
}

/// The kind of a packet: data first, then control, which has priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// A segment of a message.
    Data,
    /// A segment that is sent again.
    DataAgain,
    /// A message to a group.
    Multicast,
    /// A message to a group, sent again.
    MulticastAgain,
    /// The copy of a multicast for one member.
    Copy,
    /// A copy, sent again.
    CopyAgain,
    /// A segment cut to its header; the first kind of control.
    Trimmed,
    /// The segment has arrived.
    Ack,
    /// Only the header has arrived: wait for a PULL.
    Nack,
    /// Send the segment again.
    Pull,
    /// A switch had no room even for the header: send again later.
    Returned,
    /// A message to a group, cut to its header.
    MulticastTrimmed,
    /// A copy cut to its header.
    CopyTrimmed,
    /// A member has its copy.
    CopyAck,
    /// A member received only the header of its copy.
    CopyNack,
    /// A branch has the multicast.
    MulticastAck,
    /// A branch received only the header of the multicast.
    MulticastNack,
}

impl Kind {
    pub fn is_control(self) -> bool {
        self >= Kind::Trimmed
    }

    /// Whether switches handle it: a multicast, or an ACK or NACK of one.
    pub fn concerns_multicasts(self) -> bool {
        matches!(
            self,
            Kind::Multicast | Kind::MulticastAgain | Kind::MulticastTrimmed
        ) || self >= Kind::CopyAck
    }

    /// Whether it is a whole message to a group.
    pub fn is_multicast(self) -> bool {
        matches!(self, Kind::Multicast | Kind::MulticastAgain)
    }

    /// Whether it is a header without its data.
    pub fn is_trimmed(self) -> bool {
        matches!(
            self,
            Kind::Trimmed | Kind::CopyTrimmed | Kind::MulticastTrimmed
        )
    }

    pub fn is_again(self) -> bool {
        matches!(
            self,
            Kind::DataAgain | Kind::CopyAgain | Kind::MulticastAgain
        )
    }

    /// The kind of its retransmission.
    pub fn again(self) -> Kind {
        match self {
            Kind::Multicast => Kind::MulticastAgain,
            Kind::Copy => Kind::CopyAgain,
            Kind::Data => Kind::DataAgain,
            other => other,
        }
    }

    /// The kind of its header alone.
    pub fn trimmed(self) -> Kind {
        match self {
            Kind::Multicast | Kind::MulticastAgain => Kind::MulticastTrimmed,
            Kind::Copy | Kind::CopyAgain => Kind::CopyTrimmed,
            _ => Kind::Trimmed,
        }
    }
}

impl Packet {
    /// A packet without words.
    pub const fn new(kind: Kind, time: Ticks, from: u32, to: u32) -> Packet {
        let words = Words::new();
        Packet {
            time,
            next: NO_PACKET,
            from,
            to,
            sequence: 0,
            flits: 0,
            port: 0,
            kind,
            slot: 0,
            words,
        }
    }

    /// A control packet that concerns this one, from `from` to its sender.
    pub fn answer(&self, kind: Kind, from: u32, time: Ticks) -> Packet {
        Packet {
            time,
            from,
            to: self.from,
            ..self.control(kind)
        }
    }

    /// A control packet that concerns this one, with its sender and receiver.
    #[inline]
    pub fn control(&self, kind: Kind) -> Packet {
        Packet {
            kind,
            words: Words::new(),
            ..*self
        }
    }

    /// Moves the packet out.
    #[inline]
    pub fn take(&mut self) -> Packet {
        std::mem::replace(self, Packet::new(Kind::Data, Ticks(0), 0, 0))
    }

    /// Whether its message has another segment.
    pub fn is_part(&self) -> bool {
        self.slot & PART != 0
    }

    /// Sets the number of flits.
    pub fn measure(&mut self, sizes: &Sizes) {
        self.flits = if self.kind.is_control() {
            sizes.control
        } else {
            let named = if self.kind.is_multicast() {
                GROUP_WORDS
            } else {
                0
            };
            sizes.header + (self.words.len() - named) as u16 * sizes.word
        };
    }
}

/// Flag in a packet's slot: its message has two segments.
pub const PART: u8 = 0x80;

/// Sizes on the wire, in flits.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    pub header: u16,
    pub word: u16,
    pub control: u16,
}

/// A queue of packets of a slab.
#[derive(Clone, Copy, Debug)]
pub struct List {
    head: PacketId,
    tail: PacketId,
}

impl Default for List {
    fn default() -> List {
        List {
            head: NO_PACKET,
            tail: NO_PACKET,
        }
    }
}

impl List {
    pub fn front<'a>(&self, slab: &'a Slab) -> Option<&'a Packet> {
        (self.head != NO_PACKET).then(|| &slab[self.head])
    }

    pub fn push(&mut self, slab: &mut Slab, id: PacketId) {
        slab[id].next = NO_PACKET;
        if self.head == NO_PACKET {
            self.head = id;
        } else {
            slab[self.tail].next = id;
        }
        self.tail = id;
    }

    pub fn pop(&mut self, slab: &Slab) -> Option<PacketId> {
        let id = self.head;
        if id == NO_PACKET {
            return None;
        }
        self.head = slab[id].next;
        Some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_a_cache_line() {
        assert_eq!(std::mem::size_of::<Packet>(), 64);
    }

    #[test]
    fn lists_keep_their_order_and_ids_are_reused() {
        let mut slab = Slab::default();
        let (mut even, mut odd) = (List::default(), List::default());
        for round in 0..3 {
            for number in 0..10 {
                let id = slab.put(Packet::new(Kind::Data, Ticks(0), 0, number));
                if number % 2 == 0 { &mut even } else { &mut odd }.push(&mut slab, id);
            }
            for number in 0..10 {
                let list = if number % 2 == 0 { &mut even } else { &mut odd };
                assert_eq!(list.front(&slab).map(|packet| packet.to), Some(number));
                let id = list.pop(&slab).unwrap();
                assert_eq!(slab.take(id).to, number, "round {round}");
            }
            assert!(even.front(&slab).is_none() && odd.front(&slab).is_none());
        }
        assert_eq!(slab.sizes(), (10, 10));
    }
}
