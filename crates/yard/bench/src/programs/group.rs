//! Control groups: a process and its page cache within a limit of memory, each in a fresh group.
//!
//! ```text
//! mkdir GROUP > limit > sh: join GROUP, then exec the contender > peak > rmdir GROUP
//! ```
//!
//! In version 1 of control groups a group is below our own, in version 2 next to it, since there a
//! group with processes has no groups below that are limited.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use terminal::ending::failure::CliFailure;
use terminal::ending::scratch::Held;

/// A version of control groups: where they are, and what their files are called.
#[derive(Debug, PartialEq, Eq)]
struct Version {
    root: &'static str,
    limit: &'static str,
    /// Memory and swap together, or swap: without it a contender would swap instead of obeying.
    swap: &'static str,
    peak: &'static str,
}

const V1: Version = Version {
    root: "/sys/fs/cgroup/memory",
    limit: "memory.limit_in_bytes",
    swap: "memory.memsw.limit_in_bytes",
    peak: "memory.max_usage_in_bytes",
};

const V2: Version = Version {
    root: "/sys/fs/cgroup",
    limit: "memory.max",
    swap: "memory.swap.max",
    peak: "memory.peak",
};

/// Joins the group that the first word names, then becomes the command.
const JOIN: &str = "echo $$ > \"$0\" && exec \"$@\"";

/// Where groups can be made.
pub struct Groups {
    parent: PathBuf,
    version: &'static Version,
    limit_bytes: u64,
}

impl Groups {
    /// Finds a place for groups of this limit, or why there is none.
    ///
    /// # Errors
    /// The reason why there is none.
    pub fn find(limit_bytes: u64) -> Result<Groups, String> {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let mut why = "there is no controller for memory in /proc/self/cgroup".to_owned();
        for (parent, version) in places(&own) {
            let groups = Groups {
                parent,
                version,
                limit_bytes,
            };
            match groups.make() {
                Ok(_) => return Ok(groups),
                Err(failure) => why = failure.message,
            }
        }
        Err(why)
    }

    /// A fresh group.
    ///
    /// # Errors
    /// A group that cannot be made or limited.
    pub fn make(&self) -> Result<Group, CliFailure> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("gristmill-bench-{}-{number}", std::process::id());
        let place = self.parent.join(name);
        let failed = |cause: io::Error| {
            let message = format!("cannot make the control group {}: {cause}", place.display());
            CliFailure::new("system", message)
        };
        fs::create_dir(&place).map_err(failed)?;
        let held = Held::new(place.clone());
        let group = Group {
            place: place.clone(),
            peak: self.version.peak,
            _held: held,
        };
        fs::write(place.join(self.version.limit), self.limit_bytes.to_string()).map_err(failed)?;
        let swap = if *self.version == V1 {
            self.limit_bytes
        } else {
            0
        };
        // Systems without swap have no such file.
        let _ = fs::write(place.join(self.version.swap), swap.to_string());
        Ok(group)
    }
}

/// Where groups may be made, the most likely place first.
fn places(own: &str) -> Vec<(PathBuf, &'static Version)> {
    let mut places = Vec::new();
    for line in own.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (parts.next(), parts.next()) else {
            continue;
        };
        let below = |root| Path::new(root).join(group.trim_start_matches('/'));
        if controllers.split(',').any(|name| name == "memory") {
            places.extend([(below(V1.root), &V1), (V1.root.into(), &V1)]);
        } else if controllers.is_empty() {
            let beside = below(V2.root)
                .parent()
                .filter(|place| place.starts_with(V2.root))
                .map(Path::to_owned);
            places.extend(
                beside
                    .into_iter()
                    .chain([V2.root.into()])
                    .map(|place| (place, &V2)),
            );
        }
    }
    places
}

/// A group; it goes with this.
pub struct Group {
    place: PathBuf,
    peak: &'static str,
    _held: Held,
}

impl Group {
    /// A command that runs within the group.
    pub fn command(&self, program: &OsStr) -> Command {
        let mut command = Command::new("sh");
        command.args([
            OsStr::new("-c"),
            OsStr::new(JOIN),
            self.place.join("cgroup.procs").as_os_str(),
        ]);
        command.arg(program);
        command
    }

    /// The most memory it has had, page cache included.
    pub fn peak_bytes(&self) -> Option<u64> {
        fs::read_to_string(self.place.join(self.peak))
            .ok()?
            .trim()
            .parse()
            .ok()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A process that has just ended may be in it for a moment.
        const ATTEMPTS: u32 = 20;
        for _ in 0..ATTEMPTS {
            if fs::remove_dir(&self.place).is_ok() {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_lie_below_ours_or_beside_it() {
        let first = |own| {
            places(own)
                .first()
                .map(|(place, version)| (place.clone(), version.limit))
        };
        let v1 = first("7:cpu:/\n4:memory:/a/b\n0::/\n").unwrap();
        assert_eq!(v1, (PathBuf::from("/sys/fs/cgroup/memory/a/b"), V1.limit));
        let v2 = first("0::/user/session\n").unwrap();
        assert_eq!(v2, (PathBuf::from("/sys/fs/cgroup/user"), V2.limit));
        assert_eq!(first("0::/\n").unwrap().0, PathBuf::from("/sys/fs/cgroup"));
        assert_eq!(first(""), None);
    }
}
