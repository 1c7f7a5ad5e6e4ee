//! The table of all readings (docs/papers/nanosort-readings.csv), of which one column is run again: the time
//! on 256 cores, which the paper gives as 26 us.

use std::fs;
use std::path::Path;

use lab::Observer;
use lab::experiment::Experiment;
use plot::Size;

/// The dials of a reading. The last column of dials, the multicast run, does not turn this time.
const DIALS: [&str; 5] = ["burst", "exchange", "pivot-keys", "incast", "rows"];

/// The id of the claim whose figure is run again.
const COLUMN: &str = "26";

/// The runs of the column, by the dials of readings.toml.
fn experiment(exchanges: &str) -> String {
    let dials = [
        "[1, 16]",
        exchanges,
        "[\"default\", 32]",
        "[\"default\", 10]",
        "[\"default\", 10]",
    ];
    let grid = DIALS.iter().zip(dials);
    let grid = grid.map(|(dial, over)| format!("[[grid]]\ndial = \"{dial}\"\nover = {over}\n"));
    let runs = "[[series]]\nid = \"late\"\nprogram = \"nano-sort\"\nvary = \"distribution\"\n\
                over = [\"uniform\"]\nruns = 10\nchanges = { multicast = \"off\" }\n\
                with = { reading = \"lock-step\", cores = 256, buckets = 8, keys-per-core = 32 }\n\
                [[line]]\nid = \"26\"\nclaim = \"26 us\"\npaper = 26\nunit = \"us\"\n\
                tolerance = 0.15\nseries = \"late\"\nat = \"uniform\"\n";
    grid.collect::<String>() + runs
}

/// The rows of the table: the dials, and the figure of the column.
fn rows() -> Vec<(Vec<String>, f64)> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/papers/nanosort-readings.csv");
    let text = fs::read_to_string(path).unwrap();
    let mut rows = text.lines().map(|row| {
        // Commas in quotes are of the multicast run alone.
        let mut quoted = false;
        let is_end = move |letter: char| {
            quoted ^= letter == '"';
            letter == ',' && !quoted
        };
        row.split(is_end).map(str::to_owned).collect::<Vec<_>>()
    });
    let head = rows.next().unwrap();
    assert_eq!(head[..DIALS.len()], DIALS);
    let column = head.iter().position(|name| name == COLUMN).unwrap();
    rows.map(|row| (row[..DIALS.len()].to_vec(), row[column].parse().unwrap()))
        .collect()
}

#[test]
fn the_column_of_256_cores_is_as_in_the_table() {
    let is_long = std::env::var("GRISTMILL_LONG").is_ok_and(|value| value == "1");
    let exchanges = if is_long {
        "[\"buckets\", \"keys\"]"
    } else {
        "[\"buckets\"]"
    };
    let file = std::env::temp_dir().join(format!("readings-{}.toml", std::process::id()));
    fs::write(&file, experiment(exchanges)).unwrap();
    let loaded = Experiment::load(file.to_str().unwrap());
    fs::remove_file(&file).unwrap();
    let figure = loaded.unwrap().run(&Observer::default(), Size::Full, 2);
    let readings = figure.unwrap().grid.unwrap().readings;
    assert_eq!(readings.len(), if is_long { 32 } else { 16 });
    let rows = rows();
    assert_eq!(rows.len(), 192);
    for reading in readings {
        let of_reading = rows.iter().filter(|(dials, _)| *dials == reading.values);
        let known: Vec<f64> = of_reading.map(|(_, us)| *us).collect();
        assert_eq!(known, [reading.claims[0].ours; 6], "{:?}", reading.values);
    }
}
