//! Every measurement at its smoke size.

mod benches;
mod exchange;
mod external;
#[path = "../../../../node/node-mpi/tests/common/launch.rs"]
mod launch;
mod logp;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use children::Command;
use serde_json::Value;
use tempfile::TempDir;

/// The program under test.
const BENCH: &str = env!("CARGO_BIN_EXE_gristmill-bench");

/// The command that it measures.
fn gristmill() -> PathBuf {
    let command = Path::new(BENCH).with_file_name("gristmill");
    assert!(
        command.exists(),
        "{} is missing: cargo build --package gristmill-cli makes it",
        command.display()
    );
    command
}

/// The program with these arguments, ready to be started.
fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(BENCH);
    command.args(arguments).env("GRISTMILL", gristmill());
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs the program at its smoke size, with its figures as JSON.
fn smoke(arguments: &[&str]) -> Output {
    let arguments = [arguments, &["--smoke", "--json"]].concat();
    command(&arguments).output().unwrap()
}

/// Standard error.
fn said(ended: &Output) -> String {
    String::from_utf8_lossy(&ended.stderr).into_owned()
}

/// The report of a run that succeeded.
#[track_caller]
fn report(ended: &Output) -> Value {
    assert!(ended.status.success(), "{}", said(ended));
    serde_json::from_slice(&ended.stdout).unwrap()
}

fn rows(report: &Value) -> &[Value] {
    report["rows"].as_array().unwrap()
}

fn names(rows: &[Value]) -> Vec<&str> {
    rows.iter()
        .map(|row| row["name"].as_str().unwrap())
        .collect()
}

/// A directory to measure in, on the build's disk.
fn place() -> TempDir {
    TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

#[track_caller]
fn assert_empty(place: &Path) {
    let left: Vec<_> = fs::read_dir(place).unwrap().flatten().collect();
    assert!(left.is_empty(), "files are left: {left:?}");
}
