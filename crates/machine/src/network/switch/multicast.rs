//! Reliable multicast in the switches (NanoSort, section 5.3).
//!
//! A switch that receives a multicast keeps it, copies it to each of its branches, and keeps a
//! bitmap of those that have not acknowledged. It sends again on a NACK or after a timeout, and
//! acknowledges to where the packet came from when all its branches have: one ACK for any number of
//! members, so the sender sees no implosion.
//!
//! ```text
//!   NIC -> first leaf -> a spine -> each other leaf with members -> a copy for each member
//!       <-  at once      <- when all leaves have    <- when all members have
//! ```
//!
//! The first switch acknowledges at once, and so frees the sender's buffer: from there on the
//! network has the packet (ours; the paper leaves it open). A member behind a NIC of several gets
//! a copy of its own: the NIC knows no groups.

use std::collections::{BTreeMap, VecDeque};

use node::{Group, Rank};

use super::Switch;
use crate::network::fabric::Fabric;
use crate::network::layout::Purpose;
use crate::network::packet::{Kind, Packet};
use crate::network::topology::Layer;
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

/// The sender of a multicast, and its number there.
type Key = (u32, u32);

/// The multicasts that a switch keeps.
#[derive(Default)]
pub struct Casts {
    kept: BTreeMap<Key, Kept>,
    /// The multicasts that are done, each with its time: one that is sent again is acknowledged
    /// again.
    done: VecDeque<(Ticks, Key)>,
    /// When to look which branches have not acknowledged; none while nothing is kept.
    look_at: Option<Ticks>,
}

impl Casts {
    pub fn next_look(&self) -> Ticks {
        self.look_at.unwrap_or(Ticks::NEVER)
    }
}

struct Kept {
    packet: Packet,
    /// The link it came by; none at the first switch.
    upstream: Option<u32>,
    links: Bits,
    /// Members by their place among the ranks below.
    members: Bits,
    sent: Ticks,
}

/// Timeouts after which a multicast does not come again: its sender tries once in 64 at least, so
/// 32 tries in a row would have to be lost.
const FORGOTTEN: u64 = 64 * 32;

impl Switch {
    pub(super) fn arrive_cast(&mut self, packet: Packet, fabric: &mut Fabric) {
        let key = (packet.from, packet.sequence);
        match packet.kind {
            Kind::Cast => self.keep(packet, fabric),
            Kind::CastAgain if self.casts.kept.contains_key(&key) => {
                if self.upstream(&packet, fabric).is_none() {
                    self.acknowledge(&packet, fabric);
                }
            }
            Kind::CastAgain if self.casts.done.iter().any(|(_, done)| *done == key) => {
                self.acknowledge(&packet, fabric);
            }
            Kind::CastAgain => self.keep(packet, fabric),
            Kind::CastTrimmed => self.answer(Kind::CastNack, &packet, fabric),
            Kind::CopyAck | Kind::CastAck => self.acknowledged(&packet, fabric),
            Kind::CopyNack | Kind::CastNack => self.asked_again(&packet, fabric),
            other => unreachable!("{other:?} does not come to a switch"),
        }
    }

    /// Keeps a multicast and copies it to its branches.
    fn keep(&mut self, packet: Packet, fabric: &mut Fabric) {
        let upstream = self.upstream(&packet, fabric);
        if upstream.is_none() {
            self.acknowledge(&packet, fabric);
        }
        let mut kept = Kept {
            upstream,
            links: Bits::default(),
            members: Bits::default(),
            sent: fabric.scheduler.now,
            packet,
        };
        self.find_branches(&mut kept, fabric);
        // An earlier try of the sender may have been kept, and forgotten.
        self.copy_out(&kept, kept.packet.kind.is_again(), fabric);
        let key = (kept.packet.from, kept.packet.sequence);
        if kept.links.is_empty() && kept.members.is_empty() {
            self.finish(key, &kept, fabric);
            return;
        }
        self.casts.kept.insert(key, kept);
        self.start_timer(fabric);
    }

