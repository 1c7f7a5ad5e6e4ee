//! What moves and what happens: one small value for both, in lists through one store.
//!
//! A packet is 64 bytes, a cache line, with up to three words of its message inside. While it stays
//! in a block it does not move: lists and buckets link it by its place in the [`Store`].

use node::Words;

/// No packet: the end of a list.
pub const NONE: u32 = u32::MAX;

/// A packet under way, or an event of a block's own.
#[derive(Clone, Debug)]
pub struct Packet {
    /// When it is where it goes next.
    pub time: u64,
    /// The next of its list.
    pub next: u32,
    /// Which rank sent it; of a control packet, the first rank of its NIC.
    pub from: u32,
    /// Which rank it is for; of an event, whom it is about.
    pub to: u32,
    /// Twice the number of the message among its NIC's, plus the segment. A control packet carries
    /// that of the packet it is about.
    pub sequence: u32,
    /// Which switch it comes to, or [`NONE`]: a NIC.
    pub at: u32,
    /// The port of its receiver; between switches, the branch of a multicast it is about.
    pub port: u16,
    /// What it is.
    pub kind: Kind,
    /// The transmit buffer that holds its message, and whether it is one of two segments.
    pub slot: u8,
    /// What it says; of a multicast, after two words that name the group.
    pub words: Words,
}

/// What a packet or an event is, in the order of those of one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// A segment of a message.
    Data,
    /// The same, sent again because nobody acknowledged it.
    DataAgain,
    /// A segment cut down to its header.
    Trimmed,
    /// The segment arrived: free its buffer, and send more (ACK and PULL).
    Ack,
    /// Its header arrived: send it again (NACK and PULL).
    Nack,
    /// A message to a group.
    Cast,
    /// The same, sent again.
    CastAgain,
    /// A message to a group, cut down to its header.
    CastTrimmed,
    /// The copy of a multicast for one member.
    Copy,
    /// The same, sent again.
    CopyAgain,
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
    /// Event: a switch looks which branches have not acknowledged.
    CastTimer,
    /// Event: a NIC takes the next message of its cores.
    Transmit,
    /// Event: a NIC looks which packets nobody acknowledged.
    Timer,
    /// Event: a NIC tries again to hand on what its queues had no room for.
    Unblock,
    /// Event: a task goes on; the sequence is its turn.
    Resume,
    /// Event: a core of a rank with several tasks is free.
    CoreFree,
    /// Event: something that a disk does.
    Call,
    /// Event: bulk arrives.
    Parcel,
}

impl Kind {
    /// Whether it goes before data.
    pub fn is_control(self) -> bool {
        !matches!(self, Kind::Data | Kind::DataAgain | Kind::Copy | Kind::CopyAgain)
            && !self.is_cast()
    }

    /// Whether it is a message to a group, whole.
    pub fn is_cast(self) -> bool {
        matches!(self, Kind::Cast | Kind::CastAgain)
    }

    /// The same, as it is sent again.
    pub fn again(self) -> Kind {
        match self {
            Kind::Cast => Kind::CastAgain,
            Kind::Copy => Kind::CopyAgain,
            Kind::Data => Kind::DataAgain,
            other => other,
        }
    }

    /// What a full queue leaves of it.
    pub fn trimmed(self) -> Kind {
        match self {
            Kind::Cast | Kind::CastAgain => Kind::CastTrimmed,
            Kind::Copy | Kind::CopyAgain => Kind::CopyTrimmed,
            _ => Kind::Trimmed,
        }
    }
}

impl Packet {
    /// An event of a block's own.
    pub fn event(kind: Kind, time: u64, to: u32) -> Packet {
        let words = Words::new();
        Packet {
            time,
            next: NONE,
            from: 0,
            to,
            sequence: 0,
            at: NONE,
            port: 0,
            kind,
            slot: 0,
            words,
        }
    }

    /// A control packet about this one, from `from` back to its sender.
    pub fn answer(&self, kind: Kind, from: u32, time: u64) -> Packet {
        let words = Words::new();
        Packet { time, next: NONE, from, to: self.from, kind, words, at: NONE, ..*self }
    }

