//! NanoSort as a program: its limits, its messages and its check.

use node::{Matching, Node};

use super::limits::{MOST_BURST, MOST_PIVOTS, MOST_WORDS, TRANSMIT_WORDS};
use super::values::most_in_request;
use super::{Exchange, Groups, NanoSort, count, hierarchy};
use crate::Tree;
use crate::bounds::WORDS;
use crate::collective::Collective;
use crate::load::Load;
use crate::options::ReorderBy;
use crate::program::{Program, Verdict, WORD_BYTES};
use crate::records::{Part, Records, VALUE_BYTES};

impl Program for NanoSort {
    type Answer = Part;

    async fn run(self, node: Node) -> Part {
        if self.objection(node.nodes()).is_some() {
            return Part::default();
        }
        let keys = self.keys_of(&node);
        self.sort(&node, keys).await
    }

    fn reorder(&self) -> ReorderBy {
        self.reorder
    }

    fn check(&self, answers: &[Part]) -> Verdict {
        match self.objection(answers.len() as u32) {
            Some(objection) => Verdict::refused(objection),
            None => self.verdict(answers),
        }
    }

    /// No more cores select pivots than a bucket has, and a tree merges the medians of no more; the
    /// first level has the most.
    fn dials(&self, cores: u32) -> Vec<(&'static str, u32)> {
        let reading = self.reading;
        let of_bucket = (cores / self.buckets.max(1)).max(1);
        let rows = reading.rows().unwrap_or(of_bucket).min(of_bucket);
        vec![
            ("buckets", self.buckets.min(cores)),
            ("incast", reading.incast(self.buckets).min(rows)),
            ("burst", reading.burst()),
            ("rows", rows),
            ("pivot-keys", reading.keys_looked_at(self.buckets)),
        ]
    }

    fn objection(&self, cores: u32) -> Option<String> {
        let burst = self.reading.burst();
        if self.buckets < 2 {
            return Some(format!(
                "keys go to 2 buckets or more, not {}",
                self.buckets
            ));
        }
        if !(1..=MOST_BURST).contains(&burst) {
            return Some(format!("a burst is 1 to {MOST_BURST} keys, not {burst}"));
        }
        let looked_at = self.reading.keys_looked_at(self.buckets);
        if looked_at < self.buckets.saturating_mul(2) {
            return Some(format!(
                "PivotSelect looks at two keys for each of {} buckets or more, not at {looked_at}",
                self.buckets
            ));
        }
        if self.reading.phase_end.is_some() && self.reading.exchange() != Exchange::Keys {
            return Some(
                "--phase-end tells how a level with a message for each key ends, and here there is \
                 one for each bucket: leave it out, or ask for --exchange keys"
                    .to_owned(),
            );
        }
        let is_proportional = self.groups == Groups::Proportional;
        if is_proportional && self.buckets as usize > MOST_WORDS {
            return Some(format!(
                "with --groups proportional a message has the keys of each bucket, at most {MOST_WORDS} \
                 numbers, and not {}: ask for fewer buckets",
                self.buckets
            ));
        }
        match self.reorder.matching() {
            Matching::Ports if is_proportional => Some(
                "with --groups proportional a core hears from any number of others, more than its \
                 queues hold: ask for --reorder software"
                    .to_owned(),
            ),
            Matching::Software => None,
            Matching::Ports => self.objection_to_ports(cores),
        }
    }

    /// With groups in proportion to the keys the number is not known.
    fn messages(&self, answers: &[Part], multicast: bool) -> Option<u64> {
        if self.groups == Groups::Proportional {
            return None;
        }
        let of_part = |part: &Part| {
            let multicasts = if multicast {
                part.multicasts
            } else {
                part.copies
            };
            part.by_keys + multicasts
        };
        let by_keys: u64 = answers.iter().map(of_part).sum();
        let values = count::of_values(self.records(), answers);
        Some(count::messages(self, answers.len() as u32, multicast) + values + by_keys)
    }

