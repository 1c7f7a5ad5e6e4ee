//! The work of stages between two looks.

use crate::clock::Spent;

/// Units that make a rate usable.
const FEW_UNITS: u64 = 4;

/// Units that make a rate good enough to prove a gain.
const MANY_UNITS: u64 = 32;

/// After this time a rate is usable with any number of units.
pub(super) const LONG_S: f64 = 1.0;

/// The work of a stage so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Done {
    pub units: u64,
    pub bytes: u64,
    pub spent: Spent,
    /// Whether no more work comes.
    pub ended: bool,
}

/// The work of all stages so far.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    /// The time in seconds.
    pub at: f64,
    pub stages: Vec<Done>,
}

/// The work of all stages between two looks.
#[derive(Clone, Debug)]
pub(super) struct Interval {
    pub seconds: f64,
    pub spans: Vec<Span>,
}

/// The work of one stage between two looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub seconds: f64,
    pub units: u64,
    pub bytes: u64,
    spent: Spent,
    /// Whether it had done a unit before.
    pub begun: bool,
    pub ended: bool,
}

impl Interval {
    pub(super) fn between(from: &Look, to: &Look) -> Interval {
        let seconds = to.at - from.at;
        let span = |(from, to): (&Done, &Done)| Span {
            seconds,
            units: to.units - from.units,
            bytes: to.bytes - from.bytes,
            spent: to.spent.since(from.spent),
            begun: from.units > 0,
            ended: to.ended,
        };
        Interval {
            seconds,
            spans: from.stages.iter().zip(&to.stages).map(span).collect(),
        }
    }

    /// The active stages, the busiest first.
    pub(super) fn by_busy(&self) -> Vec<usize> {
        let all = 0..self.spans.len();
        let mut order: Vec<usize> = all.filter(|&stage| self.spans[stage].is_active()).collect();
        order.sort_by(|&a, &b| self.spans[b].busy().total_cmp(&self.spans[a].busy()));
        order
    }
}

impl Span {
    /// Whether it has work. An inactive stage has none yet, or no more.
    pub(super) fn is_active(&self) -> bool {
        !self.ended && (self.spent.busy > 0 || self.units > 0)
    }

    /// The fraction of the workers' time in which they were busy.
    pub(super) fn busy(&self) -> f64 {
        self.spent.busy as f64 / self.spent.sum().max(1) as f64
    }

    /// The fraction of the workers' time in which they waited for work.
    pub(super) fn starved(&self) -> f64 {
        self.spent.starved as f64 / self.spent.sum().max(1) as f64
    }

    /// Bytes per second.
    pub(super) fn rate(&self) -> f64 {
        self.bytes as f64 / self.seconds
    }

    /// The relative error of the rate: one unit more or less at the ends of the span.
    pub(super) fn error(&self) -> f64 {
        if self.units == 0 {
            f64::INFINITY
        } else {
            1.0 / self.units as f64
        }
    }

    /// Whether the rate is usable, or good enough to prove a gain.
    pub(super) fn tells(&self, to_prove: bool) -> bool {
        let (units, seconds) = if to_prove {
            (MANY_UNITS, 2.0 * LONG_S)
        } else {
            (FEW_UNITS, LONG_S)
        };
        self.units >= units || self.seconds >= seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(units: u64, [busy, starved, blocked]: [u64; 3]) -> Done {
        let spent = Spent {
            busy,
            starved,
            blocked,
        };
        Done {
            units,
            bytes: units * 1000,
            spent,
            ended: false,
        }
    }

    fn interval(from: Vec<Done>, to: Vec<Done>, seconds: f64) -> Interval {
        let (from, to) = (
            Look {
                at: 3.0,
                stages: from,
            },
            Look {
                at: 3.0 + seconds,
                stages: to,
            },
        );
        Interval::between(&from, &to)
    }

    fn span(units: u64, seconds: f64) -> Span {
        interval(vec![done(0, [0; 3])], vec![done(units, [0; 3])], seconds).spans[0]
    }

    #[test]
    fn a_span_is_the_work_between_two_looks() {
        let interval = interval(
            vec![done(4, [10, 20, 30])],
            vec![done(12, [16, 21, 33])],
            0.5,
        );
        let span = interval.spans[0];
        assert_eq!((interval.seconds, span.seconds), (0.5, 0.5));
        assert_eq!(
            (span.units, span.bytes, span.begun, span.ended),
            (8, 8000, true, false)
        );
        assert_eq!((span.busy(), span.starved()), (0.6, 0.1));
        assert_eq!((span.rate(), span.error()), (16_000.0, 0.125));
    }

    #[test]
    fn a_stage_that_has_not_begun_proves_nothing() {
        let span = span(0, 0.5);
        assert!(!span.begun && !span.is_active());
        assert_eq!((span.busy(), span.starved(), span.rate()), (0.0, 0.0, 0.0));
        assert_eq!(span.error(), f64::INFINITY);
    }

    #[test]
    fn a_rate_is_usable_after_enough_units_or_seconds() {
        for (units, seconds, tells, proves) in [
            (3, 0.9, false, false),
            (4, 0.9, true, false),
            (3, 1.0, true, false),
            (31, 1.9, true, false),
            (32, 0.1, true, true),
            (0, 2.0, true, true),
        ] {
            let span = span(units, seconds);
            let got = (span.tells(false), span.tells(true));
            assert_eq!(got, (tells, proves), "{units} units in {seconds} s");
        }
    }

    #[test]
    fn the_busiest_active_stage_comes_first() {
        let from = vec![done(0, [0; 3]); 5];
        let ended = Done {
            ended: true,
            ..done(9, [9, 0, 0])
        };
        let busy = |busy| done(0, [busy, 10 - busy, 0]);
        let units_alone = done(1, [0, 10, 0]);
        let to = vec![busy(3), ended, busy(7), done(0, [0, 10, 0]), units_alone];
        assert_eq!(interval(from, to, 1.0).by_busy(), [2, 0, 4]);
    }
}
