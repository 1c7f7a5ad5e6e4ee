//! The processes that tests start. Each gets the default signals, whatever the process that runs the
//! tests ignores (`nohup make test`, a job in the background), and has a limit of time: a test that
//! hangs fails, and says so.
//!
//! [`Command`] is used like that of the standard library; `crates/faces/cli/tests/suite/house.rs` checks that
//! tests use no other. A thread watches each child by a descriptor of the process, so it ends no other
//! process that got the same number.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{self, Child, CommandArgs, CommandEnvs, ExitStatus, Output, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Once, mpsc};
use std::time::{Duration, Instant};
use std::{fs, thread};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

#[cfg(test)]
mod tests;

/// A process that takes longer hangs: the longest take half a minute, and ten on cores that many share.
pub const LIMIT: Duration = Duration::from_secs(900);

/// The time between the request to end and the kill, so that a launcher can end its ranks.
const GRACE: Duration = Duration::from_secs(3);

/// The signals that a shell or `nohup` lets a command ignore.
const IGNORABLE: [Signal; 4] = [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM];

/// A process to start, as [`std::process::Command`] describes it, and its limit of time.
#[derive(Debug)]
pub struct Command {
    described: process::Command,
    limit: Duration,
    /// Whether standard input, output and error were chosen.
    chosen: [bool; 3],
}

impl Command {
    /// Starts the program that has this name, without arguments.
    pub fn new(program: impl AsRef<OsStr>) -> Command {
        Command {
            described: process::Command::new(program),
            limit: LIMIT,
            chosen: [false; 3],
        }
    }

    fn with(
        &mut self,
        describe: impl FnOnce(&mut process::Command) -> &mut process::Command,
    ) -> &mut Command {
        describe(&mut self.described);
        self
    }

    /// Gives it another limit of time than [`LIMIT`].
    pub fn within(&mut self, limit: Duration) -> &mut Command {
        self.limit = limit;
        self
    }

    /// Adds an argument.
    pub fn arg(&mut self, argument: impl AsRef<OsStr>) -> &mut Command {
        self.with(|it| it.arg(argument))
    }

    /// Adds arguments.
    pub fn args<A: AsRef<OsStr>>(
        &mut self,
        arguments: impl IntoIterator<Item = A>,
    ) -> &mut Command {
        self.with(|it| it.args(arguments))
    }

    /// Sets a variable of the environment.
    pub fn env(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> &mut Command {
        self.with(|it| it.env(name, value))
    }

    /// Sets variables of the environment.
    pub fn envs<N: AsRef<OsStr>, V: AsRef<OsStr>>(
        &mut self,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> &mut Command {
        self.with(|it| it.envs(variables))
    }

    /// Removes a variable of the environment.
    pub fn env_remove(&mut self, name: impl AsRef<OsStr>) -> &mut Command {
        self.with(|it| it.env_remove(name))
    }

    /// Removes all variables of the environment.
    pub fn env_clear(&mut self) -> &mut Command {
        self.with(|it| it.env_clear())
    }

    /// Starts it in this directory.
    pub fn current_dir(&mut self, directory: impl AsRef<Path>) -> &mut Command {
        self.with(|it| it.current_dir(directory))
    }

    /// Starts it as this user.
    pub fn uid(&mut self, user: u32) -> &mut Command {
        self.with(|it| it.uid(user))
    }

    /// Starts it as this group.
    pub fn gid(&mut self, group: u32) -> &mut Command {
        self.with(|it| it.gid(group))
    }

    /// Gives it a standard input.
    pub fn stdin(&mut self, from: impl Into<Stdio>) -> &mut Command {
        self.chosen[0] = true;
        self.with(|it| it.stdin(from))
    }

    /// Gives it a standard output.
    pub fn stdout(&mut self, to: impl Into<Stdio>) -> &mut Command {
        self.chosen[1] = true;
        self.with(|it| it.stdout(to))
    }

    /// Gives it a standard error.
    pub fn stderr(&mut self, to: impl Into<Stdio>) -> &mut Command {
        self.chosen[2] = true;
        self.with(|it| it.stderr(to))
    }

    /// The name of the program.
    pub fn get_program(&self) -> &OsStr {
        self.described.get_program()
    }

    /// The arguments.
    pub fn get_args(&self) -> CommandArgs<'_> {
        self.described.get_args()
    }

    /// The variables that are set or removed.
    pub fn get_envs(&self) -> CommandEnvs<'_> {
        self.described.get_envs()
    }

