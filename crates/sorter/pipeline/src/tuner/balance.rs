//! Decides what to move from the work of the stages since the last move: a function of figures.
//!
//! ```text
//! the busiest stage --- below its home: up, up to fourfold --------> kept, unless much is lost
//!                  \--- at its home, others wait: up, doubled -----> kept if it proves a gain
//! a stage that starves --- down to the workers that it needs ------> kept, unless a little is lost
//! ```
//!
//! Home is the value that the plan derived. A plan knows more than a few measured intervals, so a
//! step towards home needs no proof, and every step away from it does. A step that was undone is
//! not tried again for a while, each time for twice as long: so a run with a good plan sees few
//! moves, however long it is.
//!
//! The effect of a step is measured at the stage itself: queues are short, so over any useful
//! interval all stages of a pipeline pass the same bytes.

use super::interval::{Interval, LONG_S, Look, Span};

/// A stage that is busy for a smaller fraction of its time slows no other stage down.
const BUSY: f64 = 0.7;

/// A stage that is busy for this fraction of its time is the bottleneck, if others wait.
const BUSIEST: f64 = 0.9;

/// Others wait if one of them is idle for this fraction of its time.
const OTHERS_IDLE: f64 = 0.2;

/// Workers may be parked if the rest is then busy less than this: far below [`BUSY`], so that they
/// are not called again at once.
const ENOUGH: f64 = 0.4;

/// The largest factor of a step towards home.
const STEP: usize = 4;

/// A step beyond home must gain this fraction, in addition to the error of the measurement.
const GAIN: f64 = 0.05;

/// A step home may lose this fraction, which is then probably not the step's fault: on a computer
/// with other users, rates vary by a fifth from one look to the next.
const LOSS: f64 = 0.4;

/// The pause before a step that was undone is tried again, the first time.
const REST_S: f64 = 1.0;

/// A number that can be moved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Knob {
    /// The index of its stage in the pipeline.
    pub stage: usize,
    pub setting: Setting,
    pub now: usize,
    /// The value that the plan derived.
    pub home: usize,
    pub most: usize,
}

/// The setting that a knob turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setting {
    /// The called workers of the stage, which are parked when they starve.
    Workers,
    /// The dial of the stage with this index.
    Dial(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// The index of the knob.
    pub knob: usize,
    pub to: usize,
    pub why: &'static str,
}

/// The state between looks.
#[derive(Debug, Default)]
pub(crate) struct Balance {
    /// The last look, which shows the stages that are busy now.
    last: Option<Look>,
    /// An older look, at most as old as the last move: enough time for usable rates.
    begin: Option<Look>,
    trial: Option<Trial>,
    /// For each knob, when it may go up and down again.
    up: Vec<Rest>,
    down: Vec<Rest>,
}

/// A move whose effect is not yet known.
#[derive(Clone, Copy, Debug)]
struct Trial {
    change: Change,
    from: usize,
    before: Span,
}

enum Verdict {
    Unknown,
    Keep,
    Undo,
}

/// The pause of a knob after a step that was undone.
#[derive(Clone, Copy, Debug, Default)]
struct Rest {
    until: f64,
    times: i32,
}

impl Rest {
    fn begin(&mut self, at: f64) {
        self.until = at + REST_S * 2_f64.powi(self.times);
        self.times += 1;
    }
}

impl Balance {
    /// Takes the work of the stages so far, and returns the next move if one is due.
    pub(crate) fn look(&mut self, now: Look, knobs: &[Knob]) -> Option<Change> {
        self.up.resize_with(knobs.len(), Rest::default);
        self.down.resize_with(knobs.len(), Rest::default);
        let at = now.at;
        let (Some(last), Some(begin)) = (self.last.replace(now.clone()), &self.begin) else {
            self.begin = Some(now);
            return None;
        };
        let (latest, interval) = (
            Interval::between(&last, &now),
            Interval::between(begin, &now),
        );
        if let Some(trial) = self.trial {
            match trial.verdict(&interval, knobs) {
                Verdict::Unknown => return None,
                Verdict::Undo => {
                    (self.trial, self.begin) = (None, Some(now));
                    return Some(self.undo(&trial, at, knobs));
                }
                Verdict::Keep => {}
            }
        }
        let change = self
            .raise_home(at, &latest, knobs)
            .or_else(|| self.raise_beyond(at, &interval, knobs))
            .or_else(|| self.lower(at, &interval, knobs));
        self.trial = change.map(|change| Trial {
            change,
            from: knobs[change.knob].now,
            before: interval.spans[knobs[change.knob].stage],
        });
        if change.is_some() || interval.seconds >= 2.0 * LONG_S {
            self.begin = Some(now);
        }
        change
    }

