//! A contender's process, watched from outside: seconds, memory, bytes, temporary files.
//!
//! ```text
//! spawn ---------------------- exit | I/O figures of the dead | reap | sync the output
//!       VmHWM, temporary files,                                       \__ counts as well
//!       every 20 ms
//! ```
//!
//! The figures are the system's own, the same for all programs. `VmHWM` of /proc/PID/status is the
//! largest resident memory so far, so a sample misses only the growth of the last moment.
//! `/proc/PID/io` counts bytes to and from disks, past the page cache or through it. It can still
//! be read when the process has ended but was not waited for.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use terminal::ending::failure::CliFailure;
use terminal::ending::scratch::Companion;

use super::ends::Ends;

/// The interval between looks: short enough to see spill files, long enough to cost nothing.
const SAMPLE_EVERY: Duration = Duration::from_millis(20);

const BLOCK_BYTES: u64 = 512;

/// The surroundings of a process.
pub struct Watched<'a> {
    pub name: &'a str,
    /// The directories of its temporary files.
    pub temporary: &'a [PathBuf],
    /// How it gets its input, and hands on its output.
    pub ends: Ends,
    /// The file that it reads, if a pipe carries it.
    pub input: &'a Path,
    /// The file that it writes, if no pipe does.
    pub output: &'a Path,
    /// A file for its standard error.
    pub said: &'a Path,
}

/// The resources that a process took.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Took {
    /// From its start to its durable output.
    pub seconds: f64,
    /// Its largest resident memory.
    pub peak_rss_bytes: u64,
    /// The most bytes in its temporary directories.
    pub temp_peak_bytes: u64,
    /// Bytes read from disks; `None` where the system does not count.
    pub read_bytes: Option<u64>,
    /// Bytes written to disks.
    pub written_bytes: Option<u64>,
    /// The largest memory of its control group, page cache included.
    pub group_peak_bytes: Option<u64>,
}

impl Took {
    /// The larger of each figure of two runs.
    pub fn most(&self, other: &Took) -> Took {
        Took {
            seconds: self.seconds.max(other.seconds),
            peak_rss_bytes: self.peak_rss_bytes.max(other.peak_rss_bytes),
            temp_peak_bytes: self.temp_peak_bytes.max(other.temp_peak_bytes),
            read_bytes: self.read_bytes.max(other.read_bytes),
            written_bytes: self.written_bytes.max(other.written_bytes),
            group_peak_bytes: self.group_peak_bytes.max(other.group_peak_bytes),
        }
    }
}

/// Runs a process to its end, and until its output is durable.
///
/// # Errors
/// It cannot be run, fails, or leaves no output.
pub fn run(mut command: Command, watched: &Watched) -> Result<Took, CliFailure> {
    let failed = |cause: io::Error| {
        CliFailure::new("program", format!("cannot run {}: {cause}", watched.name))
    };
    let said = File::create(watched.said).map_err(failed)?;
    watched.ends.set(&mut command);
    command.stderr(said);
    let begin = Instant::now();
    let mut child = command.spawn().map_err(failed)?;
    let served = watched.ends.serve(&mut child, watched.input);
    served.map_err(failed)?;
    let pid = Pid::from_child(&child);
    let companion = Companion::new(pid);
    let mut took = watch(pid, watched.temporary, begin);
    (took.read_bytes, took.written_bytes) = disk_bytes(pid);
    // It is dead: from here on its number may become another's.
    drop(companion);
    let status = child.wait().map_err(failed)?;
    if !status.success() {
        return Err(ended_badly(watched, status));
    }
    if watched.ends == Ends::ToPipe {
        return Ok(took);
    }
    let begin = Instant::now();
    File::open(watched.output)
        .and_then(|output| output.sync_all())
        .map_err(|cause| {
            let message = format!("{} left no output: {cause}", watched.name);
            CliFailure::new("program", message)
        })?;
    took.seconds += begin.elapsed().as_secs_f64();
    Ok(took)
}

