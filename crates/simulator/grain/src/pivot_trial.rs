//! The evenness of buckets by the way pivots are selected, without messages (NanoSort, section 4.2
//! and Figure 5).
//!
//! Every core draws uniform keys and selects pivots. A splitting value is the exact median of the
//! pivots of all cores, so the result shows the expected bucket size of a strategy without the
//! error of a median-tree; more cores make it more precise. With an incast it is the median of
//! medians that such a tree finds, and its deviation over seeds is the tree's error.

use clap::{Args, ValueEnum};
use node::{Node, Random};
use serde::{Deserialize, Serialize};

use crate::described;
use crate::load::Load;
use crate::options::{count, from_0, from_2};
use crate::pivot_select::{Strategy, of_as_many, pivot_select};
use crate::program::{Program, Span, Verdict};
use units::counted;

/// Measure how even the buckets are that pivots define (Figure 5).
///
/// Stage: `names`.
#[derive(Args, Clone, Debug, Serialize)]
pub struct PivotTrial {
    /// Keys that each core draws
    #[arg(id = "keys-per-core", long, value_name = "K")]
    #[arg(default_value_t = 8, value_parser = from_0)]
    #[serde(rename = "keys-per-core")]
    pub keys: u32,
    /// Number of buckets
    #[arg(long, value_name = "B", default_value_t = 8, value_parser = count)]
    pub buckets: u32,
    /// The bucket whose size is reported
    #[arg(long, value_name = "I", default_value_t = 1, value_parser = count)]
    pub bucket: u32,
    /// How a core selects its pivots
    #[arg(long, value_enum, default_value_t)]
    pub naming: Selection,
    /// Pivots, or medians of them, that a node of a median-tree takes the median of; without it the
    /// median of all cores' pivots is exact
    #[arg(long, value_name = "F", value_parser = from_2)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incast: Option<u32>,
    /// The figure that is reported
    #[arg(long, value_enum, default_value_t)]
    pub figure: Shown,
    /// Seed of the keys and of the selection.
    #[arg(skip = 1_u64)]
    #[serde(skip)]
    pub seed: u64,
}

described! { PivotTrial is "pivot-select" on 4001 cores; "--naming two --bucket 4", "--incast 10 --figure border" }

/// The reported figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shown {
    /// The bucket's size, by the mean of all buckets
    #[default]
    Size,
    /// The upper border of the bucket, as the share of all keys below it
    Border,
    /// The share of cores whose own pivots make the largest bucket more than twice as large as the
    /// smallest (section 4.2)
    Uneven,
}

/// How a rank selects its pivots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Selection {
    /// PivotSelect as the paper prints it
    #[default]
    Printed,
    /// Figure 5's first strategy, for as many keys as buckets
    Naive,
    /// Figure 5's second strategy
    Two,
    /// Figure 5's third strategy
    Three,
    /// The example of section 4.2: one key fewer than buckets, and every key is a pivot
    Least,
    /// As least, but with probability 0.2 the second key is the first pivot
    #[value(name = "second-0.2")]
    #[serde(rename = "second-0.2")]
    Second20,
    /// As least, but with probability 0.29 the second key is the first pivot
    #[value(name = "second-0.29")]
    #[serde(rename = "second-0.29")]
    Second29,
}

impl Selection {
    /// The strategy of Figure 5, if it is one.
    fn strategy(self) -> Option<Strategy> {
        match self {
            Selection::Naive => Some(Strategy::Naive),
            Selection::Two => Some(Strategy::Two),
            Selection::Three => Some(Strategy::Three),
            _ => None,
        }
    }

    /// The probability that the second key is the first pivot.
    fn probability_of_second(self) -> f64 {
        match self {
            Selection::Second20 => 0.2,
            Selection::Second29 => 0.29,
            _ => 0.0,
        }
    }
}

/// The pivots of one rank, as quantiles of all keys in parts of 2^64.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Pivots {
    /// One fewer than there are buckets, in order.
    pub pivots: Vec<u64>,
    /// Begin and end by its own clock.
    pub span: Span,
}

