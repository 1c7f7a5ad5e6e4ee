//! gensort and valsort as the reference tools 1.5: their lines, exit codes and checksums.

use crate::common::{Place, RECORD_BYTES, Ran, sorted};

/// Checksums that the reference gensort prints with `-c`: records, then binary, ASCII, skewed,
/// and skewed ASCII.
const GOLDEN: [(u64, [&str; 4]); 3] = [
    (1, ["9ea593a0", "3fcaea0a", "9ea593a0", "3fcaea0a"]),
    (10, ["55fea8a1a", "469302dca", "5d95519b3", "46073c01c"]),
    (
        1000,
        ["1ea6370b955", "1f5dfb3631a", "1e96301166b", "1eef17d1cac"],
    ),
];

const STYLES: [&str; 4] = ["", "-a", "-s", "-a -s"];

/// The output of valsort for 1,000 records in order.
const IN_ORDER: &str = "Records: 1000
Checksum: 1ea6370b955
Duplicate keys: 0
SUCCESS - all records are in order
";

/// The output of valsort for the same records unsorted.
const UNORDERED: &str = "First unordered record is record 2
Records: 1000
Checksum: 1ea6370b955
ERROR - there are 483 unordered records
";

#[track_caller]
fn says(ran: &Ran, code: i32, lines: &str) {
    assert_eq!((ran.code, ran.err.as_str()), (code, lines));
    assert!(
        ran.out.is_empty(),
        "everything goes to standard error: {ran:?}"
    );
}

/// A place with 1,000 records as they are made, `made`, and in order, `sorted`.
fn thousand() -> Place {
    let place = Place::new();
    place.run("gensort 1000 made").succeeded();
    place.write("sorted", sorted(&place.read("made"), RECORD_BYTES));
    place
}

#[test]
fn checksums_are_the_reference_tools() {
    let place = Place::new();
    for (records, checksums) in GOLDEN {
        for (style, checksum) in STYLES.iter().zip(checksums) {
            for file in ["made", "/dev/null", "made,buf", "made,dir,trans=1m,count=2"] {
                let ran = place.run(&format!("gensort {style} -c {records} {file}"));
                says(&ran, 0, &format!("{checksum}\n"));
            }
            assert_eq!(
                place.read("made").len() as u64,
                records * RECORD_BYTES as u64
            );
        }
    }
    assert_eq!(place.names(), ["made"]);
}

#[test]
fn gensort_is_silent_without_a_checksum() {
    let place = Place::new();
    says(&place.run("gensort 1000 made"), 0, "");
    says(&place.run("gensort 0 nothing"), 0, "");
    assert!(place.read("nothing").is_empty());
}

#[test]
fn first_records_are_known() {
    let place = Place::new();
    place.run("gensort 2 made").succeeded();
    let made = place.read("made");
    assert_eq!(made[..10], *b"JimGrayRIP");
    assert_eq!(
        made[100..110],
        [0x95, 0xe0, 0xe4, 0x82, 0x62, 0xb3, 0xed, 0xfe, 0x04, 0x47]
    );
    place.run("gensort -a 2 made").succeeded();
    let made = place.read("made");
    assert_eq!(
        (&made[..10], &made[100..110]),
        (&b"AsfAGHM5om"[..], &b"~sHd0jDv6X"[..])
    );
}

#[test]
fn parts_join_to_the_whole() {
    let place = Place::new();
    for style in STYLES {
        place
            .run(&format!("gensort {style} 1000 whole"))
            .succeeded();
        let mut joined = Vec::new();
        for (first, records) in [(0, 1), (1, 333), (334, 666)] {
            place
                .run(&format!("gensort {style} -b{first} -t2 {records} part"))
                .succeeded();
            joined.extend(place.read("part"));
        }
        assert!(joined == place.read("whole"), "{style:?}");
    }
}

#[test]
fn record_numbers_go_beyond_64_bits() {
    let place = Place::new();
    place
        .run(&format!("gensort -a -b{} 2 made", u64::MAX))
        .succeeded();
    let made = place.read("made");
    let number = |record: usize| String::from_utf8_lossy(&made[record * 100 + 12..][..32]);
    assert_eq!(number(0), format!("{:032X}", u64::MAX));
    assert_eq!(number(1), format!("{:032X}", u128::from(u64::MAX) + 1));
}