    /// The link towards the sender; none at the first switch.
    fn upstream(&self, packet: &Packet, fabric: &Fabric) -> Option<u32> {
        let topology = &fabric.layout.topology;
        let source = topology.nic_of(packet.from);
        let (first, until) = topology.below(self.number);
        if !(first..until).contains(&source) {
            return Some(topology.downlinks(self.number) + u32::from(packet.slot));
        }
        let is_leaf = topology.layer(self.number) == Layer::Leaf;
        (!is_leaf).then(|| topology.down_to(self.number, source))
    }

    fn find_branches(&self, kept: &mut Kept, fabric: &Fabric) {
        let topology = &fabric.layout.topology;
        let group = group_of(&kept.packet.words);
        let each = topology.ranks_per_nic;
        let (first, until) = topology.below(self.number);
        let source = topology.nic_of(kept.packet.from);
        let from_below = (first..until).contains(&source);
        let below = group.within(first * each, until * each);
        if topology.layer(self.number) == Layer::Leaf {
            below
                .members()
                .for_each(|rank| kept.members.set(rank.0 - first * each));
        } else {
            let links = 0..topology.downlinks(self.number);
            for link in links.filter(|&link| kept.upstream != Some(link)) {
                let (first, until) = topology.behind(self.number, link);
                if group.within(first * each, until * each).count > 0 {
                    kept.links.set(link);
                }
            }
        }
        if from_below && below.count < group.count {
            let drawn = fabric
                .layout
                .draw(Purpose::Route, &kept.packet, fabric.scheduler.now);
            kept.links.set(self.up(drawn));
        }
    }

    /// Sends to every branch that has not acknowledged.
    fn copy_out(&mut self, kept: &Kept, again: bool, fabric: &mut Fabric) {
        for link in kept.links.iter() {
            self.send_branch(&kept.packet, link, again, fabric);
        }
        for member in kept.members.iter() {
            self.send_copy(&kept.packet, member, again, fabric);
        }
    }

