//! Exit codes and signals.

use signal_hook::consts::{SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM};

/// The exit code of usage, input and I/O errors.
pub const FAILED: u8 = 2;

/// The exit code of a process that a signal ended, less the number of the signal.
const SIGNAL_CODE: i32 = 128;

/// The exit code after the reader of standard output went away, as a shell reports it for SIGPIPE.
pub const READER_GONE_CODE: u8 = (SIGNAL_CODE + SIGPIPE) as u8;

/// The exit code of a run that `signal` has ended.
pub fn of_signal(signal: i32) -> i32 {
    SIGNAL_CODE + signal
}

/// The name of `signal`, one of [`ending`].
pub fn name(signal: i32) -> &'static str {
    match signal {
        SIGINT => "SIGINT",
        SIGTERM => "SIGTERM",
        SIGQUIT => "SIGQUIT",
        _ => "SIGHUP",
    }
}

/// The signals that end a run. A signal that was ignored when the process began (`nohup`) stays
/// ignored.
pub fn ending() -> Vec<i32> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0);
    let is_heard = |signal: &i32| ignored >> (signal - 1) & 1 == 0;
    [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
        .into_iter()
        .filter(is_heard)
        .collect()
}
