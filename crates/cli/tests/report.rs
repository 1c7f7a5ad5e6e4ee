//! What the command tells: the JSON report of a sort, progress for programs, `doctor`, completions,
//! help and version.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use common::{Place, Ran};

/// How long a sort may wait before it tells its progress.
const PATIENCE: Duration = Duration::from_secs(20);

const SUBCOMMANDS: [&str; 8] =
    ["sort", "gensort", "valsort", "sim", "lab", "demo", "doctor", "completions"];

/// The fields that scripts rely on, in their order.
const REPORT: [&str; 15] = [
    "records",
    "bytes",
    "passes",
    "plan",
    "reason",
    "partitions",
    "seconds",
    "read_bytes",
    "written_bytes",
    "temp_peak_bytes",
    "peak_rss_bytes",
    "direct_io",
    "checksum",
    "bottleneck",
    "stages",
];

const STAGE: [&str; 8] =
    ["name", "workers", "units", "bytes", "busy_s", "starved_s", "blocked_s", "mb_per_s"];

const NUMBERS: [&str; 9] = [
    "records",
    "bytes",
    "passes",
    "partitions",
    "seconds",
    "read_bytes",
    "written_bytes",
    "temp_peak_bytes",
    "peak_rss_bytes",
];

fn fields(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

fn check_report(report: &Value) {
    assert_eq!(fields(report), REPORT);
    for name in NUMBERS {
        assert!(report[name].is_number(), "{name}: {}", report[name]);
    }
    let stages = report["stages"].as_array().unwrap();
    for stage in stages {
        assert_eq!(fields(stage), STAGE);
        assert!(stage["workers"].as_u64() > Some(0), "{stage}");
    }
    let named = |stage: &&Value| stage["name"] == report["bottleneck"];
    assert!(stages.iter().any(|stage| named(&stage)), "{}", report["bottleneck"]);
}

#[test]
fn the_report_of_a_sort() {
    let place = Place::with_records(1000);
    let ran = place.run("sort --format gensort in -o out --json --report report").succeeded();
    assert_eq!(ran.err, "");
    let report = ran.json();
    check_report(&report);
    assert_eq!(report["records"], 1000);
    assert_eq!(report["bytes"], 100_000);
    assert_eq!((&report["passes"], &report["plan"]), (&1.into(), &"one-pass".into()));
    assert_eq!(report["checksum"], "1ea6370b955");
    assert!(report["read_bytes"].as_u64() >= Some(100_000));
    assert!(report["written_bytes"].as_u64() >= Some(100_000));
    let written: Value = serde_json::from_slice(&place.read("report")).unwrap();
    assert_eq!(written, report);
}

#[test]
fn the_report_of_a_pipe_and_of_nothing() {
    let place = Place::with_records(1000);
    let input = place.read("in");
    for records in [1000, 0] {
        let bytes = &input[..records * 100];
        let ran = place.feed("sort --format gensort --report report", bytes).succeeded();
        assert_eq!(ran.out.len(), bytes.len());
        let report: Value = serde_json::from_slice(&place.read("report")).unwrap();
        check_report(&report);
        assert_eq!(report["records"], records);
    }
}

#[test]
fn progress_as_json_lines() {
    let place = Place::with_records(1000);
    let mut command = place.command("sort --format gensort -o out --progress json");
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(&place.read("in")).unwrap();
    // The sort waits for more, and tells so; should it tell nothing, it is not waited for forever.
    let (closing, close) = std::sync::mpsc::channel::<()>();
    std::thread::spawn(move || {
        let _ = close.recv_timeout(PATIENCE);
        drop(pipe);
    });
    let mut told = BufReader::new(child.stderr.take().unwrap());
    let mut first = String::new();
    told.read_line(&mut first).unwrap();
    drop(closing);
    let lines = std::iter::once(first).chain(told.lines().map(Result::unwrap));
    for line in lines {
        let step: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"));
        assert!(step["phase"].is_string() && step["done_bytes"].is_u64(), "{line}");
    }
    Ran::from(child.wait_with_output().unwrap()).succeeded();
}

#[test]
fn doctor_tells_what_the_machine_offers() {
    let place = Place::new();
    let told = place.run("doctor --json").succeeded().json();
    for name in ["cores", "memory_bytes", "available_bytes", "default_memory_limit_bytes"] {
        assert!(told[name].as_u64() > Some(0), "{name}: {}", told[name]);
    }
    assert!(told["open_file_limit"].as_u64() > Some(0));
    let limit = &told["cgroup_limit_bytes"];
    assert!(limit.is_null() || limit.is_u64(), "{limit}");
    let here = &told["directories"][0];
    assert!(here["free_bytes"].is_u64() && here["direct_io"].is_boolean(), "{here}");
    let words = String::from_utf8(place.run("doctor").succeeded().out).unwrap();
    for word in ["cores", "memory", "control group", "open files", "direct I/O", "free space"] {
        assert!(words.contains(word), "{word} is not in\n{words}");
    }
    assert!(place.names().is_empty(), "{:?}", place.names());
}

#[test]
fn doctor_tells_a_missing_directory() {
    let place = Place::new();
    let ran = place.run("doctor missing --json");
    assert_eq!(ran.code, 2);
    assert!(ran.complaint().contains("missing"));
    assert_eq!(ran.json()["error"]["file"], "missing");
}

#[test]
fn completions_for_shells() {
    for shell in ["bash", "zsh", "fish"] {
        let script = Place::new().run(&format!("completions {shell}")).succeeded().out;
        let script = String::from_utf8(script).unwrap();
        for word in ["gristmill", "valsort", "memory"] {
            assert!(script.contains(word), "{shell}: no {word}");
        }
    }
}

#[test]
fn help_and_version() {
    let place = Place::new();
    let help = place.run("--help").succeeded();
    let help = String::from_utf8(help.out).unwrap();
    for name in SUBCOMMANDS {
        assert!(help.contains(&format!("\n  {name} ")), "{name} is not in\n{help}");
        let ran = place.run(&format!("{name} --help")).succeeded();
        let usage = format!("gristmill {name}");
        assert!(String::from_utf8(ran.out).unwrap().contains(&usage), "{name}");
    }
    let version = place.run("--version").succeeded().out;
    assert_eq!(version, format!("gristmill {}\n", env!("CARGO_PKG_VERSION")).into_bytes());
}
