//! The control and the data of a window at a port, apart.

use crate::network::arrival::Arrival;

/// The packets of a window in two lists, control and data, each in order.
#[derive(Debug, Default)]
pub struct Lanes {
    /// Room for each list, with an end.
    entries: [Vec<Entry>; 2],
    counts: [usize; 2],
}

/// A packet as one number, in order of tick and position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry(u64);

/// Bits of a packet's flits.
const FLIT_BITS: u32 = 16;

/// Bits of its position and flits.
const TICK_SHIFT: u32 = 48;

/// The end of a list, whose tick is later than every window's.
const END: Entry = Entry(u64::MAX);

impl Entry {
    #[inline]
    pub fn tick(self) -> u64 {
        self.0 >> TICK_SHIFT
    }

    #[inline]
    pub fn position(self) -> u32 {
        (self.0 >> FLIT_BITS) as u32
    }

    #[inline]
    pub fn flits(self) -> u64 {
        self.0 & ((1 << FLIT_BITS) - 1)
    }
}

impl Lanes {
    /// Sorts packets into lists; returns the flits of all.
    #[inline]
    pub fn fill(&mut self, packets: &[Arrival]) -> u64 {
        for entries in &mut self.entries {
            if entries.len() <= packets.len() {
                entries.resize(packets.len() + 1, END);
            }
        }
        let [control, data] = &mut self.entries;
        let (control, data) = (&mut control[..], &mut data[..]);
        let (mut controls, mut datas, mut flits) = (0, 0, 0);
        for (position, packet) in (0_u64..).zip(packets) {
            let number = u64::from(packet.flits) | position << FLIT_BITS;
            let entry = Entry(number | packet.tick() << TICK_SHIFT);
            // Written to both, but counted in one: a branch would often be mispredicted.
            (control[controls], data[datas]) = (entry, entry);
            let is_data = usize::from(packet.is_data());
            datas += is_data;
            controls += 1 - is_data;
            flits += u64::from(packet.flits);
        }
        (control[controls], data[datas]) = (END, END);
        self.counts = [controls, datas];
        flits
    }

    /// The lists of control and of data.
    #[inline]
    pub fn lists(&self) -> [Lane<'_>; 2] {
        [0, 1].map(|list| Lane(&self.entries[list][..=self.counts[list]]))
    }
}

/// A list, with its end.
#[derive(Clone, Copy)]
pub struct Lane<'a>(&'a [Entry]);

impl<'a> Lane<'a> {
    #[inline]
    pub fn first(self) -> Entry {
        self.at(0)
    }

    #[inline]
    pub fn at(self, index: usize) -> Entry {
        self.0[index]
    }

    /// The positions of the packets from an index on.
    pub fn after(self, index: usize) -> impl Iterator<Item = u32> + 'a {
        let rest = &self.0[index..self.0.len() - 1];
        rest.iter().map(|entry| entry.position())
    }
}
