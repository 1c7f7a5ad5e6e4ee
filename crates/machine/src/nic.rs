//! A nanoPU NIC: the way out of several cores, and the way in.
//!
//! ```text
//!   cores' words -> arbiter -> transmit buffer -> egress port -> leaf   (transmit)
//!                   (a word a tick)   until every packet is acknowledged
//!   leaf -> receive buffer -> a core's receive queue -> its registers   (receive, completed)
//!               \ ACK + PULL for a whole packet, NACK + PULL for a trimmed one
//!                                                                       (acknowledge, pull)
//! ```
//!
//! Messages are stored before they go on, in both directions. The window of transmit buffers, freed
//! by ACKs, bounds a core's messages under way. A core whose NIC has no free buffer fills its
//! transmit words, and then waits.

mod acknowledge;
mod completed;
mod pull;
mod receive;
mod transmit;

use std::collections::VecDeque;

use self::completed::Completed;
use self::pull::Pulls;
use self::receive::Partial;
use self::transmit::Slot;
use crate::cores::rank::RankState;
use crate::network::fabric::{Fabric, Link};
use crate::network::layout::Purpose;
use crate::network::packet::Packet;
use crate::network::port::Port;
use crate::network::slab::Place;
use crate::schedule::Ticks;

pub struct Nic {
    number: u32,
    first_rank: u32,
    egress: Port,
    leaf: Link,
    // The arbiter.
    free_at: Ticks,
    served: u32,
    transmit_at: Ticks,
    // Transmit buffers.
    slots: Vec<Slot>,
    free_slots: Vec<u8>,
    large_in_use: u32,
    next_message: u32,
    /// When it next checks for messages that are late.
    look_at: Ticks,
    // Receiving.
    held: u32,
    entries: u32,
    blocked: VecDeque<Place>,
    unblock_at: Ticks,
    partial: Vec<Partial>,
    completed: Completed,
    pulls: Pulls,
    /// First flits of messages in, when this NIC is tapped.
    tapped_in: VecDeque<Ticks>,
    /// From first flit in to last flit out.
    pub tapped: Vec<Ticks>,
}

impl Nic {
    pub fn new(number: u32, fabric: &Fabric) -> Nic {
        Nic {
            number,
            first_rank: number * fabric.layout.topology.ranks_per_nic,
            egress: Port::default(),
            leaf: fabric.link_up(number),
            free_at: Ticks(0),
            served: 0,
            transmit_at: Ticks::NEVER,
            slots: Vec::new(),
            free_slots: Vec::new(),
            large_in_use: 0,
            next_message: 0,
            look_at: Ticks::NEVER,
            held: 0,
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

    /// When it acts by itself next.
    pub fn next(&self) -> Ticks {
        self.transmit_at
            .min(self.look_at)
            .min(self.pulls.ask_at)
            .min(self.unblock_at)
    }

    /// Does the step that is due now.
    pub fn act(&mut self, ranks: &mut [RankState], fabric: &mut Fabric) {
        if self.transmit_at == fabric.scheduler.now {
            self.transmit(ranks, fabric);
        } else if self.look_at == fabric.scheduler.now {
            self.look_for_late(fabric);
        } else if self.pulls.ask_at == fabric.scheduler.now {
            self.pull_if_idle(fabric);
        } else {
            self.unblock(ranks, fabric);
        }
    }

    /// Puts a packet at the egress port.
    fn emit(&mut self, place: Place, fabric: &mut Fabric) {
        let packet = &mut fabric.scratch.slab[place];
        packet.measure(&fabric.layout.sizes);
        self.egress.push(packet, place, &mut fabric.scratch.at_nics);
    }

    /// Puts packets on the link that can begin before `until`; returns when the next can.
    pub fn drain(&mut self, until: Ticks, fabric: &mut Fabric) -> Ticks {
        while let Some((place, start)) = self.egress.next(until, &mut fabric.scratch.at_nics) {
            let mut packet = fabric.scratch.slab.take(place);
            let flits = u64::from(packet.flits);
            fabric.counts.packets += 1;
            fabric.counts.wire_bytes += flits * u64::from(fabric.layout.profile.network.flit_bytes);
            if !self.tapped_in.is_empty() && !packet.kind.is_control() {
                self.tap_out(start, packet.wire_time());
            }
            let tail = self.tail(&packet, fabric);
            fabric.launch(&mut packet, start, self.leaf, tail);
        }
        self.egress.next_start()
    }

    /// A message leaves the tapped NIC.
    fn tap_out(&mut self, start: Ticks, length: Ticks) {
        if let Some(first_in) = self
            .tapped_in
            .front()
            .copied()
            .filter(|&first_in| first_in < start)
        {
            self.tapped_in.pop_front();
            self.tapped.push(start + length - first_in);
        }
    }

    /// Extra latency of a packet, for the share of packets that the run draws for it.
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
