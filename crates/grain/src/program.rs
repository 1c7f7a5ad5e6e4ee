//! What a program of tiny tasks is: one task on each rank, and how to judge what they answer.
//!
//! ```text
//!   parameters, seed --> run(node) on every rank --> answers, by rank --> check --> verdict
//!                            |                                              |
//!                        messages                                    naive code, no messages
//! ```
//!
//! A program sees its node, its parameters and its seed, and nothing else. It says what it computes
//! ([`node::Node::work`]) and where it is ([`node::Node::stage`]); what messages cost is the
//! machine's business.

use std::future::Future;

use node::{Node, Rank, Time};

use crate::options::ReorderBy;

/// A program that runs on every rank at once.
pub trait Program: Clone + Send + Sync + 'static {
    /// What one rank gives.
    type Answer: Send + 'static;

    /// What one rank does. Ranks whose program [objects](Program::objection) do nothing.
    fn run(self, node: Node) -> impl Future<Output = Self::Answer> + 'static;

    /// Whether the answers of all ranks, by rank, are right.
    fn check(&self, answers: &[Self::Answer]) -> Verdict;

    /// How many messages all ranks send for these answers, where that is known: for machines that
    /// count them. A multicast is one message where the network can, and one to each member where
    /// it cannot.
    fn messages(&self, _answers: &[Self::Answer], _multicast: bool) -> Option<u64> {
        None
    }

    /// Where messages of later steps wait.
    fn reorder(&self) -> ReorderBy {
        ReorderBy::Software
    }

    /// A remark on these parameters, for people.
    fn note(&self, _ranks: u32) -> Option<String> {
        None
    }

    /// Which time of the run is the program's time.
    fn timing(&self) -> Timing {
        Timing::LastEnd
    }

    /// Whether messages come to one NIC from behind others, so that there must be another one.
    fn needs_two_nics(&self) -> bool {
        matches!(self.timing(), Timing::Tap(_))
    }

    /// How many tasks of a rank go through a stage together: its time is their sum.
    fn tasks(&self, _stage: &str) -> u32 {
        1
    }

    /// Bytes that all ranks hold while `at_once` of them compute, or that the check holds, as far
    /// as they grow with the parameters: for whoever wants to refuse what does not fit.
    fn bytes(&self, _ranks: u64, _at_once: u64) -> u64 {
        0
    }

    /// Why these parameters cannot be run on so many ranks: for whoever wants to refuse up front.
    /// [`Program::check`] says the same afterwards.
    fn objection(&self, _ranks: u32) -> Option<String> {
        None
    }
}

/// Which time of a run is its program's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// From the common start to the end of the last rank.
    LastEnd,
    /// Ticks of a stage on a rank, less those it was idle. No other rank goes through that stage,
    /// or all do: else nobody can tell whose time is whose.
    Busy {
        /// Whose.
        rank: Rank,
        /// Which.
        stage: &'static str,
    },
    /// The median time from a message's first flit into this rank's NIC to its last flit out.
    Tap(Rank),
}

/// What becomes of the answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// What is wrong with them.
    pub fault: Option<String>,
    /// The most keys that a rank held at its end; 0 for programs without keys.
    pub max_keys: u64,
    /// The most keys by the mean: 1 when all ranks hold as many, 0 for programs without keys.
    pub skew: f64,
    /// Whether the ranks' keys are in order, for programs that sort.
    pub sorted: Option<bool>,
    /// When the program's own time began and ended, by the ranks' clocks. Of use on real nodes,
    /// where nothing meters stages.
    pub elapsed: Option<(Time, Time)>,
    /// What the program is run to find, if that is neither a time nor the skew.
    pub figure: Option<f64>,
    /// One line for people.
    pub result: String,
}

impl Verdict {
    /// Answers that are right if `fault` is `None`.
    pub fn new(result: String, fault: Option<String>) -> Verdict {
        Verdict {
            fault,
            result,
            ..Verdict::default()
        }
    }

    /// A program that did not run.
    pub fn refused(objection: String) -> Verdict {
        Verdict {
            result: "not run".to_owned(),
            fault: Some(objection),
            ..Verdict::default()
        }
    }

    /// The same with the keys of each rank.
    #[must_use]
    pub fn with_keys(self, keys: impl Iterator<Item = u64> + Clone) -> Verdict {
        let ranks = keys.clone().count() as f64;
        let (max_keys, all) = (keys.clone().max().unwrap_or(0), keys.sum::<u64>());
        let skew = if all == 0 {
            0.0
        } else {
            max_keys as f64 * ranks / all as f64
        };
        Verdict {
            max_keys,
            skew,
            ..self
        }
    }

    /// The same with the time from the first span's begin to the last one's end.
    #[must_use]
    pub fn with_spans(self, spans: impl Iterator<Item = Span> + Clone) -> Verdict {
        let begin = spans.clone().map(|span| span.begin).min();
        let end = spans.map(|span| span.end).max();
        Verdict {
            elapsed: begin.zip(end),
            ..self
        }
    }
}

/// When a rank began and ended, by its own clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// When it began.
    pub begin: Time,
    /// When it ended.
    pub end: Time,
}

impl Span {
    /// From `begin` until now.
    pub fn since(begin: Time, node: &Node) -> Span {
        Span {
            begin,
            end: node.now(),
        }
    }
}

/// Bytes of a word.
pub(crate) const WORD_BYTES: u64 = 8;

/// So many cores, for people.
pub(crate) fn cores(count: usize) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} core{plural}", grouped(count as u64))
}

/// A number for people: `8192` is "8,192".
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        let cases = [
            (0, "0"),
            (999, "999"),
            (8192, "8,192"),
            (1_048_576, "1,048,576"),
        ];
        for (number, text) in cases {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn skew_is_the_most_keys_by_the_mean() {
        let verdict = Verdict::default().with_keys([2, 6, 4].into_iter());
        assert_eq!((verdict.max_keys, verdict.skew), (6, 1.5));
        assert_eq!(Verdict::default().with_keys([0; 3].into_iter()).skew, 0.0);
        assert_eq!(Verdict::default().with_keys(std::iter::empty()).skew, 0.0);
    }

    #[test]
    fn spans_cover_all_ranks() {
        let span = |begin, end| Span {
            begin: Time(begin),
            end: Time(end),
        };
        let verdict = Verdict::default().with_spans([span(3, 9), span(2, 5)].into_iter());
        assert_eq!(verdict.elapsed, Some((Time(2), Time(9))));
        assert_eq!(
            Verdict::default().with_spans(std::iter::empty()).elapsed,
            None
        );
    }
}