    fn undo(&mut self, trial: &Trial, at: f64, knobs: &[Knob]) -> Change {
        let Change { knob, to, .. } = trial.change;
        let rest = if to > trial.from {
            &mut self.up[knob]
        } else {
            &mut self.down[knob]
        };
        rest.begin(at);
        let why = if trial.must_gain(knobs) {
            "no gain"
        } else {
            "a loss"
        };
        Change {
            knob,
            to: trial.from,
            why,
        }
    }

    /// Raises the first knob below its home, of the busiest stage that has one.
    fn raise_home(&self, at: f64, latest: &Interval, knobs: &[Knob]) -> Option<Change> {
        let busy = latest
            .by_busy()
            .into_iter()
            .take_while(|&at| latest.spans[at].busy() >= BUSY);
        let below = |(_, knob): &(usize, Knob)| knob.now < knob.home;
        let (knob, found) = busy
            .flat_map(|stage| self.free(stage, at, knobs).filter(below))
            .next()?;
        let to = found.home.min(found.now.saturating_mul(STEP));
        Some(Change {
            knob,
            to,
            why: "busiest",
        })
    }

    /// Raises a knob of the bottleneck beyond its home.
    fn raise_beyond(&self, at: f64, interval: &Interval, knobs: &[Knob]) -> Option<Change> {
        let order = interval.by_busy();
        let (&first, &last) = (order.first()?, order.last()?);
        let busy = |stage: usize| interval.spans[stage].busy();
        if busy(first) < BUSIEST
            || busy(last) > 1.0 - OTHERS_IDLE
            || !interval.spans[first].tells(true)
        {
            return None;
        }
        let room = |(_, knob): &(usize, Knob)| knob.now < knob.most;
        let (knob, found) = self.free(first, at, knobs).find(room)?;
        let to = found.most.min(found.now.saturating_mul(2));
        Some(Change {
            knob,
            to,
            why: "bottleneck",
        })
    }

    /// The knobs of a stage that may go up now.
    fn free<'a>(
        &'a self,
        stage: usize,
        at: f64,
        knobs: &'a [Knob],
    ) -> impl Iterator<Item = (usize, Knob)> + 'a {
        let all = knobs.iter().copied().enumerate();
        all.filter(move |&(index, knob)| knob.stage == stage && self.up[index].until <= at)
    }

    /// Parks workers of the first stage that needs fewer than it has called.
    fn lower(&mut self, at: f64, interval: &Interval, knobs: &[Knob]) -> Option<Change> {
        if interval.seconds < LONG_S {
            return None;
        }
        let workers = |(_, knob): &(usize, &Knob)| knob.setting == Setting::Workers;
        for (index, knob) in knobs.iter().enumerate().filter(workers) {
            let span = &interval.spans[knob.stage];
            let uses = ((knob.now as f64 * span.busy() / ENOUGH).ceil() as usize).max(1);
            // A stage that began in this interval starved before that, but will not from now on.
            let is_idle = span.begun && span.is_active() && span.starved() > 1.0 - ENOUGH;
            if !is_idle || uses >= knob.now || !span.tells(false) || self.down[index].until > at {
                continue;
            }
            // Not again soon, even if this step does no harm.
            self.down[index].begin(at);
            return Some(Change {
                knob: index,
                to: uses.max(knob.now / 2),
                why: "starved",
            });
        }
        None
    }
}

impl Trial {
    fn verdict(&self, interval: &Interval, knobs: &[Knob]) -> Verdict {
        let after = &interval.spans[knobs[self.change.knob].stage];
        if after.ended {
            Verdict::Keep
        } else if !after.tells(self.must_gain(knobs)) {
            Verdict::Unknown
        } else if self.is_good(after, knobs) {
            Verdict::Keep
        } else {
            Verdict::Undo
        }
    }

    /// Whether it went up, beyond home.
    fn must_gain(&self, knobs: &[Knob]) -> bool {
        self.change.to > self.from && self.change.to > knobs[self.change.knob].home
    }

    /// Whether the rate since then is a reason to keep the new value.
    fn is_good(&self, after: &Span, knobs: &[Knob]) -> bool {
        let (before, now) = (self.before.rate(), after.rate());
        let error = self.before.error() + after.error();
        if self.must_gain(knobs) {
            return now > before * (1.0 + GAIN + error);
        }
        let may_lose = if self.change.to > self.from {
            LOSS
        } else {
            GAIN
        };
        now >= before * (1.0 - may_lose - error).max(0.0)
    }
}

#[cfg(test)]
mod tests;
