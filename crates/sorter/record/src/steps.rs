//! The bytes that a thread has looked at to find, encode and compare keys, for tests of how work grows.
//!
//! Only builds with debug assertions count; in others [`count`] is nothing.

#[cfg(debug_assertions)]
thread_local! {
    static TAKEN: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Notes that so many more bytes were looked at.
#[inline(always)]
pub(crate) fn count(bytes: usize) {
    #[cfg(debug_assertions)]
    TAKEN.set(TAKEN.get() + bytes as u64);
    #[cfg(not(debug_assertions))]
    let _ = bytes;
}

/// The steps of this thread so far.
#[cfg(debug_assertions)]
#[must_use]
pub fn taken() -> u64 {
    TAKEN.get()
}
