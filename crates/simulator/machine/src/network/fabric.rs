//! A block's part of the network: its packets, its clock, and its links to other blocks.

use std::ops::{Index, IndexMut};
use std::sync::Arc;

use crate::log::BlockLog;
use crate::network::arrival_order::ArrivalOrder;
use crate::network::layout::Layout;
use crate::network::packet::Packet;
use crate::network::port::Line;
use crate::network::store::bins::{Bin, Bins};
use crate::network::store::id::PacketId;
use crate::network::store::list::List;
use crate::network::store::slab::Slab;
use crate::network::store::slot::Held;
use crate::network::topology::{Direction, End};
use crate::profile::NicModel;
use crate::report::Counts;
use crate::schedule::{Scheduler, Ticks};

/// Memory that the blocks of a thread use in turn, so that it stays in the cache.
#[derive(Default)]
pub struct Scratch {
    /// Packets in NICs and in ports.
    pub slab: Slab,
    /// The packets at the present port of a switch.
    pub line: Line,
    /// Packets on their way to switches.
    pub outbox: Outbox,
    /// Packets of multicasts that the present switch sends.
    pub generated: Generated,
    /// The arrivals of the present switch.
    pub bins: Vec<Bin>,
    /// Empty bins.
    pub spare: Vec<Bin>,
    /// The most bins that were sent in a window.
    most_sent: usize,
    /// Sorts the arrivals of a switch.
    pub order: ArrivalOrder,
}

/// Packets in NICs and ports for which memory is reserved at once: more than most programs have.
const PACKETS_PER_RANK: usize = 64;

/// Packets, and the link of each.
#[derive(Default)]
pub struct Generated {
    pub links: Vec<u32>,
    pub packets: Bins,
}

impl Scratch {
    pub fn new(layout: &Layout, threads: usize) -> Scratch {
        let ranks = layout.topology.ranks as usize / threads;
        Scratch {
            slab: Slab::new(ranks * PACKETS_PER_RANK),
            outbox: Outbox::new(layout.topology.switches),
            ..Scratch::default()
        }
    }

    /// Drops empty bins that no window needed: those of threads that mostly send end here.
    pub fn trim(&mut self, sent: usize) {
        self.most_sent = self.most_sent.max(sent);
        self.spare.truncate(self.most_sent);
    }
}

/// The network inside a block.
pub struct Fabric {
    pub layout: Arc<Layout>,
    pub scratch: Scratch,
    /// Whether the block has the scratch memory, and so its packets.
    pub has_scratch: bool,
    pub scheduler: Scheduler,
    pub counts: Counts,
    /// Packets for each switch of the block.
    pub inputs: Vec<SwitchInput>,
    /// Packets for each NIC, in order of time.
    pub arrivals: Vec<List>,
    /// Headers that a switch returns to their senders.
    pub returned: Vec<Packet>,
    /// When the first parcel for any block arrives.
    pub first_parcel: Ticks,
    /// Notes for the critical path, if it is asked for.
    pub log: Option<Box<BlockLog>>,
    first_nic: u32,
}

impl Fabric {
    pub fn new(layout: &Arc<Layout>, block: u32) -> Fabric {
        let topology = &layout.topology;
        let (first_switch, until_switch) = layout.switches_of(block);
        let (first_nic, until_nic) = layout.nics_of(block);
        let nics = (until_nic - first_nic) as usize;
        Fabric {
            layout: Arc::clone(layout),
            scratch: Scratch::default(),
            has_scratch: false,
            scheduler: Scheduler::new(nics),
            counts: Counts::default(),
            inputs: (first_switch..until_switch)
                .map(|_| SwitchInput::default())
                .collect(),
            arrivals: vec![List::default(); nics],
            returned: Vec::new(),
            first_parcel: Ticks::NEVER,
            log: layout.setting.path.then(|| {
                let each = topology.ranks_per_nic;
                let (first, ranks) = (first_nic * each, nics * each as usize);
                Box::new(BlockLog::new(first, ranks, first_nic, nics))
            }),
            first_nic,
        }
    }

    #[inline]
    pub fn now(&self) -> Ticks {
        self.scheduler.now
    }

    /// Writes notes for the critical path, if it is asked for.
    #[inline]
    pub fn note(&mut self, write: impl FnOnce(&mut BlockLog)) {
        if let Some(log) = &mut self.log {
            write(log);
        }
    }

    #[inline]
    pub fn nic_model(&self) -> &NicModel {
        &self.layout.profile.nic
    }

    #[inline(always)]
    pub fn put(&mut self, packet: Packet) -> PacketId {
        self.scratch.slab.put(packet)
    }

    #[inline]
    pub fn take(&mut self, id: PacketId) -> Packet {
        self.scratch.slab.take(id)
    }

    /// Entries of a receive queue that a message takes.
    pub fn entries_of(&self, packet: &Packet) -> u32 {
        let bytes = packet.words.len() as u32 * 8;
        bytes.div_ceil(self.nic_model().entry_bytes).max(1)
    }

