//! Key types of mainframes, compared with an oracle that reads decimals as big integers, and text by
//! a table of the other direction.

use std::cmp::Ordering;
use std::ops::Range;

use num_bigint::BigInt;
use proptest::prelude::*;
use record::{Collation, Decimal, Key, Kind, Order, Ties, Year, YearForm};

use crate::order::assert_agrees;

// ---- the oracle ------------------------------------------------------------------------------

pub const DECIMALS: [Decimal; 3] = [Decimal::Packed, Decimal::Zoned, Decimal::ZonedAscii];

pub const COLLATIONS: [Collation; 4] = [
    Collation::Ebcdic037,
    Collation::Ebcdic1047,
    Collation::Ascii037,
    Collation::Ascii1047,
];

/// The order of two fields by their numbers; those without one come first, by their bytes.
pub fn compare_decimals(decimal: Decimal, a: &[u8], b: &[u8]) -> Ordering {
    match (read(decimal, a), read(decimal, b)) {
        (None, None) => a.cmp(b),
        (a, b) => a.cmp(&b),
    }
}

/// The number in a field, by way of its decimal digits.
fn read(decimal: Decimal, field: &[u8]) -> Option<BigInt> {
    let text = match decimal {
        Decimal::Packed => {
            let hex: String = field.iter().map(|byte| format!("{byte:02x}")).collect();
            let (digits, sign) = hex.split_at(hex.len() - 1);
            format!("{}{digits}", sign_of(sign)?)
        }
        Decimal::Zoned => {
            let hex: Vec<String> = field.iter().map(|byte| format!("{byte:02x}")).collect();
            let (last, before) = hex.split_last()?;
            if !before.iter().all(|byte| byte.starts_with('f')) {
                return None;
            }
            let digits: String = hex.iter().map(|byte| &byte[1..]).collect();
            format!("{}{digits}", sign_of(&last[..1])?)
        }
        Decimal::ZonedAscii => {
            let text = String::from_utf8(field.to_vec()).ok()?;
            let last = text.chars().last()?;
            let before = &text[..text.len() - last.len_utf8()];
            let of = |digits: &str| digits.find(last).map(|digit| digit % 10);
            let (plus, minus) = (of("0123456789{ABCDEFGHI"), of("}JKLMNOPQRpqrstuvwxy"));
            match (plus, minus) {
                (Some(digit), _) => format!("+{before}{digit}"),
                (_, Some(digit)) => format!("-{before}{digit}"),
                _ => return None,
            }
        }
        Decimal::Year(_) => unreachable!("years have an oracle of their own"),
    };
    let is_number = text[1..].bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap())
}

fn sign_of(half: &str) -> Option<char> {
    match half {
        "a" | "c" | "e" | "f" => Some('+'),
        "b" | "d" => Some('-'),
        _ => None,
    }
}

/// The order of two fields by the translation of each byte.
pub fn compare_collated(collation: Collation, a: &[u8], b: &[u8]) -> Ordering {
    let translate = |byte: &u8| match collation {
        Collation::Ebcdic037 => place(*byte, &[]),
        Collation::Ebcdic1047 => place(*byte, &EXCHANGED),
        Collation::Ascii037 => latin(*byte, &[]),
        Collation::Ascii1047 => latin(*byte, &EXCHANGED),
    };
    let (a, b): (Vec<u8>, Vec<u8>) = (
        a.iter().map(translate).collect(),
        b.iter().map(translate).collect(),
    );
    a.cmp(&b)
}

/// The letter of ISO 8859-1 that an EBCDIC byte stands for.
fn latin(byte: u8, exchanged: &[(u8, u8)]) -> u8 {
    let other = exchanged.iter().find_map(|&(one, other)| match byte {
        _ if byte == one => Some(other),
        _ if byte == other => Some(one),
        _ => None,
    });
    PAGE_037[usize::from(other.unwrap_or(byte))]
}

/// The EBCDIC byte of a letter.
fn place(letter: u8, exchanged: &[(u8, u8)]) -> u8 {
    let mut all = 0..=255_u8;
    all.find(|&byte| latin(byte, exchanged) == letter).unwrap()
}

