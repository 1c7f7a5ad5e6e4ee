//! A worker's time by activity. It can be read while the worker waits, and then includes the wait
//! so far.

use node::{Mutex, Time};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Doing {
    /// Not begun, or ended.
    #[default]
    Away,
    /// At work, or waiting for its disk.
    Busy,
    /// Waiting for work.
    Starved,
    /// Waiting for room or buffers downstream.
    Blocked,
}

/// Ticks by activity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spent {
    pub busy: u64,
    pub starved: u64,
    pub blocked: u64,
}

/// One worker's clock. It is locked twice per wait of a unit and nearly always free, so the lock
/// costs no measurable time.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    doing: Doing,
    since: Time,
    spent: Spent,
}

impl Clock {
    pub(crate) fn turn_to(&self, doing: Doing, now: Time) {
        let mut state = self.state.lock();
        state.spent = state.until(now);
        (state.doing, state.since) = (doing, now);
    }

    pub(crate) fn spent(&self, now: Time) -> Spent {
        self.state.lock().until(now)
    }
}

impl State {
    fn until(&self, now: Time) -> Spent {
        let (mut spent, ticks) = (self.spent, now.since(self.since));
        match self.doing {
            Doing::Away => {}
            Doing::Busy => spent.busy += ticks,
            Doing::Starved => spent.starved += ticks,
            Doing::Blocked => spent.blocked += ticks,
        }
        spent
    }
}

impl Spent {
    pub(crate) fn plus(self, other: Spent) -> Spent {
        Spent {
            busy: self.busy + other.busy,
            starved: self.starved + other.starved,
            blocked: self.blocked + other.blocked,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_counts_while_it_lasts() {
        let clock = Clock::default();
        clock.turn_to(Doing::Busy, Time(10));
        assert_eq!(
            clock.spent(Time(15)),
            Spent {
                busy: 5,
                ..Spent::default()
            }
        );
        clock.turn_to(Doing::Starved, Time(20));
        assert_eq!(
            clock.spent(Time(30)),
            Spent {
                busy: 10,
                starved: 10,
                blocked: 0
            }
        );
        clock.turn_to(Doing::Away, Time(50));
        assert_eq!(
            clock.spent(Time(99)),
            Spent {
                busy: 10,
                starved: 30,
                blocked: 0
            }
        );
    }

    #[test]
    fn spent_time_adds_up_by_activity() {
        let (some, more) = (
            Spent {
                busy: 1,
                starved: 2,
                blocked: 4,
            },
            Spent {
                busy: 8,
                starved: 16,
                blocked: 32,
            },
        );
        let both = some.plus(more);
        assert_eq!(
            both,
            Spent {
                busy: 9,
                starved: 18,
                blocked: 36
            }
        );
        let clock = Clock::default();
        clock.turn_to(Doing::Blocked, Time(10));
        assert_eq!(
            clock.spent(Time(17)),
            Spent {
                blocked: 7,
                ..Spent::default()
            }
        );
    }
}
