//! A mutex that ignores poisoning.
//!
//! A panic in a task is caught and reported where the task ends, and states change in single steps,
//! so the other threads may continue with the state that a panicking one left.

use std::cell::Cell;
use std::sync::{MutexGuard, OnceLock, PoisonError, TryLockError};
use std::time::Duration;

/// The time since some moment.
type Clock = fn() -> Duration;

static CLOCK: OnceLock<Clock> = OnceLock::new();

thread_local! {
    static WAITS: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Measures waits for locks from now on. Backends of one thread, whose locks are always free, need no clock.
pub fn measure_lock_waits(clock: Clock) {
    CLOCK.get_or_init(|| clock);
}

/// The time for which this thread has waited for a [`Mutex`] that another held, as far as it is measured.
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
        let now = || CLOCK.get().map_or(Duration::ZERO, |clock| clock());
        let begin = now();
        let guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        WAITS.set(WAITS.get() + now().saturating_sub(begin));
        guard
    }

    /// The value of a mutex that is no longer shared.
    pub fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Instant;

    use super::*;

    #[test]
    fn the_waits_of_a_thread_are_measured() {
        static BEGAN: OnceLock<Instant> = OnceLock::new();
        measure_lock_waits(|| BEGAN.get_or_init(Instant::now).elapsed());
        let mutex = Mutex::new(1);
        drop(mutex.lock());
        assert_eq!(lock_waits(), Duration::ZERO, "it was free");
        let held = mutex.lock();
        let (tell, told) = channel();
        let waited = std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                tell.send(()).unwrap();
                assert_eq!(*mutex.lock(), 1);
                lock_waits()
            });
            told.recv().unwrap();
            std::thread::sleep(Duration::from_millis(50));
            drop(held);
            other.join().unwrap()
        });
        assert!(waited > Duration::ZERO);
        assert_eq!(lock_waits(), Duration::ZERO, "of this thread");
    }
}
