//! A mutex that ignores poisoning.
//!
//! A panic in a task is caught and reported where the task ends, and states change in single steps,
//! so the other threads may continue with the state that a panicking one left.

use std::cell::Cell;
use std::sync::{MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

thread_local! {
    static WAITS: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// The time for which this thread has waited for a [`Mutex`] that another held.
pub fn lock_waits() -> Duration {
    WAITS.get()
}

/// As [`std::sync::Mutex`], but a lock that a panicking thread held can be taken again.
#[derive(Debug, Default)]
pub struct Mutex<T>(std::sync::Mutex<T>);

impl<T> Mutex<T> {
    /// A mutex that holds `value`.
    pub const fn new(value: T) -> Mutex<T> {
        Mutex(std::sync::Mutex::new(value))
    }

    /// Locks it, blocking the thread. The guard is the standard one, so that a condition variable
    /// can wait with it.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        match self.0.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => self.wait(),
        }
    }

    #[cold]
    fn wait(&self) -> MutexGuard<'_, T> {
        let begin = Instant::now();
        let guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        WAITS.set(WAITS.get() + begin.elapsed());
        guard
    }

    /// The value of a mutex that is no longer shared.
    pub fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}
