//! `gristmill demo` sorts, checks, shows the history of the benchmark, and leaves no file.

use crate::common::Place;

/// The rows of the table.
const NAMES: [&str; 7] = [
    "FastSort",
    "Tandem",
    "Popovici",
    "psort",
    "MilliSort",
    "4,096 keys, 256",
    "Gristmill",
];

/// The checksum of the first million gensort records, as the reference tool prints it.
const MILLION: &str = "7a0e0d4868cd4";

#[test]
fn the_demo_shows_the_table_and_leaves_nothing() {
    let place = Place::new();
    let ran = place.run("demo --cores 256").succeeded();
    let said = String::from_utf8(ran.out).unwrap();
    for name in NAMES {
        let row = said.lines().find(|line| line.contains(name));
        let row = row.unwrap_or_else(|| panic!("{name} is not in the table:\n{said}"));
        let marks = ["disk to disk", "in memory", "simulated"];
        assert!(marks.iter().any(|mark| row.contains(mark)), "{row}");
    }
    assert_eq!(
        said.matches(MILLION).count(),
        3,
        "one pass, two, and a merge: {said}"
    );
    assert!(said.contains("made      1,000,000 records"), "{said}");
    let caveats = ["page cache", "another simulator", "FILE -o SORTED"];
    assert!(caveats.iter().all(|part| said.contains(part)), "{said}");
    assert_eq!(ran.err, "");
    assert!(place.names().is_empty(), "{:?}", place.names());
}

#[test]
fn the_demo_says_where_it_cannot_work() {
    let ran = Place::new().run("demo --directory missing");
    assert_eq!(ran.code, 2);
    assert!(ran.complaint().contains("missing"), "{ran:?}");
}
