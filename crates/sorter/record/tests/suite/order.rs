//! Orders, compared with an oracle that reads the numbers as Rust does and knows no words.

use std::cmp::Ordering;

use proptest::prelude::*;
use record::{Endian, Key, Kind, Order, Ties};

use crate::mainframe::{COLLATIONS, DECIMALS, compare_collated, compare_decimals};

// ---- the oracle ------------------------------------------------------------------------------

fn oracle(keys: &[Key], ties: Ties, a: &[u8], b: &[u8]) -> Ordering {
    let by_keys = keys.iter().map(|key| {
        let place = key.offset..key.offset + key.bytes;
        let ascending = compare_values(key.kind, &a[place.clone()], &b[place]);
        if key.descending {
            ascending.reverse()
        } else {
            ascending
        }
    });
    let by_keys = by_keys.fold(Ordering::Equal, Ordering::then);
    let whole = a.cmp(b);
    match (keys, ties) {
        ([], _) => whole,
        (_, Ties::Record) => by_keys.then(whole),
        (_, Ties::Position | Ties::LastPosition) => by_keys,
    }
}

fn compare_values(kind: Kind, a: &[u8], b: &[u8]) -> Ordering {
    match kind {
        Kind::Bytes => a.cmp(b),
        Kind::Decimal(decimal) => compare_decimals(decimal, a, b),
        Kind::Collated(collation) => compare_collated(collation, a, b),
        Kind::Unsigned(endian) => unsigned(a, endian).cmp(&unsigned(b, endian)),
        Kind::Signed(endian) => signed(a, endian).cmp(&signed(b, endian)),
        Kind::Float(endian) if a.len() == 4 => {
            let read = |bytes| f32::from_bits(unsigned(bytes, endian) as u32);
            read(a).total_cmp(&read(b))
        }
        Kind::Float(endian) => {
            let read = |bytes| f64::from_bits(unsigned(bytes, endian) as u64);
            read(a).total_cmp(&read(b))
        }
    }
}

fn unsigned(bytes: &[u8], endian: Endian) -> u128 {
    let join = |number: u128, byte: &u8| number << 8 | u128::from(*byte);
    match endian {
        Endian::Big => bytes.iter().fold(0, join),
        Endian::Little => bytes.iter().rev().fold(0, join),
    }
}

fn signed(bytes: &[u8], endian: Endian) -> i128 {
    match (bytes.len(), unsigned(bytes, endian)) {
        (1, value) => i128::from(value as i8),
        (2, value) => i128::from(value as i16),
        (4, value) => i128::from(value as i32),
        (8, value) => i128::from(value as i64),
        (_, value) => value as i128,
    }
}

fn words(order: &Order, record: &[u8]) -> Vec<u64> {
    (0..order.words())
        .map(|depth| order.word(record, depth))
        .collect()
}

/// Compares all answers of an order about two records with the oracle.
pub fn assert_agrees(order: &Order, keys: &[Key], a: &[u8], b: &[u8]) {
    let expected = oracle(keys, order.ties(), a, b);
    let context = format!("{} {:?} {a:?} {b:?}", show(keys), order.ties());
    assert_eq!(order.compare(a, b), expected, "compare {context}");
    assert_eq!(
        words(order, a).cmp(&words(order, b)),
        expected,
        "words {context}"
    );
    let equal = oracle(keys, Ties::Position, a, b).is_eq();
    assert_eq!(order.keys_equal(a, b), equal, "keys_equal {context}");
    let mut prefixes = [0; 2];
    order.prefixes(&[a, b].concat(), &mut prefixes);
    assert_eq!(
        prefixes,
        [order.word(a, 0), order.word(b, 0)],
        "prefixes {context}"
    );
}

fn show(keys: &[Key]) -> String {
    keys.iter().map(|key| format!("--key {key} ")).collect()
}

// ---- drawn orders and records ----------------------------------------------------------------

const ALL_TIES: [Ties; 3] = [Ties::Record, Ties::Position, Ties::LastPosition];

fn typed_kinds() -> Vec<(usize, Kind)> {
    let both = [Endian::Little, Endian::Big].into_iter();
    both.flat_map(|endian| {
        let whole = [1, 2, 4, 8, 16].into_iter();
        let integers = whole.flat_map(move |bytes| {
            [
                (bytes, Kind::Unsigned(endian)),
                (bytes, Kind::Signed(endian)),
            ]
        });
        integers.chain([(4, Kind::Float(endian)), (8, Kind::Float(endian))])
    })
    .chain([1, 2, 5, 7, 8, 9].into_iter().flat_map(of_mainframes))
    .collect()
}

