//! Locks of objects that one call uses at a time.
//!
//! A call that finds its object in use fails and does not wait: the other call may be further up on the
//! same stack, or wait for the GIL.

use std::sync::{Mutex, MutexGuard, TryLockError};

/// Locks an object for a call that uses it. The error is the text of an exception, `busy` while
/// another call uses the object.
pub(crate) fn to_use<'m, T>(
    mutex: &'m Mutex<T>,
    busy: &'static str,
) -> Result<MutexGuard<'m, T>, &'static str> {
    if mutex.is_poisoned() {
        Err("a call has panicked; this sort can only be closed")
    } else {
        to_close(mutex, busy)
    }
}

/// Locks an object whose sort ends, even after a panic: its temporary files must go.
pub(crate) fn to_close<'m, T>(
    mutex: &'m Mutex<T>,
    busy: &'static str,
) -> Result<MutexGuard<'m, T>, &'static str> {
    match mutex.try_lock() {
        Ok(held) => Ok(held),
        Err(TryLockError::WouldBlock) => Err(busy),
        Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
    }
}