const EXCHANGED: [(u8, u8); 3] = [(0x5F, 0xB0), (0xAD, 0xBA), (0xBB, 0xBD)];

/// Code page 037 in ISO 8859-1, as `iconv -f IBM037 -t LATIN1` writes it.
#[rustfmt::skip]
const PAGE_037: [u8; 256] = [
    0x00, 0x01, 0x02, 0x03, 0x9C, 0x09, 0x86, 0x7F, 0x97, 0x8D, 0x8E, 0x0B, 0x0C, 0x0D, 0x0E, 0x0F,
    0x10, 0x11, 0x12, 0x13, 0x9D, 0x85, 0x08, 0x87, 0x18, 0x19, 0x92, 0x8F, 0x1C, 0x1D, 0x1E, 0x1F,
    0x80, 0x81, 0x82, 0x83, 0x84, 0x0A, 0x17, 0x1B, 0x88, 0x89, 0x8A, 0x8B, 0x8C, 0x05, 0x06, 0x07,
    0x90, 0x91, 0x16, 0x93, 0x94, 0x95, 0x96, 0x04, 0x98, 0x99, 0x9A, 0x9B, 0x14, 0x15, 0x9E, 0x1A,
    0x20, 0xA0, 0xE2, 0xE4, 0xE0, 0xE1, 0xE3, 0xE5, 0xE7, 0xF1, 0xA2, 0x2E, 0x3C, 0x28, 0x2B, 0x7C,
    0x26, 0xE9, 0xEA, 0xEB, 0xE8, 0xED, 0xEE, 0xEF, 0xEC, 0xDF, 0x21, 0x24, 0x2A, 0x29, 0x3B, 0xAC,
    0x2D, 0x2F, 0xC2, 0xC4, 0xC0, 0xC1, 0xC3, 0xC5, 0xC7, 0xD1, 0xA6, 0x2C, 0x25, 0x5F, 0x3E, 0x3F,
    0xF8, 0xC9, 0xCA, 0xCB, 0xC8, 0xCD, 0xCE, 0xCF, 0xCC, 0x60, 0x3A, 0x23, 0x40, 0x27, 0x3D, 0x22,
    0xD8, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0xAB, 0xBB, 0xF0, 0xFD, 0xFE, 0xB1,
    0xB0, 0x6A, 0x6B, 0x6C, 0x6D, 0x6E, 0x6F, 0x70, 0x71, 0x72, 0xAA, 0xBA, 0xE6, 0xB8, 0xC6, 0xA4,
    0xB5, 0x7E, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7A, 0xA1, 0xBF, 0xD0, 0xDD, 0xDE, 0xAE,
    0x5E, 0xA3, 0xA5, 0xB7, 0xA9, 0xA7, 0xB6, 0xBC, 0xBD, 0xBE, 0x5B, 0x5D, 0xAF, 0xA8, 0xB4, 0xD7,
    0x7B, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0xAD, 0xF4, 0xF6, 0xF2, 0xF3, 0xF5,
    0x7D, 0x4A, 0x4B, 0x4C, 0x4D, 0x4E, 0x4F, 0x50, 0x51, 0x52, 0xB9, 0xFB, 0xFC, 0xF9, 0xFA, 0xFF,
    0x5C, 0xF7, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5A, 0xB2, 0xD4, 0xD6, 0xD2, 0xD3, 0xD5,
    0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0xB3, 0xDB, 0xDC, 0xD9, 0xDA, 0x9F,
];

// ---- drawn fields ----------------------------------------------------------------------------

/// A field that holds a number, or one that nearly does.
fn a_field(decimal: Decimal, bytes: usize) -> impl Strategy<Value = Vec<u8>> {
    let digits = prop::collection::vec(
        prop_oneof![3 => Just(0), 1 => 0..=9_u8, 1 => Just(9)],
        2 * bytes,
    );
    let sign = any::<prop::sample::Index>();
    let wrong = prop::option::weighted(0.2, (0..bytes, any::<u8>()));
    (digits, sign, wrong).prop_map(move |(digits, sign, wrong)| {
        let mut field = write(decimal, &digits, sign);
        if let Some((place, byte)) = wrong {
            field[place] = byte;
        }
        field
    })
}

