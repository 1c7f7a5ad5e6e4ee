//! The launcher of this process, as far as the process table of this host shows it: its start time
//! and its terminal.
//!
//! ```text
//! terminal --- mpirun ---- pipe ---- gristmill (rank 0)
//!                 \--- daemon on another host ---- gristmill (rank 1)
//! ```
//!
//! A rank's standard error is a pipe to its launcher, so only the launcher has a terminal. If it
//! runs on another host than rank 0, no bar is shown, and the launch counts from the start of this
//! process.

mod cores;
mod environment;
mod table;

use std::fs::{self, File, OpenOptions};
use std::io::IsTerminal;
use std::os::unix::fs::OpenOptionsExt;

use rustix::fs::OFlags;

pub use cores::cores;
pub use environment::{
    RANK_0_TELLS, SIZES, is_later_rank, is_launched, is_one_of_several_commands, is_only_rank,
    is_open_mpi, leaves_usage_to_another, rank, ranks_here,
};
pub use table::{Listed, listed};

/// Names of launchers, or how they begin.
const NAMES: [&str; 6] = ["mpirun", "mpiexec", "orterun", "prterun", "prun", "srun"];

/// Ancestors to look at: a daemon, a shell and wrappers such as `timeout` or `numactl` may be
/// between the launcher and a rank.
const GENERATIONS: usize = 6;

/// The unit of start times in /proc: USER_HZ, which is 100 on all platforms of Rust.
const TICKS_PER_S: f64 = 100.0;

/// A process on this host.
struct Process {
    id: u32,
    name: String,
    state: char,
    parent: u32,
    /// The time that it has used of all cores, in seconds.
    used_s: f64,
    /// Its start, in seconds after the boot of the host.
    begin_s: f64,
}

impl Process {
    fn of(id: u32) -> Option<Process> {
        Process::parse(id, &fs::read_to_string(format!("/proc/{id}/stat")).ok()?)
    }

    /// Reads `1234 (any name) S 1000 ...`: the state is field 3, the parent 4, the times used are 14 and 15, the
    /// start is 22 (proc(5)).
    fn parse(id: u32, stat: &str) -> Option<Process> {
        let (name, rest) = stat.split_once('(')?.1.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let field = |number: usize| fields.get(number - 3);
        let seconds = |number| Some(field(number)?.parse::<f64>().ok()? / TICKS_PER_S);
        Some(Process {
            id,
            name: name.to_owned(),
            state: field(3)?.chars().next()?,
            parent: field(4)?.parse().ok()?,
            used_s: seconds(14)? + seconds(15)?,
            begin_s: seconds(22)?,
        })
    }
}

fn since_boot_s() -> Option<f64> {
    let uptime = fs::read_to_string("/proc/uptime").ok()?;
    uptime.split_whitespace().next()?.parse().ok()
}

/// The launcher among this process's ancestors.
fn launcher() -> Option<Process> {
    let mut process = Process::of(std::process::id())?;
    for _ in 0..GENERATIONS {
        process = Process::of(process.parent)?;
        if NAMES.iter().any(|name| process.name.starts_with(name)) {
            return Some(process);
        }
    }
    None
}

/// The terminal of the launcher's standard error, opened to ask for its size.
pub fn terminal() -> Option<File> {
    let path = format!("/proc/{}/fd/2", launcher()?.id);
    // Opening a pipe could disturb its reader.
    fs::read_link(&path)
        .ok()
        .filter(|target| target.starts_with("/dev/"))?;
    let flags = (OFlags::NOCTTY | OFlags::NONBLOCK).bits() as i32;
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)
        .ok()?;
    opened.is_terminal().then_some(opened)
}

/// The time of a job before its ranks begin: starting processes, connecting, checking options.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// Its length in seconds.
    pub seconds: f64,
    /// The process with whose start it begins: the launcher by its name, or rank 0.
    pub since: String,
}

impl Launch {
    /// The name of this process, if its launcher runs on another host.
    const OWN: &str = "rank 0";

    /// The time until now, to a hundredth of a second, as precise as the kernel's.
    pub fn until_now() -> Option<Launch> {
        let now_s = since_boot_s()?;
        let (begin_s, since) = match launcher() {
            Some(launcher) => (launcher.begin_s, launcher.name),
            None => (
                Process::of(std::process::id())?.begin_s,
                Launch::OWN.to_owned(),
            ),
        };
        let ticks = ((now_s - begin_s).max(0.0) * TICKS_PER_S).round();
        Some(Launch {
            seconds: ticks / TICKS_PER_S,
            since,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_name_may_contain_parentheses() {
        let fields = "S 7 8 9 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 12345 0 0";
        let process = Process::parse(42, &format!("42 (a) b (c) {fields}")).unwrap();
        assert_eq!((process.name.as_str(), process.parent), ("a) b (c", 7));
        assert_eq!((process.begin_s, process.state), (123.45, 'S'));
        assert!(Process::parse(42, "42 (cut) S 7").is_none());
    }

    #[test]
    fn this_process_has_begun_before_now() {
        let launch = Launch::until_now().unwrap();
        let own = Process::of(std::process::id()).unwrap();
        assert!(launch.seconds >= 0.0 && own.begin_s > 0.0, "{launch:?}");
        assert_eq!(own.parent, std::os::unix::process::parent_id());
    }
}