    /// The same without words.
    pub fn header(&self) -> Packet {
        Packet { words: Words::new(), ..*self }
    }

    /// Whether its message has another segment.
    pub fn is_part(&self) -> bool {
        self.slot & PART != 0
    }

    /// Flits on the wire.
    pub fn flits(&self, sizes: &Sizes) -> u64 {
        if self.kind.is_control() {
            return sizes.control;
        }
        let named = if self.kind.is_cast() { GROUP_WORDS } else { 0 };
        sizes.header + (self.words.len() - named) as u64 * sizes.word
    }

    /// The order of what happens at one moment: by receiver, sender and sequence.
    pub fn order(&self) -> (u32, Kind, u32, u32, u32, u32) {
        (self.at, self.kind, self.to, self.from, self.sequence, u32::from(self.port))
    }
}

/// In a packet's slot: its message has two segments.
pub const PART: u8 = 0x80;

/// Words in front of a multicast's own that name its group.
pub const GROUP_WORDS: usize = 2;

/// Sizes on the wire, in flits.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Of the headers of a packet.
    pub header: u64,
    /// Of a word.
    pub word: u64,
    /// Of a control packet.
    pub control: u64,
}

/// Packets of a block, each at a place of its own until it is taken out.
#[derive(Default)]
pub struct Store {
    packets: Vec<Packet>,
    free: u32,
    held: usize,
}

impl Store {
    pub fn new() -> Store {
        Store { packets: Vec::new(), free: NONE, held: 0 }
    }

    /// Keeps a packet: where.
    pub fn put(&mut self, packet: Packet) -> u32 {
        self.held += 1;
        if self.free == NONE {
            let place = u32::try_from(self.packets.len()).expect("fewer packets than addresses");
            self.packets.push(packet);
            return place;
        }
        let place = self.free;
        let slot = &mut self.packets[place as usize];
        self.free = slot.next;
        *slot = packet;
        place
    }

    /// Takes a packet out.
    pub fn take(&mut self, place: u32) -> Packet {
        self.held -= 1;
        let slot = &mut self.packets[place as usize];
        let words = std::mem::take(&mut slot.words);
        let packet = Packet { words, ..*slot };
        slot.next = self.free;
        self.free = place;
        packet
    }
}

impl std::ops::Index<u32> for Store {
    type Output = Packet;

    fn index(&self, place: u32) -> &Packet {
        &self.packets[place as usize]
    }
}

impl std::ops::IndexMut<u32> for Store {
    fn index_mut(&mut self, place: u32) -> &mut Packet {
        &mut self.packets[place as usize]
    }
}

/// A queue of packets, linked through their store.
#[derive(Clone, Copy, Debug)]
pub struct List {
    head: u32,
    tail: u32,
}

impl Default for List {
    fn default() -> List {
        List { head: NONE, tail: NONE }
    }
}

impl List {
    pub fn is_empty(&self) -> bool {
        self.head == NONE
    }

    pub fn front<'a>(&self, store: &'a Store) -> Option<&'a Packet> {
        (self.head != NONE).then(|| &store[self.head])
    }

    pub fn push(&mut self, store: &mut Store, place: u32) {
        store[place].next = NONE;
        if self.head == NONE {
            self.head = place;
        } else {
            store[self.tail].next = place;
        }
        self.tail = place;
    }

    pub fn pop(&mut self, store: &Store) -> Option<u32> {
        let place = self.head;
        if place == NONE {
            return None;
        }
        self.head = store[place].next;
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
        let mut store = Store::new();
        let (mut even, mut odd) = (List::default(), List::default());
        for round in 0..3 {
            for number in 0..10 {
                let place = store.put(Packet::event(Kind::Timer, 0, number));
                if number % 2 == 0 { &mut even } else { &mut odd }.push(&mut store, place);
            }
            for number in 0..10 {
                let list = if number % 2 == 0 { &mut even } else { &mut odd };
                assert_eq!(list.front(&store).map(|packet| packet.to), Some(number));
                let place = list.pop(&store).unwrap();
                assert_eq!(store.take(place).to, number, "round {round}");
            }
            assert!(even.is_empty() && odd.is_empty());
        }
        assert_eq!((store.packets.len(), store.held), (10, 0));
    }
}
