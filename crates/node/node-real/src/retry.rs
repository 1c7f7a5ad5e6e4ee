//! Calls that a signal interrupts, on a pipe or a network file system, are made again.

use std::io;

use rustix::io::Errno;

/// A signal interrupts a call once, so a call that is interrupted as often as this without an end is
/// not interrupted by signals.
const MOST_INTERRUPTIONS: u32 = 10_000;

/// Makes a call, again if a signal interrupts it.
pub(crate) fn retried<T>(mut call: impl FnMut() -> rustix::io::Result<T>) -> rustix::io::Result<T> {
    for _ in 1..MOST_INTERRUPTIONS {
        match call() {
            Err(Errno::INTR) => {}
            ended => return ended,
        }
    }
    call()
}

/// As [`retried`], for calls of the standard library.
pub(crate) fn retried_std<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let system = |error: io::Error| Errno::from_io_error(&error).unwrap_or(Errno::INVAL);
    Ok(retried(|| call().map_err(system))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_made_again_but_not_for_ever() {
        for (interruptions, ends) in [(0, true), (1, true), (100, true), (u32::MAX, false)] {
            let mut calls = 0;
            let result = retried(|| {
                calls += 1;
                if calls <= interruptions {
                    Err(Errno::INTR)
                } else {
                    Ok(())
                }
            });
            assert_eq!(result.is_ok(), ends, "{interruptions}");
            assert_eq!(
                calls,
                MOST_INTERRUPTIONS.min(interruptions.saturating_add(1))
            );
        }
        assert_eq!(retried(|| Err::<(), _>(Errno::IO)), Err(Errno::IO));
    }
}
