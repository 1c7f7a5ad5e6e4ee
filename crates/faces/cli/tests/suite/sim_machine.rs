//! `gristmill sim` on simulated machines: reports, traces, signals.

use std::io::{BufRead, BufReader};

use crate::common::{Place, Ran};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// Each program, small.
const SMALL: [&str; 11] = [
    "loopback --messages 4 --bytes 64",
    "receive --cores 8 --messages 7",
    "send --cores 8 --messages 7",
    "local-min --cores 3 --keys-per-core 100",
    "local-sort --cores 2 --keys-per-core 20",
    "merge-min --cores 70 --keys-per-core 9 --incast 3",
    "milli-sort --cores 30 --keys-per-core 20",
    "flood --cores 300 --messages 8",
    "kv --cores 8 --messages 5 --keys 16 --servers 2",
    "set-algebra --cores 20 --queries 2",
    "map-reduce --cores 20 --rounds 3",
];

const RUN: [&str; 8] = [
    "seed",
    "time_us",
    "messages",
    "wire_bytes",
    "max_keys",
    "skew",
    "sorted",
    "stages",
];

const STAGE: [&str; 8] = [
    "name", "min_us", "p25_us", "p50_us", "p75_us", "p99_us", "max_us", "idle_us",
];

fn fields(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect()
}

fn json(place: &Place, line: &str) -> Value {
    place.run(&format!("sim {line} --json")).succeeded().json()
}

fn text(place: &Place, line: &str) -> String {
    String::from_utf8(place.run(&format!("sim {line}")).succeeded().out).unwrap()
}

/// The report without what depends on this computer.
fn reproducible(mut report: Value) -> String {
    let all = report.as_object_mut().unwrap();
    for name in ["wall_s", "peak_rss_bytes", "threads"] {
        all.shift_remove(name).expect(name);
    }
    report.to_string()
}

#[test]
fn programs_on_the_machine_are_checked() {
    let place = Place::new();
    for line in SMALL {
        let report = json(&place, line);
        assert_eq!(report["machine"], "nanopu");
        assert_eq!(
            report["machine_hash"].as_str().map(str::len),
            Some(16),
            "{line}"
        );
        assert!(report["events"].as_u64() > Some(0), "{line}");
        let run = &report["runs"][0];
        assert_eq!(fields(run)[..8], RUN);
        assert_eq!(run["check"]["passed"], true, "{line}");
        assert!(run["time_us"].as_f64() > Some(0.0), "{line}: {run}");
        assert!(
            run["messages"].is_u64() && run["wire_bytes"].is_u64(),
            "{line}"
        );
        let stages = run["stages"].as_array().unwrap();
        assert!(!stages.is_empty(), "{line}");
        for stage in stages {
            assert_eq!(fields(stage)[..8], STAGE);
            let us = STAGE[1..7]
                .iter()
                .map(|name| stage[name].as_f64().expect(name));
            assert!(us.collect::<Vec<_>>().is_sorted(), "{line}: {stage}");
        }
    }
}

#[test]
fn threads_leave_no_trace_in_a_report() {
    let place = Place::new();
    let more = [
        "merge-min --cores 1024 --loss 0.001 --runs 2",
        "merge-min --cores 1024 --link-ns 0 --switch-ns 0",
    ];
    for line in SMALL.into_iter().chain(more) {
        let one = reproducible(json(&place, line));
        for threads in [2, 3] {
            let more = reproducible(json(&place, &format!("{line} --threads {threads}")));
            assert_eq!(more, one, "{line}");
        }
    }
}

#[test]
fn a_loopback_is_timed_at_the_nic() {
    let report = json(&Place::new(), "loopback --bytes 16");
    let run = &report["runs"][0];
    assert_eq!(run["mac_ns"], 52.0);
    // 55 cycles of 312.5 ps, measured on the hardware description.
    let cycles = run["time_us"].as_f64().unwrap() / 312.5e-6;
    assert!((cycles / 55.0 - 1.0).abs() < 0.05, "{cycles} cycles");
}

#[test]
fn reordering_changes_times_and_no_result() {
    let place = Place::new();
    let runs = ["software", "port", "nic"].map(|by| {
        let report = json(&place, &format!("map-reduce --reorder {by}"));
        assert_eq!(report["parameters"]["reorder"], by);
        report["runs"][0]["result"].clone()
    });
    assert!(runs.iter().all(|result| *result == runs[0]), "{runs:?}");
}

