//! A nanoPU NIC, which sends and receives for several cores.
//!
//! ```text
//!   cores' words -> arbiter -> transmit buffer -> egress port -> leaf   (transmit)
//!                   (a word per tick)   until every packet is acknowledged
//!   leaf -> receive buffer -> a core's receive queue -> its registers   (receive, completed)
//!               \ ACK + PULL for a whole packet, NACK + PULL for a trimmed one
//!                                                                 (acknowledge, transport)
//! ```
//!
//! Messages are stored and forwarded in both directions. The transmit buffers, freed by ACKs, are
//! the window of messages under way. A core whose NIC has no free buffer fills its transmit words,
//! and then waits.

mod acknowledge;
mod completed;
mod egress;
mod members;
mod receive;
mod tap;
mod transmit;
mod transport;

use std::collections::VecDeque;

use self::completed::Completed;
use self::egress::Egress;
use self::receive::Partial;
use self::tap::Tap;
use self::transmit::TransmitBuffer;
use self::transport::Transport;
use crate::cores::rank::RankState;
use crate::network::fabric::{Fabric, Link};
use crate::network::layout::Purpose;
use crate::network::packet::Packet;
use crate::network::store::id::PacketId;
use crate::network::store::prefetch;
use crate::schedule::{Pace, Ticks};

pub struct Nic {
    number: u32,
    first_rank: u32,
    egress: Egress,
    leaf: Link,
    // The arbiter.
    /// Messages of its cores that it has not taken.
    offered: u32,
    free_at: Ticks,
    served_core: u32,
    transmit_at: Ticks,
    // Transmit buffers.
    buffers: Vec<TransmitBuffer>,
    free_buffers: Vec<u8>,
    large_in_use: u32,
    next_message: u32,
    /// When it next checks its timeouts.
    check_at: Ticks,
    // Receiving.
    buffers_in_use: u32,
    /// Entries of receive queues in use.
    entries: u32,
    /// Whole messages that found no room in their queue, and those behind them.
    blocked: VecDeque<PacketId>,
    unblock_at: Ticks,
    partial: Vec<Partial>,
    completed: Completed,
    transport: Transport,
    tap: Option<Box<Tap>>,
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
            egress: Egress::new(),
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

    /// The time of its next own event.
    pub fn next(&self) -> Ticks {
        self.transmit_at
            .min(self.check_at)
            .min(self.transport.next())
            .min(self.unblock_at)
    }

    /// Handles its own event that is due now.
    pub fn act(&mut self, ranks: &mut [RankState], fabric: &mut Fabric) {
        if self.transmit_at == fabric.now() {
            self.transmit(ranks, fabric);
        } else if self.check_at == fabric.now() {
            self.check_timeouts(fabric);
        } else if self.transport.next() == fabric.now() {
            self.act_for_transport(fabric);
        } else {
            self.unblock(ranks, fabric);
        }
    }

    /// Puts a packet at the egress port.
    fn emit(&mut self, id: PacketId, fabric: &mut Fabric) {
        let slab = &mut fabric.scratch.slab;
        slab[id].measure(&fabric.layout.sizes);
        self.egress.push(id, slab);
    }

    /// Sends packets that can start before `until`; returns when the next can.
    pub fn drain(&mut self, until: Ticks, fabric: &mut Fabric) -> Ticks {
        if self.egress.next_start() >= until {
            return self.egress.next_start();
        }
        let (mut packets, mut flits) = (0, 0);
        let pace = self.pace(fabric);
        while let Some((id, departure)) = self.egress.next(until, pace, &fabric.scratch.slab) {
            let packet = &fabric[id];
            packets += 1;
            flits += u64::from(packet.flits);
            if let Some(tap) = &mut self.tap
                && !packet.kind.is_control()
            {
                tap.leave(departure);
            }
            let tail = self.tail(packet, fabric);
            fabric.launch(id, departure, &self.leaf, tail);
        }
        fabric.counts.packets += packets;
        fabric.counts.wire_bytes += flits * u64::from(fabric.layout.profile.network.flit_bytes);
        self.egress.next_start()
    }

    /// The pace of its link.
    fn pace(&self, fabric: &Fabric) -> Pace {
        fabric.layout.topology.wire_of(self.leaf.wire).pace
    }

    /// The times of messages through it, if it is tapped.
    pub fn tapped(self) -> Vec<Ticks> {
        self.tap.map_or_else(Vec::new, |tap| tap.times)
    }

    /// Extra latency of a packet, which a drawn share of packets has.
    fn tail(&self, packet: &Packet, fabric: &Fabric) -> Ticks {
        let setting = &fabric.layout.setting;
        if setting.tail == 0 || packet.kind.is_control() {
            return Ticks(0);
        }
        let drawn = fabric.layout.draw(Purpose::Tail, packet, Ticks(0));
        Ticks(if drawn < setting.tail_parts {
            setting.tail
        } else {
            0
        })
    }
}
