//! The order of drawn rows beside a naive one, and its words beside its comparison.

use std::cmp::Ordering;

use record::Ties;
use record::rows::{Dialect, Nulls, RowCheck, RowKey, RowOrder};
use record::text::Locale;

use super::draw::{self, Drawn, Values};
use super::naive;
use crate::text::draw::Draw;
use crate::text::words::assert_agrees;

fn drawn_rows(draw: &mut Draw, dialect: Dialect) -> Vec<(Values, Vec<u8>)> {
    let mut rows: Vec<Values> = (0..4).map(|_| draw::values(draw)).collect();
    // Rows that differ in few values.
    for _ in 0..3 {
        let mut values = rows[draw.below(rows.len())].clone();
        let column = draw.below(values.len());
        values[column] = draw::values(draw).swap_remove(column);
        rows.push(values);
    }
    let row = |values: Values| {
        let row = draw::row(draw, dialect, &values);
        (values, row)
    };
    rows.into_iter().map(row).collect()
}

fn expected(drawn: &Drawn, a: &Values, b: &Values) -> Ordering {
    let value = |values, column| {
        value(values, column)
            .filter(|value| !drawn.nulls.iter().any(|word| word.as_bytes() == *value))
    };
    let by_key = drawn.keys.iter().map(|(column, key)| {
        let order = key.order;
        let ordering = match (value(a, *column), value(b, *column)) {
            (Some(a), Some(b)) if order.no_case => {
                a.to_ascii_uppercase().cmp(&b.to_ascii_uppercase())
            }
            (Some(a), Some(b)) => naive::compare(order.kind, a, b),
            // These stand at one end, whatever the direction.
            (a, b) if order.nulls != Nulls::Least => {
                let ordering = a.is_none().cmp(&b.is_none());
                let is_last = order.nulls == Nulls::Last;
                return if is_last {
                    ordering
                } else {
                    ordering.reverse()
                };
            }
            (a, b) => a.is_some().cmp(&b.is_some()),
        };
        if order.descending {
            ordering.reverse()
        } else {
            ordering
        }
    });
    by_key.fold(Ordering::Equal, Ordering::then)
}

fn value(values: &Values, column: usize) -> Option<&[u8]> {
    values[column].as_deref().filter(|value| !value.is_empty())
}

#[test]
fn drawn_rows_have_the_order_of_their_values() {
    let mut draw = Draw(1);
    let long = std::env::var("GRISTMILL_LONG").is_ok_and(|value| value == "1");
    for case in 0..if long { 1_500 } else { 500 } {
        let dialect = draw::DIALECTS[case % draw::DIALECTS.len()];
        let drawn = draw::order(&mut draw, dialect);
        let (order, keys) = (&drawn.order, &drawn.keys);
        let check = RowCheck::new(order, draw::header(dialect).as_ref());
        let text = order.text();
        let rows = drawn_rows(&mut draw, dialect);
        let mut prefixes = vec![0; rows.len()];
        text.prefixes(rows.iter().map(|(_, row)| &row[..]), &mut prefixes);
        for ((a, x), prefix) in rows.iter().zip(prefixes) {
            assert_eq!(check.check(x), Ok(()), "{}", x.escape_ascii());
            assert_eq!(text.word(x, 0), prefix);
            for (b, y) in &rows {
                let by_keys = expected(&drawn, a, b);
                let context = || format!("{keys:?}\n{}\n{}", x.escape_ascii(), y.escape_ascii());
                assert_eq!(
                    text.keys_equal(x, y),
                    keys.is_empty() && x == y || !keys.is_empty() && by_keys.is_eq(),
                    "{}",
                    context()
                );
                let ties = match order.ties() {
                    Ties::Position if !keys.is_empty() => Ordering::Equal,
                    _ => x.cmp(y),
                };
                assert_eq!(text.compare(x, y), by_keys.then(ties), "{}", context());
                assert_agrees(&text, x, y, &mut draw);
            }
        }
    }
}

#[test]
fn decimal_numbers_compare_exactly() {
    let long = "9".repeat(400);
    let larger = format!("{long}.1");
    let classes: [&[&str]; 27] = [
        &["", " "],
        &["-1e999999999999999999"],
        &["-1e61"],
        &["-1e60", "-10E+59"],
        &["-1000.5"],
        &["-1000", "-01000.000", " -1e3 "],
        &["-1.01"],
        &["-1", "-1.", "-.1e1"],
        &["-1e-41"],
        &["-1e-99"],
        &[
            "0",
            "-0",
            "+0",
            "0.000",
            ".0",
            "0e9",
            "0e-999999999999999999",
        ],
        &["1e-999999999999999999"],
        &["1e-99"],
        &["1.00000000000001e-41"],
        &["1e-40"],
        &["0.1", "1e-1", "+.10"],
        &["0.10000000000000000000000000000001"],
        &["0.5"],
        &["1", "1.0", "+01", "10e-1"],
        &["3", "+3"],
        &["123456789012"],
        &["1234567890123"],
        &["1e60", "10e59"],
        &["1.1e60"],
        &[&long],
        &[&larger],
        &["1e400"],
    ];
    ascending("num", &classes);
}

