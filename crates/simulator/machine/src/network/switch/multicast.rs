//! Reliable multicast in the switches (NanoSort, section 5.3).
//!
//! A switch that receives a multicast stores it, copies it to each of its branches, and keeps a
//! bitmap of those that have not acknowledged. It sends again on a NACK or after a timeout, and
//! acknowledges upstream when all its branches have: one ACK for any number of members, against ACK
//! implosion.
//!
//! ```text
//!   NIC -> first leaf -> a spine -> each other leaf with members -> a copy for each member
//!       <-  at once      <- when all leaves have    <- when all members have
//! ```
//!
//! Other ways to place the copies are in [`branches`](super::branches).
//!
//! In a graph the branches are a tree of shortest ways: each switch has one link towards the sender,
//! which a number of seven bits chooses. The first switch draws it, and the packets between switches
//! have it in the byte of their slot.
//!
//! The first switch acknowledges at once, which frees the sender's buffer: from there on the
//! network has the packet (ours; the paper leaves it open). Each member behind a NIC gets its own
//! copy, since NICs know no groups.
//!
//! Switches that do not aggregate ACKs only copy, as commodity switches do: they keep nothing, and
//! members answer to the sender's NIC, which sends again.

use std::collections::{BTreeMap, VecDeque};

use node::{Group, Rank};

use super::Switch;
use super::bits::Bits;
use crate::network::fabric::Fabric;
use crate::network::packet::{Kind, Packet};
use crate::network::topology::{End, Rule};
use crate::profile::GROUP_WORDS;
use crate::schedule::Ticks;

/// The two words that name a group.
pub fn group_words(group: Group) -> [u64; GROUP_WORDS] {
    let first = u64::from(group.first.0) | u64::from(group.count) << 32;
    [first, u64::from(group.stride)]
}

/// The group that the two words name.
pub fn group_of(words: &[u64]) -> Group {
    Group {
        first: Rank(words[0] as u32),
        count: (words[0] >> 32) as u32,
        stride: words[1] as u32,
    }
}

/// A drawn number has as many bits of a slot as a transmit buffer.
pub(super) const DRAWN_SHIFT: u32 = u32::BITS - 7;

/// The number that chooses the links of a multicast in a graph.
pub(super) fn drawn_of(packet: &Packet) -> u32 {
    u32::from(packet.slot) << DRAWN_SHIFT
}

/// The sender of a multicast, and its sequence.
type Key = (u32, u32);

/// The multicasts that a switch keeps.
#[derive(Default)]
pub struct Multicasts {
    pending: BTreeMap<Key, Pending>,
    /// The finished multicasts with their times: their retransmissions are acknowledged again.
    done: VecDeque<(Ticks, Key)>,
    /// The next check of timeouts; `None` without pending multicasts.
    check_at: Option<Ticks>,
}

impl Multicasts {
    pub fn next_check(&self) -> Ticks {
        self.check_at.unwrap_or(Ticks::NEVER)
    }
}

/// A multicast that some branches have not acknowledged.
pub(super) struct Pending {
    pub packet: Packet,
    /// The link towards the sender; `None` at the first switch.
    pub upstream: Option<u32>,
    /// Links to switches that have not acknowledged.
    pub links: Bits,
    /// Members that have not acknowledged, counted from the switch's first one.
    members: Bits,
    sent: Ticks,
}

impl Pending {
    /// Adds the members of a group, counted from a rank.
    pub(super) fn add_members(&mut self, group: Group, first: u32) {
        let members = group.members();
        members.for_each(|rank| self.members.set(rank.0 - first));
    }
}

/// Timeouts after which a multicast does not arrive again. Its sender retries at least once in 64
/// timeouts, so 32 retransmissions in a row would have to be lost.
const FORGOTTEN: u64 = 64 * 32;

impl Switch {
    pub(super) fn arrive_multicast(&mut self, packet: Packet, fabric: &mut Fabric) {
        if !fabric.layout.setting.aggregates_acks {
            return self.only_copy(packet, fabric);
        }
        let key = (packet.from, packet.sequence);
        match packet.kind {
            Kind::Multicast => self.store(packet, fabric),
            Kind::MulticastAgain if self.multicasts.pending.contains_key(&key) => {
                if self.upstream(&packet, fabric).is_none() {
                    self.acknowledge(&packet, fabric);
                }
            }
            Kind::MulticastAgain if self.multicasts.done.iter().any(|(_, done)| *done == key) => {
                self.acknowledge(&packet, fabric);
            }
            Kind::MulticastAgain => self.store(packet, fabric),
            Kind::MulticastTrimmed => self.answer(Kind::MulticastNack, &packet, fabric),
            Kind::CopyAck | Kind::CopyNack => match self.towards_keeper(&packet, fabric) {
                Some(link) => self.emit(link, packet, fabric),
                None if packet.kind == Kind::CopyAck => self.acknowledged(&packet, fabric),
                None => self.nacked(&packet, fabric),
            },
            Kind::MulticastAck => self.acknowledged(&packet, fabric),
            Kind::MulticastNack => self.nacked(&packet, fabric),
            other => unreachable!("{other:?} does not come to a switch"),
        }
    }

