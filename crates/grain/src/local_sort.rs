//! Sorting some keys on each core, no messages (NanoSort, section 6.2.1, Figure 8).
//!
//! The paper clears the caches before each run: the keys are brought in first.

use node::{Node, Rank, Work};

use crate::local_min::values;
use crate::program::{Program, Span, Verdict, WORD_BYTES, cores, grouped};

/// Every rank sorts its own keys. Stages: `load`, `sort`.
#[derive(Clone, Debug)]
pub struct LocalSort {
    /// Keys of eight bytes on each rank.
    pub keys: u32,
    /// Decides the keys.
    pub seed: u64,
}

impl Default for LocalSort {
    fn default() -> LocalSort {
        LocalSort { keys: 40, seed: 1 }
    }
}

/// A rank's keys in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sorted {
    /// The keys.
    pub keys: Vec<u64>,
    /// How long it took.
    pub span: Span,
}

impl Program for LocalSort {
    type Answer = Sorted;

    async fn run(self, node: Node) -> Sorted {
        let mut keys = values(self.seed, node.rank(), self.keys);
        let begin = node.now();
        node.stage("load");
        node.work(Work::Load {
            bytes: keys.len() as u64 * 8,
        });
        node.stage("sort");
        keys.sort_unstable();
        node.work(Work::Sort {
            records: keys.len() as u64,
        });
        Sorted {
            keys,
            span: Span::since(begin, &node),
        }
    }

    fn check(&self, answers: &[Sorted]) -> Verdict {
        let wrong = |(rank, answer): (usize, &Sorted)| {
            if !answer.keys.is_sorted() {
                return Some(format!("the keys of core {rank} are not in order"));
            }
            // A stable sort by merging: other code than what is checked.
            let mut expected = values(self.seed, Rank(rank as u32), self.keys);
            expected.sort();
            (answer.keys != expected).then(|| format!("core {rank} has other keys than it got"))
        };
        let keys = grouped(self.keys.into());
        let result = match answers.len() {
            1 => format!("{keys} keys sorted on one core"),
            many => format!("{keys} keys sorted on each of {}", cores(many)),
        };
        let verdict = Verdict::new(result, answers.iter().enumerate().find_map(wrong))
            .with_keys(answers.iter().map(|answer| answer.keys.len() as u64))
            .with_spans(answers.iter().map(|answer| answer.span));
        Verdict {
            sorted: Some(answers.iter().all(|answer| answer.keys.is_sorted())),
            ..verdict
        }
    }

    /// The keys of all ranks are its answer, and the check sorts those of one again.
    fn bytes(&self, ranks: u64, _at_once: u64) -> u64 {
        (u64::from(self.keys) * WORD_BYTES).saturating_mul(ranks + 1)
    }
}