#[test]
fn texts_with_numbers_compare_by_their_values() {
    let long = format!("a{}", "1".repeat(300));
    let longer = format!("a{}2", "1".repeat(300));
    let classes: [&[&str]; 20] = [
        &[""],
        &["/"],
        &["0", "00"],
        &["1"],
        &["9", "009"],
        &["10"],
        &["10a"],
        &[":"],
        &["a"],
        &["a/"],
        &["a0"],
        &["a0b", "a000b"],
        &["a2", "a002"],
        &["a2.10"],
        &["a10", "a010"],
        &["a9999999"],
        &["a10000000"],
        &[&long],
        &[&longer],
        &["a:"],
    ];
    ascending("natural", &classes);
}

/// Checks each pair of classes; the values in a class are equal.
fn ascending(kind: &str, classes: &[&[&str]]) {
    for (dialect, name) in [(Dialect::Tsv, "#1"), (Dialect::JsonLines, "$")] {
        let key: RowKey = format!("{name}:{kind}").parse().unwrap();
        let order = record::rows::RowOrder::new(dialect, None, &[key], Ties::Position).unwrap();
        let check = RowCheck::new(&order, None);
        let text = order.text();
        let values = classes.iter().enumerate();
        let values =
            values.flat_map(|(class, values)| values.iter().map(move |value| (class, value)));
        let row = |value: &str| match dialect {
            Dialect::Tsv => value.to_owned(),
            _ => format!("{value:?}"),
        };
        let rows: Vec<_> = values.map(|(class, value)| (class, row(value))).collect();
        let mut draw = Draw(5);
        for (x, a) in &rows {
            assert_eq!(check.check(a.as_bytes()), Ok(()));
            for (y, b) in &rows {
                assert_eq!(
                    text.compare(a.as_bytes(), b.as_bytes()),
                    x.cmp(y),
                    "{a} {b}"
                );
                assert_agrees(&text, a.as_bytes(), b.as_bytes(), &mut draw);
            }
        }
    }
}

#[test]
fn numbers_of_twelve_digits_and_dates_of_seconds_fit_a_word() {
    let word = |kind: &str, value: &str| {
        let key: RowKey = format!("#1:{kind}").parse().unwrap();
        let order = record::rows::RowOrder::new(Dialect::CSV, None, &[key], Ties::Position);
        let order = order.unwrap().text();
        assert_eq!(order.word(value.as_bytes(), 1), 0, "{value}");
        order.word(value.as_bytes(), 0) & 0xFF
    };
    assert!(word("num", "-12345678.9012") <= 7);
    assert!(word("num", "1e9") <= 7);
    assert!(word("date", "2024-02-29T12:30:45.1234+01:00") <= 7);
    assert_eq!(word("natural", "file10"), 6);
    assert_eq!(word("num", ""), 0);
}

/// The levels of a language have marks of their own, also of nothing.
#[test]
fn missing_text_of_a_language_stands_where_it_is_told_to() {
    for (words, rows) in [
        (":locale=de", [",1", "a,1", "Ä,1"]),
        (":locale=de:nulls-last", ["a,1", "Ä,1", ",1"]),
        (":natural:locale=de:desc:nulls-first", [",1", "Ä,1", "a,1"]),
        (":nocase:locale=de:desc:nulls-last", ["Ä,1", "a,1", ",1"]),
    ] {
        let keys = [format!("#1{words}").parse().unwrap()];
        let order = RowOrder::new(Dialect::CSV, None, &keys, Ties::Position).unwrap();
        let text = order.text();
        for pair in rows.windows(2) {
            let (a, b) = (pair[0].as_bytes(), pair[1].as_bytes());
            assert!(text.compare(a, b).is_lt(), "{words}: {pair:?}");
            assert!(text.word(a, 0) < text.word(b, 0), "{words}: {pair:?}");
        }
    }
    let keys = ["#1:nocase:locale=de".parse().unwrap()];
    let order = RowOrder::new(Dialect::CSV, None, &keys, Ties::Position).unwrap();
    let text = order.text();
    assert!(text.keys_equal("Ähre,1".as_bytes(), "ÄHRE,2".as_bytes()));
    assert!(
        text.compare("Ähre,1".as_bytes(), "ÄHRE,2".as_bytes())
            .is_eq()
    );
    assert!(!text.keys_equal(b"a,1", "a\u{200b},1".as_bytes()));
}

/// Words, prefixes and comparisons of values in the order of a language are one order.
#[test]
fn words_of_a_language_agree_with_its_comparison() {
    let mut draw = Draw(7);
    let long = std::env::var("GRISTMILL_LONG").is_ok_and(|value| value == "1");
    // Each word of a language takes a new look at the text.
    for case in 0..if long { 24 } else { 8 } {
        let dialect = draw::DIALECTS[case % draw::DIALECTS.len()];
        let order = draw::order(&mut draw, dialect).order;
        let locale = Locale::new(["de", "sv-u-kn", "ja", "fr-CA"][draw.below(4)]).unwrap();
        let text = order.with_locale(Some(locale)).text();
        assert_eq!(text.locale(), Some(locale));
        let rows = drawn_rows(&mut draw, dialect);
        let mut prefixes = vec![0; rows.len()];
        text.prefixes(rows.iter().map(|(_, row)| &row[..]), &mut prefixes);
        for ((_, x), prefix) in rows.iter().zip(prefixes) {
            assert_eq!(text.word(x, 0), prefix);
            for (_, y) in &rows {
                assert_agrees(&text, x, y, &mut draw);
            }
        }
    }
}
