//! Reading a file with all its mistakes.
//!
//! A reader of TOML ends at the first value that does not fit. So a value that does not fit is
//! told, taken out of the document, and the rest is read again:
//!
//! ```text
//!   text --> document --> experiment
//!               ^  |
//!   without it  '--' mistake: a key or a value, with its line
//! ```
//!
//! A key that was taken out is missing afterwards. That follows from a mistake that was told, and
//! is not told again.

use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue, Deserializer, Error};

use super::Experiment;
use super::mistake::{Lines, Mistakes, Table, meant};

/// More mistakes than a reader looks at.
const MOST: usize = 100;

/// Reads the text of a file; `None` if nothing can be read.
pub(super) fn read(text: &str) -> (Option<Experiment>, Mistakes) {
    let (mut document, errors) = DeTable::parse_recoverable(text);
    let mut mistakes = Mistakes::with(lines(text, document.get_ref()));
    for error in &errors {
        let line = error.span().map(|span| line_of(text, span.start));
        mistakes.add_at(line, Table::Head, "", one_line(error.message()));
    }
    if !errors.is_empty() {
        return (None, mistakes);
    }
    for _ in 0..MOST {
        let error = match Experiment::deserialize(Deserializer::from(document.clone())) {
            Ok(experiment) => return (Some(experiment), mistakes),
            Err(error) => error,
        };
        let span = error.span().unwrap_or_default();
        let line = line_of(text, span.start);
        let Some(place) = take_out(document.get_mut(), &span) else {
            mistakes.add_at(Some(line), Table::Head, "", one_line(error.message()));
            break;
        };
        tell(&mut mistakes, line, &place, &error);
    }
    (None, mistakes)
}

/// The tables and keys of a document by line.
fn lines(text: &str, document: &DeTable<'_>) -> Lines {
    let mut lines = Lines::default();
    for (key, value) in document {
        let name = key.get_ref().as_ref();
        note(&mut lines, text, &table_of(&[name]), name, key.span());
        let of_chart = value.get_ref().as_table().filter(|_| name == CHART);
        for (chart, value) in of_chart.into_iter().flatten() {
            let table = Table::Chart(chart.get_ref().to_string());
            note(&mut lines, text, &table, "", chart.span());
            keys(&mut lines, text, &table, value);
        }
        for (number, item) in value.get_ref().as_array().into_iter().flatten().enumerate() {
            if let Some(table) = numbered(name, number) {
                note(&mut lines, text, &table, "", item.span());
                keys(&mut lines, text, &table, item);
            }
        }
        if of_chart.is_none() && value.get_ref().is_table() {
            keys(&mut lines, text, &table_of(&[name]), value);
        }
    }
    lines
}

/// The keys of a table, and of the tables in it.
fn keys(lines: &mut Lines, text: &str, table: &Table, value: &Spanned<DeValue<'_>>) {
    for (key, value) in value.get_ref().as_table().into_iter().flatten() {
        let name = key.get_ref().as_ref();
        note(lines, text, table, name, key.span());
        for (inner, _) in value.get_ref().as_table().into_iter().flatten() {
            let name = format!("{name}.{}", inner.get_ref());
            note(lines, text, table, &name, inner.span());
        }
    }
}

fn note(lines: &mut Lines, text: &str, table: &Table, key: &str, span: Range<usize>) {
    let line = line_of(text, span.start);
    lines.0.insert((table.clone(), key.to_owned()), line);
}

const CHART: &str = "chart";

/// The table of a path that does not lead into a list.
fn table_of(path: &[&str]) -> Table {
    match path {
        ["changes", ..] => Table::Changes,
        ["smoke", ..] => Table::Smoke,
        [CHART, name, ..] => Table::Chart((*name).to_owned()),
        _ => Table::Head,
    }
}

/// The table of that number in a list of tables.
fn numbered(name: &str, number: usize) -> Option<Table> {
    match name {
        "grid" => Some(Table::Grid(number)),
        "series" => Some(Table::Series(number)),
        "line" => Some(Table::Line(number)),
        _ => None,
    }
}

