//! One key of a line: where it starts, where it ends, how it is read.
//!
//! ```text
//! -k FIELD[.CHARACTER][OPTIONS][,FIELD[.CHARACTER][OPTIONS]]        all counted from 1
//!
//!        -k 2.3b,4nr           from the third character of field 2, blanks at its start not
//!           | |   ||           counted, to the end of field 4, as numbers, largest first
//!           start end
//!
//! -k 4:date=dmy:desc       field 4 alone, as values of rows are read
//!
//! +FIELDS[.CHARACTERS][OPTIONS] [-FIELDS[.CHARACTERS][OPTIONS]]      the old way: what to skip
//! ```
//!
//! Without an end, a key goes on to the end of the line. [`TextOrder`](super::TextOrder) checks the
//! options, because a key without any takes those of the whole sort.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::options::{Blanks, KeyOptions};
use super::row::{ValueOrder, ValueOrderError};

/// A key of a line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TextKey {
    /// The number of fields before the key.
    pub start_fields: usize,
    /// The number of bytes of its first field before the key.
    pub start_bytes: usize,
    /// Where it ends; `None` for the end of the line.
    pub end: Option<KeyEnd>,
    /// How it is read.
    pub options: KeyOptions,
    /// Its type instead, as of a value of a row: then blanks before it do not count.
    pub value: Option<ValueOrder>,
    /// Whether it was written the old way, `+POS1 -POS2`.
    pub obsolete: bool,
}

/// The end of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyEnd {
    /// The number of fields before the one in which the key ends.
    pub fields: usize,
    /// The number of bytes of that field that belong to the key; 0 for all of them.
    pub bytes: usize,
}

/// The reason why a key was refused, and its place in the text.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("key \"{spec}\", character {character}: {problem}")]
pub struct TextKeyError {
    /// The text of the key.
    pub spec: String,
    /// The place of the problem in `spec`, in characters from 1.
    pub character: usize,
    /// The mistake, which displays with a remedy.
    pub problem: TextKeyProblem,
}

/// A mistake in a key.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum TextKeyProblem {
    #[error("a field number is missing; write FIELD[.CHARACTER][OPTIONS][,..], such as 2,2n")]
    NoField,
    #[error("fields are counted from 1; write 1 for the first field")]
    FieldZero,
    #[error("a number is missing after the point; write one, such as .1, or leave the point out")]
    NoCharacter,
    #[error("characters are counted from 1; write .1 for the first, or leave it out")]
    CharacterZero,
    #[error("\"{0}\" does not belong here; {help}", help = help_for(*.0))]
    Stray(char),
    #[error("without -r that is the direction of every key; leave asc out")]
    Ascending,
    #[error("a key with a type has no letters but b; write :desc for r, and leave the others out")]
    LettersAndType,
    #[error(
        "\"{0}\" is no type; the types are str, num, natural, date, date=dmy, date=mdy, date=PATTERN, amount, size, hex, \
         ip, semver, length and order=FILE, and behind one stand desc, nulls-first, nulls-last, nocase and locale=TAG"
    )]
    NoType(String),
    #[error(transparent)]
    Type(#[from] ValueOrderError),
    #[error("the old form of a key starts with \"{0}\"; write {0}2, or use -k")]
    NoSign(char),
}

/// What to write instead of a character that does not belong into a key.
fn help_for(stray: char) -> &'static str {
    match stray {
        ' ' | '\t' => "write the key without blanks",
        ',' => "a key has one start and one end; give another key for more fields",
        '-' | ':' => "write a comma between start and end, such as 1,2",
        '.' => "write one point before the character, such as 1.3",
        _ => "the options are b d f g h i M n R r V, and a comma comes before the end",
    }
}

/// A mistake in a separator.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SeparatorError {
    /// There is none.
    #[error("an empty separator; give one character, such as -t,")]
    Empty,
    /// There are several bytes.
    #[error(
        "the separator \"{0}\" has more than one byte; give one, such as -t, or {escape}",
        escape = escape_of(.0)
    )]
    Long(String),
}

