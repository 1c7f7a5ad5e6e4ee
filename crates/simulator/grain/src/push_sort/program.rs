//! The sort as a program: its limits and its check.

use node::Node;

use super::PushSort;
use crate::load::Load;
use crate::program::{Program, Verdict, WORD_BYTES};
use crate::records::{Part, Records, VALUE_BYTES};

/// The cores of a group whose rows have at most 253: a message of counts has at most a word for each
/// core of a row, two for their order, and one for the step.
const MOST_OF_GROUP: u32 = 253 * 253;

impl Program for PushSort {
    type Answer = Part;

    async fn run(self, node: Node) -> Part {
        if self.objection(node.nodes()).is_some() {
            return Part::default();
        }
        let keys = self.records().of(node.rank(), node.nodes());
        self.sort(node, keys).await
    }

    fn check(&self, answers: &[Part]) -> Verdict {
        match self.objection(answers.len() as u32) {
            Some(objection) => Verdict::refused(objection),
            None => self.records().verdict(answers),
        }
    }

    fn messages(&self, answers: &[Part], multicast: bool) -> Option<u64> {
        multicast.then(|| answers.iter().map(|part| part.by_keys).sum())
    }

    /// A group has no more cores than there are; one group needs no samples for others.
    fn dials(&self, ranks: u32) -> Vec<(&'static str, u32)> {
        let mut dials = vec![("group", self.group.min(ranks))];
        if ranks > self.group {
            dials.push(("samples", self.samples));
            dials.push(("row-samples", self.row_samples));
        }
        dials
    }

    fn objection(&self, cores: u32) -> Option<String> {
        let records = u64::from(cores) * u64::from(self.keys);
        if records > u64::from(u32::MAX) {
            return Some(format!(
                "records are numbered in 32 bits, and {records} are more"
            ));
        }
        (cores > self.group && self.group > MOST_OF_GROUP).then(|| {
            format!(
                "with several groups a group has at most {MOST_OF_GROUP} cores, not {}",
                self.group
            )
        })
    }

    fn load(&self, ranks: u32) -> Option<Load> {
        let keys = u64::from(self.keys) * u64::from(ranks);
        let received = 3 * keys + 150 * u64::from(ranks);
        Some(Load::of_messages(received, ranks, 16 << 10).and(100 * keys, 300 * keys))
    }

    fn bytes(&self, ranks: u64, at_once: u64) -> u64 {
        let held = u64::from(self.keys) * (4 * WORD_BYTES + VALUE_BYTES);
        held.saturating_mul(at_once)
            .saturating_add(2 * WORD_BYTES * u64::from(self.keys) * ranks)
    }
}

impl PushSort {
    fn records(&self) -> Records {
        Records {
            each: self.keys,
            distribution: self.distribution,
            seed: self.seed,
        }
    }
}
