//! Bulk between ranks: whole buffers, at a link's rate and the network's latency.
//!
//! This is a simplification: a shipment is not cut into packets, so it and messages do not delay
//! each other. Sorts of files ship buffers; programs of tiny tasks do not.

use std::collections::BTreeMap;

use node::backend::Completion;
use node::{Address, Buffer, Rank};

use crate::network::layout::Layout;
use crate::schedule::Ticks;

/// A buffer under way.
pub enum Parcel {
    /// To a port; the buffer will return to its sender.
    Shipment {
        to: Address,
        from: Rank,
        number: u32,
        buffer: Buffer,
    },
    /// Back to its sender.
    Return {
        to: Rank,
        number: u32,
        buffer: Buffer,
    },
}

/// A block's parcels.
#[derive(Default)]
pub struct Bulk {
    next: u32,
    /// Senders that wait for their buffers.
    waiting: BTreeMap<u32, Completion<Buffer>>,
    arriving: BTreeMap<u32, Parcel>,
    arrivals: u32,
    /// Parcels for any block, with their arrival times.
    pub outbox: Vec<(Ticks, Parcel)>,
}

impl Parcel {
    /// The order of parcels that arrive at one moment.
    pub fn order(&self) -> (u32, u32, bool) {
        match self {
            Parcel::Shipment { from, number, .. } => (from.0, *number, true),
            Parcel::Return { to, number, .. } => (to.0, *number, false),
        }
    }

    /// The receiving rank.
    pub fn to(&self) -> Rank {
        match self {
            Parcel::Shipment { to, .. } => to.rank,
            Parcel::Return { to, .. } => *to,
        }
    }
}

impl Bulk {
    /// Begins a shipment; returns its number in this block.
    pub fn begin(&mut self, done: Completion<Buffer>) -> u32 {
        self.next += 1;
        self.waiting.insert(self.next, done);
        self.next
    }

    /// Ends a shipment, whose buffer has returned.
    pub fn end(&mut self, number: u32) -> Completion<Buffer> {
        self.waiting
            .remove(&number)
            .expect("a shipment returns once")
    }

    /// Keeps a parcel until it arrives; returns its number.
    pub fn expect(&mut self, parcel: Parcel) -> u32 {
        self.arrivals += 1;
        self.arriving.insert(self.arrivals, parcel);
        self.arrivals
    }

    pub fn is_empty(&self) -> bool {
        self.arriving.is_empty() && self.outbox.is_empty()
    }

    pub fn arrived(&mut self, number: u32) -> Parcel {
        self.arriving.remove(&number).expect("it was expected")
    }
}

/// The time of `bytes` bytes between two ranks.
pub fn ticks(layout: &Layout, from: Rank, to: Rank, bytes: usize) -> Ticks {
    let topology = &layout.topology;
    let [from, to] = [from, to].map(|rank| topology.nic_of(rank.0));
    let (latency, pace) = topology.way(from, to);
    let flits = bytes.div_ceil(layout.profile.network.flit_bytes as usize);
    latency.max(layout.window) + pace.ticks(flits as u64)
}
