//! `gristmill-bench external`: everybody stands beside the floor, wrong and failing peers are
//! reported, limits hold, and nothing is left behind however it ends.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Child;
use std::time::Duration;

use children::Command;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use super::{assert_empty, command, gristmill, report, said};

/// A directory with peers; the race is to run in its `work`.
struct Place(TempDir);

impl Place {
    fn new(peers: &[(&str, &str)]) -> Place {
        let place = Place(super::place());
        fs::create_dir(place.path("work")).unwrap();
        fs::create_dir_all(place.path("peers/built")).unwrap();
        for (name, script) in peers {
            place.add_peer(name, script);
        }
        place
    }

    fn add_peer(&self, name: &str, script: &str) {
        let path = self.path("peers/built").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, arguments: &str) -> Command {
        let own = "external --smoke --json --dir work --peers peers".split_whitespace();
        let words: Vec<&str> = own.chain(arguments.split_whitespace()).collect();
        let mut command = command(&words);
        command.current_dir(self.0.path());
        command
    }
}

fn external(place: &Place, arguments: &str) -> (Value, String) {
    let ended = place.command(arguments).output().unwrap();
    let report = report(&ended);
    assert_empty(&place.path("work"));
    (report, said(&ended))
}

fn row<'a>(report: &'a Value, name: &str) -> Option<&'a Value> {
    report["rows"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["name"] == name)
}

#[test]
fn everybody_stands_beside_the_floor() {
    let right = format!(
        "exec \"{}\" sort --format gensort -T \"$4\" \"$1\" -o \"$2\"",
        gristmill().display()
    );
    let place = Place::new(&[
        ("right", &right),
        ("copies", "cp \"$1\" \"$2\""),
        ("short", "head -c 5050 \"$1\" > \"$2\""),
        (
            "broken",
            "echo spoilt > \"$4/left\"; echo no luck >&2; exit 3",
        ),
    ]);
    fs::write(place.path("peers/built/notes"), "no program").unwrap();
    let (report, said) = external(&place, "--runs 3");
    assert_eq!(
        (&report["bench"], &report["records"]),
        (&"external".into(), &10_485.into())
    );
    assert_eq!(
        (&report["input"], &report["memory_bytes"]),
        (&"uniform".into(), &(64 << 20).into())
    );
    assert_eq!(report["floor_one_pass_s"].as_array().unwrap().len(), 4);

    let floor = row(&report, "floor of two passes").unwrap();
    assert_eq!(
        (&report["rows"][0], &floor["ratio_to_floor"]),
        (floor, &1.0.into())
    );
    let floors = report["floor_one_pass_s"].as_array().unwrap();
    let two_passes = floors[0].as_f64().unwrap() + floors[1].as_f64().unwrap();
    assert_eq!(floor["seconds"][0].as_f64().unwrap(), two_passes);

    for row in report["rows"].as_array().unwrap() {
        assert_eq!(row["seconds"].as_array().unwrap().len(), 3, "{row:#}");
        assert!(
            row["median"].as_f64().unwrap() > 0.0 && row["ratio_to_floor"].as_f64().unwrap() > 0.0
        );
    }
    for name in ["gristmill", "right"] {
        let row = row(&report, name).unwrap();
        assert_eq!(
            (&row["validated"], &row["wrong"]),
            (&true.into(), &Value::Null),
            "{row:#}"
        );
        assert!(
            row["written_bytes"]
                .as_u64()
                .is_none_or(|bytes| bytes >= 1_048_500),
            "{row:#}"
        );
    }
    let ours = row(&report, "gristmill").unwrap();
    assert!(
        ours["peak_rss_bytes"].as_u64().unwrap() > 1 << 20,
        "{ours:#}"
    );
    assert_eq!(
        (&ours["passes"], &ours["plan"]),
        (&1.into(), &"one-pass".into())
    );
    for name in ["copies", "short"] {
        let row = row(&report, name).unwrap();
        assert_eq!(row["validated"], false, "{row:#}");
        assert!(
            said.contains(&format!("the output of {name} is not the sorted input")),
            "{said}"
        );
    }
    assert_eq!(row(&report, "broken"), None);
    assert_eq!(report["failed"][0]["name"], "broken");
    assert!(
        report["failed"][0]["why"]
            .as_str()
            .unwrap()
            .contains("no luck"),
        "{report:#}"
    );
    assert_eq!(row(&report, "notes"), None);
}

