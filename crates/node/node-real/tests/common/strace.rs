//! The system calls of a process. Runs a command under `strace`, which may also let calls fail, and
//! reads the trace.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use children::Command;

/// A traced command that takes longer than this hangs.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The calls that the tests look at.
const CALLS: &str = "trace=fsync,fdatasync,/rename,/write,/read,ftruncate,fallocate,flock,fchmod,/unlink,?open,openat,/statfs,fstat,newfstatat";

/// A call of a traced process.
#[derive(Clone, Debug)]
pub struct Call {
    pub name: String,
    /// The full paths of its files, that of its descriptor first.
    pub paths: Vec<PathBuf>,
    /// The lines of the trace on which it began and ended.
    pub began: usize,
    pub ended: usize,
    /// The call as in the trace.
    pub text: String,
    pub result: i64,
    /// Whether the result comes from the tracer rather than the system.
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

    /// Whether it is a successful sync of that file.
    pub fn syncs(&self, path: &Path) -> bool {
        self.is("fsync") && self.result == 0 && self.is_on(path)
    }

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

/// The reason why this machine cannot trace, if there is one.
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

/// Reports why a test was skipped, past the test runner's capture, so that no skip is silent.
pub fn skip(why: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
}

/// Runs a command in a directory, with additional options for the tracer.
pub fn traced(directory: &Path, options: &[&str], command: &Command) -> Traced {
    let (trace, err) = (directory.join("trace.log"), directory.join("trace.err"));
    let mut strace = Command::new("strace");
    strace.args(["-f", "-y", "-qq", "-s0", "-e", "signal=none", "-e", CALLS]);
    strace.arg("-o").arg(&trace).args(options).arg("--");
    strace
        .arg(command.get_program())
        .args(command.get_args())
        .current_dir(directory);
    for (name, value) in command.get_envs() {
        strace.env(name, value.expect("tests set variables, and remove none"));
    }
    strace.stdin(Stdio::null()).stdout(Stdio::null());
    strace.stderr(fs::File::create(&err).unwrap());
    let status = strace.within(TIMEOUT).status().unwrap();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        fs::remove_file(path).unwrap();
        text
    };
    let calls = parse(&read(trace), directory);
    let err = read(err);
    Traced { status, calls, err }
}

/// The calls in the order in which they began. An unfinished call ends on a later line of its
/// thread.
fn parse(text: &str, directory: &Path) -> Vec<Call> {
    let mut open: Vec<(&str, usize, String)> = Vec::new();
    let mut calls = Vec::new();
    for (line, text) in text.lines().enumerate() {
        let Some((thread, text)) = text.split_once(' ') else {
            continue;
        };
        let text = text.trim_start();
        if let Some(begun) = text.strip_suffix(" <unfinished ...>") {
            open.push((thread, line, begun.to_owned()));
        } else if let Some((_, rest)) = text.split_once(" resumed>") {
            let at = open.iter().position(|(other, ..)| *other == thread);
            let (_, began, begun) = open.remove(at.expect("a resumed call has begun"));
            calls.extend(call(&format!("{begun}{rest}"), began, line, directory));
        } else {
            calls.extend(call(text, line, line, directory));
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

/// The paths in arguments: descriptors have theirs in angle brackets, names are in quotes.
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
        // The directory of relative names is not a file of the call.
        let name = after
            .strip_prefix(", \"")
            .and_then(|name| name.split_once('"'));
        match name.filter(|(name, _)| end == '>' && !name.is_empty()) {
            Some((name, after)) => {
                let from = if rest[..at].ends_with("AT_FDCWD") {
                    directory
                } else {
                    Path::new(path)
                };
                paths.push(from.join(name.trim_start_matches("./")));
                rest = after;
                continue;
            }
            None if path.is_empty() => {}
            None => paths.push(directory.join(path.trim_start_matches("./"))),
        }
        rest = after;
    }
    paths
}
