//! Packets.
//!
//! A packet is 64 bytes, a cache line, with up to three words of its message inside. On its way to
//! a switch it is in a bin; at NICs and ports it is in the slab.

use node::Words;

use crate::network::store::id::{NO_PACKET, PacketId};
use crate::profile::GROUP_WORDS;
use crate::schedule::Ticks;
use crate::setting::Transport;

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
    /// Flits on the wire; in a receive queue, its entries.
    pub flits: u16,
    /// The receiver's port; between switches, the branch of the multicast that it concerns; in a first
    /// segment whose message waits for a GRANT, the words of the rest.
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
    /// Send the segment again: NDP's PULL, and Homa's RESEND.
    Pull,
    /// Send the segment: Homa's GRANT.
    Grant,
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

/// The class of a packet at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Class {
    Control,
    Data,
    /// The header of trimmed data, which is control.
    Header,
}

impl Kind {
    /// The class of a packet at a port.
    #[inline]
    pub fn class(self) -> Class {
        match self {
            Kind::Trimmed | Kind::CopyTrimmed | Kind::MulticastTrimmed => Class::Header,
            kind if kind.is_control() => Class::Control,
            _ => Class::Data,
        }
    }

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

    /// Whether it is the copy of a multicast, or its header.
    pub fn is_copy(self) -> bool {
        matches!(self, Kind::Copy | Kind::CopyAgain | Kind::CopyTrimmed)
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

    /// Whether its message has another segment.
    pub fn is_part(&self) -> bool {
        self.slot & PART != 0
    }

    /// Its priority at a port with Homa, of [`PRIORITIES`] from 0, the most urgent: control, messages
    /// of one packet, packets of longer ones, and those that waited for a GRANT.
    #[inline]
    pub fn priority(&self, transport: Transport) -> usize {
        if self.kind.is_control() {
            0
        } else if !self.is_part() {
            1
        } else {
            2 + usize::from(transport.is_scheduled(self.sequence & 1))
        }
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

/// Priorities of a port with Homa: as many as an arrival has bits for.
pub const PRIORITIES: usize = 4;

/// Flag in a packet's slot: its message has two segments.
pub const PART: u8 = 0x80;

/// Sizes on the wire, in flits.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    pub header: u16,
    pub word: u16,
    pub control: u16,
}
