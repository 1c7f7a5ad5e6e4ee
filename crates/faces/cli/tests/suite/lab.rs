//! `gristmill lab`: experiments listed, run at both sizes, refused, and ended by a signal.

use std::io::{BufRead, BufReader};

use crate::common::{Place, Ran};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

fn words(ran: &Ran) -> String {
    String::from_utf8(ran.out.clone()).unwrap()
}

#[test]
fn figure_1_line_by_line() {
    let told = Place::new()
        .run("lab run nanosort/figure-1")
        .succeeded()
        .out;
    let told = String::from_utf8(told).unwrap();
    assert!(
        told.lines().all(|line| line.chars().count() <= 80),
        "{told}"
    );
    assert!(told.starts_with("seed 1\n"), "{told}");
    assert!(
        !told.contains(" %") && told.contains(" at least 1024 words "),
        "{told}"
    );
    assert!(
        told.contains(" 11.7 x\n"),
        "more than at least is told as a ratio\n{told}"
    );
    let lines: Vec<_> = told.lines().collect();
    let scan = lines
        .iter()
        .position(|line| line.starts_with(" scan "))
        .unwrap();
    assert!(
        lines[scan].ends_with(" missed") && lines[scan + 1].ends_with(" 0.78 x"),
        "{told}"
    );
    assert!(
        lines[scan + 3].starts_with("   Missed: ours is a minimum: load, compare"),
        "{told}"
    );
    assert_eq!(*lines.last().unwrap(), "claims: 4 met, 2 missed");
    let told = Place::new()
        .run("lab run nanosort/figure-1 --json")
        .succeeded()
        .json();
    assert_eq!((&told["seed"], &told["runs"]), (&1.into(), &1.into()));
    let sim = Place::new().run("sim local-min --json").succeeded().json();
    assert_eq!(told["machine_hash"], sim["machine_hash"]);
    let claims = told["claims"].as_array().unwrap();
    let ids: Vec<_> = claims
        .iter()
        .map(|claim| claim["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["scan", "sort", "link", "loopback", "mica", "sets"]);
    for claim in claims {
        assert!(claim["ours"].as_f64() > Some(0.0), "{claim}");
        assert_eq!(claim["at_least"], true);
        let missed = ["scan", "sets"].contains(&claim["id"].as_str().unwrap());
        assert_eq!(claim["outcome"], if missed { "missed" } else { "met" });
        assert_eq!(claim["known_miss"].is_string(), missed);
        let [ours, paper, deviation] =
            ["ours", "paper", "deviation"].map(|name| claim[name].as_f64().expect(name));
        assert!((ours / paper - 1.0 - deviation).abs() < 1e-9, "{claim}");
    }
}

#[test]
fn experiments_are_listed_and_refused() {
    let place = Place::new();
    let list = words(&place.run("lab list").succeeded());
    assert!(
        list.contains("nanosort/figure-1") && list.contains("Figure 1"),
        "{list}"
    );
    assert!(
        list.contains("\n                     6 runs of up to 64 cores\n"),
        "{list}"
    );
    for (line, part, kind) in [
        (
            "lab run no-such",
            "the experiments are nanosort/table-1",
            "file",
        ),
        (
            "lab run table-2",
            "several experiments end with this name: nanosort/table-2, ",
            "file",
        ),
        (
            "lab run figure-4 --runs 0",
            "--runs 0: must be at least 1",
            "usage",
        ),
        (
            "lab run figure-4 --seed 18446744073709551615 --runs 2",
            "seeds end at",
            "usage",
        ),
    ] {
        let ran = place.run(line);
        assert_eq!(ran.code, 2, "{line}: {ran:?}");
        assert!(ran.complaint().contains(part), "{ran:?}");
        let told = place.run(&format!("{line} --json")).json();
        assert_eq!(told["error"]["kind"], kind);
        let message = ran.complaint().trim_start_matches("gristmill: ");
        assert_eq!(told["error"]["message"], message);
    }
    place.write("odd.toml", "title = 4\n");
    let ran = place.run("lab run odd.toml");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("odd.toml: line 1: title: "), "{ran:?}");
}

/// An experiment of arithmetic alone: no machine is asked.
const LIGHT: &str = r#"
    title = "light"
    source = "physics"
    machine = "threads"
    [[line]]
    id = "light"
    claim = "travel 300 m at the speed of light"
    paper = 300
    unit = "m in 1 us"
    does = 299.792458
    tolerance = 0.01
    [[line]]
    id = "merge"
    claim = "find a minimum on threads"
    paper = 1e9
    unit = "us"
    program = "merge-min"
    with = { cores = 4, reorder = "nic" }
"#;

#[test]
fn an_experiment_of_a_file() {
    let place = Place::new();
    place.write("light.toml", LIGHT);
    let told = place.run("lab run light.toml --json").succeeded().json();
    let claims = told["claims"].as_array().unwrap();
    assert_eq!(claims.len(), 2);
    for claim in claims {
        for name in ["paper", "ours", "deviation"] {
            assert!(claim[name].is_number(), "{claim}");
        }
        assert_eq!(claim["check"]["passed"], true);
    }
    assert_eq!(
        (&claims[0]["id"], &claims[0]["ours"]),
        (&"light".into(), &299.792_458.into())
    );
    let told = words(&place.run("lab run light.toml").succeeded());
    assert!(
        told.contains("speed of light") && told.contains("-0.1 %"),
        "{told}"
    );
    place.write("far.toml", LIGHT.replace("paper = 300", "paper = 200"));
    let ran = place.run("lab run far.toml");
    assert_eq!(ran.code, 1);
    assert!(
        ran.complaint().contains("'light'") && ran.complaint().contains("1 %"),
        "{ran:?}"
    );
}

/// Two sizes, and seeds that matter: keys are drawn from them.
const SORT: &str = r#"
    title = "sorts"
    source = "ours"
    machine = "nanopu"
    says = "more keys take longer"
    runs = 3
    breakdown = "sort"
    [smoke]
    runs = 2
    cores = 16
    [chart.time]
    x = "keys on a core"
    y = "time (us)"
    paper = [{ label = "theirs", x = 8, y = 10 }, { label = "theirs", x = 32, y = 40 }]
    [[series]]
    id = "sort"
    chart = "time"
    label = "nano-sort"
    program = "nano-sort"
    with = { cores = 64, buckets = 4 }
    vary = "keys-per-core"
    over = [8, 16]
    smoke = [8]
    [[line]]
    id = "grows"
    claim = "more keys take longer"
    series = "sort"
    is = "rising"
"#;

#[test]
fn an_experiment_has_two_sizes() {
    let place = Place::new();
    place.write("sort.toml", SORT);
    let told = words(&place.run("lab run sort.toml").succeeded());
    assert!(
        told.starts_with("seeds 1 to 2\nsorts\n(ours, on nanopu)\nThe paper: more"),
        "{told}"
    );
    assert!(
        told.contains("\nsorts: time (us)\n nano-sort\n   keys on a core    mean"),
        "{told}"
    );
    assert!(
        !told.contains("theirs"),
        "the paper's point is not of this size\n{told}"
    );
    assert!(
        told.contains("\nstages of one run: time, and of it idle (us)\n"),
        "{told}"
    );
    assert!(
        told.contains("smoke size, not what titles and labels say: ")
            && told
                .ends_with("claims are not judged at this size; --full runs at the paper's size\n"),
        "{told}"
    );
    let told = words(&place.run("lab run sort.toml --full").succeeded());
    assert!(told.starts_with("seeds 1 to 3\n"), "{told}");
    assert!(told.ends_with("\nprogram-june: 1 met\n"), "{told}");
    assert!(
        told.lines()
            .all(|line| line.chars().count() <= 80 && line == line.trim_end()),
        "{told}"
    );
}

#[test]
fn a_figure_as_json() {
    let place = Place::new();
    place.write("sort.toml", SORT);
    let json = |line: &str| {
        place
            .run(&format!("lab run sort.toml --json {line}"))
            .succeeded()
            .json()
    };
    let smoke = json("");
    assert_eq!(
        (&smoke["size"], &smoke["runs"]),
        (&"smoke".into(), &2.into())
    );
    assert_eq!(smoke["claims"], Value::Array(Vec::new()));
    assert_eq!(smoke["breakdown"]["picture"]["cores"], 16);
    let one = json("--runs 1 --seed 5");
    assert_eq!(
        one["command"],
        "gristmill lab run sort.toml --seed 5 --runs 1"
    );
    let mean = |figure: &Value| figure["charts"][0]["series"][0]["points"][0]["y"]["mean"].clone();
    // The run on its own.
    let line = "sim nano-sort --cores 16 --buckets 4 --keys-per-core 8 --seed 5 --json";
    let alone = place.run(line).succeeded().json();
    assert_eq!(mean(&one), alone["time_us"]["mean"]);
    assert_ne!(mean(&one), mean(&smoke));
    let full = json("--full");
    assert_eq!(
        (&full["size"], &full["claims"][0]["id"]),
        (&"full".into(), &"grows".into())
    );
}

#[test]
fn a_signal_ends_all_runs() {
    let place = Place::new();
    let text = SORT
        .replace("nano-sort", "flood")
        .replace("keys-per-core", "messages");
    let text = text
        .replace("buckets = 4", "bytes = 16")
        .replace("cores = 64", "cores = 16384");
    let text = text
        .replace("cores = 16\n", "cores = 16384\n")
        .replace("8, 16]", "100000, 200000]");
    let text = text.replace("smoke = [8]", "");
    place.write("flood.toml", text);
    let line = "lab run flood.toml --progress json --json";
    let mut child = place.command(line).spawn().unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap());
    let mut first = String::new();
    told.read_line(&mut first).unwrap();
    assert!(first.starts_with("{\"estimate\":"), "{first}");
    first.clear();
    told.read_line(&mut first).unwrap();
    let step: Value = serde_json::from_str(&first).unwrap();
    assert_eq!(
        (&step["total_runs"], &step["done_runs"]),
        (&4.into(), &0.into()),
        "{step}"
    );
    assert!(
        step["running"].as_u64() > Some(0) && step["eta_s"].is_null(),
        "{step}"
    );
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let last = told.lines().map(Result::unwrap).last().unwrap();
    assert_eq!(last, "gristmill: stopped by SIGTERM");
    assert_eq!(Ran::from(child.wait_with_output().unwrap()).code, 143);
    assert_eq!(place.names(), ["flood.toml"]);
}

/// Of a grid the table has a row for each reading, with both of its ranks.
#[test]
fn readings_are_a_table() {
    let place = Place::new();
    place.write(
        "grid.toml",
        "[[grid]]\ndial = 'incast'\nover = [4, 64]\n\
         [[series]]\nid = 's'\nprogram = 'merge-min'\nvary = 'cores'\nover = [16, 64]\n\
         [[line]]\nid = 'less'\nclaim = 'less'\nseries = 's'\nat = 64\npaper = 1\nunit = 'us'\n\
         at_most = true\n",
    );
    let ran = place.run("lab run grid.toml --csv -").succeeded();
    let table = String::from_utf8(ran.out).unwrap();
    let rows: Vec<Vec<&str>> = table.lines().map(|row| row.split(',').collect()).collect();
    assert_eq!(
        rows[0],
        ["incast", "by met", "by off", "met", "off", "less"]
    );
    assert_eq!(rows.len(), 3, "{table}");
    assert_eq!(rows[1][..2], ["64", "1"], "{table}");
    assert_eq!(rows[2][..2], ["4", "2"], "{table}");
    assert!(rows[1][5].parse::<f64>().unwrap() < 1.0, "{table}");
}
