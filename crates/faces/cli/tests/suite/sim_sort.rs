//! `gristmill sim sort`: the sort of several ranks on simulated nodes, to which things happen.

use crate::common::Place;
use serde_json::Value;

fn words(line: &str) -> String {
    let ran = Place::new().run(line).succeeded();
    assert_eq!(ran.err, "");
    String::from_utf8(ran.out).unwrap()
}

#[test]
fn every_run_is_counted_by_how_it_ended() {
    let told = words("sim sort --cores 3 --keys 180 --seed 7 --runs 30 --faults death,late");
    assert!(told.starts_with("seeds 7 to 36\n"), "{told}");
    assert!(
        told.contains("machine   driver\n") && told.contains("faults late,death"),
        "{told}"
    );
    let results = told.lines().skip_while(|line| !line.starts_with("result"));
    let counts: Vec<(u64, &str)> = results
        .take_while(|line| line.starts_with("result") || line.starts_with(' '))
        .map(|line| {
            line[10..]
                .trim_start()
                .split_once(' ')
                .expect("a count and words")
        })
        .map(|(count, words)| (count.parse().expect("a count"), words))
        .collect();
    assert_eq!(
        counts.iter().map(|(count, _)| count).sum::<u64>(),
        30,
        "{told}"
    );
    assert!(
        counts
            .iter()
            .any(|(_, words)| *words == "ended by a death, then sorted"),
        "{told}"
    );
    let one = words("sim sort --seed 7");
    assert!(
        one.starts_with("seed 7\n") && one.contains("\nresult    sorted\n"),
        "{one}"
    );
}

#[test]
fn a_seed_is_the_same_run() {
    let report = || {
        let line = "sim sort --cores 2 --keys-per-core 50 --runs 4 --faults disk,cut --json";
        let mut report: Value = Place::new().run(line).succeeded().json();
        for of_this_computer in ["wall_s", "peak_rss_bytes"] {
            assert!(report[of_this_computer].take().is_number());
        }
        report
    };
    let first = report();
    assert_eq!(first, report());
    assert_eq!(
        (&first["program"], &first["machine"]),
        (&"sort".into(), &"driver".into())
    );
    assert_eq!(first["parameters"]["faults"], "cut,disk");
    for (run, seed) in first["runs"].as_array().unwrap().iter().zip(1..) {
        assert_eq!(
            (&run["seed"], &run["sorted"]),
            (&Value::from(seed), &true.into())
        );
        assert_eq!(run["check"]["passed"], true);
        assert!(run["time_us"].as_f64().unwrap() >= 0.0 && run["result"].is_string());
    }
}

#[test]
fn impossible_options_are_refused() {
    for (line, part) in [
        ("sim sort --faults late,cat", "'cat'"),
        ("sim sort --machine nanopu", "driver"),
        ("sim sort --machine threads", "driver"),
        ("sim sort --loss 0.1", "--loss"),
        ("sim sort --cores 65", "at most 64"),
        ("sim sort --buckets 4", "--buckets"),
        ("sim flood --machine driver", "for sort"),
        ("sim flood --faults late", "--faults"),
        ("sim sort --trace sort.json", "not traced"),
    ] {
        let place = Place::new();
        let ran = place.run(line);
        assert_eq!(ran.code, 2, "{line}: {ran:?}");
        assert!(ran.err.contains(part), "{line}: no {part} in {}", ran.err);
        assert!(place.names().is_empty(), "{line}: {:?}", place.names());
    }
}

#[test]
fn its_help_names_the_faults() {
    let help = words("sim sort --help=all");
    for part in [
        "--faults <LIST>",
        "late",
        "cut",
        "death",
        "disk",
        "[default: 200]",
    ] {
        assert!(help.contains(part), "no {part} in\n{help}");
    }
    let others = [
        "--incast",
        "--loss",
        "--switch-ns",
        "--multicast",
        "--machine",
    ];
    for option in others {
        assert!(!help.contains(option), "{option} is in\n{help}");
    }
}

/// No node, one node, and nodes without records.
#[test]
fn few_nodes_and_records() {
    for line in [
        "--cores 1 --faults disk,death,cut",
        "--keys-per-core 0",
        "--cores 2 --keys-per-core 1",
    ] {
        let told = words(&format!("sim sort --runs 6 {line}"));
        assert!(told.contains("\nresult    "), "{line}: {told}");
    }
    assert_eq!(Place::new().run("sim sort --cores 0").code, 2);
}
