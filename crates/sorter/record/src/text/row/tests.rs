//! Fields beside the crate `csv`, members beside `serde_json`, on drawn rows.

use serde_json::Value;

use super::*;

/// SplitMix64: the same cases in every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ z >> 31) % bound as u64) as usize
    }

    fn of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }
}

fn value(place: &RowPlace, row: &[u8]) -> Vec<u8> {
    place.find(row).with(<[u8]>::to_vec)
}

/// All fields of a row, and one that is not there.
fn fields(row: &[u8], separator: u8, quote: Option<u8>, count: usize) -> Vec<Vec<u8>> {
    let field = |before| {
        let column = Column {
            separator,
            quote,
            before,
        };
        let place = RowPlace::Column(column);
        let (range, inside) = place.ranges(row);
        assert!(range.start <= inside.start && inside.end <= range.end);
        value(&place, row)
    };
    assert_eq!(field(count), b"", "behind the last field");
    (0..count).map(field).collect()
}

/// The fields of the only row; `None` if there are more or fewer.
fn by_csv(row: &[u8], separator: u8, quote: u8) -> Option<Vec<Vec<u8>>> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(separator)
        .quote(quote)
        .terminator(csv::Terminator::Any(b'\n'))
        .from_reader(row);
    let mut rows = reader.byte_records().map(Result::unwrap);
    let fields = rows.next()?.iter().map(<[u8]>::to_vec).collect();
    rows.next().is_none().then_some(fields)
}

#[test]
fn drawn_bytes_have_the_fields_of_the_csv_crate() {
    let mut draw = Draw(1);
    let mut same = 0;
    for _ in 0..40_000 {
        let (separator, quote) = draw.of(&[(b',', b'"'), (b';', b'\''), (b'\t', b'"'), (0, 1)]);
        let bytes = [separator, separator, quote, quote, b'a', b'b', b'\n', b' '];
        let length = draw.below(40);
        let mut row: Vec<u8> = (0..length).map(|_| draw.of(&bytes)).collect();
        let Some(expected) = by_csv(&row, separator, quote) else {
            continue;
        };
        // The crate passes over newlines before a row and behind it.
        if row.first() == Some(&b'\n') || row.last() == Some(&b'\n') {
            continue;
        }
        let found = fields(&row, separator, Some(quote), expected.len());
        assert_eq!(found, expected, "{}", row.escape_ascii());
        if let Ok(count) = count_fields(&row, separator, Some(quote)) {
            assert_eq!(count, expected.len(), "{}", row.escape_ascii());
            row.push(b'\r');
            assert_eq!(fields(&row, separator, Some(quote), count), expected);
            assert_eq!(count_fields(&row, separator, Some(quote)), Ok(count));
            same += 1;
        }
    }
    assert!(same > 3_000, "{same} rows were valid");
}

#[test]
fn written_rows_have_their_fields() {
    let mut draw = Draw(2);
    for _ in 0..10_000 {
        let styles = [
            csv::QuoteStyle::Always,
            csv::QuoteStyle::Necessary,
            csv::QuoteStyle::NonNumeric,
        ];
        let mut writer = csv::WriterBuilder::new()
            .quote_style(draw.of(&styles))
            .from_writer(Vec::new());
        let field = |draw: &mut Draw| {
            let length = draw.below(12);
            let byte = |_| draw.of(b"abc123456 ,,\"\n\r\xFF\0");
            (0..length).map(byte).collect::<Vec<u8>>()
        };
        let expected: Vec<_> = (0..1 + draw.below(9)).map(|_| field(&mut draw)).collect();
        writer.write_record(&expected).unwrap();
        let row = writer.into_inner().unwrap();
        let row = row.strip_suffix(b"\n").unwrap();
        assert_eq!(count_fields(row, b',', Some(b'"')), Ok(expected.len()));
        let found = fields(row, b',', Some(b'"'), expected.len());
        assert_eq!(found, expected, "{}", row.escape_ascii());
    }
}

