//! The members of a multicast that acknowledge one by one.
//!
//! Without aggregation in the switches, a multicast's sender hears from every member: the ACK
//! implosion that section 5.3 of NanoSort names (Levine and Garcia-Luna-Aceves 1998, a protocol that
//! its sender initiates). It keeps its buffer until all have acknowledged, and sends again what a
//! member misses, as a copy for that member alone.

use crate::network::packet::Packet;
use crate::network::switch::bits::Bits;
use crate::network::switch::group_of;
use node::Group;

/// The members that have not acknowledged, each by its number in the group.
pub struct Members {
    pub group: Group,
    pub missing: Bits,
}

impl Members {
    /// All members of a multicast; `None` of another message, or if switches aggregate ACKs.
    pub fn of(packet: &Packet, aggregated: bool) -> Option<Box<Members>> {
        (!aggregated && packet.kind.is_multicast()).then(|| {
            let group = group_of(&packet.words);
            let mut missing = Bits::default();
            (0..group.count).for_each(|number| missing.set(number));
            Box::new(Members { group, missing })
        })
    }

    /// Notes the ACK of a member; returns whether others are missing.
    pub fn acknowledged(&mut self, member: u32) -> bool {
        self.missing.clear(self.number_of(member));
        !self.missing.is_empty()
    }

    /// Whether this member has not acknowledged.
    pub fn misses(&self, member: u32) -> bool {
        self.missing.has(self.number_of(member))
    }

    fn number_of(&self, member: u32) -> u32 {
        (member - self.group.first.0) / self.group.stride
    }
}