    /// Starts it. It gets the signal to end at its limit of time, and is killed with its children if it
    /// then goes on.
    ///
    /// # Errors
    /// When the system cannot start it.
    pub fn spawn(&mut self) -> io::Result<Child> {
        hear_signals();
        let child = self.described.spawn()?;
        let id = Pid::from_child(&child);
        let process = pidfd_open(id, PidfdFlags::empty())?;
        let (limit, name) = (self.limit, format!("{:?}", self.described));
        thread::spawn(move || {
            if has_ended(&process, limit) {
                return;
            }
            eprintln!("{name} did not end in {limit:?}, and is ended");
            let _ = pidfd_send_signal(&process, Signal::TERM);
            if !has_ended(&process, GRACE) {
                kill_all(id);
            }
        });
        Ok(child)
    }

    /// Runs it, and gives its end and all that it wrote.
    ///
    /// # Errors
    /// When the system cannot start it.
    pub fn output(&mut self) -> io::Result<Output> {
        let [stdin, stdout, stderr] = self.chosen;
        if !stdin {
            self.described.stdin(Stdio::null());
        }
        if !stdout {
            self.described.stdout(Stdio::piped());
        }
        if !stderr {
            self.described.stderr(Stdio::piped());
        }
        self.spawn()?.wait_with_output()
    }

    /// Runs it, and gives its end.
    ///
    /// # Errors
    /// When the system cannot start it.
    pub fn status(&mut self) -> io::Result<ExitStatus> {
        self.spawn()?.wait()
    }
}

/// Does in a thread what might wait without an end, such as opening a named pipe.
///
/// # Panics
/// When `act` panics, or takes longer than [`LIMIT`].
#[track_caller]
pub fn in_time<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> T {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || tell.send(act()));
    told.recv_timeout(LIMIT)
        .expect("it ends in time, and does not panic")
}

/// From now on a process that this one starts has the default action for each signal: this process
/// still ignores a signal that it ignored, but by a handler, and a new program inherits no handlers.
fn hear_signals() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for signal in IGNORABLE.into_iter().filter(|&signal| is_ignored(signal)) {
            let nobody_looks = Arc::new(AtomicBool::new(false));
            signal_hook::flag::register(signal.as_raw(), nobody_looks).expect("it can be caught");
        }
    });
}

/// Whether this process ignores a signal.
fn is_ignored(signal: Signal) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let bits = bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok());
    bits.is_some_and(|bits| bits >> (signal.as_raw() - 1) & 1 == 1)
}

/// Waits for the end of a process, but no longer than that.
fn has_ended(process: &OwnedFd, limit: Duration) -> bool {
    let begin = Instant::now();
    loop {
        let left = limit.saturating_sub(begin.elapsed());
        let wait = Timespec {
            tv_sec: left.as_secs().cast_signed(),
            tv_nsec: left.subsec_nanos().into(),
        };
        let mut all = [PollFd::new(process, PollFlags::IN)];
        match poll(&mut all, Some(&wait)) {
            Ok(0) if left.is_zero() => return false,
            // Interrupted, or woken a little early.
            Ok(0) | Err(_) => {}
            Ok(_) => return true,
        }
    }
}

/// Kills a process and those that it and its children have started.
fn kill_all(id: Pid) {
    let begun = children_of(id);
    let _ = kill_process(id, Signal::KILL);
    begun.into_iter().for_each(kill_all);
}

fn children_of(id: Pid) -> Vec<Pid> {
    let threads = fs::read_dir(format!("/proc/{}/task", id.as_raw_nonzero()));
    let threads = threads.into_iter().flatten().flatten();
    let lists =
        threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let ids = lists.flat_map(|list| {
        list.split(' ')
            .filter_map(|id| id.parse().ok())
            .collect::<Vec<_>>()
    });
    ids.filter_map(Pid::from_raw).collect()
}
