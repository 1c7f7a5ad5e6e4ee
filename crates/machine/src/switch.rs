//! A switch: a port for each link, a way for each packet.
//!
//! Down to what lies below it, up over a random link otherwise (packet spraying). Where a queue is
//! full, data are cut down to their header, which travels as control and makes the receiver ask for
//! them again (trimming, as NDP does); what has no room at all is dropped. Multicasts are in
//! [`cast`](self::cast).

mod cast;

use crate::medium::{Fabric, Link, Medium, PortName, Purpose};
use crate::packet::{Kind, Packet};
use crate::port::Port;
use crate::slab::Place;
use crate::topology::End;

use self::cast::Casts;
pub use self::cast::group_words;

pub struct Switch {
    number: u32,
    /// The NICs below it.
    below: std::ops::Range<u32>,
    ports: Vec<Port>,
    links: Vec<Link>,
    casts: Casts,
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
            ports: vec![Port::default(); count as usize],
            links: (0..count).map(link).collect(),
            casts: Casts::default(),
        }
    }

    /// A packet has arrived, the switch's latency ago.
    pub fn arrive(&mut self, place: Place, medium: &mut Medium) {
        match medium.slab[place].kind {
            Kind::Data | Kind::DataAgain | Kind::Trimmed | Kind::Ack | Kind::Nack | Kind::Pull => {
                let link = self.way(place, medium);
                self.output(link, place, medium);
            }
            _ => self.arrive_cast(place, medium),
        }
    }

    /// Lets begin what can begin before `until`; whether something still waits.
    pub fn drain(&mut self, link: u32, until: u64, medium: &mut Medium) -> bool {
        let port = &mut self.ports[link as usize];
        while let Some((place, start)) = port.next(&medium.slab, until) {
            medium.launch(place, start, &self.links[link as usize]);
        }
        port.listed = !port.is_empty();
        port.listed
    }

    /// The most flits that a link to a NIC carried.
    pub fn busiest_down_flits(&self) -> u64 {
        let ports = self.links.iter().zip(&self.ports);
        let to_nics = ports.filter(|(link, _)| matches!(link.end, End::Nic(_)));
        to_nics.map(|(_, port)| port.sent_flits).max().unwrap_or(0)
    }

    /// The link towards a packet's receiver.
    fn way(&self, place: Place, medium: &Medium) -> u32 {
        let topology = &medium.fabric.topology;
        let packet = &medium.slab[place];
        let nic = topology.nic_of(packet.to);
        if self.below.contains(&nic) {
            return topology.down_to(self.number, nic);
        }
        self.up(medium.fabric.draw(Purpose::Route, packet, medium.now), medium)
    }

    /// An uplink, as a number draws it.
    fn up(&self, drawn: u32, medium: &Medium) -> u32 {
        let topology = &medium.fabric.topology;
        let uplinks = u64::from(topology.uplinks(self.number));
        let chosen = ((u64::from(drawn) * uplinks) >> 32) as u32;
        topology.downlinks(self.number) + chosen
    }

    /// Puts a packet on a link, or behind what waits there.
    fn output(&mut self, link: u32, place: Place, medium: &mut Medium) {
        let now = medium.now;
        if self.ports[link as usize].next_start() < now {
            // What began before now makes room.
            self.drain_listed(link, now, medium);
        }
        let port = &mut self.ports[link as usize];
        medium.slab[place].time = now;
        let packet = &medium.slab[place];
        let flits = u64::from(packet.flits);
        if port.begin_now(now, flits) {
            medium.launch(place, now, &self.links[link as usize]);
            return;
        }
        let most = medium.fabric.queue_flits;
        let mut fits = port.waiting(packet.kind.is_control()) + flits <= most;
        if !fits && !packet.kind.is_control() {
            fits = port.waiting(true) + u64::from(medium.fabric.sizes.control) <= most;
            if fits {
                let packet = &mut medium.slab[place];
                packet.kind = packet.kind.trimmed();
                packet.words = node::Words::new();
                packet.measure(&medium.fabric.sizes);
                medium.counts.trimmed += 1;
            }
        }
        if !fits {
            medium.counts.dropped += 1;
            medium.slab.take(place);
            return;
        }
        port.push(&mut medium.slab, place);
        if !std::mem::replace(&mut port.listed, true) {
            let name = PortName::Switch { switch: self.number, link };
            match self.links[link as usize].end {
                End::Nic(_) => medium.list_near(name),
                End::Switch(_) => medium.far.push(name),
            }
        }
    }

    /// Puts a packet of the switch's own on a link.
    fn emit(&mut self, link: u32, mut packet: Packet, medium: &mut Medium) {
        packet.measure(&medium.fabric.sizes);
        let place = medium.slab.put(packet);
        self.output(link, place, medium);
    }

    /// As [`Switch::drain`], for a port that stays listed.
    fn drain_listed(&mut self, link: u32, until: u64, medium: &mut Medium) {
        self.drain(link, until, medium);
        self.ports[link as usize].listed = true;
    }
}
