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
//! In a graph the branches are a tree of shortest ways: each switch has one link towards the sender,
//! which a number of seven bits chooses. The first switch draws it, and the packets between switches
//! have it in the byte of their slot.
//!
//! The first switch acknowledges at once, which frees the sender's buffer: from there on the
//! network has the packet (ours; the paper leaves it open). Each member behind a NIC gets its own
//! copy, since NICs know no groups.

use std::collections::{BTreeMap, VecDeque};

use node::{Group, Rank};

use super::Switch;
use super::bits::Bits;
use crate::network::fabric::Fabric;
use crate::network::layout::Purpose;
use crate::network::packet::{Kind, Packet};
use crate::network::topology::{End, Layer, Rule, Tree};
use crate::profile::GROUP_WORDS;
use crate::schedule::Ticks;

/// The two words that name a group.
pub fn group_words(group: Group) -> [u64; GROUP_WORDS] {
    let first = u64::from(group.first.0) | u64::from(group.count) << 32;
    [first, u64::from(group.stride)]
}

fn group_of(words: &[u64]) -> Group {
    Group {
        first: Rank(words[0] as u32),
        count: (words[0] >> 32) as u32,
        stride: words[1] as u32,
    }
}

/// A drawn number has as many bits of a slot as a transmit buffer.
const DRAWN_SHIFT: u32 = u32::BITS - 7;

/// The number that chooses the links of a multicast in a graph.
fn drawn_of(packet: &Packet) -> u32 {
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

struct Pending {
    packet: Packet,
    /// The link towards the sender; `None` at the first switch.
    upstream: Option<u32>,
    /// Links to switches that have not acknowledged.
    links: Bits,
    /// Members that have not acknowledged, by their number among the ranks below.
    members: Bits,
    sent: Ticks,
}

/// Timeouts after which a multicast does not arrive again. Its sender retries at least once in 64
/// timeouts, so 32 retransmissions in a row would have to be lost.
const FORGOTTEN: u64 = 64 * 32;

impl Switch {
    pub(super) fn arrive_multicast(&mut self, packet: Packet, fabric: &mut Fabric) {
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
            Kind::CopyAck | Kind::MulticastAck => self.acknowledged(&packet, fabric),
            Kind::CopyNack | Kind::MulticastNack => self.nacked(&packet, fabric),
            other => unreachable!("{other:?} does not come to a switch"),
        }
    }

    /// Stores a multicast and copies it to its branches.
    fn store(&mut self, packet: Packet, fabric: &mut Fabric) {
        let upstream = self.upstream(&packet, fabric);
        if upstream.is_none() {
            self.acknowledge(&packet, fabric);
        }
        let mut pending = Pending {
            upstream,
            links: Bits::default(),
            members: Bits::default(),
            sent: fabric.now(),
            packet,
        };
        self.find_branches(&mut pending, fabric);
        // An earlier try may have been stored here, and forgotten.
        self.copy_out(&pending, pending.packet.kind.is_again(), fabric);
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
    fn down_to(&self, nic: u32) -> u32 {
        self.each.quotient(nic - self.below.start)
    }

    fn find_branches(&self, pending: &mut Pending, fabric: &Fabric) {
        let topology = &fabric.layout.topology;
        let group = group_of(&pending.packet.words);
        let each = topology.ranks_per_nic;
        let own = topology.own(self.number);
        let members = group.within(own.start * each, own.end * each).members();
        members.for_each(|rank| pending.members.set(rank.0 - own.start * each));
        match &topology.rule {
            Rule::Tree(tree) => self.find_branches_of_tree(tree, pending, group, fabric),
            Rule::Routes(routes) => {
                if pending.upstream.is_none() {
                    let drawn = fabric
                        .layout
                        .draw(Purpose::Route, &pending.packet, fabric.now());
                    pending.packet.slot = (drawn >> DRAWN_SHIFT) as u8;
                }
                let source = topology.leaf_of(topology.nic_of(pending.packet.from));
                let has_members = |switch: &u32| {
                    let own = topology.own(*switch);
                    group.within(own.start * each, own.end * each).count > 0
                };
                let ends = (0..topology.switches).filter(has_members);
                let (way, drawn) = ((self.number, source), drawn_of(&pending.packet));
                let branches = routes.branches(topology, way, ends, drawn);
                branches
                    .into_iter()
                    .for_each(|link| pending.links.set(link));
            }
        }
    }

    fn find_branches_of_tree(
        &self,
        tree: &Tree,
        pending: &mut Pending,
        group: Group,
        fabric: &Fabric,
    ) {
        let topology = &fabric.layout.topology;
        let each = topology.ranks_per_nic;
        if tree.layer(self.number) != Layer::Leaf {
            let links = 0..self.downlinks;
            for link in links.filter(|&link| pending.upstream != Some(link)) {
                let (first, until) = tree.behind(self.number, link);
                if group.within(first * each, until * each).count > 0 {
                    pending.links.set(link);
                }
            }
        }
        let from_below = self.below.contains(&topology.nic_of(pending.packet.from));
        let below = group.within(self.below.start * each, self.below.end * each);
        if from_below && below.count < group.count {
            let drawn = fabric
                .layout
                .draw(Purpose::Route, &pending.packet, fabric.now());
            pending.links.set(self.uplink(drawn));
        }
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
        let topology = &fabric.layout.topology;
        let direction = topology.link(self.number, link);
        // The switch below needs the number of its uplink to here.
        let slot = match (&topology.rule, direction.end) {
            (Rule::Tree(tree), End::Switch(below)) if link < self.downlinks => {
                (direction.back - tree.downlinks(below)) as u8
            }
            (Rule::Tree(_), _) => 0,
            (Rule::Routes(_), _) => packet.slot,
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
        let topology = &fabric.layout.topology;
        let to = self.first_rank(fabric) + member;
        let link = self.down_to(topology.nic_of(to));
        let kind = if again { Kind::CopyAgain } else { Kind::Copy };
        let words = packet.words.skip(GROUP_WORDS);
        self.emit(
            link,
            Packet {
                to,
                kind,
                words,
                ..*packet
            },
            fabric,
        );
    }

    /// Handles the ACK of a branch.
    fn acknowledged(&mut self, ack: &Packet, fabric: &mut Fabric) {
        let key = (ack.from, ack.sequence);
        let first = self.first_rank(fabric);
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
            let member = nack.to - self.first_rank(fabric);
            self.send_copy(&pending.packet, member, true, fabric);
        } else {
            self.send_branch(&pending.packet, u32::from(nack.port), true, fabric);
        }
        self.multicasts.pending.insert(key, pending);
    }

    fn first_rank(&self, fabric: &Fabric) -> u32 {
        let topology = &fabric.layout.topology;
        topology.own(self.number).start * topology.ranks_per_nic
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

    /// Checks the timeouts that are due until `time`.
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
