//! Storage for packets at NICs and in ports.
//!
//! Every event accesses its packet several times, by an id from this slab. Checking bounds each
//! time would be a tenth of the simulator's time, so ids are trusted.

#![allow(unsafe_code)]

use crate::network::packet::Packet;
use crate::network::store::bins::FLAG_BITS;
use crate::network::store::id::PacketId;
use crate::network::store::prefetch;
use crate::network::store::slot::{Held, PacketSlot};

/// Packets by id.
///
/// Only the slab makes ids, and it never shrinks, so the index of an id is always valid. An id is used
/// up when its packet is taken out, so an id in use has a packet.
#[derive(Default)]
pub struct Slab {
    packets: Vec<PacketSlot>,
    /// Free ids, kept apart from the packets since a free packet is not in the cache.
    free: Vec<PacketId>,
    /// Whether each id has a packet.
    #[cfg(debug_assertions)]
    held: Vec<bool>,
}

/// Ids have this many bits, so that their users can add a class to them.
const ID_BITS: u32 = u32::BITS - FLAG_BITS;

impl Slab {
    /// A slab that reserves memory for so many packets, if it can. A slab that grows is copied, since
    /// allocators do not extend memory that is aligned; memory that is not used is reserved only.
    pub fn new(packets: usize) -> Slab {
        let mut slab = Slab::default();
        // Without it the slab grows as it needs to.
        let _ = slab.packets.try_reserve(packets);
        slab
    }

    /// The id with this number, which was one in use.
    ///
    /// # Panics
    /// Without such an id.
    #[inline]
    pub fn id(&self, number: u32) -> PacketId {
        assert!((number as usize) < self.packets.len(), "it was an id");
        PacketId::of(number)
    }

    // Inlined, a new packet is written straight to the slab.
    #[inline(always)]
    pub fn put(&mut self, packet: Packet) -> PacketId {
        let id = self.free.pop().unwrap_or_else(|| self.grow());
        self.note(id, true);
        // SAFETY: this slab made the free id, and the packet that it had is moved out.
        unsafe { self.packets.get_unchecked_mut(id.number() as usize) }.fill(packet);
        id
    }

    /// Moves a packet in from another place.
    #[inline]
    pub fn put_held(&mut self, packet: Held<'_>) -> PacketId {
        let id = self.free.pop().unwrap_or_else(|| self.grow());
        self.note(id, true);
        // SAFETY: as in `put`.
        packet.move_to(unsafe { self.packets.get_unchecked_mut(id.number() as usize) });
        id
    }