impl Program for PivotTrial {
    type Answer = Pivots;

    async fn run(self, node: Node) -> Pivots {
        let begin = node.now();
        node.stage("names");
        if self.objection(node.nodes()).is_some() {
            return Pivots::default();
        }
        let mut random = Random::stream(self.seed, node.rank().0.into());
        let mut keys: Vec<u64> = (0..self.keys).map(|_| random.next_u64()).collect();
        keys.sort_unstable();
        let positions = self.positions(&mut random);
        let pivots = positions.into_iter().map(|at| keys[at]).collect();
        let span = Span::since(begin, &node);
        Pivots { pivots, span }
    }

    fn check(&self, answers: &[Pivots]) -> Verdict {
        if let Some(objection) = self.objection(answers.len() as u32) {
            return Verdict::refused(objection);
        }
        let unordered = answers.iter().position(|rank| !rank.pivots.is_sorted());
        let fault = unordered.map(|core| format!("core {core} has pivots out of order"));
        let end = |bucket: u32| match bucket {
            0 => 0.0,
            last if last == self.buckets => 1.0,
            bucket => self.splitting_value(answers, bucket as usize - 1),
        };
        let (bucket, buckets, by) = (
            self.bucket,
            self.buckets,
            counted(answers.len() as u64, "core"),
        );
        let (figure, result) = match self.figure {
            Shown::Size => {
                let size = (end(bucket) - end(bucket - 1)) * f64::from(buckets);
                let told =
                    format!("bucket {bucket} of {buckets} is {size:.3} of the mean, by {by}");
                (size, told)
            }
            Shown::Border => {
                let border = end(bucket);
                let told = format!("bucket {bucket} of {buckets} ends at {border:.4}, by {by}");
                (border, told)
            }
            Shown::Uneven => {
                let uneven = answers.iter().filter(|rank| rank.is_uneven()).count();
                let share = uneven as f64 / answers.len().max(1) as f64;
                (
                    share,
                    format!("the pivots of {share:.3} of {by} are uneven"),
                )
            }
        };
        let verdict = Verdict::new(result, fault).with_spans(answers.iter().map(|rank| rank.span));
        Verdict {
            figure: Some(figure),
            ..verdict
        }
    }

    fn objection(&self, _ranks: u32) -> Option<String> {
        let PivotTrial {
            keys,
            buckets,
            bucket,
            ..
        } = *self;
        let needed = match self.naming {
            Selection::Printed => (keys == 0).then_some(1),
            Selection::Naive | Selection::Two | Selection::Three => {
                (keys != buckets).then_some(buckets)
            }
            Selection::Least | Selection::Second20 | Selection::Second29 => {
                (keys + 1 != buckets).then(|| buckets.saturating_sub(1))
            }
        };
        let no_bucket = (!(1..=buckets).contains(&bucket))
            .then(|| format!("there is no bucket {bucket}: they are 1 to {buckets}"));
        let few = (buckets < 2).then(|| format!("keys go to 2 buckets or more, not {buckets}"));
        let keys = needed.map(|needed| {
            format!("for {buckets} buckets this selection needs {needed} keys per core, not {keys}")
        });
        few.or(no_bucket).or(keys)
    }

    fn messages(&self, _answers: &[Pivots], _multicast: bool) -> Option<u64> {
        Some(0)
    }

    fn load(&self, ranks: u32) -> Option<Load> {
        let keys = u64::from(self.keys) * u64::from(ranks);
        let held = Program::bytes(self, ranks.into(), 1);
        Some(Load::of_messages(0, ranks, 1 << 10).and(40 * keys, held))
    }

    fn bytes(&self, ranks: u64, _at_once: u64) -> u64 {
        u64::from(self.buckets)
            .saturating_mul(8)
            .saturating_mul(ranks)
    }
}

