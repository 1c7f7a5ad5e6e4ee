//! `gristmill sim tune`: the table, the JSON report, refused readings, wrong dials.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};

use crate::common::{Place, Ran};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// A search that takes little time.
const SMALL: &str = "sim tune nano-sort --cores 64 --keys-per-core 8 --runs 2 --tries 20";

fn words(ran: Ran) -> String {
    let ran = ran.succeeded();
    assert_eq!(ran.err, "");
    String::from_utf8(ran.out).unwrap()
}

/// The report without what depends on this computer.
fn reproducible(mut report: Value) -> String {
    let all = report.as_object_mut().unwrap();
    for name in ["wall_s", "threads"] {
        all.shift_remove(name).expect(name);
    }
    report.to_string()
}

fn mean(outcome: &Value) -> Option<f64> {
    outcome["time_us"]["mean"].as_f64()
}

#[test]
fn the_table_has_every_reading_and_the_command_of_the_best() {
    let place = Place::new();
    let told = words(place.run(SMALL));
    assert!(
        told.starts_with("seeds 1 to 2\nprogram   nano-sort with cores 64, "),
        "{told}"
    );
    let dials = "\ndials     buckets, incast, burst, rows, pivot-keys\n";
    assert!(told.contains(dials), "{told}");
    // The command at the end is one line, however long.
    let is_narrow = |line: &str| line.len() <= 80 || line.starts_with("gristmill sim ");
    assert!(told.lines().all(is_narrow), "{told}");
    let (_, table) = told
        .split_once(" readings in us, each the mean of 2 seeds\n")
        .unwrap();
    let mut rows = table.lines();
    let head: Vec<_> = rows.next().unwrap().split_whitespace().collect();
    let columns = [
        "buckets",
        "incast",
        "burst",
        "rows",
        "pivot-keys",
        "time",
        "sd",
        "messages",
    ];
    assert_eq!(head, columns);
    let rows: Vec<_> = rows.take_while(|row| row.starts_with("  ")).collect();
    assert!(rows[0].ends_with(" start"), "{told}");
    let best: Vec<_> = rows.iter().filter(|row| row.ends_with(" best")).collect();
    assert_eq!(best.len(), 1, "{told}");
    let (_, again) = told.split_once("again on seeds 3 to 4, ").expect(&told);
    assert!(
        again.contains("\nstart ") && again.contains(" of the start's time\n"),
        "{told}"
    );
    // The command runs, and its time is that of the table.
    let command = told.trim_end().lines().last().unwrap();
    let command = command.strip_prefix("gristmill ").unwrap();
    let report = place.run(&format!("{command} --json")).succeeded().json();
    let time = format!(" {:.3} ", mean(&report).unwrap());
    assert!(best[0].contains(&time), "{time} is not in {}", best[0]);
}

#[test]
fn the_json_report_is_the_same_again_and_on_two_threads() {
    let place = Place::new();
    let report = |line: &str| place.run(line).succeeded().json();
    let first = report(&format!("{SMALL} --json"));
    let again = report(&format!("{SMALL} --json --threads 2"));
    assert_eq!(reproducible(first.clone()), reproducible(again));
    let readings = first["readings"].as_array().unwrap();
    assert!(readings.len() <= 20, "{first}");
    let dials: BTreeSet<_> = readings.iter().map(|it| it["dials"].to_string()).collect();
    assert_eq!(dials.len(), readings.len(), "each once: {first}");
    assert_eq!(readings[0]["dials"]["buckets"], 16);
    assert_eq!(readings[0]["dials"]["pivot_keys"], Value::Null);
    let best = &readings[first["best"].as_u64().unwrap() as usize];
    assert_eq!(first["start"], 0);
    let least = readings.iter().filter_map(mean).reduce(f64::min);
    assert_eq!(mean(best), least);
    assert!(best["messages"].as_f64() > Some(0.0), "{best}");
    let fresh = &first["confirmation"];
    assert_eq!(fresh["seeds"]["first"], 3);
    let ratio = mean(&fresh["best"]).unwrap() / mean(&fresh["start"]).unwrap();
    assert_eq!(fresh["ratio"].as_f64(), Some(ratio));
    assert_eq!(first["machine_file"], Value::Null);
}

