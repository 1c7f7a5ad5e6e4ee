//! The validator, compared with valsort and with a naive count of neighbours.

use proptest::prelude::*;
use record::{
    Checksum, Comparison, Generator, Order, RECORD_BYTES, SUMMARY_BYTES, Summary, SummaryError,
    Ties, Validator,
};

const PARTS: [&[u8; SUMMARY_BYTES]; 3] = [
    include_bytes!("../fixtures/sorted-1000-part0.sum"),
    include_bytes!("../fixtures/sorted-1000-part1.sum"),
    include_bytes!("../fixtures/sorted-1000-part2.sum"),
];

fn thousand() -> Vec<u8> {
    let mut records = vec![0; 1000 * RECORD_BYTES];
    Generator::default().fill(0, &mut records);
    records
}

fn sorted(records: &[u8]) -> Vec<u8> {
    let mut rows: Vec<&[u8]> = records.chunks(RECORD_BYTES).collect();
    rows.sort();
    rows.concat()
}

fn validate(records: &[u8], comparison: &Comparison) -> Summary {
    let mut validator = Validator::new(comparison.clone());
    validator.push(records);
    validator.finish()
}

fn valsort(records: &[u8]) -> Summary {
    validate(records, &Comparison::valsort(false))
}

fn merged(parts: impl IntoIterator<Item = Summary>) -> Summary {
    let comparison = Comparison::valsort(false);
    parts.into_iter().fold(Summary::default(), |whole, part| {
        whole.merge(part, &comparison)
    })
}

// ---- the reference ---------------------------------------------------------------------------

#[test]
fn reports_equal_the_references() {
    let records = thousand();
    assert_eq!(
        valsort(&records).report_lines(),
        [
            "First unordered record is record 2",
            "Records: 1000",
            "Checksum: 1ea6370b955",
            "ERROR - there are 483 unordered records",
        ]
    );
    assert_eq!(
        valsort(&sorted(&records)).to_string(),
        "Records: 1000\nChecksum: 1ea6370b955\nDuplicate keys: 0\n\
         SUCCESS - all records are in order\n"
    );
}

#[test]
fn summaries_equal_the_references_byte_for_byte() {
    let records = sorted(&thousand());
    for (range, file) in [0..300, 300..650, 650..1000].into_iter().zip(PARTS) {
        let part = valsort(&records[range.start * RECORD_BYTES..range.end * RECORD_BYTES]);
        assert!(part.to_bytes().unwrap() == *file, "{range:?} written");
        assert_eq!(Summary::from_bytes(file).unwrap(), part, "{range:?} read");
    }
}

#[test]
fn merged_summaries_equal_that_of_the_whole() {
    let [a, b, c] = PARTS.map(|part| Summary::from_bytes(part).unwrap());
    let whole = merged([a.clone(), b.clone(), c.clone()]);
    assert_eq!(whole, valsort(&sorted(&thousand())));
    let swapped = merged([b, a, c]);
    assert_eq!((swapped.unordered, swapped.records), (1, 1000));
    assert_eq!(
        swapped.first_unordered,
        Some(350),
        "the first record after the boundary"
    );
    assert_eq!(swapped.checksum, whole.checksum);
}

#[test]
fn record_numbers_count_from_the_beginning_of_the_whole() {
    let records = thousand();
    let ordered = sorted(&records[..5 * RECORD_BYTES]);
    // Record 2 of the second part is out of order; the boundary between the parts is in order.
    let mut second = sorted(&records[5 * RECORD_BYTES..])[990 * RECORD_BYTES..].to_vec();
    second.drain(..2 * RECORD_BYTES);
    second[2 * RECORD_BYTES] = 0;
    let whole = merged([valsort(&ordered), valsort(&second)]);
    assert_eq!((whole.first_unordered, whole.unordered), (Some(7), 1));
}

#[test]
fn summaries_of_disorder_survive_their_file() {
    let summary = valsort(&thousand());
    assert_eq!(
        Summary::from_bytes(&summary.to_bytes().unwrap()),
        Ok(summary)
    );
}

#[test]
fn ignoring_case_folds_letters_only() {
    let record = |key: &[u8; 10]| [&key[..], &[0; 90]].concat();
    let pair = [record(b"aAaAaAaAaA"), record(b"AaAaAaAaAa")].concat();
    let folded = validate(&pair, &Comparison::valsort(true));
    assert_eq!((folded.unordered, folded.duplicates), (0, 1));
    assert_eq!(
        (valsort(&pair).unordered, valsort(&pair).duplicates),
        (1, 0)
    );
    let bracket = [record(b"[........."), record(b"A.........")].concat();
    assert!(validate(&bracket, &Comparison::valsort(true)).is_ordered());
    assert!(!valsort(&bracket).is_ordered());
    let high = [record(b"\xC0........."), record(b"\xE0.........")].concat();
    assert_eq!(validate(&high, &Comparison::valsort(true)).duplicates, 0);
}

