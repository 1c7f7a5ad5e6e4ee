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
use rustix::io::Result;

/// Does a system call that writes; its failure is an error, and no signal.
pub(crate) fn without_signals<T>(write: impl FnOnce() -> Result<T>) -> Result<T> {
    let (own, mut before) = (set_of(&[SIGPIPE, SIGXFSZ]), empty());
    // One that waits before is the host's: with it the new one is the same signal.
    let waiting = pending();
    let mut sent = own;
    for signal in [SIGPIPE, SIGXFSZ] {
        if has(&waiting, signal) {
            // SAFETY: the set is initialised.
            unsafe { libc::sigdelset(&raw mut sent, signal) };
        }
    }
    // SAFETY: both sets are initialised; the call changes the mask of this thread only.
    unsafe { libc::pthread_sigmask(SIG_BLOCK, &raw const own, &raw mut before) };
    let result = write();
    // A write that was cut short has sent one, too.
    take(&sent);
    // SAFETY: the mask that the thread had.
    unsafe { libc::pthread_sigmask(SIG_SETMASK, &raw const before, null_mut()) };
    result
}

/// Takes the blocked signals of a set that wait for this thread.
fn take(set: &sigset_t) {
    let at_once = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // A handler of the host for another signal may run meanwhile.
    let again = || std::io::Error::last_os_error().raw_os_error() == Some(libc::EINTR);
    // SAFETY: the set and the time are initialised, and no information is asked for.
    while unsafe { libc::sigtimedwait(set, null_mut(), &raw const at_once) } != -1 || again() {}
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
    use rustix::io::Errno;
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

    /// The reader goes while the write waits for it: a part is written, and the signal comes.
    #[test]
    fn a_write_that_was_cut_short_leaves_no_signal() {
        at_default(SIGPIPE);
        let (mut reader, writer) = std::io::pipe().unwrap();
        let gone = std::thread::spawn(move || {
            let mut some = [0; 100];
            std::io::Read::read_exact(&mut reader, &mut some).unwrap();
        });
        let written = without_signals(|| rustix::io::write(&writer, &vec![0; 1 << 20]));
        gone.join().unwrap();
        assert!(written.is_ok_and(|bytes| bytes < 1 << 20), "{written:?}");
        assert!(!has(&pending(), SIGPIPE));
    }

    #[test]
    fn other_results_pass() {
        assert_eq!(without_signals(|| Ok(7)), Ok(7));
        let failed: Result<()> = without_signals(|| Err(Errno::IO));
        assert_eq!(failed, Err(Errno::IO));
    }
}
