//! Slots for packets: a cache line each, empty or with a packet.
//!
//! A slot does not know whether it has a packet; its owner does: a bin by a bit, a slab by its ids.

#![allow(unsafe_code)]

use std::mem::MaybeUninit;

use crate::network::packet::Packet;

// Aligned, since an allocator would put most packets over two lines. (The packet itself is not, since
// functions would have to align their stacks.)
#[repr(align(64))]
#[derive(Debug)]
pub struct PacketSlot(MaybeUninit<Packet>);

impl PacketSlot {
    pub const EMPTY: PacketSlot = PacketSlot(MaybeUninit::uninit());

    pub fn with(packet: Packet) -> PacketSlot {
        PacketSlot(MaybeUninit::new(packet))
    }

    /// Fills an empty slot. (The memory of a packet that it has would leak.)
    #[inline(always)]
    pub fn fill(&mut self, packet: Packet) {
        self.0.write(packet);
    }

    /// # Safety
    /// It has a packet.
    #[inline(always)]
    pub unsafe fn packet(&self) -> &Packet {
        // SAFETY: it has a packet.
        unsafe { self.0.assume_init_ref() }
    }

    /// # Safety
    /// It has a packet.
    #[inline(always)]
    pub unsafe fn packet_mut(&mut self) -> &mut Packet {
        // SAFETY: it has a packet.
        unsafe { self.0.assume_init_mut() }
    }

    /// Begins to move the packet out.
    ///
    /// # Safety
    /// It has a packet, and is empty from now on.
    #[inline(always)]
    pub unsafe fn lift(&self) -> Held<'_> {
        Held(&self.0)
    }
}

/// A packet that leaves its slot.
#[must_use]
pub struct Held<'a>(&'a MaybeUninit<Packet>);

impl Held<'_> {
    #[inline]
    pub fn packet(&self) -> &Packet {
        // SAFETY: the slot had a packet, and nothing else uses it from then on.
        unsafe { self.0.assume_init_ref() }
    }

    /// Moves the packet out.
    #[inline]
    pub fn take(self) -> Packet {
        // SAFETY: as in `packet`; the packet is read once, since this consumes the only way to it.
        unsafe { self.0.assume_init_read() }
    }

    /// Moves the packet to an empty slot.
    #[inline]
    pub fn move_to(self, slot: &mut PacketSlot) -> &mut Packet {
        // SAFETY: as in `take`. A shared and a unique reference do not overlap.
        unsafe {
            std::ptr::copy_nonoverlapping(self.0.as_ptr(), slot.0.as_mut_ptr(), 1);
            slot.packet_mut()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_a_cache_line() {
        assert_eq!(std::mem::size_of::<PacketSlot>(), 64);
        assert_eq!(std::mem::align_of::<PacketSlot>(), 64);
    }
}
