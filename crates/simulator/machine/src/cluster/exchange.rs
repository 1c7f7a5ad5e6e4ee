//! Packets and parcels that blocks exchange between windows.
//!
//! Each thread has two lists of bins for each switch: one is filled while the other, of the window
//! before, is read. Bins are moved whole, so packets are not copied.

use node::Mutex;

use crate::cluster::block::Block;
use crate::cluster::bulk::Parcel;
use crate::network::fabric::Outbox;
use crate::network::layout::Layout;
use crate::network::store::bins::Bins;
use crate::schedule::Ticks;

/// Parcels with their arrival times.
type Parcels = Mutex<Vec<(Ticks, Parcel)>>;

pub struct Exchange {
    /// By thread that sent them and by switch, for this window and the one before.
    bins: [Vec<Vec<Mutex<Bins>>>; 2],
    /// By block.
    parcels: [Vec<Parcels>; 2],
}

impl Exchange {
    pub fn new(layout: &Layout, threads: usize) -> Exchange {
        let of_thread = |_| {
            let switches = 0..layout.topology.switches;
            switches.map(|_| Mutex::default()).collect()
        };
        let bins = || (0..threads).map(of_thread).collect();
        let parcels = || (0..layout.blocks()).map(|_| Mutex::default()).collect();
        Exchange {
            bins: [bins(), bins()],
            parcels: [parcels(), parcels()],
        }
    }

    /// Takes the packets that the blocks of a thread sent in this window; returns the number of their
    /// bins.
    pub fn hand_on(&self, thread: usize, outbox: &mut Outbox, window: usize) -> usize {
        let bins = outbox.bins.iter().map(Bins::count).sum();
        for (sent, to) in outbox.bins.iter_mut().zip(&self.bins[window][thread]) {
            if !sent.is_empty() {
                sent.hand_to(&mut to.lock());
            }
        }
        bins
    }

    /// Takes the parcels that a block sent in this window.
    pub fn hand_on_parcels(&self, block: &Block, window: usize) {
        let layout = &*block.shared.layout;
        let state = &mut *block.shared.state.borrow_mut();
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
        let (first, until) = block.shared.layout.switches_of(number);
        for (local, switch) in (first..until).enumerate() {
            for of_thread in &self.bins[window] {
                block.take_in(local, &mut of_thread[switch as usize].lock());
            }
        }
        let mut parcels = std::mem::take(&mut *self.parcels[window][number as usize].lock());
        parcels.sort_by_key(|(time, parcel)| (*time, parcel.order()));
        for (time, parcel) in parcels {
            block.take_parcel(time, parcel);
        }
    }
}
