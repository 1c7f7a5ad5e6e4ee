//! The link of a switch towards a receiver.

use std::ops::Range;

use crate::network::layout::{Layout, Purpose};
use crate::network::packet::Packet;
use crate::network::topology::{Divisor, Rule};

/// The facts by which a switch chooses a link.
pub struct Router<'a> {
    pub layout: &'a Layout,
    pub number: u32,
    /// The NICs below the switch.
    pub below: Range<u32>,
    /// Divides by the number of NICs behind each downlink.
    pub each: Divisor,
    pub downlinks: u32,
    pub uplinks: u32,
}

impl Router<'_> {
    /// The link towards a packet's receiver: the one down to it, or a drawn one up.
    // Every packet asks on every hop.
    #[inline(always)]
    pub fn link(&self, packet: &Packet) -> u32 {
        let topology = &self.layout.topology;
        let nic = topology.nic_of(packet.to);
        let below = nic.wrapping_sub(self.below.start);
        if below < self.below.end - self.below.start {
            return self.each.quotient(below);
        }
        let drawn = self.layout.draw(Purpose::Route, packet, packet.time);
        match &topology.rule {
            Rule::Tree(_) => self.uplink(drawn),
            Rule::Routes(routes) => routes.pick(self.number, topology.leaf_of(nic), drawn),
        }
    }

    /// The uplink that a random number chooses.
    #[inline]
    pub fn uplink(&self, drawn: u32) -> u32 {
        self.downlinks + ((u64::from(drawn) * u64::from(self.uplinks)) >> 32) as u32
    }
}
