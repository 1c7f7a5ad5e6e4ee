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
mod buffer;
mod completed;
mod egress;
mod members;
mod partial;
mod receive;
mod resend;
mod state;
mod tap;
mod transmit;
mod transport;

pub use self::state::Nic;

use self::transport::Transport;
use crate::cores::rank::RankState;
use crate::network::fabric::Fabric;
use crate::network::layout::Purpose;
use crate::network::packet::Packet;
use crate::schedule::Ticks;

impl Nic {
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

    /// Handles the transport's own event that is due now.
    fn act_for_transport(&mut self, fabric: &mut Fabric) {
        match self.transport {
            Transport::Ndp(_) => self.pull_if_idle(fabric),
            Transport::Homa(_) => self.resend_late(fabric),
        }
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