impl PivotTrial {
    /// The median of the pivots of this number, or that of a median-tree, as a quantile of all keys.
    ///
    /// In the tree a coin chooses between the middle two of an even number, as NanoSort's does.
    fn splitting_value(&self, answers: &[Pivots], number: usize) -> f64 {
        let mut pivots: Vec<u64> = answers.iter().map(|rank| rank.pivots[number]).collect();
        let Some(incast) = self.incast else {
            return median(&mut pivots, false) as f64 / u64::MAX as f64;
        };
        // No rank draws from this stream.
        let mut random = Random::stream(self.seed, 1 << 32 | number as u64);
        while pivots.len() > 1 {
            let groups = pivots.chunks_mut(incast as usize);
            let medians = groups.map(|keys| median(keys, random.next_u64() & 1 == 1));
            pivots = medians.collect();
        }
        pivots[0] as f64 / u64::MAX as f64
    }

    /// The positions of the pivots in the sorted keys.
    fn positions(&self, random: &mut Random) -> Vec<usize> {
        let (buckets, keys) = (self.buckets as usize, self.keys as usize);
        let mut next = || random.next_u64();
        match (self.naming, self.naming.strategy()) {
            (Selection::Printed, _) => {
                pivot_select(buckets, keys, 2 * buckets, next).unwrap_or_default()
            }
            (_, Some(strategy)) => of_as_many(strategy, buckets, &mut next),
            (selection, None) => {
                let is_second =
                    (next() as f64) < selection.probability_of_second() * u64::MAX as f64;
                let first = usize::from(is_second && keys > 1);
                std::iter::once(first).chain(1..keys).collect()
            }
        }
    }
}

impl Pivots {
    /// Whether the largest bucket has more than twice as many keys as the smallest.
    fn is_uneven(&self) -> bool {
        let ends = self.pivots.iter().copied().chain([u64::MAX]);
        let begins = [0].into_iter().chain(self.pivots.iter().copied());
        let sizes = ends
            .zip(begins)
            .map(|(end, begin)| end.saturating_sub(begin));
        let least = sizes.clone().min().unwrap_or(0);
        sizes.max().unwrap_or(0) - least > least
    }
}