// ---- wrong summaries -------------------------------------------------------------------------

#[test]
fn a_run_without_records_has_a_summary_but_no_file() {
    let empty = valsort(&[]);
    assert_eq!(empty, Summary::default());
    assert_eq!(empty.to_bytes(), Err(SummaryError::Empty));
    let eight_bytes = Order::new(8, &[], Ties::Record).unwrap();
    let eight = validate(b"12345678", &Comparison::Order(eight_bytes));
    assert_eq!(eight.to_bytes(), Err(SummaryError::RecordLength(8)));
}

#[test]
fn damaged_summaries_are_refused() {
    assert_eq!(
        Summary::from_bytes(&[0; SUMMARY_BYTES]),
        Err(SummaryError::Empty)
    );
    let with = |places: &[(usize, u8)]| {
        let mut bytes = *PARTS[0];
        places
            .iter()
            .for_each(|&(place, value)| bytes[place] = value);
        Summary::from_bytes(&bytes)
    };
    // The lowest bytes: first unordered 8, unordered 24, records 40 (300 of them), duplicates 56.
    for places in [
        &[(24, 1)][..],     // one unordered record, which is record 0
        &[(24, 1), (9, 2)], // one unordered record, which is record 512
        &[(8, 9), (25, 2)], // 512 unordered records
        &[(57, 2)],         // 512 duplicates
        &[(32, 1)],         // 2^64 more records
        &[(16, 1), (8, 1)], // 2^64 unordered records
    ] {
        assert!(
            matches!(with(places), Err(SummaryError::Damaged(_))),
            "{places:?}"
        );
    }
    let sound = with(&[(24, 3), (8, 9), (56, 7)]).unwrap();
    assert_eq!(
        (sound.first_unordered, sound.unordered, sound.duplicates),
        (Some(9), 3, 7)
    );
}

#[test]
#[should_panic(expected = "whole records")]
fn half_a_record_is_refused() {
    Validator::new(Comparison::valsort(false)).push(&[0; 150]);
}

// ---- against a naive oracle ------------------------------------------------------------------

/// Records of two bytes, compared by the first; few values make every case common.
fn by_first_byte(ties: Ties) -> Comparison {
    Comparison::Order(Order::parse("fixed:2", &["0+1"], ties).unwrap())
}

fn naive(records: &[[u8; 2]], ties: Ties) -> Summary {
    let greater = |pair: &[[u8; 2]]| match ties {
        Ties::Record => pair[0] > pair[1],
        Ties::Position | Ties::LastPosition => pair[0][0] > pair[1][0],
    };
    let mut checksum = Checksum::default();
    checksum.add_records(records.as_flattened(), 2);
    Summary {
        first_unordered: records
            .windows(2)
            .position(greater)
            .map(|place| place as u128 + 1),
        unordered: records.windows(2).filter(|pair| greater(pair)).count() as u128,
        records: records.len() as u128,
        duplicates: records
            .windows(2)
            .filter(|pair| pair[0][0] == pair[1][0])
            .count() as u128,
        checksum,
        first: records.first().map_or(vec![], |record| record.to_vec()),
        last: records.last().map_or(vec![], |record| record.to_vec()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_cut_and_any_grouping_gives_the_naive_count(
        records in prop::collection::vec([0_u8..4, 0_u8..4], 0..30),
        presorted in any::<bool>(),
        ties in prop::sample::select(vec![Ties::Record, Ties::Position]),
        cuts in any::<[prop::sample::Index; 2]>(),
    ) {
        let mut records = records;
        if presorted {
            records.sort_unstable();
        }
        let expected = naive(&records, ties);
        let comparison = by_first_byte(ties);
        let mut cuts = cuts.map(|cut| cut.index(records.len() + 1));
        cuts.sort_unstable();
        let parts = [&records[..cuts[0]], &records[cuts[0]..cuts[1]], &records[cuts[1]..]];

        let mut validator = Validator::new(comparison.clone());
        parts.iter().for_each(|part| validator.push(part.as_flattened()));
        prop_assert_eq!(&validator.finish(), &expected, "pushed");

        let [a, b, c] = parts.map(|part| validate(part.as_flattened(), &comparison));
        let left = a.clone().merge(b.clone(), &comparison).merge(c.clone(), &comparison);
        let right = a.merge(b.merge(c, &comparison), &comparison);
        prop_assert_eq!(&left, &expected, "merged from the left");
        prop_assert_eq!(&right, &expected, "merged from the right");
    }
}
