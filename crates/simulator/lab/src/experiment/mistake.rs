//! The first mistake of a file, with its line and its table.
//!
//! ```text
//!   text --> reader of TOML --> Experiment --> checks
//!                |                               |
//!              a span --> the path to it --.     a table and a message, which begins with its key,
//!                                          |     as in `over: 8 appears twice` --> the path to it
//!                        line, table <-----'------------------------------------------'
//! ```

use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue, Deserializer, Error};

use crate::error::Mistake;
use crate::sweep::meant;

/// The format of the files; one without a number has it, too.
const FORMAT: &str = "1";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Table {
    /// The keys and numbers that lead to it.
    path: Vec<String>,
    /// Its name for people; empty at the top of the file.
    told: String,
}

pub(super) type Wrong = (Table, String);

impl Table {
    /// The top of the file.
    pub fn head() -> Table {
        Table {
            path: Vec::new(),
            told: String::new(),
        }
    }

    /// A table that is no member of a list.
    pub fn named(path: &[&str]) -> Table {
        Table {
            path: path.iter().map(|key| (*key).to_owned()).collect(),
            told: format!("[{}]", path.join(".")),
        }
    }

    /// A table of a list by its number, from 0, with the id or name that it gives itself.
    pub fn of(list: &str, number: usize, id: &str) -> Table {
        Table {
            path: vec![list.to_owned(), number.to_string()],
            told: format!("[[{list}]] '{id}'"),
        }
    }
}

pub(super) fn read<T: DeserializeOwned>(text: &str) -> Result<T, Mistake> {
    let (document, errors) = DeTable::parse_recoverable(text);
    let first = errors
        .iter()
        .min_by_key(|it| it.span().map(|span| span.start));
    if let Some(error) = first {
        return Err(of_reader(text, error, Vec::new()));
    }
    if let Some(format) = document.get_ref().get("format")
        && format.get_ref().as_integer().map(DeInteger::as_str) != Some(FORMAT)
    {
        return Err(Mistake {
            line: Some(line_at(text, format.span().start)),
            table: String::new(),
            why: format!(
                "format: this version reads experiment files of format {FORMAT}; a newer gristmill may read this one"
            ),
        });
    }
    T::deserialize(Deserializer::from(document.clone())).map_err(|error| {
        let span = error.span().unwrap_or_default();
        let path = path_to(&DeValue::Table(document.into_inner()), &span);
        of_reader(text, &error, path.unwrap_or_default())
    })
}

/// The mistake that a check found, in a text where that is known.
pub(super) fn found(text: Option<&str>, (table, why): Wrong) -> Mistake {
    Mistake {
        line: text.and_then(|text| line_of(text, &table, &why)),
        table: table.told,
        why,
    }
}

/// The line of the key that a message begins with, or of its table.
fn line_of(text: &str, table: &Table, why: &str) -> Option<usize> {
    let document = DeValue::Table(DeTable::parse(text).ok()?.into_inner());
    let is_of_key = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
    let key = why.split(|letter| !is_of_key(letter)).next();
    let (mut value, mut found) = (&document, None);
    let mut enter = |name: &str| {
        let mut entries = entries(value).into_iter();
        let (_, place, inner) = entries.find(|(known, ..)| known == name)?;
        (value, found) = (inner.get_ref(), Some(line_at(text, place.start)));
        found
    };
    for name in &table.path {
        enter(name)?;
    }
    let mut names = key.into_iter().flat_map(|key| key.split('.'));
    while names.next().and_then(&mut enter).is_some() {}
    found
}

/// The entries of a table with their keys, or of a list with their numbers, and where those are.
fn entries<'a, 'i>(
    value: &'a DeValue<'i>,
) -> Vec<(String, Range<usize>, &'a Spanned<DeValue<'i>>)> {
    match value {
        DeValue::Table(entries) => {
            let named = entries.iter();
            let named = named.map(|(key, value)| (key.get_ref().to_string(), key.span(), value));
            named.collect()
        }
        DeValue::Array(items) => {
            let numbered = items.iter().enumerate();
            let numbered = numbered.map(|(at, item)| (at.to_string(), item.span(), item));
            numbered.collect()
        }
        _ => Vec::new(),
    }
}

/// The reader's error at the end of a path as a mistake.
fn of_reader(text: &str, error: &Error, path: Vec<String>) -> Mistake {
    let start = error.span().unwrap_or_default().start;
    let words: Vec<&str> = path.iter().map(String::as_str).collect();
    let (table, key) = match words[..] {
        [list @ ("grid" | "series" | "line"), _, ref rest @ ..] => (format!("[[{list}]]"), rest),
        ["chart", name, ref rest @ ..] => (format!("[chart.{name}]"), rest),
        [table @ ("changes" | "smoke"), ref rest @ ..] => (format!("[{table}]"), rest),
        ref rest => (String::new(), rest),
    };
    let key = key
        .first()
        .map_or_else(String::new, |key| format!("{key}: "));
    Mistake {
        line: Some(line_at(text, start)),
        table,
        why: why(&key, &error.message().replace('\n', " ")),
    }
}

/// The keys and numbers that lead to the key or the value of a span.
fn path_to(value: &DeValue<'_>, span: &Range<usize>) -> Option<Vec<String>> {
    entries(value).into_iter().find_map(|(name, key, value)| {
        let is_it = key == *span || value.span() == *span;
        let inner = path_to(value.get_ref(), span).or_else(|| is_it.then(Vec::new))?;
        Some([vec![name], inner].concat())
    })
}

/// The reader's message for people; `key` has a colon.
fn why(key: &str, message: &str) -> String {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    match quoted[..] {
        [given, ref known @ ..] if message.starts_with("unknown field") => {
            match meant(given, known.iter().copied()) {
                Some(meant) => format!("there is no key '{given}'; did you mean {meant}?"),
                None => format!("there is no key '{given}'; there are {}", known.join(", ")),
            }
        }
        [given, ref known @ ..] if message.starts_with("unknown variant") => {
            format!("{key}'{given}' is none of {}", known.join(", "))
        }
        _ => format!("{key}{message}"),
    }
}

fn line_at(text: &str, offset: usize) -> usize {
    1 + text.get(..offset).unwrap_or_default().matches('\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_on_the_line_of_its_key() {
        let text = "machine = 'x'\n\n[[series]]\nid = 'x'\nover = [1]\nwith = {\n cores = 1 }\n";
        let find = |why| line_of(text, &Table::of("series", 0, "x"), why);
        assert_eq!(find("over: 8 appears twice"), Some(5));
        assert_eq!(find("with.cores: too many"), Some(7));
        assert_eq!(find("with.keys: too many"), Some(6));
        assert_eq!(find("at: missing"), Some(3));
        assert_eq!(line_of(text, &Table::head(), "over: no"), None);
        assert_eq!(
            line_of(text, &Table::of("series", 1, "x"), "over: no"),
            None
        );
    }
}