#[test]
fn changes_of_the_machine_have_an_effect() {
    let place = Place::new();
    let time =
        |changes: &str| json(&place, &format!("merge-min {changes}"))["time_us"]["mean"].as_f64();
    let plain = time("");
    assert!(time("--switch-ns 100") < plain);
    assert!(time("--link-ns 500") > plain);
    assert!(time("--tail-ns 50000 --tail-fraction 1") > plain);
    let lossy = json(&place, "merge-min --cores 1024 --loss 0.01");
    assert!(lossy["runs"][0]["lost"].as_u64() > Some(0), "{lossy}");
    assert!(lossy["runs"][0]["resent"].as_u64() > Some(0), "{lossy}");
}

#[test]
fn a_machine_without_latency_says_that_it_is_one_block() {
    let line = "sim merge-min --cores 1024 --switch-ns 0 --link-ns 0 --threads 2";
    let told = Place::new().run(line).succeeded();
    let told = String::from_utf8(told.out).unwrap();
    assert!(told.contains("one block"), "{told}");
}

#[test]
fn a_table_for_people() {
    let place = Place::new();
    for line in SMALL {
        let ran = place.run(&format!("sim {line}")).succeeded();
        let told = String::from_utf8(ran.out).unwrap();
        assert!(told.starts_with("seed 1\n"), "{told}");
        for word in [
            "\nresult ",
            "\ntime ",
            "\nmessages ",
            "\nstages    in us, ",
            "\ntook ",
        ] {
            assert!(told.contains(word), "{word} is not in\n{told}");
        }
        assert!(
            told.lines().all(|line| line.chars().count() <= 80),
            "{told}"
        );
        assert!(told.contains("\nmachine   nanopu\n"), "{told}");
        assert!(
            told.contains("\nprogram   ") && told.contains(" with cores "),
            "{told}"
        );
        assert_eq!(
            told.contains("'s NIC to its last out"),
            line.starts_with("loopback"),
            "{told}"
        );
        let is_loop = line.starts_with("receive") || line.starts_with("send");
        assert_eq!(
            told.contains("\n  time is what core 0 was busy in its loop"),
            is_loop,
            "{told}"
        );
    }
}

#[test]
fn a_run_says_what_it_took() {
    let place = Place::new();
    let took = |line: &str| {
        let told = text(&place, line);
        let took = told
            .lines()
            .find(|line| line.starts_with("took "))
            .expect("a line")
            .to_owned();
        assert!(took.contains(" event"), "{took}");
        took.contains("million messages/s")
    };
    assert!(took("flood --messages 2") && took("receive --cores 2 --messages 1"));
    assert!(!took("local-min --cores 4096"), "no messages");
}

#[test]
fn times_have_the_unit_of_their_size() {
    let place = Place::new();
    assert!(text(&place, "merge-min").contains("\ntime      989.4 ns\n"));
    let long = text(&place, "local-min --keys-per-core 1M");
    assert!(long.contains("\ntime      2.304 ms\n"), "{long}");
    let slow = text(&place, "send --messages 256 --bytes 2048 --link-ns 5000000");
    assert!(
        slow.contains("\nstages    in ms, ") && !slow.contains("60007"),
        "{slow}"
    );
    assert!(
        slow.lines().all(|line| line.chars().count() <= 80),
        "{slow}"
    );
}

#[test]
fn software_has_no_mac_of_its_own() {
    let place = Place::new();
    assert!(text(&place, "loopback").contains(" ns, and 52 ns of MAC"));
    assert!(!text(&place, "loopback --machine ramcloud").contains("MAC"));
}

#[test]
fn caveats_are_noted() {
    let place = Place::new();
    let note = |line: &str| {
        let told = text(&place, line);
        told.split_once("\nnote      ")
            .map_or(String::new(), |(_, note)| {
                note.split_whitespace().collect::<Vec<_>>().join(" ")
            })
    };
    assert_eq!(note("merge-min"), "");
    assert!(note("merge-min --incast 1").contains("chain"));
    assert!(note("merge-min --cores 4 --incast 32").contains("an incast of 32"));
    let told = note("merge-min --link-ns 0.1 --switch-ns 20.5");
    assert!(
        told.contains("--switch-ns 20.5 as 20.625, --link-ns 0.1 as 0"),
        "{told}"
    );
    place.write("nanopu", "no machine");
    assert!(note("merge-min").contains("--machine ./nanopu"));
}

#[test]
fn a_machine_of_a_file_is_told_with_its_path() {
    let place = Place::new();
    let machines = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../machines/nanopu.toml");
    std::fs::copy(machines, place.path("mine.toml")).unwrap();
    let told = text(&place, "merge-min --machine ./mine.toml --loss 0.001");
    assert!(
        told.contains("\nmachine   nanopu (./mine.toml) with loss 0.001\n"),
        "{told}"
    );
    assert_eq!(
        json(&place, "merge-min --machine mine.toml")["machine_file"],
        "mine.toml"
    );
    assert_eq!(json(&place, "merge-min")["machine_file"], Value::Null);
}

