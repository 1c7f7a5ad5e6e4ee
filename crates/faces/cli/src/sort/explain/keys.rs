//! Keys in words: the order in short, and a line with the bytes of each key underlined.

use record::rows::{Nulls, ValueKind, ValueOrder};
use record::text::{KeyOptions, KeyView, Locale, Reading, TextKey, TextKind, TextOrder};
use record::{Keep, Ties};

use crate::sort::shown::mark;
use terminal::text::printable;

/// Names of months, as they are read.
const MONTHS: [&str; 12] = [
    "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC",
];

/// A line for each key of the order, which says where it is and how it is read, and one for lines
/// with equal keys, whose numbers in `sums` are added up.
pub(super) fn summary(order: &TextOrder, keep: Keep, sums: &[String]) -> Vec<String> {
    let is_keyed = !order.given().is_empty();
    let nulls: Vec<&str> = order.null_words().collect();
    let with_nulls = if nulls.is_empty() {
        String::new()
    } else {
        format!(" or with {}", nulls.join(" or "))
    };
    let keys = order.keys().iter().zip(1..).map(|(key, number)| {
        let place = if is_keyed {
            format!("-k {key}")
        } else {
            "the whole line".to_owned()
        };
        format!(
            "key {number}, {place}: {}",
            match key.value {
                Some(value) => format!(
                    "{}, lines without it{with_nulls} {}",
                    reads_value(value, order.locale()),
                    end_of_missing(value)
                ),
                None => reads(&key.options, order.locale()),
            }
        )
    });
    let direction = if order.ties_reverse() {
        ", the largest first"
    } else {
        ""
    };
    let has_last_resort = order.explain(b"").iter().any(|view| view.key.is_none());
    let equal = match order.ties() {
        _ if keep.is_unique() => Some(kept(keep, sums)),
        Ties::Position | Ties::LastPosition => Some("in the order of the input".to_owned()),
        Ties::Record if has_last_resort => Some(format!("compared as bytes{direction}")),
        Ties::Record => None,
    };
    let equal = equal.map(|equal| format!("lines with equal keys: {equal}"));
    keys.chain(equal).collect()
}

/// The one of records with equal keys that is kept, and the totals that it has.
pub(super) fn kept(keep: Keep, sums: &[String]) -> String {
    let one = match keep.ties() {
        Ties::LastPosition => "last",
        _ => "first",
    };
    let number = if keep.counts() {
        ", behind the number of all"
    } else {
        ""
    };
    let totals = match sums {
        [] => String::new(),
        sums => format!(", with the totals of {}", sums.join(", ")),
    };
    format!("only the {one} is kept{number}{totals}")
}

/// How text is compared.
pub(super) fn text_by(locale: Option<Locale>) -> String {
    locale.map_or("bytes".to_owned(), |locale| {
        format!("text by the rules of {}", locale.tag())
    })
}

/// How a value of a type is read.
pub(super) fn reads_value(order: ValueOrder, locale: Option<Locale>) -> String {
    let locale = order.locale.or(locale);
    let text = text_by(locale);
    let kind: &str = match (order.kind, locale) {
        (ValueKind::Text, _) if order.no_case => &format!("{text}, without case"),
        (ValueKind::Text, _) => &text,
        (ValueKind::Number, _) => "a number",
        (ValueKind::Natural, None) => "a name with numbers in it",
        (ValueKind::Natural, Some(_)) => &format!("{text}, with numbers in it"),
        (ValueKind::Date, _) => "a date",
        (ValueKind::Form(form), _) => form.meaning(),
    };
    let direction = if order.descending {
        ", the largest first"
    } else {
        ""
    };
    format!("{kind}{direction}")
}

/// The end at which records without such a value stand.
pub(super) fn end_of_missing(order: ValueOrder) -> &'static str {
    let is_last = match order.nulls {
        Nulls::Least => order.descending,
        Nulls::First => false,
        Nulls::Last => true,
    };
    if is_last { "last" } else { "first" }
}

