//! A block's part of the network: its packets, its clock, and its links to other blocks.

use std::ops::{Index, IndexMut};
use std::sync::Arc;

use crate::log::BlockLog;
use crate::network::bins::{Bin, Bins};
use crate::network::layout::{Layout, Purpose};
use crate::network::packet::{List, Packet};
use crate::network::port::{Departure, QueueStore};
use crate::network::slab::{PacketId, Slab};
use crate::network::switch::{ArrivalOrder, Location};
use crate::network::topology::{Direction, End, Wire};
use crate::profile::NicModel;
use crate::report::Counts;
use crate::schedule::{Scheduler, Ticks};

/// Memory that the blocks of a thread use in turn, so that it stays in the cache.
#[derive(Default)]
pub struct Scratch {
    /// Packets in NICs and in ports.
    pub slab: Slab,
    /// The queues of the ports of NICs, and of switches.
    pub at_nics: QueueStore<PacketId>,
    pub at_switches: QueueStore<Location>,
    /// Empty bins.
    pub spare: Vec<Bin>,
    /// Sorts the arrivals of a switch.
    pub order: ArrivalOrder,
}

/// The network inside a block.
pub struct Fabric {
    pub layout: Arc<Layout>,
    pub scratch: Scratch,
    /// Whether the block has the scratch memory, and so its packets.
    pub has_scratch: bool,
    pub scheduler: Scheduler,
    pub counts: Counts,
    /// Packets for each switch of the block, from inside the block.
    pub inputs: Vec<SwitchInput>,
    /// Packets for the block's switch from other blocks.
    pub incoming: Vec<Bin>,
    /// Packets for each NIC, in order of time.
    pub arrivals: Vec<List>,
    /// Headers that a switch returns to their senders.
    pub returned: Vec<Packet>,
    /// Packets for other blocks, by the link of the block's switch.
    pub outbox: Vec<Bins>,
    /// When the first of those arrives.
    pub first_out: Ticks,
    /// Notes for the critical path, if it is asked for.
    pub log: Option<Box<BlockLog>>,
    first_switch: u32,
    first_nic: u32,
    /// A copy, since every launch needs it.
    loss_parts: u32,
}

impl Fabric {
    pub fn new(layout: &Arc<Layout>, block: u32) -> Fabric {
        let topology = &layout.topology;
        let links = if layout.one_block {
            0
        } else {
            topology.links(block).len()
        };
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
            incoming: Vec::new(),
            arrivals: vec![List::default(); nics],
            returned: Vec::new(),
            outbox: (0..links).map(|_| Bins::default()).collect(),
            first_out: Ticks::NEVER,
            log: layout.setting.path.then(|| {
                let each = topology.ranks_per_nic;
                let (first, ranks) = (first_nic * each, nics * each as usize);
                Box::new(BlockLog::new(first, ranks, first_nic, nics))
            }),
            first_switch,
            first_nic,
            loss_parts: layout.setting.loss_parts,
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

    /// The link of a switch of this block, as [`Fabric::launch`] needs it.
    pub fn link_to(&self, direction: Direction, number: u32) -> Link {
        let to = match direction.end {
            End::Nic(nic) => Receiver::Nic(nic - self.first_nic),
            End::Switch(switch) if self.layout.one_block => {
                Receiver::Switch(switch - self.first_switch)
            }
            End::Switch(_) | End::Nowhere => Receiver::Block(number),
        };
        let wire = self.layout.topology.wire(direction);
        Link { to, wire }
    }

    /// The link from a NIC to its leaf.
    pub fn link_up(&self, nic: u32) -> Link {
        let topology = &self.layout.topology;
        let leaf = topology.leaf_of(nic);
        Link {
            to: Receiver::Switch(leaf - self.first_switch),
            wire: topology.wire_up(leaf),
        }
    }

    /// Starts a packet on a link; it arrives at the other end, unless it is lost. `tail` is extra
    /// latency on the way to a switch.
    #[inline]
    pub fn launch(&mut self, packet: &mut Packet, departure: Departure, link: &Link, tail: Ticks) {
        let Departure { start, length } = departure;
        if self.loss_parts > 0 && self.is_lost(packet, start) {
            return;
        }
        let wire = &link.wire;
        let to_switch = start + wire.latency + length.max(wire.switch) + tail;
        match link.to {
            Receiver::Nic(nic) => self.deliver(packet, start + wire.latency + length, nic as usize),
            Receiver::Switch(switch) => self.bring(switch as usize, packet, to_switch),
            Receiver::Block(number) => {
                self.first_out = self.first_out.min(to_switch);
                self.outbox[number as usize].push(packet, to_switch, &mut self.scratch.spare);
            }
        }
    }

    /// Delivers a packet to a NIC at `time`.
    #[inline]
    fn deliver(&mut self, packet: &mut Packet, time: Ticks, nic: usize) {
        self.scheduler.wake_at(nic, time);
        let slab = &mut self.scratch.slab;
        let id = slab.put(packet.take());
        slab[id].time = time;
        self.arrivals[nic].push(slab, id);
    }

    /// Delivers a packet to a switch of this block at `time`.
    #[inline]
    pub fn bring(&mut self, switch: usize, packet: &mut Packet, time: Ticks) {
        let inputs = &mut self.inputs[switch];
        inputs.first = inputs.first.min(time);
        inputs.packets.push(packet, time, &mut self.scratch.spare);
    }

    #[cold]
    fn is_lost(&mut self, packet: &Packet, start: Ticks) -> bool {
        let is_lost = self.layout.draw(Purpose::Loss, packet, start) < self.loss_parts;
        self.counts.lost += u64::from(is_lost);
        is_lost
    }

    /// The time of the next event, at a switch, a NIC or another block.
    pub fn next(&self) -> Ticks {
        let inputs = self.inputs.iter().map(|inputs| inputs.first);
        let wake = self.scheduler.wake.iter().copied();
        inputs
            .chain(wake)
            .min()
            .unwrap_or(Ticks::NEVER)
            .min(self.first_out)
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

/// A link of a switch or NIC.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    pub to: Receiver,
    pub wire: Wire,
}

/// The receiving end of a link: a NIC or a switch of its block, or the link to another block.
#[derive(Clone, Copy, Debug)]
pub enum Receiver {
    Nic(u32),
    Switch(u32),
    Block(u32),
}