/// The place of a value that was taken out.
struct Place {
    table: Table,
    /// The outermost key in the table.
    key: String,
}

/// Takes the key or the value of that span out of a document, or the smallest value around it.
fn take_out(document: &mut DeTable<'_>, span: &Range<usize>) -> Option<Place> {
    let mut path = Vec::new();
    remove(document, span, &mut path).then_some(())?;
    path.reverse();
    let words: Vec<&str> = path.iter().map(String::as_str).collect();
    let (table, rest) = match words[..] {
        [list, number, ..] if number.parse::<usize>().is_ok() => {
            (numbered(list, number.parse().ok()?)?, 2)
        }
        _ => match table_of(&words) {
            Table::Head => (Table::Head, 0),
            table @ Table::Chart(_) => (table, 2),
            table => (table, 1),
        },
    };
    let key = words.get(rest).copied().unwrap_or_default().to_owned();
    Some(Place { table, key })
}

/// Removes an entry; `path` has its keys afterwards, the innermost first.
fn remove(table: &mut DeTable<'_>, span: &Range<usize>, path: &mut Vec<String>) -> bool {
    let is_it = |(key, value): &(&Spanned<DeString<'_>>, &Spanned<DeValue<'_>>)| {
        key.span() == *span || value.span() == *span
    };
    let exact = table.iter().find(is_it);
    let mut found = exact.map(|(key, _)| key.get_ref().to_string());
    if found.is_none() {
        for (key, value) in table.iter_mut() {
            let (name, of) = (key.get_ref().to_string(), value.span());
            if remove_inside(value.get_mut(), span, path) {
                path.push(name);
                return true;
            }
            if of.start <= span.start && span.end <= of.end {
                found = Some(name);
            }
        }
    }
    let Some(name) = found else {
        return false;
    };
    table.remove(name.as_str());
    path.push(name);
    true
}

/// Removes an entry of a table, or of a table in a list.
fn remove_inside(value: &mut DeValue<'_>, span: &Range<usize>, path: &mut Vec<String>) -> bool {
    match value {
        DeValue::Table(inner) => remove(inner, span, path),
        DeValue::Array(items) => {
            let mut items = items.iter_mut().enumerate();
            let found = items.find_map(|(number, item)| match item.get_mut() {
                DeValue::Table(inner) => remove(inner, span, path).then_some(number),
                _ => None,
            });
            found.map(|number| path.push(number.to_string())).is_some()
        }
        _ => false,
    }
}

/// Tells why a value was taken out.
fn tell(mistakes: &mut Mistakes, line: usize, place: &Place, error: &Error) {
    let Place { table, key } = place;
    let message = one_line(error.message());
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let why = match quoted[..] {
        [given, ref known @ ..] if message.starts_with("unknown field") => {
            match meant(given, known.iter().copied()) {
                Some(meant) => {
                    // Its value was meant for that key.
                    mistakes.lose(table, meant);
                    format!("there is no key '{given}'; did you mean {meant}?")
                }
                None => format!("there is no key '{given}'; there are {}", known.join(", ")),
            }
        }
        [given, ref known @ ..] if message.starts_with("unknown variant") => {
            let known = known.join(", ");
            format!("{key}: '{given}' is none of {known}")
        }
        _ => format!("{key}: {message}"),
    };
    mistakes.lose(table, key);
    let name = match table {
        Table::Head => String::new(),
        Table::Changes => "[changes]".to_owned(),
        Table::Smoke => "[smoke]".to_owned(),
        Table::Chart(name) => format!("[chart.{name}]"),
        Table::Grid(_) => "[[grid]]".to_owned(),
        Table::Series(_) => "[[series]]".to_owned(),
        Table::Line(_) => "[[line]]".to_owned(),
    };
    mistakes.add_at(Some(line), table.clone(), &name, why);
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text.get(..offset).unwrap_or_default().matches('\n').count()
}

fn one_line(message: &str) -> String {
    message.replace('\n', " ")
}
