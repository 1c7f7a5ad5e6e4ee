//! Every number of a checkpoint, at its bounds and beyond them.

use super::*;
use serde_json::{Value, json};

const BLOCK: usize = BLOCK_BYTES as usize;

/// Range 1 of 2, of 1,500 records of 100 bytes: 7 partitions, and chunks of 655 records.
pub(in crate::epochs) fn begun() -> Value {
    let fingerprint = json!({ "version": "1", "format": "fixed:100", "keys": [], "stable": false, "unique": false, "header": [0, 0],
        "exchange": "Streams", "shared": false, "together": false, "resume": true,
        "bytes": 0 });
    json!({ "name": "out", "fingerprint": fingerprint, "header": [], "division": 1, "range": 1, "rank": 0,
        "sources": [], "memory_bytes": 1, "epochs": 2, "expected": 70_000, "copy": 1, "draft": 1,
        "parts": [part(100_000), part(50_000)],
        "ranges": elements(1), "partitions": elements(6), "chunk_bytes": 16 * BLOCK,
        "kinds": [[1, true], [1, true]], "directories": ["/a", "/b"], "target": "/out" })
}

fn part(bytes: u64) -> Value {
    json!({ "bytes": bytes, "added": 0, "ends": 0, "stamp": { "content": 0, "files": 0 } })
}

/// Splitters of 100 bytes each.
fn elements(count: usize) -> Vec<u8> {
    let mut sample = Sample::default();
    (0..count).for_each(|_| sample.push(&[0; 100], 0));
    sample.to_bytes()
}

fn size(records: u64) -> Value {
    json!({ "records": records, "bytes": 100 * records })
}

fn sum(records: u64) -> Value {
    json!({ "size": size(records), "crc": 0 })
}

fn epochs() -> Value {
    let run = |file: u64, block: u64| (file << 34 | block) << 19 | 1;
    json!([
        { "read": sum(900), "skipped": size(0), "came": sum(500),
          "partitions": [[[run(0, 0)], size(300)], [[run(1, 0)], size(200)]] },
        { "read": sum(600), "skipped": size(0), "came": sum(200),
          "partitions": [[[], size(0)], [[], size(0)], [[run(0, 16)], size(200)], [[], size(0)],
                         [[], size(0)], [[], size(0)], [[], size(0)]] },
    ])
}

fn span(begin: u64, records: u64) -> Value {
    json!({ "begin": size(begin), "size": size(records), "file": 0, "sum": 0,
            "first": vec![0; 100], "last": vec![0; 100] })
}

fn left(block: usize, begin: usize, end: usize) -> Value {
    json!([{ "block": block, "begin": begin,
             "bytes": vec![0; end - block * BLOCK - begin] }])
}

/// The parts end in the middle of disk blocks 7 and 17.
fn written() -> Value {
    json!([
        { "partitions": 1, "span": span(0, 300), "dropped": sum(0), "left": left(7, 100, 30_000) },
        { "partitions": 3, "span": span(300, 400), "dropped": sum(0), "left": left(17, 0, 70_000) },
        { "partitions": 7, "span": null, "dropped": sum(0), "left": [] },
    ])
}

