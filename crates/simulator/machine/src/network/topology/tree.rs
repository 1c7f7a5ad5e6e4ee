//! A folded Clos network, by arithmetic: its links, and the way of a packet.
//!
//! Each NIC is on a leaf. A leaf reaches every other leaf over each of its uplinks: over a spine in
//! two layers, or over an aggregation, a core and another aggregation switch in three.
//!
//! ```text
//!   2 layers   spine s:  port l -> leaf l            leaf l:  up s  -> spine s
//!   3 layers   core (a, u): port p -> switch (p, a)  (p, a):  up u  -> core (a, u)
//!              (p, a):  down i -> leaf p * down + i   leaf:   up a  -> (its pod, a)
//! ```
//!
//! Switches are numbered layer by layer, leaves first.

use super::End;
use crate::profile::NetworkModel;

/// The shape of a folded Clos network.
#[derive(Clone, Copy, Debug)]
pub struct Tree {
    nics: u32,
    leaves: u32,
    down: u32,
    up: u32,
    top: u32,
    /// Pods of a three-layer network, 0 in two layers.
    pods: u32,
    pub switches: u32,
}

/// The layer of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    Leaf,
    Aggregation,
    Top,
}

impl Tree {
    pub fn new(network: &NetworkModel, nics: u32) -> Tree {
        let leaves = nics.div_ceil(network.down_links);
        let pods = if network.layers == 3 {
            leaves.div_ceil(network.down_links)
        } else {
            0
        };
        let (down, up, top) = (network.down_links, network.up_links, network.top_links);
        // A single leaf needs nothing above it, a single pod no core switches.
        let switches = match (leaves, pods) {
            (1, _) => 1,
            (_, 0) => leaves + up,
            (_, 1) => leaves + up,
            _ => leaves + pods * up + up * up,
        };
        Tree {
            nics,
            leaves,
            down,
            up,
            top,
            pods,
            switches,
        }
    }

    pub fn layer(&self, switch: u32) -> Layer {
        if switch < self.leaves {
            Layer::Leaf
        } else if switch < self.leaves + self.pods * self.up {
            Layer::Aggregation
        } else {
            Layer::Top
        }
    }

    /// Links of a switch downward; its uplinks are numbered after them.
    pub fn downlinks(&self, switch: u32) -> u32 {
        if self.layer(switch) == Layer::Top {
            self.top
        } else {
            self.down
        }
    }

    /// Links of a switch upward.
    pub fn uplinks(&self, switch: u32) -> u32 {
        if self.layer(switch) == Layer::Top {
            0
        } else {
            self.up
        }
    }

    /// The NICs below a switch.
    pub fn below(&self, switch: u32) -> (u32, u32) {
        let (first, count) = match self.layer(switch) {
            Layer::Leaf => (switch * self.down, self.down),
            Layer::Aggregation => {
                let pod = (switch - self.leaves) / self.up;
                (pod * self.down * self.down, self.down * self.down)
            }
            Layer::Top => (0, self.nics),
        };
        (
            first.min(self.nics),
            first.saturating_add(count).min(self.nics),
        )
    }

    /// The downlink of a switch that leads to a NIC below it.
    pub fn down_to(&self, switch: u32, nic: u32) -> u32 {
        (nic - self.below(switch).0) / self.each_behind(switch)
    }

    /// The number of NICs behind each downlink of a switch.
    pub fn each_behind(&self, switch: u32) -> u32 {
        match self.layer(switch) {
            Layer::Leaf => 1,
            Layer::Top if self.pods > 0 => self.down * self.down,
            _ => self.down,
        }
    }

    /// The NICs behind a downlink.
    pub fn behind(&self, switch: u32, link: u32) -> (u32, u32) {
        let (first, until) = self.below(switch);
        let each = self.each_behind(switch);
        let from = (first + link * each).min(until);
        (from, (from + each).min(until))
    }

    /// Links of a switch to NICs; those of a leaf come first.
    pub fn own_links(&self, switch: u32) -> u32 {
        if self.layer(switch) == Layer::Leaf {
            self.down
        } else {
            0
        }
    }

    /// Switches on the way between two leaves.
    pub fn switches_between(&self) -> u64 {
        if self.pods == 0 { 3 } else { 5 }
    }

