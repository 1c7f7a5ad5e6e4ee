//! A switch: a port for each link, a way for each packet.
//!
//! Down to what lies below it, up over a random link otherwise (packet spraying). Where a queue is
//! full, data are cut down to their header, which travels as control and makes the receiver ask for
//! them again (trimming, as NDP does); what has no room at all is dropped. Multicasts are in
//! [`cast`](self::cast).
//!
//! A switch has no events. Whatever reaches it in a window left its last hop before the window
//! began, a link and a switch's latency ago. So all that comes is known at the window's beginning:
//! the switch puts it in order of time once, and works through it in one go. What leaves towards NICs
//! becomes events of this window, what leaves towards other switches is theirs in the next.
//!
//! ```text
//!   what arrives in the window, sorted -> way -> port -> NICs (events)
//!                                                     -> other switches (bins)
//! ```

mod agenda;
mod cast;

use crate::medium::{Fabric, Link, Medium, Purpose};
use crate::packet::{Kind, Packet};
use crate::port::Port;
use crate::topology::{Divisor, End};

use self::agenda::Agenda;
use self::cast::Casts;
pub use self::cast::group_words;

/// Bins of so many packets are kept to be filled again: where little is sent, making them anew costs
/// more than what is in them.
const SMALL: usize = 16;

pub struct Switch {
    number: u32,
    /// The NICs below it, and how many behind each downlink.
    below: std::ops::Range<u32>,
    each: Divisor,
    downlinks: u32,
    ports: Vec<Port>,
    links: Vec<Link>,
    casts: Casts,
    /// What will arrive, as it was handed over.
    incoming: Vec<Vec<Packet>>,
    spare: Vec<Vec<Packet>>,
    agenda: Agenda,
    /// Ports where something waits, at most so many.
    waiting: usize,
}

impl Switch {
    pub fn new(number: u32, fabric: &Fabric) -> Switch {
        let topology = &fabric.topology;
        let (first, until) = topology.below(number);
        let count = topology.downlinks(number) + topology.uplinks(number);
        let link = |link| {
            let end = topology.end_of(number, link);
            Link { end, number: link, stays: fabric.one_block, tail: 0 }
        };
        Switch {
            number,
            below: first..until,
            each: Divisor::new(topology.each_behind(number)),
            downlinks: topology.downlinks(number),
            ports: vec![Port::default(); count as usize],
            links: (0..count).map(link).collect(),
            casts: Casts::default(),
            incoming: Vec::new(),
            spare: Vec::new(),
            agenda: Agenda::default(),
            waiting: 0,
        }
    }

    /// These will arrive at their times.
    pub fn expect(&mut self, packets: Vec<Packet>) {
        if !packets.is_empty() {
            self.incoming.push(packets);
        }
    }

    /// When something happens here next, if the last window ended at `until`.
    pub fn next(&self, until: u64) -> u64 {
        let times = self.incoming.iter().flatten().map(|packet| packet.time);
        let arrival = times.min().unwrap_or(u64::MAX);
        let waiting = if self.waiting > 0 { until } else { u64::MAX };
        arrival.min(waiting).min(self.casts.next_look())
    }

    /// Works through all that arrives from `begin` on before `until`.
    pub fn run(&mut self, begin: u64, until: u64, medium: &mut Medium) {
        let is_idle = self.incoming.is_empty() && self.waiting == 0;
        if is_idle && self.casts.next_look() >= until {
            return;
        }
        let mut incoming = std::mem::replace(&mut self.incoming, std::mem::take(&mut self.spare));
        let mut agenda = std::mem::take(&mut self.agenda);
        let later = agenda.fill(&incoming, begin..until);
        medium.counts.events += agenda.due.len() as u64;
        for due in &agenda.due {
            let packet = &mut incoming[due.bin as usize][due.index as usize];
            if self.casts.next_look() <= packet.time {
                self.look_until(packet.time, medium);
            }
            medium.now = packet.time;
            self.arrive(packet, medium);
        }
        self.look_until(until - 1, medium);
        for mut packets in incoming.drain(..) {
            if later {
                packets.retain(|packet| packet.time >= until);
            } else {
                packets.clear();
            }
            if !packets.is_empty() {
                self.incoming.push(packets);
            } else if packets.capacity() <= SMALL && medium.spare.len() < self.ports.len() {
                medium.spare.push(packets);
            }
        }
        (self.spare, self.agenda) = (incoming, agenda);
        self.waiting = 0;
        for link in 0..self.ports.len() {
            if self.ports[link].next_start() < until {
                self.drain(link, until, medium);
            }
            self.waiting += usize::from(!self.ports[link].is_empty());
        }
    }

