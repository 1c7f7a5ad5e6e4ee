//! The values of `--format` and `--key`, and the messages for mistakes in them.

use record::{Endian, FormatError, Key, Kind, MAX_KEYS, Order, Ties};

fn parse(format: &str, keys: &[&str]) -> Result<Order, FormatError> {
    Order::parse(format, keys, Ties::Record)
}

fn refusal(format: &str, keys: &[&str]) -> String {
    parse(format, keys)
        .expect_err(&format!("{format} {keys:?}"))
        .to_string()
}

#[test]
fn given_keys_replace_that_of_gensort() {
    let order = parse("gensort", &[]).unwrap();
    assert_eq!(order, Order::gensort(Ties::Record));
    assert_eq!((order.record_bytes(), order.words()), (100, 13));
    assert!(order.keys_equal(&[&[1; 10][..], &[2; 90]].concat(), &[1; 100]));
    let other = parse("gensort", &["50+1"]).unwrap();
    assert_eq!(other.record_bytes(), 100);
    assert!(!other.keys_equal(&[&[1; 10][..], &[2; 90]].concat(), &[1; 100]));
}

#[test]
fn fixed_without_a_key_sorts_by_the_whole_record() {
    let order = parse("fixed:3", &[]).unwrap();
    assert_eq!((order.record_bytes(), order.words()), (3, 1));
    assert!(order.compare(b"aab", b"aaa").is_gt());
    assert!(!order.keys_equal(b"aab", b"aaa"));
    assert_eq!(parse("fixed:1073741824", &[]).unwrap().words(), 1 << 27);
}

#[test]
fn every_type_is_read_and_written() {
    let types = [
        "u16", "u32", "u64", "u128", "i16", "i32", "i64", "i128", "f32", "f64",
    ];
    let mut specs = vec![
        "3+1:u8".to_owned(),
        "3+1:i8:desc".to_owned(),
        "0+10".to_owned(),
    ];
    for name in types {
        let bytes = name[1..].parse::<usize>().unwrap() / 8;
        specs.push(format!("7+{bytes}:{name}le"));
        specs.push(format!("7+{bytes}:{name}be:desc"));
    }
    for name in ["packed", "zoned", "zoned-ascii"] {
        specs.push(format!("0+1:{name}"));
        specs.push(format!("3+32:{name}:desc"));
    }
    for name in ["as-ebcdic", "as-ebcdic1047", "as-ascii", "as-ascii1047"] {
        specs.push(format!("2+1:{name}:desc"));
        specs.push(format!("0+40:{name}"));
    }
    for spec in &specs {
        let key: Key = spec.parse().unwrap();
        assert_eq!(key.to_string(), *spec);
        parse("fixed:40", &[spec]).unwrap();
    }
    let key: Key = "7+8:f64le:desc".parse().unwrap();
    let kind = Kind::Float(Endian::Little);
    assert_eq!(
        key,
        Key {
            offset: 7,
            bytes: 8,
            kind,
            descending: true
        }
    );
    let key: Key = "2+5:bytes:desc".parse().unwrap();
    assert_eq!(key.to_string(), "2+5:desc");
}

#[test]
fn unknown_formats_and_lengths_are_refused_with_a_hint() {
    for (format, hint) in [
        (
            "gensorts",
            "unknown format \"gensorts\"; use lines, csv, tsv, jsonl, gensort, fixed:LEN",
        ),
        ("fixed", "use lines, csv, tsv, jsonl, gensort, fixed:LEN"),
        (
            "fixed:",
            "\"\" is not a record length; give a plain number of bytes from 1",
        ),
        ("fixed:0", "\"0\" is not a record length"),
        ("fixed:+5", "\"+5\" is not a record length"),
        ("fixed:1K", "\"1K\" is not a record length"),
        ("fixed:1073741825", "from 1 to 1073741824"),
        (
            "fixed:99999999999999999999999",
            "\"99999999999999999999999\" is not a record length",
        ),
    ] {
        let message = refusal(format, &[]);
        assert!(message.contains(hint), "{message}");
    }
}

#[test]
fn mistakes_in_keys_say_what_where_and_what_to_do() {
    for (key, place, hint) in [
        ("", "character 1", "write OFFSET+LENGTH, such as 0+10"),
        ("10", "character 1", "no \"+\""),
        ("x+10", "character 1", "\"x\" is not a number of bytes"),
        ("0++5", "character 3", "\"+5\" is not a number of bytes"),
        ("0+1K", "character 3", "digits alone"),
        ("0+", "character 3", "\"\" is not a number of bytes"),
        ("12+0", "character 4", "give a length of at least 1"),
        (
            "0+8:u63le",
            "character 5",
            "unknown type \"u63le\"; use bytes, u8",
        ),
        ("0+8:f128le", "character 5", "unknown type"),
        ("0+8:packedle", "character 5", "unknown type \"packedle\""),
        ("0+8:pd", "character 5", "packed"),
        ("0+8:pdx", "character 5", "or packed, zoned, zoned-ascii"),
        ("0+8:\u{fc}", "character 5", "unknown type \"\u{fc}\""),
        ("0+8:", "character 5", "unknown type \"\""),
        (
            "0+4:u32",
            "character 5",
            "the byte order of u32 is missing; write u32le or u32be",
        ),
        ("0+1:u8le", "character 5", "write u8"),
        (
            "10+4:u64le",
            "character 6",
            "u64le is 8 bytes long, not 4; write 10+8:u64le",
        ),
        ("0+8:desc:u64le", "character 10", "\"u64le\" after the end"),
        ("0+8:u64le:asc", "character 11", "\"asc\" after the end"),
        (
            "95+10",
            "character 4",
            "the key ends at byte 105, but a record has 100; shorten",
        ),
        (
            "0+18446744073709551615",
            "character 3",
            "but a record has 100",
        ),
        (
            "18446744073709551615+9",
            "character 22",
            "but a record has 100",
        ),
    ] {
        let message = refusal("gensort", &[key]);
        assert!(
            message.starts_with(&format!("key \"{key}\", {place}: ")),
            "{message}"
        );
        assert!(message.contains(hint), "{message}");
    }
}

#[test]
fn a_key_may_end_where_the_record_does() {
    parse("gensort", &["90+10"]).unwrap();
    let message = refusal("gensort", &["91+10"]);
    assert!(
        message.contains("ends at byte 101, but a record has 100"),
        "{message}"
    );
}

#[test]
fn the_number_of_keys_is_bounded() {
    parse("gensort", &["0+1"; MAX_KEYS]).unwrap();
    let message = refusal("gensort", &["0+1"; MAX_KEYS + 1]);
    assert!(
        message.starts_with("17 keys; an order has at most 16"),
        "{message}"
    );
}

#[test]
fn keys_built_by_hand_are_checked_too() {
    let float = Key {
        kind: Kind::Float(Endian::Big),
        ..Key::plain(0, 2)
    };
    for key in [float, Key::plain(0, 0), Key::plain(usize::MAX, 2)] {
        let refused = record::Order::new(8, &[key], Ties::Position);
        assert!(matches!(refused, Err(FormatError::Key(_))), "{key:?}");
    }
}
