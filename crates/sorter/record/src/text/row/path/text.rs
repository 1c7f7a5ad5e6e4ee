//! Paths as users write them and descriptions have them.
//!
//! ```text
//! $.user['first name'][0]      members by plain names and in quotes, an element
//! $.user["first name"][0]      the same, as it is written
//! ```

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::{Path, Step};

/// A mistake in a path, and its place in characters from 1.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("character {character}: {problem}")]
pub struct PathError {
    /// The place.
    pub character: usize,
    /// The mistake, with a remedy.
    pub problem: &'static str,
}

impl FromStr for Path {
    type Err = PathError;

    /// Reads `$`, which a point may replace, then `.NAME`, `[0]`, `['NAME']` or `["NAME"]`, as often as needed. In quotes, a
    /// backslash is an escape of JSON, or a quote follows it.
    fn from_str(text: &str) -> Result<Path, PathError> {
        let fail = |rest: &str, problem| {
            let before = &text[..text.len() - rest.len()];
            Err(PathError {
                character: before.chars().count() + 1,
                problem,
            })
        };
        let begin = text.strip_prefix('$');
        let Some(mut rest) = begin.or(text.starts_with('.').then_some(text)) else {
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
