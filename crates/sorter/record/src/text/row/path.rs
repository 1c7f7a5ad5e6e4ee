//! A path to a value of JSON: members by name, elements by number.
//!
//! ```text
//! $.user.name      {"user": {"id": 7, "name": "Ada"}}      "Ada"
//! $.tags[1]        {"tags": ["x", "y"]}                    "y"
//! $['a b']         {"a b": null}                           missing
//! ```
//!
//! These are the singular queries of JSONPath (RFC 9535, 2.3.5.1) without negative numbers. A
//! member is the first of its name.

mod text;

use std::ops::Range;

pub use text::PathError;

use super::json::{self, StringEnd};
use super::{Coded, Coding, Found};

/// A path from the value of a row to one inside of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Member(String),
    Element(usize),
}

/// A value of JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Json {
    /// Its bytes in the row, with quotes.
    pub(crate) range: Range<usize>,
    pub(crate) kind: JsonKind,
}

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonKind {
    /// There is none, or it is null.
    Missing,
    /// A number or a boolean.
    Bare,
    String {
        escaped: bool,
    },
    Object,
    Array,
}

impl Path {
    /// The member of this name of the row's object.
    pub(crate) fn member(name: &str) -> Path {
        let steps = vec![Step::Member(name.to_owned())];
        Path { steps }
    }

    /// The name of the row's member, if it is one and no value inside of it.
    pub(crate) fn member_name(&self) -> Option<&str> {
        match &self.steps[..] {
            [Step::Member(name)] => Some(name),
            _ => None,
        }
    }

    /// The name of the value in messages: that of the member in quotes, or the path.
    pub(crate) fn label(&self) -> String {
        match &self.steps[..] {
            [Step::Member(name)] => format!("{name:?}"),
            _ => self.to_string(),
        }
    }

    /// The value at the path; empty if it is missing, null, an object or an array.
    #[inline]
    pub(crate) fn find<'r>(&self, row: &'r [u8]) -> Found<'r> {
        self.json(row).bytes(row)
    }

    /// The bytes of the value, and those inside of its quotes.
    pub(super) fn ranges(&self, row: &[u8]) -> (Range<usize>, Range<usize>) {
        let json = self.json(row);
        let inside = match json.kind {
            JsonKind::String { .. } => inside(row, json.range.clone()),
            _ => json.range.clone(),
        };
        (json.range, inside)
    }

    /// The value at the path.
    #[inline]
    pub(crate) fn json(&self, row: &[u8]) -> Json {
        match self.start(row) {
            Some(at) => value(row, at),
            None => missing(row),
        }
    }

    /// The first byte of the value.
    #[inline]
    fn start(&self, row: &[u8]) -> Option<usize> {
        let mut at = json::past_blanks(row, 0);
        for step in &self.steps {
            at = match step {
                Step::Member(name) => member(row, at, name.as_bytes())?,
                Step::Element(before) => element(row, at, *before)?,
            };
        }
        Some(at)
    }

    /// The value at the path, if no member on it occurs twice in its object; otherwise that member,
    /// and its second place.
    pub(crate) fn only(&self, row: &[u8]) -> Result<Json, (&str, usize)> {
        let mut at = Some(json::past_blanks(row, 0));
        for step in &self.steps {
            let Some(place) = at else { break };
            at = match step {
                Step::Element(before) => element(row, place, *before),
                Step::Member(name) => {
                    let mut members = Members::of(row, place);
                    let mut find = || members.as_mut()?.find(name.as_bytes());
                    let first = find();
                    if let Some(second) = first.and_then(|_| find()) {
                        return Err((name, second));
                    }
                    first
                }
            };
        }
        Ok(at.map_or_else(|| missing(row), |at| value(row, at)))
    }
}

impl Json {
    /// The bytes of the value; none if it is missing, null, an object or an array.
    #[inline]
    pub(crate) fn bytes(self, row: &[u8]) -> Found<'_> {
        match self.kind {
            JsonKind::Bare => Found::Plain(&row[self.range]),
            JsonKind::String { escaped } => {
                let bytes = &row[inside(row, self.range)];
                if escaped {
                    Found::Coded(Coded {
                        bytes,
                        coding: Coding::Escaped,
                    })
                } else {
                    Found::Plain(bytes)
                }
            }
            JsonKind::Missing | JsonKind::Object | JsonKind::Array => Found::Plain(&[]),
        }
    }
}

