//! `gristmill plan`: a sort on a simulated machine with disks.

use std::fs;

use crate::common::{Place, Ran};
use serde_json::Value;

/// The answer to `gristmill plan`.
fn answer(place: &Place, arguments: &str) -> String {
    let ran = place.run(&format!("plan {arguments}"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    String::from_utf8(ran.out).unwrap()
}

fn planned(place: &Place, arguments: &str) -> Value {
    serde_json::from_str(&answer(place, &format!("--json {arguments}"))).unwrap()
}

#[test]
fn a_plan_tells_passes_time_and_bottleneck() {
    let place = Place::new();
    let plan = planned(&place, "10GB");
    let number = |name: &str| plan[name].as_f64().unwrap();
    assert_eq!(plan["machine"], "server-2026");
    assert_eq!(plan["passes"], 1);
    // Four disks of 6 and 5 GB/s.
    let disks = 10.0 / 24.0 + 10.0 / 20.0;
    let seconds = number("seconds");
    assert!((disks..1.5 * disks).contains(&seconds), "{plan:#}");
    let stages = plan["stages"].as_array().unwrap();
    let mut stages = stages.iter();
    let waits_for = stages.find(|stage| stage["name"] == plan["bottleneck"]);
    assert!(waits_for.unwrap()["workers"].as_u64() > Some(1), "{plan:#}");
    assert_eq!(plan, planned(&place, "10GB"), "a seed decides all");
    let little = planned(&place, "10GB -S 1GiB");
    assert_eq!(little["passes"], 2);
    assert!(little["seconds"].as_f64().unwrap() > seconds);
    let phases = plan["phases"].as_array().unwrap();
    let times = phases
        .iter()
        .map(|phase| phase["seconds"].as_f64().unwrap());
    assert!((times.sum::<f64>() - seconds).abs() < 1e-6, "{plan:#}");
    let two = phases.iter().find(|phase| phase["name"] == "phase two");
    assert_eq!(two.unwrap()["bottleneck"], "writer", "{plan:#}");
    let people = answer(&place, "10GB -S 1GiB --relief");
    for part in [
        "10.0 GB of records of 100 bytes on server-2026: 32 cores, 4 disks, 1.1 GB of memory",
        "two-pass: 10.0 GB do not fit in 1.1 GB of memory",
        "twice the",
        "rate of the disks",
        "records a joule",
        "phase one",
        "kept: 4.3 MIPS a MB/s of disks, 4 to 16 by Amdahl",
    ] {
        assert!(people.contains(part), "{part}: {people}");
    }
    let widest = people.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(100), "{people}");
}

#[test]
fn rules_of_balance_are_judged_or_name_the_missing_key() {
    let place = Place::new();
    let rules = |arguments: &str| -> Vec<(String, Value)> {
        let plan = planned(&place, arguments);
        let rules = plan["balance"].as_array().unwrap().iter();
        let found = rules.map(|rule| (rule["rule"].as_str().unwrap().to_owned(), rule.clone()));
        found.collect()
    };
    let broken = |arguments: &str| -> Vec<String> {
        let broken = rules(arguments).into_iter();
        let broken = broken.filter(|(_, rule)| !rule["broken"].is_null());
        broken.map(|(name, _)| name).collect()
    };
    // With the memory that it had, and with a tenth of it.
    let sort = "20GB --machine tritonsort-2011 --nodes 1";
    assert_eq!(broken(sort), ["accesses"]);
    let little = format!("{sort} -S 2GB");
    assert_eq!(broken(&little), ["memory", "accesses", "five minutes"]);
    let text = answer(&place, "--machine tritonsort-2011");
    for (key, rule, missing) in [
        ("mips", "I/O", "mips in [node]"),
        ("price_usd = 200", "five minutes", "price_usd in [[disks]]"),
        (
            "memory_price_usd_per_gb",
            "five minutes",
            "memory_price_usd_per_gb in [node]",
        ),
    ] {
        let kept = text.lines().filter(|line| !line.starts_with(key));
        let kept: Vec<&str> = kept.collect();
        fs::write(place.path("less.toml"), kept.join("\n")).unwrap();
        let less = "1GB --machine less.toml --nodes 1";
        let all = rules(less);
        let (_, found) = all.iter().find(|(name, _)| name == rule).unwrap();
        assert_eq!(found["missing"], missing, "{found:#}");
        assert!(found["value"].is_null() && found["broken"].is_null());
        let people = answer(&place, less);
        let said = format!("not judged: the machine has no {missing}");
        assert!(people.contains(&said), "{people}");
    }
}

#[test]
fn a_machine_is_a_file_that_can_be_changed() {
    let place = Place::new();
    let text = answer(&place, "--machine cloud-2026");
    let file = place.path("my.toml");
    fs::write(&file, text.replace("cores = 16 ", "cores = 0 ")).unwrap();
    let Ran { code, err, .. } = place.run("plan 1GB --machine my.toml");
    assert_eq!(code, 2, "{err}");
    let expected = "gristmill: my.toml: node.cores is 0: must be 1 to 4096";
    assert_eq!(err.trim(), expected);
    fs::write(&file, text.replace("read_mb_s = 1000 ", "read_mb_s = 100 ")).unwrap();
    let seconds = |machine: &str| {
        let plan = planned(&place, &format!("20GB --machine {machine}"));
        plan["seconds"].as_f64().unwrap()
    };
    // Two disks read 20 GB at 200 MB/s, and not at 2 GB/s.
    let more = seconds("my.toml") - seconds("cloud-2026");
    assert!((85.0..100.0).contains(&more), "{more} s more");
}

#[test]
fn this_machine_is_measured_and_planned_for() {
    let place = Place::new();
    let text = place.run("doctor --measure --seconds 0.05").succeeded().out;
    let text = String::from_utf8(text).unwrap();
    for key in [
        "both_mb_s",
        "single_mb_s",
        "first_touch_ns_per_byte",
        "[stages_of_lines]",
    ] {
        assert!(text.contains(key), "{key}: {text}");
    }
    assert_eq!(
        fs::read_dir(place.path(".")).unwrap().count(),
        0,
        "files are left"
    );
    fs::write(place.path("this.toml"), &text).unwrap();
    let seconds = |options: &str| {
        let plan = planned(&place, &format!("1GB --machine this.toml {options}"));
        plan["seconds"].as_f64().unwrap()
    };
    let lines = text.replace(
        "[stages_of_lines]",
        "[stages_of_lines]\nreader = { ns_per_byte = 100 }",
    );
    fs::write(place.path("slow.toml"), lines).unwrap();
    let slow = planned(&place, "1GB --machine slow.toml --lines");
    assert!(slow["seconds"].as_f64().unwrap() > seconds("--lines") + 10.0);
    assert!(seconds("") > 0.0);
    let ran = place.run("doctor --measure no-such-directory");
    assert_eq!(
        (
            ran.code,
            ran.err.contains("cannot measure no-such-directory")
        ),
        (2, true),
        "{}",
        ran.err
    );
}

#[test]
fn what_cannot_be_planned_is_refused_in_one_line() {
    let place = Place::new();
    let cases = [
        (
            "1GB --machine no-such",
            "built-in machine: tritonsort-2011, tritonsort-15k,",
        ),
        (
            "1GB --as no-such",
            "give a file, or a built-in plan: tritonsort, tritonsort-48gb, heaper-merger, now-sort, psort",
        ),
        ("1GB --whole", "--as"),
        ("900TB", "disks for files hold 16.0 TB"),
        ("1GB -S 1K", "memory"),
        (
            "1GB --machine now-1997 --nodes 100000",
            "--nodes 100000: at most 1000",
        ),
        (
            "--machine no-such",
            "say how many bytes to sort on no-such, such as 100GB",
        ),
        ("1GB --record-bytes 0", "--record-bytes"),
    ];
    for (arguments, expected) in cases {
        let ran = place.run(&format!("plan {arguments}"));
        assert_eq!(ran.code, 2, "{arguments}: {}", ran.err);
        assert!(ran.err.contains(expected), "{arguments}: {}", ran.err);
        assert!(ran.out.is_empty(), "{arguments}");
    }
    let list = answer(&place, "--list");
    let first = "tritonsort-2011  52 nodes of 16 disks";
    assert!(list.contains(first), "{list}");
}
