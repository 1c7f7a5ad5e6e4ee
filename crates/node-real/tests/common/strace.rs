//! The system calls of a process. Runs a command under `strace`, which may also let calls fail, and
//! reads the trace.
#![allow(dead_code, reason = "each test file uses its part")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A traced command that takes longer than this hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// The calls that the tests look at.
const CALLS: &str = "trace=fsync,fdatasync,/rename,/write,/read,ftruncate,fallocate,flock,fchmod,/unlink,?open,openat";

/// A call of a traced process.
#[derive(Clone, Debug)]
pub struct Call {
    pub name: String,
    /// The files it is about, by their whole paths: that of its descriptor first.
    pub paths: Vec<PathBuf>,
    /// Lines of the trace: where it began, and where it ended.
    pub began: usize,
    pub ended: usize,
    /// As it was written down.
    pub text: String,
    pub result: i64,
    /// Whether the tracer gave the result, and not the system.
    pub is_injected: bool,
}

impl Call {
    pub fn is(&self, name: &str) -> bool {
        self.name == name
    }

    /// Whether it writes or changes the length of a file.
    pub fn is_change(&self) -> bool {
        self.name.contains("write") || ["ftruncate", "fallocate"].contains(&&self.name[..])
    }

    pub fn is_open(&self) -> bool {
        self.name.starts_with("open")
    }

    pub fn is_rename(&self) -> bool {
        self.name.starts_with("rename")
    }

    pub fn is_on(&self, path: &Path) -> bool {
        self.paths.first().is_some_and(|first| first == path)
    }

    /// Whether it is a sync of that file, and it succeeded.
    pub fn syncs(&self, path: &Path) -> bool {
        self.is("fsync") && self.result == 0 && self.is_on(path)
    }

    /// The last argument.
    pub fn last_argument(&self) -> &str {
        let arguments = self
            .text
            .rsplit_once(" = ")
            .map_or(&self.text[..], |(before, _)| before);
        let last = arguments.rsplit(", ").next().unwrap_or(arguments);
        last.trim_end().trim_end_matches(')')
    }
}

/// The end of a traced command, its calls, and its standard error.
pub struct Traced {
    pub status: ExitStatus,
    pub calls: Vec<Call>,
    pub err: String,
}

/// The reason why nothing can be traced here, if there is one.
pub fn missing() -> Option<&'static str> {
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-y", "--seccomp-bpf", "-o", "/dev/null"]);
    strace.args(["-e", CALLS, "-e", "inject=fsync:error=EIO:when=1", "true"]);
    strace.stdout(Stdio::null()).stderr(Stdio::null());
    match strace.status() {
        Err(_) => Some("there is no strace"),
        Ok(status) if !status.success() => Some("strace may not trace or inject errors here"),
        Ok(_) => None,
    }
}

/// Says why a test was skipped, past the test runner's capture: a skip is never silent.
pub fn skip(why: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
}

/// Runs a command in a directory, with these further options of the tracer.
pub fn traced(directory: &Path, options: &[&str], command: &Command) -> Traced {
    let (written, said) = (directory.join("trace.log"), directory.join("trace.err"));
    let mut strace = Command::new("strace");
    strace.args(["-f", "-y", "-qq", "-s0", "-e", "signal=none", "-e", CALLS]);
    strace.arg("-o").arg(&written).args(options).arg("--");
    strace
        .arg(command.get_program())
        .args(command.get_args())
        .current_dir(directory);
    for (name, value) in command.get_envs() {
        strace.env(name, value.expect("tests set variables, and remove none"));
    }
    strace.stdin(Stdio::null()).stdout(Stdio::null());
    let mut child = strace
        .stderr(fs::File::create(&said).unwrap())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begin.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            panic!("{command:?} with {options:?} did not end in {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let calls = parse(&fs::read_to_string(&written).unwrap(), directory);
    let err = fs::read_to_string(&said).unwrap();
    fs::remove_file(written).unwrap();
    fs::remove_file(said).unwrap();
    Traced { status, calls, err }
}

/// The calls in the order in which they began. One that did not end in its line ends in a later one
/// of its thread.
fn parse(text: &str, directory: &Path) -> Vec<Call> {
    let mut open: Vec<(&str, usize, String)> = Vec::new();
    let mut calls = Vec::new();
    for (line, text) in text.lines().enumerate() {
        let Some((thread, said)) = text.split_once(' ') else {
            continue;
        };
        let said = said.trim_start();
        if let Some(begun) = said.strip_suffix(" <unfinished ...>") {
            open.push((thread, line, begun.to_owned()));
        } else if let Some((_, rest)) = said.split_once(" resumed>") {
            let at = open.iter().position(|(other, ..)| *other == thread);
            let (_, began, begun) = open.remove(at.expect("a resumed call has begun"));
            calls.extend(call(&format!("{begun}{rest}"), began, line, directory));
        } else {
            calls.extend(call(said, line, line, directory));
        }
    }
    calls.sort_by_key(|call| call.began);
    calls
}

fn call(text: &str, began: usize, ended: usize, directory: &Path) -> Option<Call> {
    let (name, arguments) = text.split_once('(')?;
    let (arguments, result) = arguments.rsplit_once(" = ")?;
    let result = result.split([' ', '<']).next()?.parse().ok()?;
    Some(Call {
        name: name.to_owned(),
        paths: paths(arguments, directory),
        began,
        ended,
        text: text.to_owned(),
        result,
        is_injected: text.ends_with("(INJECTED)"),
    })
}

/// The paths in arguments: of descriptors in angle brackets, of names in quotes.
fn paths(arguments: &str, directory: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    let mut rest = arguments;
    while let Some(at) = rest.find(['<', '"']) {
        let end = if rest.as_bytes()[at] == b'<' {
            '>'
        } else {
            '"'
        };
        let Some((path, after)) = rest[at + 1..].split_once(end) else {
            break;
        };
        // The directory that names are relative to is no file that the call is about.
        if !rest[..at].ends_with("AT_FDCWD") && !path.is_empty() {
            let path = directory.join(path.trim_start_matches("./"));
            paths.push(path);
        }
        rest = after;
    }
    paths
}