#[test]
fn without_quotes_every_separator_counts() {
    let row = b"\"a\tb\"\t\tc\r";
    assert_eq!(count_fields(row, b'\t', None), Ok(4));
    let found = fields(row, b'\t', None, 4);
    assert_eq!(found, [&b"\"a"[..], b"b\"", b"", b"c"]);
}

#[test]
fn mistakes_in_quotes_are_found() {
    let count = |row: &[u8]| count_fields(row, b',', Some(b'"'));
    assert_eq!(count(b"a,b\"c,d\"e"), Ok(3));
    assert_eq!(count(b"a,\"b"), Err(BadField::Open(2)));
    assert_eq!(count(b"\"\"\"a"), Err(BadField::Open(0)));
    assert_eq!(count(b"a,\"b\"c,d"), Err(BadField::Behind(5)));
    assert_eq!(count(b"a,\"\"b"), Err(BadField::Behind(4)));
    assert_eq!(count(b""), Ok(1));
    assert_eq!(count(b"\r"), Ok(1));
    assert_eq!(count(b","), Ok(2));
}

/// A value of JSON, and a text of it with drawn blanks and escapes.
fn json(draw: &mut Draw, depth: usize, text: &mut String) -> Value {
    let blanks = |draw: &mut Draw| draw.of(&["", "", "", " ", "\t", "  ", "\r\n"]);
    text.push_str(blanks(draw));
    let kinds = if depth > 3 { 6 } else { 12 };
    let value = match draw.below(kinds) {
        0 => literal("null", text),
        1 => literal(draw.of(&["true", "false"]), text),
        2 | 3 => literal(
            draw.of(&["0", "-0", "12", "-1.5", "1e9", "2E-3", "9999"]),
            text,
        ),
        4 | 5 => Value::String(string(draw, text)),
        6 | 7 => {
            text.push('[');
            let count = draw.below(4);
            let elements = (0..count).map(|place| {
                text.push_str(if place > 0 { "," } else { "" });
                json(draw, depth + 1, text)
            });
            let elements = elements.collect();
            text.push_str(blanks(draw));
            text.push(']');
            Value::Array(elements)
        }
        _ => object(draw, depth, text),
    };
    text.push_str(blanks(draw));
    value
}

fn literal(text: &str, out: &mut String) -> Value {
    out.push_str(text);
    serde_json::from_str(text).unwrap()
}

fn object(draw: &mut Draw, depth: usize, text: &mut String) -> Value {
    text.push('{');
    let mut members = serde_json::Map::new();
    let mut names = vec!["a", "b", "price", "a b", "caf\u{e9}", "q\"]}", ""];
    for place in 0..draw.below(6) {
        text.push_str(if place > 0 { ", " } else { " " });
        let name = names.swap_remove(draw.below(names.len()));
        written(draw, name, text);
        text.push_str(draw.of(&[":", ": ", " : "]));
        members.insert(name.to_owned(), json(draw, depth + 1, text));
    }
    text.push('}');
    Value::Object(members)
}

fn string(draw: &mut Draw, text: &mut String) -> String {
    let length = draw.of(&[0, 1, 3, 9, 20]);
    let character = |_| {
        draw.of(&[
            'a',
            'b',
            ' ',
            '"',
            '\\',
            '/',
            '\n',
            '\u{1}',
            '\u{e9}',
            '\u{1F600}',
            ']',
            '}',
            ',',
            'u',
        ])
    };
    let string: String = (0..length).map(character).collect();
    written(draw, &string, text);
    string
}

fn written(draw: &mut Draw, string: &str, text: &mut String) {
    text.push('"');
    let often = draw.below(4);
    for character in string.chars() {
        let must = matches!(character, '"' | '\\' | '\0'..='\x1F');
        match (character, draw.below(4) < often) {
            ('\n', true) => text.push_str("\\n"),
            ('"' | '\\' | '/', true) => text.extend(['\\', character]),
            (_, escape) if must || escape => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    text.push_str(&format!("\\u{unit:04X}"));
                }
            }
            _ => text.push(character),
        }
    }
    text.push('"');
}

