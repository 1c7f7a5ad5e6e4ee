//! Explanations of rows: the bytes of each key, and their reading.

use record::Ties;
use record::rows::{Dialect, Header, RowOrder};
use record::text::Reading;

/// The bytes of each key in a row, those that count, and how they were read.
fn explained(dialect: Dialect, keys: &[&str], row: &str) -> Vec<(String, String, Reading)> {
    let header = Header::parse(dialect, b"a,b,c").unwrap();
    let keys: Vec<_> = keys.iter().map(|key| key.parse().unwrap()).collect();
    let order = RowOrder::new(dialect, Some(&header), &keys, Ties::Record).unwrap();
    let views = order.text().explain(row.as_bytes());
    let number = views.iter().map(|view| view.key).collect::<Vec<_>>();
    let expected = (1..=keys.len()).map(Some).chain([None]).collect::<Vec<_>>();
    assert_eq!(number, expected);
    let keys = views.iter().filter(|view| view.key.is_some());
    let text = |range: &std::ops::Range<usize>| row[range.clone()].to_owned();
    keys.map(|view| (text(&view.range), text(&view.read), view.reading))
        .collect()
}

fn view(range: &str, read: &str, reading: Reading) -> (String, String, Reading) {
    (range.to_owned(), read.to_owned(), reading)
}

#[test]
fn fields_are_shown_without_their_quotes() {
    let number = |found| Reading::Number { found };
    let row = "\"x, \"\"y\"\"\", -1.5 ,\r";
    assert_eq!(
        explained(
            Dialect::CSV,
            &["a", "b:num", "b", "c:num", "c", "a:natural"],
            row
        ),
        [
            view("\"x, \"\"y\"\"\"", "x, \"\"y\"\"", Reading::Text),
            view(" -1.5 ", "-1.5", number(true)),
            view(" -1.5 ", " -1.5 ", Reading::Text),
            view("", "", Reading::Missing),
            view("", "", Reading::Missing),
            view("\"x, \"\"y\"\"\"", "x, \"\"y\"\"", Reading::Natural),
        ]
    );
    let row = "x,\"2024-01-02\",y";
    assert_eq!(
        explained(Dialect::CSV, &["b:date", "a:date", "c:num"], row),
        [
            view(
                "\"2024-01-02\"",
                "2024-01-02",
                Reading::Date { found: true }
            ),
            view("x", "", Reading::Date { found: false }),
            view("y", "", number(false)),
        ]
    );
}

#[test]
fn members_are_shown_without_their_quotes() {
    let row = r#"{"a": "x\"", "b": {"c": 12}, "c": null}"#;
    assert_eq!(
        explained(Dialect::JsonLines, &["a", "$.b.c:num", "c", "d", "b"], row),
        [
            view(r#""x\"""#, r#"x\""#, Reading::Text),
            view("12", "12", Reading::Number { found: true }),
            view("null", "", Reading::Missing),
            view("", "", Reading::Missing),
            view("{\"c\": 12}", "", Reading::Missing),
        ]
    );
}
