//! Places for packets: the one room of this crate with `unsafe`.
//!
//! Every event touches its packet several times, by a place that the slab itself gave out. A bounds
//! check for each is a tenth of the simulator's time: so places are not checked again.

#![allow(unsafe_code)]

use std::mem::MaybeUninit;

use crate::network::packet::Packet;

/// Packets, each at a place of its own until it is taken out.
///
/// Only the slab makes places, and it never shrinks, so a place it gave out is always inside; and
/// whoever takes a packet out gives its place up, so what a place holds is a packet.
#[derive(Default)]
pub struct Slab {
    packets: Vec<MaybeUninit<Packet>>,
    /// Places that are free, apart from them: a free place is not in the cache.
    free: Vec<Place>,
    /// Whether each place holds a packet: checked where builds check.
    #[cfg(debug_assertions)]
    held: Vec<bool>,
}

/// Where a packet is in the slab of its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(u32);

/// No packet: the end of a list.
pub const NOWHERE: Place = Place(u32::MAX);

impl Slab {
    /// Keeps a packet: where.
    // In line, a packet that is just being made is made in its place.
    #[inline(always)]
    pub fn put(&mut self, packet: Packet) -> Place {
        let place = self.free.pop().unwrap_or_else(|| self.grow());
        self.note(place, true);
        // SAFETY: a free place was given out by this slab; what was there is moved out.
        unsafe { self.packets.get_unchecked_mut(place.0 as usize) }.write(packet);
        place
    }

    #[cold]
    fn grow(&mut self) -> Place {
        assert!(
            self.packets.len() < u32::MAX as usize,
            "fewer packets than places"
        );
        self.packets.push(MaybeUninit::uninit());
        Place(self.packets.len() as u32 - 1)
    }

    /// Takes a packet out, and its place back.
    #[inline]
    pub fn take(&mut self, place: Place) -> Packet {
        self.note(place, false);
        self.free.push(place);
        // SAFETY: the place was given out by this slab and not given back since, so it holds a
        // packet; nobody reads it again, since its place is free.
        unsafe {
            self.packets
                .get_unchecked(place.0 as usize)
                .assume_init_read()
        }
    }

    /// Gives a place back without a look at the packet, which owns nothing: it is seldom in the
    /// cache then. (Were there something, it would be lost, not used again.)
    #[inline]
    pub fn give_up(&mut self, place: Place) {
        debug_assert!(self.at(place).words.is_inline());
        self.note(place, false);
        self.free.push(place);
    }

    /// A place that did not hold a packet does now, or the other way round.
    #[inline(always)]
    fn note(&mut self, _place: Place, _holds: bool) {
        #[cfg(debug_assertions)]
        {
            let at = _place.0 as usize;
            self.held.resize(self.packets.len(), false);
            assert_ne!(
                self.held[at], _holds,
                "a place is filled and given back in turn"
            );
            self.held[at] = _holds;
        }
    }

    /// Stops where a place holds no packet.
    #[inline(always)]
    fn check(&self, _place: Place) {
        #[cfg(debug_assertions)]
        assert!(
            self.held[_place.0 as usize],
            "a place is used while it holds a packet"
        );
    }

    #[inline]
    fn at(&self, place: Place) -> &Packet {
        self.check(place);
        // SAFETY: places come from `put` of this slab alone (one slab a thread: the blocks of a
        // thread hand it on and use it only while they have it, which every task's way to its block
        // checks; blocks do not change threads, and places do not leave their block), so it is
        // inside; and it holds a packet until it is given back. `NOWHERE` is compared against
        // before every use.
        unsafe {
            self.packets
                .get_unchecked(place.0 as usize)
                .assume_init_ref()
        }
    }

    #[inline]
    fn at_mut(&mut self, place: Place) -> &mut Packet {
        self.check(place);
        // SAFETY: as in `at`.
        unsafe {
            self.packets
                .get_unchecked_mut(place.0 as usize)
                .assume_init_mut()
        }
    }

    #[cfg(test)]
    pub fn sizes(&self) -> (usize, usize) {
        (self.packets.len(), self.free.len())
    }
}

/// Brings something into the cache that will be needed soon.
#[inline]
pub fn fetch<T>(soon: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing, whatever the address.
        unsafe { _mm_prefetch(std::ptr::from_ref(soon).cast(), _MM_HINT_T0) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = soon;
}

impl Drop for Slab {
    /// Packets that are still there have words to give back.
    fn drop(&mut self) {
        let mut held = vec![true; self.packets.len()];
        self.free
            .iter()
            .for_each(|place| held[place.0 as usize] = false);
        for (packet, _) in self.packets.iter_mut().zip(held).filter(|(_, held)| *held) {
            // SAFETY: its place is not free, so it holds a packet.
            unsafe { packet.assume_init_drop() };
        }
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
