//! Mistakes of a file: all of them, each with its line and its table.
//!
//! A message begins with its key, as in `over: 8 appears twice`. So the line of a mistake is that
//! of the key, or else that of its table.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Mistake;

/// A table of a file; series and lines are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Table {
    Head,
    Changes,
    Smoke,
    Chart(String),
    Grid(usize),
    Series(usize),
    Line(usize),
}

/// The lines of tables and keys; the key of a table's header is empty, and a key of an inline table
/// follows a dot, as in `with.cores`.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines(pub BTreeMap<(Table, String), usize>);

impl Lines {
    /// The line of the key that a message begins with, or of its table.
    fn find(&self, table: &Table, why: &str) -> Option<usize> {
        let key = key_of(why);
        let of = |key: &str| self.0.get(&(table.clone(), key.to_owned())).copied();
        let outer = key.split('.').next().unwrap_or_default();
        of(key).or_else(|| of(outer)).or_else(|| of(""))
    }
}

/// The key that a message begins with.
fn key_of(why: &str) -> &str {
    let is_of_key = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
    let rest = why.trim_start_matches(is_of_key);
    &why[..why.len() - rest.len()]
}

/// Takes the mistakes of a table.
pub(super) type Tell<'a> = &'a mut dyn FnMut(String);

/// Mistakes as they are found.
#[derive(Debug, Default)]
pub(super) struct Mistakes {
    lines: Lines,
    found: Vec<(Table, Mistake)>,
    /// Keys whose value was wrong, so that they look as if they were missing.
    lost: BTreeSet<(Table, String)>,
}

impl Mistakes {
    pub fn with(lines: Lines) -> Mistakes {
        Mistakes {
            lines,
            ..Mistakes::default()
        }
    }

    /// Adds a mistake in a table, `name` for people, unless it follows from one that was told.
    pub fn add(&mut self, table: Table, name: &str, why: String) {
        // It may be about several keys, as in "paper and unit: one of them is missing".
        let keys = why.split(": ").next().unwrap_or_default();
        if keys
            .split(" and ")
            .any(|key| self.has_lost(&table, key_of(key)))
        {
            return;
        }
        let line = self.lines.find(&table, &why);
        self.add_at(line, table, name, why);
    }

    /// Adds a mistake of the reader, on a line that it knows.
    pub fn add_at(&mut self, line: Option<usize>, table: Table, name: &str, why: String) {
        let mistake = Mistake {
            line,
            table: name.to_owned(),
            why,
        };
        self.found.push((table, mistake));
    }

    /// A key has no value, and that was told.
    pub fn lose(&mut self, table: &Table, key: &str) {
        self.lost.insert((table.clone(), key.to_owned()));
    }

    /// Whether a mistake says already why the key has no value.
    pub fn has_lost(&self, table: &Table, key: &str) -> bool {
        self.lost.contains(&(table.clone(), key.to_owned()))
    }

    /// Whether a table has no mistake.
    pub fn is_sound(&self, table: &Table) -> bool {
        self.found.iter().all(|(known, _)| known != table)
    }

    pub fn count(&self) -> usize {
        self.found.len()
    }

    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// All mistakes in the order of the file.
    pub fn finish(self) -> Vec<Mistake> {
        let mut all: Vec<_> = self.found.into_iter().map(|(_, mistake)| mistake).collect();
        all.sort_by_key(|mistake| mistake.line.unwrap_or(0));
        all
    }
}

/// The known name that is closest to a misspelt one, if one is close.
pub(crate) fn meant<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    /// Below this, of 0 to 1, names have too little in common.
    const CLOSE: f64 = 0.75;
    let likeness = |name: &'a str| (strsim::jaro_winkler(given, name), name);
    let close = known
        .map(likeness)
        .filter(|(likeness, _)| *likeness > CLOSE);
    close
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, name)| name)
}

/// `'given': there is no such word`, with the word that was meant, or with all known words.
pub(super) fn unknown(what: &str, given: &str, known: &[&str]) -> String {
    match meant(given, known.iter().copied()) {
        Some(meant) => format!("there is no {what} '{given}'; did you mean {meant}?"),
        None if known.is_empty() => format!("there is no {what} '{given}'; there are none"),
        None => format!(
            "there is no {what} '{given}'; there are {}",
            known.join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_name_is_meant() {
        let known = ["keys-per-core", "incast", "reorder"];
        let meant = |given| meant(given, known.into_iter());
        assert_eq!(meant("incats"), Some("incast"));
        assert_eq!(meant("keys_per_core"), Some("keys-per-core"));
        assert_eq!(meant("quux"), None);
    }

    #[test]
    fn a_message_is_on_the_line_of_its_key() {
        let at = |key: &str| (Table::Series(0), key.to_owned());
        let lines = [
            (at(""), 3),
            (at("over"), 5),
            (at("with"), 6),
            (at("with.cores"), 7),
        ];
        let lines = Lines(lines.into_iter().collect());
        let find = |why| lines.find(&Table::Series(0), why);
        assert_eq!(find("over: 8 appears twice"), Some(5));
        assert_eq!(find("with.cores: too many"), Some(7));
        assert_eq!(find("with.keys: too many"), Some(6));
        assert_eq!(find("at: missing"), Some(3));
        assert_eq!(lines.find(&Table::Head, "over: no"), None);
    }
}
