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

use node::{Matching, Node, Rank};

use crate::collective::Collective;
use crate::local_min::{Least, scan, values};
use crate::program::{Program, Span, Verdict, WORD_BYTES, grouped};
use crate::tree::Tree;

/// All ranks find the minimum of all values; rank 0 knows it. Stages: `scan`, `merge`.
#[derive(Clone, Debug)]
pub struct MergeMin {
    /// Values of each rank.
    pub keys: u32,
    /// How many values are merged at each level, the merging rank's own among them; 1 is a chain.
    pub incast: u32,
    /// Where messages of later levels wait.
    pub matching: Matching,
    /// Decides the values.
    pub seed: u64,
}

impl Default for MergeMin {
    fn default() -> MergeMin {
        MergeMin {
            keys: 128,
            incast: 8,
            matching: Matching::default(),
            seed: 1,
        }
    }
}

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
        let mut tree = Collective::new(&node, self.incast, self.matching);
        tree.merge(&node, 0, &mut least, |least, other| {
            least[0] = least[0].min(other[0])
        })
        .await;
        Least {
            least: least[0],
            span: Span::since(begin, &node),
        }
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
        Collective::objection(&Tree::new(ranks, self.incast).heard(2), self.matching, 1)
    }

    fn bytes(&self, _ranks: u64, at_once: u64) -> u64 {
        (u64::from(self.keys) * WORD_BYTES).saturating_mul(at_once)
    }
}