fn write(decimal: Decimal, digits: &[u8], sign: prop::sample::Index) -> Vec<u8> {
    let bytes = digits.len() / 2;
    let sign = *sign.get(&[0xA, 0xB, 0xC, 0xD, 0xE, 0xF, 0xC, 0xD]);
    let is_minus = matches!(sign, 0xB | 0xD);
    match decimal {
        Decimal::Packed => {
            let mut field: Vec<u8> = digits
                .chunks(2)
                .map(|pair| pair[0] << 4 | pair[1])
                .collect();
            field[bytes - 1] = field[bytes - 1] & 0xF0 | sign;
            field
        }
        Decimal::Zoned => {
            let mut field: Vec<u8> = digits[..bytes].iter().map(|digit| 0xF0 | digit).collect();
            field[bytes - 1] = sign << 4 | digits[bytes - 1];
            field
        }
        Decimal::ZonedAscii => {
            let mut field: Vec<u8> = digits[..bytes].iter().map(|digit| b'0' + digit).collect();
            let letters: &[u8] = match (is_minus, sign) {
                (true, 0xB) => b"pqrstuvwxy",
                (true, _) => b"}JKLMNOPQR",
                (false, 0xF) => b"0123456789",
                (false, _) => b"{ABCDEFGHI",
            };
            field[bytes - 1] = letters[usize::from(digits[bytes - 1])];
            field
        }
        Decimal::Year(_) => unreachable!("years are not drawn here"),
    }
}

prop_compose! {
    /// Two fields of a type, which lie somewhere in records.
    fn a_pair()(decimal in prop::sample::select(DECIMALS.to_vec()), bytes in 1..=32_usize)(
        a in a_field(decimal, bytes),
        b in a_field(decimal, bytes),
        decimal in Just(decimal),
        before in 0..9_usize,
        behind in 0..9_usize,
    ) -> (Decimal, Range<usize>, Vec<u8>, Vec<u8>) {
        let record = |field: &[u8]| [&vec![7; before], field, &vec![7; behind]].concat();
        (decimal, before..before + a.len(), record(&a), record(&b))
    }
}

