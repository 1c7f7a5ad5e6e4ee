//! The shares of a sort's time in which cores and devices were busy: the papers' efficiency of a node.
//!
//! ```text
//! Watch::begin    processor time of this process, and the counters of all devices
//! Watch::end      the same again, of devices with files of the job: shares are of the time between
//!
//! /sys/dev/block/M:N > its directory, or that of the device of a partition > stat
//! ```
//!
//! Files are looked at when the sort has ended: before it, each look would wait for a disk.
//!
//! The system counts the time in which a device had a request of any program. Devices that it does not count, such
//! as memory, networks and file systems over several devices, are left out.

use std::collections::BTreeMap;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{major, minor};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use sort::{Choice, Job, Target};
use terminal::files::directory_of;
use terminal::launcher::cores;

/// The shares of a process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Busy {
    /// Of its cores.
    pub cores: BusyCores,
    /// Of each device that held files, by name.
    pub devices: Vec<BusyDevice>,
}

/// The cores of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BusyCores {
    /// Their number; ranks on a host have equal parts of its cores.
    pub count: usize,
    /// Processor time of the process over the time of all of them.
    pub busy_share: f64,
}

/// A device with files of a sort.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BusyDevice {
    /// The system's name, such as `nvme0n1`.
    pub name: String,
    /// The files of the sort that it held.
    pub holds: Vec<Files>,
    /// The part of the time in which it had a request.
    pub busy_share: f64,
    /// Bytes that all programs read.
    pub read_bytes: u64,
    /// Bytes that all programs wrote.
    pub written_bytes: u64,
    /// The phases in which the sort read and wrote on it.
    pub read_and_written_at_once: Vec<String>,
}

/// The kinds of files of a sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Files {
    /// Read in phase one, or by a merge.
    Inputs,
    /// Written in phase one, and read in phase two.
    Temporary,
    /// Written in phase two, or in the only one.
    Outputs,
}

/// The phases in which a sort of so many passes reads and writes on a device with these files. A sort in one pass writes when
/// it has read; a merge of inputs does both at once.
fn at_once(holds: &[Files], passes: u32, merges: bool) -> Vec<String> {
    let one = ("phase one", [Files::Inputs, Files::Temporary]);
    let two = ("phase two", [Files::Temporary, Files::Outputs]);
    let merge = ("merge", [Files::Inputs, Files::Outputs]);
    let mut phases = match passes {
        2.. => vec![one, two],
        _ if merges => vec![merge],
        _ => Vec::new(),
    };
    phases.retain(|(_, both)| both.iter().all(|files| holds.contains(files)));
    phases
        .into_iter()
        .map(|(phase, _)| phase.to_owned())
        .collect()
}

/// The counters of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counted {
    read_bytes: u64,
    written_bytes: u64,
    busy_ms: u32,
}

/// The unit of the counters, whatever the device's blocks are.
const SECTOR_BYTES: u64 = 512;

impl Counted {
    /// Parses the line of a device (Linux, Documentation/block/stat.rst).
    fn parse(line: &str) -> Option<Counted> {
        let fields = line.split_whitespace();
        let fields: Vec<u64> = fields.map_while(|field| field.parse().ok()).collect();
        let [_, _, read, _, _, _, written, _, _, busy_ms, ..] = fields[..] else {
            return None;
        };
        Some(Counted {
            read_bytes: read.saturating_mul(SECTOR_BYTES),
            written_bytes: written.saturating_mul(SECTOR_BYTES),
            busy_ms: busy_ms as u32,
        })
    }

    fn read(directory: &Path) -> Option<Counted> {
        Counted::parse(&std::fs::read_to_string(directory.join("stat")).ok()?)
    }

    /// The use between this look and a later one. The system counts time with 32 bits, which last for 50 days.
    fn until(self, later: Counted) -> Counted {
        Counted {
            read_bytes: later.read_bytes.saturating_sub(self.read_bytes),
            written_bytes: later.written_bytes.saturating_sub(self.written_bytes),
            busy_ms: later.busy_ms.wrapping_sub(self.busy_ms),
        }
    }
}

/// The number of the device on which a file lies, or which a path names.
fn device_of(path: &Path) -> Option<u64> {
    let found = path.metadata().ok()?;
    match found.file_type() {
        kind if kind.is_block_device() => Some(found.rdev()),
        kind if kind.is_file() || kind.is_dir() => Some(found.dev()),
        _ => None,
    }
}

/// The system's directory of a device: that of the whole one, if it is a partition.
fn directory_of_device(device: u64) -> Option<PathBuf> {
    let number = format!("{}:{}", major(device), minor(device));
    let link = Path::new("/sys/dev/block").join(number);
    let mut directory = link.canonicalize().ok()?;
    if directory.join("partition").exists() {
        directory.pop();
    }
    Some(directory)
}

/// A sort that is watched.
pub struct Watch {
    since: Instant,
    cpu: Duration,
    /// Of all devices, by the system's directories.
    counted: BTreeMap<PathBuf, Counted>,
}

impl Watch {
    /// Looks at the counters.
    pub fn begin() -> Watch {
        let all = std::fs::read_dir("/sys/class/block").into_iter().flatten();
        let counted = all.flatten().filter_map(|found| {
            let directory = found.path().canonicalize().ok()?;
            let counted = Counted::read(&directory)?;
            Some((directory, counted))
        });
        Watch {
            counted: counted.collect(),
            since: Instant::now(),
            cpu: processor_time(),
        }
    }