    /// Copies a multicast to its branches. Its header alone names no group, so its sender will find
    /// no member that has it.
    fn only_copy(&mut self, packet: Packet, fabric: &mut Fabric) {
        if packet.kind == Kind::MulticastTrimmed {
            fabric.counts.dropped += 1;
        } else {
            self.branch_out(packet, fabric);
        }
    }

    /// Copies a multicast to all its branches.
    fn branch_out(&mut self, packet: Packet, fabric: &mut Fabric) -> Pending {
        let mut pending = Pending {
            upstream: self.upstream(&packet, fabric),
            links: Bits::default(),
            members: Bits::default(),
            sent: fabric.now(),
            packet,
        };
        self.find_branches(&mut pending, fabric);
        // An earlier try may have been stored here, and forgotten.
        self.copy_out(&pending, pending.packet.kind.is_again(), fabric);
        pending
    }

    /// Stores a multicast and copies it to its branches.
    fn store(&mut self, packet: Packet, fabric: &mut Fabric) {
        if self.upstream(&packet, fabric).is_none() {
            self.acknowledge(&packet, fabric);
        }
        let pending = self.branch_out(packet, fabric);
        let key = (pending.packet.from, pending.packet.sequence);
        if pending.links.is_empty() && pending.members.is_empty() {
            self.finish(key, &pending, fabric);
            return;
        }
        self.multicasts.pending.insert(key, pending);
        self.start_timer(fabric);
    }

    /// The link towards the sender; `None` at the first switch.
    fn upstream(&self, packet: &Packet, fabric: &Fabric) -> Option<u32> {
        let topology = &fabric.layout.topology;
        let source = topology.nic_of(packet.from);
        if topology.own(self.number).contains(&source) {
            return None;
        }
        Some(match &topology.rule {
            Rule::Tree(_) if self.below.contains(&source) => self.down_to(source),
            Rule::Tree(_) => self.downlinks + u32::from(packet.slot),
            Rule::Routes(routes) => {
                routes.pick(self.number, topology.leaf_of(source), drawn_of(packet))
            }
        })
    }

    /// The downlink that leads to a NIC below.
    pub(super) fn down_to(&self, nic: u32) -> u32 {
        self.each.quotient(nic - self.below.start)
    }

    /// Sends to every branch that has not acknowledged.
    fn copy_out(&mut self, pending: &Pending, again: bool, fabric: &mut Fabric) {
        for link in pending.links.iter() {
            self.send_branch(&pending.packet, link, again, fabric);
        }
        for member in pending.members.iter() {
            self.send_copy(&pending.packet, member, again, fabric);
        }
    }

    fn send_branch(&mut self, packet: &Packet, link: u32, again: bool, fabric: &mut Fabric) {
        // The switch below needs the number of its uplink to here.
        let slot = match &fabric.layout.topology.rule {
            Rule::Tree(_) if fabric.layout.setting.aggregates_acks => {
                self.uplink_below(link, fabric)
            }
            _ => packet.slot,
        };
        let kind = if again {
            Kind::MulticastAgain
        } else {
            Kind::Multicast
        };
        self.emit(
            link,
            Packet {
                kind,
                slot,
                ..packet.clone()
            },
            fabric,
        );
    }

    fn send_copy(&mut self, packet: &Packet, member: u32, again: bool, fabric: &mut Fabric) {
        let mut copy = Packet {
            time: fabric.now(),
            to: self.first_member(fabric) + member,
            kind: if again { Kind::CopyAgain } else { Kind::Copy },
            words: packet.words.skip(GROUP_WORDS),
            ..*packet
        };
        let link = self.route(&copy);
        if fabric.layout.setting.aggregates_acks {
            copy.slot = self.uplink_below(link, fabric);
        }
        self.emit(link, copy, fabric);
    }