    /// The far end of a link.
    pub fn end_of(&self, switch: u32, link: u32) -> End {
        let end = self.far_end(switch, link);
        match end {
            End::Nic(nic) if nic >= self.nics => End::Nowhere,
            End::Switch(other) if !self.is_used(switch, link, other) => End::Nowhere,
            end => end,
        }
    }

    /// Whether a switch exists at the end of a link, and not another one by its number.
    fn is_used(&self, switch: u32, link: u32, other: u32) -> bool {
        let is_up = link >= self.downlinks(switch);
        let leads_down = || {
            let (first, until) = self.behind(switch, link);
            first < until
        };
        other < self.switches && (is_up || leads_down())
    }

    fn far_end(&self, switch: u32, link: u32) -> End {
        let spines = self.leaves + self.pods * self.up;
        End::Switch(match self.layer(switch) {
            Layer::Leaf if link < self.down => return End::Nic(switch * self.down + link),
            Layer::Leaf if self.pods == 0 => spines + link - self.down,
            Layer::Leaf => self.leaves + switch / self.down * self.up + link - self.down,
            Layer::Aggregation => {
                let number = switch - self.leaves;
                let (pod, index) = (number / self.up, number % self.up);
                if link < self.down {
                    pod * self.down + link
                } else {
                    spines + index * self.up + link - self.down
                }
            }
            Layer::Top if self.pods == 0 => link,
            Layer::Top => self.leaves + link * self.up + (switch - spines) / self.up,
        })
    }

    /// The number of a link between switches at its far end.
    pub fn back(&self, switch: u32, link: u32) -> u32 {
        let End::Switch(other) = self.far_end(switch, link) else {
            panic!("a NIC has one link");
        };
        if link >= self.downlinks(switch) {
            return self.down_to(other, self.below(switch).0);
        }
        let within = match self.layer(switch) {
            Layer::Leaf => unreachable!("a leaf's downlinks lead to NICs"),
            Layer::Aggregation => (switch - self.leaves) % self.up,
            Layer::Top => (switch - self.leaves - self.pods * self.up) % self.up,
        };
        self.downlinks(other) + within
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;

    /// Follows a packet up over a link and then down to its NIC; returns the number of switches.
    fn arrives(topology: &Tree, from: u32, to: u32, up: u32) -> u32 {
        let mut switch = from / topology.down;
        for hops in 1.. {
            let (first, until) = topology.below(switch);
            let link = if (first..until).contains(&to) {
                topology.down_to(switch, to)
            } else {
                topology.downlinks(switch) + up % topology.uplinks(switch)
            };
            match topology.end_of(switch, link) {
                End::Nic(nic) => {
                    assert_eq!(nic, to);
                    return hops;
                }
                End::Switch(next) => switch = next,
                End::Nowhere => panic!("the link of switch {switch} leads nowhere"),
            }
            assert!(switch < topology.switches && hops < 6);
        }
        unreachable!()
    }

    #[test]
    fn every_nic_is_reached_over_every_uplink() {
        let mut profile = Profile::tiny();
        for (layers, ranks) in [(2, 3), (2, 100), (2, 128), (3, 9), (3, 100), (3, 256)] {
            profile.network.layers = layers;
            let topology = Tree::new(&profile.network, ranks / 2 + ranks % 2);
            for from in 0..topology.nics {
                for to in 0..topology.nics {
                    for up in 0..profile.network.up_links {
                        let hops = arrives(&topology, from, to, up);
                        assert!(hops < 2 * layers);
                        let near = from / topology.down == to / topology.down;
                        assert_eq!(near, hops == 1);
                    }
                }
            }
            for switch in 0..topology.switches {
                let (first, until) = topology.below(switch);
                let links = 0..topology.downlinks(switch);
                let behind: u32 = links
                    .map(|link| topology.behind(switch, link))
                    .map(|(a, b)| b - a)
                    .sum();
                assert_eq!(behind, until - first);
                for link in 0..topology.downlinks(switch) + topology.uplinks(switch) {
                    if let End::Switch(other) = topology.end_of(switch, link) {
                        let back = topology.back(switch, link);
                        assert_eq!(topology.end_of(other, back), End::Switch(switch));
                    }
                }
            }
        }
    }
}