#[test]
fn what_memory_does_not_hold_is_spilled_where_it_is_told() {
    let place = Place::new(&[]);
    fs::create_dir(place.path("spill")).unwrap();
    let (report, _) = external(&place, "--runs 1 --size 20M --memory 8M --tmp spill");
    let ours = row(&report, "gristmill").unwrap();
    assert!(ours["passes"].as_u64().unwrap() > 1, "{ours:#}");
    assert!(
        ours["temp_peak_bytes"].as_u64().unwrap() > 1 << 20,
        "{ours:#}"
    );
    let command = ours["command"].as_str().unwrap();
    assert!(
        command.contains("-S 8192K -T /") && command.contains("/spill/"),
        "{command}"
    );
    assert_empty(&place.path("spill"));
}

#[test]
fn inputs_of_all_kinds_are_sorted() {
    let place = Place::new(&[]);
    for input in ["uniform", "skewed", "equal", "sorted", "reverse"] {
        let (report, _) = external(&place, &format!("--runs 1 --input {input}"));
        assert_eq!(report["input"], input);
        // Text is sorted as well where there is GNU sort.
        for row in &report["rows"].as_array().unwrap()[1..] {
            assert_eq!(row["validated"], true, "{input}: {row:#}");
        }
    }
}

#[test]
fn a_limit_holds_or_it_is_said_why_not() {
    const LIMIT: u64 = 200 << 20;
    let place = Place::new(&[]);
    let (report, said) = external(&place, "--runs 1 --size 4M --memory 1G --cgroup-limit 200M");
    let ours = row(&report, "gristmill").unwrap();
    if report["cgroup_limit_bytes"].is_null() {
        let why = report["cgroup_skipped"].as_str().unwrap();
        assert!(
            said.contains("--cgroup-limit is skipped") && said.contains(why),
            "{said}"
        );
        assert_eq!(report["memory_bytes"], 1 << 30);
    } else {
        assert_eq!(report["cgroup_limit_bytes"], LIMIT);
        assert!(report["memory_bytes"].as_u64().unwrap() < LIMIT);
        let peak = ours["cgroup_peak_bytes"].as_u64();
        // Old kernels of version 2 do not tell.
        assert!(
            peak.is_none_or(|peak| peak > 1 << 20 && peak <= LIMIT),
            "{ours:#}"
        );
    }
}

/// A bench in which a peer is at work.
fn at_work() -> (Place, Child, Pid) {
    let place = Place::new(&[]);
    let begun = place.path("begun");
    let script = format!(
        "echo > \"$4/spill\"; echo $$ > '{0}.part'; mv '{0}.part' '{0}'",
        begun.display()
    );
    place.add_peer("slow", &format!("{script}; exec sleep 600"));
    let mut child = place.command("").spawn().unwrap();
    while !begun.exists() {
        assert_eq!(
            child.try_wait().unwrap(),
            None,
            "it ended before its peer began"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    let peer = fs::read_to_string(&begun).unwrap().trim().parse().unwrap();
    (place, child, Pid::from_raw(peer).unwrap())
}

#[test]
fn a_signal_ends_everybody_and_leaves_nothing() {
    let (place, child, peer) = at_work();
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let ended = child.wait_with_output().unwrap();
    let code = ended.status.code();
    assert_eq!(code, Some(128 + Signal::TERM.as_raw()), "{}", said(&ended));
    assert_empty(&place.path("work"));
    // Its parent has gone: whoever reaps it now may take a moment.
    let status = format!("/proc/{}/stat", peer.as_raw_nonzero());
    let lives = || fs::read_to_string(&status).is_ok_and(|text| !text.contains(") Z "));
    for _ in 0..1000 {
        if !lives() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("the peer goes on");
}
