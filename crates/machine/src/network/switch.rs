//! A switch: a port per link, and the choice of a link for each packet.
//!
//! Packets go down to the receivers below the switch, or else over a random link of those that begin
//! a shortest way (packet spraying). A full queue trims data to their header, which travels as
//! control and makes the receiver request the data again (as NDP does); without room even for the
//! header, the sender is told to try again later. Multicasts are in
//! [`multicast`](self::multicast).
//!
//! A switch has no events. A packet that arrives in a window left its last hop before the window, a
//! link and a switch's latency ago, so all arrivals are known when the window begins. Links do not
//! affect each other, so the switch simulates the window link by link.
//!
//! ```text
//!   bins -> route -> sorted by link and time -> port -> NICs of this block
//!                                                    -> bins of other switches
//! ```
//!
//! Multicasts generate packets without regard to ports, so they are handled first.

mod arrival_order;
mod bits;
mod branches;
mod multicast;

use std::ops::Range;

use crate::network::bins::{Bin, BinIndex, Bins};
use crate::network::fabric::{Fabric, Link, Receiver, Scratch};
use crate::network::layout::Purpose;
use crate::network::packet::{Kind, Packet};
use crate::network::port::Port;
use crate::network::slab::{PacketId, fetch};
use crate::network::topology::{Divisor, Rule};
use crate::schedule::Ticks;

use self::arrival_order::Arrival;
pub use self::arrival_order::{ArrivalOrder, LONGEST_WINDOW};
use self::multicast::Multicasts;
pub use self::multicast::group_words;

/// How many packets ahead to prefetch.
const AHEAD: usize = 6;

pub struct Switch {
    number: u32,
    /// Its number in its block.
    local: usize,
    /// The NICs below it.
    below: Range<u32>,
    /// Divides by the number of NICs behind each downlink.
    each: Divisor,
    downlinks: u32,
    outputs: Vec<Output>,
    multicasts: Multicasts,
    /// Packets of multicasts, each with its link.
    generated: Vec<(u32, Packet)>,
    /// When the first packet at its ports starts.
    next_start: Ticks,
}

impl Switch {
    pub fn new(number: u32, local: usize, fabric: &Fabric) -> Switch {
        let topology = &fabric.layout.topology;
        let links = topology.links(number);
        let (below, each, downlinks) = match &topology.rule {
            Rule::Tree(tree) => {
                let (first, until) = tree.below(number);
                (
                    first..until,
                    tree.each_behind(number),
                    tree.downlinks(number),
                )
            }
            Rule::Routes(_) => (topology.own(number), 1, links.len() as u32),
        };
        let output = |(number, direction): (u32, &_)| {
            let link = fabric.link_to(*direction, number);
            Output {
                port: Port::new(link.wire.pace),
                link,
            }
        };
        Switch {
            number,
            local,
            below,
            each: Divisor::new(each),
            downlinks,
            outputs: (0..).zip(links).map(output).collect(),
            multicasts: Multicasts::default(),
            generated: Vec::new(),
            next_start: Ticks::NEVER,
        }
    }

    /// The time of the next event, without arrivals.
    pub fn next(&self) -> Ticks {
        self.next_start.min(self.multicasts.next_check())
    }

    /// Simulates a window with its arrivals, and empties the bins.
    pub fn run(&mut self, window: &Range<Ticks>, bins: &mut Vec<Bin>, fabric: &mut Fabric) {
        if bins.iter().all(Vec::is_empty) && self.next() >= window.end {
            return;
        }
        let mut order = std::mem::take(&mut fabric.scratch.order);
        order.clear((window.end - window.start).0 as usize, self.outputs.len());
        self.route_arrivals(window, bins, &mut order, fabric);
        order.sort(bins);
        self.next_start = Ticks::NEVER;
        for (link, output) in self.outputs.iter_mut().enumerate() {
            let due = order.of(link);
            if !due.is_empty() || output.port.next_start() < window.end {
                output.run(window, due, bins, fabric);
            }
            self.next_start = self.next_start.min(output.port.next_start());
        }
        fabric.scratch.order = order;
        bins.iter_mut().for_each(Vec::clear);
        self.bring_returned(fabric);
    }

    /// Takes the headers for their senders as arrivals, a window later.
    fn bring_returned(&self, fabric: &mut Fabric) {
        for mut header in std::mem::take(&mut fabric.returned) {
            let time = header.time + fabric.layout.window;
            header.measure(&fabric.layout.sizes);
            fabric.bring(self.local, &mut header, time);
        }
    }

