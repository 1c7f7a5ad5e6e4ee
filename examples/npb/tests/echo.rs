//! The echo: its messages come back, its time is that of the machine's file, and experiments find it.

use std::env;
use std::fs;
use std::process::{Command, Output};

use gristmill_sim::{Described, Program, Seeds, simulate};
use node_real::Cluster;
use npb::Echo;
use npb::echo::Echoed;

fn echo(bytes: u32) -> Echo {
    Echo {
        bytes,
        ..Echo::default()
    }
}

/// Seconds of one way, and the rate.
fn on(machine: &str, bytes: u32) -> (f64, f64) {
    let bytes = bytes.to_string();
    let report = simulate::<Echo>(machine, &[("bytes", &bytes)], Seeds::default()).unwrap();
    assert!(report.is_right(), "{:?}", report.runs[0].verdict);
    let rate = report.runs[0].verdict.figure.unwrap();
    (report.time_us.mean / 2e6, rate)
}

/// Of no piece, of one that is full, of one more, of many.
#[test]
fn messages_of_any_length_come_back() {
    for bytes in [0, 1, 8, 2040, 2041, 100_000] {
        let echo = Echo {
            rounds: 3,
            ..echo(bytes)
        };
        let program = echo.clone();
        let answers = Cluster::new(2, 1).run(move |node| program.clone().run(node));
        let verdict = echo.check(&answers);
        assert_eq!(verdict.fault, None, "{bytes} bytes");
        let (seconds, rate) = on("nanopu", bytes);
        let expected = f64::from(bytes) / seconds / 1e6;
        assert!(
            (rate - expected).abs() <= 1e-6 * expected,
            "{rate}, {expected}"
        );
    }
}

#[test]
fn the_published_start_up_and_peak_come_out() {
    let table = [
        ("now", 15.0, 38.0),
        ("sp-2", 35.0, 35.0),
        ("t3d", 21.0, 27.0),
        ("cs-2", 83.0, 43.0),
    ];
    for (name, start, peak) in table {
        let file = format!("{}/figures/mpi-{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let (us, rate) = (on(&file, 0).0 * 1e6, on(&file, 1 << 20).1);
        assert!((us / start - 1.0).abs() < 0.01, "{name}: {us} us");
        assert!((rate / peak - 1.0).abs() < 0.01, "{name}: {rate} MB/s");
    }
}

#[test]
fn other_values_and_other_ranks_are_found() {
    let right = Echoed {
        seconds: 1.0,
        ..Echoed::default()
    };
    let wrong = Echoed {
        wrong: Some(2),
        ..right.clone()
    };
    let verdict = echo(8).check(&[right.clone(), wrong]);
    let fault = "rank 1 received other values in round 2";
    assert_eq!(verdict.fault.unwrap(), fault);
    let verdict = echo(8).check(&[right.clone(), right.clone(), right]);
    let refused = "an echo takes 2 ranks, and these are 3";
    assert_eq!(verdict.fault.unwrap(), refused);
    assert_eq!(echo(8).objection(2), None);
    assert_eq!(Echo::CORES, 2);
}

fn npb(words: &[&str]) -> (String, String, Option<i32>) {
    let mut npb = Command::new(env!("CARGO_BIN_EXE_npb"));
    let output = npb.args(words).current_dir(env!("CARGO_MANIFEST_DIR"));
    let Output {
        status,
        stdout,
        stderr,
    } = output.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&stdout), text(&stderr), status.code())
}

#[test]
fn the_command_runs_an_echo_and_experiments() {
    let (out, _, code) = npb(&["echo", "--bytes", "2000", "--on", "figures/mpi-now.toml"]);
    assert!(
        out.starts_with("2,000 bytes one way: 67.21 us, 29.76 MB/s; 2 ranks on mpi-now"),
        "{out}"
    );
    assert_eq!(code, Some(0));
    let (_, err, code) = npb(&["echo", "--ranks", "4", "--on", "nanopu"]);
    assert!(
        err.contains("an echo takes 2 ranks, and these are 4"),
        "{err}"
    );
    assert_eq!((err.lines().count(), code), (1, Some(2)));

    let (out, _, code) = npb(&["lab", "run", "figures/figure-6.toml"]);
    assert!(out.contains("claims: 12 fit"), "{out}");
    assert_eq!(code, Some(0));
    let text = fs::read_to_string(format!(
        "{}/figures/figure-6.toml",
        env!("CARGO_MANIFEST_DIR")
    ));
    let (text, start) = (text.unwrap(), "paper = 15\n");
    let place = env::temp_dir().join(format!("npb-echo-{}.toml", std::process::id()));
    for (from, to, told, ends) in [
        (start, "paper = 16\n", "the check of 'now-start' failed", 1),
        (
            "\"echo\"",
            "\"ecco\"",
            "there is no program 'ecco'; did you mean echo?",
            2,
        ),
    ] {
        assert!(text.contains(from), "{from}");
        fs::write(&place, text.replacen(from, to, 1)).unwrap();
        let (_, err, code) = npb(&["lab", "run", place.to_str().unwrap()]);
        assert!(err.contains(told), "{err}");
        assert_eq!(code, Some(ends));
    }
    fs::remove_file(&place).unwrap();
}
