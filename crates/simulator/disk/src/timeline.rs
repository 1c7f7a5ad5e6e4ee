//! The part of a simulator that disks use.

use node::Time;

/// A call that a simulator makes later.
pub type Call = Box<dyn FnOnce() + Send>;

/// A clock that accepts calls for later.
pub trait Timeline: Send + Sync {
    /// The present time.
    fn now(&self) -> Time;
    /// Length of a tick in femtoseconds.
    fn tick_fs(&self) -> u64;
    /// Makes `call` at `at`.
    fn call_at(&self, at: Time, call: Call);
    /// As [`Timeline::call_at`], for calls that may run in any order within one moment.
    fn call_in_any_order(&self, at: Time, call: Call);
}
