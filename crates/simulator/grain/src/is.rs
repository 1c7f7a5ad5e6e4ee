//! IS, the integer sort of the NAS Parallel Benchmarks (docs/papers/now.md): ranks keys by buckets, ten times.
//!
//! Rank `r` of `P` generates its part of the class's keys, ranks all keys once untimed and ten times timed, and
//! tests five keys in each ranking against published ranks. At last each rank puts its keys in order.

mod class;
mod ranking;

pub use class::Class;

use clap::Args;
use node::Node;
use serde::{Deserialize, Serialize};

use crate::described;
use crate::load::Load;
use crate::program::{Program, Span, Timing, Verdict};
use class::{Facts, TESTED};
use ranking::{Ranker, messages};
use units::grouped;

/// Timed rankings.
const ITERATIONS: u32 = 10;

/// Rank integer keys, as IS of the NAS Parallel Benchmarks does.
///
/// Stages: `count`, `sum`, `exchange`, `rank`, `verify`.
#[derive(Args, Clone, Debug, Serialize)]
pub struct Is {
    /// Size of the problem
    #[arg(long, value_enum, ignore_case = true, default_value_t)]
    pub class: Class,
    /// Decides nothing: the keys are the benchmark's.
    #[arg(skip = 1_u64)]
    #[serde(skip)]
    pub seed: u64,
}

described! { Is is "is" on 16 cores; "--cores 64", "--class W --machine threads --cores 2" }

/// A tested key with another rank than the published one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Misplaced {
    /// The iteration, from 1.
    pub iteration: u32,
    /// The key's number among the tested ones, from 0.
    pub number: usize,
    /// Its rank.
    pub rank: u32,
}

/// One rank's part of the sorted keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ranked {
    /// Tested keys that had their published rank here.
    pub passes: u32,
    /// The first one that had not.
    pub misplaced: Option<Misplaced>,
    /// The number of keys.
    pub keys: u64,
    /// The least and the greatest key, if there is one.
    pub ends: Option<(u32, u32)>,
    /// Whether they are in order.
    pub in_order: bool,
    /// The sum of the keys that this rank began the last iteration with, and that it has now.
    pub sums: [u64; 2],
    /// Messages of keys that it sent.
    pub pieces: u64,
    /// Seconds of the ten rankings.
    pub seconds: f64,
    /// Begin and end of the ten rankings by its own clock.
    pub span: Span,
}

impl Program for Is {
    type Answer = Ranked;

    async fn run(self, node: Node) -> Ranked {
        if self.objection(node.nodes()).is_some() {
            return Ranked::default();
        }
        let facts = self.class.facts();
        let mut ranker = Ranker::new(&node, facts);
        ranker.rank(&node, 1).await;
        let mut ranked = Ranked::default();
        let begin = node.now();
        for iteration in 1..=ITERATIONS {
            let tested = ranker.rank(&node, iteration).await;
            let rank_of = |key| ranker.ranking.of(key);
            ranked.test(facts, iteration, tested.map(rank_of));
        }
        ranked.span = Span::since(begin, &node);
        ranked.seconds = node.seconds(ranked.span.end.since(begin));
        node.stage("verify");
        let sum = |keys: &[u32]| keys.iter().map(|key| u64::from(*key)).sum();
        let sorted = ranker.ranking.sorted(&node);
        ranked.sums = [sum(&ranker.keys), sum(&sorted)];
        ranked.pieces = ranker.pieces;
        ranked.end_with(&sorted);
        ranked
    }

    fn check(&self, answers: &[Ranked]) -> Verdict {
        if let Some(objection) = self.objection(answers.len() as u32) {
            return Verdict::refused(objection);
        }
        let facts = self.class.facts();
        let fault = self.fault(answers);
        let passes = answers.iter().map(Ranked::passes).sum::<u32>();
        let slowest = answers.iter().map(|answer| answer.seconds);
        let seconds = slowest.fold(f64::MIN_POSITIVE, f64::max);
        let mops = f64::from(ITERATIONS * facts.keys()) / seconds / 1e6;
        let result = format!(
            "{} keys, {passes} of {} tests passed, {mops:.1} Mop/s",
            grouped(facts.keys().into()),
            Is::tests(answers.len() as u32)
        );
        let verdict = Verdict::new(result, fault)
            .with_keys(answers.iter().map(|answer| answer.keys))
            .with_spans(answers.iter().map(|answer| answer.span));
        Verdict {
            sorted: Some(unsorted(answers).is_none()),
            figure: Some(mops),
            ..verdict
        }
    }

    fn messages(&self, answers: &[Ranked], multicast: bool) -> Option<u64> {
        let each = messages(self.class.facts(), answers.len() as u64, multicast);
        let pieces = answers.iter().map(|answer| answer.pieces);
        Some(u64::from(ITERATIONS + 1) * each + pieces.sum::<u64>())
    }

    fn timing(&self) -> Timing {
        Timing::Part {
            of: "the ten rankings",
        }
    }

    fn objection(&self, ranks: u32) -> Option<String> {
        let facts = self.class.facts();
        let most = facts.buckets() as u32;
        let fits = ranks.is_power_of_two() && ranks <= most;
        (!fits).then(|| {
            format!(
                "class {:?} needs a power of two of cores, at most {most}, not {ranks}",
                self.class
            )
        })
    }

