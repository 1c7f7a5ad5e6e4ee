//! Calls that a signal interrupts, on a pipe or a network file system, are made again.

use std::io;

use rustix::io::Errno;

/// A signal interrupts a call once, so a call that is interrupted as often as this without an end is
/// not interrupted by signals. A timer of a profiler has ended ten seconds before.
const MOST_INTERRUPTIONS: u32 = 10_000;

/// An error that may say that a signal came.
pub(crate) trait Interruption {
    fn is_interruption(&self) -> bool;
}

impl Interruption for Errno {
    fn is_interruption(&self) -> bool {
        *self == Errno::INTR
    }
}

impl Interruption for io::Error {
    fn is_interruption(&self) -> bool {
        self.kind() == io::ErrorKind::Interrupted
    }
}

/// Makes a call, again if a signal interrupts it.
pub(crate) fn retried<T, E: Interruption>(mut call: impl FnMut() -> Result<T, E>) -> Result<T, E> {
    for _ in 1..MOST_INTERRUPTIONS {
        match call() {
            Err(error) if error.is_interruption() => {}
            ended => return ended,
        }
    }
    call()
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
                match calls <= interruptions {
                    true => Err(Errno::INTR),
                    false => Ok(()),
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
