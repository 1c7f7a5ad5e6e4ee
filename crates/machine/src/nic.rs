//! A nanoPU NIC, which sends and receives for several cores.
//!
//! ```text
//!   cores' words -> arbiter -> transmit buffer -> egress port -> leaf   (transmit)
//!                   (a word per tick)   until every packet is acknowledged
//!   leaf -> receive buffer -> a core's receive queue -> its registers   (receive, completed)
//!               \ ACK + PULL for a whole packet, NACK + PULL for a trimmed one
//!                                                                       (acknowledge, pull)
//! ```
//!
//! Messages are stored and forwarded in both directions. The transmit buffers, freed by ACKs, are
//! the window of messages under way. A core whose NIC has no free buffer fills its transmit words,
//! and then waits.

mod acknowledge;
mod completed;
mod pull;
mod receive;
mod transmit;

use std::collections::VecDeque;

use self::completed::Completed;
use self::pull::Pulls;
use self::receive::Partial;
use self::transmit::TransmitBuffer;
use crate::cores::rank::RankState;
use crate::network::fabric::{Fabric, Link};
use crate::network::layout::Purpose;
use crate::network::packet::Packet;
use crate::network::port::Port;
use crate::network::slab::PacketId;
use crate::schedule::Ticks;

pub struct Nic {
    number: u32,
    first_rank: u32,
    egress: Port,
    leaf: Link,
    // The arbiter.
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
    pulls: Pulls,
    /// Times of first flits in, if this NIC is tapped.
    tapped_in: VecDeque<Ticks>,
    /// Times from a first flit in to a last flit out.
    pub tapped: Vec<Ticks>,
}

impl Nic {
    pub fn new(number: u32, fabric: &Fabric) -> Nic {
        let leaf = fabric.link_up(number);
        Nic {
            number,
            first_rank: number * fabric.layout.topology.ranks_per_nic,
            egress: Port::new(leaf.wire.pace),
            leaf,
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
            pulls: Pulls::default(),
            tapped_in: VecDeque::new(),
            tapped: Vec::new(),
        }
    }

    /// The time of its next own event.
    pub fn next(&self) -> Ticks {
        self.transmit_at
            .min(self.check_at)
            .min(self.pulls.ask_at)
            .min(self.unblock_at)
    }

    /// Handles its own event that is due now.
    pub fn act(&mut self, ranks: &mut [RankState], fabric: &mut Fabric) {
        if self.transmit_at == fabric.now() {
            self.transmit(ranks, fabric);
        } else if self.check_at == fabric.now() {
            self.check_timeouts(fabric);
        } else if self.pulls.ask_at == fabric.now() {
            self.pull_if_idle(fabric);
        } else {
            self.unblock(ranks, fabric);
        }
    }

    /// Puts a packet at the egress port.
    fn emit(&mut self, id: PacketId, fabric: &mut Fabric) {
        let packet = &mut fabric.scratch.slab[id];
        packet.measure(&fabric.layout.sizes);
        self.egress.push(packet, id, &mut fabric.scratch.at_nics);
    }

    /// Sends packets that can start before `until`; returns when the next can.
    pub fn drain(&mut self, until: Ticks, fabric: &mut Fabric) -> Ticks {
        while let Some((id, start)) = self.egress.next(until, &mut fabric.scratch.at_nics) {
            let mut packet = fabric.take(id);
            let flits = u64::from(packet.flits);
            fabric.counts.packets += 1;
            fabric.counts.wire_bytes += flits * u64::from(fabric.layout.profile.network.flit_bytes);
            if !self.tapped_in.is_empty() && !packet.kind.is_control() {
                self.tap_out(start, self.egress.pace.ticks(packet.flits.into()));
            }
            let tail = self.tail(&packet, fabric);
            fabric.launch(&mut packet, start, &self.leaf, tail);
        }
        self.egress.next_start()
    }

    fn tap_out(&mut self, start: Ticks, length: Ticks) {
        if self.tapped_in.front().is_some_and(|first| *first < start)
            && let Some(first) = self.tapped_in.pop_front()
        {
            self.tapped.push(start + length - first);
        }
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
