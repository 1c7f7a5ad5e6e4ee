//! A link of a switch with its port: moves the packets that the port sends.

use std::ops::Range;

use crate::network::arrival::Arrival;
use crate::network::fabric::{Fabric, Link, Receiver, Scratch};
use crate::network::packet::{Kind, Packet};
use crate::network::port::{Line, Model, Port};
use crate::network::store::bins::{Bin, BinIndex};
use crate::schedule::{Pace, Ticks};
use crate::setting::Transport;

// A cache line, which is most that a window reads of a link: two would be fetched if it began elsewhere.
#[repr(align(64))]
pub struct Output {
    pub port: Port,
    pub link: Link,
}

impl Output {
    pub fn new(link: Link) -> Output {
        Output {
            port: Port::new(),
            link,
        }
    }

    fn model(&self, fabric: &Fabric) -> Model {
        Model {
            pace: self.pace(fabric),
            queue_flits: fabric.layout.queue_flits,
            header: fabric.layout.sizes.control,
            has_priorities: fabric.layout.setting.transport != Transport::Ndp,
        }
    }

    fn pace(&self, fabric: &Fabric) -> Pace {
        fabric.layout.topology.wire_of(self.link.wire).pace
    }

    /// How long it has sent to a NIC, and the flits that it sent.
    pub fn sent_to_nic(&self, fabric: &Fabric) -> Option<(Ticks, u64)> {
        let flits = self.port.sent_flits;
        matches!(self.link.to, Receiver::Nic(_)).then(|| (self.pace(fabric).ticks(flits), flits))
    }

    /// Sends the arrivals of a window over the link, or keeps them.
    pub fn run(&mut self, due: &[Arrival], turn: &mut Turn<'_>) {
        let model = self.model(turn.fabric);
        self.port.run(turn.window, due, &model, turn.line);
        if !turn.line.trimmed.is_empty() || !turn.line.refused.is_empty() {
            refuse(turn);
        }
        match self.link.to {
            Receiver::Nic(nic) => self.send_to_nic(nic as usize, turn),
            Receiver::Switch(switch) => self.send_to_switch(switch as usize, turn),
        }
        let Turn {
            bins, line, fabric, ..
        } = turn;
        let staying = line.staying.iter().map(|position| {
            let arrival = line.at(*position);
            if line.is_kept(*position) {
                return arrival;
            }
            let packet = BinIndex::of(arrival.number()).lift(bins);
            arrival.kept(fabric.scratch.slab.put_held(packet))
        });
        self.port.keep(staying);
    }

    fn send_to_nic(&self, nic: usize, turn: &mut Turn<'_>) {
        let wire = turn.fabric.layout.topology.wire_of(self.link.wire);
        for leaving in &turn.line.leaving {
            let arrival = turn.line.at(leaving.position);
            let start = turn.window.start + Ticks(leaving.tick.into());
            let id = if turn.line.is_kept(leaving.position) {
                turn.fabric.scratch.slab.id(arrival.number())
            } else {
                let packet = BinIndex::of(arrival.number()).lift(turn.bins);
                turn.fabric.scratch.slab.put_held(packet)
            };
            if !turn.fabric.loses(id, start) {
                let time = start + wire.latency + wire.pace.ticks(arrival.flits.into());
                turn.fabric.deliver(id, time, nic);
            }
        }
    }

    fn send_to_switch(&self, switch: usize, turn: &mut Turn<'_>) {
        let Turn {
            window,
            bins,
            line,
            fabric,
        } = turn;
        let wire = fabric.layout.topology.wire_of(self.link.wire);
        for leaving in &line.leaving {
            let arrival = line.at(leaving.position);
            let start = window.start + Ticks(leaving.tick.into());
            let length = wire.pace.ticks(arrival.flits.into());
            let time = wire.at_switch(start, length);
            let Scratch {
                slab,
                outbox,
                spare,
                ..
            } = &mut fabric.scratch;
            let packet = if line.is_kept(leaving.position) {
                slab.lift(slab.id(arrival.number()))
            } else {
                BinIndex::of(arrival.number()).lift(bins)
            };
            if fabric.layout.loses(packet.packet(), start) {
                fabric.counts.lost += 1;
                drop(packet.take());
            } else {
                outbox.add(switch, packet, time, spare);
            }
        }
    }
}

/// The packets of a window, while the links of a switch take their turns.
pub struct Turn<'a> {
    pub window: &'a Range<Ticks>,
    pub bins: &'a mut [Bin],
    pub line: &'a mut Line,
    pub fabric: &'a mut Fabric,
}

/// Trims packets to their headers, and returns those to their senders that have no room for them.
#[cold]
fn refuse(turn: &mut Turn<'_>) {
    let Turn {
        window,
        bins,
        line,
        fabric,
    } = turn;
    let sizes = fabric.layout.sizes;
    for position in &line.trimmed {
        let packet = BinIndex::of(line.at(*position).number()).packet(bins);
        packet.kind = packet.kind.trimmed();
        packet.words = node::Words::new();
        packet.measure(&sizes);
        fabric.counts.trimmed += 1;
    }
    for position in &line.refused {
        let arrival = line.at(*position);
        let packet = BinIndex::of(arrival.number()).lift(bins).take();
        return_to_sender(packet, window.start + Ticks(arrival.tick()), fabric);
    }
}

/// Handles a packet without room even for its header: data are reported to their sender (NDP's
/// return to sender), and control is dropped; with Homa, both.
fn return_to_sender(packet: Packet, now: Ticks, fabric: &mut Fabric) {
    let is_data = packet.kind == Kind::Data || packet.kind == Kind::DataAgain;
    if is_data && fabric.layout.setting.transport == Transport::Ndp {
        fabric.counts.returned += 1;
        let header = packet.answer(Kind::Returned, packet.to, now);
        fabric.returned.push(header);
    } else {
        fabric.counts.dropped += 1;
    }
}
