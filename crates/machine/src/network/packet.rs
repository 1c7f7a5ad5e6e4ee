//! Packets, and lists of them in one store.
//!
//! A packet is 64 bytes, a cache line, with up to three words of its message inside. On its way to
//! a switch it lies in a bin; at NICs it lies in the slab, where lists link it by its place.

use node::Words;

use crate::network::slab::{NOWHERE, Place, Slab};
use crate::profile::GROUP_WORDS;
use crate::schedule::Ticks;

/// A packet under way.
#[derive(Clone, Debug)]
pub struct Packet {
    /// When it is where it goes next.
    pub time: Ticks,
    /// The next of its list.
    pub next: Place,
    /// Which rank sent it; of a control packet, the first rank of its NIC.
    pub from: u32,
    /// Which rank it is for.
    pub to: u32,
    /// Twice the number of the message among its NIC's, plus the segment. A control packet carries
    /// that of the packet it is about.
    pub sequence: u32,
    /// Flits on the wire.
    pub flits: u16,
    /// The port of its receiver; between switches, the branch of a multicast it is about.
    pub port: u16,
    /// Data or control.
    pub kind: Kind,
    /// The transmit buffer that holds its message, and whether it is one of two segments.
    pub slot: u8,
    /// Its words; of a multicast, after two words that name the group.
    pub words: Words,
}

/// The kind of a packet: data first, then control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// A segment of a message.
    Data,
    /// A segment that is sent again, because it was not acknowledged.
    DataAgain,
    /// A message to a group.
    Cast,
    /// A message to a group, sent again.
    CastAgain,
    /// The copy of a multicast for one member.
    Copy,
    /// A copy, sent again.
    CopyAgain,
    /// A segment cut down to its header; from here on what goes before data.
    Trimmed,
    /// The segment arrived: free its buffer, and send more (ACK and PULL).
    Ack,
    /// Its header arrived: wait until it is asked for (NACK).
    Nack,
    /// Send it again (PULL).
    Pull,
    /// A switch had no room even for its header: try again after a while.
    Returned,
    /// A message to a group, cut down to its header.
    CastTrimmed,
    /// A copy cut down to its header.
    CopyTrimmed,
    /// A member has its copy.
    CopyAck,
    /// A member got the header of its copy alone.
    CopyNack,
    /// A branch of a multicast has it.
    CastAck,
    /// A branch of a multicast got its header alone.
    CastNack,
}

impl Kind {
    /// Whether it goes before data.
    pub fn is_control(self) -> bool {
        self >= Kind::Trimmed
    }

    /// Whether a switch deals with it itself: a multicast, or an answer about one.
    pub fn concerns_casts(self) -> bool {
        matches!(self, Kind::Cast | Kind::CastAgain | Kind::CastTrimmed) || self >= Kind::CopyAck
    }

    /// Whether it is a message to a group, whole.
    pub fn is_cast(self) -> bool {
        matches!(self, Kind::Cast | Kind::CastAgain)
    }

    /// Whether it is a header, its data cut off.
    pub fn is_trimmed(self) -> bool {
        matches!(self, Kind::Trimmed | Kind::CopyTrimmed | Kind::CastTrimmed)
    }

    /// Whether it is sent again.
    pub fn is_again(self) -> bool {
        matches!(self, Kind::DataAgain | Kind::CopyAgain | Kind::CastAgain)
    }

    /// The kind of a packet that is sent again.
    pub fn again(self) -> Kind {
        match self {
            Kind::Cast => Kind::CastAgain,
            Kind::Copy => Kind::CopyAgain,
            Kind::Data => Kind::DataAgain,
            other => other,
        }
    }

    /// The kind after a full queue has cut off the data.
    pub fn trimmed(self) -> Kind {
        match self {
            Kind::Cast | Kind::CastAgain => Kind::CastTrimmed,
            Kind::Copy | Kind::CopyAgain => Kind::CopyTrimmed,
            _ => Kind::Trimmed,
        }
    }
}

impl Packet {
    /// A packet without words, from one rank to another.
    pub const fn new(kind: Kind, time: Ticks, from: u32, to: u32) -> Packet {
        let words = Words::new();
        Packet {
            time,
            next: NOWHERE,
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

    /// A control packet about this one, from `from` back to its sender.
    pub fn answer(&self, kind: Kind, from: u32, time: Ticks) -> Packet {
        Packet {
            time,
            from,
            to: self.from,
            ..self.control(kind)
        }
    }

    /// A control packet about this one that names the same sender and receiver.
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

    /// How long the packet occupies a link, which carries a flit a tick.
    #[inline]
    pub fn wire_time(&self) -> Ticks {
        Ticks(u64::from(self.flits))
    }

    /// Whether its message has another segment.
    pub fn is_part(&self) -> bool {
        self.slot & PART != 0
    }

    /// Says how long it is on the wire.
    pub fn measure(&mut self, sizes: &Sizes) {
        self.flits = if self.kind.is_control() {
            sizes.control
        } else {
            let named = if self.kind.is_cast() { GROUP_WORDS } else { 0 };
            sizes.header + (self.words.len() - named) as u16 * sizes.word
        };
    }
}

/// In a packet's slot: its message has two segments.
pub const PART: u8 = 0x80;

/// Sizes on the wire, in flits.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Of the headers of a packet.
    pub header: u16,
    /// Of a word.
    pub word: u16,
    /// Of a control packet.
    pub control: u16,
}

/// A queue of packets, linked through their slab.
#[derive(Clone, Copy, Debug)]
pub struct List {
    head: Place,
    tail: Place,
}

impl Default for List {
    fn default() -> List {
        List {
            head: NOWHERE,
            tail: NOWHERE,
        }
    }
}

impl List {
    pub fn front<'a>(&self, slab: &'a Slab) -> Option<&'a Packet> {
        (self.head != NOWHERE).then(|| &slab[self.head])
    }

    pub fn push(&mut self, slab: &mut Slab, place: Place) {
        slab[place].next = NOWHERE;
        if self.head == NOWHERE {
            self.head = place;
        } else {
            slab[self.tail].next = place;
        }
        self.tail = place;
    }

    pub fn pop(&mut self, slab: &Slab) -> Option<Place> {
        let place = self.head;
        if place == NOWHERE {
            return None;
        }
        self.head = slab[place].next;
        Some(place)
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
    fn lists_keep_their_order_and_places_are_used_again() {
        let mut slab = Slab::default();
        let (mut even, mut odd) = (List::default(), List::default());
        for round in 0..3 {
            for number in 0..10 {
                let place = slab.put(Packet::new(Kind::Data, Ticks(0), 0, number));
                if number % 2 == 0 { &mut even } else { &mut odd }.push(&mut slab, place);
            }
            for number in 0..10 {
                let list = if number % 2 == 0 { &mut even } else { &mut odd };
                assert_eq!(list.front(&slab).map(|packet| packet.to), Some(number));
                let place = list.pop(&slab).unwrap();
                assert_eq!(slab.take(place).to, number, "round {round}");
            }
            assert!(even.front(&slab).is_none() && odd.front(&slab).is_none());
        }
        assert_eq!(slab.sizes(), (10, 10));
    }
}
