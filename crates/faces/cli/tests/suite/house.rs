//! Rules for all crates: imports, places of `unsafe`, names that programs must not contain.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::knots;

/// A crate, and the crates that it may import.
type Room = (&'static str, &'static [&'static str]);

/// The floors, and the crates on each (docs/architecture.md).
const FLOORS: [(&str, &[Room]); 5] = [
    (
        "node",
        &[
            ("units", &[]),
            ("node", &[]),
            ("codec", &["node"]),
            ("node-real", &["node", "codec"]),
            ("terminal", &["node", "node-real"]),
            ("node-mpi", &["node", "terminal"]),
            ("active", &["node"]),
        ],
    ),
    (
        "sorter",
        &[
            ("record", &[]),
            ("kernel", &[]),
            ("pipeline", &["node"]),
            (
                "sort",
                &["units", "record", "kernel", "node", "codec", "pipeline"],
            ),
            (
                "gristmill",
                &[
                    "codec",
                    "units",
                    "record",
                    "node",
                    "node-real",
                    "pipeline",
                    "sort",
                ],
            ),
            ("c", &["gristmill"]),
        ],
    ),
    (
        "simulator",
        &[
            ("disk", &["node"]),
            ("machine", &["node", "disk"]),
            ("grain", &["units", "node"]),
            ("plot", &["units"]),
            (
                "lab",
                &[
                    "units",
                    "node",
                    "node-real",
                    "terminal",
                    "machine",
                    "grain",
                    "plot",
                ],
            ),
            (
                "sim",
                &[
                    "units", "node", "terminal", "machine", "grain", "plot", "lab",
                ],
            ),
        ],
    ),
    (
        "yard",
        &[
            ("rehearsal", &["node", "disk", "machine"]),
            ("hostile", &["kernel"]),
            (
                "bench",
                &[
                    "units",
                    "terminal",
                    "record",
                    "kernel",
                    "node",
                    "node-real",
                    "node-mpi",
                    "pipeline",
                    "sort",
                    "gristmill",
                    "machine",
                    "grain",
                    "host",
                ],
            ),
        ],
    ),
    (
        "faces",
        &[
            (
                "host",
                &[
                    "units",
                    "terminal",
                    "codec",
                    "node",
                    "node-real",
                    "node-mpi",
                    "pipeline",
                    "sort",
                ],
            ),
            (
                "simulated-sort",
                &[
                    "units", "record", "kernel", "node", "disk", "machine", "grain", "lab",
                    "pipeline", "sort",
                ],
            ),
            (
                "cli",
                &[
                    "units",
                    "terminal",
                    "codec",
                    "record",
                    "node",
                    "node-real",
                    "node-mpi",
                    "machine",
                    "pipeline",
                    "sort",
                    "lab",
                    "sim",
                    "host",
                    "simulated-sort",
                ],
            ),
            ("python", &["units", "plot", "lab", "gristmill"]),
        ],
    ),
];

/// Where `unsafe` may be: one small place per crate.
const UNSAFE_IN: [&str; 6] = [
    "sorter/kernel/src/",
    "node/node-real/src/sys/",
    "node/node-mpi/src/ffi/",
    "simulator/machine/src/network/store/",
    "sorter/c/src/border/",
    "faces/python/src/capsule.rs",
];

/// The crates of programs, which run on any node.
const PROGRAMS: [&str; 2] = ["sort", "grain"];

/// Names that programs must not contain: backends, wall clocks, threads, files, global random
/// numbers.
const NOT_IN_PROGRAMS: [&str; 8] = [
    "node_real",
    "node_mpi",
    "machine::",
    "std::time",
    "std::thread",
    "std::fs",
    "rand::",
    "RandomState",
];

pub fn crates() -> PathBuf {
    let floor = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    floor.parent().unwrap().to_owned()
}

/// All crates, each with its floor and the crates that it may import.
pub fn rooms() -> impl Iterator<Item = (&'static str, &'static str, &'static [&'static str])> {
    FLOORS.into_iter().flat_map(|(floor, rooms)| {
        let rooms = rooms.iter();
        rooms.map(move |&(room, allowed)| (floor, room, allowed))
    })
}

/// The directory of a crate.
pub fn place_of(room: &str) -> PathBuf {
    let found = rooms().find(|(_, known, _)| *known == room);
    let (floor, ..) = found.unwrap_or_else(|| panic!("no crate {room}"));
    crates().join(floor).join(room)
}

/// The `[dependencies]` of a crate that are crates of this project.
fn known_by(room: &str) -> Vec<String> {
    let manifest = fs::read_to_string(place_of(room).join("Cargo.toml")).unwrap();
    let section = manifest.split("\n[dependencies]\n").nth(1).unwrap_or("");
    let section = section.split("\n[").next().unwrap_or("");
    let names = section
        .lines()
        .filter_map(|line| line.split(['.', ' ', '=']).next());
    names
        .filter(|name| rooms().any(|(_, room, _)| room == *name))
        .map(str::to_owned)
        .collect()
}

fn sources(directory: &Path, found: &mut BTreeMap<PathBuf, String>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            found.insert(path, text);
        }
    }
}

