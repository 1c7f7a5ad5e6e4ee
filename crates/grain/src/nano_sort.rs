//! NanoSort: a quicksort over all cores at once (NanoSort, section 4).
//!
//! ```text
//!   shuffle    each key to a core drawn for it: every core holds a random part
//!   level      of a group of cores, one bucket for each of its columns:
//!     sort       the keys of each core
//!     names      PivotSelect; the name of border i to column i of the own row
//!     medians    of a row, then up a tree of each column: one splitter for each border
//!     splitters  to all cores of the group
//!     buckets    each key to the column of its bucket, which is the next level's group
//!   values     each core asks the cores that keys came from for their values of 96 bytes
//! ```
//!
//! A step ends when as many messages came as are known to come: one from each core of a row, or from
//! each child. No core waits for another otherwise, and none coordinates.
//!
//! Keys are compared and nothing else is done with them. Equal keys go to one bucket, so many of them
//! make one core's part large; the paper takes all to be distinct.

mod partition;
mod sorter;

use node::{MESSAGE_WORDS, Matching, Node};

use crate::local_min::values;
use crate::program::{Program, Span, Verdict, WORD_BYTES};
use crate::records::{Part, VALUE_WORDS, value_of, verdict};

use self::partition::Partition;
use self::sorter::Sorter;

/// All cores sort their records. Stages: `shuffle`, `level 0` and so on, `sort`, `values`.
#[derive(Clone, Debug)]
pub struct NanoSort {
    /// Records of each core, of a key of 8 bytes and a value of 96.
    pub keys: u32,
    /// Buckets of a level, at least 2.
    pub buckets: u32,
    /// Medians merged at each level of a column's tree, the merging core's own among them.
    pub incast: u32,
    /// Where messages of later steps wait.
    pub matching: Matching,
    /// Decides the keys, and with the machine's seed all that is drawn.
    pub seed: u64,
}

impl Default for NanoSort {
    fn default() -> NanoSort {
        NanoSort { keys: 16, buckets: 16, incast: 16, matching: Matching::default(), seed: 1 }
    }
}

impl Program for NanoSort {
    type Answer = Part;

    async fn run(self, node: Node) -> Part {
        if self.objection(node.nodes()).is_some() {
            return Part::default();
        }
        let keys = values(self.seed, node.rank(), self.keys);
        let begin = node.now();
        let mut sorter = Sorter::new(&self, &node, keys);
        sorter.shuffle(&node).await;
        let mut group = Partition::of_all(node.nodes(), self.buckets);
        for level in 0.. {
            if group.cores() == 1 {
                break;
            }
            let column = sorter.level(&node, group, level).await;
            group = group.of_column(column, self.buckets);
        }
        sorter.sort(&node);
        let wrong = sorter.values(&node).await;
        Part { keys: sorter.into_keys(), wrong, span: Span::since(begin, &node) }
    }

    fn check(&self, answers: &[Part]) -> Verdict {
        let cores = answers.len() as u32;
        if let Some(objection) = self.objection(cores) {
            return Verdict::refused(objection);
        }
        verdict(answers, self.keys, self.seed)
    }

    fn objection(&self, _cores: u32) -> Option<String> {
        (self.buckets < 2).then(|| format!("keys go to 2 buckets or more, not {}", self.buckets))
    }

    /// The keys are the answer, and the check sorts them again.
    fn bytes(&self, ranks: u64, at_once: u64) -> u64 {
        let value = VALUE_WORDS as u64 * WORD_BYTES;
        let held = u64::from(self.keys) * (4 * WORD_BYTES + value);
        held.saturating_mul(at_once).saturating_add(2 * WORD_BYTES * u64::from(self.keys) * ranks)
    }
}

/// Words that a message of keys holds, beside its step.
pub(crate) const MOST_WORDS: usize = MESSAGE_WORDS - 1;
