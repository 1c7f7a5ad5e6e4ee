//! A switch: a port per link, and the choice of a link for each packet.
//!
//! Packets go down to the receivers below the switch, or else over a random link of those that begin
//! a shortest way (packet spraying). A full queue trims data to their header, which travels as
//! control and makes the receiver request the data again (as NDP does); without room even for the
//! header, the sender is told to try again later. With Homa it drops them. Multicasts are in
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

pub mod bits;
mod branches;
mod multicast;
mod output;
mod router;

use std::ops::Range;
use std::sync::Arc;

use crate::network::arrival::Arrival;
use crate::network::arrival_order::ArrivalOrder;
use crate::network::fabric::{Fabric, Generated, Scratch};
use crate::network::layout::Layout;
use crate::network::packet::Packet;
use crate::network::store::bins::{Bin, BinIndex};
use crate::network::topology::{Divisor, Rule};
use crate::schedule::Ticks;

use self::multicast::Multicasts;
pub use self::multicast::{group_of, group_words};
use self::output::{Output, Turn};
use self::router::Router;

pub struct Switch {
    /// Its own pointer: a copy for each window would be counted by all threads in one place.
    layout: Arc<Layout>,
    number: u32,
    /// Its number in its block.
    local: usize,
    below: Range<u32>,
    /// Divides by the number of NICs behind each downlink.
    each: Divisor,
    downlinks: u32,
    outputs: Vec<Output>,
    multicasts: Multicasts,
    /// When the first packet at each of its ports starts, apart from the ports, which stay out of
    /// the cache while they are at rest.
    starts: Vec<Ticks>,
    /// The first of them.
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
        let output = |direction: &_| Output::new(fabric.link_to(*direction));
        Switch {
            layout: Arc::clone(&fabric.layout),
            number,
            local,
            below,
            each: Divisor::new(each),
            downlinks,
            outputs: links.iter().map(output).collect(),
            multicasts: Multicasts::default(),
            starts: vec![Ticks::NEVER; links.len()],
            next_start: Ticks::NEVER,
        }
    }

    /// The time of the next event, without arrivals.
    pub fn next(&self) -> Ticks {
        self.next_start.min(self.multicasts.next_check())
    }

    /// Simulates a window with its arrivals, and empties the bins.
    pub fn run(&mut self, window: &Range<Ticks>, bins: &mut Vec<Bin>, fabric: &mut Fabric) {
        if bins.is_empty() && self.next() >= window.end {
            return;
        }
        let mut order = std::mem::take(&mut fabric.scratch.order);
        let ticks = (window.end - window.start).0 as usize;
        order.clear(ticks, self.outputs.len());
        self.route_arrivals(window, bins, &mut order, fabric);
        order.sort(bins);
        self.next_start = Ticks::NEVER;
        let mut line = std::mem::take(&mut fabric.scratch.line);
        let mut turn = Turn {
            window,
            bins,
            line: &mut line,
            fabric,
        };
        for (link, start) in self.starts.iter_mut().enumerate() {
            let due = order.of(link);
            if !due.is_empty() || *start < window.end {
                let output = &mut self.outputs[link];
                output.run(due, &mut turn);
                *start = output.port.next_start();
            }
            self.next_start = self.next_start.min(*start);
        }
        fabric.scratch.line = line;
        fabric.scratch.order = order;
        bins.iter_mut().for_each(Bin::reuse);
        self.bring_returned(fabric);
    }

    /// Takes the headers for their senders as arrivals, a window later.
    fn bring_returned(&self, fabric: &mut Fabric) {
        for mut header in std::mem::take(&mut fabric.returned) {
            let time = header.time + fabric.layout.window;
            header.measure(&fabric.layout.sizes);
            header.time = time;
            fabric.bring(self.local, header);
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
        let (router, transport) = (self.router(), self.layout.setting.transport);
        // The packets that are not routed now.
        let mut others = Vec::new();
        for number in 0..bins.len() {
            if let Some(next) = bins.get(number + 1) {
                next.prefetch();
            }
            let bin = &bins[number];
            order.reserve(bin.len());
            order.note((0..).zip(bin.packets()).filter_map(|(index, packet)| {
                let index = BinIndex::new(number, index);
                if packet.time >= window.end || packet.kind.concerns_multicasts() {
                    others.push(index);
                    return None;
                }
                let tick = (packet.time - window.start).0;
                let arrival = Arrival::new(packet, tick, index, router.link(packet));
                Some(arrival.prioritized(transport, packet))
            }));
        }
        let mut multicasts = Vec::new();
        for packet in others {
            let packet = packet.lift(bins).take();
            if packet.time >= window.end {
                fabric.bring(self.local, packet);
            } else {
                multicasts.push(packet);
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
        &self,
        window: &Range<Ticks>,
        bins: &mut Vec<Bin>,
        order: &mut ArrivalOrder,
        fabric: &mut Fabric,
    ) {
        let Generated { links, packets } = &mut fabric.scratch.generated;
        let first = bins.len();
        packets.move_to(bins);
        order.reserve(links.len());
        order.note(links.iter().enumerate().map(|(number, link)| {
            let index = BinIndex::nth(first, number);
            let packet = index.packet(bins);
            let tick = (packet.time - window.start).0;
            let arrival = Arrival::new(packet, tick, index, *link);
            arrival.prioritized(self.layout.setting.transport, packet)
        }));
        links.clear();
    }

    /// Handles the multicasts of a window in order of time.
    fn run_multicasts(
        &mut self,
        mut multicasts: Vec<Packet>,
        window: &Range<Ticks>,
        fabric: &mut Fabric,
    ) {
        // Equal ones of a moment differ in kind or receiver.
        multicasts.sort_by_key(|packet| {
            let moment = (packet.time, packet.from, packet.sequence, packet.port);
            (moment, packet.kind, packet.to)
        });
        for packet in multicasts {
            self.check_timeouts_until(packet.time, fabric);
            fabric.scheduler.now = packet.time;
            self.arrive_multicast(packet, fabric);
        }
        self.check_timeouts_until(window.end - Ticks(1), fabric);
    }

    /// How long its busiest link to a NIC has sent, and how many flits.
    pub fn busiest_down(&self, fabric: &Fabric) -> (Ticks, u64) {
        let to_nics = self
            .outputs
            .iter()
            .filter_map(|output| output.sent_to_nic(fabric));
        to_nics.max_by_key(|(ticks, _)| *ticks).unwrap_or_default()
    }

    /// The link towards a packet's receiver.
    fn route(&self, packet: &Packet) -> u32 {
        self.router().link(packet)
    }

    fn router(&self) -> Router<'_> {
        Router {
            layout: &self.layout,
            number: self.number,
            below: self.below.clone(),
            each: self.each,
            downlinks: self.downlinks,
            uplinks: self.outputs.len() as u32 - self.downlinks,
        }
    }

    /// The uplink that a random number chooses.
    fn uplink(&self, drawn: u32) -> u32 {
        self.router().uplink(drawn)
    }

    /// Sends a packet of a multicast now; it is dropped if there is no room.
    fn emit(&self, link: u32, mut packet: Packet, fabric: &mut Fabric) {
        packet.measure(&fabric.layout.sizes);
        packet.time = fabric.now();
        let Scratch {
            generated, spare, ..
        } = &mut fabric.scratch;
        generated.links.push(link);
        generated.packets.push(packet, spare);
    }
}
