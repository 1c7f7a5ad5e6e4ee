//! The primitive of waiting on threads: an epoch with a condition variable.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, PoisonError};
use std::time::Instant;

use node::Mutex;
use node::backend::Signal;

/// An epoch that threads wait past. Advancing takes no lock while no thread waits.
#[derive(Debug, Default)]
pub(crate) struct ThreadSignal {
    epoch: AtomicU64,
    waiters: AtomicUsize,
    gate: Mutex<()>,
    changed: Condvar,
}

impl ThreadSignal {
    /// Sleeps until the epoch is past `epoch` (true) or the deadline has come (false).
    pub(crate) fn wait_past(&self, epoch: u64, deadline: Option<Instant>) -> bool {
        if self.epoch() > epoch {
            return true;
        }
        // Announced before the last look at the epoch: an advance after that look sees the waiter,
        // and takes the gate that this thread holds until it sleeps.
        self.waiters.fetch_add(1, Ordering::SeqCst);
        let passed = self.sleep_past(epoch, deadline);
        self.waiters.fetch_sub(1, Ordering::SeqCst);
        passed
    }

    fn sleep_past(&self, epoch: u64, deadline: Option<Instant>) -> bool {
        let mut gate = self.gate.lock();
        while self.epoch() <= epoch {
            let Some(deadline) = deadline else {
                let woken = self.changed.wait(gate);
                gate = woken.unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let woken = self.changed.wait_timeout(gate, left);
            gate = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

impl Signal for ThreadSignal {
    fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::SeqCst)
    }

    fn advance(&self) {
        self.epoch.fetch_add(1, Ordering::SeqCst);
        if self.waiters.load(Ordering::SeqCst) > 0 {
            drop(self.gate.lock());
            self.changed.notify_all();
        }
    }
}