/// How to write a byte that has no key, as far as the given text shows which one is meant.
fn escape_of(given: &str) -> &'static str {
    match given {
        "\\t" => "-t $'\\t' for a tab",
        "\\n" => "-t $'\\n' for a newline",
        _ => "-t '\\0' for NUL",
    }
}

/// Reads the separator of fields of `-t`: a byte, or `\0` for NUL.
///
/// # Errors
/// If it is empty or longer.
pub fn separator(text: &[u8]) -> Result<u8, SeparatorError> {
    match text {
        [] => Err(SeparatorError::Empty),
        [byte] => Ok(*byte),
        b"\\0" => Ok(0),
        _ => Err(SeparatorError::Long(
            String::from_utf8_lossy(text).into_owned(),
        )),
    }
}

impl TextKey {
    /// Its place in messages.
    pub(crate) fn place(&self) -> String {
        let number = self.start_fields.saturating_add(1);
        let field = KeyEnd {
            fields: self.start_fields,
            bytes: 0,
        };
        if self.start_bytes == 0 && self.end == Some(field) {
            return format!("field {number}");
        }
        let place = TextKey {
            value: None,
            ..self.clone()
        };
        format!("key {place}")
    }

    /// The whole line, read with `options`.
    #[must_use]
    pub fn line(options: KeyOptions) -> TextKey {
        TextKey {
            start_fields: 0,
            start_bytes: 0,
            end: None,
            options,
            value: None,
            obsolete: false,
        }
    }

    /// Reads a key in the old form: `plus` with its sign, and `minus`, the end, with its own.
    ///
    /// # Errors
    /// If a number is missing or a character does not belong there.
    pub fn obsolete(plus: &str, minus: Option<&str>) -> Result<TextKey, TextKeyError> {
        let mut key = TextKey::line(KeyOptions::default());
        key.obsolete = true;
        let mut text = Reader::new(plus);
        text.sign('+')?;
        key.start_fields = text.number(TextKeyProblem::NoField)?;
        if text.skip('.') {
            key.start_bytes = text.number(TextKeyProblem::NoCharacter)?;
        }
        text.options(&mut key.options, Blanks::Start);
        text.end()?;
        let Some(minus) = minus else { return Ok(key) };
        let mut text = Reader::new(minus);
        text.sign('-')?;
        let mut end = KeyEnd {
            fields: text.number(TextKeyProblem::NoField)?,
            bytes: 0,
        };
        if text.skip('.') {
            end.bytes = text.number(TextKeyProblem::NoCharacter)?;
        }
        // `-2` ends after two fields, which is all of the second. GNU reads `-0` as `-1`.
        if end.bytes == 0 {
            end.fields = end.fields.saturating_sub(1);
        }
        key.end = Some(end);
        text.options(&mut key.options, Blanks::End);
        text.end()?;
        Ok(key)
    }
}

impl FromStr for TextKey {
    type Err = TextKeyError;

    fn from_str(spec: &str) -> Result<TextKey, TextKeyError> {
        let mut key = TextKey::line(KeyOptions::default());
        let mut text = Reader::new(spec);
        match ValueOrder::split(spec) {
            Ok((place, order)) if place.len() < spec.len() => {
                (key.value, text.end) = (Some(order), place.len());
            }
            Ok(_) => {}
            Err(mistake) => return text.fail(0, mistake.into()),
        }
        if let Some((place, word)) = spec[..text.end].rsplit_once(':') {
            return text.fail(place.len() + 1, TextKeyProblem::NoType(word.to_owned()));
        }
        key.start_fields = text.ordinal(TextKeyProblem::NoField, TextKeyProblem::FieldZero)?;
        if text.skip('.') {
            let zero = TextKeyProblem::CharacterZero;
            key.start_bytes = text.ordinal(TextKeyProblem::NoCharacter, zero)?;
        }
        text.options(&mut key.options, Blanks::Start);
        if text.skip(',') {
            let mut end = KeyEnd {
                fields: text.ordinal(TextKeyProblem::NoField, TextKeyProblem::FieldZero)?,
                bytes: 0,
            };
            if text.skip('.') {
                end.bytes = text.number(TextKeyProblem::NoCharacter)?;
            }
            text.options(&mut key.options, Blanks::End);
            key.end = Some(end);
        }
        text.end()?;
        if key.value.is_some() {
            key.end = key.end.or(Some(KeyEnd {
                fields: key.start_fields,
                bytes: 0,
            }));
            let blanks = KeyOptions {
                blanks_start: key.options.blanks_start,
                blanks_end: key.options.blanks_end,
                ..KeyOptions::default()
            };
            if spec[text.end..].split(':').any(|word| word == "asc") {
                return text.fail(text.end, TextKeyProblem::Ascending);
            }
            if key.options != blanks {
                return text.fail(text.end, TextKeyProblem::LettersAndType);
            }
        }
        Ok(key)
    }
}

