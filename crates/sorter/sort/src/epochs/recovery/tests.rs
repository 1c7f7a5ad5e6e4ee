//! Ranges that were begun by one run, or by several.

use serde_json::{Value, json};

use super::*;
use crate::epochs::bounds::tests::begun;

fn changed(change: impl Fn(&mut Value)) -> Begun {
    let mut begun = begun();
    change(&mut begun);
    serde_json::from_value(begun).unwrap()
}

#[test]
fn ranges_of_other_runs_do_not_belong_together() {
    let one = changed(|_| {});
    // These differ between the ranges of one run.
    for (name, own) in [("range", 0), ("rank", 3), ("expected", 1), ("draft", 9)] {
        let other = changed(|begun| begun[name] = json!(own));
        assert!(is_same_sort(&one, &other), "{name}");
    }
    for (place, value) in [
        ("/fingerprint/stable", json!(true)),
        ("/sources", json!(["in"])),
        ("/parts/0/bytes", json!(1)),
        ("/epochs", json!(3)),
        ("/ranges", json!([])),
    ] {
        let other = changed(|begun| *begun.pointer_mut(place).unwrap() = value.clone());
        assert!(!is_same_sort(&one, &other), "{place}");
        assert!(!is_same_sort(&other, &one), "{place}");
    }
}
