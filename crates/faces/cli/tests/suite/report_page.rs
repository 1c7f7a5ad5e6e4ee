//! docs/report.md names each member of the reports.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::Place;

/// The names of all members, at any depth; those of options are the programs' own.
fn add_names(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                names.insert(name.clone());
                if name != "parameters" {
                    add_names(value, names);
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| add_names(value, names)),
        _ => {}
    }
}

#[test]
fn the_page_of_reports_names_each_member() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let page = fs::read_to_string(top.join("docs/report.md")).unwrap();
    let place = Place::with_records(20_000);
    let mut names = BTreeSet::new();
    for line in [
        "sort --format gensort in -o out --json",
        "sort --format gensort in -o set/ -S 8M --plan two-pass --json",
        "sim loopback --json",
        "sim nano-sort --cores 16 --json",
        "doctor --json",
    ] {
        add_names(&place.run(line).succeeded().json(), &mut names);
    }
    let failed = place.run("sort --format gensort missing -o out --json");
    assert_eq!(failed.code, 2);
    add_names(&failed.json(), &mut names);
    let manifest = place.read("set/manifest.json");
    add_names(&serde_json::from_slice(&manifest).unwrap(), &mut names);
    assert!(names.len() > 60, "{names:?}");
    let is_told = |name: &&String| page.contains(&format!("`{name}`")) || *name == "error";
    let missing: Vec<_> = names.iter().filter(|name| !is_told(name)).collect();
    assert!(missing.is_empty(), "docs/report.md names no {missing:?}");
}

/// Every kind that the source gives to an error or a warning of a sort or an experiment.
#[test]
fn the_page_of_reports_names_each_kind() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(crates.join("../docs/report.md")).unwrap();
    for (file, from) in [
        ("sorter/sort/src/error/facts.rs", "fn kind("),
        ("sorter/sort/src/report.rs", "fn kind("),
        ("simulator/lab/src/error.rs", "fn kind("),
    ] {
        let source = fs::read_to_string(crates.join(file)).unwrap();
        let body = source.split_once(from).expect(file).1;
        let body = body.split_once("\n    }\n").expect(file).0;
        let kinds: Vec<&str> = body.split('"').skip(1).step_by(2).collect();
        assert!(kinds.len() > 3, "{file}: {kinds:?}");
        for kind in kinds {
            assert!(page.contains(&format!("`{kind}`")), "{file}: {kind}");
        }
    }
}
