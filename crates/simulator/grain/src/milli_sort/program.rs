//! MilliSort as a program: its options, its limits and its check.

use clap::Args;
use node::Node;
use serde::Serialize;

use super::layout::Layout;
use super::records::RECORD_WORDS;
use super::transport;
use crate::described;
use crate::distribution::Distribution;
use crate::load::Load;
use crate::options::{ReorderBy, count, from_0};
use crate::program::{Program, Verdict, WORD_BYTES};
use crate::records::{Part, Records};

/// Sort records over all cores, parts found by pivot sorters (Figures 9 and 10).
///
/// Stages: `local sort`, `partition`, `shuffle`, `final sort`, `rearrange`.
#[derive(Args, Clone, Debug, Serialize)]
pub struct MilliSort {
    /// Records of each core: keys of 8 bytes with values of 96 bytes
    #[arg(id = "keys-per-core", long, value_name = "K")]
    #[arg(default_value_t = 16, value_parser = from_0)]
    #[serde(rename = "keys-per-core")]
    pub keys: u32,
    /// Cores per pivot sorter, itself included: the reduction factor
    #[arg(id = "incast", long, value_name = "F", default_value_t = 4, value_parser = count)]
    #[serde(rename = "incast")]
    pub reduction: u32,
    /// Distribution of the keys
    #[arg(long, value_enum, default_value_t)]
    pub distribution: Distribution,
    /// Where early messages are buffered
    #[arg(long, value_enum, default_value_t)]
    pub reorder: ReorderBy,
    /// Seed of the keys.
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

    fn dials(&self, ranks: u32) -> Vec<(&'static str, u32)> {
        vec![("incast", self.reduction.min(ranks))]
    }

    fn objection(&self, cores: u32) -> Option<String> {
        let sorters = u64::from(Layout::new(cores, self.reduction).sorters());
        let senders = (sorters - 1).max(u64::from(rounds_ahead(cores)));
        transport::objection(senders, self.reorder.matching())
    }

    /// The sum of the head of `count`, with the records of a pair drawn at random, and with ACKs.
    fn load(&self, ranks: u32) -> Option<Load> {
        /// The share of short messages that request an ACK, where steps wait in software.
        const ACKS: f64 = 0.18;
        let sorters = f64::from(Layout::new(ranks, self.reduction).sorters());
        let (cores, keys) = (f64::from(ranks), f64::from(self.keys) * f64::from(ranks));
        let of_pair = keys / cores / cores;
        let records = cores * (cores - 1.0) * (of_pair + (-of_pair).exp());
        let sets = cores + sorters + sorters * sorters + sorters * cores;
        let acks = match self.reorder.matching() {
            node::Matching::Ports => 1.0,
            node::Matching::Software => ACKS,
        };
        let received = ((records + sets) * (1.0 + acks)) as u64;
        let bytes = (64.0 * cores * cores + 48.0 * keys) as u64;
        Some(Load::of_messages(received, ranks, 2 << 10).and(100 * keys as u64, bytes))
    }

    /// Each core has a splitter per core, and twice its pivots or those that its sorter holds for
    /// it; its records are on their way or have arrived. The keys are the answer, and the check
    /// sorts them again.
    fn bytes(&self, ranks: u64, _at_once: u64) -> u64 {
        let records = u64::from(self.keys) * (4 + RECORD_WORDS as u64);
        (4 * ranks + records)
            .saturating_mul(WORD_BYTES)
            .saturating_mul(ranks)
    }
}

impl MilliSort {
    pub(super) fn records(&self) -> Records {
        Records {
            each: self.keys,
            distribution: self.distribution,
            seed: self.seed,
        }
    }
}

/// How many rounds of the record shuffle a core may be ahead of another one where steps wait in the
/// NIC, and so how many cores may send one core records before it receives any.
///
/// A core ends round i when the core i before it has begun round i. So if one core stops after
/// round k, then after t more rounds the cores stop whose distance from it is a sum of some of the
/// numbers k+2 to k+t. Sums of t/2 of them cover at least t*t/4 neighbours: with t = 2 sqrt(M),
/// all cores.
fn rounds_ahead(cores: u32) -> u32 {
    let root = cores.isqrt();
    let up = root + u32::from(root * root < cores);
    (2 * up + 2).min(cores.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates who can continue while core 0 does not: a core continues while the core whose
    /// records it waits for does.
    #[test]
    fn no_core_is_further_ahead_than_the_bound() {
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
                    rounds <= rounds_ahead(cores),
                    "{cores} cores, {ended} rounds ended: {rounds}"
                );
            }
        }
    }
}
