//! The branches of a multicast at a switch: its own members, and links to other switches.
//!
//! ```text
//!   per port      NIC -> first leaf -> a spine -> each other leaf with members -> a copy for each
//!   first leaf    NIC -> first leaf -> a copy for each member, over any spines
//!   a spine       NIC -> first leaf -> a spine -> a copy for each member of other leaves
//!                                   -> a copy for each own member
//! ```
//!
//! The paper's switch replicates "to all members of the multicast group" (NanoSort, section 5.3),
//! and does not say which switch. Per port a link has one packet for all members behind it; per
//! member it has one for each of them. The switch that makes the copies keeps the multicast, so
//! ACKs of members go to that one.

use node::Group;

use super::Switch;
use super::multicast::{DRAWN_SHIFT, Pending, drawn_of, group_of};
use crate::network::fabric::Fabric;
use crate::network::layout::Purpose;
use crate::network::packet::Packet;
use crate::network::topology::{Layer, Rule, Tree};
use crate::schedule::Ticks;
use crate::setting::Multicast;

/// The number that chooses the way of a multicast. Without aggregated ACKs all switches draw the
/// same one: the slot, which would carry it, is that of the sender's buffer then.
fn draw_way(packet: &Packet, fabric: &Fabric) -> u32 {
    let time = if fabric.layout.setting.aggregates_acks {
        fabric.now()
    } else {
        Ticks(0)
    };
    fabric.layout.draw(Purpose::Route, packet, time)
}

impl Switch {
    pub(super) fn find_branches(&self, pending: &mut Pending, fabric: &Fabric) {
        let topology = &fabric.layout.topology;
        let group = group_of(&pending.packet.words);
        match (&topology.rule, fabric.layout.setting.multicast) {
            (Rule::Tree(_), Multicast::FirstLeaf) => {
                pending.add_members(group, self.first_member(fabric));
            }
            (Rule::Tree(tree), Multicast::OneSpine | Multicast::DrawnSpines)
                if tree.layer(self.number) == Layer::Top =>
            {
                let source = topology.leaf_of(topology.nic_of(pending.packet.from));
                let [first, until] = self.ranks_of(source, fabric);
                let first_member = self.first_member(fabric);
                pending.add_members(group.within(0, first), first_member);
                pending.add_members(group.within(until, topology.ranks), first_member);
            }
            (Rule::Tree(tree), _) => {
                self.add_own_members(pending, group, fabric);
                self.find_links_of_tree(tree, pending, group, fabric);
            }
            (Rule::Routes(_), _) => {
                self.add_own_members(pending, group, fabric);
                self.find_links_of_graph(pending, group, fabric);
            }
        }
    }

    fn add_own_members(&self, pending: &mut Pending, group: Group, fabric: &Fabric) {
        let [first, until] = self.ranks_of(self.number, fabric);
        pending.add_members(group.within(first, until), self.first_member(fabric));
    }

    /// The first rank at a switch, and the first of the next.
    fn ranks_of(&self, switch: u32, fabric: &Fabric) -> [u32; 2] {
        let own = fabric.layout.topology.own(switch);
        [own.start, own.end].map(|nic| nic * fabric.layout.topology.ranks_per_nic)
    }

    /// The rank that is member 0 of the multicasts that this switch keeps: of its own ranks, or of
    /// all.
    pub(super) fn first_member(&self, fabric: &Fabric) -> u32 {
        let own = fabric.layout.topology.own(self.number);
        match fabric.layout.setting.multicast {
            Multicast::FirstLeaf => 0,
            _ if own.is_empty() => 0,
            _ => own.start * fabric.layout.topology.ranks_per_nic,
        }
    }

    fn find_links_of_tree(
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
            let drawn = match fabric.layout.setting.multicast {
                Multicast::OneSpine => 0,
                _ => draw_way(&pending.packet, fabric),
            };
            pending.links.set(self.uplink(drawn));
        }
    }

    fn find_links_of_graph(&self, pending: &mut Pending, group: Group, fabric: &Fabric) {
        let topology = &fabric.layout.topology;
        let Rule::Routes(routes) = &topology.rule else {
            unreachable!("a graph has routes")
        };
        let aggregates = fabric.layout.setting.aggregates_acks;
        if pending.upstream.is_none() && aggregates {
            let drawn = draw_way(&pending.packet, fabric);
            pending.packet.slot = (drawn >> DRAWN_SHIFT) as u8;
        }
        let drawn = if aggregates {
            drawn_of(&pending.packet)
        } else {
            draw_way(&pending.packet, fabric)
        };
        let source = topology.leaf_of(topology.nic_of(pending.packet.from));
        let has_members = |switch: &u32| {
            let [first, until] = self.ranks_of(*switch, fabric);
            group.within(first, until).count > 0
        };
        let ends = (0..topology.switches).filter(has_members);
        let way = (self.number, source);
        let branches = routes.branches(topology, way, ends, drawn);
        branches
            .into_iter()
            .for_each(|link| pending.links.set(link));
    }

    /// The link towards the switch that keeps a multicast, for the answer of a member; `None` if it
    /// is this one.
    pub(super) fn towards_keeper(&self, answer: &Packet, fabric: &Fabric) -> Option<u32> {
        let topology = &fabric.layout.topology;
        let leaf_of = |rank| topology.leaf_of(topology.nic_of(rank));
        let (source, member) = (leaf_of(answer.from), leaf_of(answer.to));
        match fabric.layout.setting.multicast {
            Multicast::Off | Multicast::PerPort => None,
            _ if self.number == source => None,
            Multicast::FirstLeaf if topology.own(self.number).is_empty() => {
                Some(self.down_to(topology.nic_of(answer.from)))
            }
            Multicast::FirstLeaf => {
                let drawn = fabric.layout.draw(Purpose::Route, answer, answer.time);
                Some(self.uplink(drawn))
            }
            // At the leaf of a member, which is not the first one.
            Multicast::OneSpine | Multicast::DrawnSpines => {
                (self.number == member).then(|| self.downlinks + u32::from(answer.slot))
            }
        }
    }
}