    /// Moves a packet out to another place, and frees its id.
    #[inline]
    pub fn lift(&mut self, id: PacketId) -> Held<'_> {
        self.note(id, false);
        self.free.push(id);
        // SAFETY: as in `take`.
        unsafe { self.packets.get_unchecked(id.number() as usize).lift() }
    }

    #[cold]
    fn grow(&mut self) -> PacketId {
        assert!(
            self.packets.len() < 1 << ID_BITS,
            "packets are numbered in 30 bits"
        );
        self.packets.push(PacketSlot::EMPTY);
        PacketId::of(self.packets.len() as u32 - 1)
    }

    /// Takes a packet out, and frees its id.
    #[inline]
    pub fn take(&mut self, id: PacketId) -> Packet {
        self.note(id, false);
        self.free.push(id);
        // SAFETY: this slab made the id and it was not free, so it has a packet, which is not read
        // again, since the id is free now.
        unsafe {
            self.packets
                .get_unchecked(id.number() as usize)
                .lift()
                .take()
        }
    }

    /// Frees the id of a packet that owns no memory, without reading the packet, which is rarely in
    /// the cache. (Memory that it owned would leak.)
    #[inline]
    pub fn give_up(&mut self, id: PacketId) {
        debug_assert!(self.at(id).words.is_inline());
        self.note(id, false);
        self.free.push(id);
    }

    /// Prefetches a packet, if there is one with this id.
    #[inline]
    pub fn prefetch(&self, id: PacketId) {
        if let Some(place) = self.packets.get(id.number() as usize) {
            prefetch(place);
        }
    }

    /// In debug builds, checks that ids are used and freed in turn.
    #[inline(always)]
    fn note(&mut self, _id: PacketId, _holds: bool) {
        #[cfg(debug_assertions)]
        {
            let at = _id.number() as usize;
            self.held.resize(self.packets.len(), false);
            assert_ne!(self.held[at], _holds, "an id is used and freed in turn");
            self.held[at] = _holds;
        }
    }

    /// In debug builds, checks that an id has a packet.
    #[inline(always)]
    fn check(&self, _id: PacketId) {
        #[cfg(debug_assertions)]
        assert!(
            self.held[_id.number() as usize],
            "an id has a packet while it is used"
        );
    }

    #[inline]
    fn at(&self, id: PacketId) -> &Packet {
        self.check(id);
        // SAFETY: ids come from this slab alone, so the index is valid. There is one slab
        // per thread; its blocks pass it on and use it only while they have it, which every task
        // checks when it enters its block; blocks do not change threads, and ids do not leave their
        // block. The id has a packet until it is freed. Users compare with `NO_PACKET` first.
        unsafe { self.packets.get_unchecked(id.number() as usize).packet() }
    }

    #[inline]
    fn at_mut(&mut self, id: PacketId) -> &mut Packet {
        self.check(id);
        // SAFETY: as in `at`.
        unsafe {
            self.packets
                .get_unchecked_mut(id.number() as usize)
                .packet_mut()
        }
    }

    #[cfg(test)]
    pub fn sizes(&self) -> (usize, usize) {
        (self.packets.len(), self.free.len())
    }
}

impl Drop for Slab {
    /// Drops the packets that are left, which may own words.
    fn drop(&mut self) {
        let mut held = vec![true; self.packets.len()];
        self.free
            .iter()
            .for_each(|id| held[id.number() as usize] = false);
        for (packet, _) in self.packets.iter().zip(held).filter(|(_, held)| *held) {
            // SAFETY: its id is not free, so it has a packet.
            drop(unsafe { packet.lift() }.take());
        }
    }
}

impl std::ops::Index<PacketId> for Slab {
    type Output = Packet;

    #[inline]
    fn index(&self, id: PacketId) -> &Packet {
        self.at(id)
    }
}

impl std::ops::IndexMut<PacketId> for Slab {
    #[inline]
    fn index_mut(&mut self, id: PacketId) -> &mut Packet {
        self.at_mut(id)
    }
}

#[cfg(test)]
mod tests {
    use node::Words;

    use super::*;
    use crate::network::packet::Kind;
    use crate::schedule::Ticks;

    /// A packet whose words are allocated.
    fn packet(number: u32) -> Packet {
        Packet {
            words: Words::from(&[u64::from(number); 9][..]),
            ..Packet::new(Kind::Data, Ticks(0), number, 0)
        }
    }

    #[test]
    fn packets_move_in_and_out_and_free_ids_are_used_again() {
        let (mut slab, mut other) = (Slab::new(10), Slab::default());
        let ids: Vec<PacketId> = (0..100).map(|number| slab.put(packet(number))).collect();
        let moved: Vec<PacketId> = ids
            .iter()
            .map(|id| other.put_held(slab.lift(*id)))
            .collect();
        assert_eq!(slab.sizes(), (100, 100));
        for (number, id) in (0..).zip(&moved).step_by(3) {
            assert_eq!(other.take(other.id(id.number())).words[..], [number; 9]);
        }
        let again = other.put(packet(7));
        assert_eq!((again, other.sizes()), (moved[99], (100, 33)));
        let bare = other.put(Packet::new(Kind::Ack, Ticks(0), 1, 2));
        other.give_up(bare);
        assert_eq!(other.sizes(), (100, 33));
    }
}