const CHANGES: &str = "--multicast off --switch-ns 100 --link-ns 20.5 --tail-ns 3000 \
                       --tail-fraction 0.01 --loss 0.001 --reorder port";

#[test]
fn a_report_says_what_was_changed() {
    let place = Place::new();
    let line = format!("set-algebra --cores 20 {CHANGES}");
    let told = text(&place, &line);
    let head = "\nmachine   nanopu with multicast off, switch-ns 100, link-ns 20.5, tail-ns 3000,\n          \
                tail-fraction 0.01, loss 0.001\n";
    assert!(
        told.contains(head) && told.contains("reorder port\n"),
        "{told}"
    );
    let parameters = &json(&place, &line)["parameters"];
    assert_eq!(parameters["cores"], 20);
    let words = ["multicast", "reorder"].map(|name| parameters[name].as_str());
    assert_eq!(words, [Some("off"), Some("port")]);
    let names = ["switch_ns", "link_ns", "tail_ns", "tail_fraction", "loss"];
    let numbers = names.map(|name| parameters[name].as_f64().expect(name));
    assert_eq!(numbers, [100.0, 20.5, 3000.0, 0.01, 0.001]);
    let plain = json(&place, "set-algebra --cores 20");
    let plain = fields(&plain["parameters"]);
    assert_eq!(
        plain,
        ["cores", "keys_per_core", "incast", "queries", "reorder"]
    );
}

/// Messages of 16 bytes to NIC 0 are ten flits of eight bytes each on its link, which carries one
/// in a tick: no more than the time has room for.
#[test]
fn a_flood_can_be_held_against_its_last_link() {
    let place = Place::new();
    let line = "flood --cores 256 --messages 64 --to 0";
    let report = json(&place, line);
    let run = &report["runs"][0];
    let flits = run["busiest_down_flits"].as_u64().unwrap();
    let messages = run["messages"].as_u64().unwrap();
    assert!(
        flits >= messages * 10,
        "{flits} flits for {messages} messages"
    );
    let share = flits as f64 * 312.5e-6 / run["time_us"].as_f64().unwrap();
    assert!(share > 0.1 && share <= 1.0, "{share}");
    assert!(run["longest_send_wait_us"].as_f64() >= Some(0.0), "{run}");
    let told = text(&place, line);
    let (thousands, rest) = (flits / 1000, flits % 1000);
    let expected = format!(
        "\nlast link {thousands},{rest:03} flits to the NIC of core 0, which kept it busy {:.1} % of ",
        share * 100.0
    );
    let joined = told.replace("\n          ", " ");
    assert!(joined.contains(&expected), "{expected} is not in\n{joined}");
    assert!(!text(&place, "flood --cores 64").contains("last link"));
    // Only many long messages over long links wait for a transmit buffer.
    let wait = |line: &str| json(&place, line)["runs"][0]["longest_send_wait_us"].as_f64();
    assert_eq!(wait("receive --cores 8 --messages 7"), Some(0.0));
    assert!(wait("send --messages 256 --bytes 2048 --link-ns 2000") > Some(1.0));
}

#[test]
fn units_of_counts() {
    let line = "merge-min --cores 1K --keys-per-core 2K --incast 8";
    let report = json(&Place::new(), line);
    let parameters = &report["parameters"];
    assert_eq!(
        (&parameters["cores"], &parameters["keys_per_core"]),
        (&1024.into(), &2048.into())
    );
    let report = json(&Place::new(), "flood --cores 1KB --messages 2");
    assert_eq!(report["cores"], 1000);
}

#[test]
fn workers_serve_on_every_machine() {
    let place = Place::new();
    let line = "kv --cores 20 --servers 2 --workers 4";
    let machines = ["nanopu", "nanopu-nodes", "threads"];
    let results = machines.map(|machine| {
        let report = json(&place, &format!("{line} --machine {machine}"));
        assert_eq!(report["parameters"]["workers"], 4);
        let result = report["runs"][0]["result"].as_str().unwrap().to_owned();
        result.split(',').next().unwrap().to_owned()
    });
    assert!(
        results.iter().all(|result| result == "288 requests served"),
        "{results:?}"
    );
}

#[test]
fn a_signal_ends_a_simulation() {
    let place = Place::new();
    let line = "sim flood --cores 16384 --messages 100000 --progress json --json";
    let mut child = place.command(line).spawn().unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap());
    let mut first = String::new();
    told.read_line(&mut first).unwrap();
    assert!(first.starts_with("{\"estimate\":"), "{first}");
    first.clear();
    told.read_line(&mut first).unwrap();
    let step: Value = serde_json::from_str(&first).unwrap();
    assert!(
        step["virtual_us"].is_number() && step["messages"].is_u64(),
        "{step}"
    );
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let last = told.lines().map(Result::unwrap).last().unwrap();
    assert_eq!(last, "gristmill: stopped by SIGTERM");
    assert_eq!(Ran::from(child.wait_with_output().unwrap()).code, 143);
}

