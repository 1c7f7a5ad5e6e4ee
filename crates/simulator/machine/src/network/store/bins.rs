//! Packets on their way to a switch, in bins.
//!
//! All bins have one size, so any emptied bin can be reused. A bin goes from the thread that fills it to
//! the one that empties it; a thread keeps no more empty ones than it has filled in a window. Packets are moved from bin to bin, so a bin knows which places hold one; this
//! is checked at each access, and makes the `unsafe` of this module sound by itself.

#![allow(unsafe_code)]

use crate::network::packet::Packet;
use crate::network::store::prefetch;
use crate::network::store::slot::{Held, PacketSlot};
use crate::schedule::Ticks;

/// Bits of a packet's number in its bin.
const BITS: u32 = 5;

/// Packets per bin: 2 KiB.
const MOST: usize = 1 << BITS;

/// The most bins that a [`BinIndex`] can number.
const MOST_BINS: usize = 1 << (u32::BITS - BITS - FLAG_BITS);

/// Bits that a [`BinIndex`] leaves to its users.
pub const FLAG_BITS: u32 = 2;

/// The position of a packet in a list of bins.
#[derive(Clone, Copy, Debug)]
pub struct BinIndex(u32);

impl BinIndex {
    /// # Panics
    /// With 2^25 bins, which are 64 GiB of packets.
    #[inline]
    pub fn new(bin: usize, index: usize) -> BinIndex {
        assert!(bin < MOST_BINS, "packets are numbered in 30 bits");
        BinIndex((bin as u32) << BITS | index as u32)
    }

    /// The position of packet `number` in full bins that begin with `first_bin`.
    pub fn nth(first_bin: usize, number: usize) -> BinIndex {
        BinIndex::new(first_bin + number / MOST, number % MOST)
    }

    /// The packet at this position.
    #[inline]
    pub fn packet(self, bins: &mut [Bin]) -> &mut Packet {
        bins[(self.0 >> BITS) as usize].at(self.0 as usize % MOST)
    }

    /// Takes out the packet at this position.
    #[inline]
    pub fn lift(self, bins: &mut [Bin]) -> Held<'_> {
        bins[(self.0 >> BITS) as usize].lift(self.0 as usize % MOST)
    }

    /// The position as a number of 30 bits.
    #[inline]
    pub fn number(self) -> u32 {
        self.0
    }

    /// The position with this number.
    #[inline]
    pub fn of(number: u32) -> BinIndex {
        BinIndex(number)
    }
}

/// Up to [`MOST`] packets.
#[derive(Debug)]
pub struct Bin {
    places: Box<[PacketSlot; MOST]>,
    /// A bit per place that holds a packet.
    held: u32,
    /// Places that were filled since it was empty.
    filled: u32,
}

impl Default for Bin {
    fn default() -> Bin {
        Bin {
            places: Box::new([const { PacketSlot::EMPTY }; MOST]),
            held: 0,
            filled: 0,
        }
    }
}

impl Bin {
    /// The number of packets in a bin from which none was moved.
    pub fn len(&self) -> usize {
        self.filled as usize
    }

    /// The packet at a place.
    #[inline]
    pub fn at(&mut self, index: usize) -> &mut Packet {
        assert!(self.held >> (index % MOST) & 1 == 1, "it holds a packet");
        // SAFETY: the bit says that the place holds a packet.
        unsafe { self.places[index % MOST].packet_mut() }
    }

    /// Takes out the packet at a place.
    #[inline]
    pub fn lift(&mut self, index: usize) -> Held<'_> {
        let bit = 1 << (index % MOST);
        assert!(self.held & bit != 0, "it holds a packet");
        self.held &= !bit;
        // SAFETY: the bit said that the place holds a packet, and it is clear now.
        unsafe { self.places[index % MOST].lift() }
    }

    /// Moves a packet in that arrives at `time`; gives it back if the bin is full.
    #[inline]
    fn add<'a>(&mut self, packet: Held<'a>, time: Ticks) -> Result<(), Held<'a>> {
        let Some(place) = self.places.get_mut(self.filled as usize) else {
            return Err(packet);
        };
        packet.move_to(place).time = time;
        self.held |= 1 << self.filled;
        self.filled += 1;
        Ok(())
    }

    /// Prepares the bin for new packets, after all were moved out.
    pub fn reuse(&mut self) {
        debug_assert_eq!(self.held, 0, "packets are not dropped");
        self.drop_held();
    }

    fn drop_held(&mut self) {
        while self.held != 0 {
            let index = self.held.trailing_zeros() as usize;
            drop(self.lift(index).take());
        }
        self.filled = 0;
    }

    /// All packets of a bin from which none was moved.
    #[inline]
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        assert_eq!(self.held.count_ones(), self.filled, "none was moved");
        let filled = self.places[..self.len()].iter();
        // SAFETY: these places were filled, and their bits say that they hold packets still.
        filled.map(|place| unsafe { place.packet() })
    }

    /// Prefetches all packets.
    #[inline]
    pub fn prefetch(&self) {
        self.places[..self.len()].iter().for_each(prefetch);
    }
}

