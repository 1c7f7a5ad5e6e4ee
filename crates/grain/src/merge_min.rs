//! MergeMin: the minimum of values on many cores, merged in a tree (NanoSort, section 3.1, Figures
//! 3 and 4).
//!
//! ```text
//!   scan     each rank: the minimum of its own values
//!   merge    level by level: minima of the children; pass the least on
//! ```
//!
//! A small incast makes a deep tree, whose time is messages on their way; a large one a shallow
//! tree, whose time is one core that receives. In between is a sweet spot: 8 for 64 cores.

use clap::Args;
use node::{Node, Rank};
use serde::Serialize;

use crate::collective::Collective;
use crate::described;
use crate::local_min::{Least, scan, values};
use crate::options::{ReorderBy, count, from_0};
use crate::program::{Program, Span, Verdict, WORD_BYTES, grouped};
use crate::tree::Tree;

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
    /// Values that a core of the tree merges in one step, its own among them; 1 makes the tree a
    /// chain
    #[arg(long, value_name = "F", default_value_t = 8, value_parser = count)]
    pub incast: u32,
    /// Where messages of later steps wait
    #[arg(long, value_enum, default_value_t)]
    pub reorder: ReorderBy,
    /// Decides the values.
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
        tree.merge(&node, 0, &mut least, |least, other| {
            least[0] = least[0].min(other[0])
        })
        .await;
        Least {
            least: least[0],
            span: Span::since(begin, &node),
        }
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
        let tree = Tree::new(ranks, self.incast);
        let naive = |rank| values(self.seed, Rank(rank), self.keys).into_iter().min();
        let mut minima: Vec<u64> = (0..ranks)
            .map(|rank| naive(rank).unwrap_or(u64::MAX))
            .collect();
        let all = minima.iter().min().copied().unwrap_or(u64::MAX);
        // A rank that others hear knows the minimum of all above it, which have higher numbers.
        for rank in (0..ranks).rev() {
            if let Some((parent, _)) = tree.parent(Rank(rank)) {
                minima[parent.0 as usize] = minima[parent.0 as usize].min(minima[rank as usize]);
            }
        }
        let wrong = |(rank, answer): (usize, &Least)| {
            let expected = if rank == 0 { all } else { minima[rank] };
            let found = answer.least;
            (found != expected)
                .then(|| format!("core {rank} says {found}, and the minimum is {expected}"))
        };
        let count = u64::from(ranks) * u64::from(self.keys);
        let result = match count {
            0 => "no values".to_owned(),
            _ => format!("minimum {} of {} values", answers[0].least, grouped(count)),
        };
        Verdict::new(result, answers.iter().enumerate().find_map(wrong))
            .with_keys(answers.iter().map(|_| self.keys.into()))
            .with_spans(answers.iter().map(|answer| answer.span))
    }

    /// Each core is heard once, but for the root.
    fn messages(&self, answers: &[Least], _multicast: bool) -> Option<u64> {
        Some((answers.len() as u64).saturating_sub(1))
    }

    fn objection(&self, ranks: u32) -> Option<String> {
        Collective::objection(
            &Tree::new(ranks, self.incast).heard(2),
            self.reorder.matching(),
            1,
        )
    }

    fn bytes(&self, _ranks: u64, at_once: u64) -> u64 {
        (u64::from(self.keys) * WORD_BYTES).saturating_mul(at_once)
    }
}
