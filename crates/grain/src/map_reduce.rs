//! MapReduce over a stream: counts of words, round after round (NanoSort, section 3.2).
//!
//! ```text
//!   map      each rank, alone: its slice of the round's text > counts of a few buckets
//!   reduce   level by level up a tree: add what the children counted; the root has the round's sum
//! ```
//!
//! Rounds follow each other without a barrier: a rank maps its next slice while the last one's
//! counts are still on their way, and the root has its sums in order. Nobody waits for the root,
//! but a child that is some rounds ahead waits for its parent, which must keep what it sends: so
//! many that the parent's receive queue never fills.

use clap::Args;
use node::{Node, Random, Rank, Work};
use serde::Serialize;

use crate::collective::{Collective, Window};
use crate::described;
use crate::options::{ReorderBy, count, from_0};
use crate::program::{Program, Span, Verdict, WORD_BYTES, grouped};
use crate::tree::Tree;

/// Words of a language are numbered; the lower the number, the more frequent.
const LANGUAGE: usize = 1 << 16;

/// Count words on all cores, reduce the counts in a tree, round after round.
///
/// Stages: `map`, `reduce`.
#[derive(Args, Clone, Debug, Serialize)]
pub struct MapReduce {
    /// Words that each core counts in a round
    #[arg(id = "keys-per-core", long, value_name = "K")]
    #[arg(default_value_t = 64, value_parser = from_0)]
    #[serde(rename = "keys-per-core")]
    pub words: u32,
    /// Values that a core of the tree merges in one step, its own among them; 1 makes the tree a
    /// chain
    #[arg(long, value_name = "F", default_value_t = 8, value_parser = count)]
    pub incast: u32,
    /// Rounds of input
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = count)]
    pub rounds: u32,
    /// Where messages of later steps wait
    #[arg(long, value_enum, default_value_t)]
    pub reorder: ReorderBy,
    /// Counts that are kept: 1 to 255, as one message carries them.
    #[arg(skip = 8_u32)]
    #[serde(skip)]
    pub buckets: u32,
    /// Decides the text.
    #[arg(skip = 1_u64)]
    #[serde(skip)]
    pub seed: u64,
}

described! { MapReduce is "map-reduce" on 64 cores; "--rounds 16 --reorder nic" }

/// What one rank gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// The counts of each round, one after the other; on rank 0 alone.
    pub counts: Vec<u64>,
    /// How long it took.
    pub span: Span,
}

impl Program for MapReduce {
    type Answer = Counted;

    async fn run(self, node: Node) -> Counted {
        if self.objection(node.nodes()).is_some() {
            return Counted::default();
        }
        let begin = node.now();
        let window = Window::new(
            self.tree(node.nodes()),
            self.reorder.matching(),
            self.buckets,
        );
        let mut collective = Collective::new(&node, self.incast, self.reorder.matching());
        let mut counts = vec![0; self.buckets as usize];
        let mut all = Vec::new();
        for round in 0..self.rounds {
            if window.waits(round) {
                collective.wait_for_leave(&node, round).await;
            }
            if let Some(next) = window.leave(round).filter(|next| *next < self.rounds) {
                collective.allow(&node, next).await;
            }
            node.stage("map");
            self.map(round, node.rank(), &mut counts);
            node.work(Work::Scan {
                words: self.words.into(),
            });
            node.stage("reduce");
            collective.merge(&node, round, &mut counts, add).await;
            if node.rank() == Rank(0) {
                all.extend_from_slice(&counts);
            }
        }
        Counted {
            counts: all,
            span: Span::since(begin, &node),
        }
    }

    fn reorder(&self) -> ReorderBy {
        self.reorder
    }

    fn note(&self, ranks: u32) -> Option<String> {
        Tree::note(ranks, self.incast)
    }

    fn check(&self, answers: &[Counted]) -> Verdict {
        if let Some(objection) = self.objection(answers.len() as u32) {
            return Verdict::refused(objection);
        }
        let Some(root) = answers.first() else {
            return Verdict::refused("there are no cores".to_owned());
        };
        let naive = self.naive(answers.len() as u32);
        let at = naive
            .iter()
            .zip(&root.counts)
            .position(|(expected, count)| expected != count);
        let fault = match at {
            _ if naive.len() != root.counts.len() => Some(format!(
                "{} counts came of {}",
                root.counts.len(),
                naive.len()
            )),
            Some(at) => {
                let (round, bucket) = (at / self.buckets as usize, at % self.buckets as usize);
                let (count, expected) = (root.counts[at], naive[at]);
                Some(format!(
                    "round {round} has {count} in bucket {bucket}, and it is {expected}"
                ))
            }
            None => None,
        };
        let words = grouped(root.counts.iter().sum());
        let result = format!("{words} words counted in {} rounds", self.rounds);
        Verdict::new(result, fault).with_spans(answers.iter().map(|answer| answer.span))
    }

    fn objection(&self, ranks: u32) -> Option<String> {
        let most = node::MESSAGE_WORDS as u32 - 1;
        if !(1..=most).contains(&self.buckets) {
            return Some(format!(
                "a message carries 1 to {most} counts, not {}",
                self.buckets
            ));
        }
        Collective::objection(
            &self.tree(ranks).heard(2),
            self.reorder.matching(),
            self.buckets,
        )
    }

    /// The check holds a slice of the text, and the counts of all rounds beside the answer's.
    fn bytes(&self, _ranks: u64, _at_once: u64) -> u64 {
        let counts = 2 * u64::from(self.rounds) * u64::from(self.buckets);
        (u64::from(self.words) + counts).saturating_mul(WORD_BYTES)
    }
}

impl MapReduce {
    fn tree(&self, ranks: u32) -> Tree {
        Tree::new(ranks, self.incast)
    }

    /// The words of a rank's slice of a round: of two draws the lower, so low numbers are frequent.
    fn text(&self, round: u32, rank: Rank) -> impl Iterator<Item = u64> + use<> {
        let slice = (u64::from(round) << 32) | u64::from(rank.0);
        let mut random = Random::stream(self.seed, slice);
        (0..self.words).map(move |_| random.below(LANGUAGE).min(random.below(LANGUAGE)) as u64)
    }

    /// Counts the slice's words by bucket.
    fn map(&self, round: u32, rank: Rank, counts: &mut [u64]) {
        counts.fill(0);
        for word in self.text(round, rank) {
            counts[(word % u64::from(self.buckets)) as usize] += 1;
        }
    }

    /// Counts bucket after bucket in each slice of each round's text.
    fn naive(&self, ranks: u32) -> Vec<u64> {
        let mut all = Vec::new();
        let mut slice = Vec::new();
        for round in 0..self.rounds {
            let mut counts = vec![0; self.buckets as usize];
            for rank in (0..ranks).map(Rank) {
                slice.clear();
                slice.extend(
                    self.text(round, rank)
                        .map(|word| word % u64::from(self.buckets)),
                );
                for (bucket, count) in (0..).zip(&mut counts) {
                    *count += slice.iter().filter(|word| **word == bucket).count() as u64;
                }
            }
            all.append(&mut counts);
        }
        all
    }
}

fn add(counts: &mut [u64], others: &[u64]) {
    counts
        .iter_mut()
        .zip(others)
        .for_each(|(count, other)| *count += other);
}
