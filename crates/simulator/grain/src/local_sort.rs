//! Sorting keys on each core, without messages (NanoSort, section 6.2.1, Figure 8).
//!
//! The paper clears the caches before each run, so the core loads the keys first.

use clap::Args;
use node::{Node, Rank};
use serde::{Deserialize, Serialize};

use crate::described;
use crate::load::Load;
use crate::local_min::values;
use crate::options::from_0;
use crate::program::{Program, Span, Verdict, WORD_BYTES};
use crate::work;
use units::{counted, grouped};

/// Sort keys on each core by itself (Figure 8).
///
/// Stages: `load`, `sort`.
#[derive(Args, Clone, Debug, Serialize)]
pub struct LocalSort {
    /// Keys of 8 bytes on each core
    #[arg(id = "keys-per-core", long, value_name = "K")]
    #[arg(default_value_t = 40, value_parser = from_0)]
    #[serde(rename = "keys-per-core")]
    pub keys: u32,
    /// Seed of the keys.
    #[arg(skip = 1_u64)]
    #[serde(skip)]
    pub seed: u64,
}

described! { LocalSort is "local-sort" on 1 cores; "--keys-per-core 1K" }

/// A rank's keys in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sorted {
    /// All keys that the rank was given.
    pub keys: Vec<u64>,
    /// Begin and end by its own clock.
    pub span: Span,
}

impl Program for LocalSort {
    type Answer = Sorted;

    async fn run(self, node: Node) -> Sorted {
        let mut keys = values(self.seed, node.rank(), self.keys);
        let begin = node.now();
        node.stage("load");
        work::load(&node, keys.len());
        node.stage("sort");
        keys.sort_unstable();
        work::sort(&node, keys.len());
        let span = Span::since(begin, &node);
        Sorted { keys, span }
    }

    fn check(&self, answers: &[Sorted]) -> Verdict {
        let wrong = |(rank, answer): (usize, &Sorted)| {
            if !answer.keys.is_sorted() {
                return Some(format!("the keys of core {rank} are not in order"));
            }
            // The stable sort is other code than the one to be checked.
            let mut expected = values(self.seed, Rank(rank as u32), self.keys);
            expected.sort();
            (answer.keys != expected).then(|| format!("core {rank} has other keys than it got"))
        };
        let plural = if self.keys == 1 { "" } else { "s" };
        let keys = format!("{} key{plural}", grouped(self.keys.into()));
        let result = match answers.len() {
            1 => format!("{keys} sorted on one core"),
            many => format!("{keys} sorted on each of {}", counted(many as u64, "core")),
        };
        let verdict = Verdict::new(result, answers.iter().enumerate().find_map(wrong))
            .with_keys(answers.iter().map(|answer| answer.keys.len() as u64))
            .with_spans(answers.iter().map(|answer| answer.span));
        Verdict {
            sorted: Some(answers.iter().all(|answer| answer.keys.is_sorted())),
            ..verdict
        }
    }

    /// The keys of all ranks are the answers, and the check sorts those of one rank again.
    /// The check sorts once more.
    fn load(&self, ranks: u32) -> Option<Load> {
        let keys = u64::from(self.keys) * u64::from(ranks);
        let held = keys * WORD_BYTES;
        Some(Load::of_messages(0, ranks, 1536).and(20 * keys, held))
    }

    fn bytes(&self, ranks: u64, _at_once: u64) -> u64 {
        (u64::from(self.keys) * WORD_BYTES).saturating_mul(ranks + 1)
    }
}
