//! Packets and parcels that blocks exchange between windows.
//!
//! Each link between blocks has two lists of bins: one is filled while the other is read. Bins are
//! moved whole, so packets are not copied.

use node::Mutex;

use crate::cluster::block::Block;
use crate::cluster::bulk::Parcel;
use crate::network::bins::Bins;
use crate::network::layout::Layout;
use crate::network::topology::End;
use crate::schedule::Ticks;

/// Parcels with their arrival times.
type Parcels = Mutex<Vec<(Ticks, Parcel)>>;

pub struct Exchange {
    /// By receiving link; all links are numbered, switch by switch.
    bins: [Vec<Mutex<Bins>>; 2],
    /// The first link of each switch.
    first: Vec<usize>,
    parcels: [Vec<Parcels>; 2],
}

impl Exchange {
    pub fn new(layout: &Layout) -> Exchange {
        let topology = &layout.topology;
        let blocks = layout.blocks();
        let mut first = vec![0];
        if !layout.one_block {
            for switch in 0..blocks {
                first.push(first[switch as usize] + topology.links(switch).len());
            }
        }
        let links = *first.last().expect("at least one");
        let bins = || (0..links).map(|_| Mutex::default()).collect();
        let parcels = || (0..blocks).map(|_| Mutex::default()).collect();
        Exchange {
            bins: [bins(), bins()],
            first,
            parcels: [parcels(), parcels()],
        }
    }

    /// Takes what a block sent in this window.
    pub fn hand_on(&self, number: u32, block: &Block, window: usize) {
        let layout = &*block.shared.layout;
        let state = &mut *block.shared.state.borrow_mut();
        for (link, bins) in state.fabric.outbox.iter_mut().enumerate() {
            if bins.is_empty() {
                continue;
            }
            let direction = layout.topology.link(number, link as u32);
            let End::Switch(to) = direction.end else {
                unreachable!("NICs are in their leaf's block")
            };
            let bin = &self.bins[window][self.first[to as usize] + direction.back as usize];
            bins.hand_to(&mut bin.lock());
        }
        for (time, parcel) in state.bulk.outbox.drain(..) {
            let nic = layout.topology.nic_of(parcel.to().0);
            let to = layout.block_of(layout.topology.leaf_of(nic));
            self.parcels[window][to as usize]
                .lock()
                .push((time, parcel));
        }
    }

    /// Gives a block what others sent to it in that window.
    pub fn take(&self, number: u32, block: &mut Block, window: usize) {
        if !block.shared.layout.one_block {
            let range = self.first[number as usize]..self.first[number as usize + 1];
            self.bins[window][range]
                .iter()
                .for_each(|bins| block.take_in(&mut bins.lock()));
        }
        let mut parcels = std::mem::take(&mut *self.parcels[window][number as usize].lock());
        parcels.sort_by_key(|(time, parcel)| (*time, parcel.order()));
        for (time, parcel) in parcels {
            block.take_parcel(time, parcel);
        }
    }
}
