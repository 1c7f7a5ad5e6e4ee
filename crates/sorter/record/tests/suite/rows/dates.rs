//! Dates beside `jiff`.

use std::cmp::Ordering;

use record::Ties;
use record::rows::{Dialect, RowKey, RowOrder, ValueError, ValueKind};
use record::text::TextOrder;

use super::draw;
use super::naive::instant;
use crate::text::draw::Draw;

fn by_date() -> TextOrder {
    let key: RowKey = "#1:date".parse().unwrap();
    let order = RowOrder::new(Dialect::Tsv, None, &[key], Ties::Position);
    order.unwrap().text()
}

fn compare(a: &str, b: &str) -> Ordering {
    for date in [a, b] {
        assert_eq!(ValueKind::Date.check(date.as_bytes()), Ok(()), "{date}");
    }
    by_date().compare(a.as_bytes(), b.as_bytes())
}

#[test]
fn drawn_dates_have_the_order_of_their_instants() {
    let mut draw = Draw(11);
    for _ in 0..20_000 {
        let (a, b) = (draw::date(&mut draw), draw::date(&mut draw));
        let expected = instant(a.as_bytes()).cmp(&instant(b.as_bytes()));
        assert_eq!(compare(&a, &b), expected, "{a} {b}");
    }
}

#[test]
fn every_day_of_four_hundred_years_follows_the_day_before() {
    let order = by_date();
    let day: jiff::civil::Date = "1799-12-30".parse().unwrap();
    let mut before = day.to_string();
    for day in day.series(jiff::ToSpan::days(1)).skip(1).take(146_100) {
        let next = day.to_string();
        assert_eq!(ValueKind::Date.check(next.as_bytes()), Ok(()), "{next}");
        assert!(
            order.compare(before.as_bytes(), next.as_bytes()).is_lt(),
            "{next}"
        );
        // A day has 24 hours.
        let end = format!("{before}T23:00-01:00");
        assert!(
            order.compare(end.as_bytes(), next.as_bytes()).is_eq(),
            "{end} {next}"
        );
        before = next;
    }
}

#[test]
fn forms_of_one_instant_are_equal() {
    let forms = [
        "2024-02-29T12:30:45Z",
        "2024-02-29 12:30:45",
        " 2024/02/29t12:30:45z ",
        "2024-02-29T12:30:45.000+00:00",
        "2024-02-29 13:30:45 +0100",
        "2024-02-29 12:30:45,0-00",
        "2024-03-01T00:00:45+11:30",
        "Thu, 29 Feb 2024 12:30:45 GMT",
        "29 Feb 2024 07:30:45 -0500",
        "Thu, 29 Feb 2024 07:30:45 EST",
    ];
    for a in forms {
        for b in forms {
            assert_eq!(compare(a, b), Ordering::Equal, "{a} {b}");
        }
    }
    for [a, b] in [
        ["2024-02-29", "20240229"],
        ["2024-02-29", "2024-02-29T00:00"],
        ["2016-12-31T23:59:60Z", "2016-12-31T23:59:59Z"],
    ] {
        assert_eq!(compare(a, b), Ordering::Equal, "{a} {b}");
    }
}

#[test]
fn fractions_of_any_length_count() {
    let dates = [
        "2024-02-29T12:30:45",
        "2024-02-29T12:30:45.00000000000000000001",
        "2024-02-29T12:30:45.01",
        "2024-02-29T12:30:45.1",
        "2024-02-29T12:30:45.10000000000000000000000001",
        "2024-02-29T12:30:46",
    ];
    for pair in dates.windows(2) {
        assert!(compare(pair[0], pair[1]).is_lt(), "{pair:?}");
    }
    let ends = [
        "0000-01-01T00:00+23:59",
        "0000-01-01",
        "9999-12-31T23:59:59-23:59",
    ];
    for pair in ends.windows(2) {
        assert!(compare(pair[0], pair[1]).is_lt(), "{pair:?}");
    }
}

#[test]
fn days_and_times_that_do_not_exist_are_refused() {
    for date in [
        "2023-02-29",
        "1900-02-29",
        "2024-13-01",
        "2024-00-10",
        "2024-01-00",
        "2024-04-31",
        "2024-01-02T24:00",
        "2024-01-02T12:60",
        "2024-01-02T12:00:61",
        "2024-01-02T12",
        "2024-01-02T12:00:00.",
        "2024-01-02T12:00+24",
        "2024-01-02T12:00+1",
        "2024-01-02T",
        "2024-01-02T12:00+01:0",
        "2024-01-02x",
        "2024-1-2",
        "2024-01/02",
        "202401",
        "202401021",
        "2024",
        "now",
        "Fri, 29 Feb 2024 12:30:45 GMT",
        "2024-01-02T12.00",
        "x",
        "\u{661}\u{662}-01-02",
    ] {
        let found = ValueKind::Date.check(date.as_bytes());
        assert_eq!(found, Err(ValueError::NotADate), "{date}");
    }
    for date in [
        "01/02/2024",
        "1/2/2024",
        "1.2.24",
        "31-12-2024",
        "01/02/2024 12:30",
    ] {
        let found = ValueKind::Date.check(date.as_bytes());
        assert_eq!(found, Err(ValueError::AmbiguousDate), "{date}");
    }
}