    /// The shares since the beginning, of a job that was done in so many passes.
    pub fn end(&self, job: &Job, passes: u32) -> Busy {
        let (count, elapsed) = (cores(), self.since.elapsed());
        let cpu = processor_time().saturating_sub(self.cpu);
        let merges = job.plan == Choice::MergeInputs;
        let device = |(directory, holds): (PathBuf, Vec<Files>)| {
            let used = self
                .counted
                .get(&directory)?
                .until(Counted::read(&directory)?);
            Some(BusyDevice {
                name: directory.file_name()?.to_string_lossy().into_owned(),
                busy_share: share(Duration::from_millis(used.busy_ms.into()), elapsed),
                read_bytes: used.read_bytes,
                written_bytes: used.written_bytes,
                read_and_written_at_once: at_once(&holds, passes, merges),
                holds,
            })
        };
        Busy {
            cores: BusyCores {
                count,
                busy_share: share(cpu, elapsed * count as u32),
            },
            devices: devices(job, passes)
                .into_iter()
                .filter_map(device)
                .collect(),
        }
    }
}

/// The devices of a job, and the kinds of its files on each.
fn devices(job: &Job, passes: u32) -> BTreeMap<PathBuf, Vec<Files>> {
    let mut known = BTreeMap::new();
    let mut all: BTreeMap<PathBuf, Vec<Files>> = BTreeMap::new();
    for (files, path) in places(job, passes) {
        let Some(device) = device_of(&path) else {
            continue;
        };
        let directory = known
            .entry(device)
            .or_insert_with(|| directory_of_device(device));
        if let Some(directory) = directory {
            let holds = all.entry(directory.clone()).or_default();
            if !holds.contains(&files) {
                holds.push(files);
            }
        }
    }
    all
}

fn share(busy: Duration, of: Duration) -> f64 {
    if of.is_zero() {
        return 0.0;
    }
    (busy.as_secs_f64() / of.as_secs_f64()).min(1.0)
}

/// The places of a job's files: in one pass there are no temporary ones.
fn places(job: &Job, passes: u32) -> Vec<(Files, PathBuf)> {
    let inputs = job.sources.iter().filter_map(|source| source.path());
    let outputs = match &job.target {
        Target::Path(path) | Target::Together(path) => vec![path.clone()],
        Target::Directories(directories) => directories.clone(),
        Target::Standard => Vec::new(),
    };
    // As the sort does: beside the output, or else, of a pipe or a device, in the current directory.
    let mut temporary = job.temporary.clone();
    if temporary.is_empty() {
        temporary.extend(outputs.iter().filter_map(|path| directory(path)));
    }
    if temporary.is_empty() {
        temporary.push(PathBuf::from("."));
    }
    temporary.retain(|_| passes > 1);
    let inputs = inputs.map(|path| (Files::Inputs, path.to_owned()));
    let temporary = temporary.into_iter().map(|path| (Files::Temporary, path));
    let outputs = outputs.into_iter().map(|path| (Files::Outputs, path));
    inputs.chain(temporary).chain(outputs).collect()
}

/// The directory in which a file is; none of a pipe or a device.
fn directory(path: &Path) -> Option<PathBuf> {
    match path.metadata() {
        Ok(found) if found.is_dir() => Some(path.to_owned()),
        Ok(found) if found.is_file() => Some(directory_of(&path.canonicalize().ok()?).to_owned()),
        _ => None,
    }
}

/// User's and system's time of all threads of this process.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "  5762779   102825 781318138 14981032  2561947   390859 875538800  4769385        0  2440036 21176891\n";

    #[test]
    fn counters_of_a_device_are_read() {
        let expected = Counted {
            read_bytes: 781_318_138 * 512,
            written_bytes: 875_538_800 * 512,
            busy_ms: 2_440_036,
        };
        assert_eq!(Counted::parse(LINE), Some(expected));
        assert_eq!(Counted::parse("1 2 3"), None);
        assert_eq!(Counted::parse(""), None);
    }

    #[test]
    fn shares_are_of_the_time_between() {
        let began = Counted {
            read_bytes: 1000,
            written_bytes: 5,
            busy_ms: u32::MAX - 99,
        };
        let ended = Counted {
            read_bytes: 3000,
            written_bytes: 5,
            busy_ms: 150,
        };
        let used = began.until(ended);
        assert_eq!(
            (used.read_bytes, used.written_bytes, used.busy_ms),
            (2000, 0, 250)
        );
        let share = |ms| share(Duration::from_millis(ms), Duration::from_secs(1));
        assert_eq!([share(250), share(1100), share(0)], [0.25, 1.0, 0.0]);
        assert_eq!(super::share(Duration::ZERO, Duration::ZERO), 0.0);
    }

    #[test]
    fn phases_read_and_write_where_files_lie_together() {
        use Files::{Inputs, Outputs, Temporary};
        let all = [Inputs, Temporary, Outputs];
        assert_eq!(at_once(&all, 2, false), ["phase one", "phase two"]);
        assert!(at_once(&all, 1, false).is_empty());
        assert_eq!(at_once(&all, 1, true), ["merge"]);
        assert!(at_once(&[Inputs, Outputs], 2, true).is_empty());
        assert_eq!(at_once(&[Temporary, Outputs], 3, false), ["phase two"]);
    }

    #[test]
    fn temporary_files_lie_beside_a_regular_output() {
        let here = std::env::current_dir().unwrap();
        assert_eq!(directory(&here), Some(here.clone()));
        assert_eq!(
            directory(Path::new("Cargo.toml")),
            Some(here.canonicalize().unwrap())
        );
        assert_eq!(directory(Path::new("/dev/null")), None);
    }
}
