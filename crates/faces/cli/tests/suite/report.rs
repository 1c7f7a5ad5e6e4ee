//! Output of the command: the JSON report of a sort, progress for programs, `doctor`, completions,
//! help and version.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::{Place, Ran};

/// How long a sort may take until it reports progress.
const PATIENCE: Duration = Duration::from_secs(20);

const SUBCOMMANDS: [&str; 8] = [
    "sort",
    "gensort",
    "valsort",
    "sim",
    "lab",
    "demo",
    "doctor",
    "completions",
];

/// The fields that scripts rely on, in their order.
const REPORT: [&str; 22] = [
    "format_version",
    "records",
    "bytes",
    "blank_lines",
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
    "sample",
    "unevenness",
    "warnings",
    "cores",
    "devices",
];

const STAGE: [&str; 12] = [
    "name",
    "workers",
    "units",
    "records",
    "bytes",
    "busy_s",
    "starved_s",
    "blocked_s",
    "locked_s",
    "most",
    "mb_per_s",
    "unit_bytes",
];

const NUMBERS: [&str; 10] = [
    "records",
    "bytes",
    "passes",
    "partitions",
    "seconds",
    "read_bytes",
    "written_bytes",
    "temp_peak_bytes",
    "peak_rss_bytes",
    "unevenness",
];

fn fields(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect()
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
        let [units, bytes, mean] =
            ["units", "bytes", "unit_bytes"].map(|name| stage[name].as_u64());
        assert!(
            units.zip(mean).map(|(units, mean)| units * mean)
                <= bytes.zip(units).map(|(bytes, units)| bytes + units),
            "{stage}"
        );
    }
    assert_eq!(fields(&report["sample"]), ["places", "bytes", "seconds"]);
    assert!(
        report["unevenness"].as_f64() >= Some(1.0),
        "{}",
        report["unevenness"]
    );
    assert_eq!(report["warnings"], Value::Array(Vec::new()));
    check_shares(report);
    let named = |stage: &&Value| stage["name"] == report["bottleneck"];
    assert!(
        stages.iter().any(|stage| named(&stage)),
        "{}",
        report["bottleneck"]
    );
}

/// All files of these sorts lie on one device, which the system may not count.
fn check_shares(report: &Value) {
    let is_share = |value: &Value| (0.0..=1.0).contains(&value.as_f64().unwrap());
    assert!(report["cores"]["count"].as_u64() > Some(0));
    assert!(is_share(&report["cores"]["busy_share"]), "{report}");
    assert!(
        report["cores"]["busy_share"].as_f64() > Some(0.0),
        "{report}"
    );
    let devices = report["devices"].as_array().unwrap();
    assert!(devices.len() <= 1, "{report}");
    for device in devices {
        assert!(is_share(&device["busy_share"]), "{device}");
        let (holds, both) = match report["passes"].as_u64() {
            Some(1) => (json!(["inputs", "outputs"]), json!([])),
            _ => (
                json!(["inputs", "temporary", "outputs"]),
                json!(["phase one", "phase two"]),
            ),
        };
        assert_eq!(
            (&device["holds"], &device["read_and_written_at_once"]),
            (&holds, &both)
        );
    }
}

