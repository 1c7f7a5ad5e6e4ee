//! `gristmill sim`: help, programs on threads, the JSON report, bad input.

use std::io::{BufRead, BufReader};
use std::time::Duration;

use crate::common::{Place, Ran};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// Each program, small enough for threads.
const SMALL: [&str; 14] = [
    "loopback --cores 2 --messages 4 --bytes 64",
    "receive --cores 4 --messages 7",
    "send --cores 4 --messages 7",
    "local-min --keys-per-core 100",
    "local-sort --cores 2 --keys-per-core 20",
    "merge-min --cores 9 --keys 90 --incast 3",
    "milli-sort --cores 5 --keys-per-core 20 --incast 2",
    "is --cores 4 --class s",
    "flood --cores 5 --messages 8",
    "kv --cores 4 --messages 5 --keys 16 --servers 1",
    "set-algebra --cores 4 --queries 2",
    "map-reduce --cores 4 --rounds 3 --reorder port",
    "caches --cores 4 --reads 20 --pause-us 100 --disk-us 100",
    "paging --cores 2 --accesses 9 --pages 4",
];

/// The fields that scripts rely on, in their order; others may follow.
const REPORT: [&str; 6] = [
    "format_version",
    "program",
    "machine",
    "machine_hash",
    "cores",
    "parameters",
];
const LAST: [&str; 6] = [
    "runs",
    "time_us",
    "wall_s",
    "events",
    "peak_rss_bytes",
    "threads",
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

fn fields(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect()
}

fn words(ran: &Ran) -> String {
    String::from_utf8(ran.out.clone()).unwrap()
}

#[test]
fn help_has_examples_and_a_line_for_each_program() {
    let place = Place::new();
    let help = words(&place.run("sim --help").succeeded());
    assert!(help.starts_with("Examples:\n  gristmill sim "), "{help}");
    assert!(help.lines().count() <= 50, "{help}");
    for line in SMALL
        .into_iter()
        .chain(["nano-sort", "pivot-select", "sort"])
    {
        let program = line.split_whitespace().next().unwrap();
        let about = help
            .lines()
            .filter(|it| it.starts_with(&format!("  {program} ")));
        assert_eq!(about.count(), 1, "{program} in\n{help}");
    }
    for option in ["--incast", "--loss", "--trace"] {
        assert!(!help.contains(option), "{option} is in\n{help}");
    }
}

#[test]
fn help_of_a_program_has_its_options() {
    let place = Place::new();
    for line in SMALL {
        let (program, options) = line.split_once(' ').unwrap();
        let help = words(&place.run(&format!("sim {program} --help=all")).succeeded());
        assert!(
            help.starts_with(&format!("Examples:\n  gristmill sim {program} --")),
            "{help}"
        );
        let options = options
            .split_whitespace()
            .filter(|part| part.starts_with("--"));
        let shared = [
            "--machine",
            "--loss",
            "--tail-ns",
            "--trace",
            "--seed <S>",
            "--runs",
        ];
        for option in options.chain(shared) {
            assert!(help.contains(option), "{option} is not in\n{help}");
        }
        for machine in [
            "nanopu",
            "nanopu-nodes",
            "nanopu-3-layer",
            "nebula",
            "threads",
        ] {
            assert!(
                help.contains(&format!("- {machine}: ")),
                "{machine} is not in\n{help}"
            );
        }
    }
    let defaults = [
        ("flood", "random cores]"),
        ("kv", "every core is both]"),
        ("set-algebra", "ocuments"),
    ];
    for (program, part) in defaults {
        let help = words(&place.run(&format!("sim {program} --help=all")).succeeded());
        assert!(help.contains(part), "{part} is not in\n{help}");
    }
}

#[test]
fn help_fits_narrow_terminals() {
    let place = Place::new();
    for line in ["sim --help", "sim nano-sort --help"] {
        let mut command = place.command(line);
        let help = words(&Ran::from(command.env("COLUMNS", "60").output().unwrap()).succeeded());
        let (_, help) = help.split_once("\nUsage:").expect("a usage");
        assert!(
            help.lines().all(|line| line.chars().count() <= 60),
            "{help}"
        );
    }
}

#[test]
fn a_program_has_help_of_its_own() {
    let place = Place::new();
    for line in ["sim kv --help=all", "sim kv --cores 4 --help=all"] {
        let help = words(&place.run(line).succeeded());
        for part in [
            "--servers",
            "--keys",
            "[default: 1024]",
            "--machine",
            "gristmill sim kv ",
        ] {
            assert!(help.contains(part), "{line}: no {part} in\n{help}");
        }
        let [program, machine] = ["--cores", "--loss"].map(|option| help.find(option));
        assert!(program < machine, "in the order of all: {help}");
        assert!(
            !help.contains("--incast") && !help.contains("--queries"),
            "{line}\n{help}"
        );
    }
    let all = words(&place.run("help sim").succeeded());
    assert!(all.contains("\n  map-reduce "), "{all}");
}

/// Options that every program has may stand before its name, too.
#[test]
fn options_of_all_may_come_first() {
    let place = Place::new();
    let report = |line: &str| {
        let report = place.run(line).succeeded().json();
        [
            report["parameters"].clone(),
            report["runs"][0]["time_us"].clone(),
            report["runs"][0]["seed"].clone(),
        ]
    };
    let first = report("sim --json --seed 3 --switch-ns 100 merge-min --incast 4");
    assert_eq!(
        first,
        report("sim merge-min --incast 4 --json --seed 3 --switch-ns 100")
    );
    assert_eq!(
        (&first[0]["switch_ns"], &first[2]),
        (&100.into(), &3.into())
    );
}

#[test]
fn programs_on_threads_are_checked() {
    let place = Place::new();
    for line in SMALL {
        let ran = place
            .run(&format!("sim {line} --machine threads"))
            .succeeded();
        let told = words(&ran);
        assert!(told.starts_with("seed 1\n"), "{told}");
        assert!(
            told.contains("\nresult    ") && told.contains("\ntime      "),
            "{told}"
        );
        assert!(
            told.contains("\nnote      each core is a thread of this computer"),
            "{told}"
        );
        assert!(told.lines().all(|line| line.len() <= 80), "{told}");
        assert_eq!(ran.err, "");
    }
    assert!(place.names().is_empty(), "{:?}", place.names());
}

#[test]
fn the_report_of_several_runs() {
    let place = Place::new();
    let line = "sim merge-min --machine threads --cores 4 --seed 7 --runs 3 --json";
    let ran = place.run(line).succeeded();
    assert_eq!(ran.err, "");
    let report = ran.json();
    assert_eq!(fields(&report)[..REPORT.len()], REPORT);
    assert_eq!(fields(&report)[6..12], LAST);
    assert_eq!(
        (&report["program"], &report["machine"]),
        (&"merge-min".into(), &"threads".into())
    );
    assert_eq!(
        (&report["cores"], &report["machine_hash"]),
        (&4.into(), &Value::Null)
    );
    assert_eq!(
        (&report["events"], &report["machine_file"]),
        (&Value::Null, &Value::Null)
    );
    assert!(
        report["note"].as_str().unwrap().contains("thread"),
        "{report}"
    );
    assert_eq!(report["parameters"]["keys_per_core"], 128);
    let runs = report["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 3);
    for (run, seed) in runs.iter().zip(7..) {
        assert_eq!(fields(run)[..8], RUN);
        assert_eq!(run["seed"], seed);
        assert_eq!((&run["max_keys"], &run["skew"]), (&128.into(), &1.0.into()));
        assert_eq!(run["check"]["passed"], true);
        assert!(
            run["result"].as_str().unwrap().contains("of 512 values"),
            "{run}"
        );
    }
    let time = &report["time_us"];
    let [mean, sd, min, max] =
        ["mean", "sd", "min", "max"].map(|name| time[name].as_f64().expect(name));
    assert!(
        min <= mean && mean <= max && min > 0.0 && sd >= 0.0,
        "{time}"
    );
    let times: Vec<f64> = runs
        .iter()
        .map(|run| run["time_us"].as_f64().unwrap())
        .collect();
    let squares: f64 = times.iter().map(|time| (time - mean).powi(2)).sum();
    assert!((sd - (squares / 2.0).sqrt()).abs() <= sd * 1e-9, "{time}");
}

#[test]
fn a_seed_decides_what_comes_out() {
    let place = Place::new();
    let result = |seed: u64| {
        let line = format!("sim local-min --machine threads --json --seed {seed}");
        place.run(&line).succeeded().json()["runs"][0]["result"].clone()
    };
    assert_eq!(result(3), result(3));
    assert_ne!(result(3), result(4));
}

/// Runs that command line with and without `--json`: one line that holds all of `parts`.
#[track_caller]
fn refuses(line: &str, parts: &[&str], kind: &str) {
    let place = Place::new();
    let plain = place.run(line);
    assert_eq!(plain.code, 2, "{line}: {plain:?}");
    for part in parts {
        assert!(
            plain.complaint().contains(part),
            "{line}: no {part:?} in {}",
            plain.complaint()
        );
    }
    assert!(plain.out.is_empty(), "{plain:?}");
    let told = place.run(&format!("{line} --json"));
    assert_eq!(told.code, 2, "{line}: {told:?}");
    assert_eq!(told.json()["error"]["kind"], kind, "{line}");
    let message = told.complaint().trim_start_matches("gristmill: ");
    assert_eq!(told.json()["error"]["message"], message);
    assert!(place.names().is_empty(), "{line}: {:?}", place.names());
}

/// Mistakes about which the parser prints more than one line: a list, a tip, the usage.
#[track_caller]
fn misused(line: &str, parts: &[&str]) {
    let place = Place::new();
    let plain = place.run(line);
    assert_eq!(plain.code, 2, "{line}: {plain:?}");
    assert!(plain.err.starts_with("gristmill: "), "{plain:?}");
    for part in parts {
        assert!(
            plain.err.contains(part),
            "{line}: no {part:?} in {}",
            plain.err
        );
    }
    let told = place.run(&format!("{line} --json"));
    assert_eq!(told.json()["error"]["kind"], "usage", "{line}");
    assert!(place.names().is_empty(), "{line}: {:?}", place.names());
}

#[test]
fn impossible_options_of_programs_are_refused() {
    misused("sim sleep", &["'sleep'", "gristmill sim --help"]);
    misused(
        "sim local-min --incast 4",
        &["'--incast'", "gristmill sim local-min"],
    );
    refuses(
        "sim receive --bytes 12",
        &["'12' for '--bytes <B>'", "8 bytes"],
        "usage",
    );
    refuses(
        "sim receive --bytes 2056",
        &["'2056' for '--bytes <B>'", "from 8 to 2048"],
        "usage",
    );
    refuses("sim receive --bytes 0", &["'0' for '--bytes <B>'"], "usage");
    refuses(
        "sim merge-min --incast 0",
        &["'0' for '--incast <F>': must be at least 1"],
        "usage",
    );
    refuses(
        "sim merge-min --keys 100 --cores 64",
        &["--keys 100", "64 cores"],
        "usage",
    );
    misused(
        "sim merge-min --keys 64 --keys-per-core 1",
        &["'--keys <N>' cannot be used with '--keys-per-core <K>'"],
    );
    refuses("sim flood --cores 4 --to 4", &["--to 4", "0 to 3"], "usage");
    refuses(
        "sim receive --cores 1",
        &["receive", "two or more"],
        "usage",
    );
    refuses("sim merge-min --runs 0", &["--runs 0"], "usage");
    let last = u64::MAX;
    refuses(
        &format!("sim merge-min --seed {last} --runs 2"),
        &["--runs 2", "seeds end"],
        "usage",
    );
    assert_eq!(
        Place::new()
            .run(&format!("sim local-min --seed {last} --runs 1"))
            .code,
        0
    );
    refuses("sim kv --servers 100", &["100 servers", "64"], "usage");
    refuses("sim kv --workers 65", &["1 to 64 workers"], "usage");
    // The first correction is the last.
    for bytes in [2040, 2050, 2, 0] {
        let parts = [
            &format!("'{bytes}' for '--bytes <B>': must be"),
            "multiple of 8",
            "8 to 2032",
        ];
        refuses(&format!("sim kv --bytes {bytes}"), &parts, "usage");
    }
    refuses(
        "sim merge-min --cores 1000000000000",
        &["must be below 4,294,967,296"],
        "usage",
    );
    misused("sim flod", &["'flod'", "did you mean flood?"]);
    refuses(
        "sim loopback --cores 4",
        &["second NIC", "4 cores", "5 or more"],
        "usage",
    );
    refuses(
        "sim loopback --cores 1 --machine nanopu-nodes",
        &["loopback"],
        "usage",
    );
    refuses(
        "sim merge-min --cores 0",
        &["'0' for '--cores <N>'"],
        "usage",
    );
}

#[test]
fn impossible_machines_are_refused() {
    refuses(
        "sim flood --cores 65537",
        &["65537", "nanopu", "65536"],
        "usage",
    );
    refuses(
        "sim flood --cores 5000 --machine threads",
        &["5000", "threads", "4096"],
        "usage",
    );
    refuses(
        "sim merge-min --loss 1.5",
        &["--loss 1.5: must be from 0 to below 0.5"],
        "usage",
    );
    refuses("sim merge-min --loss 1", &["--loss 1"], "usage");
    refuses(
        "sim merge-min --loss 0.5",
        &["--loss 0.5", "hardly end"],
        "usage",
    );
    refuses(
        "sim merge-min --switch-ns -4",
        &["--switch-ns -4", "0 to 1,000"],
        "usage",
    );
    refuses(
        "sim merge-min --link-ns -0.5",
        &["--link-ns -0.5", "0 to 1,000"],
        "usage",
    );
    refuses(
        "sim merge-min --loss -1",
        &["--loss -1", "below 0.5"],
        "usage",
    );
    refuses(
        "sim merge-min --tail-ns -5 --tail-fraction 0",
        &["--tail-ns -5"],
        "usage",
    );
    let hint = ["nebula.toml: no such file", "built-in machine is nebula"];
    refuses("sim merge-min --machine nebula.toml", &hint, "profile");
    refuses(
        "sim merge-min --tail-ns 5 --tail-fraction=-0.1",
        &["--tail-fraction"],
        "usage",
    );
    refuses("sim merge-min --switch-ns=-1", &["--switch-ns"], "usage");
    refuses(
        "sim merge-min --machine threads --loss 0.1",
        &["--loss", "threads"],
        "usage",
    );
    misused(
        "sim merge-min --machine no-such",
        &[
            "'no-such' for '--machine",
            "[possible values: nanopu, ",
            "threads",
        ],
    );
    for (slip, meant) in [("nanop", "nanopu"), ("thread", "threads")] {
        let tip = format!("did you mean {meant}?");
        misused(&format!("sim merge-min --machine {slip}"), &[&tip]);
    }
    refuses("sim merge-min --machine no/such", &["no/such"], "profile");
}

#[test]
fn options_without_a_feature_are_unknown() {
    let place = Place::new();
    for option in ["--core rocket", "--fidelity high"] {
        let ran = place.run(&format!("sim merge-min {option}"));
        assert_eq!(ran.code, 2, "{option}");
        assert!(ran.err.contains("unexpected argument"), "{}", ran.err);
    }
    assert_eq!(place.run("sim merge-min --tail-ns 5").code, 2);
}

#[test]
fn the_critical_path_is_the_time_of_the_run() {
    let place = Place::new();
    let json = |line: &str| place.run(line).succeeded().json();
    let line = "sim nano-sort --cores 64 --critical-path";
    let value = json(&format!("{line} --json"));
    let run = &value["runs"][0];
    let path = &run["critical_path"];
    assert_eq!(path["time_us"], run["time_us"]);
    let parts = path["segments"].as_array().unwrap();
    let of = |part: &Value, key: &str| part[key].as_f64().unwrap();
    let lengths = parts
        .iter()
        .map(|part| of(part, "end_us") - of(part, "begin_us"));
    let sum: f64 = lengths.sum();
    assert!((sum - of(run, "time_us")).abs() < 1e-6, "{sum}");
    let plain = json("sim nano-sort --cores 64 --json");
    assert_eq!(plain["time_us"], value["time_us"], "nothing changes");
    assert!(plain["runs"][0].get("critical_path").is_none());
    let shown = place.run(line).succeeded();
    let shown = String::from_utf8_lossy(&shown.out).into_owned();
    assert!(shown.contains("critical path in us: "), "{shown}");
    let refused = place.run("sim merge-min --cores 4 --machine threads --critical-path");
    assert_eq!(refused.code, 2, "{}", refused.err);
}

#[test]
fn without_a_program_there_is_a_choice() {
    let place = Place::new();
    for line in ["sim", "sim --json"] {
        let ran = place.run(line);
        assert_eq!(ran.code, 2, "{line}");
        for program in ["loopback", "local-min", "sort"] {
            assert!(ran.err.contains(program), "{line}: {}", ran.err);
        }
        assert!(!ran.err.contains("--incast"), "{}", ran.err);
    }
    for line in ["sim --list", "sim merge-min --list"] {
        let ran = place.run(line);
        assert_eq!(ran.code, 2, "{line}");
        assert!(
            ran.err.contains("unexpected argument '--list'"),
            "{}",
            ran.err
        );
        assert!(!ran.err.contains("--incast"), "{}", ran.err);
    }
    // A slip of the finger is still understood.
    assert!(
        place
            .run("sim merge-min --swich-ns 4")
            .err
            .contains("--switch-ns")
    );
}

#[test]
fn a_wrong_value_is_told_in_one_line() {
    let place = Place::new();
    let cases = [
        ("sim merge-min --cores -4", "must not be negative"),
        ("sim merge-min --cores 4Q", "'Q' is not a unit"),
        ("sim merge-min --cores 4kk", "KiB MiB GiB TiB"),
        ("sim merge-min --cores 1.5", "must be a whole number"),
        ("sim merge-min --cores 20000000T", "too large"),
        ("sim merge-min --cores abc", "not a number"),
        ("sim merge-min --seed -1", "from 0 to 18446744073709551615"),
        (
            "sim merge-min --seed 18446744073709551616",
            "from 0 to 18446744073709551615",
        ),
        ("sim merge-min --loss abc", "not a number"),
        ("sim merge-min --loss nan", "not a number"),
        ("sim merge-min --link-ns inf", "too large"),
        ("sim merge-min --threads 0", "from 1 to 1024"),
        ("sort --format gensort --parallel 0", "from 1 to 1024"),
        ("sort --format gensort -S abc", "not a size"),
    ];
    for (line, why) in cases {
        let ran = place.run(line);
        assert_eq!(ran.code, 2, "{line}");
        let value = line.split_whitespace().last().unwrap();
        assert!(
            ran.complaint()
                .contains(&format!("invalid value '{value}'")),
            "{ran:?}"
        );
        assert!(
            ran.complaint().contains(why) && !ran.err.contains("-- -"),
            "{line}: {}",
            ran.err
        );
        let told = place.run(&format!("{line} --json")).json();
        let message = ran.complaint().trim_start_matches("gristmill: ");
        assert_eq!(told["error"]["message"], message);
    }
}

/// If the reader goes away, the command ends as if SIGPIPE had ended it, without a word.
#[test]
fn a_reader_that_is_gone_is_no_news() {
    let place = Place::with_records(1000);
    let sort = "sort --format gensort in";
    let device = "sort --format gensort in -o /dev/stdout";
    for line in [
        "sim local-min",
        "sim local-min --json",
        "lab run nanosort/figure-1",
        sort,
        device,
    ] {
        // The reader has gone before the command begins.
        let script = format!("{{ sleep 0.2; \"$GRISTMILL\" {line}; echo code $? >&2; }} | true");
        assert_eq!(place.run_shell(&script).err, "code 141\n", "{line}");
    }
}

/// Threads that the system does not give.
#[test]
fn too_few_threads_for_the_cores_are_an_error() {
    let place = Place::without_privilege(0);
    // Shells do not agree about the option's name.
    let line = "ulimit -u 1000 2>/dev/null || ulimit -p 1000
                exec \"$GRISTMILL\" sim merge-min --machine threads --cores 4096";
    let ran = place.run_shell(line);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(
        ran.complaint().contains("cannot start 4096 threads"),
        "{ran:?}"
    );
    assert!(ran.complaint().contains("fewer --cores"), "{ran:?}");
    let ran = place.run_shell(&format!("{line} --json"));
    assert_eq!(ran.json()["error"]["kind"], "no_thread", "{ran:?}");
}

#[test]
fn a_profile_with_a_mistake() {
    let place = Place::new();
    let machines = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../machines/nanopu.toml");
    let text = std::fs::read_to_string(machines).unwrap();
    place.write("odd.toml", text.replace("[nic]", "[nic]\nwheels = 4"));
    let ran = place.run("sim merge-min --machine odd.toml");
    assert_eq!(ran.code, 2);
    for part in ["odd.toml", "wheels", "line "] {
        assert!(ran.complaint().contains(part), "{ran:?}");
    }
    let told = place.run("sim merge-min --machine odd.toml --json").json();
    assert_eq!(told["error"]["file"], "odd.toml");
}

#[test]
fn a_signal_ends_a_run_on_threads() {
    let place = Place::new();
    let mut command = place.command("sim kv --machine threads --cores 2 --messages 4000000000");
    let mut child = command.spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "seed 1\n");
    // Signals are watched once the head is printed.
    std::thread::sleep(Duration::from_millis(500));
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.code, 143, "{ran:?}");
    assert_eq!(ran.complaint(), "gristmill: stopped by SIGTERM");
}
