//! Draws rows with values of every kind, and remembers the values.

use record::Ties;
use record::rows::{Dialect, Header, Nulls, RowKey, RowOrder, ValueKind, ValueOrder};

use super::forms::{self, FORMS};
use crate::text::draw::Draw;

/// Columns of drawn rows: one of each kind, and one more of text.
pub const COLUMNS: [(&str, ValueKind); 12] = [
    ("name", ValueKind::Text),
    ("price", ValueKind::Number),
    ("file, old", ValueKind::Natural),
    ("at", ValueKind::Date),
    ("note:num", ValueKind::Text),
    ("cost", ValueKind::Form(FORMS[0])),
    ("disk", ValueKind::Form(FORMS[1])),
    ("id", ValueKind::Form(FORMS[2])),
    ("host", ValueKind::Form(FORMS[3])),
    ("release", ValueKind::Form(FORMS[4])),
    ("width", ValueKind::Form(FORMS[5])),
    ("born", ValueKind::Form(FORMS[6])),
];

pub const DIALECTS: [Dialect; 5] = [
    Dialect::CSV,
    Dialect::Csv {
        separator: b';',
        quote: b'\'',
    },
    Dialect::Csv {
        separator: b'\t',
        quote: b'"',
    },
    Dialect::Tsv,
    Dialect::JsonLines,
];

/// A value of each column; `None` if it is missing.
pub type Values = Vec<Option<Vec<u8>>>;

pub fn header(dialect: Dialect) -> Option<Header> {
    let names = COLUMNS.map(|(name, _)| name.as_bytes());
    let separator = dialect.separator()?;
    let fields = names.map(|name| field(name, separator, dialect.quote()));
    Some(Header::parse(dialect, &fields.join(&separator)).unwrap())
}

/// Words that may stand for missing values, and are values of some columns.
const NULLS: [&str; 3] = ["a", "0", "NA"];

/// An order by some of the columns, these, and the words that stand for missing values.
pub struct Drawn {
    pub order: RowOrder,
    pub keys: Vec<(usize, RowKey)>,
    pub nulls: &'static [&'static str],
}

/// An order by some of the columns.
pub fn order(draw: &mut Draw, dialect: Dialect) -> Drawn {
    let count = draw.below(4);
    let keys = (0..count).map(|_| {
        let column = draw.below(COLUMNS.len());
        let (name, kind) = COLUMNS[column];
        // Every value is also text.
        let kind = [kind, kind, ValueKind::Text, ValueKind::Natural][draw.below(4)];
        let order = ValueOrder {
            kind,
            descending: draw.one_in(2),
            nulls: [Nulls::Least, Nulls::First, Nulls::Last][draw.below(3)],
            no_case: kind == ValueKind::Text && draw.one_in(3),
            locale: None,
        };
        let name = name.to_owned();
        let key = RowKey { name, order };
        let number = dialect.has_columns() && draw.one_in(4);
        let name = if number {
            format!("#{}", column + 1)
        } else {
            key.name.clone()
        };
        (column, RowKey { name, ..key })
    });
    let keys: Vec<_> = keys.collect();
    let given: Vec<RowKey> = keys.iter().map(|(_, key)| key.clone()).collect();
    let ties = [Ties::Record, Ties::Position][draw.below(2)];
    let order = RowOrder::new(dialect, header(dialect).as_ref(), &given, ties).unwrap();
    let nulls = if draw.one_in(4) { &NULLS[..] } else { &[] };
    let words: Vec<String> = nulls.iter().map(|&word| word.to_owned()).collect();
    let order = order.with_nulls(&words);
    Drawn { order, keys, nulls }
}

pub fn values(draw: &mut Draw) -> Values {
    let value = |(_, kind): (&str, ValueKind)| {
        let value = match kind {
            ValueKind::Number => number(draw),
            ValueKind::Natural => natural(draw),
            ValueKind::Date => date(draw),
            ValueKind::Text => text(draw),
            ValueKind::Form(form) => forms::draw(form, draw),
        };
        (!draw.one_in(8)).then_some(value.into_bytes())
    };
    COLUMNS.map(value).to_vec()
}

fn text(draw: &mut Draw) -> String {
    let pieces = [
        "a",
        "b",
        " ",
        "\"",
        "'",
        ",",
        ";",
        "\\",
        "\u{e9}",
        "abcdefg",
        "\u{1F600}",
        "B",
        "/",
    ];
    let count = [0, 1, 2, 3, 6, 20][draw.below(6)];
    (0..count).map(|_| draw.of(&pieces)).collect()
}