/// The printed file of a machine is that machine.
#[test]
fn a_printed_machine_runs_as_the_built_in_one() {
    let place = Place::new();
    let listed = text(&place, "machine");
    for name in ["nanopu", "nanopu-3-layer", "ramcloud", "threads"] {
        assert!(
            listed
                .lines()
                .any(|line| line.starts_with(&format!("{name} "))),
            "{listed}"
        );
        let printed = text(&place, &format!("machine {name}"));
        assert_eq!(
            printed.contains("tick_ps = "),
            name != "threads",
            "{printed}"
        );
    }
    let printed = text(&place, "machine nanopu");
    assert!(
        printed.contains("switch_ns = 263                # paper, 5.1"),
        "{printed}"
    );
    std::fs::write(place.path("my.toml"), printed).unwrap();
    let [built_in, of_file] = ["nanopu", "my.toml"].map(|machine| {
        let mut report = json(&place, &format!("nano-sort --cores 64 --machine {machine}"));
        report.as_object_mut().unwrap().shift_remove("machine_file");
        reproducible(report)
    });
    assert_eq!(built_in, of_file);
    let Ran {
        code, err: told, ..
    } = place.run("sim machine abacus");
    assert_eq!(code, 2, "{told}");
    assert!(
        told.contains("no file or built-in machine has this name"),
        "{told}"
    );
}

#[test]
fn a_machine_over_a_base_and_a_graph_run() {
    let place = Place::new();
    let changed = "base = \"nanopu\"\nnetwork.switch_ns = 100\n";
    std::fs::write(place.path("fast.toml"), changed).unwrap();
    let fast = json(&place, "merge-min --machine fast.toml");
    let option = json(&place, "merge-min --switch-ns 100");
    assert_eq!(fast["runs"][0]["time_us"], option["runs"][0]["time_us"]);
    assert_eq!(fast["machine"], "fast");
    let told = text(&place, "machine fast.toml");
    assert!(told.contains("65,536 cores behind 2 layers"), "{told}");
    let ring = "base = \"nanopu\"\n[graph]\nswitches = [\n{ name = \"a\", nics = 2 }, \
                { name = \"b\", nics = 2 },\n{ name = \"c\", nics = 2 }]\n\
                links = [\"a - b\", \"b - c\", { ends = \"a - c\", link_ns = 100 }]\n";
    std::fs::write(place.path("ring.toml"), ring).unwrap();
    let told = text(&place, "machine ring.toml");
    assert!(
        told.contains("24 cores behind 6 NICs at 3 switches, with 3 links"),
        "{told}"
    );
    // Two switches and three links, of which one has 100 ns.
    let words: Vec<_> = told.split_whitespace().collect();
    assert!(
        words.ends_with(&["2", "24", "80.0", "%", "713.8"]),
        "{told}"
    );
    let report = json(
        &place,
        "nano-sort --cores 16 --buckets 4 --machine ring.toml",
    );
    assert_eq!(report["runs"][0]["sorted"], true);
    std::fs::write(
        place.path("ring.toml"),
        ring.replace("\"b - c\"", "\"b - x\", \"b  c\""),
    )
    .unwrap();
    let Ran {
        code, err: told, ..
    } = place.run("sim flood --machine ring.toml");
    assert_eq!(code, 2, "{told}");
    assert!(
        told.contains("line 6 (links): \"b - x\": there is no switch x; "),
        "{told}"
    );
    assert!(told.contains("\"b  c\": expected two switches"), "{told}");
}

#[test]
fn too_many_cores_name_the_machine_that_holds_them() {
    let place = crate::common::Place::new();
    let ran = place.run("sim nano-sort --cores 1M");
    assert_eq!(ran.code, 2, "{ran:?}");
    let told = "nanopu holds at most 65536; for so many: --machine nanopu-3-layer";
    assert!(ran.complaint().contains(told), "{ran:?}");
    // None holds these.
    let ran = place.run("sim nano-sort --cores 4000M");
    assert!(!ran.complaint().contains("for so many"), "{ran:?}");
}

#[test]
fn a_distribution_that_changes_nothing_has_a_note() {
    let place = crate::common::Place::new();
    for (name, is_alike) in [("clustered", true), ("sorted", false)] {
        let ran = place.run(&format!("sim nano-sort --cores 16 --distribution {name}"));
        let out = String::from_utf8_lossy(&ran.out);
        assert_eq!(out.contains("the same draws"), is_alike, "{out}");
    }
}
