//! MergeMin: the minimum of values on many cores, found in a merge tree (NanoSort, section 3.1,
//! Figures 3 and 4).
//!
//! ```text
//!   scan     each rank finds the minimum of its own values
//!   merge    level by level, it receives the minima of its children; it sends the smallest on
//! ```
//!
//! Its figure is the number of the tree's levels. With a small incast the tree is deep, and its time is that of messages on their way. With a
//! large one it is shallow, and its time is that of one receiving core. The sweet spot for 64 cores
//! is 8.

use clap::Args;
use node::{Node, Rank};
use serde::Serialize;

use crate::collective::Collective;
use crate::described;
use crate::load::Load;
use crate::local_min::{Least, least, scan, values};
use crate::options::{ReorderBy, count, from_0};
use crate::program::{Program, Span, Verdict, WORD_BYTES};
use crate::tree::Tree;
use units::grouped;

/// Find the minimum of values on all cores, merged in a tree (Figures 3 and 4).
///
/// Stages: `scan`, `merge`.
#[derive(Args, Clone, Debug, Serialize)]
pub struct MergeMin {
    /// Values of each core
    #[arg(id = "keys-per-core", long, value_name = "K")]
    #[arg(default_value_t = 128, value_parser = from_0)]
    #[serde(rename = "keys-per-core")]
    pub keys: u32,
    /// Values that a core of the tree merges at a time, its own included; 1 makes the tree a chain
    #[arg(long, value_name = "F", default_value_t = 8, value_parser = count)]
    pub incast: u32,
    /// Where early messages are buffered
    #[arg(long, value_enum, default_value_t)]
    pub reorder: ReorderBy,
    /// Seed of the values.
    #[arg(skip = 1_u64)]
    #[serde(skip)]
    pub seed: u64,
}

described! { MergeMin is "merge-min" on 64 cores; "--incast 4", "--cores 4K --switch-ns 100" }

impl Program for MergeMin {
    type Answer = Least;

    async fn run(self, node: Node) -> Least {
        if self.objection(node.nodes()).is_some() {
            return Least {
                least: u64::MAX,
                span: Span::default(),
            };
        }
        let values = values(self.seed, node.rank(), self.keys);
        let begin = node.now();
        node.stage("scan");
        let mut least = [scan(&node, &values)];
        drop(values);
        node.stage("merge");
        let mut tree = Collective::new(&node, self.incast, self.reorder.matching());
        tree.reduce(&node, 0, &mut least, |least, other| {
            least[0] = least[0].min(other[0])
        })
        .await;
        let span = Span::since(begin, &node);
        let [least] = least;
        Least { least, span }
    }

    fn reorder(&self) -> ReorderBy {
        self.reorder
    }

    fn note(&self, ranks: u32) -> Option<String> {
        Tree::note(ranks, self.incast)
    }

    fn check(&self, answers: &[Least]) -> Verdict {
        let ranks = answers.len() as u32;
        if let Some(objection) = self.objection(ranks) {
            return Verdict::refused(objection);
        }
        let minima = self.minima(ranks);
        let wrong = |(rank, answer): (usize, &Least)| answer.fault(rank, minima[rank]);
        let count = u64::from(ranks) * u64::from(self.keys);
        let result = match count {
            0 => "no values".to_owned(),
            _ => format!("minimum {} of {} values", answers[0].least, grouped(count)),
        };
        let verdict = Verdict::new(result, answers.iter().enumerate().find_map(wrong))
            .with_keys(answers.iter().map(|_| self.keys.into()))
            .with_spans(answers.iter().map(|answer| answer.span));
        Verdict {
            figure: Some(f64::from(Tree::new(ranks, self.incast).depth())),
            ..verdict
        }
    }

    /// Each core but the root sends one message.
    fn messages(&self, answers: &[Least], _multicast: bool) -> Option<u64> {
        Some((answers.len() as u64).saturating_sub(1))
    }

    fn dials(&self, ranks: u32) -> Vec<(&'static str, u32)> {
        vec![("incast", self.incast.min(ranks))]
    }

    fn objection(&self, ranks: u32) -> Option<String> {
        Collective::objection(
            &Tree::new(ranks, self.incast).most_children(2),
            self.reorder.matching(),
            1,
        )
    }

    fn load(&self, ranks: u32) -> Option<Load> {
        let keys = u64::from(self.keys) * u64::from(ranks);
        let held = u64::from(self.keys) * WORD_BYTES;
        Some(Load::of_messages(ranks.into(), ranks, 1536).and(2 * keys, held))
    }

    fn bytes(&self, _ranks: u64, at_once: u64) -> u64 {
        (u64::from(self.keys) * WORD_BYTES).saturating_mul(at_once)
    }
}

impl MergeMin {
    /// The minimum of each rank's subtree; the root's is that of all values.
    fn minima(&self, ranks: u32) -> Vec<u64> {
        let tree = Tree::new(ranks, self.incast);
        let of_rank = |rank| least(&values(self.seed, Rank(rank), self.keys));
        let mut minima: Vec<u64> = (0..ranks).map(of_rank).collect();
        let all = least(&minima);
        // Children have higher numbers than their parents.
        for rank in (1..ranks).rev() {
            if let Some((parent, _)) = tree.parent(Rank(rank)) {
                minima[parent.0 as usize] = minima[parent.0 as usize].min(minima[rank as usize]);
            }
        }
        minima.iter_mut().take(1).for_each(|root| *root = all);
        minima
    }
}
