//! Storage for packets, the only module of this crate with `unsafe`.
//!
//! Every event accesses its packet several times, by an id from this slab. Checking bounds each
//! time would be a tenth of the simulator's time, so ids are trusted.

#![allow(unsafe_code)]

use std::mem::MaybeUninit;

use crate::network::packet::Packet;

/// Packets by id.
///
/// Only the slab makes ids, and it never shrinks, so the index of an id is always valid. An id is
/// used up when its packet is taken out, so an id in use has a packet.
#[derive(Default)]
pub struct Slab {
    packets: Vec<MaybeUninit<Packet>>,
    /// Free ids, kept apart from the packets since a free packet is not in the cache.
    free: Vec<PacketId>,
    /// Whether each id has a packet.
    #[cfg(debug_assertions)]
    held: Vec<bool>,
}

/// A packet in the slab of its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PacketId(u32);

/// The end of a list.
pub const NO_PACKET: PacketId = PacketId(u32::MAX);

impl Slab {
    // Inlined, a new packet is written straight to the slab.
    #[inline(always)]
    pub fn put(&mut self, packet: Packet) -> PacketId {
        let id = self.free.pop().unwrap_or_else(|| self.grow());
        self.note(id, true);
        // SAFETY: this slab made the free id, and the packet that it had is moved out.
        unsafe { self.packets.get_unchecked_mut(id.0 as usize) }.write(packet);
        id
    }

    #[cold]
    fn grow(&mut self) -> PacketId {
        assert!(
            self.packets.len() < u32::MAX as usize,
            "packets are numbered in 32 bits"
        );
        self.packets.push(MaybeUninit::uninit());
        PacketId(self.packets.len() as u32 - 1)
    }

    /// Takes a packet out, and frees its id.
    #[inline]
    pub fn take(&mut self, id: PacketId) -> Packet {
        self.note(id, false);
        self.free.push(id);
        // SAFETY: this slab made the id and it was not free, so it has a packet, which is not read
        // again, since the id is free now.
        unsafe { self.packets.get_unchecked(id.0 as usize).assume_init_read() }
    }

    /// Frees the id of a packet that owns no memory, without reading the packet, which is rarely in
    /// the cache. (Memory that it owned would leak.)
    #[inline]
    pub fn give_up(&mut self, id: PacketId) {
        debug_assert!(self.at(id).words.is_inline());
        self.note(id, false);
        self.free.push(id);
    }

    /// In debug builds, checks that ids are used and freed in turn.
    #[inline(always)]
    fn note(&mut self, _id: PacketId, _holds: bool) {
        #[cfg(debug_assertions)]
        {
            let at = _id.0 as usize;
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
            self.held[_id.0 as usize],
            "an id has a packet while it is used"
        );
    }

    #[inline]
    fn at(&self, id: PacketId) -> &Packet {
        self.check(id);
        // SAFETY: ids come from `put` of this slab alone, so the index is valid. There is one slab
        // per thread; its blocks pass it on and use it only while they have it, which every task
        // checks when it enters its block; blocks do not change threads, and ids do not leave their
        // block. The id has a packet until it is freed. Users compare with `NO_PACKET` first.
        unsafe { self.packets.get_unchecked(id.0 as usize).assume_init_ref() }
    }

    #[inline]
    fn at_mut(&mut self, id: PacketId) -> &mut Packet {
        self.check(id);
        // SAFETY: as in `at`.
        unsafe {
            self.packets
                .get_unchecked_mut(id.0 as usize)
                .assume_init_mut()
        }
    }

    #[cfg(test)]
    pub fn sizes(&self) -> (usize, usize) {
        (self.packets.len(), self.free.len())
    }
}

/// Prefetches a value that will be needed soon.
#[inline]
pub fn fetch<T>(soon: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing, for any address.
        unsafe { _mm_prefetch(std::ptr::from_ref(soon).cast(), _MM_HINT_T0) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = soon;
}

impl Drop for Slab {
    /// Drops the packets that are left, which may own words.
    fn drop(&mut self) {
        let mut held = vec![true; self.packets.len()];
        self.free.iter().for_each(|id| held[id.0 as usize] = false);
        for (packet, _) in self.packets.iter_mut().zip(held).filter(|(_, held)| *held) {
            // SAFETY: its id is not free, so it has a packet.
            unsafe { packet.assume_init_drop() };
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
