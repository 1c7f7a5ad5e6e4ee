//! Places for packets: the one room of this crate with `unsafe`.
//!
//! Every event touches its packet several times, by a place that the slab itself gave out. A bounds
//! check for each is a tenth of the simulator's time, and a packet that is not in the cache is most
//! of the rest: so places are not checked again, and packets can be fetched before they are due.

#![allow(unsafe_code)]

use crate::packet::Packet;

/// Packets of a block, each at a place of its own until it is taken out.
///
/// Only the slab makes places, and it never shrinks, so a place it gave out is always inside.
#[derive(Default)]
pub struct Slab {
    packets: Vec<Packet>,
    /// Places that are free, apart from them: a free place is not in the cache.
    free: Vec<Place>,
}

/// Where a packet is in the slab of its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(u32);

/// No packet: the end of a list.
pub const NOWHERE: Place = Place(u32::MAX);

impl Slab {
    /// Keeps a packet: where.
    pub fn put(&mut self, packet: Packet) -> Place {
        let Some(place) = self.free.pop() else {
            assert!(self.packets.len() < u32::MAX as usize, "fewer packets than places");
            self.packets.push(packet);
            return Place(self.packets.len() as u32 - 1);
        };
        // What was there has no words, so nothing is lost by writing over it.
        *self.at_mut(place) = packet;
        place
    }

    /// Takes a packet out.
    pub fn take(&mut self, place: Place) -> Packet {
        self.free.push(place);
        let slot = self.at_mut(place);
        let words = std::mem::take(&mut slot.words);
        Packet { words, ..*slot }
    }

    /// Brings a packet into the cache that will be needed soon.
    pub fn fetch(&self, place: Place) {
        #[cfg(target_arch = "x86_64")]
        if place != NOWHERE {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let packet = self.packets.as_ptr().wrapping_add(place.0 as usize);
            // SAFETY: a prefetch reads nothing, whatever the address.
            unsafe { _mm_prefetch(packet.cast(), _MM_HINT_T0) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = place;
    }

    fn at(&self, place: Place) -> &Packet {
        debug_assert!((place.0 as usize) < self.packets.len());
        // SAFETY: places come from `put` of this slab alone (one slab a block, and places do not
        // leave their block), and packets are never removed. `NOWHERE` is compared against
        // before every use.
        unsafe { self.packets.get_unchecked(place.0 as usize) }
    }

    fn at_mut(&mut self, place: Place) -> &mut Packet {
        debug_assert!((place.0 as usize) < self.packets.len());
        // SAFETY: as in `at`.
        unsafe { self.packets.get_unchecked_mut(place.0 as usize) }
    }

    #[cfg(test)]
    pub fn sizes(&self) -> (usize, usize) {
        (self.packets.len(), self.free.len())
    }
}

impl std::ops::Index<Place> for Slab {
    type Output = Packet;

    fn index(&self, place: Place) -> &Packet {
        self.at(place)
    }
}

impl std::ops::IndexMut<Place> for Slab {
    fn index_mut(&mut self, place: Place) -> &mut Packet {
        self.at_mut(place)
    }
}
