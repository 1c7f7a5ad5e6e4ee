//! Each number of a checkpoint at its bounds and beyond them.

use super::*;
use serde_json::{Value, json};

const BLOCK: usize = BLOCK_BYTES as usize;

/// Range 1 of 2, of 1,500 records of 100 bytes: 7 partitions, and chunks of 655 records.
fn begun() -> Value {
    let statement = json!({ "version": "1", "record_bytes": 100, "keys": [], "stable": false,
        "exchange": "Streams", "shared": false, "together": false, "resume": true,
        "records": 0, "ends": 0 });
    json!({ "name": "out", "statement": statement, "division": 1, "range": 1, "rank": 0,
        "sources": [], "memory_bytes": 1, "epochs": 2, "expected": 700, "copy": 1, "draft": 1,
        "parts": [{ "records": 1000, "ends": 0 }, { "records": 500, "ends": 0 }],
        "ranges": vec![0; 108], "partitions": vec![0; 6 * 108], "chunk_bytes": 16 * BLOCK,
        "kinds": [[1, true], [1, true]], "directories": ["/a", "/b"], "target": "/out" })
}

fn epochs() -> Value {
    let run = |file: u64, block: u64| (file << 40 | block) << 12 | 1;
    json!([
        { "read": { "records": 900, "crc": 0 }, "came": { "records": 500, "crc": 0 },
          "partitions": [[[run(0, 0)], 300], [[run(1, 0)], 200]] },
        { "read": { "records": 600, "crc": 0 }, "came": { "records": 200, "crc": 0 },
          "partitions": [[[], 0], [[], 0], [[run(0, 16)], 200], [[], 0], [[], 0], [[], 0],
                         [[], 0]] },
    ])
}

/// The parts end in the middle of disk blocks 7 and 17.
fn written() -> Value {
    let span = |begin: u64, records: u64| {
        json!({ "begin": begin, "records": records, "file": 0, "sum": 0,
                "first": vec![0; 100], "last": vec![0; 100] })
    };
    let left = |block: usize, begin: usize, end: usize| {
        json!([{ "block": block, "begin": begin,
                 "bytes": vec![0; end - block * BLOCK - begin] }])
    };
    json!([
        { "partitions": 1, "span": span(0, 300), "left": left(7, 100, 30_000) },
        { "partitions": 3, "span": span(300, 400), "left": left(17, 0, 70_000) },
        { "partitions": 7, "span": null, "left": [] },
    ])
}

/// The entries with other values at these places, as far as each is one.
fn check(changes: &[(&str, Value)]) -> Result<(), String> {
    let mut all = json!({ "begun": begun(), "epochs": epochs(), "written": written() });
    for (place, value) in changes {
        *all.pointer_mut(place).expect(place) = value.clone();
    }
    let mut take = |name: &str| all[name].take();
    let begun: Begun = serde_json::from_value(take("begun")).unwrap();
    check_begun(&begun)?;
    let site = crate::epochs::paths::Site {
        stem: String::new(),
        directories: Vec::new(),
        target: "/out".into(),
    };
    check_all(&Checkpoint {
        site,
        begun,
        epochs: serde_json::from_value(take("epochs")).unwrap(),
        written: serde_json::from_value(take("written")).unwrap(),
        lock: None,
    })
}

#[track_caller]
fn refuses(cases: Vec<(&str, Value, &str)>) {
    for (place, value, expected) in cases {
        let told = check(&[(place, value.clone())]).expect_err(place);
        assert!(told.contains(expected), "{place}: {told}");
    }
}

#[track_caller]
fn accepts(cases: Vec<Vec<(&str, Value)>>) {
    for changes in cases {
        assert_eq!(check(&changes), Ok(()), "{changes:?}");
    }
}

#[test]
fn numbers_at_their_bounds_are_believed() {
    let (none, early) = ("/epochs", "/written");
    accepts(vec![
        vec![],
        vec![("/begun/expected", json!(1500))],
        vec![("/begun/ranges", json!([]))],
        vec![("/begun/epochs", json!(16)), (early, json!([]))],
        vec![
            ("/begun/epochs", json!(1)),
            (none, json!([])),
            (early, json!([])),
        ],
        vec![(early, json!([]))],
    ]);
    let short = json!({ "records": 1, "ends": 0 });
    accepts(vec![vec![
        ("/begun/parts", json!([short, short])),
        ("/begun/expected", json!(2)),
        ("/begun/chunk_bytes", json!(BLOCK)),
        (none, json!([])),
        (early, json!([])),
    ]]);
}

