//! A switch: a port for each link, and the choice of a link for each packet.
//!
//! Down to what lies below it, up over a random link otherwise (packet spraying). Where a queue is
//! full, data are cut down to their header, which travels as control and makes the receiver ask for
//! them again (trimming, as NDP does); where there is no room even for that, the sender is told to
//! try again later. Multicasts are in
//! [`multicast`](self::multicast).
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

mod arrival_order;
mod multicast;

use std::ops::Range;

use crate::network::bins::{Bin, Bins, Spot};
use crate::network::fabric::{Fabric, Link, Scratch};
use crate::network::layout::Purpose;
use crate::network::packet::{Kind, Packet};
use crate::network::port::Port;
use crate::network::slab::{Place, fetch};
use crate::network::topology::Divisor;
use crate::schedule::Ticks;

use self::arrival_order::Arrival;
pub use self::arrival_order::{ArrivalOrder, LONGEST_WINDOW};
use self::multicast::Casts;
pub use self::multicast::group_words;

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
    /// Packets that the switch itself sends, each with its link.
    own: Vec<(u32, Packet)>,
    /// When the first of what waits at its ports begins.
    next_start: Ticks,
}

impl Switch {
    pub fn new(number: u32, local: usize, fabric: &Fabric) -> Switch {
        let topology = &fabric.layout.topology;
        let (first, until) = topology.below(number);
        let count = topology.downlinks(number) + topology.uplinks(number);
        let exit = |link| {
            let link = fabric.link_to(topology.end_of(number, link), link);
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
            next_start: Ticks::NEVER,
        }
    }

    /// When something happens here next, but for what arrives.
    pub fn next(&self) -> Ticks {
        self.next_start.min(self.casts.next_look())
    }

    /// Works through all that arrives in a window. The bins are empty then.
    pub fn run(&mut self, window: &Range<Ticks>, bins: &mut Vec<Bin>, fabric: &mut Fabric) {
        if bins.iter().all(Vec::is_empty) && self.next() >= window.end {
            return;
        }
        let mut order = std::mem::take(&mut fabric.scratch.order);
        order.clear((window.end - window.start).0 as usize, self.exits.len());
        self.find_ways(window, bins, &mut order, fabric);
        order.sort(bins);
        self.next_start = Ticks::NEVER;
        for (link, exit) in self.exits.iter_mut().enumerate() {
            let due = order.of(link);
            if !due.is_empty() || exit.port.next_start() < window.end {
                exit.run(window, due, bins, fabric);
            }
            self.next_start = self.next_start.min(exit.port.next_start());
        }
        fabric.scratch.order = order;
        bins.iter_mut().for_each(Vec::clear);
        for mut header in std::mem::take(&mut fabric.returned) {
            // It comes in again, as what the switch has to say itself, no sooner than all else.
            let time = header.time + fabric.layout.window;
            header.measure(&fabric.layout.sizes);
            fabric.bring(self.local, &mut header, time);
        }
    }

