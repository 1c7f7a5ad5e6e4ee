//! Writes that end no host.
//!
//! A write to a pipe without a reader fails, and one beyond the limit of file sizes, too; but first the
//! system sends a signal to the thread, SIGPIPE or SIGXFSZ, which ends a process that left it at its
//! default. A library changes no handler of its host. So the thread blocks both signals while it
//! writes, and takes the one that its write has caused.

#![allow(unsafe_code)]

use std::mem::MaybeUninit;
use std::ptr::null_mut;

use libc::{SIG_BLOCK, SIG_SETMASK, SIGPIPE, SIGXFSZ, c_int, sigset_t};
use rustix::io::{Errno, Result};

/// Does a system call that writes; its failure is an error, and no signal.
pub(crate) fn without_signals<T>(write: impl FnOnce() -> Result<T>) -> Result<T> {
    let (blocked, mut before) = (set_of(&[SIGPIPE, SIGXFSZ]), empty());
    let waiting = pending();
    // SAFETY: both sets are initialised; the call changes the mask of this thread only.
    unsafe { libc::pthread_sigmask(SIG_BLOCK, &raw const blocked, &raw mut before) };
    let result = write();
    let sent = match result {
        Err(Errno::PIPE) => Some(SIGPIPE),
        Err(Errno::FBIG) => Some(SIGXFSZ),
        _ => None,
    };
    // One that waited before is the host's: with it the new one is the same signal.
    if let Some(signal) = sent.filter(|&signal| !has(&waiting, signal)) {
        take(signal);
    }
    // SAFETY: the mask that the thread had.
    unsafe { libc::pthread_sigmask(SIG_SETMASK, &raw const before, null_mut()) };
    result
}

/// Takes a signal that is blocked and waits for this thread; there is none if it is ignored.
fn take(signal: c_int) {
    let set = set_of(&[signal]);
    let at_once = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the set and the time are initialised, and no information is asked for. A call that a handler
    // interrupts has waited for nothing, and takes the signal the next time.
    while unsafe { libc::sigtimedwait(&raw const set, null_mut(), &raw const at_once) } == -1
        && std::io::Error::last_os_error().raw_os_error() == Some(libc::EINTR)
    {}
}

fn empty() -> sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the call initialises the set.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        set.assume_init()
    }
}

fn set_of(signals: &[c_int]) -> sigset_t {
    let mut set = empty();
    for &signal in signals {
        // SAFETY: the set is initialised.
        unsafe { libc::sigaddset(&raw mut set, signal) };
    }
    set
}

/// The signals that wait for this thread or the process.
fn pending() -> sigset_t {
    let mut set = empty();
    // SAFETY: the set has room.
    unsafe { libc::sigpending(&raw mut set) };
    set
}

fn has(set: &sigset_t, signal: c_int) -> bool {
    // SAFETY: the set is initialised.
    unsafe { libc::sigismember(set, signal) == 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::null;

    fn mask() -> sigset_t {
        let mut mask = empty();
        // SAFETY: the set has room, and nothing is changed.
        unsafe { libc::pthread_sigmask(SIG_BLOCK, null(), &raw mut mask) };
        mask
    }

    fn at_default(signal: c_int) {
        // SAFETY: the default action is no function.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }

    /// With the signal at its default, as in C, the test would end here otherwise.
    #[test]
    fn a_pipe_without_a_reader_is_an_error() {
        at_default(SIGPIPE);
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        for _ in 0..2 {
            let result = without_signals(|| rustix::io::write(&writer, b"a"));
            assert_eq!(result, Err(Errno::PIPE));
            assert!(!has(&mask(), SIGPIPE) && !has(&pending(), SIGPIPE));
        }
    }

    /// A host that has blocked the signal itself, and waits for it, gets it.
    #[test]
    fn a_signal_that_waited_stays() {
        std::thread::spawn(|| {
            at_default(SIGPIPE);
            let blocked = set_of(&[SIGPIPE]);
            // SAFETY: the mask of this thread, which ends here, and a signal to it that is blocked.
            unsafe {
                libc::pthread_sigmask(SIG_BLOCK, &raw const blocked, null_mut());
                libc::pthread_kill(libc::pthread_self(), SIGPIPE);
            }
            let (reader, writer) = std::io::pipe().unwrap();
            drop(reader);
            let result = without_signals(|| rustix::io::write(&writer, b"a"));
            assert_eq!(result, Err(Errno::PIPE));
            assert!(has(&mask(), SIGPIPE) && has(&pending(), SIGPIPE));
        })
        .join()
        .unwrap();
    }

    #[test]
    fn other_results_pass() {
        assert_eq!(without_signals(|| Ok(7)), Ok(7));
        let failed: Result<()> = without_signals(|| Err(Errno::IO));
        assert_eq!(failed, Err(Errno::IO));
    }
}
