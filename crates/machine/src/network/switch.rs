//! A switch: a port for each link, a way for each packet.
//!
//! Down to what lies below it, up over a random link otherwise (packet spraying). Where a queue is
//! full, data are cut down to their header, which travels as control and makes the receiver ask for
//! them again (trimming, as NDP does); where there is no room even for that, the sender is told to
//! try again later. Multicasts are in
//! [`cast`](self::cast).
//!
//! A switch has no events. Whatever reaches it in a window left its last hop before the window
//! began, a link and a switch's latency ago. So all that comes is known at the window's beginning,
//! and since what leaves by one link does not touch what leaves by another, the switch works
//! through the window link by link.
//!
//! ```text
//!   bins -> way -> sorted by link and time -> port -> NICs of this block
//!                                                  -> bins of other switches
//! ```
//!
//! Multicasts make packets of their own; they go first, and do not look at the ports.

mod agenda;
mod cast;

use std::ops::Range;

use crate::engine::medium::{Bench, Link, Medium, Purpose};
use crate::network::bins::{Bin, Bins, Spot};
use crate::network::packet::{Kind, Packet};
use crate::network::port::Port;
use crate::network::slab::{Place, fetch};
use crate::network::topology::Divisor;

use self::agenda::Due;
pub use self::agenda::{Agenda, LONGEST_WINDOW};
use self::cast::Casts;
pub use self::cast::group_words;

/// Packets ahead that are fetched into the cache.
const AHEAD: usize = 6;

pub struct Switch {
    number: u32,
    /// Its number in its block.
    local: usize,
    /// The NICs below it, and how many behind each downlink.
    below: Range<u32>,
    each: Divisor,
    downlinks: u32,
    exits: Vec<Exit>,
    casts: Casts,
    /// What the switch itself sends: each with its link.
    own: Vec<(u32, Packet)>,
    /// When the first of what waits at its ports begins.
    next_start: u64,
}

impl Switch {
    pub fn new(number: u32, local: usize, medium: &Medium) -> Switch {
        let topology = &medium.fabric.topology;
        let (first, until) = topology.below(number);
        let count = topology.downlinks(number) + topology.uplinks(number);
        let exit = |link| {
            let link = medium.link_to(topology.end_of(number, link), link);
            Exit {
                port: Port::default(),
                link,
            }
        };
        Switch {
            number,
            local,
            below: first..until,
            each: Divisor::new(topology.each_behind(number)),
            downlinks: topology.downlinks(number),
            exits: (0..count).map(exit).collect(),
            casts: Casts::default(),
            own: Vec::new(),
            next_start: u64::MAX,
        }
    }

    /// When something happens here next, but for what arrives.
    pub fn next(&self) -> u64 {
        self.next_start.min(self.casts.next_look())
    }

    /// Works through all that arrives in a window. The bins are empty then.
    pub fn run(&mut self, window: &Range<u64>, bins: &mut Vec<Bin>, medium: &mut Medium) {
        if bins.iter().all(Vec::is_empty) && self.next() >= window.end {
            return;
        }
        let mut agenda = std::mem::take(&mut medium.bench.agenda);
        agenda.clear((window.end - window.start) as usize, self.exits.len());
        self.find_ways(window, bins, &mut agenda, medium);
        agenda.sort(bins);
        self.next_start = u64::MAX;
        for (link, exit) in self.exits.iter_mut().enumerate() {
            let due = agenda.of(link);
            if !due.is_empty() || exit.port.next_start() < window.end {
                exit.run(window, due, bins, medium);
            }
            self.next_start = self.next_start.min(exit.port.next_start());
        }
        medium.bench.agenda = agenda;
        bins.iter_mut().for_each(Vec::clear);
        for mut header in std::mem::take(&mut medium.returned) {
            // It comes in again, as what the switch has to say itself, no sooner than all else.
            let time = header.time + medium.fabric.window;
            header.measure(&medium.fabric.sizes);
            medium.bring(self.local, &mut header, time);
        }
    }

    /// Notes by which link each packet leaves. What arrives after the window waits inside.
    fn find_ways(
        &mut self,
        window: &Range<u64>,
        bins: &mut Vec<Bin>,
        agenda: &mut Agenda,
        medium: &mut Medium,
    ) {
        let mut casts = Vec::new();
        for bin in 0..bins.len() {
            if let Some(next) = bins.get(bin + 1) {
                next.iter().take(AHEAD).for_each(fetch);
            }
            let packets = &mut bins[bin][..];
            for index in 0..packets.len() {
                if let Some(ahead) = packets.get(index + AHEAD) {
                    fetch(ahead);
                }
                let packet = &mut packets[index];
                if packet.time >= window.end {
                    medium.bring(self.local, packet, packet.time);
                } else if packet.kind.concerns_casts() {
                    casts.push(packet.take());
                } else {
                    let link = self.way(packet, medium);
                    let spot = Spot::new(bin, index);
                    agenda.note(packet, packet.time - window.start, spot, link);
                }
            }
        }
        medium.counts.events += (agenda.len() + casts.len()) as u64;
        if !casts.is_empty() || self.casts.next_look() < window.end {
            self.work_on(casts, window, medium);
            let mut own = Bins::default();
            for (number, (link, packet)) in self.own.iter_mut().enumerate() {
                let (time, spot) = (packet.time, Spot::nth(bins.len(), number));
                agenda.note(packet, time - window.start, spot, *link);
                own.push(packet, time, &mut medium.bench.spare);
            }
            self.own.clear();
            own.move_to(bins);
        }
    }

