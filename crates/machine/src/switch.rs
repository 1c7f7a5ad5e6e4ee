//! A switch: a port for each link, a way for each packet.
//!
//! Down to what lies below it, up over a random link otherwise (packet spraying). Where a queue is
//! full, data are cut down to their header, which travels as control and makes the receiver ask for
//! them again (trimming, as NDP does); where there is no room even for that, the sender is told to try
//! again later. Multicasts are in
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
pub use self::agenda::Batch;
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
    exits: Vec<Exit>,
    casts: Casts,
    /// What will arrive, as it was handed over.
    incoming: Vec<Batch>,
    spare: Vec<Batch>,
    agenda: Agenda,
    /// Ports where something waits, at most so many.
    waiting: usize,
}

impl Switch {
    pub fn new(number: u32, fabric: &Fabric) -> Switch {
        let topology = &fabric.topology;
        let (first, until) = topology.below(number);
        let count = topology.downlinks(number) + topology.uplinks(number);
        let exit = |link| {
            let end = topology.end_of(number, link);
            let link = Link { end, number: link, stays: fabric.one_block, tail: 0 };
            Exit { port: Port::default(), link }
        };
        Switch {
            number,
            below: first..until,
            each: Divisor::new(topology.each_behind(number)),
            downlinks: topology.downlinks(number),
            exits: (0..count).map(exit).collect(),
            casts: Casts::default(),
            incoming: Vec::new(),
            spare: Vec::new(),
            agenda: Agenda::default(),
            waiting: 0,
        }
    }

    /// These will arrive at their times.
    pub fn expect(&mut self, packets: Batch) {
        if !packets.is_empty() {
            self.incoming.push(packets);
        }
    }

    /// When something happens here next, if the last window ended at `until`.
    pub fn next(&self, until: u64) -> u64 {
        let times = self.incoming.iter().flatten().flatten().map(|packet| packet.time);
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
        let later = agenda.fill(&incoming, &(begin..until));
        medium.counts.events += agenda.due.len() as u64;
        for due in &agenda.due {
            let slot = incoming[due.batch as usize][due.index as usize].take();
            let packet = slot.expect("each arrives once");
            if self.casts.next_look() <= packet.time {
                self.look_until(packet.time, medium);
            }
            medium.now = packet.time;
            self.arrive(packet, medium);
        }
        self.look_until(until - 1, medium);
        for mut packets in incoming.drain(..) {
            if later {
                packets.retain(Option::is_some);
            } else {
                packets.clear();
            }
            if !packets.is_empty() {
                self.incoming.push(packets);
            } else if packets.capacity() <= SMALL && medium.spare.len() < self.exits.len() {
                medium.spare.push(packets);
            }
        }
        (self.spare, self.agenda) = (incoming, agenda);
        self.waiting = 0;
        for exit in &mut self.exits {
            if exit.port.next_start() < until {
                exit.drain(until, medium);
            }
            self.waiting += usize::from(!exit.port.is_empty());
        }
    }

    fn arrive(&mut self, packet: Packet, medium: &mut Medium) {
        match packet.kind {
            Kind::Data | Kind::DataAgain => {
                let link = self.way(&packet, medium);
                let header = packet.header();
                if !self.exits[link as usize].output(packet, medium) {
                    medium.counts.returned += 1;
                    self.give_back(&header, medium);
                }
            }
            Kind::Trimmed | Kind::Ack | Kind::Nack | Kind::Pull | Kind::Returned => {
                let link = self.way(&packet, medium);
                self.put_out(link, packet, medium);
            }
            _ => self.arrive_cast(packet, medium),
        }
    }

    /// The most flits that a link to a NIC carried.
    pub fn busiest_down_flits(&self) -> u64 {
        let to_nics = self.exits.iter().filter(|exit| matches!(exit.link.end, End::Nic(_)));
        to_nics.map(|exit| exit.port.sent_flits).max().unwrap_or(0)
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
        let uplinks = self.exits.len() as u64 - u64::from(self.downlinks);
        self.downlinks + ((u64::from(drawn) * uplinks) >> 32) as u32
    }

    /// Tells the sender of a segment that there was no room even for its header (NDP's return to
    /// sender).
    fn give_back(&mut self, header: &Packet, medium: &mut Medium) {
        let returned = header.answer(Kind::Returned, header.to, medium.now);
        let link = self.way(&returned, medium);
        self.emit(link, returned, medium);
    }

    /// Puts a packet of the switch's own on a link.
    fn emit(&mut self, link: u32, mut packet: Packet, medium: &mut Medium) {
        packet.measure(&medium.fabric.sizes);
        self.put_out(link, packet, medium);
    }

    /// Puts on a link what is dropped when there is no room.
    fn put_out(&mut self, link: u32, packet: Packet, medium: &mut Medium) {
        let fits = self.exits[link as usize].output(packet, medium);
        medium.counts.dropped += u64::from(!fits);
    }
}

/// A link and what waits for it.
struct Exit {
    port: Port,
    link: Link,
}

impl Exit {
    /// Puts a packet on the link, or behind what waits there; whether there was room.
    fn output(&mut self, mut packet: Packet, medium: &mut Medium) -> bool {
        let now = medium.now;
        if self.port.next_start() < now {
            // What began before now makes room.
            self.drain(now, medium);
        }
        packet.time = now;
        if self.port.begin_now(now, u64::from(packet.flits)) {
            medium.launch(packet, now, &self.link);
            return true;
        }
        let fits = self.makes_room(&mut packet, medium);
        if fits {
            let place = medium.slab.put(packet);
            self.port.push(&mut medium.slab, place);
        }
        fits
    }

    /// Whether there is room for a packet, or at least for its header.
    fn makes_room(&self, packet: &mut Packet, medium: &mut Medium) -> bool {
        let most = medium.fabric.queue_flits;
        let is_control = packet.kind.is_control();
        if self.port.waiting(is_control) + u64::from(packet.flits) <= most {
            return true;
        }
        let sizes = medium.fabric.sizes;
        let has_room = self.port.waiting(true) + u64::from(sizes.control) <= most;
        if is_control || !has_room || !self.port.takes_header() {
            return false;
        }
        packet.kind = packet.kind.trimmed();
        packet.words = node::Words::new();
        packet.measure(&sizes);
        medium.counts.trimmed += 1;
        true
    }

    /// Lets begin what can begin before `until`.
    fn drain(&mut self, until: u64, medium: &mut Medium) {
        while let Some((place, start)) = self.port.next(&medium.slab, until) {
            let packet = medium.slab.take(place);
            medium.launch(packet, start, &self.link);
        }
    }
}
