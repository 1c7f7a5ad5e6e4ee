//! A switch: a port for each link, a way for each packet.
//!
//! Down to what lies below it, up over a random link otherwise (packet spraying). Where a queue is
//! full, data are cut down to their header, which travels as control and makes the receiver ask for
//! them again (trimming, as NDP does); what has no room at all is dropped. Multicasts are in
//! [`cast`](self::cast).

mod cast;

use crate::medium::{Link, Medium, PortName, Purpose};
use crate::packet::Kind;
use crate::port::Port;
use crate::topology::End;

use self::cast::Casts;
pub use self::cast::group_words;

pub struct Switch {
    number: u32,
    ports: Vec<Port>,
    casts: Casts,
}

impl Switch {
    pub fn new(number: u32, links: u32) -> Switch {
        Switch { number, ports: vec![Port::default(); links as usize], casts: Casts::default() }
    }

    /// A packet has arrived, the switch's latency ago.
    pub fn arrive(&mut self, place: u32, medium: &mut Medium) {
        match medium.store[place].kind {
            Kind::Data | Kind::DataAgain | Kind::Trimmed | Kind::Ack | Kind::Nack => {
                let link = self.way(place, medium);
                self.output(link, place, medium);
            }
            _ => self.arrive_cast(place, medium),
        }
    }

    /// Lets begin what can begin before `until`; whether something still waits.
    pub fn drain(&mut self, link: u32, until: u64, medium: &mut Medium) -> bool {
        let port = &mut self.ports[link as usize];
        let sizes = medium.fabric.sizes;
        while let Some((place, start)) = port.next(&medium.store, until, &sizes) {
            let link = name(self.number, link, medium);
            medium.launch(place, start, link);
        }
        port.listed = !port.is_empty();
        port.listed
    }

    /// The most flits that a link to a NIC carried.
    pub fn busiest_down_flits(&self, medium: &Medium) -> u64 {
        let to_nic = |link: &usize| {
            matches!(medium.fabric.topology.end_of(self.number, *link as u32), End::Nic(_))
        };
        let links = (0..self.ports.len()).filter(to_nic);
        links.map(|link| self.ports[link].sent_flits).max().unwrap_or(0)
    }

    /// The link towards a packet's receiver.
    fn way(&self, place: u32, medium: &Medium) -> u32 {
        let topology = &medium.fabric.topology;
        let packet = &medium.store[place];
        let nic = topology.nic_of(packet.to);
        let (first, until) = topology.below(self.number);
        if (first..until).contains(&nic) {
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
    fn output(&mut self, link: u32, place: u32, medium: &mut Medium) {
        let (now, sizes) = (medium.now, medium.fabric.sizes);
        if self.ports[link as usize].listed {
            // What began before now makes room.
            self.drain_listed(link, now, medium);
        }
        let port = &mut self.ports[link as usize];
        medium.store[place].time = now;
        let packet = &medium.store[place];
        let flits = packet.flits(&sizes);
        if port.begin_now(now, flits) {
            let link = name(self.number, link, medium);
            medium.launch(place, now, link);
            return;
        }
        let most = medium.fabric.queue_flits;
        let mut fits = port.waiting(packet.kind.is_control()) + flits <= most;
        if !fits && !packet.kind.is_control() {
            fits = port.waiting(true) + sizes.control <= most;
            if fits {
                let packet = &mut medium.store[place];
                packet.kind = packet.kind.trimmed();
                packet.words = node::Words::new();
                medium.counts.trimmed += 1;
            }
        }
        if !fits {
            medium.counts.dropped += 1;
            medium.store.take(place);
            return;
        }
        port.push(&mut medium.store, place, &sizes);
        if !std::mem::replace(&mut port.listed, true) {
            medium.list(PortName::Switch { switch: self.number, link });
        }
    }

    /// As [`Switch::drain`], for a port that stays listed.
    fn drain_listed(&mut self, link: u32, until: u64, medium: &mut Medium) {
        self.drain(link, until, medium);
        self.ports[link as usize].listed = true;
    }
}

/// A switch's link, for what goes out on it.
fn name(switch: u32, number: u32, medium: &Medium) -> Link {
    let end = medium.fabric.topology.end_of(switch, number);
    Link { end, number, stays: medium.fabric.one_block, tail: 0 }
}
