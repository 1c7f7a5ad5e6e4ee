//! The processes of this command that this user has on this host, and their ranks.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::{env, fs, io, str};

use node_real::host_name;
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};

use super::environment::{RANKS, SIZES};
use super::{Process, since_boot_s};

/// Variables for the job that a process belongs to: PMIx, Slurm, and MPICH's PMI.
const JOBS: [&str; 3] = ["PMIX_NAMESPACE", "SLURM_JOB_ID", "PMI_JOBID"];

/// A process, as a list of jobs shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Listed {
    /// Name of its job; none without a launcher.
    pub job: Option<String>,
    /// Its number in the job.
    pub rank: Option<u64>,
    /// Ranks of the job.
    pub ranks: Option<u64>,
    /// The name of its host.
    pub host: String,
    /// Its number on that host.
    pub pid: u32,
    /// The letter of proc(5).
    pub state: char,
    /// Seconds since its start.
    pub elapsed_s: f64,
    /// Seconds that it has used of all cores.
    pub used_s: f64,
    /// Its memory.
    pub resident_bytes: u64,
    /// Its arguments, with spaces between them.
    pub command: String,
}

/// Processes of this user whose program is named like this one's, but for those with that first argument.
///
/// # Errors
/// There is no list of processes.
pub fn listed(without: &str) -> io::Result<Vec<Listed>> {
    let own = env::current_exe()?;
    let name = own.file_name().unwrap_or_default();
    let host = host_name();
    let entries = fs::read_dir("/proc")?.flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let all = ids.filter_map(|id| {
        let arguments = fs::read(format!("/proc/{id}/cmdline")).ok()?;
        let mut words = arguments.split(|&byte| byte == 0);
        let program = Path::new(OsStr::from_bytes(words.next()?));
        let is_one = program.file_name() == Some(name) && words.next() != Some(without.as_bytes());
        is_one.then(|| of(id, &host, &arguments)).flatten()
    });
    Ok(all.collect())
}

/// `None` if it has ended, or is of another user.
fn of(id: u32, host: &str, arguments: &[u8]) -> Option<Listed> {
    let place = format!("/proc/{id}");
    if fs::metadata(&place).ok()?.uid() != geteuid().as_raw() {
        return None;
    }
    let process = Process::of(id)?;
    let environment = fs::read(format!("{place}/environ")).unwrap_or_default();
    let value = |name: &str| value_of(&environment, name);
    let number = |names: &[&str]| names.iter().find_map(|name| value(name)?.parse().ok());
    let words = arguments
        .split(|&byte| byte == 0)
        .map(String::from_utf8_lossy);
    let command: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    Some(Listed {
        job: JOBS.iter().find_map(|name| value(name)).map(str::to_owned),
        rank: number(&RANKS),
        ranks: number(&SIZES),
        host: host.to_owned(),
        pid: id,
        state: process.state,
        elapsed_s: (since_boot_s()? - process.begin_s).max(0.0),
        used_s: process.used_s,
        resident_bytes: resident(&place)?,
        command: command.join(" "),
    })
}

/// The second number of `statm` is in pages.
fn resident(place: &str) -> Option<u64> {
    let statm = fs::read_to_string(format!("{place}/statm")).ok()?;
    let pages: u64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// The value of a variable in `NAME=value` texts that end with zeros.
fn value_of<'e>(environment: &'e [u8], name: &str) -> Option<&'e str> {
    let mut texts = environment.split(|&byte| byte == 0);
    texts.find_map(|text| {
        let value = text.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
        str::from_utf8(value).ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_found_by_its_whole_name() {
        let environment = b"PMI_RANKS=9\0PMI_RANK=3\0EMPTY=\0";
        assert_eq!(value_of(environment, "PMI_RANK"), Some("3"));
        assert_eq!(value_of(environment, "EMPTY"), Some(""));
        assert_eq!(value_of(environment, "RANK"), None);
    }
}