fn of_mainframes(bytes: usize) -> impl Iterator<Item = (usize, Kind)> {
    let decimals = DECIMALS.map(Kind::Decimal).into_iter();
    let kinds = decimals.chain(COLLATIONS.map(Kind::Collated));
    kinds.map(move |kind| (bytes, kind))
}

prop_compose! {
    /// A key anywhere in the record: as often bytes as another type, if one fits.
    fn a_key(record_bytes: usize)(
        offset in 0..record_bytes,
        bytes in any::<prop::sample::Index>(),
        kind in prop::option::of(prop::sample::select(typed_kinds())),
        descending in any::<bool>(),
    ) -> Key {
        let room = record_bytes - offset;
        let (bytes, kind) = match kind {
            Some((bytes, kind)) if bytes <= room => (bytes, kind),
            _ => (1 + bytes.index(room), Kind::Bytes),
        };
        Key { offset, bytes, kind, descending }
    }
}

/// Bytes around the edges of every type, so that equal keys and extreme numbers are common.
fn a_byte() -> impl Strategy<Value = u8> {
    prop_oneof![
        Just(0),
        Just(0xFF),
        Just(0x80),
        Just(0x7F),
        Just(1),
        // The last byte of a packed number, and of zoned ones.
        Just(0x1D),
        Just(0xF1),
        Just(b'1'),
        any::<u8>()
    ]
}