/// Checks the entries with other values at these places.
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
    check_entries(&Checkpoint {
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
fn numbers_at_their_bounds_are_accepted() {
    let (none, early) = ("/epochs", "/written");
    accepts(vec![
        vec![],
        vec![("/begun/expected", json!(150_000))],
        vec![("/begun/ranges", json!([]))],
        vec![("/begun/epochs", json!(16)), (early, json!([]))],
        vec![
            ("/begun/epochs", json!(1)),
            (none, json!([])),
            (early, json!([])),
        ],
        vec![(early, json!([]))],
    ]);
    let short = part(100);
    accepts(vec![vec![
        ("/begun/parts", json!([short, short])),
        ("/begun/expected", json!(200)),
        ("/begun/chunk_bytes", json!(BLOCK)),
        (none, json!([])),
        (early, json!([])),
    ]]);
}

#[test]
fn dropped_records_are_checked() {
    let dropped = |records: u64, span: Value, left: Value| {
        vec![
            ("/begun/fingerprint/unique", json!(true)),
            ("/written/1/dropped", sum(records)),
            ("/written/1/span", span),
            ("/written/1/left", left),
        ]
    };
    accepts(vec![
        dropped(0, span(300, 400), left(17, 0, 70_000)),
        dropped(100, span(300, 300), left(14, 0, 60_000)),
        dropped(400, Value::Null, left(7, 100, 30_000)),
    ]);
    let unique = ("/begun/fingerprint/unique", json!(true));
    for (place, count, unique, told) in [
        (
            "/written/0/dropped",
            1,
            None,
            "records dropped is 1, not 0 to 0",
        ),
        (
            "/written/0/dropped",
            300,
            Some(&unique),
            "records dropped is 300, not 0 to 299",
        ),
        (
            "/written/1/dropped",
            401,
            Some(&unique),
            "bytes of dropped is 40100, not 0 to 40000",
        ),
        (
            "/written/2/dropped",
            1,
            Some(&unique),
            "bytes of dropped is 100, not 0 to 0",
        ),
        (
            "/written/1/dropped",
            1,
            Some(&unique),
            "the span is not of 399 records behind 300",
        ),
    ] {
        let mut changes = vec![(place, sum(count))];
        changes.extend(unique.cloned());
        let found = check(&changes).expect_err(place);
        assert!(found.contains(told), "{place}: {found}");
    }
}

#[test]
fn the_first_entry_is_checked() {
    let parts = |bytes: u64| json!([part(bytes), part(100)]);
    let kinds = "kinds are not one per directory";
    refuses(vec![
        ("/begun/epochs", json!(0), "epochs is 0, not 1 to 16"),
        ("/begun/epochs", json!(17), "epochs is 17"),
        ("/begun/parts", json!([]), "parts is 0, not 1 to 1048576"),
        ("/begun/range", json!(2), "range is 2, not 0 to 1"),
        (
            "/begun/fingerprint/format",
            json!("fixed:0"),
            "the order is none",
        ),
        (
            "/begun/chunk_bytes",
            json!(BLOCK / 2),
            "chunk_bytes is 2048, not 4096",
        ),
        ("/begun/chunk_bytes", json!(BLOCK + 1), "not whole blocks"),
        ("/begun/parts", parts(u64::MAX), "than a disk can hold"),
        ("/begun/parts", parts(101), "not whole records"),
        (
            "/begun/expected",
            json!(150_001),
            "expected is 150001, not 0 to 150000",
        ),
        (
            "/begun/ranges",
            json!(vec![0; 111]),
            "ranges have 111 bytes, not whole elements",
        ),
        (
            "/begun/ranges",
            json!(elements(2)),
            "splitters of ranges is 2, not 0 to 1",
        ),
        (
            "/begun/partitions",
            json!(vec![0; 111]),
            "partitions have 111 bytes",
        ),
        ("/begun/kinds", json!([[1, true]]), kinds),
        ("/begun/kinds", json!([[1, true], [2, true]]), kinds),
    ]);
}

#[test]
fn epochs_are_checked() {
    let run = |file: u64, chunks: u64| json!([file << 53 | chunks]);
    let eight = json!(vec![json!([[], size(0)]); 8]);
    refuses(vec![
        (
            "/epochs/0/read/size",
            size(1501),
            "epoch 0: bytes of read is 150100, not 0 to 150000",
        ),
        (
            "/epochs/1/skipped",
            json!({ "records": 1, "bytes": 100 }),
            "more than the 150000 bytes",
        ),
        (
            "/epochs/0/read/size",
            size(901),
            "more than the 150000 bytes",
        ),
        (
            "/epochs/0/read/size/records",
            json!(901),
            "records of read is 901, not 900 to 900",
        ),
        (
            "/epochs/0/read/size/bytes",
            json!(90_001),
            "bytes of read are not whole records",
        ),
        (
            "/epochs/1/came/size",
            size(601),
            "epoch 1: bytes of came is 60100, not 0 to 60000",
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
            "/epochs/0/partitions/0/0",
            json!([16 << 11 | 1]),
            "length of a packed chunk is 16, not 0 to 15",
        ),
        (
            "/epochs/0/partitions/0/1",
            size(656),
            "bytes of a partition is 65600, not 0 to 65536",
        ),
        (
            "/epochs/0/partitions/0/1",
            size(301),
            "50100 bytes of records lie in partitions, not 50000",
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
        ("/written/0/span/begin", size(1), behind),
        ("/written/0/span/size", size(301), behind),
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
