//! MapReduce over a stream: word counts, round after round (NanoSort, section 3.2).
//!
//! ```text
//!   map      each rank counts the words of its slice of the round's text in a few buckets
//!   reduce   up a tree, level by level, ranks add the counts of their children
//! ```
//!
//! There is no barrier between rounds: a rank maps its next slice while the counts of the last one
//! are on their way, and the root receives the sums in order. A child that gets some rounds ahead
//! waits for its parent, so that the parent's receive queue never fills.

use clap::Args;
use node::{Node, Random, Rank};
use serde::{Deserialize, Serialize};

use crate::collective::{Collective, Window};
use crate::described;
use crate::load::Load;
use crate::options::{ReorderBy, count, from_0};
use crate::program::{Program, Span, Verdict, WORD_BYTES};
use crate::tree::Tree;
use crate::work;
use units::grouped;

/// Number of different words; words with lower numbers are more frequent.
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
    /// Values that a core of the tree merges at a time, its own included; 1 makes the tree a chain
    #[arg(long, value_name = "F", default_value_t = 8, value_parser = count)]
    pub incast: u32,
    /// Number of rounds
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = count)]
    pub rounds: u32,
    /// Where early messages are buffered
    #[arg(long, value_enum, default_value_t)]
    pub reorder: ReorderBy,
    /// Number of counts, 1 to 255: one message carries them.
    #[arg(skip = 8_u32)]
    #[serde(skip)]
    pub buckets: u32,
    /// Seed of the text.
    #[arg(skip = 1_u64)]
    #[serde(skip)]
    pub seed: u64,
}

described! { MapReduce is "map-reduce" on 64 cores; "--rounds 16 --reorder nic" }

/// The answer of one rank.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// The counts of all rounds, one round after the other; empty on all ranks but 0.
    pub counts: Vec<u64>,
    /// Begin and end by its own clock.
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
                collective.wait_for_permission(&node, round).await;
            }
            if let Some(next) = window.allows(round).filter(|next| *next < self.rounds) {
                collective.allow(&node, next).await;
            }
            node.stage("map");
            self.map(round, node.rank(), &mut counts);
            work::scan(&node, self.words as usize);
            node.stage("reduce");
            collective.reduce(&node, round, &mut counts, add).await;
            if node.rank() == Rank(0) {
                all.extend_from_slice(&counts);
            }
        }
        let span = Span::since(begin, &node);
        Counted { counts: all, span }
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
        let fault = self.fault(root, &self.naive(answers.len() as u32));
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
            &self.tree(ranks).most_children(2),
            self.reorder.matching(),
            self.buckets,
        )
    }

    fn load(&self, ranks: u32) -> Option<Load> {
        let (rounds, ranks_64) = (u64::from(self.rounds), u64::from(ranks));
        let words = u64::from(self.words) * rounds * ranks_64;
        let held = Program::bytes(self, ranks_64, 1);
        Some(Load::of_messages(rounds * ranks_64, ranks, 4 << 10).and(2 * words, held))
    }

    /// The check holds a slice of the text, and as many counts as the answer.
    fn bytes(&self, _ranks: u64, _at_once: u64) -> u64 {
        let counts = 2 * u64::from(self.rounds) * u64::from(self.buckets);
        (u64::from(self.words) + counts).saturating_mul(WORD_BYTES)
    }
}

impl MapReduce {
    fn tree(&self, ranks: u32) -> Tree {
        Tree::new(ranks, self.incast)
    }

    /// The words of a rank's slice of a round. The lower of two draws makes low numbers frequent.
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

    fn fault(&self, root: &Counted, naive: &[u64]) -> Option<String> {
        let (found, expected) = (root.counts.len(), naive.len());
        if found != expected {
            return Some(format!("core 0 has {found} counts, not {expected}"));
        }
        let at = (0..found).find(|at| root.counts[*at] != naive[*at])?;
        let (round, bucket) = (at / self.buckets as usize, at % self.buckets as usize);
        let (count, expected) = (root.counts[at], naive[at]);
        Some(format!(
            "round {round} has {count} words in bucket {bucket}, not {expected}"
        ))
    }

    /// The counts of all rounds, one bucket after the other.
    fn naive(&self, ranks: u32) -> Vec<u64> {
        let buckets = u64::from(self.buckets);
        let mut all = Vec::new();
        for round in 0..self.rounds {
            let mut counts = vec![0; self.buckets as usize];
            for rank in (0..ranks).map(Rank) {
                let slice: Vec<u64> = self.text(round, rank).map(|word| word % buckets).collect();
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
