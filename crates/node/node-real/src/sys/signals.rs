//! Writes that end no host.
//!
//! A write to a pipe without a reader fails, and one beyond the limit of file sizes, too; but first the
//! system sends a signal to the thread, SIGPIPE or SIGXFSZ, which ends a process that left it at its
//! default. A library changes no handler of its host. So the thread blocks both signals while it
//! writes, and takes the one that its write has caused.

#![allow(unsafe_code)]

use std::io::Error;
use std::mem::zeroed;
use std::ptr::null_mut;

use libc::{EINTR, SIG_BLOCK, SIG_SETMASK, SIGPIPE, SIGXFSZ, c_int, sigset_t};
use rustix::io::Result;

const SIGNALS: [c_int; 2] = [SIGPIPE, SIGXFSZ];

/// Does a system call that writes; its failure is an error, and no signal.
pub(crate) fn without_signals<T>(write: impl FnOnce() -> Result<T>) -> Result<T> {
    // SAFETY: a set is plain words, and all calls get sets and a time that are initialised. They change
    // the mask of this thread, until it is as before, and take signals of this thread.
    unsafe {
        let (mut own, mut before, mut waiting): (sigset_t, _, _) = (zeroed(), zeroed(), zeroed());
        for signal in SIGNALS {
            libc::sigaddset(&raw mut own, signal);
        }
        libc::sigpending(&raw mut waiting);
        libc::pthread_sigmask(SIG_BLOCK, &raw const own, &raw mut before);
        let result = write();
        for signal in SIGNALS {
            // It is the host's: with it the new one is the same signal.
            if libc::sigismember(&raw const waiting, signal) == 1 {
                libc::sigdelset(&raw mut own, signal);
            }
        }
        // A write that was cut short has sent one, too. A handler of the host may interrupt the call.
        let at_once = zeroed();
        while libc::sigtimedwait(&raw const own, null_mut(), &raw const at_once) != -1
            || Error::last_os_error().raw_os_error() == Some(EINTR)
        {}
        libc::pthread_sigmask(SIG_SETMASK, &raw const before, null_mut());
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::Errno;
    use std::ptr::null;

    /// Whether this thread blocks the signal, and whether it waits.
    fn state(signal: c_int) -> (bool, bool) {
        // SAFETY: the sets have room, and nothing is changed.
        unsafe {
            let (mut mask, mut waiting): (sigset_t, sigset_t) = (zeroed(), zeroed());
            libc::pthread_sigmask(SIG_BLOCK, null(), &raw mut mask);
            libc::sigpending(&raw mut waiting);
            let has = |set: &sigset_t| libc::sigismember(set, signal) == 1;
            (has(&mask), has(&waiting))
        }
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
            assert_eq!(state(SIGPIPE), (false, false));
        }
    }

    /// A host that has blocked the signal itself, and waits for it, gets it.
    #[test]
    fn a_signal_that_waited_stays() {
        std::thread::spawn(|| {
            at_default(SIGPIPE);
            // SAFETY: the mask of this thread, which ends here, and a signal to it that is blocked.
            unsafe {
                let mut blocked: sigset_t = zeroed();
                libc::sigaddset(&raw mut blocked, SIGPIPE);
                libc::pthread_sigmask(SIG_BLOCK, &raw const blocked, null_mut());
                libc::pthread_kill(libc::pthread_self(), SIGPIPE);
            }
            let (reader, writer) = std::io::pipe().unwrap();
            drop(reader);
            let result = without_signals(|| rustix::io::write(&writer, b"a"));
            assert_eq!(result, Err(Errno::PIPE));
            assert_eq!(state(SIGPIPE), (true, true));
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
        assert_eq!(state(SIGPIPE), (false, false));
    }

    #[test]
    fn other_results_pass() {
        assert_eq!(without_signals(|| Ok(7)), Ok(7));
        let failed: Result<()> = without_signals(|| Err(Errno::IO));
        assert_eq!(failed, Err(Errno::IO));
    }
}