fn number(draw: &mut Draw) -> String {
    let digits = |draw: &mut Draw| -> String {
        let most = [1, 2, 4, 13, 30][draw.below(5)];
        let count = 1 + draw.below(most);
        let digit = |_| char::from(b'0' + [0, 0, 1, 2, 5, 9, 9][draw.below(7)]);
        (0..count).map(digit).collect()
    };
    let sign = draw.of(&["", "", "-", "-", "+"]).to_owned();
    let number = match draw.below(5) {
        0 => format!(".{}", digits(draw)),
        1 => format!("{}.", digits(draw)),
        2 => digits(draw),
        _ => format!("{}.{}", digits(draw), digits(draw)),
    };
    let power = match draw.below(4) {
        0 => format!(
            "{}{}{}",
            draw.of(&["e", "E"]),
            draw.of(&["", "-", "+"]),
            draw.below(80)
        ),
        1 => draw.of(&["", " ", "e0", "e-00"]).to_owned(),
        _ => String::new(),
    };
    sign + &number + &power
}

fn natural(draw: &mut Draw) -> String {
    let pieces = [
        "file",
        "a",
        ".",
        "~",
        "0",
        "1",
        "9",
        "00",
        "10",
        "7",
        ":",
        "/",
        "12345678",
        "999999999",
    ];
    let mut text: String = (0..draw.below(5)).map(|_| draw.of(&pieces)).collect();
    if draw.one_in(10) {
        text += &"31".repeat(draw.below(300));
    }
    text
}

/// Dates near each other, and in many forms.
pub fn date(draw: &mut Draw) -> String {
    let year = [0, 4, 1900, 1969, 1970, 2000, 2024, 9999][draw.below(8)];
    let (month, day) = (1 + draw.below(12), 1 + draw.below(28));
    let separator = draw.of(&["-", "-", "/"]);
    let date = format!("{year:04}{separator}{month:02}{separator}{day:02}");
    let time = match draw.below(4) {
        0 => return date,
        1 if draw.one_in(2) => return date.replace(separator, ""),
        1 => format!("{:02}:{:02}", draw.below(24), draw.below(60)),
        2 => format!(
            "{:02}:{:02}:{:02}",
            draw.below(24),
            draw.below(60),
            draw.below(61)
        ),
        _ => {
            let fraction = draw.of(&[
                "0",
                "5",
                "50",
                "123",
                "123456789",
                "000000001",
                "12345678901",
            ]);
            format!("{:02}:00:{:02}.{fraction}", draw.below(3), draw.below(3))
        }
    };
    let zone = match draw.below(5) {
        0 => String::new(),
        1 => draw.of(&["Z", "z"]).to_owned(),
        2 => format!("{}{:02}", draw.of(&["+", "-"]), draw.below(24)),
        3 => format!(
            "{}{:02}{:02}",
            draw.of(&["+", "-"]),
            draw.below(24),
            draw.below(60)
        ),
        _ => format!(
            "{}{:02}:{:02}",
            draw.of(&["+", "-"]),
            draw.below(24),
            draw.below(60)
        ),
    };
    format!("{date}{}{time}{zone}", draw.of(&["T", " ", "t"]))
}

/// A row with these values.
pub fn row(draw: &mut Draw, dialect: Dialect, values: &Values) -> Vec<u8> {
    let Some(separator) = dialect.separator() else {
        return json(draw, values);
    };
    let fields = values.iter().map(|value| {
        let value = value.as_deref().unwrap_or_default();
        let quote = dialect.quote();
        let optional = quote.filter(|_| draw.one_in(3));
        match optional {
            Some(quote) => quoted(value, quote),
            None => field(value, separator, quote),
        }
    });
    let mut row = fields.collect::<Vec<_>>().join(&separator);
    if draw.one_in(3) {
        row.push(b'\r');
    }
    row
}

fn field(value: &[u8], separator: u8, quote: Option<u8>) -> Vec<u8> {
    let needs = |quote: &u8| {
        value
            .iter()
            .any(|byte| [*quote, separator, b'\n', b'\r'].contains(byte))
    };
    match quote.filter(needs) {
        Some(quote) => quoted(value, quote),
        None => value.to_vec(),
    }
}

fn quoted(value: &[u8], quote: u8) -> Vec<u8> {
    let mut field = vec![quote];
    for &byte in value {
        field.push(byte);
        field.extend((byte == quote).then_some(quote));
    }
    field.push(quote);
    field
}

fn json(draw: &mut Draw, values: &Values) -> Vec<u8> {
    let mut members = Vec::new();
    for ((name, kind), value) in COLUMNS.iter().zip(values) {
        let Some(value) = value else {
            if draw.one_in(2) {
                members.push(format!("{:?}: null", name));
            }
            continue;
        };
        let text = std::str::from_utf8(value).unwrap();
        let is_number = *kind == ValueKind::Number
            && draw.one_in(2)
            && serde_json::from_str::<serde_json::Number>(text).is_ok()
            && text.trim() == text;
        let value = if is_number {
            text.to_owned()
        } else {
            serde_json::Value::from(text).to_string()
        };
        members.push(format!("{}:{value}", serde_json::Value::from(*name)));
    }
    let place = draw.below(members.len() + 1);
    members.insert(place, "\"x\": [{\"price\": \"]\"}, 1]".to_owned());
    format!("{{{}}}", members.join(draw.of(&[",", ", "]))).into_bytes()
}
