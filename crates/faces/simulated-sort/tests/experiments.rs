//! The experiments on machines with disks: each file is built in, and runs at smoke size.

use std::path::Path;

use lab::Observer;
use lab::experiment::Experiment;
use plot::Size;
use simulated_sort::{EXPERIMENTS, programs};

/// A file that is not built in would never run.
#[test]
fn every_file_is_built_in_and_runs() {
    programs().into_iter().for_each(lab::add);
    lab::add_experiments(&EXPERIMENTS);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../experiments");
    let mut found = Vec::new();
    for paper in ["tritonsort", "now", "psort"] {
        for path in std::fs::read_dir(root.join(paper)).unwrap() {
            let path = path.unwrap().path();
            found.push(format!("{paper}/{}", path.file_stem().unwrap().display()));
        }
    }
    found.sort();
    let names = Experiment::names().filter(|name| !name.starts_with("nanosort/"));
    let mut known: Vec<String> = names.map(str::to_owned).collect();
    known.sort_unstable();
    assert_eq!(found, known);
    for (name, _) in EXPERIMENTS {
        let text = std::fs::read_to_string(root.join(format!("{name}.toml"))).unwrap();
        for line in text.split("[[line]]").skip(1) {
            let is_checked = ["\ntoday = ", "\nis = "]
                .iter()
                .any(|key| line.contains(key));
            assert!(is_checked, "{name}:{line} cannot fail");
        }
        let experiment = Experiment::load(name).unwrap_or_else(|error| panic!("{name}: {error}"));
        let figure = experiment.run(&Observer::default(), Size::Smoke, 2);
        let figure = figure.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(figure.faults, Vec::<String>::new(), "{name}");
        assert!(!figure.charts.is_empty(), "{name} draws nothing");
    }
}