fn missing(row: &[u8]) -> Json {
    Json {
        range: row.len()..row.len(),
        kind: JsonKind::Missing,
    }
}

/// The place of the first member of this name in the object at `at`.
#[inline]
fn member(row: &[u8], at: usize, name: &[u8]) -> Option<usize> {
    Members::of(row, at)?.find(name)
}

/// The place of the element behind so many others in the array at `at`.
fn element(row: &[u8], at: usize, before: usize) -> Option<usize> {
    if row.get(at) != Some(&b'[') {
        return None;
    }
    let mut at = json::past_blanks(row, at + 1);
    for _ in 0..before {
        at = json::past_blanks(row, json::past_value(row, at));
        if row.get(at) != Some(&b',') {
            return None;
        }
        at = json::past_blanks(row, at + 1);
    }
    let is_there = row.get(at).is_some_and(|&byte| byte != b']');
    is_there.then_some(at)
}

/// The members of an object, one after the other.
struct Members<'r> {
    row: &'r [u8],
    next: Next,
}

/// Where the next member is.
enum Next {
    /// Here.
    Here(usize),
    /// Behind this value and a comma.
    Behind(usize),
}

impl<'r> Members<'r> {
    #[inline]
    fn of(row: &'r [u8], at: usize) -> Option<Members<'r>> {
        let is_object = row.get(at) == Some(&b'{');
        is_object.then_some(Members {
            row,
            next: Next::Here(at + 1),
        })
    }

    /// The place of the value of the next member of this name.
    #[inline]
    fn find(&mut self, name: &[u8]) -> Option<usize> {
        loop {
            let quote = json::past_blanks(self.row, self.next()?);
            if self.row.get(quote) != Some(&b'"') {
                return None;
            }
            let end = json::string_end(self.row, quote + 1);
            let colon = json::past_blanks(self.row, end.quote + 1);
            if self.row.get(colon) != Some(&b':') {
                return None;
            }
            let value = json::past_blanks(self.row, colon + 1);
            self.next = Next::Behind(value);
            if is_name(&self.row[quote + 1..end.quote], end, name) {
                return Some(value);
            }
        }
    }

    /// The place of the next member, perhaps with blanks before it.
    #[inline]
    fn next(&self) -> Option<usize> {
        match self.next {
            Next::Here(at) => Some(at),
            Next::Behind(value) => {
                let end = json::past_value(self.row, value);
                let comma = json::past_blanks(self.row, end);
                (self.row.get(comma) == Some(&b',')).then_some(comma + 1)
            }
        }
    }
}

/// Whether a string is `name`.
#[inline]
fn is_name(string: &[u8], end: StringEnd, name: &[u8]) -> bool {
    if !end.escaped {
        return string == name;
    }
    let coded = Coded {
        bytes: string,
        coding: Coding::Escaped,
    };
    coded.with(|decoded| decoded == name)
}

/// The value that starts at `at`.
#[inline]
fn value(row: &[u8], at: usize) -> Json {
    let (end, kind) = match row.get(at) {
        Some(b'"') => {
            let StringEnd { quote, escaped } = json::string_end(row, at + 1);
            ((quote + 1).min(row.len()), JsonKind::String { escaped })
        }
        Some(b'{') => (json::past_value(row, at), JsonKind::Object),
        Some(b'[') => (json::past_value(row, at), JsonKind::Array),
        None | Some(b'n') => (json::past_bare(row, at), JsonKind::Missing),
        Some(_) => (json::past_bare(row, at), JsonKind::Bare),
    };
    let range = at.min(row.len())..end;
    Json { range, kind }
}

/// Without the quotes of a string; the last may be missing in the front of a row.
#[inline]
fn inside(row: &[u8], string: Range<usize>) -> Range<usize> {
    let start = string.start + 1;
    let closed = string.end > start && row[string.end - 1] == b'"';
    start..string.end - usize::from(closed)
}