/// A drawn path and the value at it.
fn path<'v>(draw: &mut Draw, value: &'v Value) -> (String, Option<&'v Value>) {
    let (mut path, mut at) = ("$".to_owned(), Some(value));
    for _ in 0..draw.below(4) {
        let mut names: Vec<&str> = vec!["a", "price"];
        if let Some(Value::Object(members)) = at {
            names.extend(members.keys().map(String::as_str));
            names.extend(members.keys().map(String::as_str));
        }
        if matches!(at, Some(Value::Array(_))) {
            let element = draw.below(4);
            path += &format!("[{element}]");
            at = at.and_then(|value| value.get(element));
        } else {
            let name = draw.of(&names);
            path += &match name {
                "a" | "price" => format!(".{name}"),
                _ => format!("[{}]", Value::from(name)),
            };
            at = at.and_then(|value| value.get(name));
        }
    }
    (path, at)
}

#[test]
fn values_of_json_are_those_of_serde() {
    let mut draw = Draw(3);
    let mut found = 0;
    for _ in 0..20_000 {
        let mut text = String::new();
        let value_of_row = json(&mut draw, 0, &mut text);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value_of_row);
        let (text_of_path, expected) = path(&mut draw, &value_of_row);
        let path: Path = text_of_path.parse().unwrap();
        assert_eq!(path.to_string().parse::<Path>().unwrap(), path);
        let context = || format!("{text_of_path} of {text}");
        let json = path.json(text.as_bytes());
        assert_eq!(
            path.only(text.as_bytes()).as_ref(),
            Ok(&json),
            "{}",
            context()
        );
        let place = RowPlace::Path(path);
        let value = value(&place, text.as_bytes());
        match expected {
            None | Some(Value::Null) => assert_eq!(json.kind, JsonKind::Missing, "{}", context()),
            Some(Value::Object(_)) => assert_eq!(json.kind, JsonKind::Object, "{}", context()),
            Some(Value::Array(_)) => assert_eq!(json.kind, JsonKind::Array, "{}", context()),
            Some(Value::String(string)) => assert_eq!(value, string.as_bytes(), "{}", context()),
            Some(other) => {
                let again: Value = serde_json::from_slice(&value).unwrap();
                assert_eq!(again, *other, "{}", context());
            }
        }
        if let Some(expected) = expected {
            let raw = &text[json.range];
            assert!(expected.is_null() || serde_json::from_str::<Value>(raw).unwrap() == *expected);
            found += usize::from(!value.is_empty());
        }
        assert_eq!(lone_surrogate(text.as_bytes()), None);
    }
    assert!(found > 2_000, "{found} values were there");
}

#[test]
fn a_member_is_the_first_of_its_name() {
    let row = br#"{"b": 0, "a": {"x": 1, "x": 2}, "a": 3}"#;
    let path: Path = "$.a.x".parse().unwrap();
    assert_eq!(value(&RowPlace::Path(path.clone()), row), b"1");
    assert_eq!(path.only(row), Err(("a", 37)));
    let path = Path::member("b");
    assert!(path.only(row).is_ok());
}