/// Samples until the process ends; it is not reaped.
fn watch(pid: Pid, temporary: &[PathBuf], begin: Instant) -> Took {
    let running = AtomicBool::new(true);
    thread::scope(|scope| {
        let sampler = scope.spawn(|| {
            let mut most = Took::default();
            while running.load(Ordering::Acquire) {
                most.peak_rss_bytes = most.peak_rss_bytes.max(peak_rss_bytes(pid));
                most.temp_peak_bytes = most.temp_peak_bytes.max(bytes_in(temporary));
                thread::park_timeout(SAMPLE_EVERY);
            }
            most
        });
        let dead = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(pid), dead), Err(Errno::INTR)) {}
        let seconds = begin.elapsed().as_secs_f64();
        running.store(false, Ordering::Release);
        sampler.thread().unpark();
        // A sampler has nothing to panic about.
        Took {
            seconds,
            ..sampler.join().unwrap_or_default()
        }
    })
}

fn ended_badly(watched: &Watched, status: ExitStatus) -> CliFailure {
    let said = fs::read(watched.said).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let last = said
        .lines()
        .rfind(|line| !line.trim().is_empty())
        .unwrap_or("it said nothing");
    CliFailure::new(
        "program",
        format!("{} failed ({status}): {last}", watched.name),
    )
}

fn peak_rss_bytes(pid: Pid) -> u64 {
    let file = format!("/proc/{}/status", pid.as_raw_nonzero());
    let status = fs::read_to_string(file).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}

fn disk_bytes(pid: Pid) -> (Option<u64>, Option<u64>) {
    let file = format!("/proc/{}/io", pid.as_raw_nonzero());
    let text = fs::read_to_string(file).unwrap_or_default();
    let figure = |name: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(name))
            .and_then(|n| n.trim().parse().ok())
    };
    (figure("read_bytes:"), figure("write_bytes:"))
}

/// The space that files in these directories occupy. Files that vanish meanwhile do not count.
fn bytes_in(directories: &[PathBuf]) -> u64 {
    let entries = directories
        .iter()
        .filter_map(|directory| fs::read_dir(directory).ok())
        .flatten();
    let bytes = entries.flatten().map(|entry| match entry.metadata() {
        Ok(found) if found.is_dir() => bytes_in(&[entry.path()]),
        Ok(found) => found.blocks() * BLOCK_BYTES,
        Err(_) => 0,
    });
    bytes.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(line: &str, ends: Ends, place: &Path) -> Result<Took, CliFailure> {
        let temporary = [place.join("tmp")];
        fs::create_dir_all(&temporary[0]).unwrap();
        let watched = Watched {
            name: "shell",
            temporary: &temporary,
            ends,
            input: &place.join("in"),
            output: &place.join("out"),
            said: &place.join("said"),
        };
        let mut command = Command::new("sh");
        command.args(["-c", line]).current_dir(place);
        run(command, &watched)
    }

    #[test]
    fn what_a_process_does_is_seen() {
        let place = tempfile::tempdir().unwrap();
        let line = "head -c 1000000 /dev/urandom > tmp/spill; sync tmp/spill; sleep 0.2; \
                    rm tmp/spill; echo done > out";
        let took = shell(line, Ends::Files, place.path()).unwrap();
        assert!(took.seconds >= 0.2);
        assert!(took.peak_rss_bytes > 0);
        assert!(took.temp_peak_bytes >= 1_000_000, "{took:?}");
        // Bytes that its children wrote count too, where the system counts.
        assert!(
            took.written_bytes.is_none_or(|bytes| bytes >= 1_000_000),
            "{took:?}"
        );
    }

    #[test]
    fn what_fails_says_why() {
        let place = tempfile::tempdir().unwrap();
        let failure = shell(
            "echo first >&2; echo no room >&2; exit 3",
            Ends::Files,
            place.path(),
        )
        .unwrap_err();
        assert!(failure.message.contains("no room"), "{}", failure.message);
        let failure = shell("true", Ends::Files, place.path()).unwrap_err();
        assert!(
            failure.message.contains("left no output"),
            "{}",
            failure.message
        );
    }

    #[test]
    fn pipes_carry_all_bytes() {
        let place = tempfile::tempdir().unwrap();
        let (from, to) = (place.path().join("in"), place.path().join("out"));
        let bytes = vec![7; 3_000_000];
        fs::write(&from, &bytes).unwrap();
        shell("cat > out", Ends::FromPipe, place.path()).unwrap();
        assert!(fs::read(&to).unwrap() == bytes);
        // The command writes to the pipe only, and ends only if the pipe is read.
        fs::remove_file(&to).unwrap();
        shell("cat in", Ends::ToPipe, place.path()).unwrap();
        // A program need not read all of its input.
        shell("echo done > out", Ends::FromPipe, place.path()).unwrap();
    }
}