    /// Notes the link of each arrival. Packets that arrive after the window are kept in the block.
    fn route_arrivals(
        &mut self,
        window: &Range<Ticks>,
        bins: &mut Vec<Bin>,
        order: &mut ArrivalOrder,
        fabric: &mut Fabric,
    ) {
        let mut multicasts = Vec::new();
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
                } else if packet.kind.concerns_multicasts() {
                    multicasts.push(packet.take());
                } else {
                    let link = self.route(packet, fabric);
                    let index = BinIndex::new(bin, index);
                    order.note(packet, (packet.time - window.start).0, index, link);
                }
            }
        }
        fabric.counts.events += (order.len() + multicasts.len()) as u64;
        if !multicasts.is_empty() || self.multicasts.next_check() < window.end {
            self.run_multicasts(multicasts, window, fabric);
            self.note_generated(window, bins, order, fabric);
        }
    }

    /// Adds the packets of multicasts to the arrivals.
    fn note_generated(
        &mut self,
        window: &Range<Ticks>,
        bins: &mut Vec<Bin>,
        order: &mut ArrivalOrder,
        fabric: &mut Fabric,
    ) {
        let mut generated = Bins::default();
        for (number, (link, mut packet)) in self.generated.drain(..).enumerate() {
            let (time, index) = (packet.time, BinIndex::nth(bins.len(), number));
            order.note(&packet, (time - window.start).0, index, link);
            generated.push(&mut packet, time, &mut fabric.scratch.spare);
        }
        generated.move_to(bins);
    }

    /// Handles the multicasts of a window in order of time.
    fn run_multicasts(
        &mut self,
        mut multicasts: Vec<Packet>,
        window: &Range<Ticks>,
        fabric: &mut Fabric,
    ) {
        multicasts.sort_by_key(|packet| (packet.time, packet.from, packet.sequence, packet.port));
        for packet in multicasts {
            self.check_timeouts_until(packet.time, fabric);
            fabric.scheduler.now = packet.time;
            self.arrive_multicast(packet, fabric);
        }
        self.check_timeouts_until(window.end - Ticks(1), fabric);
    }

    /// The flits of its busiest link to a NIC, and how long they took.
    pub fn busiest_down(&self) -> (u64, Ticks) {
        let to_nics = self
            .outputs
            .iter()
            .filter(|output| matches!(output.link.to, Receiver::Nic(_)));
        to_nics
            .map(|Output { port, .. }| (port.sent_flits, port.pace.ticks(port.sent_flits)))
            .max_by_key(|(_, ticks)| *ticks)
            .unwrap_or_default()
    }

    /// The link towards a packet's receiver.
    fn route(&self, packet: &Packet, fabric: &Fabric) -> u32 {
        let topology = &fabric.layout.topology;
        let nic = topology.nic_of(packet.to);
        if self.below.contains(&nic) {
            return self.each.quotient(nic - self.below.start);
        }
        let drawn = fabric.layout.draw(Purpose::Route, packet, packet.time);
        match &topology.rule {
            Rule::Tree(_) => self.uplink(drawn),
            Rule::Routes(routes) => routes.pick(self.number, topology.leaf_of(nic), drawn),
        }
    }

    /// The uplink that a random number chooses.
    fn uplink(&self, drawn: u32) -> u32 {
        let uplinks = self.outputs.len() as u64 - u64::from(self.downlinks);
        self.downlinks + ((u64::from(drawn) * uplinks) >> 32) as u32
    }

    /// Sends a packet of a multicast now; it is dropped if there is no room.
    fn emit(&mut self, link: u32, mut packet: Packet, fabric: &Fabric) {
        packet.measure(&fabric.layout.sizes);
        packet.time = fabric.now();
        self.generated.push((link, packet));
    }
}

/// The location of a packet that waits at a port.
#[derive(Clone, Copy, Debug)]
pub enum Location {
    /// In a bin of this window.
    Bin(BinIndex),
    /// From an earlier window.
    Slab(PacketId),
}

/// A link with its port.
struct Output {
    port: Port,
    link: Link,
}

impl Output {
    /// Sends the arrivals of a window over the link, or queues them.
    fn run(
        &mut self,
        window: &Range<Ticks>,
        due: &[Arrival],
        bins: &mut [Bin],
        fabric: &mut Fabric,
    ) {
        for (index, next) in due.iter().enumerate() {
            if let Some(ahead) = due.get(index + AHEAD) {
                fetch(ahead.index().packet(bins));
            }
            let now = window.start + Ticks(next.tick());
            if self.port.next_start() < now {
                // Packets that started before now make room.
                self.drain(now, bins, fabric);
            }
            let packet = next.index().packet(bins);
            if let Some(departure) = self.port.begin_now(now, packet) {
                fabric.launch(packet, departure, &self.link, Ticks(0));
            } else if self.makes_room(packet, fabric) {
                self.port.push(
                    packet,
                    Location::Bin(next.index()),
                    &mut fabric.scratch.at_switches,
                );
            } else {
                return_to_sender(packet.take(), now, fabric);
            }
        }
        if self.port.next_start() < window.end {
            self.drain(window.end, bins, fabric);
        }
        let Scratch {
            slab, at_switches, ..
        } = &mut fabric.scratch;
        self.port.for_each_waiting(at_switches, |at| {
            if let Location::Bin(index) = *at {
                *at = Location::Slab(slab.put(index.packet(bins).take()));
            }
        });
    }

    /// Whether there is room for a packet, or for its header, to which it is trimmed then.
    #[inline]
    fn makes_room(&self, packet: &mut Packet, fabric: &mut Fabric) -> bool {
        let most = fabric.layout.queue_flits;
        let is_control = packet.kind.is_control();
        let fits = self.port.waiting(is_control) + u64::from(packet.flits) <= most;
        fits || !is_control && self.trims(packet, fabric)
    }

    /// Trims a packet to its header, if there is room for that.
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

    /// Sends the packets that can start before `until`.
    fn drain(&mut self, until: Ticks, bins: &mut [Bin], fabric: &mut Fabric) {
        while let Some((at, departure)) = self.port.next(until, &mut fabric.scratch.at_switches) {
            match at {
                Location::Bin(index) => {
                    fabric.launch(index.packet(bins), departure, &self.link, Ticks(0))
                }
                Location::Slab(id) => {
                    let mut packet = fabric.scratch.slab.take(id);
                    fabric.launch(&mut packet, departure, &self.link, Ticks(0));
                }
            }
        }
    }
}

/// Handles a packet without room even for its header: data are reported to their sender (NDP's
/// return to sender), and control is dropped.
#[cold]
fn return_to_sender(packet: Packet, now: Ticks, fabric: &mut Fabric) {
    if packet.kind == Kind::Data || packet.kind == Kind::DataAgain {
        fabric.counts.returned += 1;
        fabric
            .returned
            .push(packet.answer(Kind::Returned, packet.to, now));
    } else {
        fabric.counts.dropped += 1;
    }
}
