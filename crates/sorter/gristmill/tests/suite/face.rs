//! The public face: small, and each part of it in an example.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use children::Command;

/// The most items (types, traits, modules).
const MOST: usize = 40;

/// Three are for untidy files: lines on top, words for missing values, short rows. `keep_last` and `sum` are what
/// people ask for beside `unique`, two more say where records of several lines begin, and one where those with
/// mistakes go.
const MOST_METHODS: usize = 49;

struct Face {
    items: BTreeSet<String>,
    methods: BTreeSet<String>,
    /// The lines of all examples that are tests.
    examples: String,
}

/// Reads the modules that `lib.rs` publishes.
fn face() -> Face {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let read = |name: &str| fs::read_to_string(source.join(name)).unwrap();
    let lib = read("lib.rs");
    let mut face = Face {
        items: BTreeSet::new(),
        methods: BTreeSet::new(),
        examples: examples(&lib),
    };
    for line in lib.lines() {
        let published = line.strip_prefix("pub use ").and_then(|rest| {
            let (module, names) = rest.trim_end_matches(';').split_once("::")?;
            Some((module, names.trim_matches(['{', '}'])))
        });
        let module = line
            .strip_prefix("pub mod ")
            .map(|name| name.trim_end_matches(';'));
        let (module, names) = match (published, module) {
            (Some((module, names)), _) => (module, names),
            (None, Some(module)) => (module, module),
            (None, None) => continue,
        };
        face.items.extend(names.split(", ").map(str::to_owned));
        let text = text_of(&source, module);
        face.examples += &examples(&text);
        if names == module {
            let types = text
                .lines()
                .filter_map(|line| line.strip_prefix("pub struct "));
            face.items.extend(types.filter_map(word));
        }
        let methods = text
            .lines()
            .filter_map(|line| line.strip_prefix("    pub fn "));
        let methods = methods
            .filter_map(word)
            .map(|name| format!("{module}::{name}"));
        face.methods.extend(methods);
    }
    face
}

/// A module with those below it.
fn text_of(source: &Path, module: &str) -> String {
    let below = fs::read_dir(source.join(module)).into_iter().flatten();
    let below = below.map(|file| file.unwrap().path());
    let files = [source.join(format!("{module}.rs"))]
        .into_iter()
        .chain(below);
    files
        .map(|file| fs::read_to_string(file).unwrap())
        .collect()
}

fn word(text: &str) -> Option<String> {
    let end = text.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
    end.map(|end| text[..end].to_owned())
}

fn examples(text: &str) -> String {
    let mut is_example = false;
    let lines = text.lines().map(str::trim_start).filter(|line| {
        let is_doc = line.starts_with("///") || line.starts_with("//!");
        is_example ^= is_doc && line.contains("```");
        is_doc && is_example
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_face_is_small_and_has_examples() {
    let Face {
        items,
        methods,
        examples,
    } = face();
    assert!(
        items.contains("Sorter") && items.contains("Records"),
        "{items:?}"
    );
    assert!(methods.contains("feed::push"), "{methods:?}");
    assert!(items.len() <= MOST, "{} items: {items:?}", items.len());
    assert!(
        methods.len() <= MOST_METHODS,
        "{} methods: {methods:?}",
        methods.len()
    );
    for item in &items {
        // Results are seen by their fields and methods.
        let is_shown = match item.as_str() {
            "Feed" => examples.contains("feed.push"),
            "Sorted" => examples.contains("sorted.next"),
            "Report" => examples.contains("report.records"),
            "Disorder" => examples.contains("found.number"),
            "Progress" => examples.contains("watch.progress()"),
            name => examples.contains(name),
        };
        assert!(is_shown, "no example has {item}");
    }
    for method in &methods {
        let name = method.split("::").last().unwrap();
        let is_shown = [".", "::"]
            .iter()
            .any(|dot| examples.contains(&format!("{dot}{name}(")));
        assert!(is_shown, "no example calls {method}");
    }
}

/// docs/library.md shows it. The build of the tests has built it, beside their directory.
#[test]
fn a_key_of_a_struct_takes_fifteen_lines() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let example = fs::read_to_string(here.join("examples/sales.rs")).unwrap();
    let is_code = |line: &&str| !line.trim().is_empty() && !line.starts_with("//!");
    let lines = example.lines().filter(is_code);
    assert!(lines.count() <= 15);
    let page = fs::read_to_string(here.join("../../../docs/library.md")).unwrap();
    assert!(
        page.contains(&example),
        "docs/library.md has another examples/sales.rs"
    );
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("sales.txt"), "Oslo 5\nBonn 7\nAthens 5\n").unwrap();
    let tests = std::env::current_exe().unwrap();
    let program = tests.parent().unwrap().with_file_name("examples/sales");
    let ended = Command::new(program).current_dir(place.path()).status();
    assert!(ended.unwrap().success());
    let sorted = fs::read_to_string(place.path().join("sorted.txt")).unwrap();
    assert_eq!(sorted, "Bonn 7\nAthens 5\nOslo 5\n");
}
