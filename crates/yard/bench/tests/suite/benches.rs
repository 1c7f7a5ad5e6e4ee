//! Every measurement at its smoke size: the fields of the contract, figures that make sense, and no
//! file left behind.

use serde_json::Value;

use super::{assert_empty, command, names, place, report, said, smoke};

fn bench(arguments: &[&str]) -> Value {
    report(&smoke(&[arguments, &["--runs", "2"]].concat()))
}

/// The rows, each checked against the contract.
fn rows(report: &Value) -> &[Value] {
    let rows = report["rows"].as_array().unwrap();
    assert!(rows.len() > 1, "{report:#}");
    for row in rows {
        assert!(!row["name"].as_str().unwrap().is_empty());
        assert!(!row["command"].as_str().unwrap().is_empty());
        let seconds: Vec<f64> = row["seconds"]
            .as_array()
            .unwrap()
            .iter()
            .map(|s| s.as_f64().unwrap())
            .collect();
        assert_eq!(seconds.len(), 2, "{row:#}");
        let median = row["median"].as_f64().unwrap();
        let (least, most) = (seconds[0].min(seconds[1]), seconds.iter().sum());
        assert!(median > 0.0 && median >= least && median <= most, "{row:#}");
        assert!(row["ratio_to_floor"].as_f64().unwrap() > 0.0, "{row:#}");
    }
    assert_eq!(rows[0]["ratio_to_floor"], 1.0);
    rows
}

#[test]
fn datamation_validates_what_it_measures() {
    let place = place();
    let report = bench(&["datamation", "--directory", place.path().to_str().unwrap()]);
    assert_eq!(report["bench"], "datamation");
    assert_eq!(report["records"], 2_000);
    let rows = rows(&report);
    assert_eq!(names(rows)[..2], ["cp and sync", "gristmill"]);
    assert_eq!(rows[0]["command"], "cp input output && sync output");
    assert_eq!(
        rows[1]["command"],
        "gristmill sort --format gensort input -o output"
    );
    assert_eq!(rows[1]["validated"], true);
    assert_empty(place.path());
}

#[test]
fn datamation_is_measured_with_one_thing_changed() {
    let place = place();
    let here = place.path().to_str().unwrap();
    let report = bench(&["datamation", "--ablate", "--directory", here]);
    let rows = rows(&report);
    assert!(rows.len() >= 6, "{report:#}");
    for row in &rows[1..] {
        assert_eq!(row["validated"], true);
    }
    let of = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap();
    let command = "gristmill sort --format gensort input -o output --io buffered";
    assert_eq!(of("I/O through the page cache")["command"], command);
    assert_empty(place.path());
}

#[test]
fn kernels_stand_beside_the_papers_choices() {
    let report = bench(&["kernel"]);
    let rows = rows(&report);
    let names = names(rows);
    for name in [
        "partial radix, 22 bits",
        "mergesort",
        "in-place permutation",
        "skewed",
    ] {
        assert!(names.contains(&name), "{name} is not in {names:?}");
    }
    assert!(
        rows.iter()
            .all(|row| row["ns_per_item"].as_f64().unwrap() > 0.0)
    );
}

#[test]
fn disks_are_measured_by_size_of_request() {
    let place = place();
    let report = bench(&["disk", "--dir", place.path().to_str().unwrap()]);
    assert_eq!(report["bytes"], 16 << 20);
    let rows = rows(&report);
    // 13 sizes with one and four in flight, and the best; written, then read.
    assert_eq!(rows.len(), 2 * (13 * 2 + 1));
    assert_eq!(rows[1]["name"], "write of 4 KiB, 1 in flight");
    assert_eq!(rows.last().unwrap()["name"], "read of 16 MiB, 4 in flight");
    for row in rows {
        assert!(row["mb_per_s"].as_f64().unwrap() > 0.0, "{row:#}");
        let percent = row["percent_of_best"].as_f64().unwrap();
        assert!(percent > 0.0 && percent <= 100.0, "{row:#}");
        assert!([1, 4].contains(&row["in_flight"].as_u64().unwrap()));
        assert!(row["request_bytes"].as_u64().unwrap().is_power_of_two());
    }
    assert_empty(place.path());
}