impl Drop for Bin {
    fn drop(&mut self) {
        self.drop_held();
    }
}

/// The packets for one switch.
#[derive(Debug, Default)]
pub struct Bins(Vec<Bin>);

impl Bins {
    /// Moves in a packet that arrives at `time`.
    #[inline]
    pub fn add(&mut self, packet: Held<'_>, time: Ticks, spare: &mut Vec<Bin>) {
        let added = match self.0.last_mut() {
            Some(bin) => bin.add(packet, time),
            None => Err(packet),
        };
        if let Err(packet) = added {
            self.begin_bin(packet, time, spare);
        }
    }

    #[cold]
    fn begin_bin(&mut self, packet: Held<'_>, time: Ticks, spare: &mut Vec<Bin>) {
        let mut bin = spare.pop().unwrap_or_default();
        let added = bin.add(packet, time);
        assert!(added.is_ok(), "it was empty");
        self.0.push(bin);
    }

    /// Moves in a packet that arrives at its time.
    pub fn push(&mut self, packet: Packet, spare: &mut Vec<Bin>) {
        let time = packet.time;
        let place = PacketSlot::with(packet);
        // SAFETY: the place has a packet, and is not used again.
        self.add(unsafe { place.lift() }, time, spare);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of bins.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Moves all bins to an empty list.
    pub fn hand_to(&mut self, others: &mut Bins) {
        debug_assert!(others.is_empty(), "it was emptied in the window before");
        std::mem::swap(self, others);
    }

    /// Moves in the bins of another list.
    pub fn append(&mut self, others: &mut Bins) {
        self.0.append(&mut others.0);
    }

    /// Moves all bins to the end of another list.
    pub fn move_to(&mut self, others: &mut Vec<Bin>) {
        others.append(&mut self.0);
    }
}

#[cfg(test)]
mod tests {
    use node::Words;

    use super::*;
    use crate::network::packet::Kind;

    /// A packet whose words are allocated.
    fn packet(number: u32) -> Packet {
        Packet {
            words: Words::from(&[u64::from(number); 9][..]),
            ..Packet::new(Kind::Data, Ticks(number.into()), number, 0)
        }
    }

    #[test]
    fn packets_move_from_bin_to_bin_and_bins_are_used_again() {
        let (mut spare, mut bins, mut first) = (Vec::new(), Vec::new(), Bins::default());
        (0..100).for_each(|number| first.push(packet(number), &mut spare));
        first.move_to(&mut bins);
        assert!(first.is_empty() && bins.len() == 100_usize.div_ceil(MOST));
        assert_eq!(bins.iter().map(Bin::len).sum::<usize>(), 100);
        let mut second = Bins::default();
        for number in (0..100).rev() {
            let held = BinIndex::nth(0, number).lift(&mut bins);
            assert_eq!(held.packet().words[..], [number as u64; 9]);
            second.add(held, Ticks(7), &mut spare);
        }
        bins.iter_mut().for_each(Bin::reuse);
        spare.append(&mut bins);
        second.push(packet(100), &mut spare);
        second.move_to(&mut bins);
        let senders = bins.iter().flat_map(Bin::packets).map(|packet| packet.from);
        assert_eq!(
            senders.collect::<Vec<_>>(),
            (0..100).rev().chain([100]).collect::<Vec<_>>()
        );
        assert_eq!(bins[0].at(3).time, Ticks(7));
    }

    #[test]
    #[should_panic(expected = "it holds a packet")]
    fn a_packet_is_moved_once() {
        let mut bin = Bin::default();
        let place = PacketSlot::with(packet(1));
        // SAFETY: the place has a packet, and is not used again.
        assert!(bin.add(unsafe { place.lift() }, Ticks(0)).is_ok());
        drop(bin.lift(0).take());
        drop(bin.lift(0).take());
    }
}