    fn send_branch(&mut self, packet: &Packet, link: u32, again: bool, fabric: &mut Fabric) {
        let topology = &fabric.layout.topology;
        // The number of the link back among the uplinks of the switch below.
        let slot = if link < topology.downlinks(self.number) {
            let crate::network::topology::End::Switch(below) = topology.end_of(self.number, link)
            else {
                unreachable!("a branch leads to a switch")
            };
            (topology.back(self.number, link) - topology.downlinks(below)) as u8
        } else {
            0
        };
        let kind = if again { Kind::CastAgain } else { Kind::Cast };
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
        let to = topology.below(self.number).0 * topology.ranks_per_nic + member;
        let link = topology.down_to(self.number, topology.nic_of(to));
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

    /// A branch has it.
    fn acknowledged(&mut self, ack: &Packet, fabric: &mut Fabric) {
        let key = (ack.from, ack.sequence);
        let first = self.first_rank(fabric);
        let Some(kept) = self.casts.kept.get_mut(&key) else {
            return;
        };
        match ack.kind {
            Kind::CopyAck => kept.members.clear(ack.to - first),
            _ => kept.links.clear(u32::from(ack.port)),
        }
        if kept.links.is_empty() && kept.members.is_empty() {
            let kept = self.casts.kept.remove(&key).expect("it was there");
            self.finish(key, &kept, fabric);
        }
    }

    /// A branch got the header alone.
    fn asked_again(&mut self, nack: &Packet, fabric: &mut Fabric) {
        let key = (nack.from, nack.sequence);
        let Some(kept) = self.casts.kept.remove(&key) else {
            return;
        };
        fabric.counts.resent += 1;
        if nack.kind == Kind::CopyNack {
            let member = nack.to - self.first_rank(fabric);
            self.send_copy(&kept.packet, member, true, fabric);
        } else {
            self.send_branch(&kept.packet, u32::from(nack.port), true, fabric);
        }
        self.casts.kept.insert(key, kept);
    }

    fn first_rank(&self, fabric: &Fabric) -> u32 {
        fabric.layout.topology.below(self.number).0 * fabric.layout.topology.ranks_per_nic
    }

    fn finish(&mut self, key: Key, kept: &Kept, fabric: &mut Fabric) {
        if kept.upstream.is_some() {
            self.acknowledge(&kept.packet, fabric);
        }
        let horizon = fabric.layout.profile.nic.timeout_cycles * FORGOTTEN;
        while self
            .casts
            .done
            .front()
            .is_some_and(|(time, _)| *time + horizon < fabric.scheduler.now)
        {
            self.casts.done.pop_front();
        }
        self.casts.done.push_back((fabric.scheduler.now, key));
    }

    /// Tells where a multicast came from that it need not be sent again.
    fn acknowledge(&mut self, packet: &Packet, fabric: &mut Fabric) {
        self.answer(Kind::CastAck, packet, fabric);
    }

    fn answer(&mut self, kind: Kind, packet: &Packet, fabric: &mut Fabric) {
        let topology = &fabric.layout.topology;
        let (link, answer) = match self.upstream(packet, fabric) {
            Some(link) => {
                let port = topology.back(self.number, link) as u16;
                (
                    link,
                    Packet {
                        port,
                        ..packet.control(kind)
                    },
                )
            }
            // The sender's NIC understands only ACK and NACK.
            None => {
                let kind = if kind == Kind::CastAck {
                    Kind::Ack
                } else {
                    Kind::Nack
                };
                let link = topology.down_to(self.number, topology.nic_of(packet.from));
                (link, packet.answer(kind, packet.from, fabric.scheduler.now))
            }
        };
        self.emit(link, answer, fabric);
    }

    fn start_timer(&mut self, fabric: &Fabric) {
        if !self.casts.kept.is_empty() && self.casts.look_at.is_none() {
            self.casts.look_at =
                Some(fabric.scheduler.now + fabric.layout.profile.nic.timeout_cycles);
        }
    }

    /// Looks at what is due until `time`.
    pub(super) fn look_until(&mut self, time: Ticks, fabric: &mut Fabric) {
        while let Some(at) = self.casts.look_at.filter(|&at| at <= time) {
            fabric.scheduler.now = at;
            self.look_for_late(fabric);
        }
    }

    /// Sends again the multicasts whose timeout has passed.
    fn look_for_late(&mut self, fabric: &mut Fabric) {
        self.casts.look_at = None;
        let timeout = fabric.layout.profile.nic.timeout_cycles;
        let late = |kept: &Kept| kept.sent + timeout <= fabric.scheduler.now;
        let keys: Vec<Key> = self
            .casts
            .kept
            .iter()
            .filter(|(_, kept)| late(kept))
            .map(|(key, _)| *key)
            .collect();
        for key in keys {
            let mut kept = self.casts.kept.remove(&key).expect("it was there");
            kept.sent = fabric.scheduler.now;
            fabric.counts.resent += 1;
            self.copy_out(&kept, true, fabric);
            self.casts.kept.insert(key, kept);
        }
        self.start_timer(fabric);
    }
}

/// A bitmap that grows.
#[derive(Default)]
struct Bits(Vec<u64>);

impl Bits {
    fn set(&mut self, bit: u32) {
        let word = bit as usize / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (bit % 64);
    }

    fn clear(&mut self, bit: u32) {
        if let Some(word) = self.0.get_mut(bit as usize / 64) {
            *word &= !(1 << (bit % 64));
        }
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    fn iter(&self) -> impl Iterator<Item = u32> {
        let bits = |word: u64| (0..64).filter(move |bit| word >> bit & 1 == 1);
        self.0
            .iter()
            .enumerate()
            .flat_map(move |(at, &word)| bits(word).map(move |bit| at as u32 * 64 + bit))
    }
}