    /// About half a message of sums and a count from each rank, and the keys.
    fn load(&self, ranks: u32) -> Option<Load> {
        let (keys, others) = (u64::from(self.class.facts().keys()), u64::from(ranks) - 1);
        let each = messages(self.class.facts(), ranks.into(), false) + keys / 510 + others;
        let rounds = u64::from(ITERATIONS + 1);
        let load = Load::of_messages(rounds * each, ranks, 32 << 10);
        Some(load.and(rounds * 8 * keys, Program::bytes(self, ranks.into(), 1)))
    }

    /// Keys, by bucket, as received, sorted, and on their way; and counts.
    fn bytes(&self, _ranks: u64, _at_once: u64) -> u64 {
        let facts = self.class.facts();
        4 * (5 * u64::from(facts.keys()) + u64::from(facts.bound()))
    }
}

impl Is {
    /// Tests of a run: of each iteration's tested keys, and of the order at each rank.
    fn tests(ranks: u32) -> u32 {
        TESTED as u32 * ITERATIONS + ranks
    }

    fn fault(&self, answers: &[Ranked]) -> Option<String> {
        let facts = self.class.facts();
        if let Some(missed) = answers.iter().find_map(|answer| answer.misplaced) {
            let Misplaced {
                iteration,
                number,
                rank,
            } = missed;
            let expected = facts.expected(number, iteration);
            return Some(format!(
                "in iteration {iteration} test key {number} has rank {rank}, not {expected}"
            ));
        }
        let (found, all) = (
            answers.iter().map(Ranked::passes).sum::<u32>(),
            Is::tests(answers.len() as u32),
        );
        let sum = |at: usize| answers.iter().map(|answer| answer.sums[at]).sum::<u64>();
        let keys = answers.iter().map(|answer| answer.keys).sum::<u64>();
        let few = (found != all).then(|| format!("{found} tests passed of {all}"));
        let other = keys != u64::from(facts.keys()) || sum(0) != sum(1);
        unsorted(answers)
            .or_else(|| other.then(|| "the sorted keys are not the keys of the begin".to_owned()))
            .or(few)
    }
}

/// The first place where the keys are not in order.
fn unsorted(answers: &[Ranked]) -> Option<String> {
    let mut greatest = 0;
    for (rank, answer) in answers.iter().enumerate() {
        let (least, last) = answer.ends.unwrap_or((greatest, greatest));
        if !answer.in_order || least < greatest {
            return Some(format!("the keys of core {rank} are not in order"));
        }
        greatest = last;
    }
    None
}

impl Ranked {
    /// Notes the ranks of the tested keys that are here.
    fn test(&mut self, facts: &Facts, iteration: u32, ranks: [Option<u32>; TESTED]) {
        for (number, rank) in ranks.into_iter().enumerate() {
            let Some(rank) = rank else { continue };
            if rank == facts.expected(number, iteration) {
                self.passes += 1;
            } else {
                self.misplaced.get_or_insert(Misplaced {
                    iteration,
                    number,
                    rank,
                });
            }
        }
    }

    fn end_with(&mut self, sorted: &[u32]) {
        self.keys = sorted.len() as u64;
        self.ends = sorted.first().copied().zip(sorted.last().copied());
        self.in_order = sorted.is_sorted();
    }

    /// Tests that this rank passed, with that of its order.
    fn passes(&self) -> u32 {
        self.passes + u32::from(self.in_order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::Driver;

    /// The parts of two ranks after the first ranking, of keys that `change` has changed on rank 1.
    fn ranked(change: fn(&mut [u32])) -> Vec<Ranked> {
        let run = move |node: Node| async move {
            let facts = Class::S.facts();
            let mut ranker = Ranker::new(&node, facts);
            if node.rank().0 == 1 {
                change(&mut ranker.keys);
            }
            let tested = ranker.rank(&node, 1).await;
            let mut ranked = Ranked::default();
            ranked.test(facts, 1, tested.map(|key| ranker.ranking.of(key)));
            ranked.end_with(&ranker.ranking.sorted(&node));
            ranked
        };
        Driver::new(1, 2).run(run).unwrap()
    }

    #[test]
    fn a_changed_key_has_a_rank_that_is_not_published() {
        let right = ranked(|_| {});
        assert_eq!(right.iter().map(|part| part.passes).sum::<u32>(), 5);
        assert_eq!(unsorted(&right), None);
        // One key less or more below a tested key, far from it; and a tested key itself.
        let changes: [fn(&mut [u32]); 3] = [
            |keys| *keys.iter_mut().find(|key| **key > 1000).unwrap() = 0,
            |keys| *keys.iter_mut().find(|key| **key < 1000).unwrap() = 2047,
            |keys| keys[48_427 - (1 << 15)] += 500,
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let wrong = ranked(change);
            let misplaced = wrong.iter().find_map(|part| part.misplaced);
            assert!(misplaced.is_some(), "change {number}");
            let told = Is::default().fault(&wrong).unwrap();
            assert!(told.starts_with("in iteration 1 test key "), "{told}");
            assert_eq!(unsorted(&wrong), None);
        }
    }

    #[test]
    fn keys_out_of_order_are_found_on_a_rank_and_between_two() {
        let part = |keys: &[u32]| {
            let mut ranked = Ranked::default();
            ranked.end_with(keys);
            ranked
        };
        let of = |parts: [&[u32]; 3]| unsorted(&parts.map(part));
        assert_eq!(of([&[1, 2], &[], &[2, 3]]), None);
        assert!(of([&[1, 2], &[3, 2], &[4]]).unwrap().contains("core 1"));
        assert!(of([&[1, 4], &[], &[3, 5]]).unwrap().contains("core 2"));
    }
}