/// How a key is read.
fn reads(options: &KeyOptions, locale: Option<Locale>) -> String {
    let kind: &str = match options.kind() {
        TextKind::Text => &text_by(locale),
        TextKind::Numeric => "a decimal number",
        TextKind::General => "a floating-point number",
        TextKind::Human => "a number with a unit, such as 2K",
        TextKind::Month => "the name of a month",
        TextKind::Version => "a name with a version number",
        TextKind::Random => "shuffled, equal keys together",
    };
    let others = [
        (options.dictionary, "only blanks, letters and digits"),
        (
            options.printable && !options.dictionary,
            "only printable characters",
        ),
        (options.fold, "small letters as capital ones"),
        (
            options.blanks_start || options.blanks_end,
            "without blanks before it",
        ),
        (options.reverse, "the largest first"),
    ];
    let others = others.into_iter().filter(|(given, _)| *given);
    let parts: Vec<&str> = [kind]
        .into_iter()
        .chain(others.map(|(_, part)| part))
        .collect();
    parts.join(", ")
}

/// A line, and below it the bytes of each key, underlined, with what they were read as.
pub(super) fn explained(order: &TextOrder, name: &str, line: &[u8]) -> Vec<String> {
    let begin = format!("{name}: ");
    let indent = begin.len();
    let views = order.explain(line);
    let seen = without_newlines(line);
    let mark_of = |view: &KeyView| mark(&seen, view.read.clone(), "^");
    let marks: Vec<String> = views.iter().map(mark_of).collect();
    let widest = marks.iter().map(String::len).max();
    let width = widest.unwrap_or(0).min(MOST_COLUMNS);
    let shown = views.iter().zip(marks).map(|(view, mark)| {
        let name = view
            .key
            .map_or("equal keys".to_owned(), |key| format!("key {key}"));
        format!(
            "{:indent$}{mark:<width$}  {name}: {}",
            "",
            read_as(line, view)
        )
    });
    [format!("{begin}{}", text(&seen))]
        .into_iter()
        .chain(shown)
        .collect()
}

/// Words stand right of the marks, unless those are wider.
const MOST_COLUMNS: usize = 48;

/// The type that the bytes of a key were read as, in words.
fn read_as(line: &[u8], view: &KeyView) -> String {
    let read = quoted(&line[view.read.clone()]);
    let whole = quoted(&line[view.range.clone()]);
    let plainly = view.plainly.as_ref().map(|plainly| format!(", {plainly}"));
    let plainly = plainly.unwrap_or_default();
    match view.reading {
        Reading::Text if view.key.is_none() => "the whole line".to_owned(),
        Reading::Text | Reading::Natural | Reading::Binary => format!("the bytes {whole}"),
        Reading::Date { found: true } => format!("the date {read}{plainly}"),
        Reading::Date { found: false } => format!("no date in {whole}"),
        Reading::Form { found: true } => format!("the value {read}{plainly}"),
        Reading::Form { found: false } => format!("no such value in {whole}"),
        Reading::Missing => "no value".to_owned(),
        Reading::Number { found: true } => format!("the number {read}"),
        Reading::Number { found: false } => format!("no number in {whole}"),
        Reading::Month(Some(month)) => {
            let name = MONTHS
                .get(usize::from(month).wrapping_sub(1))
                .unwrap_or(&"?");
            format!("the month {name}")
        }
        Reading::Month(None) => format!("no month in {whole}"),
        Reading::Version => format!("the version {whole}"),
        Reading::Random => format!("a hash of {whole}"),
    }
}

/// Warnings of keys that have no number or month in this line. A blank field is one left out on
/// purpose.
pub(super) fn missing(order: &TextOrder, line: &[u8]) -> Vec<String> {
    let has_text = |view: &KeyView| !line[view.range.clone()].trim_ascii().is_empty();
    let views = order.explain(line).into_iter();
    let warned = views.filter(has_text).filter_map(|view| {
        let key = view.key?;
        let part = quoted(&line[view.range.clone()]);
        let given = order.keys().get(key - 1)?;
        let general = is_general(given);
        match view.reading {
            // It is a mistake there.
            _ if given.value.is_some() => None,
            Reading::Number { found: false } if general => Some(format!(
                "key {key} finds no number in {part}, which is less than any"
            )),
            Reading::Number { found: false } => Some(format!(
                "key {key} finds no number in {part}, which counts as 0"
            )),
            Reading::Month(None) => Some(format!(
                "key {key} finds no month in {part}, which comes before JAN"
            )),
            _ => None,
        }
    });
    warned.collect()
}