/// A burst has at most 16 keys, and two keys are looked at for each bucket.
#[test]
fn refused_readings_are_shown_and_passed_over() {
    let place = Place::new();
    let line = "sim tune nano-sort --cores 16 --reading lock-step --burst 1 --dial burst=1,17,4 --dial pivot-keys=8,32";
    let told = words(place.run(line));
    assert!(told.contains("\n4 readings in us"), "{told}");
    assert_eq!(told.matches(" refused\n").count(), 2, "{told}");
    assert!(
        told.contains("\nrefused   2: a burst is 1 to 16 keys, not 17\n"),
        "{told}"
    );
    assert!(
        told.contains("\nrefused   4: PivotSelect looks at "),
        "{told}"
    );
    let report = place.run(&format!("{line} --json")).succeeded().json();
    let refused = &report["readings"][1];
    assert_eq!(refused["time_us"], Value::Null);
    assert_eq!(refused["refused"], "a burst is 1 to 16 keys, not 17");
}

#[test]
fn any_option_with_values_is_a_dial() {
    let place = Place::new();
    let line = "sim tune nano-sort --keys 256 --cores 64 --exchange buckets --runs 1 --json \
                --dial exchange --dial rows=default,1 --dial cores=128,64";
    let report = place.run(line).succeeded().json();
    let values = |dial: &str| -> BTreeSet<String> {
        let readings = report["readings"].as_array().unwrap().iter();
        readings.map(|it| it["dials"][dial].to_string()).collect()
    };
    let set = |values: [&str; 2]| values.map(str::to_owned).into();
    assert_eq!(values("exchange"), set(["\"buckets\"", "\"keys\""]));
    assert_eq!(values("rows"), set(["null", "1"]));
    assert_eq!(values("cores"), set(["64", "128"]));
    let command = report["command"].as_str().unwrap();
    assert!(command.contains(" --keys 256 "), "all keys stay: {command}");
}

#[test]
fn wrong_dials_are_answered() {
    let place = Place::new();
    for (options, parts) in [
        (
            "merge-min --dial incats",
            &["'incats'", "did you mean incast?", "keys-per-core"][..],
        ),
        (
            "merge-min --dial quux=1",
            &["'quux'", "there are cores, ", "incast"],
        ),
        (
            "merge-min --dial incast=4,x",
            &["--dial incast=4,x: ", "'x'", "not a number"],
        ),
        ("merge-min --dial incast --dial incast=2", &["given twice"]),
        (
            "local-sort",
            &["local-sort has no dials", "--dial", "keys-per-core"],
        ),
        ("sort --dial faults", &["give the values"]),
        ("merge-min --trace out.json", &["--trace is of one run"]),
        ("nano-sort --pivot-keys 4", &["PivotSelect"]),
        ("merge-min --tries 0", &["--tries"]),
    ] {
        let ran = place.run(&format!("sim tune {options}"));
        assert_eq!(ran.code, 2, "{options}: {ran:?}");
        for part in parts {
            assert!(
                ran.err.contains(part),
                "{options}: no {part} in {}",
                ran.err
            );
        }
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
    }
    assert!(place.names().is_empty(), "{:?}", place.names());
    let ran = place.run("sim tune merge-min --dial incats --json");
    assert_eq!(ran.json()["error"]["kind"], "usage");
}

#[test]
fn progress_tells_readings() {
    let place = Place::new();
    let ran = place
        .run("sim tune merge-min --cores 16 --progress json")
        .succeeded();
    let lines: Vec<Value> = ran
        .err
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let last = lines.last().unwrap();
    assert_eq!(last["most_readings"], 60, "{lines:?}");
    assert!(
        last["done_readings"].as_u64() > Some(2) && last["best_us"].as_f64() > Some(0.0),
        "{last}"
    );
}

/// The first reading takes no time, and the second would take hours.
const ENDLESS: &str =
    "sim tune flood --cores 16 --messages 1 --runs 1 --dial messages=4000000000 --anyway";

#[test]
fn a_search_that_is_stopped_tells_its_readings() {
    let place = Place::new();
    let stopped = |options: &str| {
        let line = format!("{ENDLESS} --progress json {options}");
        let mut child = place.command(&line).spawn().unwrap();
        let mut told = BufReader::new(child.stderr.take().unwrap()).lines();
        let is_measured = |line: &String| line.contains("\"done_readings\":1,");
        told.by_ref().map(Result::unwrap).find(is_measured).unwrap();
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let last = told.map(Result::unwrap).last().unwrap();
        assert!(last.contains("stopped by SIGINT"), "{last}");
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert_eq!(ran.code, 130);
        String::from_utf8(ran.out).unwrap()
    };
    let told = stopped("");
    assert!(told.contains("\n1 reading in us\n"), "{told}");
    assert!(told.contains(", as it was stopped: more may"), "{told}");
    assert!(told.contains("gristmill sim flood"), "{told}");
    let json: Value = serde_json::from_str(&stopped("--json")).unwrap();
    assert_eq!(json["stopped"], true);
    assert_eq!(json["readings"].as_array().unwrap().len(), 1);
    assert!(json["confirmation"].is_null());
}