    /// Notes by which link each packet leaves. What arrives after the window waits inside.
    fn find_ways(
        &mut self,
        window: &Range<Ticks>,
        bins: &mut Vec<Bin>,
        order: &mut ArrivalOrder,
        fabric: &mut Fabric,
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
                    fabric.bring(self.local, packet, packet.time);
                } else if packet.kind.concerns_casts() {
                    casts.push(packet.take());
                } else {
                    let link = self.way(packet, fabric);
                    let spot = Spot::new(bin, index);
                    order.note(packet, (packet.time - window.start).0, spot, link);
                }
            }
        }
        fabric.counts.events += (order.len() + casts.len()) as u64;
        if !casts.is_empty() || self.casts.next_look() < window.end {
            self.work_on(casts, window, fabric);
            let mut own = Bins::default();
            for (number, (link, packet)) in self.own.iter_mut().enumerate() {
                let (time, spot) = (packet.time, Spot::nth(bins.len(), number));
                order.note(packet, (time - window.start).0, spot, *link);
                own.push(packet, time, &mut fabric.scratch.spare);
            }
            self.own.clear();
            own.move_to(bins);
        }
    }

    /// Deals with the multicasts of a window in order of time.
    fn work_on(&mut self, mut casts: Vec<Packet>, window: &Range<Ticks>, fabric: &mut Fabric) {
        casts.sort_by_key(|packet| (packet.time, packet.from, packet.sequence, packet.port));
        for packet in casts {
            self.look_until(packet.time, fabric);
            fabric.scheduler.now = packet.time;
            self.arrive_cast(packet, fabric);
        }
        self.look_until(window.end - Ticks(1), fabric);
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
    fn way(&self, packet: &Packet, fabric: &Fabric) -> u32 {
        let nic = fabric.layout.topology.nic_of(packet.to);
        if self.below.contains(&nic) {
            return self.each.quotient(nic - self.below.start);
        }
        self.up(fabric.layout.draw(Purpose::Route, packet, packet.time))
    }

    /// An uplink, as a number draws it.
    fn up(&self, drawn: u32) -> u32 {
        let uplinks = self.exits.len() as u64 - u64::from(self.downlinks);
        self.downlinks + ((u64::from(drawn) * uplinks) >> 32) as u32
    }

    /// Puts a packet of the switch's own on a link; it is dropped when there is no room.
    fn emit(&mut self, link: u32, mut packet: Packet, fabric: &Fabric) {
        packet.measure(&fabric.layout.sizes);
        packet.time = fabric.scheduler.now;
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
    fn run(
        &mut self,
        window: &Range<Ticks>,
        due: &[Arrival],
        bins: &mut [Bin],
        fabric: &mut Fabric,
    ) {
        for (index, next) in due.iter().enumerate() {
            if let Some(ahead) = due.get(index + AHEAD) {
                fetch(ahead.spot().packet(bins));
            }
            let now = window.start + Ticks(next.tick());
            if self.port.next_start() < now {
                // Packets that began before now make room.
                self.drain(now, bins, fabric);
            }
            let packet = next.spot().packet(bins);
            if self.port.begin_now(now, packet) {
                fabric.launch(packet, now, self.link, Ticks(0));
            } else if self.makes_room(packet, fabric) {
                self.port.push(
                    packet,
                    At::Bin(next.spot()),
                    &mut fabric.scratch.at_switches,
                );
            } else {
                turn_away(packet.take(), now, fabric);
            }
        }
        if self.port.next_start() < window.end {
            self.drain(window.end, bins, fabric);
        }
        let Scratch {
            slab, at_switches, ..
        } = &mut fabric.scratch;
        self.port.each_place(at_switches, |at| {
            if let At::Bin(spot) = *at {
                *at = At::Slab(slab.put(spot.packet(bins).take()));
            }
        });
    }

    /// Whether there is room for a packet, or at least for its header.
    #[inline]
    fn makes_room(&self, packet: &mut Packet, fabric: &mut Fabric) -> bool {
        let most = fabric.layout.queue_flits;
        let is_control = packet.kind.is_control();
        let fits = self.port.waiting(is_control) + u64::from(packet.flits) <= most;
        fits || !is_control && self.trims(packet, fabric)
    }

    /// Cuts a packet down to its header, if there is room for that.
    #[cold]
    fn trims(&self, packet: &mut Packet, fabric: &mut Fabric) -> bool {
        let sizes = fabric.layout.sizes;
        let most = fabric.layout.queue_flits;
        let has_room = self.port.waiting(true) + u64::from(sizes.control) <= most;
        if !has_room || !self.port.takes_header() {
            return false;
        }
        packet.kind = packet.kind.trimmed();
        packet.words = node::Words::new();
        packet.measure(&sizes);
        fabric.counts.trimmed += 1;
        true
    }

    /// Lets begin what can begin before `until`.
    fn drain(&mut self, until: Ticks, bins: &mut [Bin], fabric: &mut Fabric) {
        while let Some((at, start)) = self.port.next(until, &mut fabric.scratch.at_switches) {
            match at {
                At::Bin(spot) => fabric.launch(spot.packet(bins), start, self.link, Ticks(0)),
                At::Slab(place) => {
                    let mut packet = fabric.scratch.slab.take(place);
                    fabric.launch(&mut packet, start, self.link, Ticks(0));
                }
            }
        }
    }
}

/// There was no room even for a header: tells the sender of data (NDP's return to sender).
#[cold]
fn turn_away(packet: Packet, now: Ticks, fabric: &mut Fabric) {
    if packet.kind == Kind::Data || packet.kind == Kind::DataAgain {
        fabric.counts.returned += 1;
        fabric
            .returned
            .push(packet.answer(Kind::Returned, packet.to, now));
    } else {
        fabric.counts.dropped += 1;
    }
}