#[test]
fn the_first_entry_is_checked() {
    let parts =
        |records: u64| json!([{ "records": records, "ends": 0 }, { "records": 1, "ends": 0 }]);
    let kinds = "kinds are not one of each";
    refuses(vec![
        ("/begun/epochs", json!(0), "epochs is 0, not 1 to 16"),
        ("/begun/epochs", json!(17), "epochs is 17"),
        ("/begun/parts", json!([]), "parts is 0, not 1 to 1048576"),
        ("/begun/range", json!(2), "range is 2, not 0 to 1"),
        (
            "/begun/statement/record_bytes",
            json!(0),
            "record_bytes is 0, not 1 to 1099511627776",
        ),
        (
            "/begun/chunk_bytes",
            json!(BLOCK / 2),
            "chunk_bytes is 2048, not 4096",
        ),
        ("/begun/chunk_bytes", json!(BLOCK + 1), "not whole blocks"),
        ("/begun/parts", parts(u64::MAX), "than a disk can hold"),
        (
            "/begun/parts",
            parts(u64::MAX / 100),
            "than a disk can hold",
        ),
        (
            "/begun/expected",
            json!(1501),
            "expected is 1501, not 0 to 1500",
        ),
        (
            "/begun/ranges",
            json!(vec![0; 107]),
            "ranges are 107 bytes, not at most 108",
        ),
        (
            "/begun/ranges",
            json!(vec![0; 216]),
            "ranges are 216 bytes, not at most 108",
        ),
        (
            "/begun/partitions",
            json!(vec![0; 107]),
            "partitions are 107 bytes",
        ),
        ("/begun/kinds", json!([[1, true]]), kinds),
        ("/begun/kinds", json!([[1, true], [2, true]]), kinds),
    ]);
}

#[test]
fn epochs_are_checked() {
    let run = |file: u64, chunks: u64| json!([file << 52 | chunks]);
    let eight = json!(vec![json!([[], 0]); 8]);
    refuses(vec![
        (
            "/epochs/0/read/records",
            json!(1501),
            "epoch 0: read is 1501, not 0 to 1500",
        ),
        (
            "/epochs/0/read/records",
            json!(901),
            "more than the 1500 records",
        ),
        (
            "/epochs/1/came/records",
            json!(601),
            "epoch 1: came is 601, not 0 to 600",
        ),
        ("/epochs/1/partitions", eight, "partitions is 8, not 0 to 7"),
        (
            "/epochs/0/partitions/0/0",
            run(0, 0),
            "chunks of a run is 0",
        ),
        (
            "/epochs/0/partitions/0/0",
            run(2, 1),
            "file of a run is 2, not 0 to 1",
        ),
        (
            "/epochs/0/partitions/0/1",
            json!(656),
            "records of a partition is 656, not 0 to 655",
        ),
        (
            "/epochs/0/partitions/0/1",
            json!(301),
            "501 records lie in partitions, not 500",
        ),
        ("/begun/epochs", json!(3), "not all records have come"),
    ]);
}

#[test]
fn the_parts_of_the_output_are_checked() {
    let behind = "the span is not of 300 records behind 0";
    let short = "records of the span are not of 100 bytes";
    let left = written()[0]["left"][0].clone();
    let two = json!([left, left]);
    refuses(vec![
        (
            "/written/1/partitions",
            json!(1),
            "part 1: partitions is 1, not 2 to 7",
        ),
        (
            "/written/2/partitions",
            json!(8),
            "part 2: partitions is 8, not 4 to 7",
        ),
        ("/written/0/span", Value::Null, "300 records have no span"),
        ("/written/0/span/begin", json!(1), behind),
        ("/written/0/span/records", json!(301), behind),
        ("/written/0/span/file", json!(1), behind),
        ("/written/0/span/first", json!(vec![0; 99]), short),
        ("/written/0/span/last", json!(vec![0; 101]), short),
        ("/written/0/left", two, "left is 2, not 0 to 1"),
        (
            "/written/0/left/0/begin",
            json!(4097),
            "left begin is 4097, not 0 to 4096",
        ),
        (
            "/written/0/left/0/begin",
            json!(101),
            "of disk block 7, not at byte 30000",
        ),
        (
            "/written/0/left/0/block",
            json!(8),
            "of disk block 8, not at byte 30000",
        ),
    ]);
    // The right end, but of a block before.
    let before = json!({ "block": 6, "begin": BLOCK, "bytes": vec![0; 30_000 - 7 * BLOCK] });
    refuses(vec![("/written/0/left/0", before, "of disk block 6")]);
}