/// The median of some keys; of an even number the upper of the middle two, or the lower.
fn median(keys: &mut [u64], takes_lower: bool) -> u64 {
    let middle = keys.len().saturating_sub(usize::from(takes_lower)) / 2;
    *keys.select_nth_unstable(middle).1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes of all buckets, from the pivots of many ranks.
    fn sizes(keys: u32, buckets: u32, naming: Selection) -> Vec<f64> {
        const RANKS: u64 = 40_001;
        let trial = PivotTrial {
            keys,
            buckets,
            naming,
            ..PivotTrial::default()
        };
        let answers = (0..RANKS).map(|rank| {
            let mut random = Random::stream(7, rank);
            let mut keys: Vec<u64> = (0..keys).map(|_| random.next_u64()).collect();
            keys.sort_unstable();
            let positions = trial.positions(&mut random).into_iter();
            let pivots = positions.map(|at| keys[at]).collect();
            Pivots {
                pivots,
                span: Span::default(),
            }
        });
        let answers: Vec<_> = answers.collect();
        let size = |bucket| {
            PivotTrial {
                bucket,
                ..trial.clone()
            }
            .check(&answers)
            .figure
            .unwrap()
        };
        (1..=buckets).map(size).collect()
    }

    /// The sizes of 8 buckets by strategy. The expected sizes are exact medians of mixtures of
    /// order statistics (sums of binomials).
    #[test]
    fn figure_5_has_its_shape() {
        let cases = [
            (Selection::Naive, [0.754, 1.074, 1.085, 1.087]),
            (Selection::Two, [1.104, 0.970, 0.964, 0.962]),
            (Selection::Three, [1.008, 1.003, 0.995, 0.994]),
        ];
        for (naming, half) in cases {
            for (at, size) in sizes(8, 8, naming).into_iter().enumerate() {
                let expected = half[at.min(7 - at)];
                assert!(
                    (size - expected).abs() < 0.025,
                    "{naming:?} {at}: {size} {expected}"
                );
            }
        }
    }

    /// Section 4.2: the smallest of nine keys has its median at 7.41 % of all keys. The text's
    /// remedy, the second key with probability 0.2, gives 9.10 % and not 10; 0.29 would.
    #[test]
    fn the_remedy_of_the_text_falls_short() {
        let cases = [
            (Selection::Least, 0.741),
            (Selection::Second20, 0.910),
            (Selection::Second29, 1.0),
        ];
        for (naming, expected) in cases {
            let size = sizes(9, 10, naming)[0];
            assert!(
                (size - expected).abs() < 0.02,
                "{naming:?}: {size} {expected}"
            );
        }
    }

    /// A trial with the pivots of some ranks, one each.
    fn border(pivots: &[u64], incast: Option<u32>, seed: u64) -> f64 {
        let trial = PivotTrial {
            keys: 1,
            buckets: 2,
            naming: Selection::Least,
            figure: Shown::Border,
            incast,
            seed,
            ..PivotTrial::default()
        };
        let answers = pivots.iter().map(|pivot| Pivots {
            pivots: vec![*pivot << 32],
            span: Span::default(),
        });
        let answers: Vec<_> = answers.collect();
        trial.check(&answers).figure.unwrap() * 2_f64.powi(32)
    }

    /// The median of all is 7. Sets of three have the medians 2, 5 and 8, or 2, 8 and 7.
    #[test]
    fn a_median_tree_takes_medians_of_sets() {
        let sets = [1, 2, 30, 4, 5, 60, 7, 8, 9];
        let other = [1, 2, 9, 4, 8, 60, 5, 7, 30];
        for (pivots, exact, tree) in [(sets, 7.0, 5.0), (other, 7.0, 7.0)] {
            assert_eq!(border(&pivots, None, 1).round(), exact);
            assert_eq!(border(&pivots, Some(3), 1).round(), tree);
            assert_eq!(border(&pivots, Some(9), 1).round(), exact, "one set of all");
        }
        let of_two = (1..20).map(|seed| border(&[10, 20], Some(2), seed).round());
        let found: std::collections::BTreeSet<u64> = of_two.map(|found| found as u64).collect();
        assert_eq!(Vec::from_iter(found), [10, 20], "a coin chooses");
    }

    #[test]
    fn uneven_pivots_make_one_bucket_more_than_twice_another() {
        let part = |parts: u64| u64::MAX / 100 * parts;
        let of = |pivots: &[u64]| {
            let pivots = pivots.iter().map(|parts| part(*parts)).collect();
            let span = Span::default();
            Pivots { pivots, span }.is_uneven()
        };
        assert!(!of(&[33, 66]));
        assert!(!of(&[26, 51]), "49 to 25");
        assert!(of(&[26, 50]), "50 to 24");
        assert!(of(&[0, 50]));
    }

    /// For any numbers of buckets and keys, no bucket is much larger than the mean.
    #[test]
    fn buckets_are_even() {
        for buckets in [3, 4, 8, 16, 32] {
            for keys in [buckets, buckets + buckets / 2, 2 * buckets, 3 * buckets] {
                let sizes = sizes(keys, buckets, Selection::Printed);
                let most = sizes.iter().copied().fold(0.0, f64::max);
                assert!(most < 1.075, "{buckets} buckets of {keys} keys: {sizes:?}");
            }
        }
    }

    #[test]
    fn impossible_selections_are_refused() {
        let objection = |trial: PivotTrial| trial.objection(5).unwrap_or_default();
        let of = |naming, keys| PivotTrial {
            naming,
            keys,
            ..PivotTrial::default()
        };
        assert!(objection(of(Selection::Two, 9)).contains("needs 8 keys per core, not 9"));
        assert!(objection(of(Selection::Second20, 8)).contains("needs 7 keys per core, not 8"));
        assert!(objection(of(Selection::Printed, 0)).contains("not 0"));
        assert!(
            objection(PivotTrial {
                bucket: 9,
                ..PivotTrial::default()
            })
            .contains("1 to 8")
        );
        assert_eq!(objection(PivotTrial::default()), "");
    }
}
