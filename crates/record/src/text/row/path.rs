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

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use thiserror::Error;

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

/// A mistake in a path, and its place in characters from 1.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("character {character}: {problem}")]
pub struct PathError {
    /// The place.
    pub character: usize,
    /// The mistake, with a remedy.
    pub problem: &'static str,
}

impl Path {
    /// The member of this name of the row's object.
    pub(crate) fn member(name: &str) -> Path {
        let steps = vec![Step::Member(name.to_owned())];
        Path { steps }
    }

    /// What a message calls the value: its name in quotes, or the path.
    pub(crate) fn label(&self) -> String {
        match &self.steps[..] {
            [Step::Member(name)] => format!("{name:?}"),
            _ => self.to_string(),
        }
    }

    /// The value at the path; empty if it is missing, null, an object or an array.
    #[inline]
    pub(crate) fn find<'r>(&self, row: &'r [u8]) -> Found<'r> {
        let json = self.json(row);
        match json.kind {
            JsonKind::Bare => Found::Plain(&row[json.range]),
            JsonKind::String { escaped } => {
                let bytes = &row[inside(row, json.range)];
                match escaped {
                    false => Found::Plain(bytes),
                    true => Found::Coded(Coded {
                        bytes,
                        coding: Coding::Escaped,
                    }),
                }
            }
            JsonKind::Missing | JsonKind::Object | JsonKind::Array => Found::Plain(&[]),
        }
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
            None => Json {
                range: row.len()..row.len(),
                kind: JsonKind::Missing,
            },
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

    /// The first member on the path whose name occurs twice in its object, and the second place.
    pub(crate) fn twice(&self, row: &[u8]) -> Option<(&str, usize)> {
        let mut at = json::past_blanks(row, 0);
        for step in &self.steps {
            at = match step {
                Step::Element(before) => element(row, at, *before)?,
                Step::Member(name) => {
                    let mut members = Members::of(row, at)?;
                    let first = members.find(name.as_bytes())?;
                    if let Some(second) = members.find(name.as_bytes()) {
                        return Some((name, second));
                    }
                    first
                }
            };
        }
        None
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

impl FromStr for Path {
    type Err = PathError;

    /// Reads `$`, then `.NAME`, `[0]`, `['NAME']` or `["NAME"]`, as often as needed. In quotes, a
    /// backslash is an escape of JSON, or a quote follows it.
    fn from_str(text: &str) -> Result<Path, PathError> {
        let fail = |rest: &str, problem| {
            let before = &text[..text.len() - rest.len()];
            Err(PathError {
                character: before.chars().count() + 1,
                problem,
            })
        };
        let Some(mut rest) = text.strip_prefix('$') else {
            return fail(text, "a path begins with $; write $.NAME");
        };
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let step = match rest.as_bytes() {
                [b'.', ..] => name(&rest[1..]),
                [b'[', b'\'' | b'"', ..] => quoted(&rest[1..]),
                [b'[', ..] => number(&rest[1..]),
                _ => Err("write .NAME, [0] or ['NAME'] here"),
            };
            match step {
                Err(problem) => return fail(rest, problem),
                Ok((step, behind)) => {
                    steps.push(step);
                    rest = behind;
                }
            }
        }
        Ok(Path { steps })
    }
}

/// A step and the text behind it.
type Read<'t> = Result<(Step, &'t str), &'static str>;

fn name(text: &str) -> Read<'_> {
    let end = text.find(['.', '[']).unwrap_or(text.len());
    match &text[..end] {
        "" => Err("a name is missing after the point"),
        name => Ok((Step::Member(name.to_owned()), &text[end..])),
    }
}

fn number(text: &str) -> Read<'_> {
    let (digits, rest) = text.split_once(']').ok_or("\"[\" without \"]\"")?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.parse().ok().filter(|_| is_number);
    let number = number.ok_or("write the number of an element from 0, or a name in quotes")?;
    Ok((Step::Element(number), rest))
}

fn quoted(text: &str) -> Read<'_> {
    let quote = text.as_bytes()[0];
    let mut end = 1;
    while text.as_bytes().get(end).is_some_and(|&byte| byte != quote) {
        end += 1 + usize::from(text.as_bytes()[end] == b'\\');
    }
    let closed = text
        .split_at_checked(end)
        .filter(|(_, rest)| !rest.is_empty());
    let (inside, rest) = closed.ok_or("a quote without its end")?;
    let inside = &inside[1..];
    let rest = rest[1..].strip_prefix(']');
    let rest = rest.ok_or("write the quote and \"]\" behind the name")?;
    // A string of JSON has no escape for a single quote, and needs one for a double quote.
    let json = match quote {
        b'\'' => inside.replace("\\'", "'").replace('"', "\\\""),
        _ => inside.to_owned(),
    };
    let name = serde_json::from_str(&format!("\"{json}\""));
    let name = name.map_err(|_| "the name is not a string of JSON; write \\\\ for a backslash")?;
    Ok((Step::Member(name), rest))
}

impl fmt::Display for Path {
    /// The path as it is read, without characters that end a line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("$")?;
        self.steps.iter().try_for_each(|step| match step {
            Step::Element(before) => write!(f, "[{before}]"),
            Step::Member(name) if is_plain(name) => write!(f, ".{name}"),
            Step::Member(name) => write!(f, "[{}]", serde_json::Value::from(name.as_str())),
        })
    }
}

fn is_plain(name: &str) -> bool {
    let belongs = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    !name.is_empty() && name.bytes().all(belongs)
}
