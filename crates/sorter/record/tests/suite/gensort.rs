//! The generator, compared with files and checksums of the reference.

use proptest::prelude::*;
use record::{Checksum, Generator, RECORD_BYTES, Style};

const STYLES: [Style; 2] = [Style::Binary, Style::Ascii];

fn generate(style: Style, skewed: bool, first: u128, records: usize) -> Vec<u8> {
    let mut out = vec![0; records * RECORD_BYTES];
    Generator { style, skewed }.fill(first, &mut out);
    out
}

/// The checksum of the first `records` records, made in blocks of `block` records.
fn checksum(style: Style, skewed: bool, records: usize, block: usize) -> String {
    let mut sum = Checksum::default();
    for first in (0..records).step_by(block) {
        let part = generate(style, skewed, first as u128, block.min(records - first));
        sum.add_records(&part, RECORD_BYTES);
    }
    sum.to_string()
}

#[test]
fn records_equal_the_references() {
    let file = |style, skewed| generate(style, skewed, 0, 100);
    assert!(file(Style::Binary, false) == include_bytes!("../fixtures/bin-100.dat"));
    assert!(file(Style::Ascii, false) == include_bytes!("../fixtures/ascii-100.dat"));
    assert!(file(Style::Binary, true) == include_bytes!("../fixtures/skew-100.dat"));
    assert!(file(Style::Ascii, true) == include_bytes!("../fixtures/ascii-skew-100.dat"));
}

#[test]
fn record_numbers_cross_two_to_the_64() {
    let made = generate(Style::Binary, false, 18_446_744_073_709_551_610, 12);
    assert!(made == include_bytes!("../fixtures/bin-b18446744073709551610-12.dat"));
}

#[test]
fn ascii_records_print_all_digits_of_their_number() {
    let made = generate(Style::Ascii, true, u128::MAX - 1, 3);
    let numbers: Vec<&[u8]> = made
        .chunks(RECORD_BYTES)
        .map(|record| &record[10..46])
        .collect();
    assert_eq!(numbers[1], b"  FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF  ");
    assert_eq!(
        numbers[2], b"  00000000000000000000000000000000  ",
        "numbers wrap"
    );
}

#[test]
fn golden_checksums() {
    let table = [
        (
            Style::Binary,
            false,
            ["9ea593a0", "55fea8a1a", "1ea6370b955"],
        ),
        (
            Style::Ascii,
            false,
            ["3fcaea0a", "469302dca", "1f5dfb3631a"],
        ),
        (
            Style::Binary,
            true,
            ["9ea593a0", "5d95519b3", "1e96301166b"],
        ),
        (Style::Ascii, true, ["3fcaea0a", "46073c01c", "1eef17d1cac"]),
    ];
    for (style, skewed, sums) in table {
        for (records, sum) in [1, 10, 1000].into_iter().zip(sums) {
            let context = format!("{style:?} skewed {skewed} {records}");
            assert_eq!(checksum(style, skewed, records, 1000), sum, "{context}");
            assert_eq!(
                checksum(style, skewed, records, 7),
                sum,
                "{context}, in blocks of 7"
            );
        }
    }
}

#[test]
fn golden_checksum_of_a_million() {
    assert_eq!(
        checksum(Style::Binary, false, 1_000_000, 4096),
        "7a0e0d4868cd4"
    );
}

#[test]
#[should_panic(expected = "whole records")]
fn half_a_record_is_refused() {
    Generator::default().fill(0, &mut [0; 150]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn parts_make_the_whole(
        high in prop::bits::u64::ANY, low in prop::bits::u64::ANY,
        style in prop::sample::select(&STYLES[..]), skewed in any::<bool>(),
        records in 0_usize..200, cut in any::<prop::sample::Index>(),
    ) {
        let first = u128::from(high) << 64 | u128::from(low);
        let whole = generate(style, skewed, first, records);
        let cut = cut.index(records + 1);
        let rest = first.wrapping_add(cut as u128);
        let parts = [
            generate(style, skewed, first, cut),
            generate(style, skewed, rest, records - cut),
        ];
        prop_assert!(whole == parts.concat());
    }

    #[test]
    fn the_checksum_ignores_order_and_notices_a_changed_bit(
        records in prop::collection::vec(any::<[u8; 9]>(), 1..20),
        bit in 0_u32..8, place in any::<prop::sample::Index>(),
    ) {
        let sum = |records: &[[u8; 9]]| {
            let mut sum = Checksum::default();
            sum.add_records(records.as_flattened(), 9);
            sum
        };
        let mut backwards = records.clone();
        backwards.reverse();
        prop_assert_eq!(sum(&records), sum(&backwards));
        let (front, back) = records.split_at(place.index(records.len()));
        prop_assert_eq!(sum(&records), sum(front).merge(sum(back)));
        backwards[place.index(records.len())][4] ^= 1 << bit;
        prop_assert_ne!(sum(&records), sum(&backwards));
    }
}
