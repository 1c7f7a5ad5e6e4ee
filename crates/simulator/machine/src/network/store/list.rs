//! Queues of packets, linked in their slab.

use crate::network::packet::Packet;
use crate::network::store::id::{NO_PACKET, PacketId};
use crate::network::store::slab::Slab;

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

    /// Prefetches the first packet.
    #[inline]
    pub fn prefetch(&self, slab: &Slab) {
        slab.prefetch(self.head);
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
    use crate::network::packet::Kind;
    use crate::schedule::Ticks;

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