prop_compose! {
    /// Keys, and two records that differ in a few bytes.
    fn a_case()(record_bytes in 1_usize..=40)(
        keys in prop::collection::vec(a_key(record_bytes), 0..4),
        a in prop::collection::vec(a_byte(), record_bytes),
        changes in prop::collection::vec((0..record_bytes, a_byte()), 0..4),
    ) -> (Vec<Key>, Vec<u8>, Vec<u8>) {
        let mut b = a.clone();
        for (place, byte) in changes {
            b[place] = byte;
        }
        (keys, a, b)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8_000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn every_order_agrees_with_the_oracle((keys, a, b) in a_case()) {
        for ties in ALL_TIES {
            let order = Order::new(a.len(), &keys, ties).unwrap();
            assert_agrees(&order, &keys, &a, &b);
            assert_agrees(&order, &keys, &b, &a);
        }
    }

    #[test]
    fn prefixes_are_the_first_words(
        key in a_key(20),
        records in prop::collection::vec(a_byte(), 20 * 9),
    ) {
        for ties in ALL_TIES {
            let order = Order::new(20, &[key], ties).unwrap();
            let mut prefixes = [0; 9];
            order.prefixes(&records, &mut prefixes);
            let expected: Vec<u64> = records.chunks(20).map(|record| order.word(record, 0)).collect();
            prop_assert_eq!(&prefixes[..], &expected[..]);
        }
    }
}

// ---- chosen values ---------------------------------------------------------------------------

/// Checks every pair of `values` as keys of both byte orders and directions.
fn assert_all_pairs(kind: fn(Endian) -> Kind, values: &[Vec<u8>]) {
    for (endian, offset, descending) in [
        (Endian::Big, 0, false),
        (Endian::Little, 3, false),
        (Endian::Little, 1, true),
    ] {
        let key = Key {
            offset,
            bytes: values[0].len(),
            kind: kind(endian),
            descending,
        };
        let order = Order::new(24, &[key], Ties::Record).unwrap();
        let record = |value: &Vec<u8>| {
            let mut value = value.clone();
            if endian == Endian::Little {
                value.reverse();
            }
            let mut record = [7; 24];
            record[offset..offset + value.len()].copy_from_slice(&value);
            record
        };
        for (a, b) in values
            .iter()
            .flat_map(|a| values.iter().map(move |b| (a, b)))
        {
            assert_agrees(&order, &[key], &record(a), &record(b));
        }
    }
}

#[test]
fn floats_sort_by_total_order() {
    let nan = f64::from_bits(0x7FF8_0000_0000_0001);
    let tiny = f64::from_bits(1);
    let ascending = [
        -nan,
        f64::NEG_INFINITY,
        f64::MIN,
        -1.0,
        -tiny,
        -0.0,
        0.0,
        tiny,
        1.0,
        f64::MAX,
        f64::INFINITY,
        nan,
    ];
    let order = Order::new(8, &["0+8:f64be".parse().unwrap()], Ties::Position).unwrap();
    for pair in ascending.windows(2) {
        let (a, b) = (pair[0].to_be_bytes(), pair[1].to_be_bytes());
        assert_eq!(
            order.compare(&a, &b),
            Ordering::Less,
            "{} < {}",
            pair[0],
            pair[1]
        );
        assert!(
            order.word(&a, 0) < order.word(&b, 0),
            "{} < {}",
            pair[0],
            pair[1]
        );
    }
    assert_all_pairs(
        Kind::Float,
        &ascending.map(|value| value.to_be_bytes().to_vec()),
    );
    let single = ascending.map(|value| (value as f32).to_be_bytes().to_vec());
    assert_all_pairs(Kind::Float, &single);
}

#[test]
fn integers_sort_by_value_at_their_ends() {
    let signed = [
        i128::MIN,
        i128::MIN + 1,
        -256,
        -1,
        0,
        1,
        255,
        1 << 64,
        i128::MAX,
    ];
    let wide = signed.map(|value| value.to_be_bytes().to_vec());
    assert_all_pairs(Kind::Signed, &wide);
    assert_all_pairs(Kind::Unsigned, &wide);
    let bytes = [0_u8, 1, 127, 128, 255].map(|value| vec![value]);
    assert_all_pairs(Kind::Signed, &bytes);
    assert_all_pairs(Kind::Unsigned, &bytes);
}

#[test]
fn the_words_of_gensort_are_the_record() {
    let order = Order::gensort(Ties::Record);
    let record: Vec<u8> = (100..200).collect();
    assert_eq!(order.words(), 13);
    let words: Vec<u8> = words(&order, &record)
        .into_iter()
        .flat_map(u64::to_be_bytes)
        .collect();
    assert_eq!(words, [&record[..], &[0; 4]].concat());
}

#[test]
fn words_without_the_record_are_the_key() {
    let order = Order::gensort(Ties::Position);
    let record: Vec<u8> = (100..200).collect();
    assert_eq!(
        words(&order, &record),
        [0x6465_6667_6869_6A6B, 0x6C6D_0000_0000_0000]
    );
    assert_eq!(order.word(&record, 2), 0, "past the last");
}

#[test]
fn adjacent_bytes_are_joined_and_not_repeated() {
    let keys = ["0+4", "4+6"].map(|spec| spec.parse().unwrap());
    assert_eq!(Order::new(100, &keys, Ties::Record).unwrap().words(), 13);
    let apart = ["0+4", "5+6"].map(|spec| spec.parse().unwrap());
    assert_eq!(
        Order::new(100, &apart, Ties::Record).unwrap().words(),
        (4 + 6 + 96_u32).div_ceil(8)
    );
    let inverted = ["0+8:desc"].map(|spec| spec.parse().unwrap());
    assert_eq!(
        Order::new(100, &inverted, Ties::Record).unwrap().words(),
        14
    );
}

#[test]
fn ties_are_ascending_even_with_desc() {
    let order = Order::new(4, &["0+1:desc".parse().unwrap()], Ties::Record).unwrap();
    assert_eq!(order.compare(b"baaa", b"aaaa"), Ordering::Less);
    assert_eq!(order.compare(b"aaab", b"aaaa"), Ordering::Greater);
    assert!(order.keys_equal(b"aaab", b"aaaa"));
}

#[test]
#[should_panic(expected = "a place for each whole record")]
fn prefixes_need_whole_records() {
    Order::gensort(Ties::Record).prefixes(&[0; 199], &mut [0; 2]);
}

#[test]
fn an_order_gives_its_keys_back() {
    let specs = ["2+3:bytes:desc", "8+8:f64le", "0+1:u8"];
    let order = Order::parse("fixed:16", &specs, Ties::Position).unwrap();
    let words: Vec<String> = order.keys().iter().map(ToString::to_string).collect();
    assert_eq!(
        Order::parse("fixed:16", &words, Ties::Position).unwrap(),
        order
    );
    let record: Vec<u8> = (0..16).collect();
    let keys: Vec<u8> = order.key_bytes(&record).collect();
    assert_eq!(keys, [2, 3, 4, 8, 9, 10, 11, 12, 13, 14, 15, 0]);
    assert_eq!(
        Order::new(7, &[], Ties::Record).unwrap().keys(),
        [Key::plain(0, 7)]
    );
}