fn sources_of(room: &str) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    sources(&place_of(room).join("src"), &mut found);
    assert!(!found.is_empty(), "{room} has no sources");
    found
}

fn names_in(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn every_crate_is_known_to_this_test() {
    let mut floors = FLOORS.map(|(floor, _)| floor);
    floors.sort_unstable();
    assert_eq!(names_in(&crates()), floors);
    for (floor, rooms) in FLOORS {
        let mut rooms: Vec<&str> = rooms.iter().map(|(room, _)| *room).collect();
        rooms.sort_unstable();
        assert_eq!(names_in(&crates().join(floor)), rooms, "{floor}");
    }
}

#[test]
fn imports_go_one_way() {
    for (_, room, allowed) in rooms() {
        let known = known_by(room);
        for other in &known {
            assert!(
                allowed.contains(&other.as_str()),
                "{room} must not know {other}"
            );
        }
    }
    assert!(known_by("sort").len() == 6, "the manifests are read");
}

/// The sorter and the simulator stand side by side on the node. Faces may use both, and nothing uses a
/// face but faces and the yard.
#[test]
fn floors_import_downwards() {
    let below = |floor: &str| -> &[&str] {
        match floor {
            "node" => &["node"],
            "sorter" => &["node", "sorter"],
            "simulator" => &["node", "simulator"],
            "faces" => &["node", "sorter", "simulator", "faces"],
            "yard" => &["node", "sorter", "simulator", "faces", "yard"],
            _ => panic!("no floor {floor}"),
        }
    };
    for (floor, room, _) in rooms() {
        for other in known_by(room) {
            let (of_other, ..) = rooms().find(|(_, known, _)| *known == other).unwrap();
            assert!(
                below(floor).contains(&of_other),
                "{room} of {floor} must not know {other} of {of_other}"
            );
        }
    }
}

#[test]
fn unsafe_stays_in_its_places() {
    let mut seen = 0;
    for (_, room, _) in rooms() {
        for (path, text) in sources_of(room) {
            let name = path.strip_prefix(crates()).unwrap().display().to_string();
            let code = text
                .lines()
                .map(|line| line.split("//").next().unwrap_or(""));
            let found = code
                .filter(|line| line.contains("unsafe ") || line.contains("unsafe_code"))
                .count();
            seen += found;
            let allowed = UNSAFE_IN.iter().any(|place| name.starts_with(place));
            assert!(found == 0 || allowed, "{name} has unsafe code");
        }
    }
    assert!(seen > 0, "the sources are read");
}

#[test]
fn programs_name_no_backend_and_no_system() {
    let is_of_tests =
        |path: &Path| path.ends_with("tests.rs") || path.iter().any(|folder| folder == "tests");
    let sources = PROGRAMS.into_iter().flat_map(sources_of);
    for (path, text) in sources.filter(|(path, _)| !is_of_tests(path)) {
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        for forbidden in NOT_IN_PROGRAMS {
            assert!(
                !text.contains(forbidden),
                "{} names {forbidden}",
                path.display()
            );
        }
    }
}

/// A longer file usually hides a concept. Tests at the end of a file and files of tests may be
/// longer.
#[test]
fn no_file_is_too_long() {
    const MOST_LINES: usize = 400;
    for (_, room, _) in rooms() {
        for (path, text) in sources_of(room) {
            let name = path.strip_prefix(crates()).unwrap().display().to_string();
            let is_of_tests = name.contains("tests") || name.contains("conformance");
            let code = text
                .lines()
                .take_while(|line| *line != "#[cfg(test)]")
                .count();
            let is_long = code > MOST_LINES && !is_of_tests;
            assert!(!is_long, "{name} has {code} lines");
        }
    }
}

/// The most top-level modules of a crate that may import each other in a circle.
const LARGEST_KNOT: usize = 3;

#[test]
fn modules_import_each_other_one_way() {
    for (_, room, _) in rooms() {
        let graph = knots::graph(&place_of(room).join("src"));
        let knot = knots::largest(&graph);
        assert!(
            knot.len() <= LARGEST_KNOT,
            "{room} has a knot of {}: {knot:?}",
            knot.len()
        );
    }
}

/// The modules of `sort`. Each imports only those below it (docs/architecture.md).
const ORDER_OF_SORT: [&str; 17] = [
    "alone",
    "tools",
    "run",
    "epochs",
    "ranks",
    "passes",
    "stages",
    "runs",
    "files",
    "agreement",
    "protocol",
    "plan",
    "job",
    "records",
    "report",
    "names",
    "error",
];

#[test]
fn the_modules_of_sort_import_downwards() {
    let graph = knots::graph(&place_of("sort").join("src"));
    assert_eq!(graph.len(), ORDER_OF_SORT.len(), "{:?}", graph.keys());
    for (at, module) in ORDER_OF_SORT.iter().enumerate() {
        let above = &ORDER_OF_SORT[..at];
        let upwards = graph[*module].iter().find(|name| above.contains(&&***name));
        assert_eq!(upwards, None, "{module} imports a module above it");
    }
}

/// docs/guarantees.md names the tests of each promise.
#[test]
fn the_tests_of_the_guarantees_exist() {
    let mut files = BTreeMap::new();
    sources(&crates(), &mut files);
    let page = crates().parent().unwrap().join("docs/guarantees.md");
    let page = fs::read_to_string(page).unwrap();
    let (mut tests, mut named) = (0, 0);
    for quoted in page.split('`').skip(1).step_by(2) {
        if quoted.ends_with(".rs") {
            let exists = files.keys().any(|path| path.ends_with(quoted));
            assert!(exists, "docs/guarantees.md names {quoted}");
            named += 1;
        } else if quoted.matches('_').count() > 1 && !quoted.contains(['.', '/', ' ']) {
            let function = format!("fn {quoted}(");
            let exists = files.values().any(|text| text.contains(&function));
            assert!(exists, "docs/guarantees.md names {quoted}");
            tests += 1;
        }
    }
    assert!(tests > 30 && named > 3, "{tests} tests, {named} files");
}

/// docs/papers.md maps the terms of papers to files.
#[test]
fn the_modules_of_the_papers_exist() {
    let top = crates().parent().unwrap().to_owned();
    let page = fs::read_to_string(top.join("docs/papers.md")).unwrap();
    let quoted = page.split('`').skip(1).step_by(2);
    let files: Vec<&str> = quoted.filter(|text| text.contains('/')).collect();
    assert!(files.len() > 40, "the page names {} files", files.len());
    for file in files {
        assert!(top.join(file).exists(), "docs/papers.md names {file}");
    }
}

/// A process that a test starts has default signals and a limit of time: only `children` gives it both.
#[test]
fn tests_start_processes_by_their_helper() {
    let mut tests = BTreeMap::new();
    sources(&crates(), &mut tests);
    let is_of_tests =
        |path: &Path| path.ends_with("tests.rs") || path.iter().any(|part| part == "tests");
    tests.retain(|path, _| is_of_tests(path) && !path.ends_with("suite/house.rs"));
    assert!(tests.len() > 100, "the tests are read");
    for (path, text) in tests {
        let imports = text.split(';').filter(|it| it.contains("std::process::"));
        let mut words = imports.flat_map(|it| it.split(|c: char| !c.is_alphanumeric()));
        let path = path.display();
        assert!(
            !words.any(|word| word == "Command"),
            "{path} names std::process::Command: children::Command is for tests"
        );
    }
}
