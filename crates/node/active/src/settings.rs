//! Limits of a bundle, and its totals.

use node::Time;

/// Limits of a bundle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Requests of an endpoint to one other that may be under way. gam allowed about 8.
    pub window: u16,
    /// Seconds until a request without an answer is sent again; then twice as long, and so on (AMUDP: 0.1).
    pub again: f64,
    /// Seconds until it is given up (AMUDP: 30).
    pub patience: f64,
    /// The endpoints of which this bundle hears; each takes memory for up to a window of answers.
    pub most_senders: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            window: 8,
            again: 0.1,
            patience: 30.0,
            most_senders: 1 << 16,
        }
    }
}

/// Times of the settings in ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticks {
    pub again: u64,
    pub patience: u64,
}

/// The time on a task's clock, and those that a request has from then on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    pub now: Time,
    pub ticks: Ticks,
}

/// Totals of a bundle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests that ran here.
    pub run: u64,
    /// Requests from here that were answered.
    pub answered: u64,
    /// Requests from here that were returned.
    pub returned: u64,
    /// Requests from here that were sent again.
    pub repeated: u64,
    /// Messages that are none of this protocol.
    pub foreign: u64,
}