    /// The link of a switch of this block.
    pub fn link_to(&self, direction: Direction) -> Link {
        let to = match direction.end {
            End::Nic(nic) => Receiver::Nic(nic - self.first_nic),
            End::Switch(switch) => Receiver::Switch(switch),
            // No packet takes this link.
            End::Nowhere => Receiver::Switch(u32::MAX),
        };
        let wire = direction.wire_number();
        Link { to, wire }
    }

    /// The link from a NIC to its leaf.
    pub fn link_up(&self, nic: u32) -> Link {
        let topology = &self.layout.topology;
        let leaf = topology.leaf_of(nic);
        Link {
            to: Receiver::Switch(leaf),
            wire: topology.number_up(leaf),
        }
    }

    /// Starts a packet on the link of a NIC; it arrives at the leaf, unless it is lost. `tail` is
    /// extra latency.
    #[inline]
    pub fn launch(&mut self, id: PacketId, departure: Departure, link: &Link, tail: Ticks) {
        if self.loses(id, departure.start) {
            return;
        }
        let Receiver::Switch(switch) = link.to else {
            unreachable!("a NIC is linked to a leaf")
        };
        let wire = self.layout.topology.wire_of(link.wire);
        let Departure { start, length } = departure;
        let time = wire.at_switch(start, length) + tail;
        let Scratch {
            slab,
            outbox,
            spare,
            ..
        } = &mut self.scratch;
        outbox.add(switch as usize, slab.lift(id), time, spare);
    }

    /// Whether a packet in the slab is lost on a link; it is dropped then.
    #[inline]
    pub fn loses(&mut self, id: PacketId, start: Ticks) -> bool {
        let is_lost = self.layout.loses(&self.scratch.slab[id], start);
        if is_lost {
            self.counts.lost += 1;
            self.take(id);
        }
        is_lost
    }

    /// Delivers a packet to a NIC at `time`.
    #[inline]
    pub fn deliver(&mut self, id: PacketId, time: Ticks, nic: usize) {
        self.scheduler.wake_at(nic, time);
        let slab = &mut self.scratch.slab;
        slab[id].time = time;
        self.arrivals[nic].push(slab, id);
    }

    /// Keeps a packet of a switch of this block that arrives at its time, after this window.
    pub fn bring(&mut self, switch: usize, packet: Packet) {
        let inputs = &mut self.inputs[switch];
        inputs.first = inputs.first.min(packet.time);
        inputs.packets.push(packet, &mut self.scratch.spare);
    }

    /// The time of the next event, at a switch or a NIC, or of a parcel.
    pub fn next(&self) -> Ticks {
        let inputs = self.inputs.iter().map(|inputs| inputs.first);
        let wake = self.scheduler.wake.iter().copied();
        inputs
            .chain(wake)
            .min()
            .unwrap_or(Ticks::NEVER)
            .min(self.first_parcel)
    }
}

impl Index<PacketId> for Fabric {
    type Output = Packet;

    #[inline]
    fn index(&self, id: PacketId) -> &Packet {
        &self.scratch.slab[id]
    }
}

impl IndexMut<PacketId> for Fabric {
    #[inline]
    fn index_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.scratch.slab[id]
    }
}

/// Packets for a switch of this block.
pub struct SwitchInput {
    pub packets: Bins,
    /// When the first arrives.
    pub first: Ticks,
}

impl Default for SwitchInput {
    fn default() -> SwitchInput {
        SwitchInput {
            packets: Bins::default(),
            first: Ticks::NEVER,
        }
    }
}

/// When a packet starts on a link, and how long it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    pub start: Ticks,
    pub length: Ticks,
}

/// A link of a switch or NIC.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    pub to: Receiver,
    /// The number of its wire.
    pub wire: u32,
}

/// The receiving end of a link: a NIC of its block, or any switch.
#[derive(Clone, Copy, Debug)]
pub enum Receiver {
    Nic(u32),
    Switch(u32),
}

/// The packets that the blocks of a thread send to switches in a window.
pub struct Outbox {
    /// By switch.
    pub bins: Vec<Bins>,
    /// When the first packet arrives.
    pub first: Ticks,
}

impl Default for Outbox {
    fn default() -> Outbox {
        Outbox::new(0)
    }
}

impl Outbox {
    fn new(switches: u32) -> Outbox {
        Outbox {
            bins: (0..switches).map(|_| Bins::default()).collect(),
            first: Ticks::NEVER,
        }
    }

    #[inline]
    pub fn add(&mut self, switch: usize, packet: Held<'_>, time: Ticks, spare: &mut Vec<Bin>) {
        self.first = self.first.min(time);
        self.bins[switch].add(packet, time, spare);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_mostly_receives_keeps_few_empty_bins() {
        let mut scratch = Scratch::default();
        let mut left = |received: usize, sent| {
            (0..received).for_each(|_| scratch.spare.push(Bin::default()));
            scratch.trim(sent);
            scratch.spare.len()
        };
        assert_eq!(
            [left(10, 3), left(10, 1), left(10, 5), left(0, 0)],
            [3, 3, 5, 5]
        );
    }
}
