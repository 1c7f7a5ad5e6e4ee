//! MilliSort on tiny cores: one partition into as many parts as there are cores (NanoSort, section
//! 6.2.2; the algorithm is of Li and others, "MilliSort and MilliQuery", NSDI 2021).
//!
//! ```text
//!   local sort   each core its keys; one of each piece of them is a pivot, as many as cores
//!   partition    who finds the greatest key of each core's part
//!     pivots       of each core to its pivot sorter, which sorts them
//!     bounds       core 0 sorts some pivots of each sorter: one range for each sorter
//!     exchange     sorters give each other the pivots of their ranges
//!     splitters    each sorter finds those of its range by their places, and tells all cores
//!   shuffle      each key with its value to its core, one core after the other
//!   final sort   each core what came
//!   rearrange    the values in the order of their keys
//! ```
//!
//! So M cores find M splitters among M x M pivots, and send M x M messages in M rounds: what is
//! little beside a thousand records a core is nearly all of the time of tiny tasks. That is the
//! paper's reason for NanoSort.
//!
//! Where this differs from the public program of 2021: a core's own items go over no wire; it sends
//! to the cores after it first and not to core 0; and some messages are answered, lest any core
//! wait to send. The paper's runs had a later revision that nobody has seen.
//!
//! Keys are compared and nothing else is done with them. Equal keys go to one core.

mod count;
mod layout;
mod pivots;
mod post;
mod sorter;

use clap::Args;
use node::Node;
use serde::Serialize;

use crate::described;
use crate::distribution::Distribution;
use crate::options::{ReorderBy, count, from_0};
use crate::program::{Program, Span, Verdict, WORD_BYTES};
use crate::records::{Part, Records};

use self::layout::Layout;
use self::sorter::{ITEM_WORDS, Sorter};

/// Sort records over all cores, parts found by pivot sorters (Figures 9 and 10).
///
/// Stages: `local sort`, `partition`, `shuffle`, `final sort`, `rearrange`.
#[derive(Args, Clone, Debug, Serialize)]
pub struct MilliSort {
    /// Records of each core, of a key of 8 bytes and a value of 96
    #[arg(id = "keys-per-core", long, value_name = "K")]
    #[arg(default_value_t = 16, value_parser = from_0)]
    #[serde(rename = "keys-per-core")]
    pub keys: u32,
    /// Cores whose pivots one pivot sorter sorts, itself among them: the reduction factor
    #[arg(id = "incast", long, value_name = "F", default_value_t = 4, value_parser = count)]
    #[serde(rename = "incast")]
    pub reduction: u32,
    /// How the keys lie
    #[arg(long, value_enum, default_value_t)]
    pub distribution: Distribution,
    /// Where messages of later steps wait
    #[arg(long, value_enum, default_value_t)]
    pub reorder: ReorderBy,
    /// Decides the keys.
    #[arg(skip = 1_u64)]
    #[serde(skip)]
    pub seed: u64,
}

described! { MilliSort is "milli-sort" on 64 cores; "--cores 256 --keys 4K" }

impl Program for MilliSort {
    type Answer = Part;

    async fn run(self, node: Node) -> Part {
        if self.objection(node.nodes()).is_some() {
            return Part::default();
        }
        let keys = self.records().of(node.rank(), node.nodes());
        self.sort(node, keys).await
    }

    fn reorder(&self) -> ReorderBy {
        self.reorder
    }

    fn check(&self, answers: &[Part]) -> Verdict {
        match self.objection(answers.len() as u32) {
            Some(objection) => Verdict::refused(objection),
            None => self.records().verdict(answers),
        }
    }

    fn messages(&self, answers: &[Part], _multicast: bool) -> Option<u64> {
        Some(self.messages_on(answers.len() as u32))
    }

    fn objection(&self, cores: u32) -> Option<String> {
        let sorters = u64::from(self.layout(cores).sorters());
        let senders = (sorters - 1).max(u64::from(ahead(cores)));
        post::objection(senders, self.reorder.matching())
    }

    /// Each core has a splitter for each core, and its pivots or those that its sorter has for it
    /// twice; its items are on their way or there. The keys are the answer, and the check sorts
    /// them again.
    fn bytes(&self, ranks: u64, _at_once: u64) -> u64 {
        let items = u64::from(self.keys) * (4 + ITEM_WORDS as u64);
        (4 * ranks + items)
            .saturating_mul(WORD_BYTES)
            .saturating_mul(ranks)
    }
}

impl MilliSort {
    fn records(&self) -> Records {
        Records {
            each: self.keys,
            distribution: self.distribution,
            seed: self.seed,
        }
    }

    fn layout(&self, cores: u32) -> Layout {
        Layout::new(cores, self.reduction)
    }

    /// Sorts these keys of this core with those of the others, which may have more or fewer; how
    /// many keys the parameters say is not looked at. There must be no [`Program::objection`].
    pub async fn sort(self, node: Node, keys: Vec<u64>) -> Part {
        let begin = node.now();
        let sorter = Sorter::new(
            &node,
            self.layout(node.nodes()),
            self.reorder.matching(),
            keys,
        );
        let part = sorter.run(&node).await;
        Part {
            span: Span::since(begin, &node),
            ..part
        }
    }
}

/// How many rounds of the shuffle a core may be ahead of another one where steps wait in the NIC,
/// and so how many cores may send one items before it takes any.
///
/// A core ends round i when the core i places before it has begun it. So if one core ends no round
/// after the k-th, then after t more rounds those cores cannot go on that are sums of some of the
/// numbers k+2 to k+t after it. Sums of t/2 of them are t*t/4 neighbours or more: at t = 2 sqrt(M)
/// all.
fn ahead(cores: u32) -> u32 {
    let root = cores.isqrt();
    let up = root + u32::from(root * root < cores);
    (2 * up + 2).min(cores.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bound on rounds, by who can go on while one core does not: the slowest ends no round
    /// after the k-th, and a core goes on while the one whose items it waits for does.
    #[test]
    fn nobody_is_further_ahead_than_is_said() {
        for cores in [2, 3, 5, 8, 16, 31, 64, 100, 257] {
            for ended in 0..cores {
                let mut stuck = vec![false; cores as usize];
                stuck[0] = true;
                // Rounds that others can begin after the one that core 0 does not end.
                let mut rounds = 0;
                for round in ended + 2..=cores {
                    if stuck.iter().all(|stuck| *stuck) {
                        break;
                    }
                    rounds += 1;
                    let before = stuck.clone();
                    for core in 0..cores {
                        let from = (core + cores - round % cores) % cores;
                        stuck[core as usize] |= before[from as usize];
                    }
                }
                assert!(
                    rounds <= ahead(cores),
                    "{cores} cores, {ended} rounds ended: {rounds}"
                );
            }
        }
    }
}
