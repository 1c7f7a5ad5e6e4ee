//! What to move, from what stages did since the last move: a function of figures alone.
//!
//! ```text
//! the busiest stage --- below its home: up, at most four times ----> kept, unless much is lost
//!                  \--- at its home, others wait: up by a little --> kept if it proves a gain, else undone
//! a stage that starves --- down to what it uses ------------------> kept, unless something is lost
//! ```
//!
//! Home is what the plan derived. A plan knows more than a few measured intervals do, so the way
//! back to it needs no proof, and every step away from it does. A step that was undone is not tried
//! again for a while, each time for twice as long: so a run that is right from the start sees few
//! moves, however long it is.
//!
//! What a step has brought is measured at the stage itself: queues are short, so in any while that
//! counts all stages of a pipeline pass the same bytes.

use super::window::{LONG_S, Look, Span, Window};

/// A stage that is busy less than this part of its time holds nobody up.
const BUSY: f64 = 0.7;

/// A stage that is busy this part of its time is the bottleneck, if others wait.
const BUSIEST: f64 = 0.9;

/// Others wait if one of them is idle for this part of its time.
const OTHERS_IDLE: f64 = 0.2;

/// Workers may be parked if the rest is then busy less than this: far below [`BUSY`], so that they
/// are not called again at once.
const ENOUGH: f64 = 0.4;

/// On the way home, at most so many times as much at a step.
const STEP: usize = 4;

/// A step beyond home must bring this part more, beside what the measure may be wrong by.
const GAIN: f64 = 0.05;

/// A step home may lose this part: it was not the step's fault, most likely. A computer that others
/// use, too, loses a fifth from one look to the next.
const LOSS: f64 = 0.4;

/// How long what was undone is not tried again, the first time.
const REST_S: f64 = 1.0;

/// A number that can be moved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Knob {
    /// Whose, by its place in the pipeline.
    pub stage: usize,
    /// Whether it is the number of workers: they are parked when they starve.
    pub workers: bool,
    pub now: usize,
    /// What the plan derived.
    pub home: usize,
    pub most: usize,
}

/// A move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// By its place among the knobs.
    pub knob: usize,
    pub to: usize,
    pub why: &'static str,
}

/// What is remembered from look to look.
#[derive(Debug, Default)]
pub(crate) struct Balance {
    /// When the last look was, and what had been done then: who is busy now.
    last: Option<Look>,
    /// The same of the last move, or of some looks ago: rates that are worth something.
    begin: Option<Look>,
    trial: Option<Trial>,
    /// Of each knob, when it may go up and down again.
    up: Vec<Rest>,
    down: Vec<Rest>,
}

/// A move that has yet to show what it brings.
#[derive(Clone, Copy, Debug)]
struct Trial {
    change: Change,
    from: usize,
    before: Span,
}

/// What was undone rests.
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
    /// Looks at what stages have done; what to move now, if anything.
    pub(crate) fn look(&mut self, now: Look, knobs: &[Knob]) -> Option<Change> {
        self.up.resize_with(knobs.len(), Rest::default);
        self.down.resize_with(knobs.len(), Rest::default);
        let at = now.at;
        let (Some(last), Some(begin)) = (self.last.replace(now.clone()), &self.begin) else {
            self.begin = Some(now);
            return None;
        };
        let (latest, window) = (Window::between(&last, &now), Window::between(begin, &now));
        if let Some(trial) = self.trial {
            let after = window.spans[knobs[trial.change.knob].stage];
            if !after.ended && !after.tells(trial.must_gain(knobs)) {
                return None;
            }
            if !after.ended && !trial.is_good(&after, knobs) {
                (self.trial, self.begin) = (None, Some(now));
                return Some(self.undo(&trial, at, knobs));
            }
        }
        let change = self.raise_home(at, &latest, knobs);
        let change = change.or_else(|| self.raise_beyond(at, &window, knobs));
        let change = change.or_else(|| self.lower(at, &window, knobs));
        self.trial = change.map(|change| {
            let Knob {
                stage, now: from, ..
            } = knobs[change.knob];
            Trial {
                change,
                from,
                before: window.spans[stage],
            }
        });
        if change.is_some() || window.seconds >= 2.0 * LONG_S {
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

    /// Of the busiest stage that has a knob below its home, the first such knob.
    fn raise_home(&self, at: f64, latest: &Window, knobs: &[Knob]) -> Option<Change> {
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

    /// A knob of the stage that holds the others up, beyond its home.
    fn raise_beyond(&self, at: f64, window: &Window, knobs: &[Knob]) -> Option<Change> {
        let order = window.by_busy();
        let (&first, &last) = (order.first()?, order.last()?);
        let busy = |stage: usize| window.spans[stage].busy();
        if busy(first) < BUSIEST
            || busy(last) > 1.0 - OTHERS_IDLE
            || !window.spans[first].tells(true)
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

    /// The knobs of a stage that may go up.
    fn free<'a>(
        &'a self,
        stage: usize,
        at: f64,
        knobs: &'a [Knob],
    ) -> impl Iterator<Item = (usize, Knob)> + 'a {
        let all = knobs.iter().copied().enumerate();
        all.filter(move |&(index, knob)| knob.stage == stage && self.up[index].until <= at)
    }

    /// The first stage that needs fewer workers than it has called.
    fn lower(&mut self, at: f64, window: &Window, knobs: &[Knob]) -> Option<Change> {
        if window.seconds < LONG_S {
            return None;
        }
        for (index, knob) in knobs.iter().enumerate().filter(|(_, knob)| knob.workers) {
            let span = &window.spans[knob.stage];
            let uses = ((knob.now as f64 * span.busy() / ENOUGH).ceil() as usize).max(1);
            // A stage that begins in this window has starved until then, and will not from now on.
            let is_idle = span.begun && span.is_active() && span.starved() > 1.0 - ENOUGH;
            if !is_idle || uses >= knob.now || !span.tells(false) || self.down[index].until > at {
                continue;
            }
            // It does not come again soon, even if it does no harm.
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
    /// Whether it went away from home, upwards.
    fn must_gain(&self, knobs: &[Knob]) -> bool {
        self.change.to > self.from && self.change.to > knobs[self.change.knob].home
    }

    /// Whether what happened since then is a reason to stay.
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
