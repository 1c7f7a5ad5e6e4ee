//! The minimum of values on each core, without messages (NanoSort, Figures 1 and 2).
//!
//! A core reads its values one after the other; beyond the nearest cache it waits for memory.

use clap::Args;
use node::{Node, Random, Rank};
use serde::{Deserialize, Serialize};

use crate::described;
use crate::load::Load;
use crate::options::from_0;
use crate::program::{Program, Span, Verdict, WORD_BYTES};
use crate::work;
use units::{counted, grouped};

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
    /// Seed of the values.
    #[arg(skip = 1_u64)]
    #[serde(skip)]
    pub seed: u64,
}

described! { LocalMin is "local-min" on 1 cores; "--keys-per-core 8192" }

/// The smallest value that a rank knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Least {
    /// The value; `u64::MAX` without values.
    pub least: u64,
    /// Begin and end by its own clock.
    pub span: Span,
}

impl Program for LocalMin {
    type Answer = Least;

    async fn run(self, node: Node) -> Least {
        let values = values(self.seed, node.rank(), self.keys);
        let begin = node.now();
        node.stage("scan");
        let least = scan(&node, &values);
        let span = Span::since(begin, &node);
        Least { least, span }
    }

    fn check(&self, answers: &[Least]) -> Verdict {
        let wrong = |(rank, answer): (usize, &Least)| {
            let values = values(self.seed, Rank(rank as u32), self.keys);
            answer.fault(rank, least(&values))
        };
        let fault = answers.iter().enumerate().find_map(wrong);
        let result = match answers.first() {
            Some(first) if self.keys > 0 => {
                let (keys, cores) = (
                    grouped(self.keys.into()),
                    counted(answers.len() as u64, "core"),
                );
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

    fn load(&self, ranks: u32) -> Option<Load> {
        let keys = u64::from(self.keys) * u64::from(ranks);
        let held = u64::from(self.keys) * WORD_BYTES;
        Some(Load::of_messages(0, ranks, 1536).and(2 * keys, held))
    }

    fn bytes(&self, _ranks: u64, at_once: u64) -> u64 {
        (u64::from(self.keys) * WORD_BYTES).saturating_mul(at_once)
    }
}

impl Least {
    /// How the answer of a rank differs from the expected minimum.
    pub(crate) fn fault(&self, rank: usize, expected: u64) -> Option<String> {
        let found = self.least;
        (found != expected)
            .then(|| format!("core {rank} found {found}, and the minimum is {expected}"))
    }
}

/// The values of a rank.
pub(crate) fn values(seed: u64, rank: Rank, count: u32) -> Vec<u64> {
    let mut random = Random::stream(seed, rank.0.into());
    (0..count).map(|_| random.next_u64()).collect()
}

/// The smallest of some values; `u64::MAX` of none.
pub(crate) fn least(values: &[u64]) -> u64 {
    values.iter().copied().min().unwrap_or(u64::MAX)
}

/// The smallest value, found by reading one after the other.
pub(crate) fn scan(node: &Node, values: &[u64]) -> u64 {
    work::scan(node, values.len());
    values
        .iter()
        .fold(u64::MAX, |least, value| least.min(*value))
}
