//! Shuffles: each order of three lines is met equally often.

use std::collections::HashMap;
use std::fs;

use gristmill::{Error, Format, Sorter};

#[test]
fn each_order_has_the_same_chance() {
    let place = tempfile::tempdir().unwrap();
    let (file, out) = (place.path().join("in"), place.path().join("out"));
    fs::write(&file, "1\n2\n3\n").unwrap();
    let mut found: HashMap<Vec<u8>, u32> = HashMap::new();
    for seed in 0..300 {
        let sorter = Sorter::new(Format::lines().shuffled(seed)).threads(1.try_into().unwrap());
        sorter.sort_files([&file], &out).unwrap();
        *found.entry(fs::read(&out).unwrap()).or_default() += 1;
    }
    assert_eq!(found.len(), 6);
    // Chi squared of five degrees of freedom is above 20 once in a thousand times.
    let off = |count: &u32| (f64::from(*count) - 50.0).powi(2) / 50.0;
    let chi_squared: f64 = found.values().map(off).sum();
    assert!(chi_squared < 20.0, "{found:?}");
}

#[test]
fn it_is_refused_beside_an_order() {
    let place = tempfile::tempdir().unwrap();
    let (file, out) = (place.path().join("in"), place.path().join("out"));
    fs::write(&file, "1\n2\n").unwrap();
    let shuffled = || Format::lines().shuffled(1);
    let by_key = Sorter::new(shuffled().key("1,1")).sort_files([&file], &out);
    let unique = Sorter::new(shuffled()).unique().sort_files([&file], &out);
    let merged = Sorter::new(shuffled()).merge_files([&file], &out);
    let checked = Sorter::new(shuffled()).check_file(&file).map(drop);
    let rows = Sorter::new(Format::named("csv").shuffled(1)).sort_files([&file], &out);
    let pushed = Sorter::new(shuffled()).start().map(drop);
    for (refused, told) in [
        (by_key.map(drop), "they have no keys"),
        (unique.map(drop), "they have no order of equal ones"),
        (merged.map(drop), "a merge keeps the order"),
        (checked, "are in no order"),
        (rows.map(drop), "csv has an order"),
        (pushed, "from files into a file"),
    ] {
        let refused: Error = refused.unwrap_err();
        assert!(refused.to_string().contains(told), "{refused}");
    }
    assert!(!out.exists());
}
