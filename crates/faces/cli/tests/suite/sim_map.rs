//! `gristmill sim map`: the networks of the NOW, absent parts, a death, and what is refused.

use crate::common::Place;
use serde_json::Value;

fn json(line: &str) -> Value {
    let ran = Place::new().run(&format!("sim map {line} --json"));
    ran.succeeded().json()
}

#[test]
fn the_networks_of_the_now_are_mapped() {
    for (line, expected) in [
        ("--machine now-subcluster", [36_u64, 13, 64, 984, 763]),
        (
            "--machine now-subcluster --cores 35",
            [35, 13, 63, 1185, 933],
        ),
        ("--cores 100", [100, 40, 193, 5944, 4685]),
        ("", [105, 40, 198, 5591, 4393]),
    ] {
        let report = json(line);
        let keys = ["hosts", "switches", "links", "probes", "unanswered"];
        let told = keys.map(|key| report[key].as_u64());
        assert_eq!(told, expected.map(Some), "{line}: {keys:?}");
        let [hosts, switches, ..] = expected;
        assert_eq!(report["is_right"], true);
        assert_eq!(
            report["map"].as_array().map(Vec::len),
            Some(switches as usize)
        );
        let routes = &report["routes"];
        assert_eq!(routes["pairs"], hosts * (hosts - 1));
        assert_eq!(
            (&routes["missing"], &routes["acyclic"]),
            (&0.into(), &true.into())
        );
    }
}

#[test]
fn a_map_is_text_by_levels() {
    let place = Place::new();
    let told = place
        .run("sim map --machine now-subcluster --seed 7")
        .succeeded();
    let told = String::from_utf8(told.out).unwrap();
    assert!(
        told.starts_with("seed 7\nmachine   now-subcluster: "),
        "{told}"
    );
    assert!(
        told.contains("map       36 hosts, 13 switches, 64 links: as it is wired"),
        "{told}"
    );
    assert!(told.contains("no circle of channels"), "{told}");
    let row = told
        .lines()
        .find(|line| line.contains(" a.leaf1 "))
        .unwrap();
    assert!(
        row.contains(" 5-9 ")
            && row
                .split_whitespace()
                .filter(|word| word.starts_with('s'))
                .count()
                == 4,
        "{row}"
    );
    assert!(told.lines().all(|line| line.len() <= 80), "{told}");
}

/// The networks are machines like others.
#[test]
fn programs_run_on_the_now() {
    for line in [
        "merge-min --machine now-network --cores 105",
        "flood --machine now-subcluster --cores 36 --messages 4",
    ] {
        let report = Place::new()
            .run(&format!("sim {line} --json"))
            .succeeded()
            .json();
        assert_eq!(report["runs"][0]["check"]["passed"], true, "{line}");
    }
}

#[test]
fn absent_parts_are_not_on_the_map() {
    let report =
        json("--machine now-subcluster --without switch:a.two0 --without link:a.leaf0:a.two1");
    assert_eq!(
        (&report["switches"], &report["links"]),
        (&12.into(), &56.into())
    );
    let apart = json("--machine now-subcluster --without switch:a.leaf0");
    assert_eq!(
        (&apart["hosts"], &apart["hosts_elsewhere"]),
        (&31.into(), &0.into())
    );
}

#[test]
fn a_death_leaves_routes_for_the_others() {
    let report = json("--machine now-subcluster --death switch:a.leaf3 --period-ms 400");
    let death = &report["death"];
    assert_eq!(death["cut_off"], serde_json::json!([15, 16, 17, 18, 19]));
    assert_eq!(
        (&death["unrouted"], &death["left_over"]),
        (&0.into(), &0.into())
    );
    assert!(death["longest_stopped_ms"].as_f64() > Some(50.0), "{death}");
    let again = json("--machine now-subcluster --death switch:a.leaf3 --period-ms 400");
    assert_eq!(report, again, "the seed decides all");
}

#[test]
fn a_death_may_cut_off_all_hosts() {
    let report = json("--machine now-subcluster --cores 5 --death switch:a.leaf0");
    let death = &report["death"];
    assert_eq!(death["cut_off"], serde_json::json!([0, 1, 2, 3, 4]));
    assert_eq!(
        (&death["parts"], &death["unrouted"]),
        (&0.into(), &0.into())
    );
}

/// Switches 3 and 4 hang on one link and have no host.
const HIDDEN: &str = r#"base = "nanopu"
[graph]
switches = [{ name = "a", nics = 4 }, { name = "b", nics = 2 }, "c", "d"]
links = [{ ends = "a - b", count = 2 }, "b - c", { ends = "c - d", count = 2 }]"#;

#[test]
fn a_hidden_part_is_counted() {
    let place = Place::new();
    place.write("hidden.toml", HIDDEN);
    let report = place
        .run("sim map --machine hidden.toml --json")
        .succeeded()
        .json();
    assert_eq!(
        (&report["switches"], &report["hidden_switches"]),
        (&2.into(), &2.into())
    );
    assert_eq!(report["is_right"], true);
    // With shorter probes the second link to b is not found to be one.
    let ran = place.run("sim map --machine hidden.toml --depth 1");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("the map is not the network"), "{ran:?}");
}

#[test]
fn wrong_lines_are_refused_in_one() {
    let place = Place::new();
    place.write("apart.toml", HIDDEN.replace("\"b - c\", ", ""));
    for (line, part) in [
        (
            "--machine apart.toml",
            "apart.toml: line 3 (switches): no way leads from switch a to c",
        ),
        ("--machine nanopu", "nanopu: network.layers: "),
        (
            "--machine threads",
            "--machine threads: a map needs a simulated machine",
        ),
        (
            "--cores 106",
            "--cores 106: expected 1 to 105 hosts on now-network",
        ),
        (
            "--without switch:y",
            "--without switch:y: there is no switch y",
        ),
        (
            "--without leaf",
            "--without leaf: expected switch:A, or link:A:B",
        ),
        (
            "--death link:x:a.leaf0",
            "--death link:x:a.leaf0: there is no link between x and a.leaf0",
        ),
        (
            "--period-ms 400",
            "required arguments were not provided: --death",
        ),
        (
            "--death switch:x --death-ms 20000",
            "--death-ms 20000: expected 0 to 10000",
        ),
        (
            "--death switch:x --period-ms 0.5",
            "--period-ms 0.5: expected 1 to 10000",
        ),
        (
            "--timeout-us 1000001",
            "--timeout-us 1000001: expected 0 to 1000000",
        ),
        (
            "--death switch:x --timeout-us 1000000",
            "--death: a map takes more than a minute",
        ),
        (
            "--machine now-subcluster --cores 5 --without switch:a.leaf0",
            "--without: no host has a cable",
        ),
    ] {
        let ran = place.run(&format!("sim map {line}"));
        assert_eq!(ran.code, 2, "{line}: {ran:?}");
        assert!(ran.complaint().contains(part), "{line}: {ran:?}");
    }
}
