//! Messages about mistakes in rows, and in keys.

use record::Ties;
use record::rows::{Dialect, Header, RowCheck, RowOrder};

fn order(dialect: Dialect, header: Option<&str>, keys: &[&str]) -> Result<RowCheck, String> {
    let header = header.map(|row| Header::parse(dialect, row.as_bytes()).unwrap());
    let keys: Vec<_> = keys.iter().map(|key| key.parse().unwrap()).collect();
    let order = RowOrder::new(dialect, header.as_ref(), &keys, Ties::Record);
    let order = order.map_err(|error| error.to_string())?;
    Ok(RowCheck::new(&order, header.as_ref()))
}

#[track_caller]
fn assert_refused(check: &RowCheck, row: &[u8], column: usize, message: &str) {
    let error = check.check(row).unwrap_err();
    assert_eq!(
        (error.to_string(), error.column),
        (message.to_owned(), column)
    );
}

#[test]
fn mistakes_in_fields_are_named() {
    let keys = ["price:num", "at:date"];
    let check = order(Dialect::CSV, Some("id,price,at"), &keys).unwrap();
    assert_eq!(check.check(b"5\" pipe, 1e3 ,2024-01-02\r"), Ok(()));
    assert_eq!(check.check(b"\"a,\n\"\"b\",,"), Ok(()));
    assert_eq!(check.check(b",\"-1\",\"\""), Ok(()));
    for (row, column, message) in [
        ("1,2", 1, "2 columns, the header has 3"),
        ("", 1, "1 column, the header has 3"),
        (
            "1,\"2,3,4",
            3,
            "column 3: the quote that begins here does not end",
        ),
        (
            "1,\"2\"x,3",
            6,
            "column 6: a field in quotes ends before this; inside of quotes, write a quote twice",
        ),
        ("1,abc,", 3, "\"abc\" in column price is not a number"),
        (
            "1,\"a\"\"\n\",",
            3,
            "\"a\\\"\\n\" in column price is not a number",
        ),
        (
            "1,1e9999999999999999999,",
            3,
            "\"1e9999999999999999999\" in column price has an exponent of more than 18 digits",
        ),
        (
            "1,,01/02/2024",
            4,
            "\"01/02/2024\" in column at is ambiguous: a day and a month can be mistaken for \
             each other; write YYYY-MM-DD, or give the key the type date=dmy or date=mdy",
        ),
        (
            "1,,2023-02-29",
            4,
            "\"2023-02-29\" in column at is not a date; write YYYY-MM-DD, YYYY-MM-DDTHH:MM:SS or \
             another form of RFC 3339, or give the key a type such as date=%d.%m.%Y",
        ),
    ] {
        assert_refused(&check, row.as_bytes(), column, message);
    }
    let long = format!("1,{},", "x".repeat(99));
    let message = format!("\"{}..\" in column price is not a number", "x".repeat(40));
    assert_refused(&check, long.as_bytes(), 3, &message);
}

#[test]
fn without_a_header_columns_have_numbers() {
    let check = order(Dialect::Tsv, None, &["#2:num"]).unwrap();
    assert_eq!(check.check(b"\"a\t1\tb\tc"), Ok(()));
    assert_eq!(check.check(b"a"), Ok(()), "missing");
    assert_refused(
        &check,
        b"a\t\"1\"",
        3,
        "\"\\\"1\\\"\" in column 2 is not a number",
    );
}

#[test]
fn mistakes_in_json_are_named() {
    let check = order(Dialect::JsonLines, None, &["price:num", "$.user.name"]).unwrap();
    for row in [
        "{}",
        "[]",
        "1",
        "{\"price\": 1e400, \"user\": {\"name\": \"\\ud83d\\ude00\"}}\r",
        "{\"price\": \"-12.50\", \"user\": null}",
        "{\"user\": {\"name\": true}, \"price\": null}",
        "{\"x\": 1, \"x\": {\"user\": [1, {}]}}",
    ] {
        assert_eq!(check.check(row.as_bytes()), Ok(()), "{row}");
    }
    for (row, column, message) in [
        ("", 1, "column 1: EOF while parsing a value"),
        ("{\"a\": [1}", 9, "column 9: expected `,` or `]`"),
        ("{} {}", 4, "column 4: trailing characters"),
        ("{\"price\": 01}", 12, "column 12: invalid number"),
        (
            "{\"price\": {}}",
            11,
            "\"price\" is an object; a key is a string, number, boolean or null",
        ),
        (
            "{\"user\": {\"name\": [1]}}",
            19,
            "$.user.name is an array; a key is a string, number, boolean or null",
        ),
        (
            "{\"price\": \"abc\"}",
            11,
            "\"abc\" in \"price\" is not a number",
        ),
        (
            "{\"price\": true}",
            11,
            "\"true\" in \"price\" is not a number",
        ),
        (
            "{\"price\": 1, \"pric\\u0065\": 1}",
            28,
            "column 28: the member \"price\" occurs twice; a key must have one value",
        ),
        (
            "{\"a\": \"\\ude00\"}",
            8,
            "column 8: an escape of one surrogate without the other; write both, as \\ud83d\\ude00",
        ),
    ] {
        assert_refused(&check, row.as_bytes(), column, message);
    }
    let message = "column 8: this byte is not UTF-8, as JSON must be";
    assert_refused(&check, b"{\"a\": \"\xFF\"}", 8, message);
}

#[test]
fn keys_without_a_place_are_refused() {
    let header = Some("id,price,id");
    let csv = Dialect::CSV;
    for (dialect, header, key, words) in [
        (
            csv,
            header,
            "prize:num",
            "key 1, \"prize:num\": there is no column \"prize\"; there are \"price\", \"id\", \"id\"",
        ),
        (
            csv,
            header,
            "id",
            "the columns 1 and 3 are both called \"id\"; write #1 or #3",
        ),
        (csv, header, "#4", "the header has 3 columns"),
        (csv, header, "#0", "columns are counted from 1"),
        (
            csv,
            None,
            "price",
            "the rows have no header; write the number",
        ),
        (csv, header, "$.price", "there is no column \"$.price\""),
        (csv, header, "price:number", "; write price:num"),
        (csv, header, "price:size:x", "behind \"price\" comes a type"),
        (
            Dialect::JsonLines,
            None,
            "#1",
            "rows of JSON have no columns",
        ),
        (Dialect::JsonLines, None, "$.a[", "character 4: "),
    ] {
        let error = order(dialect, header, &[key]).unwrap_err();
        assert!(error.contains(words), "{error}");
        assert!(error.starts_with("key 1, "), "{error}");
    }
    let same = Dialect::Csv {
        separator: b',',
        quote: b',',
    };
    assert!(order(same, None, &[]).unwrap_err().contains("same byte"));
    let end = Dialect::Csv {
        separator: b'\n',
        quote: b'"',
    };
    assert!(
        order(end, None, &[])
            .unwrap_err()
            .contains("rows end with newlines")
    );
    // A name that looks like a path or a number.
    assert!(order(Dialect::JsonLines, None, &["$['#1']", "$x", "a.b"]).is_ok());
}