/// The text of a key, read from left to right.
struct Reader<'a> {
    spec: &'a str,
    at: usize,
    /// The end of what is read of it: a type follows.
    end: usize,
}

impl<'a> Reader<'a> {
    fn new(spec: &'a str) -> Reader<'a> {
        Reader {
            spec,
            at: 0,
            end: spec.len(),
        }
    }

    fn rest(&self) -> &'a str {
        &self.spec[self.at..self.end]
    }

    fn fail<T>(&self, at: usize, problem: TextKeyProblem) -> Result<T, TextKeyError> {
        Err(TextKeyError {
            spec: self.spec.to_owned(),
            character: self.spec[..at].chars().count() + 1,
            problem,
        })
    }

    fn skip(&mut self, expected: char) -> bool {
        let found = self.rest().starts_with(expected);
        self.at += usize::from(found);
        found
    }

    fn sign(&mut self, sign: char) -> Result<(), TextKeyError> {
        if self.skip(sign) {
            Ok(())
        } else {
            self.fail(self.at, TextKeyProblem::NoSign(sign))
        }
    }

    /// A number from 0; one that is too large becomes the largest. As in C, blanks and a plus sign
    /// may come before it.
    fn number(&mut self, missing: TextKeyProblem) -> Result<usize, TextKeyError> {
        let rest = self.rest();
        let unsigned = rest.trim_start_matches([' ', '\t', '\n', '\x0B', '\x0C', '\r']);
        let unsigned = unsigned.strip_prefix('+').unwrap_or(unsigned);
        let length = unsigned.bytes().take_while(u8::is_ascii_digit).count();
        if length == 0 {
            return self.fail(self.at, missing);
        }
        self.at += rest.len() - unsigned.len() + length;
        Ok(unsigned[..length].parse().unwrap_or(usize::MAX))
    }

    /// A number from 1, as the number of things before it.
    fn ordinal(
        &mut self,
        missing: TextKeyProblem,
        zero: TextKeyProblem,
    ) -> Result<usize, TextKeyError> {
        let at = self.at;
        match self.number(missing)?.checked_sub(1) {
            Some(before) => Ok(before),
            None => self.fail(at, zero),
        }
    }

    fn options(&mut self, options: &mut KeyOptions, blanks: Blanks) {
        while let Some(letter) = self.rest().chars().next() {
            if !options.add(letter, blanks) {
                break;
            }
            self.at += letter.len_utf8();
        }
    }

    fn end(&self) -> Result<(), TextKeyError> {
        match self.rest().chars().next() {
            None => Ok(()),
            Some(stray) => self.fail(self.at, TextKeyProblem::Stray(stray)),
        }
    }
}

impl fmt::Display for TextKey {
    /// The key as `-k` takes it; as `{:#}` with the checksum of a file that it names.
    ///
    /// An end that only the old form can express becomes its nearest.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.start_fields.saturating_add(1))?;
        if self.start_bytes > 0 {
            write!(f, ".{}", self.start_bytes.saturating_add(1))?;
        }
        let options = &self.options;
        if options.blanks_start {
            f.write_str("b")?;
        }
        let others = KeyOptions {
            blanks_start: false,
            blanks_end: false,
            ..*options
        };
        write!(f, "{others}")?;
        if let Some(end) = self.end {
            write!(f, ",{}", end.fields.saturating_add(1))?;
            if end.bytes > 0 {
                write!(f, ".{}", end.bytes)?;
            }
            if options.blanks_end {
                f.write_str("b")?;
            }
        }
        self.value.map_or(Ok(()), |order| order.fmt(f))
    }
}
