//! The members of a multicast that acknowledge one by one.
//!
//! Without aggregation in the switches, a multicast's sender hears from every member: the ACK
//! implosion that section 5.3 of NanoSort names (Levine and Garcia-Luna-Aceves 1998, a protocol that
//! its sender initiates). It keeps its buffer until all have acknowledged, and sends again what a
//! member misses, as a copy for that member alone.

use super::Nic;
use crate::network::fabric::Fabric;
use crate::network::packet::{Kind, Packet};
use crate::network::switch::bits::Bits;
use crate::network::switch::group_of;
use crate::profile::GROUP_WORDS;
use crate::schedule::Ticks;
use node::Group;

/// The members that have not acknowledged, each by its number in the group.
pub struct Members {
    group: Group,
    missing: Bits,
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

impl Nic {
    /// Sends a late multicast to the members that miss it, one by one; to the group if all of them
    /// do, since one packet was lost then. Returns whether the message has such members.
    pub(super) fn send_to_missing(&mut self, number: usize, fabric: &mut Fabric) -> bool {
        let Some(Members { group, missing }) = self.buffers[number].members.as_deref() else {
            return false;
        };
        if missing.len() == group.count {
            fabric.counts.resent += 1;
            self.send_segment(number, 0, fabric.now(), fabric);
            return true;
        }
        let rank = |number| group.first.0 + number * group.stride;
        let late: Vec<u32> = missing.iter().map(rank).collect();
        fabric.counts.resent += late.len() as u64;
        for member in late {
            self.send_copy(number, member, fabric.now(), fabric);
        }
        true
    }

    /// Sends the copy of a multicast for one member again.
    pub(super) fn send_copy(
        &mut self,
        number: usize,
        member: u32,
        ready: Ticks,
        fabric: &mut Fabric,
    ) {
        let head = &fabric[self.buffers[number].head];
        let copy = Packet {
            kind: Kind::CopyAgain,
            to: member,
            words: head.words.skip(GROUP_WORDS),
            time: ready,
            ..*head
        };
        let id = fabric.put(copy);
        self.emit(id, fabric);
    }
}
