//! The verdict on the NanoSort paper is one line, and all places that have it say the same.

use std::fs;
use std::path::Path;

use crate::common::Place;

/// Pages that carry the verdict.
const PAGES: [&str; 4] = [
    "README.md",
    "docs/simulating.md",
    "docs/papers/nanosort.md",
    "docs/decisions/0028-the-reading-that-meets-most.md",
];

/// The line and the tables that `lab verdict` prints.
fn told(place: &Place) -> (String, String) {
    let said = String::from_utf8(place.run("lab verdict").succeeded().out).unwrap();
    let (verdict, tables) = said.split_once("\n\n").unwrap();
    (verdict.to_owned(), tables.to_owned())
}

fn page(name: &str) -> String {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    fs::read_to_string(top.join(name)).unwrap()
}

/// The words of a text, however its lines are broken.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn all_places_carry_the_verdict() {
    let place = Place::new();
    let (verdict, _) = told(&place);
    assert!(verdict.contains(" us for 68: "), "{verdict}");
    for name in PAGES {
        let text = words(&page(name));
        assert!(text.contains(&verdict), "{name} does not say: {verdict}");
    }
    let help = String::from_utf8(place.run("sim --help").succeeded().out).unwrap();
    assert!(words(&help).contains(&verdict), "{help}");
    let demo = place.run("demo --cores 256").succeeded().out;
    assert!(String::from_utf8(demo).unwrap().contains(&verdict));
}

/// The tables of the paper's page are those of the experiments: a row for each published statement, and for each
/// figure that is not in the paper. The page's section has no other rows.
#[test]
fn the_page_has_the_standing_of_each_statement() {
    let (_, tables) = told(&Place::new());
    assert!(tables.contains("\nNot in the paper: "), "{tables}");
    let page = page("docs/papers/nanosort.md");
    let is_row = |line: &&str| line.starts_with("| ");
    let rows: Vec<&str> = tables.lines().filter(is_row).collect();
    assert!(rows.len() > 40, "{tables}");
    for row in rows {
        assert_eq!(page.matches(row).count(), 1, "{row}");
    }
    let standing = page
        .split("<a id=\"")
        .find(|part| part.starts_with("standing"));
    for row in standing.unwrap().lines().filter(is_row) {
        assert!(tables.contains(row), "{row}");
    }
}
