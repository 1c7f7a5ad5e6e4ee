//! NanoSort: a quicksort over all cores at once (NanoSort, section 4).
//!
//! ```text
//!   shuffle    each key to a core drawn for it: every core holds a random part
//!   level      of a group of cores, one bucket for each of its columns:
//!     sort       the keys of each core
//!     names      PivotSelect; the name of border i to column i of the own row
//!     medians    of a row, then up a tree of each column: one splitter for each border
//!     splitters  to all cores of the group
//!     exchange   each key to the column of its bucket, which is the next level's group
//!   values     each core asks the cores that keys came from for their values of 96 bytes
//! ```
//!
//! A step ends when as many messages came as are known to come: one from each core of a row, or
//! from each child. No core waits for another otherwise, and none coordinates. A core sends to
//! itself as to any other. What the paper leaves open is a [`Reading`].
//!
//! Keys are compared and nothing else is done with them. Equal keys go to one bucket, so many of
//! them make one core's part large; the paper takes all to be distinct.

mod count;
mod exchange;
mod partition;
mod reading;
mod redistribute;
mod sorter;
mod splitters;

pub use self::reading::{Exchange, Reading};
use clap::Args;
use node::{MESSAGE_WORDS, Matching, Node};
use serde::Serialize;

use crate::described;
use crate::distribution::Distribution;
use crate::options::{ReorderBy, count, from_0};
use crate::program::{Program, Span, Verdict, WORD_BYTES};
use crate::records::{Part, Records, VALUE_BYTES};

use self::partition::Partition;
use self::sorter::Sorter;

/// Sort records over all cores, bucket by bucket (section 4, Figures 11 to 16).
///
/// Stages: `shuffle`, `level 0` and so on, `sort`, `values`.
#[derive(Args, Clone, Debug, Serialize)]
pub struct NanoSort {
    /// Records of each core, of a key of 8 bytes and a value of 96
    #[arg(id = "keys-per-core", long, value_name = "K")]
    #[arg(default_value_t = 16, value_parser = from_0)]
    #[serde(rename = "keys-per-core")]
    pub keys: u32,
    /// Buckets into which each level divides its keys, at least 2
    #[arg(long, value_name = "B", default_value_t = 16, value_parser = count)]
    pub buckets: u32,
    /// What the paper leaves open.
    #[command(flatten)]
    #[serde(flatten)]
    pub reading: Reading,
    /// How the keys lie
    #[arg(long, value_enum, default_value_t)]
    pub distribution: Distribution,
    /// Where messages of later steps wait
    #[arg(long, value_enum, default_value_t)]
    pub reorder: ReorderBy,
    /// Decides the keys, and with the machine's seed all that is drawn.
    #[arg(skip = 1_u64)]
    #[serde(skip)]
    pub seed: u64,
}

described! { NanoSort is "nano-sort" on 256 cores;
    "--cores 4096 --keys-per-core 32", "--cores 64K --threads 2 --trace out.json"
}

impl Program for NanoSort {
    type Answer = Part;

    async fn run(self, node: Node) -> Part {
        if self.objection(node.nodes()).is_some() {
            return Part::default();
        }
        let keys = self.records().of(node.rank(), node.nodes());
        self.sort(node, keys).await
    }

    fn reorder(&self) -> ReorderBy {
        self.reorder
    }

    fn check(&self, answers: &[Part]) -> Verdict {
        let cores = answers.len() as u32;
        if let Some(objection) = self.objection(cores) {
            return Verdict::refused(objection);
        }
        self.records().verdict(answers)
    }

    fn objection(&self, cores: u32) -> Option<String> {
        if self.buckets < 2 {
            return Some(format!(
                "keys go to 2 buckets or more, not {}",
                self.buckets
            ));
        }
        let burst = self.reading.burst;
        if !(1..=MOST_BURST).contains(&burst) {
            return Some(format!("a burst is 1 to {MOST_BURST} keys, not {burst}"));
        }
        if self.reorder.matching() == Matching::Software {
            return None;
        }
        let columns = self.buckets.min(cores);
        if columns > MOST_COLUMNS {
            return Some(format!(
                "a core names a border to {columns} others before it takes any from a queue, and \
                 its {TRANSMIT_WORDS} transmit words hold {MOST_COLUMNS}: ask for so many buckets at \
                 most, or for the software's reorder buffer"
            ));
        }
        (self.reading.exchange == Exchange::Keys).then(|| {
            "by keys, more of them may come to a core that waits for splitters than its queues \
             hold: only the software's reorder buffer has room"
                .to_owned()
        })
    }

    fn messages(&self, answers: &[Part], multicast: bool) -> Option<u64> {
        let by_keys: u64 = answers.iter().map(|part| part.by_keys).sum();
        let values = count::of_values(self.records(), answers);
        Some(count::messages(self, answers.len() as u32, multicast) + values + by_keys)
    }

    /// The keys are the answer, and the check sorts them again.
    fn bytes(&self, ranks: u64, at_once: u64) -> u64 {
        let held = u64::from(self.keys) * (4 * WORD_BYTES + VALUE_BYTES);
        held.saturating_mul(at_once)
            .saturating_add(2 * WORD_BYTES * u64::from(self.keys) * ranks)
    }
}

impl NanoSort {
    /// Sorts these keys of this core with those of the others, which have as many. There must be no
    /// [`Program::objection`].
    pub async fn sort(self, node: Node, keys: Vec<u64>) -> Part {
        let begin = node.now();
        let mut sorter = Sorter::new(&self, &node, keys);
        sorter.shuffle(&node).await;
        let mut group = Partition::of_all(node.nodes(), self.buckets);
        for level in 0.. {
            if group.cores() == 1 {
                break;
            }
            group = sorter.level(&node, group, level).await;
        }
        sorter.sort(&node);
        let wrong = sorter.values(&node).await;
        sorter.part(wrong, Span::since(begin, &node))
    }

    fn records(&self) -> Records {
        Records {
            each: self.keys,
            distribution: self.distribution,
            seed: self.seed,
        }
    }
}

/// Words that a message of keys holds, beside its step.
const MOST_WORDS: usize = MESSAGE_WORDS - 1;

/// Words that a nanoPU core's NIC takes before it has sent any.
const TRANSMIT_WORDS: u32 = 1024;

/// A name has a step, a key, and a word for its receiver.
const MOST_COLUMNS: u32 = TRANSMIT_WORDS / 3;

/// Records of which all that a core sends in a step finds room in its transmit words (1,024, and an
/// answer has 15): then nothing keeps it from receiving. With more it must not send what others
/// have no room for.
const FEW: u32 = 64;

/// The most keys that a core sends in the shuffle before it receives as many: a quarter of a
/// receive queue.
const MOST_BURST: u32 = 16;