    fn arrive(&mut self, packet: &mut Packet, medium: &mut Medium) {
        match packet.kind {
            Kind::Data | Kind::DataAgain | Kind::Trimmed | Kind::Ack | Kind::Nack | Kind::Pull => {
                let link = self.way(packet, medium);
                self.output(link, packet, medium);
            }
            _ => self.arrive_cast(packet.take(), medium),
        }
    }

    /// Lets begin what can begin before `until`.
    fn drain(&mut self, link: usize, until: u64, medium: &mut Medium) {
        let port = &mut self.ports[link];
        while let Some((place, start)) = port.next(&medium.slab, until) {
            let mut packet = medium.slab.take(place);
            medium.launch(&mut packet, start, &self.links[link]);
        }
    }

    /// The most flits that a link to a NIC carried.
    pub fn busiest_down_flits(&self) -> u64 {
        let ports = self.links.iter().zip(&self.ports);
        let to_nics = ports.filter(|(link, _)| matches!(link.end, End::Nic(_)));
        to_nics.map(|(_, port)| port.sent_flits).max().unwrap_or(0)
    }

    /// The link towards a packet's receiver.
    fn way(&self, packet: &Packet, medium: &Medium) -> u32 {
        let nic = medium.fabric.topology.nic_of(packet.to);
        if self.below.contains(&nic) {
            return self.each.quotient(nic - self.below.start);
        }
        self.up(medium.fabric.draw(Purpose::Route, packet, medium.now))
    }

    /// An uplink, as a number draws it.
    fn up(&self, drawn: u32) -> u32 {
        let uplinks = self.ports.len() as u64 - u64::from(self.downlinks);
        self.downlinks + ((u64::from(drawn) * uplinks) >> 32) as u32
    }

    /// Puts a packet on a link, or behind what waits there.
    fn output(&mut self, link: u32, packet: &mut Packet, medium: &mut Medium) {
        let (now, link) = (medium.now, link as usize);
        if self.ports[link].next_start() < now {
            // What began before now makes room.
            self.drain(link, now, medium);
        }
        let port = &mut self.ports[link];
        packet.time = now;
        if port.begin_now(now, u64::from(packet.flits)) {
            medium.launch(packet, now, &self.links[link]);
            return;
        }
        let most = medium.fabric.queue_flits;
        let is_control = packet.kind.is_control();
        let mut fits = port.waiting(is_control) + u64::from(packet.flits) <= most;
        if !fits && !is_control {
            fits = port.waiting(true) + u64::from(medium.fabric.sizes.control) <= most;
            if fits {
                packet.kind = packet.kind.trimmed();
                packet.words = node::Words::new();
                packet.measure(&medium.fabric.sizes);
                medium.counts.trimmed += 1;
            }
        }
        if !fits {
            medium.counts.dropped += 1;
            return;
        }
        let place = medium.slab.put(packet.take());
        port.push(&mut medium.slab, place);
    }

    /// Puts a packet of the switch's own on a link.
    fn emit(&mut self, link: u32, mut packet: Packet, medium: &mut Medium) {
        packet.measure(&medium.fabric.sizes);
        self.output(link, &mut packet, medium);
    }
}