#[test]
fn valsort_judges_order() {
    let place = thousand();
    says(&place.run("valsort sorted"), 0, IN_ORDER);
    says(&place.run("valsort -t1 sorted,buf"), 0, IN_ORDER);
    says(&place.run("valsort made"), 1, UNORDERED);
}

#[test]
fn valsort_counts_duplicate_keys() {
    let place = thousand();
    let record = &place.read("made")[..RECORD_BYTES];
    place.write("twins", [record, record, record].concat());
    let ran = place.run("valsort twins");
    assert_eq!(ran.code, 0);
    assert!(
        ran.err.contains("\nDuplicate keys: 2\nSUCCESS"),
        "{}",
        ran.err
    );
}

#[test]
fn valsort_may_ignore_case() {
    let place = Place::new();
    let record = |letter: u8| [letter; RECORD_BYTES];
    place.write(
        "letters",
        [record(b'a'), record(b'B'), record(b'c')].concat(),
    );
    assert_eq!(place.run("valsort letters").code, 1);
    assert_eq!(place.run("valsort -i letters").code, 0);
}

#[test]
fn valsort_refuses_what_is_no_data_set() {
    let place = thousand();
    place.write("empty", "");
    place.write("cut", &place.read("sorted")[..150]);
    says(
        &place.run("valsort empty"),
        1,
        "there must be at least one record to be validated\n",
    );
    let cut = place.run("valsort cut");
    assert_eq!(cut.code, 1, "{cut:?}");
    let lines: Vec<&str> = cut.err.lines().collect();
    assert!(
        matches!(lines[..], ["partial record found at end", advice] if advice.contains("gristmill check --format")),
        "{cut:?}"
    );
    for quiet in ["empty", "cut", "made"] {
        says(&place.run(&format!("valsort -q {quiet}")), 1, "");
    }
    says(&place.run("valsort -q sorted"), 0, "");
}

#[test]
fn valsort_tells_io_errors_apart() {
    let ran = Place::new().run("valsort missing");
    assert_eq!(ran.code, 2);
    assert!(ran.complaint().contains("missing"), "{ran:?}");
    assert_eq!(Place::new().run("valsort -s missing").code, 2);
}

/// A place with the summaries of three parts of the sorted records: `0.sum`, `1.sum`, `2.sum`.
fn summaries() -> Place {
    let place = thousand();
    let all = place.read("sorted");
    for (number, part) in [&all[..300], &all[300..90_000], &all[90_000..]]
        .iter()
        .enumerate()
    {
        place.write("part", part);
        place
            .run(&format!("valsort -q -o {number}.sum part"))
            .succeeded();
        assert_eq!(place.read(&format!("{number}.sum")).len(), 280);
    }
    place
}

fn joined(place: &Place, numbers: [u8; 3]) -> Ran {
    let parts = numbers.map(|number| place.read(&format!("{number}.sum")));
    place.write("all.sum", parts.concat());
    place.run("valsort -s all.sum")
}

#[test]
fn summaries_join_in_the_order_of_the_parts() {
    let place = summaries();
    says(&joined(&place, [0, 1, 2]), 0, IN_ORDER);
    let swapped = joined(&place, [1, 0, 2]);
    assert_eq!(swapped.code, 1);
    assert!(
        swapped
            .err
            .ends_with("ERROR - there are 1 unordered records\n"),
        "{}",
        swapped.err
    );
}

#[test]
fn a_partial_summary_is_refused() {
    let place = summaries();
    place.write("cut.sum", &place.read("0.sum")[..279]);
    says(
        &place.run("valsort -s cut.sum"),
        1,
        "partial partition summary found at end\n",
    );
    says(&place.run("valsort -q -s cut.sum"), 1, "");
}

#[test]
fn bad_command_lines_exit_as_the_reference_does() {
    let place = thousand();
    for line in [
        "gensort",
        "gensort -z 1 x",
        "gensort x y",
        "gensort 1",
        "valsort",
        "valsort -z x",
    ] {
        let ran = place.run(line);
        assert_eq!(ran.code, 1, "{line}");
        assert!(
            ran.err.contains("Usage") || ran.err.contains("--help"),
            "{line}: {}",
            ran.err
        );
    }
    assert_eq!(place.names(), ["made", "sorted"]);
}
