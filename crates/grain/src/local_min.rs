//! The minimum of some values on each core, no messages (NanoSort, Figures 1 and 2).
//!
//! A core looks at its values one after the other; beyond the nearest cache it waits for memory.

use clap::Args;
use node::{Node, Random, Rank, Work};
use serde::Serialize;

use crate::described;
use crate::options::from_0;
use crate::program::{Program, Span, Verdict, WORD_BYTES, cores, grouped};

/// Find the minimum of values on each core by itself (Figure 2).
///
/// Stage: `scan`.
#[derive(Args, Clone, Debug, Serialize)]
pub struct LocalMin {
    /// Values of each core
    #[arg(id = "keys-per-core", long, value_name = "K")]
    #[arg(default_value_t = 1024, value_parser = from_0)]
    #[serde(rename = "keys-per-core")]
    pub keys: u32,
    /// Decides the values.
    #[arg(skip = 1_u64)]
    #[serde(skip)]
    pub seed: u64,
}

described! { LocalMin is "local-min" on 1 cores; "--keys-per-core 8192" }

/// The least value that a rank knows of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Least {
    /// The value; the largest number when there is none.
    pub least: u64,
    /// How long it took.
    pub span: Span,
}

impl Program for LocalMin {
    type Answer = Least;

    async fn run(self, node: Node) -> Least {
        let values = values(self.seed, node.rank(), self.keys);
        let begin = node.now();
        node.stage("scan");
        let least = scan(&node, &values);
        Least {
            least,
            span: Span::since(begin, &node),
        }
    }

    fn check(&self, answers: &[Least]) -> Verdict {
        let naive = |rank| {
            values(self.seed, Rank(rank as u32), self.keys)
                .into_iter()
                .min()
        };
        let wrong = |(rank, answer): (usize, &Least)| {
            let expected = naive(rank).unwrap_or(u64::MAX);
            let found = answer.least;
            (found != expected)
                .then(|| format!("core {rank} says {found}, and the minimum is {expected}"))
        };
        let fault = answers.iter().enumerate().find_map(wrong);
        let result = match answers.first() {
            Some(first) if self.keys > 0 => {
                let (keys, cores) = (grouped(self.keys.into()), cores(answers.len()));
                format!(
                    "minimum {} of {keys} values on core 0; {cores} checked",
                    first.least
                )
            }
            _ => "no values".to_owned(),
        };
        Verdict::new(result, fault)
            .with_keys(answers.iter().map(|_| self.keys.into()))
            .with_spans(answers.iter().map(|answer| answer.span))
    }

    fn bytes(&self, _ranks: u64, at_once: u64) -> u64 {
        (u64::from(self.keys) * WORD_BYTES).saturating_mul(at_once)
    }
}

/// The values of a rank.
pub(crate) fn values(seed: u64, rank: Rank, count: u32) -> Vec<u64> {
    let mut random = Random::stream(seed, rank.0.into());
    (0..count).map(|_| random.next_u64()).collect()
}

/// The least of some values, one after the other.
pub(crate) fn scan(node: &Node, values: &[u64]) -> u64 {
    let least = values
        .iter()
        .fold(u64::MAX, |least, value| least.min(*value));
    node.work(Work::Scan {
        words: values.len() as u64,
    });
    least
}
