//! Every experiment at smoke size gives its snapshot: all of it is simulated, so no digit may
//! change.
//!
//! ```text
//!   experiments/<paper>/<figure>.toml --run--> figure --> JSON --.
//!   crates/simulator/lab/tests/snapshots/<paper>/<figure>.json ------------'--> the same bytes
//! ```
//!
//! After an intended change, `GRISTMILL_SNAPSHOTS=write cargo test -p gristmill-lab --test suite
//! snapshots` writes them again; the diff shows what has changed.

use std::fs;
use std::path::{Path, PathBuf};

use lab::Observer;
use lab::experiment::Experiment;
use plot::Size;
use serde_json::Value;

const WRITE: &str = "GRISTMILL_SNAPSHOTS";

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots")
}

/// The figure without the hash of the machine's file, which changes with comments in it. A sum
/// stands for the many cells of a picture.
fn snapshot_of(name: &str) -> String {
    let experiment = Experiment::load(name).unwrap();
    let figure = experiment.run(&Observer::default(), Size::Smoke, 2);
    let figure = figure.unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(
        figure.faults,
        Vec::<String>::new(),
        "{name} computes something wrong"
    );
    for claim in &figure.claims {
        assert_eq!(claim.fault(), None, "{name}: claim '{}' failed", claim.id);
    }
    let mut value = serde_json::to_value(&figure).unwrap();
    value.as_object_mut().unwrap().remove("machine_hash");
    if let Some(cells) = value.pointer_mut("/breakdown/picture/cells") {
        let sum = sum_of(cells.as_str().unwrap());
        *cells = Value::from(format!("sum {sum:016x}"));
    }
    format!("{value:#}\n")
}

/// FNV-1a of 64 bits.
fn sum_of(text: &str) -> u64 {
    let step = |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

#[test]
fn every_experiment_gives_its_snapshot() {
    let writes = std::env::var(WRITE).is_ok_and(|value| value == "write");
    let mut changed = Vec::new();
    for name in Experiment::names() {
        let path = directory().join(format!("{name}.json"));
        let ours = snapshot_of(name);
        if writes {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &ours).unwrap();
            continue;
        }
        let known = fs::read_to_string(&path).unwrap_or_default();
        if ours != known {
            changed.push(format!("{name}: {}", first_difference(&known, &ours)));
        }
    }
    assert!(
        changed.is_empty(),
        "{}\nif this is intended, write the snapshots again:\n\
         {WRITE}=write cargo test -p gristmill-lab --test suite snapshots",
        changed.join("\n")
    );
    every_snapshot_is_of_an_experiment();
}

fn first_difference(known: &str, ours: &str) -> String {
    if known.is_empty() {
        return "there is no snapshot".to_owned();
    }
    let number = known
        .lines()
        .zip(ours.lines())
        .take_while(|(one, other)| one == other)
        .count();
    let line = |text: &str| {
        text.lines()
            .nth(number)
            .unwrap_or("nothing")
            .trim()
            .to_owned()
    };
    format!(
        "line {} was {}, and is {}",
        number + 1,
        line(known),
        line(ours)
    )
}

/// A snapshot without an experiment would never be compared. This is no separate test, because it
/// would read while the other one writes.
fn every_snapshot_is_of_an_experiment() {
    let mut found = Vec::new();
    for paper in fs::read_dir(directory())
        .unwrap()
        .map(|entry| entry.unwrap().path())
    {
        for path in fs::read_dir(&paper)
            .unwrap()
            .map(|entry| entry.unwrap().path())
        {
            let stem = path.with_extension("");
            found.push(
                stem.strip_prefix(directory())
                    .unwrap()
                    .display()
                    .to_string(),
            );
        }
    }
    found.sort();
    let mut known: Vec<_> = Experiment::names().collect();
    known.sort_unstable();
    assert_eq!(found, known);
}