    /// Deals with the multicasts of a window in order of time.
    fn work_on(&mut self, mut casts: Vec<Packet>, window: &Range<u64>, medium: &mut Medium) {
        casts.sort_by_key(|packet| (packet.time, packet.from, packet.sequence, packet.port));
        for packet in casts {
            self.look_until(packet.time, medium);
            medium.now = packet.time;
            self.arrive_cast(packet, medium);
        }
        self.look_until(window.end - 1, medium);
    }

    /// The most flits that a link to a NIC carried.
    pub fn busiest_down_flits(&self) -> u64 {
        let to_nics = self
            .exits
            .iter()
            .filter(|exit| matches!(exit.link, Link::Nic(_)));
        to_nics.map(|exit| exit.port.sent_flits).max().unwrap_or(0)
    }

    /// The link towards a packet's receiver.
    fn way(&self, packet: &Packet, medium: &Medium) -> u32 {
        let nic = medium.fabric.topology.nic_of(packet.to);
        if self.below.contains(&nic) {
            return self.each.quotient(nic - self.below.start);
        }
        self.up(medium.fabric.draw(Purpose::Route, packet, packet.time))
    }

    /// An uplink, as a number draws it.
    fn up(&self, drawn: u32) -> u32 {
        let uplinks = self.exits.len() as u64 - u64::from(self.downlinks);
        self.downlinks + ((u64::from(drawn) * uplinks) >> 32) as u32
    }

    /// Puts a packet of the switch's own on a link; it is dropped when there is no room.
    fn emit(&mut self, link: u32, mut packet: Packet, medium: &Medium) {
        packet.measure(&medium.fabric.sizes);
        packet.time = medium.now;
        self.own.push((link, packet));
    }
}

/// Where a packet of a port lies.
#[derive(Clone, Copy, Debug)]
pub enum At {
    /// In a bin of this window.
    Bin(Spot),
    /// Kept from a window before.
    Slab(Place),
}

/// A link and what waits for it.
struct Exit {
    port: Port,
    link: Link,
}

impl Exit {
    /// Puts packets on the link at their times, or behind what waits there.
    fn run(&mut self, window: &Range<u64>, due: &[Due], bins: &mut [Bin], medium: &mut Medium) {
        for (index, next) in due.iter().enumerate() {
            if let Some(ahead) = due.get(index + AHEAD) {
                fetch(ahead.spot().packet(bins));
            }
            let now = window.start + next.tick();
            if self.port.next_start() < now {
                // What began before now makes room.
                self.drain(now, bins, medium);
            }
            let packet = next.spot().packet(bins);
            if self.port.begin_now(now, u64::from(packet.flits)) {
                medium.launch(packet, now, self.link, 0);
            } else if self.makes_room(packet, medium) {
                self.port
                    .push(packet, At::Bin(next.spot()), &mut medium.bench.at_switches);
            } else {
                turn_away(packet.take(), now, medium);
            }
        }
        if self.port.next_start() < window.end {
            self.drain(window.end, bins, medium);
        }
        let Bench {
            slab, at_switches, ..
        } = &mut medium.bench;
        self.port.each_place(at_switches, |at| {
            if let At::Bin(spot) = *at {
                *at = At::Slab(slab.put(spot.packet(bins).take()));
            }
        });
    }

    /// Whether there is room for a packet, or at least for its header.
    #[inline]
    fn makes_room(&self, packet: &mut Packet, medium: &mut Medium) -> bool {
        let most = medium.fabric.queue_flits;
        let is_control = packet.kind.is_control();
        let fits = self.port.waiting(is_control) + u64::from(packet.flits) <= most;
        fits || !is_control && self.trims(packet, medium)
    }

    /// Cuts a packet down to its header, if there is room for that.
    #[cold]
    fn trims(&self, packet: &mut Packet, medium: &mut Medium) -> bool {
        let sizes = medium.fabric.sizes;
        let most = medium.fabric.queue_flits;
        let has_room = self.port.waiting(true) + u64::from(sizes.control) <= most;
        if !has_room || !self.port.takes_header() {
            return false;
        }
        packet.kind = packet.kind.trimmed();
        packet.words = node::Words::new();
        packet.measure(&sizes);
        medium.counts.trimmed += 1;
        true
    }

    /// Lets begin what can begin before `until`.
    fn drain(&mut self, until: u64, bins: &mut [Bin], medium: &mut Medium) {
        while let Some((at, start)) = self.port.next(until, &mut medium.bench.at_switches) {
            match at {
                At::Bin(spot) => medium.launch(spot.packet(bins), start, self.link, 0),
                At::Slab(place) => {
                    let mut packet = medium.bench.slab.take(place);
                    medium.launch(&mut packet, start, self.link, 0);
                }
            }
        }
    }
}

/// There was no room even for a header: tells the sender of data (NDP's return to sender).
#[cold]
fn turn_away(packet: Packet, now: u64, medium: &mut Medium) {
    if packet.kind == Kind::Data || packet.kind == Kind::DataAgain {
        medium.counts.returned += 1;
        medium
            .returned
            .push(packet.answer(Kind::Returned, packet.to, now));
    } else {
        medium.counts.dropped += 1;
    }
}
