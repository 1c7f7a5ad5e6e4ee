//! Keys and orders, against a naive sort: types, bytes order, descending, several keys, ties by the
//! whole record or, with `--stable`, by position.

use std::cmp::Ordering;

use crate::common::Place;

const RECORD_BYTES: usize = 24;
const RECORDS: usize = 20_000;

/// Few distinct bytes: many ties, signs of all kinds, infinities, and floats that are no numbers.
const BYTES: [u8; 8] = [0x00, 0x01, 0x7f, 0x80, 0xff, 0xc0, 0xf0, 0x7f];

/// Compares two records by their keys.
type Compare = fn(&[u8], &[u8]) -> Ordering;

/// Compares the numbers of a type at a place of both records.
macro_rules! numbers {
    ($number:ty, $from:ident, $place:expr) => {
        |left: &[u8], right: &[u8]| {
            let number = |record: &[u8]| <$number>::$from(record[$place].try_into().unwrap());
            number(left).cmp(&number(right))
        }
    };
}

macro_rules! floats {
    ($number:ty, $from:ident, $place:expr) => {
        |left: &[u8], right: &[u8]| {
            let number = |record: &[u8]| <$number>::$from(record[$place].try_into().unwrap());
            number(left).total_cmp(&number(right))
        }
    };
}

/// Options, and the order that they ask for.
const ORDERS: [(&str, Compare); 23] = [
    ("", |left, right| left.cmp(right)),
    ("--key 3+9", |left, right| left[3..12].cmp(&right[3..12])),
    ("--key 3+9:bytes:desc", |left, right| {
        right[3..12].cmp(&left[3..12])
    }),
    ("--key 23+1:u8", |left, right| left[23].cmp(&right[23])),
    ("--key 5+1:i8:desc", |left, right| {
        (right[5] as i8).cmp(&(left[5] as i8))
    }),
    ("--key 1+2:u16le", numbers!(u16, from_le_bytes, 1..3)),
    ("--key 1+2:i16be", numbers!(i16, from_be_bytes, 1..3)),
    ("--key 4+4:u32be", numbers!(u32, from_be_bytes, 4..8)),
    ("--key 4+4:i32le", numbers!(i32, from_le_bytes, 4..8)),
    ("--key 7+8:u64le", numbers!(u64, from_le_bytes, 7..15)),
    ("--key 7+8:i64be", numbers!(i64, from_be_bytes, 7..15)),
    ("--key 8+16:u128le", numbers!(u128, from_le_bytes, 8..24)),
    ("--key 8+16:i128be", numbers!(i128, from_be_bytes, 8..24)),
    ("--key 0+4:f32le", floats!(f32, from_le_bytes, 0..4)),
    ("--key 0+4:f32be", floats!(f32, from_be_bytes, 0..4)),
    ("--key 9+8:f64le", floats!(f64, from_le_bytes, 9..17)),
    ("--key 9+8:f64be:desc", |left, right| {
        floats!(f64, from_be_bytes, 9..17)(right, left)
    }),
    ("--key 20+1 --key 0+1:i8:desc", |left, right| {
        left[20]
            .cmp(&right[20])
            .then((right[0] as i8).cmp(&(left[0] as i8)))
    }),
    ("--key 6+4:i32be:desc --key 2+4:f32le", |left, right| {
        let first = numbers!(i32, from_be_bytes, 6..10)(right, left);
        first.then(floats!(f32, from_le_bytes, 2..6)(left, right))
    }),
    ("--key 3+2:packed", |left, right| {
        packed(&left[3..5]).cmp(&packed(&right[3..5]))
    }),
    ("--key 3+2:packed:desc --key 9+3:as-ascii", |left, right| {
        let first = packed(&right[3..5]).cmp(&packed(&left[3..5]));
        let text = |record: &[u8]| [record[9], record[10], record[11]].map(ascii);
        first.then(text(left).cmp(&text(right)))
    }),
    ("--key 7+1:zoned", |left, right| {
        zoned(left[7]).cmp(&zoned(right[7]))
    }),
    ("--key 2+2 --key 2+2:desc --key 1+1", |left, right| {
        left[2..4].cmp(&right[2..4]).then(left[1].cmp(&right[1]))
    }),
];

/// Whether a packed field has a number, that, and bytes that are none.
fn packed(field: &[u8]) -> (bool, i32, &[u8]) {
    let word = i32::from(field[0]) << 8 | i32::from(field[1]);
    let digits = [word >> 12, word >> 8 & 15, word >> 4 & 15];
    let number = digits.iter().fold(0, |number, digit| 10 * number + digit);
    match word & 15 {
        sign if sign < 10 || digits.iter().any(|&digit| digit > 9) => (false, 0, field),
        0xB | 0xD => (true, -number, &[]),
        _ => (true, number, &[]),
    }
}

/// Whether a byte is a zoned digit, its number, and the byte if it is none.
fn zoned(byte: u8) -> (bool, i32, u8) {
    match (byte >> 4, i32::from(byte & 15)) {
        (0xA | 0xC | 0xE | 0xF, digit @ 0..=9) => (true, digit, 0),
        (0xB | 0xD, digit @ 0..=9) => (true, -digit, 0),
        _ => (false, 0, byte),
    }
}

/// Letters of code page 037 in ISO 8859-1: those that are drawn.
fn ascii(byte: u8) -> u8 {
    match byte {
        0x7F => b'"',
        0x80 => 0xD8,
        0xFF => 0x9F,
        0xC0 => b'{',
        0xF0 => b'0',
        same => same,
    }
}

/// Drawn records; the last bytes of each are its own, so that the position of a tie shows.
fn drawn() -> Vec<u8> {
    let mut state = 1_u64;
    let mut draw = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        BYTES[(state >> 61) as usize]
    };
    (0..RECORDS * RECORD_BYTES).map(|_| draw()).collect()
}

fn naive(input: &[u8], compare: impl Fn(&[u8], &[u8]) -> Ordering) -> Vec<u8> {
    let mut records: Vec<&[u8]> = input.chunks(RECORD_BYTES).collect();
    records.sort_by(|left, right| compare(left, right));
    records.concat()
}

#[test]
fn every_type_and_direction() {
    let place = Place::new();
    let input = drawn();
    place.write("in", &input);
    for (keys, compare) in ORDERS {
        place
            .run(&format!(
                "sort --format fixed:{RECORD_BYTES} {keys} in -o out"
            ))
            .succeeded();
        let expected = naive(&input, |left, right| {
            compare(left, right).then(left.cmp(right))
        });
        assert!(place.read("out") == expected, "{keys}");
    }
}

#[test]
fn stable_keeps_the_order_of_equal_keys() {
    let place = Place::new();
    let input = drawn();
    place.write("a", &input[..RECORD_BYTES * 777]);
    place.write("b", &input[RECORD_BYTES * 777..]);
    for (keys, compare) in ORDERS {
        let line = format!("sort --format fixed:{RECORD_BYTES} {keys} --stable a b -o out");
        place.run(&line).succeeded();
        assert!(place.read("out") == naive(&input, compare), "{keys}");
    }
}

#[test]
fn records_of_any_length() {
    let place = Place::new();
    let input = drawn();
    for record_bytes in [1, 2, 7, 4095, 4096, 4097, 60_000] {
        let whole = input.len() / record_bytes * record_bytes;
        place.write("in", &input[..whole]);
        place
            .run(&format!(
                "sort --format fixed:{record_bytes} in -o out --verify"
            ))
            .succeeded();
        assert!(
            place.read("out") == crate::common::sorted(&input[..whole], record_bytes),
            "{record_bytes}"
        );
    }
}