    /// The number of the uplink that leads from the switch below a link of a tree to this one; 0 of
    /// other links.
    fn uplink_below(&self, link: u32, fabric: &Fabric) -> u8 {
        let topology = &fabric.layout.topology;
        let direction = topology.link(self.number, link);
        match (&topology.rule, direction.end) {
            (Rule::Tree(tree), End::Switch(below)) if link < self.downlinks => {
                (direction.back - tree.downlinks(below)) as u8
            }
            _ => 0,
        }
    }

    /// Handles the ACK of a branch.
    fn acknowledged(&mut self, ack: &Packet, fabric: &mut Fabric) {
        let key = (ack.from, ack.sequence);
        let first = self.first_member(fabric);
        let Some(pending) = self.multicasts.pending.get_mut(&key) else {
            return;
        };
        match ack.kind {
            Kind::CopyAck => pending.members.clear(ack.to - first),
            _ => pending.links.clear(u32::from(ack.port)),
        }
        if pending.links.is_empty() && pending.members.is_empty() {
            let pending = self.multicasts.pending.remove(&key).expect("it was there");
            self.finish(key, &pending, fabric);
        }
    }

    /// Handles the NACK of a branch, which received only the header.
    fn nacked(&mut self, nack: &Packet, fabric: &mut Fabric) {
        let key = (nack.from, nack.sequence);
        let Some(pending) = self.multicasts.pending.remove(&key) else {
            return;
        };
        fabric.counts.resent += 1;
        if nack.kind == Kind::CopyNack {
            let member = nack.to - self.first_member(fabric);
            self.send_copy(&pending.packet, member, true, fabric);
        } else {
            self.send_branch(&pending.packet, u32::from(nack.port), true, fabric);
        }
        self.multicasts.pending.insert(key, pending);
    }

    fn finish(&mut self, key: Key, pending: &Pending, fabric: &mut Fabric) {
        if pending.upstream.is_some() {
            self.acknowledge(&pending.packet, fabric);
        }
        let horizon = fabric.nic_model().timeout_cycles * FORGOTTEN;
        while self
            .multicasts
            .done
            .front()
            .is_some_and(|(time, _)| *time + horizon < fabric.now())
        {
            self.multicasts.done.pop_front();
        }
        self.multicasts.done.push_back((fabric.now(), key));
    }

    /// Acknowledges a multicast upstream.
    fn acknowledge(&mut self, packet: &Packet, fabric: &mut Fabric) {
        self.answer(Kind::MulticastAck, packet, fabric);
    }

    fn answer(&mut self, kind: Kind, packet: &Packet, fabric: &mut Fabric) {
        let topology = &fabric.layout.topology;
        let (link, answer) = match self.upstream(packet, fabric) {
            Some(link) => {
                let port = topology.link(self.number, link).back as u16;
                (
                    link,
                    Packet {
                        port,
                        ..packet.control(kind)
                    },
                )
            }
            // The sender's NIC knows only ACK and NACK.
            None => {
                let kind = if kind == Kind::MulticastAck {
                    Kind::Ack
                } else {
                    Kind::Nack
                };
                let link = self.down_to(topology.nic_of(packet.from));
                (link, packet.answer(kind, packet.from, fabric.now()))
            }
        };
        self.emit(link, answer, fabric);
    }

    fn start_timer(&mut self, fabric: &Fabric) {
        if !self.multicasts.pending.is_empty() && self.multicasts.check_at.is_none() {
            self.multicasts.check_at = Some(fabric.now() + fabric.nic_model().timeout_cycles);
        }
    }

    pub(super) fn check_timeouts_until(&mut self, time: Ticks, fabric: &mut Fabric) {
        while let Some(at) = self.multicasts.check_at.filter(|&at| at <= time) {
            fabric.scheduler.now = at;
            self.check_timeouts(fabric);
        }
    }

    /// Sends again the multicasts whose timeout has passed.
    fn check_timeouts(&mut self, fabric: &mut Fabric) {
        self.multicasts.check_at = None;
        let timeout = fabric.nic_model().timeout_cycles;
        let late = |pending: &Pending| pending.sent + timeout <= fabric.now();
        let keys: Vec<Key> = self
            .multicasts
            .pending
            .iter()
            .filter(|(_, pending)| late(pending))
            .map(|(key, _)| *key)
            .collect();
        for key in keys {
            let mut pending = self.multicasts.pending.remove(&key).expect("it was there");
            pending.sent = fabric.now();
            fabric.counts.resent += 1;
            self.copy_out(&pending, true, fabric);
            self.multicasts.pending.insert(key, pending);
        }
        self.start_timer(fabric);
    }
}
