//! Experiments of one's own: their page, their table, their mistakes; and what is told before and
//! during a long run.

use std::io::{BufRead, BufReader};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::common::{Place, Ran};

/// Two curves in one chart.
const OWN: &str = r#"
[[series]]
program = "merge-min"
vary = "incast"
over = [2, 4, 8]

[[series]]
program = "merge-min"
with = { cores = 16, reorder = "nic" }
vary = "incast"
over = [2, 4]
"#;

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_owned()).unwrap()
}

#[test]
fn a_page_and_a_table() {
    let place = Place::new();
    place.write("own.toml", OWN);
    let ran = place.run("lab run own.toml --runs 2 -o own.html --csv own.csv");
    let told = text(&ran.succeeded().out);
    assert!(
        told.contains("\n merge-min, cores 16, reorder nic\n"),
        "{told}"
    );
    assert_eq!(place.names(), ["own.csv", "own.html", "own.toml"]);
    let page = text(&place.read("own.html"));
    assert!(
        page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"),
        "{page}"
    );
    assert!(
        page.contains("<h1>own.toml</h1>") && page.contains("<svg"),
        "{page}"
    );
    assert!(!page.contains("NanoSort"), "it is of no paper\n{page}");
    let table = text(&place.read("own.csv"));
    let rows: Vec<Vec<&str>> = table.lines().map(|row| row.split(',').collect()).collect();
    assert_eq!(rows[0][..3], ["series", "vary", "at"]);
    assert_eq!(rows.len(), 1 + 2 * 5, "{table}");
    assert_eq!(rows[1][..5], ["merge-min", "incast", "2", "2", "1"]);
    assert!(
        table.contains("\"merge-min, cores 16, reorder nic\",incast,4,4,2,"),
        "{table}"
    );
    // A row is a run of `sim`.
    let line = "sim merge-min --incast 2 --seed 2 --json";
    let alone = place.run(line).succeeded().json();
    let value: f64 = rows[2][5].parse().unwrap();
    assert_eq!(alone["time_us"]["mean"], value);
    assert_eq!(rows[2][8..], ["time", "", "us"]);
    let piped = place.run("lab run own.toml --runs 2 --csv -").succeeded();
    assert_eq!(
        text(&piped.out),
        table,
        "standard output has the table alone"
    );
    let report = place
        .run("lab report own.toml nanosort/figure-1 -o both.html")
        .succeeded();
    assert!(report.out.is_empty() && report.err.contains("2 figures are in both.html"));
    let both = text(&place.read("both.html"));
    assert!(
        both.contains("Experiments, simulated by Gristmill"),
        "{both}"
    );
}

#[test]
fn outputs_that_cannot_be() {
    let place = Place::new();
    place.write("own.toml", OWN);
    for (options, part) in [
        (
            "--csv - --json",
            "--csv and --json both go to standard output",
        ),
        (
            "--csv - -o -",
            "--output and --csv both go to standard output",
        ),
        ("--csv .", "cannot write the table ."),
        (
            "-o no/such.html",
            "cannot write the page no/such.html: no such directory",
        ),
    ] {
        let ran = place.run(&format!("lab run own.toml {options}"));
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.complaint().contains(part), "{ran:?}");
    }
    assert_eq!(place.names(), ["own.toml"]);
}

#[test]
fn the_first_mistake_is_a_line() {
    let place = Place::new();
    let wrong = OWN.replace("incast\"", "incats\"").replace("cores", "core");
    place.write("wrong.toml", wrong);
    let ran = place.run("lab run wrong.toml --json");
    assert_eq!(ran.code, 2);
    let lines: Vec<_> = ran.err.lines().collect();
    assert_eq!(lines.len(), 1, "{ran:?}");
    let series = "gristmill: wrong.toml: line 4, [[series]] 'merge-min': vary: 'incats' is";
    assert!(lines[0].starts_with(series), "{ran:?}");
    assert!(lines[0].ends_with("did you mean incast?"), "{ran:?}");
    let error = &ran.json()["error"];
    assert_eq!(
        (&error["kind"], &error["file"]),
        (&"file".into(), &"wrong.toml".into())
    );
}

/// The estimate comes first, then per cent; Ctrl-C ends a run at once.
#[test]
fn a_long_run_is_announced() {
    let place = Place::new();
    let line = "sim flood --cores 16384 --messages 20000 --progress json";
    let mut child = place.command(line).spawn().unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap())
        .lines()
        .map(Result::unwrap);
    let first: Value = serde_json::from_str(&told.next().unwrap()).unwrap();
    let estimate = &first["estimate"];
    assert!(estimate["seconds"].as_f64() > Some(60.0), "{first}");
    assert!(estimate["bytes"].as_u64() > Some(50_000_000), "{first}");
    let step: Value = serde_json::from_str(&told.next().unwrap()).unwrap();
    assert!(step["percent"].as_f64() < Some(100.0), "{step}");
    assert!(step["percent"].is_number(), "{step}");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(told.last().unwrap(), "gristmill: stopped by SIGINT");
    assert_eq!(Ran::from(child.wait_with_output().unwrap()).code, 130);
}

#[test]
fn a_run_beyond_the_memory_is_refused() {
    let place = Place::new();
    let line = "sim nano-sort --cores 65536 --keys-per-core 16M";
    let ran = place.run(line);
    assert_eq!(ran.code, 2);
    assert!(ran.complaint().contains(" GB"), "{ran:?}");
    place.write(
        "huge.toml",
        "[[series]]\nprogram = 'nano-sort'\nvary = 'keys-per-core'\nover = [16777216]\n\
         with = { cores = 65536 }\n",
    );
    let ran = place.run("lab run huge.toml");
    assert_eq!(ran.code, 2);
    assert!(ran.complaint().contains(" GB"), "{ran:?}");
    place.run("sim merge-min --anyway").succeeded();
}