fn key(offset: usize, bytes: usize, kind: Kind) -> Key {
    Key {
        offset,
        bytes,
        kind,
        descending: false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6_000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn decimals_sort_as_their_numbers((decimal, field, a, b) in a_pair(), other in prop::option::of(1..=32_usize)) {
        // Also a key that is not all of the field, or more.
        let offset = field.start;
        let bytes = other.unwrap_or(field.len()).min(a.len() - offset);
        for descending in [false, true] {
            let key = Key { descending, ..key(offset, bytes, Kind::Decimal(decimal)) };
            for ties in [Ties::Record, Ties::Position] {
                let order = Order::new(a.len(), &[key], ties).unwrap();
                assert_agrees(&order, &[key], &a, &b);
                assert_agrees(&order, &[key], &b, &a);
            }
        }
    }
}

// ---- chosen fields ---------------------------------------------------------------------------

/// The fields, each less than the next, with the key `0+BYTES:TYPE`.
fn assert_ascending(name: &str, fields: &[&[u8]]) {
    let key: Key = format!("0+{}:{name}", fields[0].len()).parse().unwrap();
    let order = Order::new(fields[0].len(), &[key], Ties::Position).unwrap();
    for (less, more) in fields.windows(2).map(|pair| (pair[0], pair[1])) {
        assert_eq!(
            order.compare(less, more),
            Ordering::Less,
            "{name} {less:x?} {more:x?}"
        );
        assert!(
            order.word(less, 0) < order.word(more, 0),
            "{name} {less:x?} {more:x?}"
        );
        assert!(!order.keys_equal(less, more), "{name} {less:x?} {more:x?}");
    }
}

/// The fields, which are all equal, but not in their bytes.
fn assert_equal(name: &str, fields: &[&[u8]]) {
    let key: Key = format!("0+{}:{name}", fields[0].len()).parse().unwrap();
    let order = Order::new(fields[0].len(), &[key], Ties::Position).unwrap();
    for (one, other) in fields
        .iter()
        .flat_map(|one| fields.iter().map(move |other| (one, other)))
    {
        assert!(order.keys_equal(one, other), "{name} {one:x?} {other:x?}");
        assert_eq!(
            order.word(one, 0),
            order.word(other, 0),
            "{name} {one:x?} {other:x?}"
        );
    }
}

#[test]
fn packed_numbers_have_many_signs_and_one_zero() {
    assert_ascending(
        "packed",
        &[
            &[0x00, 0x00],
            &[0x40, 0x40],
            &[0x99, 0x99],
            &[0xFF, 0xFF],
            &[0x99, 0x9D],
            &[0x12, 0x3B],
            &[0x00, 0x1D],
            &[0x00, 0x0D],
            &[0x00, 0x1C],
            &[0x12, 0x3F],
            &[0x99, 0x9C],
        ],
    );
    let zeros: Vec<[u8; 2]> = (0xA..=0xF).map(|sign| [0, sign]).collect();
    assert_equal(
        "packed",
        &zeros.iter().map(|zero| &zero[..]).collect::<Vec<_>>(),
    );
    assert_equal("packed", &[&[0x12, 0x3D], &[0x12, 0x3B]]);
    assert_equal(
        "packed",
        &[&[0x12, 0x3A], &[0x12, 0x3C], &[0x12, 0x3E], &[0x12, 0x3F]],
    );
}

#[test]
fn zoned_numbers_have_their_sign_in_the_last_byte() {
    assert_ascending(
        "zoned",
        &[
            &[0x40, 0x40],
            &[0x40, 0xF1],
            &[0xC1, 0xF1],
            &[0xF9, 0xD9],
            &[0xF0, 0xD1],
            &[0xF0, 0xF0],
            &[0xF0, 0xC1],
            &[0xF9, 0xF9],
        ],
    );
    assert_equal(
        "zoned",
        &[&[0xF0, 0xD0], &[0xF0, 0xC0], &[0xF0, 0xF0], &[0xF0, 0xB0]],
    );
    assert_ascending(
        "zoned-ascii",
        &[
            b"  ", b" 1", b"+1", b"-1", b"9R", b"1}", b"0J", b"0}", b"0A", b"1{", b"19", b"9I",
        ],
    );
    assert_equal("zoned-ascii", &[b"0}", b"0{", b"00", b"0p"]);
    assert_equal("zoned-ascii", &[b"4N", b"4u"]);
}

#[test]
fn printable_text_sorts_as_on_the_other_machine() {
    let pages = [
        (
            "as-ebcdic",
            " .<(+|&!$*);-/,%_>?`:#@'=\"abcdefghijklmnopqr~stuvwxyz^[]{ABCDEFGHI}JKLMNOPQR\\STUVWXYZ0123456789",
        ),
        (
            "as-ebcdic1047",
            " .<(+|&!$*);^-/,%_>?`:#@'=\"abcdefghijklmnopqr~stuvwxyz[]{ABCDEFGHI}JKLMNOPQR\\STUVWXYZ0123456789",
        ),
    ];
    for (name, ascending) in pages {
        let letters: Vec<&[u8]> = ascending.as_bytes().chunks(1).collect();
        assert_eq!(letters.len(), 95, "all printable letters");
        assert_ascending(name, &letters);
    }
    // "A9", "a!", "a1", "b" in EBCDIC.
    let words: [&[u8]; 4] = [&[0xC1, 0xF9], &[0x81, 0x5A], &[0x81, 0xF1], &[0x82, 0x40]];
    assert_ascending("as-ascii", &words);
    assert_ascending("as-ascii1047", &words);
}

#[test]
fn decimals_that_are_too_long_are_refused() {
    for (spec, character) in [
        ("0+33:packed", 6),
        ("0+40:zoned", 6),
        ("10+64:zoned-ascii", 7),
    ] {
        let message = spec.parse::<Key>().unwrap_err().to_string();
        let start =
            format!("key \"{spec}\", character {character}: a decimal number is 1 to 32 bytes");
        assert!(message.starts_with(&start), "{message}");
    }
    for bytes in [0, 33] {
        let by_hand = key(0, bytes, Kind::Decimal(Decimal::Packed));
        Order::new(64, &[by_hand], Ties::Record).unwrap_err();
    }
}

// ---- years of two digits ---------------------------------------------------------------------

/// The two digits of a field, by its hexadecimal digits.
fn two_digits(form: YearForm, field: &[u8]) -> Option<u32> {
    let hex: String = field.iter().map(|byte| format!("{byte:02x}")).collect();
    match (form, &hex[..]) {
        (YearForm::Binary, _) => Some(u32::from(field[0]) % 100),
        (YearForm::Digits, _) => hex.parse().ok(),
        (YearForm::Packed, _) => {
            let number = read(Decimal::Packed, field)?.magnitude() % 100_u32;
            Some(number.to_string().parse().unwrap())
        }
        (_, "0000") | (YearForm::Zoned, "4040") | (YearForm::ZonedAscii, "2020") => None,
        _ => format!("{}{}", &hex[1..2], &hex[3..]).parse().ok(),
    }
}

/// All fields of one byte, or of two bytes, are in the order of their years in a window.
#[test]
fn years_sort_in_their_window() {
    for (form, bytes) in [
        (YearForm::Zoned, 2),
        (YearForm::ZonedAscii, 2),
        (YearForm::Packed, 2),
        (YearForm::Digits, 1),
        (YearForm::Binary, 1),
    ] {
        for first in [1900, 1950, 1999, 2000] {
            let year = Year { form, first };
            let key = key(0, bytes, Kind::Decimal(Decimal::Year(year)));
            assert_eq!(key.to_string().parse(), Ok(key), "{key}");
            let order = Order::new(bytes, &[key], Ties::Position).unwrap();
            // Before all years, one of them, or behind all.
            let place = |field: &[u8]| {
                let is_zoned = matches!(form, YearForm::Zoned | YearForm::ZonedAscii);
                if is_zoned && field == [0xFF; 2] {
                    return (2, 0, Vec::new());
                }
                match two_digits(form, field) {
                    Some(digits) => {
                        let century = (0..).map(|hundred| 100 * hundred + digits);
                        let mut years = century.skip_while(|&year| year < u32::from(first));
                        (1, years.next().unwrap(), Vec::new())
                    }
                    None => (0, 0, field.to_vec()),
                }
            };
            let mut fields: Vec<Vec<u8>> = (0..1_u32 << (8 * bytes))
                .map(|number| number.to_be_bytes()[4 - bytes..].to_vec())
                .collect();
            fields.sort_by_key(|field| place(field));
            for pair in fields.windows(2) {
                let expected = place(&pair[0]).cmp(&place(&pair[1]));
                assert_eq!(
                    order.compare(&pair[0], &pair[1]),
                    expected,
                    "{key} {pair:x?}"
                );
                assert_eq!(order.keys_equal(&pair[0], &pair[1]), expected.is_eq());
                assert!(order.word(&pair[0], 0) <= order.word(&pair[1], 0));
            }
        }
    }
}

#[test]
fn a_year_needs_its_window_and_its_length() {
    for (key, told) in [
        (
            "0+2:y2c",
            "y2c needs the first of its hundred years; write y2c=1950 for 1950 to 2049",
        ),
        ("0+2:y2p=50", "y2p needs the first of its hundred years"),
        (
            "0+3:y2c=1950",
            "y2c=1950 is 2 bytes long, not 3; write 0+2:y2c=1950",
        ),
        ("0+2:y2d=1950", "y2d=1950 is 1 byte long, not 2"),
        (
            "0+2:Y2C",
            "Y2C is a type of mainframe tools; write y2c=1950",
        ),
    ] {
        let error = key.parse::<Key>().unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
}