    /// A request and a reply per key, and on each level further messages of long buckets, or one
    /// per key. A core has a share of the pivots of each bucket on their way.
    fn load(&self, ranks: u32) -> Option<Load> {
        let keys = u64::from(self.keys) * u64::from(ranks);
        let levels = u64::from(levels(ranks, self.buckets));
        let by_keys = match self.reading.exchange() {
            Exchange::Keys => keys * levels,
            Exchange::Buckets => keys * levels * 2 / MOST_WORDS as u64,
        };
        // Keys of a core that come from one other core are asked for together.
        let (each, all) = (f64::from(self.keys), f64::from(ranks));
        let origins = all * (1.0 - (1.0 - 1.0 / all).powf(each));
        // The last request to each origin is half full.
        let full = keys as f64 / most_in_request(self.keys) as f64;
        let requests = (origins * all).max(full + origins * all / 2.0) as u64;
        let received = count::messages(self, ranks, false) + keys + requests + by_keys;
        let of_a_rank = 1024 * u64::from(self.buckets.min(ranks));
        Some(Load::of_messages(received, ranks, of_a_rank).and(100 * keys, 80 * keys))
    }

    /// The keys are the answer, and the check sorts them again.
    fn bytes(&self, ranks: u64, at_once: u64) -> u64 {
        let of_box = self.bvh.map_or(0, |_| u64::from(WORDS) * WORD_BYTES);
        let held = u64::from(self.keys) * (4 * WORD_BYTES + VALUE_BYTES + of_box);
        held.saturating_mul(at_once)
            .saturating_add(2 * WORD_BYTES * u64::from(self.keys) * ranks)
    }
}

/// Adds the share of the ends of phases in the time of all cores: from the last key that a core sent or
/// received until it was told that the level is over. Answers between keys are not in it.
fn with_ends(verdict: Verdict, parts: &[Part]) -> Verdict {
    let ends: u64 = parts.iter().map(|part| part.ends).sum();
    let all = parts
        .iter()
        .map(|Part { span, .. }| span.end.since(span.begin));
    let share = ends as f64 / all.sum::<u64>().max(1) as f64;
    let (result, percent) = (verdict.result, 100.0 * share);
    Verdict {
        result: format!("{result}; ends of phases take {percent:.1} % of the cores' time"),
        figure: Some(share),
        ..verdict
    }
}

/// Levels until a group of nodes has one.
fn levels(nodes: u32, buckets: u32) -> u32 {
    let buckets = buckets.max(2);
    std::iter::successors(Some(nodes), |nodes| Some(nodes.div_ceil(buckets)))
        .take_while(|nodes| *nodes > 1)
        .count() as u32
}

impl NanoSort {
    /// The keys that a node begins with.
    pub(crate) fn keys_of(&self, node: &Node) -> Vec<u64> {
        self.records().of(node.rank(), node.nodes())
    }

    fn verdict(&self, parts: &[Part]) -> Verdict {
        let verdict = self.records().verdict(parts);
        let verdict = match self.reading.exchange() {
            Exchange::Buckets => verdict,
            Exchange::Keys => with_ends(verdict, parts),
        };
        let Some(children) = self.bvh else {
            return verdict;
        };
        let fault = verdict.fault;
        Verdict {
            fault: fault.or_else(|| hierarchy::fault(self.records(), children, parts)),
            result: format!("{} into a hierarchy of bounds", verdict.result),
            ..verdict
        }
    }

    fn records(&self) -> Records {
        Records {
            each: self.keys,
            distribution: self.distribution,
            seed: self.seed,
        }
    }

    /// Why messages could wait for each other in NICs for ever.
    fn objection_to_ports(&self, cores: u32) -> Option<String> {
        let children = self
            .bvh
            .map(|children| Tree::new(cores, children).most_children(1));
        let of_bounds = children.unwrap_or_default();
        if let Some(objection) = Collective::objection(&of_bounds, Matching::Ports, WORDS) {
            return Some(objection.replace("incast", "--bvh"));
        }
        let buckets = self.buckets.min(cores);
        if buckets > MOST_PIVOTS {
            return Some(format!(
                "a core sends pivots for {buckets} buckets before it receives any, and its \
                 {TRANSMIT_WORDS} transmit words hold {MOST_PIVOTS}: ask for fewer buckets, or for \
                 --reorder software"
            ));
        }
        (self.reading.exchange() == Exchange::Keys).then(|| {
            "with --exchange keys, the queues of a core that waits for splitting values could \
             overflow: ask for --reorder software"
                .to_owned()
        })
    }
}
