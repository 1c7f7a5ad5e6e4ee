//! The traces of `gristmill sim`: what they show, and that nothing half-written is ever left.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use crate::common::{Place, Ran, cases};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

#[test]
fn a_trace_shows_at_most_512_cores() {
    let place = Place::new();
    let line = "sim merge-min --cores 2048 --keys-per-core 8 --trace trace --json";
    let report = place.run(line).succeeded().json();
    let note = "the trace shows 512 of 2048 cores: 8 groups of 64 neighbours";
    assert_eq!(report["note"], note);
    let trace: Value = serde_json::from_slice(&place.read("trace")).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let threads = events
        .iter()
        .filter(|event| event["name"] == "thread_name")
        .count();
    assert_eq!(threads, 512);
    let slices: Vec<_> = events.iter().filter(|event| event["ph"] == "X").collect();
    assert!(slices.len() >= threads);
    for slice in slices {
        assert!(
            slice["ts"].is_number() && slice["dur"].as_f64() >= Some(0.0),
            "{slice}"
        );
        assert!(slice["args"]["idle_us"].as_f64() <= slice["dur"].as_f64().map(|us| us + 0.001));
    }
}

#[test]
fn a_trace_replaces_what_its_name_showed() {
    let place = Place::new();
    place.write("old", "old");
    fs::set_permissions(place.path("old"), fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("old", place.path("link")).unwrap();
    place.run("sim merge-min --trace link").succeeded();
    assert!(place.read("old").starts_with(b"{\"displayTimeUnit\""));
    assert!(place.path("link").is_symlink());
    let mode = fs::metadata(place.path("old"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o640);
    assert_eq!(place.names(), ["link", "old"]);
    place.run("sim merge-min --trace /dev/null").succeeded();
}

#[test]
fn a_refused_trace_changes_no_file() {
    let place = Place::new();
    place.write("trace", "old");
    fs::create_dir(place.path("directory")).unwrap();
    let cases = [
        ("--machine threads --trace trace", "threads"),
        ("--trace no/such/file", "make it first"),
        ("--trace directory", "directory"),
        ("--trace -", "name another file"),
        ("--trace /dev/stdout", "name another file"),
    ];
    for (options, why) in cases {
        for json in ["", " --json"] {
            let ran = place.run(&format!("sim merge-min {options}{json}"));
            assert_eq!(ran.code, 2, "{options}: {ran:?}");
            assert!(ran.complaint().contains(why), "{options}: {ran:?}");
            assert_eq!(ran.out.is_empty(), json.is_empty(), "{options}: {ran:?}");
        }
        assert_eq!(place.names(), ["directory", "trace"], "{options}");
        assert_eq!(place.read("trace"), b"old");
    }
    let ran = place.run_shell("exec \"$GRISTMILL\" sim merge-min --trace report >report");
    assert_eq!(ran.code, 2, "{ran:?}");
}

/// Most of this run is its check, which hears no signal.
const CHECKED: &str = "sim local-sort --cores 512 --keys-per-core 2048 --trace trace";

/// Whenever a signal comes, there is the whole trace or none, and none without success.
#[test]
fn a_signal_leaves_the_whole_trace_or_none() {
    let instants = cases(6, 12);
    let place = Place::new();
    let begin = Instant::now();
    place.run(CHECKED).succeeded();
    let life = begin.elapsed();
    let whole = place.read("trace");
    let mut stopped = 0;
    for instant in 0..instants {
        fs::remove_file(place.path("trace")).unwrap_or_default();
        let child = place.command(CHECKED).spawn().unwrap();
        std::thread::sleep(life * instant / instants + Duration::from_millis(5));
        // At another signal the process ends at once, wherever it is.
        for _ in 0..=instant % 2 {
            kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
            std::thread::sleep(Duration::from_millis(2));
        }
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert!([0, 143].contains(&ran.code), "{ran:?}");
        assert!(place.unfinished().is_empty(), "{:?}", place.names());
        if place.path("trace").exists() {
            assert!(place.read("trace") == whole, "a part of a trace is shown");
        } else {
            assert_ne!(ran.code, 0, "success without a trace");
        }
        stopped += u32::from(ran.code != 0);
    }
    assert!(stopped >= instants / 3, "{stopped} runs were met");
}
