//! Signals that end a run: which are heard, and what the process exits with.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::failure::CliFailure;

/// What a process that a signal ended exits with: this and the signal's number.
const SIGNAL_CODE: i32 = 128;

/// The exit code of a run that `signal` ended.
pub fn code(signal: i32) -> i32 {
    SIGNAL_CODE + signal
}

/// What people call it.
pub fn name(signal: i32) -> &'static str {
    match signal {
        SIGINT => "SIGINT",
        SIGTERM => "SIGTERM",
        _ => "SIGHUP",
    }
}

/// The signals that end a run; one that was ignored when the process began (`nohup`) stays ignored.
pub fn ending() -> Vec<i32> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    let is_heard = |signal: &i32| ignored >> (signal - 1) & 1 == 0;
    [SIGINT, SIGTERM, SIGHUP].into_iter().filter(is_heard).collect()
}

/// Signals could not be watched.
pub fn unwatched(cause: std::io::Error) -> CliFailure {
    CliFailure::new("system", format!("cannot watch for signals: {cause}; raise ulimit -u and -n"))
}