/// The device under the directory of the tests is told, if the system counts it.
#[test]
fn devices_are_told() {
    let place = Place::with_records(1000);
    let device = place.path("in").metadata().unwrap().dev();
    let number = format!(
        "{}:{}",
        rustix::fs::major(device),
        rustix::fs::minor(device)
    );
    let known = Path::new("/sys/dev/block").join(number).canonicalize().ok();
    let whole = |mut found: PathBuf| {
        if found.join("partition").exists() {
            found.pop();
        }
        found
    };
    let known = known
        .map(whole)
        .map(|found| found.file_name().unwrap().to_string_lossy().into_owned());
    let ran = place.run("sort --format gensort in -o out --json --report report");
    let report = ran.succeeded().json();
    let names: Vec<_> = report["devices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|device| device["name"].clone())
        .collect();
    assert_eq!(
        names,
        known.map(Value::from).into_iter().collect::<Vec<_>>()
    );
}

#[test]
fn the_report_of_a_sort() {
    let place = Place::with_records(1000);
    let ran = place
        .run("sort --format gensort in -o out --json --report report")
        .succeeded();
    let report = ran.json();
    check_report(&report);
    check_table(&ran.err, &report);
    assert_eq!(report["records"], 1000);
    assert_eq!(report["bytes"], 100_000);
    assert_eq!(
        (&report["passes"], &report["plan"]),
        (&1.into(), &"one-pass".into())
    );
    assert_eq!(report["checksum"], "1ea6370b955");
    assert!(report["read_bytes"].as_u64() >= Some(100_000));
    assert!(report["written_bytes"].as_u64() >= Some(100_000));
    let written: Value = serde_json::from_slice(&place.read("report")).unwrap();
    assert_eq!(written, report);
}

/// The table shows the stages of the JSON report in order, and marks the slowest.
fn check_table(table: &str, report: &Value) {
    assert!(
        table.lines().all(|line| line.chars().count() <= 80),
        "{table}"
    );
    let head = format!("{}: ", report["plan"].as_str().unwrap());
    assert!(
        table.starts_with(&head) && table.contains(report["reason"].as_str().unwrap()),
        "{table}"
    );
    let header = table
        .lines()
        .position(|line| line.starts_with("  stage "))
        .expect(table);
    let rows: Vec<&str> = table
        .lines()
        .skip(header + 1)
        .take_while(|line| !line.is_empty())
        .collect();
    let stages = report["stages"].as_array().unwrap();
    assert_eq!(rows.len(), stages.len(), "{table}");
    for (row, stage) in rows.iter().zip(stages) {
        let name = stage["name"].as_str().unwrap();
        let mark = if stage["name"] == report["bottleneck"] {
            '>'
        } else {
            ' '
        };
        let figures = row.strip_prefix(&format!("{mark} {name} ")).expect(table);
        let figures: Vec<&str> = figures.split_whitespace().collect();
        assert_eq!(figures[0], stage["workers"].to_string(), "{row}");
        assert_eq!(figures[1], stage["units"].to_string(), "{row}");
        let shares = figures
            .iter()
            .filter_map(|figure| figure.strip_suffix('%')?.parse::<u32>().ok());
        assert!((99..=101).contains(&shares.sum::<u32>()), "{row}");
    }
    for line in ["disk ", "sample ", "uneven "] {
        assert!(
            table.lines().any(|told| told.starts_with(line)),
            "no {line}in {table}"
        );
    }
}

#[test]
fn the_report_of_two_passes() {
    let place = Place::with_records(200_000);
    let sort = "sort --format gensort in -o out --plan two-pass -S 8M --report report";
    let ran = place.run(sort).succeeded();
    let report: Value = serde_json::from_slice(&place.read("report")).unwrap();
    check_report(&report);
    check_table(&ran.err, &report);
    assert!(
        report["sample"]["places"].as_u64() > Some(1),
        "{}",
        report["sample"]
    );
    let bytes = report["sample"]["bytes"].as_u64().unwrap();
    let sampler = report["stages"]
        .as_array()
        .unwrap()
        .iter()
        .find(|stage| stage["name"] == "sampler");
    assert_eq!(sampler.unwrap()["bytes"].as_u64(), Some(bytes));
    assert!(
        report["unevenness"].as_f64() > Some(1.0),
        "{}",
        report["unevenness"]
    );
}

/// Programs that read progress read nothing else.
#[test]
fn a_table_is_not_among_json_lines() {
    let place = Place::with_records(1000);
    let ran = place
        .run("sort --format gensort in -o out --report report --progress json")
        .succeeded();
    for line in ran.err.lines() {
        assert!(serde_json::from_str::<Value>(line).is_ok(), "{line}");
    }
}

#[test]
fn the_report_of_a_pipe_and_of_nothing() {
    let place = Place::with_records(1000);
    let input = place.read("in");
    for (records, plan) in [
        (1000, "merge"),
        (1000, "two-pass"),
        (0, "merge"),
        (0, "two-pass"),
    ] {
        let bytes = &input[..records * 100];
        let line = format!("sort --format gensort --plan {plan} --report report");
        let ran = place.feed(&line, bytes).succeeded();
        assert_eq!(ran.out.len(), bytes.len());
        let report: Value = serde_json::from_slice(&place.read("report")).unwrap();
        check_report(&report);
        assert_eq!(report["records"], records);
        check_table(&ran.err, &report);
        assert_eq!(report["plan"], plan);
        // The first blocks are the sample, and a merge needs none: nothing is read for it alone.
        let sample = &report["sample"];
        let places = if plan == "merge" { 0 } else { records.min(1) };
        assert_eq!(
            (&sample["places"], &sample["bytes"]),
            (&places.into(), &0.into())
        );
    }
}

#[test]
fn progress_as_json_lines() {
    let place = Place::with_records(1000);
    let mut command = place.command("sort --format gensort -o out --progress json");
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(&place.read("in")).unwrap();
    // The sort waits for more input and reports that. The test does not wait for it forever.
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
        assert!(
            step["phase"].is_string() && step["done_bytes"].is_u64(),
            "{line}"
        );
    }
    Ran::from(child.wait_with_output().unwrap()).succeeded();
}

#[test]
fn doctor_tells_what_the_machine_offers() {
    let place = Place::new();
    let told = place.run("doctor --json").succeeded().json();
    for name in [
        "cores",
        "memory_bytes",
        "available_bytes",
        "default_memory_limit_bytes",
    ] {
        assert!(told[name].as_u64() > Some(0), "{name}: {}", told[name]);
    }
    assert!(told["open_file_limit"].as_u64() > Some(0));
    let limit = &told["cgroup_limit_bytes"];
    assert!(limit.is_null() || limit.is_u64(), "{limit}");
    // The output says whether MPI is present, and how to get it.
    let mpi = &told["mpi"];
    assert!(
        mpi["library"].is_string() != mpi["error"].is_string(),
        "{mpi}"
    );
    let here = &told["directories"][0];
    assert!(
        here["free_bytes"].is_u64() && here["direct_io"].is_boolean(),
        "{here}"
    );
    let words = String::from_utf8(place.run("doctor").succeeded().out).unwrap();
    for word in [
        "cores",
        "memory",
        "control group",
        "open files",
        "direct I/O",
        "free space",
        "MPI",
    ] {
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
        let script = Place::new()
            .run(&format!("completions {shell}"))
            .succeeded()
            .out;
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
        assert!(
            help.contains(&format!("\n  {name} ")),
            "{name} is not in\n{help}"
        );
        let ran = place.run(&format!("{name} --help")).succeeded();
        let usage = format!("gristmill {name}");
        assert!(
            String::from_utf8(ran.out).unwrap().contains(&usage),
            "{name}"
        );
    }
    // A release build names its commit: tests/install.sh.
    let version = String::from_utf8(place.run("--version").succeeded().out).unwrap();
    let expected = format!("gristmill {} (", env!("CARGO_PKG_VERSION"));
    assert!(version.starts_with(&expected), "{version}");
}
