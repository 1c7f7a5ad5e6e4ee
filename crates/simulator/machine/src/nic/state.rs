//! The state of a NIC.

use std::collections::VecDeque;

use super::buffer::TransmitBuffer;
use super::completed::Completed;
use super::egress::{Egress, Gap};
use super::partial::Partial;
use super::tap::Tap;
use super::transport::Transport;
use crate::network::fabric::{Fabric, Link};
use crate::network::store::id::PacketId;
use crate::network::store::prefetch;
use crate::schedule::{Pace, Ticks};

pub struct Nic {
    pub(super) number: u32,
    pub(super) first_rank: u32,
    pub(super) egress: Egress,
    pub(super) leaf: Link,
    // The arbiter.
    /// Messages of its cores that it has not taken.
    pub(super) offered: u32,
    pub(super) free_at: Ticks,
    pub(super) served_core: u32,
    pub(super) transmit_at: Ticks,
    // Transmit buffers.
    pub(super) buffers: Vec<TransmitBuffer>,
    pub(super) free_buffers: Vec<u8>,
    pub(super) large_in_use: u32,
    pub(super) next_message: u32,
    /// When it next checks its timeouts.
    pub(super) check_at: Ticks,
    // Receiving.
    pub(super) buffers_in_use: u32,
    /// Entries of receive queues in use.
    pub(super) entries: u32,
    /// Whole messages that found no room in their queue, and those behind them.
    pub(super) blocked: VecDeque<PacketId>,
    pub(super) unblock_at: Ticks,
    pub(super) partial: Vec<Partial>,
    pub(super) completed: Completed,
    pub(super) transport: Transport,
    pub(super) tap: Option<Box<Tap>>,
}

impl Nic {
    pub fn new(number: u32, fabric: &Fabric) -> Nic {
        let leaf = fabric.link_up(number);
        let each = fabric.layout.topology.ranks_per_nic;
        let is_tapped = fabric
            .layout
            .setting
            .tap
            .is_some_and(|tap| tap.0 / each == number);
        Nic {
            number,
            first_rank: number * each,
            egress: Egress::new(Gap {
                packet: fabric.nic_model().gap_cycles,
                flit: fabric.nic_model().gap_per_flit,
            }),
            leaf,
            offered: 0,
            free_at: Ticks(0),
            served_core: 0,
            transmit_at: Ticks::NEVER,
            buffers: Vec::new(),
            free_buffers: Vec::new(),
            large_in_use: 0,
            next_message: 0,
            check_at: Ticks::NEVER,
            buffers_in_use: 0,
            entries: 0,
            blocked: VecDeque::new(),
            unblock_at: Ticks::NEVER,
            partial: Vec::new(),
            completed: Completed::default(),
            transport: Transport::new(fabric.layout.setting.transport),
            tap: is_tapped.then(Box::default),
        }
    }

    /// Prefetches its state.
    pub fn prefetch(&self) {
        prefetch(&self.number);
        prefetch(&self.buffers);
        prefetch(&self.completed);
        prefetch(&self.transport);
    }

    /// Puts a packet at the egress port.
    pub(super) fn emit(&mut self, id: PacketId, fabric: &mut Fabric) {
        let slab = &mut fabric.scratch.slab;
        slab[id].measure(&fabric.layout.sizes);
        self.egress.push(id, slab);
    }

    pub(super) fn pace(&self, fabric: &Fabric) -> Pace {
        fabric.layout.topology.wire_of(self.leaf.wire).pace
    }
}
