//! Limits that a provider or a control group sets: bytes and requests a second, beside the device's own time.
//!
//! ```text
//! the device      | latency | transfer |
//! its bytes       | share   |                  of the time in which that many may pass
//! its requests    | share        |
//! a request ends when it has passed all three; unused time of the last 100 ms is kept
//! ```

use node::Time;

use super::platter::Transfer;

/// The slice of Linux' throttle: requests pass at the device's speed until they have used the limit of a slice.
/// Clouds do not say what theirs is.
const KEPT_NS: u64 = 100_000_000;

/// Nanoseconds of a limit that a KiB, or a request, takes; 0 is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limit {
    /// The share if it is read.
    pub read_ns: u64,
    /// The share if it is written.
    pub write_ns: u64,
    /// Whether writes have a limit of their own. Otherwise they take shares from that of reads.
    pub is_apart: bool,
}

/// A limit and the time at which all that passed it has had its share.
#[derive(Default)]
pub(super) struct Shares {
    pub(super) limit: Limit,
    all: Time,
    writes: Time,
}

impl Shares {
    pub(super) fn new(limit: Limit) -> Shares {
        Shares {
            limit,
            ..Shares::default()
        }
    }

    /// The end of the shares of so many KiB or requests that come now.
    pub(super) fn pass(
        &mut self,
        count: u64,
        transfer: Transfer,
        now: Time,
        ticks: impl Fn(u64) -> u64,
    ) -> Time {
        let (last, ns) = match transfer {
            Transfer::Read => (&mut self.all, self.limit.read_ns),
            Transfer::Write if self.limit.is_apart => (&mut self.writes, self.limit.write_ns),
            Transfer::Write => (&mut self.all, self.limit.write_ns),
        };
        let kept = Time(now.0.saturating_sub(ticks(KEPT_NS)));
        *last = kept.max(*last).after(ticks(ns.saturating_mul(count)));
        *last
    }
}
