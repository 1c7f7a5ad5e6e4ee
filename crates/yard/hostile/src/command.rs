//! One run of the command under test, within limits of time, memory and file size.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, prlimit};

/// The longest file that a command may write, so that reading an endless device ends.
pub(crate) const MOST_FILE_BYTES: u64 = 256 << 20;

/// The address space of a command, so that a forged size fails and does not exhaust the machine.
const MOST_MEMORY_BYTES: u64 = 4 << 30;

/// The interval between looks at a command.
const GLANCE: Duration = Duration::from_millis(1);

/// A command to run.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    pub directory: PathBuf,
    /// The user to run it as; `None` for the user of the suite.
    pub user: Option<u32>,
    pub limits: Vec<(Resource, u64)>,
}

/// The end of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    /// `None` if it was killed at the time limit.
    status: Option<ExitStatus>,
    pub said: String,
    /// The peak of resident memory, as far as seen.
    pub peak_bytes: u64,
}

impl Call {
    /// The command line as a shell reads it.
    pub(crate) fn line(&self) -> String {
        let words = self
            .arguments
            .iter()
            .map(|word| format!(" {}", quoted(word)));
        let program = self
            .program
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        format!(
            "cd {} && {program}{}",
            self.directory.display(),
            words.collect::<String>()
        )
    }

    /// Starts it, with its messages in a file.
    pub(crate) fn start(&self, said: &Path) -> io::Result<Child> {
        let said = File::create(said)?;
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(&self.directory);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(said);
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        let child = command.spawn()?;
        let usual = [
            (Resource::Fsize, MOST_FILE_BYTES),
            (Resource::As, MOST_MEMORY_BYTES),
        ];
        let is_usual =
            |(resource, _): &(Resource, u64)| self.limits.iter().all(|own| own.0 != *resource);
        let usual = usual.into_iter().filter(is_usual);
        for (resource, most) in usual.chain(self.limits.iter().copied()) {
            let limit = Rlimit {
                current: Some(most),
                maximum: Some(most),
            };
            // A child that has already ended needs no limit.
            let _ = prlimit(Some(Pid::from_child(&child)), resource, limit);
        }
        Ok(child)
    }

    /// Runs it to its end or to the time limit.
    pub(crate) fn run(&self, said: &Path, limit: Duration) -> io::Result<Ran> {
        let mut child = self.start(said)?;
        let mut peak_bytes = 0;
        let status = watched(&mut child, limit, |child| {
            peak_bytes = peak_bytes.max(peak_of(child).unwrap_or(0));
        })?;
        Ok(Ran {
            peak_bytes,
            ..Ran::of(status, said)
        })
    }
}

/// Waits for the end of a child; kills it at the time limit and returns `None`.
pub(crate) fn ended(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    watched(child, limit, |_| ())
}

/// Waits for the end of a child as [`ended`] does, and calls `glance` meanwhile.
pub(crate) fn watched(
    child: &mut Child,
    limit: Duration,
    mut glance: impl FnMut(&Child),
) -> io::Result<Option<ExitStatus>> {
    let begin = Instant::now();
    loop {
        glance(child);
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if begin.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(GLANCE);
    }
}

/// The peak of resident memory so far. The system keeps this figure, so a look misses at most the
/// last moment.
fn peak_of(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes << 10)
}

impl Ran {
    /// The end of a command that wrote its messages to this file.
    pub(crate) fn of(status: Option<ExitStatus>, said: &Path) -> Ran {
        Ran {
            status,
            said: read(said),
            peak_bytes: 0,
        }
    }

    pub(crate) fn code(&self) -> Option<i32> {
        self.status.and_then(|status| status.code())
    }

    /// The reason why no command may end like this: a hang, a panic, a signal, or a failure without
    /// exactly one line.
    pub(crate) fn wrong(&self) -> Option<(&'static str, String)> {
        let Some(status) = self.status else {
            return Some(("hang", self.last_line()));
        };
        if status.code() == Some(101) || self.said.contains("panicked at") {
            let told = self.said.lines().find(|line| line.contains("panicked at"));
            return Some(("panic", told.unwrap_or_default().to_owned()));
        }
        if let Some(signal) = status.signal() {
            return Some(("died", format!("of signal {signal}: {}", self.last_line())));
        }
        match status.code() {
            Some(0) => None,
            Some(2) if self.is_one_line() => None,
            Some(2) => Some(("not one line", self.said.clone())),
            code => Some(("exit code", format!("{code:?}: {}", self.last_line()))),
        }
    }

    /// Whether the failure is one line, the last; warnings may precede it.
    fn is_one_line(&self) -> bool {
        let is_failure = |line: &&str| line.starts_with("gristmill: ") && !line.contains("warning");
        let last = self.said.lines().last();
        self.said.lines().filter(is_failure).count() == 1 && last.as_ref().is_some_and(is_failure)
    }

    pub(crate) fn last_line(&self) -> String {
        self.said
            .lines()
            .last()
            .unwrap_or("(it said nothing)")
            .to_owned()
    }
}

/// The words of a command, which may not be valid UTF-8.
fn read(said: &Path) -> String {
    String::from_utf8_lossy(&fs::read(said).unwrap_or_default()).into_owned()
}

fn quoted(word: &OsStr) -> String {
    let text = word.to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:+=".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.into_owned()
    } else {
        format!("{word:?}")
    }
}
