//! The program of docs/active-messages.md on every kind of node, and the page's Rust.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use children::Command;

use crate::launch;

/// The example that cargo has built for these tests.
fn least() -> PathBuf {
    let tests = env::current_exe().unwrap();
    let place = tests.ancestors().nth(2).unwrap().join("examples/least");
    assert!(place.exists(), "{place:?} is built with the tests");
    place
}

fn ran(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// Simulated nodes take the same virtual time each time; ours alone need real time.
#[test]
fn one_program_runs_on_every_kind_of_node() {
    for kind in ["threads", "nanopu", "now"] {
        let said = || ran(Command::new(least()).args([kind, "21"]));
        let (first, again) = (said(), said());
        assert!(
            first.starts_with(&format!("{kind}: the least is ")),
            "{first}"
        );
        let value = |said: &str| said.split(',').next().unwrap().to_owned();
        assert_eq!(value(&first), value(&again));
        assert!(kind == "threads" || first == again, "{first}{again}");
    }
    let Some(mut ranks) = launch::launcher(5, "one_program_runs_on_every_kind_of_node") else {
        return;
    };
    let said = ran(ranks.arg(least()));
    assert!(said.starts_with("mpi: the least is "), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
fn an_unknown_kind_of_node_is_refused() {
    let output = Command::new(least()).arg("cm-5").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("there is no kind 'cm-5'"), "{said}");
}

/// Each block of Rust stands in the example, but for its white space.
#[test]
fn the_page_shows_the_example() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(here.join("../../../docs/active-messages.md")).unwrap();
    let flat = |text: &str| text.split_whitespace().collect::<String>();
    let example = flat(&fs::read_to_string(here.join("examples/least.rs")).unwrap());
    let blocks = page.split("```rust\n").skip(1);
    let blocks: Vec<&str> = blocks
        .map(|block| block.split("```").next().unwrap())
        .collect();
    assert!(blocks.len() >= 4);
    for block in blocks {
        assert!(
            example.contains(&flat(block)),
            "not in the example:\n{block}"
        );
    }
}