#[test]
fn half_a_character_is_found() {
    let lone = |text: &str| lone_surrogate(text.as_bytes());
    assert_eq!(lone(r#""\ud83d\ude00""#), None);
    assert_eq!(lone(r#""\\ud83d""#), None);
    assert_eq!(lone(r#""a\ud83d""#), Some(2));
    assert_eq!(lone(r#""\ude00\ud83d""#), Some(1));
    assert_eq!(lone(r#""\ud83d\n\ude00""#), Some(1));
    assert_eq!(lone(r#""\u00e9\\""#), None);
}

#[test]
fn a_path_may_begin_with_its_point() {
    let read = |text: &str| text.parse::<Path>().unwrap();
    assert_eq!(read(".a.b[0]"), read("$.a.b[0]"));
}

#[test]
fn paths_with_mistakes_are_refused() {
    for (text, character, words) in [
        ("a", 1, "begins with $"),
        ("$.", 2, "a name is missing"),
        ("$.a..b", 4, "a name is missing"),
        ("$a", 2, "write .NAME"),
        ("$.\u{e9}[", 4, "without"),
        ("$[x]", 2, "from 0, or a name in quotes"),
        ("$[-1]", 2, "from 0"),
        ("$[]", 2, "from 0"),
        ("$['a]", 2, "a quote without its end"),
        ("$['a'", 2, "behind the name"),
        ("$['a'x]", 2, "behind the name"),
        ("$[\"\\x\"]", 2, "not a string of JSON"),
    ] {
        let error = text.parse::<Path>().unwrap_err();
        assert_eq!(error.character, character, "{text}: {error}");
        assert!(error.to_string().contains(words), "{text}: {error}");
    }
}

#[test]
fn names_in_paths_may_have_any_character() {
    for (text, name) in [
        ("$['a b']", "a b"),
        ("$['it\\'s']", "it's"),
        ("$['\"']", "\""),
        ("$[\"a'\\\"\\\\\"]", "a'\"\\"),
        ("$.a b:c", "a b:c"),
        ("$[\"\\u00e9\"]", "\u{e9}"),
    ] {
        assert_eq!(text.parse::<Path>().unwrap(), Path::member(name), "{text}");
    }
}

#[test]
fn any_bytes_have_some_value_within_the_row() {
    let mut draw = Draw(4);
    let paths = ["$", "$.a", "$.a.b", "$[1]", "$.a[0]", "$['\u{e9}']"];
    let places: Vec<RowPlace> = paths
        .iter()
        .map(|path| RowPlace::Path(path.parse().unwrap()))
        .chain((0..4).map(|before| {
            RowPlace::Column(Column {
                separator: b',',
                quote: Some(b'"'),
                before,
            })
        }))
        .collect();
    for _ in 0..60_000 {
        let length = draw.below(24);
        let bytes = b"{}[]\"\"\"\\:,,abu0d8 \xC3\xFF\r";
        let row: Vec<u8> = (0..length).map(|_| draw.of(bytes)).collect();
        for place in &places {
            let (range, inside) = place.ranges(&row);
            let found = value(place, &row);
            assert!(range.end <= row.len() && inside.end <= range.end);
            assert!(
                inside.start >= range.start && found.len() <= range.len().max(3 * inside.len())
            );
        }
        let _ = lone_surrogate(&row);
    }
}

/// Each pair of surrogates is one character, and a lone one is none, at both ends of their ranges.
#[test]
fn surrogates_are_read_at_the_ends_of_their_ranges() {
    let path: RowPlace = RowPlace::Path("$.a".parse().unwrap());
    let read = |units: &[u32]| {
        let text: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
        let row = format!("{{\"a\": \"{text}\"}}").into_bytes();
        (value(&path, &row), lone_surrogate(&row).is_some())
    };
    let ends = [
        0xD7FF, 0xD800, 0xD801, 0xDABC, 0xDBFE, 0xDBFF, 0xDC00, 0xDC01, 0xDDEF, 0xDFFE, 0xDFFF,
        0xE000,
    ];
    let mut seen = std::collections::BTreeMap::new();
    for first in ends {
        for second in ends {
            let units = [first as u16, second as u16];
            let expected = String::from_utf16_lossy(&units);
            let is_text = String::from_utf16(&units).is_ok();
            assert_eq!(
                read(&[first, second]),
                (expected.into_bytes(), !is_text),
                "{units:x?}"
            );
            if is_text {
                let other = seen.insert(read(&[first, second]).0, units);
                assert_eq!(other, None, "as {units:x?}");
            }
        }
    }
    for high in 0xD800..0xDC00 {
        for low in [0xDC00, 0xDDDD, 0xDFFF] {
            let expected = String::from_utf16(&[high as u16, low as u16]).unwrap();
            assert_eq!(read(&[high, low]), (expected.into_bytes(), false));
        }
    }
}