fn is_general(key: &TextKey) -> bool {
    key.options.kind() == TextKind::General
}

/// Bytes in quotation marks, shortened.
fn quoted(bytes: &[u8]) -> String {
    const MOST: usize = 40;
    let text = String::from_utf8_lossy(bytes);
    let mut shown: String = text.chars().take(MOST).collect();
    if text.chars().count() > MOST {
        shown += "...";
    }
    format!("\"{}\"", printable(&shown))
}

/// A record in one line: a newline within it as |.
fn without_newlines(record: &[u8]) -> Vec<u8> {
    let shown = |&byte: &u8| if byte == b'\n' { b'|' } else { byte };
    record.iter().map(shown).collect()
}

/// A line as it is shown: each byte that takes a column takes one here, a tab as >.
fn text(line: &[u8]) -> String {
    let shown = |&byte: &u8| match byte {
        b'\t' => Some(b'>'),
        byte if byte.is_ascii_control() => None,
        byte => Some(byte),
    };
    let bytes: Vec<u8> = line.iter().filter_map(shown).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(keys: &[&str], global: &str, separator: Option<u8>) -> TextOrder {
        let keys = keys.iter().map(|key| key.parse().unwrap()).collect();
        let global = global.parse().unwrap();
        TextOrder::new(keys, global, separator, Ties::Record, None).unwrap()
    }

    #[test]
    fn keys_are_underlined_and_named() {
        let order = order(&["2,2nr", "1,1f"], "", Some(b','));
        assert_eq!(
            summary(&order, Keep::All, &[]),
            [
                "key 1, -k 2nr,2: a decimal number, the largest first",
                "key 2, -k 1f,1: bytes, small letters as capital ones",
                "lines with equal keys: compared as bytes",
            ]
        );
        assert_eq!(
            explained(&order, "line 7", b"pears,-12.5x,7"),
            [
                "line 7: pears,-12.5x,7",
                "              _____     key 1: the number \"-12.5\"",
                "        _____           key 2: the bytes \"pears\"",
                "        ______________  equal keys: the whole line",
            ]
        );
    }

    #[test]
    fn missing_numbers_are_warned_of() {
        let numeric = order(&["2,2n"], "", Some(b','));
        let warned = missing(&numeric, b"a,b\x1b\n,c");
        assert_eq!(
            warned,
            ["key 1 finds no number in \"b\\u{1b}\\n\", which counts as 0"]
        );
        for line in ["a,1", "a,", "a, ", "a", ""] {
            assert!(missing(&numeric, line.as_bytes()).is_empty(), "{line}");
        }
        let general = order(&["1,1g"], "", Some(b','));
        assert!(missing(&general, b"x,1")[0].contains("less than any"));
        let month = order(&["1,1M"], "", Some(b','));
        assert!(missing(&month, b"xyz,1")[0].contains("before JAN"));
        assert!(missing(&month, b"feb,1").is_empty());
        let line = &explained(&month, "line 1", b"february")[1];
        assert!(line.ends_with("key 1: the month FEB"), "{line}");
    }

    #[test]
    fn the_whole_line_is_explained_without_keys() {
        let plain = order(&[], "", None);
        assert_eq!(
            summary(&plain, Keep::All, &[]),
            ["key 1, the whole line: bytes"]
        );
        let kept = summary(&plain, Keep::First, &[]);
        assert_eq!(kept[1], "lines with equal keys: only the first is kept");
        assert_eq!(
            explained(&plain, "line 1", b"a\tb"),
            ["line 1: a>b", "        ___  key 1: the bytes \"a\\tb\""]
        );
    }
}
