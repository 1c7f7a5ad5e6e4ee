//! A mutex that ignores poisoning.
//!
//! A panic in a task is caught and reported where the task ends, and states change in single steps,
//! so the other threads may continue with the state that a panicking one left.

use std::sync::{MutexGuard, PoisonError};

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
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value of a mutex that is no longer shared.
    pub fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}