#[test]
fn stages_with_one_worker_limit_many_cores() {
    let place = place();
    let report = bench(&["stages", "--directory", place.path().to_str().unwrap()]);
    assert_eq!(report["bytes"], 1_000_000);
    let rows = rows(&report);
    // All ways for each content, but that records of one length are not counted.
    let whole = |row: &&Value| row["stage"].is_null();
    assert_eq!(rows.iter().filter(whole).count(), 14 + 15 + 15);
    for name in ["reader", "selector", "merger", "counter"] {
        let mut named = rows.iter().filter(|row| row["stage"] == name);
        let has_rate = |row: &Value| {
            let rates = ["gb_per_s", "records_per_s"].map(|rate| row[rate].as_f64());
            rates.iter().all(|rate| *rate > Some(0.0))
        };
        assert!(named.any(has_rate), "{name}: {report:#}");
    }
    // More cores have more workers of the others.
    let (limits, others): (Vec<_>, Vec<_>) =
        (rows.iter()).partition(|row| row["stage"].is_null() || row["workers"] == 1);
    let is_computed = |row: &Value| !row["computed_cores"].is_null();
    assert!(!others.is_empty() && !others.iter().any(|row| is_computed(row)));
    for row in limits {
        let parts = [4, 16, 64].map(|cores| {
            let part = &row[format!("computed_at_{cores}_cores")];
            part.as_f64().unwrap()
        });
        let is_part = |part: &f64| *part > 0.0 && *part <= 1.000_001;
        assert!(parts.iter().all(is_part), "{row:#}");
        assert!(
            parts.is_sorted_by(|few, many| few + 1e-6 >= *many),
            "{row:#}"
        );
    }
    assert_empty(place.path());
}

#[test]
fn skewed_lines_stand_beside_even_ones() {
    let place = place();
    let report = bench(&["skew", "--directory", place.path().to_str().unwrap()]);
    let rows = rows(&report);
    // Two kinds of skew, each in memory and with less.
    let names: Vec<&str> = rows.iter().filter_map(|row| row["name"].as_str()).collect();
    assert_eq!(names, ["even", "skewed"].repeat(4));
    for row in rows {
        assert!(row["ratio_to_floor"].as_f64() > Some(0.0), "{row:#}");
        let uneven = ["uneven_records", "uneven_bytes", "uneven_busy_s"];
        // A stage that does not know its records is even; a sort may have no stage of several workers.
        let most = uneven.map(|name| row[name].as_f64().unwrap_or(1.0));
        assert!(most.iter().all(|times| *times >= 0.99), "{row:#}");
    }
    assert_empty(place.path());
}

#[test]
fn a_minute_is_filled_with_records() {
    let place = place();
    let directory = place.path().to_str().unwrap();
    let ended = smoke(&[
        "minute",
        "--memory",
        "64M",
        "--seconds",
        "60",
        "--launcher",
        "env SEEN=1",
        "--dir",
        directory,
    ]);
    let report = report(&ended);
    // A smoke run stops there.
    assert_eq!(
        (&report["records"], &report["bytes"]),
        (&20_000.into(), &2_000_000.into())
    );
    assert!(report["seconds"].as_f64().unwrap() <= report["limit_s"].as_f64().unwrap());
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(names(rows), ["floor of one pass", "try 1", "try 2"]);
    for row in &rows[1..] {
        let command = row["command"].as_str().unwrap();
        assert!(
            command.starts_with("env SEEN=1 gristmill sort "),
            "{command}"
        );
        assert!(row["peak_rss_bytes"].as_u64() > Some(0), "{row:#}");
        assert_eq!(
            (&row["within"], &row["validated"]),
            (&true.into(), &true.into())
        );
        assert_eq!(
            row["bytes"].as_u64(),
            row["records"].as_u64().map(|records| records * 100)
        );
    }
    assert_empty(place.path());
}

