//! A program of tiny tasks: one task on each rank, and a check of their answers.
//!
//! ```text
//!   options, seed --> run(node) on every rank --> answers, by rank --> check --> verdict
//!                            |                                           |
//!                        messages                                 naive code, no messages
//! ```
//!
//! A program sees only its node, its options and its seed. It reports its computation
//! ([`node::Node::work`]) and its stage ([`node::Node::stage`]); the machine knows the cost of
//! messages.

use std::future::Future;

use node::{Node, Rank, Time};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::load::Load;
use crate::options::ReorderBy;

/// A program that runs on every rank at once.
pub trait Program: Clone + Send + Sync + 'static {
    /// The result of one rank, which may have to cross processes.
    type Answer: Serialize + DeserializeOwned + Send + 'static;

    /// Runs one rank. With an [objection](Program::objection) it does nothing.
    fn run(self, node: Node) -> impl Future<Output = Self::Answer> + 'static;

    /// Checks the answers of all ranks, in order of ranks.
    fn check(&self, answers: &[Self::Answer]) -> Verdict;

    /// Messages that all ranks send for these answers, if that is known. Without `multicast` in the
    /// network a multicast is one message per member.
    fn messages(&self, _answers: &[Self::Answer], _multicast: bool) -> Option<u64> {
        None
    }

    /// Where messages wait that arrive before their step.
    fn reorder(&self) -> ReorderBy {
        ReorderBy::Software
    }

    /// A remark on these options, for people.
    fn note(&self, _ranks: u32) -> Option<String> {
        None
    }

    /// The time of the run that counts as the program's time.
    fn timing(&self) -> Timing {
        Timing::LastEnd
    }

    /// Whether the program needs ranks behind at least two NICs.
    fn needs_two_nics(&self) -> bool {
        matches!(self.timing(), Timing::Tap(_))
    }

    /// Tasks of a rank that share a stage, whose time is their sum.
    fn tasks(&self, _stage: &str) -> u32 {
        1
    }

    /// Estimated bytes of memory of `ranks` ranks, while `at_once` of them compute, and of the
    /// check: for refusing runs that do not fit.
    fn bytes(&self, _ranks: u64, _at_once: u64) -> u64 {
        0
    }

    /// The load of a run on this many ranks, for estimates and progress; `None` if it is not known.
    fn load(&self, _ranks: u32) -> Option<Load> {
        None
    }

    /// Its dials: the options that change its time and not its result, each with the number that
    /// it has in effect on this many ranks. An option that is left out has one, too.
    fn dials(&self, _ranks: u32) -> Vec<(&'static str, u32)> {
        Vec::new()
    }

    /// Why these options cannot run on this many ranks. [`Program::check`] reports the same.
    fn objection(&self, _ranks: u32) -> Option<String> {
        None
    }
}

/// The time of a run that counts as its program's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// From the common start to the end of the last rank.
    LastEnd,
    /// Ticks of a stage on a rank, without idle time. The stage must belong to this rank alone, or
    /// to all ranks.
    Busy {
        /// The rank that is timed.
        rank: Rank,
        /// The stage's name.
        stage: &'static str,
    },
    /// The median time from a message's first flit into this rank's NIC to its last flit out.
    Tap(Rank),
    /// From begin to end of a part of the program, which its check gives as [`Verdict::elapsed`].
    Part {
        /// Name of the part.
        of: &'static str,
    },
}

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// The first error in the answers.
    pub fault: Option<String>,
    /// The largest number of keys on a rank at the end; 0 for programs without keys.
    pub max_keys: u64,
    /// `max_keys` over the mean; 0 for programs without keys.
    pub skew: f64,
    /// Whether the ranks' keys are in order, for programs that sort.
    pub sorted: Option<bool>,
    /// Begin and end by the ranks' clocks: the program's time on real nodes, where stages are not
    /// metered.
    pub elapsed: Option<(Time, Time)>,
    /// The measured quantity, if it is neither a time nor the skew.
    pub figure: Option<f64>,
    /// Ticks of each request, ascending, for programs whose clients wait for answers.
    pub requests: Vec<u64>,
    /// Parameters that the program measured, if that is its purpose.
    pub measured: Vec<Measured>,
    /// One line for people.
    pub result: String,
}

/// A parameter that a program measured by the clock of a rank, in microseconds (G: for a byte).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Name of the parameter.
    pub name: String,
    /// Name of the method.
    pub method: String,
    /// The middle of the repetitions.
    pub median: f64,
    /// The least of them.
    pub low: f64,
    /// The largest of them.
    pub high: f64,
    /// Whether another parameter hides it, so that it may be less.
    pub at_most: bool,
}

impl Measured {
    /// Whether the clock could tell it: a time is above zero.
    #[must_use]
    pub fn is_told(&self) -> bool {
        self.median > 0.0
    }
}

impl Verdict {
    /// A verdict with a line for people; the answers are right if `fault` is `None`.
    pub fn new(result: String, fault: Option<String>) -> Verdict {
        Verdict {
            fault,
            result,
            ..Verdict::default()
        }
    }

    /// The verdict on a program that did not run.
    pub fn refused(objection: String) -> Verdict {
        Verdict {
            result: "not run".to_owned(),
            fault: Some(objection),
            ..Verdict::default()
        }
    }

    /// Sets `max_keys` and `skew` from the keys of each rank.
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

    /// Sets `elapsed`, from the first begin to the last end.
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

/// The time of a rank's program, by its own clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Start of the program.
    #[serde(with = "ticks")]
    pub begin: Time,
    /// End of the program.
    #[serde(with = "ticks")]
    pub end: Time,
}

/// A time of a node as a number.
mod ticks {
    use super::*;

    pub fn serialize<S: Serializer>(time: &Time, out: S) -> Result<S::Ok, S::Error> {
        time.0.serialize(out)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Time, D::Error> {
        u64::deserialize(from).map(Time)
    }
}

impl Span {
    /// The span from `begin` until the node's present time.
    pub fn since(begin: Time, node: &Node) -> Span {
        Span {
            begin,
            end: node.now(),
        }
    }
}

/// Bytes of a word.
pub(crate) const WORD_BYTES: u64 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skew_is_the_largest_share_over_the_mean() {
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