#[test]
fn what_cannot_be_measured_is_refused_before_anything_is_made() {
    let place = place();
    let here = place.path().to_str().unwrap();
    let cases: [(&[&str], &str); 14] = [
        (&["external", "--dir", "/no/such/place"], "--dir"),
        (
            &["external", "--dir", here, "--tmp", "/no/such/place"],
            "--tmp",
        ),
        (
            &["external", "--dir", here, "--peers", "/no/such/place"],
            "--peers",
        ),
        (&["external", "--dir", here, "--size", "0K"], "--size"),
        (
            &[
                "external", "--dir", here, "--size", "100M", "--memory", "1M",
            ],
            "--memory",
        ),
        (
            &["external", "--dir", here, "--size", "1000000G"],
            "are free there",
        ),
        (&["external", "--dir", here, "--input", "odd"], "--input"),
        (&["disk", "--dir", "/no/such/place"], "--dir"),
        (&["disk", "--dir", here, "--size", "0M"], "--size"),
        (&["stages", "--directory", "/no/such/place"], "--directory"),
        (
            &["stages", "--directory", here, "--size", "1000000G"],
            "are free there",
        ),
        (
            &["minute", "--memory", "64M", "--dir", "/no/such/place"],
            "--dir",
        ),
        (&["minute", "--memory", "0K", "--dir", here], "--memory"),
        (
            &["minute", "--memory", "64M", "--seconds", "0", "--dir", here],
            "--seconds",
        ),
    ];
    for (arguments, named) in cases {
        let ended = smoke(arguments);
        assert_eq!(ended.status.code(), Some(2), "{arguments:?}");
        let told: Value = serde_json::from_slice(&ended.stdout).unwrap();
        let message = told["error"]["message"].as_str().unwrap();
        assert!(message.contains(named), "{arguments:?}: {message}");
        assert_empty(place.path());
    }
}

#[test]
fn more_runs_are_read_in_smaller_pieces() {
    let place = place();
    let directory = place.path().to_str().unwrap();
    let report = bench(&["heaper-merger", "--directory", directory]);
    let rows = rows(&report);
    assert_eq!(names(rows), ["copy", "2 runs", "16 runs", "256 runs"]);
    let reads: Vec<u64> = rows[1..]
        .iter()
        .map(|row| row["read_bytes"].as_u64().unwrap())
        .collect();
    assert!(reads.is_sorted_by(|few, many| few > many), "{reads:?}");
    for (row, runs) in rows[1..].iter().zip([2, 16, 256]) {
        assert_eq!(row["runs"], runs);
        assert!(
            row["mb_per_s"].as_f64().unwrap() > 0.0 && row["merge_passes"].as_u64().unwrap() > 0
        );
    }
    assert_empty(place.path());
}

#[test]
fn a_directory_that_is_not_there_is_told() {
    let ended = smoke(&["datamation", "--directory", "/no/such/place"]);
    assert_eq!(ended.status.code(), Some(2));
    let told: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(told["error"]["file"], "/no/such/place");
    assert!(
        told["error"]["message"]
            .as_str()
            .unwrap()
            .contains("--directory")
    );
}

#[test]
fn completions_are_of_this_command_and_have_nothing_hidden() {
    for shell in ["bash", "zsh", "fish"] {
        let ended = command(&["completions", shell]).output().unwrap();
        let script = String::from_utf8_lossy(&ended.stdout);
        for word in ["gristmill-bench", "heaper-merger", "smoke"] {
            assert!(
                script.contains(word),
                "{shell}: no {word}: {}",
                said(&ended)
            );
        }
        assert!(!script.contains("manual"), "{shell}");
    }
}

#[test]
fn library_sorts_as_the_command_does() {
    let place = place();
    let report = bench(&["library", "--directory", place.path().to_str().unwrap()]);
    assert_eq!(report["records"], 100_000);
    let rows = rows(&report);
    assert_eq!(
        names(rows),
        ["gristmill", "library, files", "library, memory"]
    );
    assert!(
        rows[1]["command"]
            .as_str()
            .unwrap()
            .contains(" pushed input output ")
    );
    assert_empty(place.path());
}
