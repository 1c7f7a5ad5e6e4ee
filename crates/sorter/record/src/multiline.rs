//! Records of several lines: the newline that ends a record is told from those within it.
//!
//! ```text
//! file       10:02 late \n at main \n 09:59 early \n        a line that begins with a digit begins a record
//! records    10:02 late \n at main \0 09:59 early \0
//! ```
//!
//! A record ends with a NUL, so that it may lie behind any other one, and where its lines began is not looked for
//! again. The NUL takes the place of a newline: files keep their lengths, and their bytes their offsets.

use std::borrow::Cow;
use std::fmt;
use std::num::NonZero;
use std::str::FromStr;

use memchr::{memchr, memchr_iter};
use regex_lite::{Regex, RegexBuilder};
use thiserror::Error;

/// Ends a record of several lines.
pub const RECORD_END: u8 = 0;

/// Bytes of a line that a pattern sees at most.
pub const SEEN_BYTES: usize = 4096;

/// Bytes of a line in a message.
const SHOWN_BYTES: usize = 60;

/// Bytes of a compiled pattern at most. A thread that matches one takes a few times as many, beside the memory limit.
const PATTERN_BYTES: usize = 64 << 10;

/// The lines that are one record.
#[derive(Clone, PartialEq, Eq)]
pub enum Multiline {
    /// Those from a line that the pattern begins up to the next such line.
    From(Pattern),
    /// So many.
    Lines(NonZero<u32>),
}

/// The beginning of a record, a regular expression at the front of its first line.
#[derive(Clone)]
pub struct Pattern {
    text: String,
    /// Whether it stands for its own bytes.
    literal: bool,
    regex: Regex,
}

/// The reason why lines are no records, or not described as some.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MultilineError {
    /// The pattern has a mistake.
    #[error(
        "\"{pattern}\" is no pattern: {what}; write it as a regular expression, such as '[0-9]{{4}}-'"
    )]
    Pattern {
        /// The pattern.
        pattern: String,
        /// The mistake.
        what: String,
    },
    /// The description begins with neither word.
    #[error("write start:PATTERN or lines:N")]
    Unknown,
    /// Records of no lines.
    #[error("a record has at least one line; give their number, such as 4")]
    NoLines,
    /// A byte ends records that a line has.
    #[error(
        "byte {at} is a NUL, which would end a record of several lines; take NULs out first, as tr -d '\\000' does"
    )]
    Nul {
        /// Its offset.
        at: u64,
    },
    /// The first line begins no record.
    #[error(
        "the first line, \"{line}\", does not begin with the pattern \"{pattern}\", so it belongs to no record; {}",
        match first {
            Some(number) => format!("tail -n +{number} leaves out the lines before the first record"),
            None => "change the pattern".to_owned(),
        }
    )]
    NoStart {
        /// The front of the line.
        line: String,
        /// The pattern.
        pattern: String,
        /// The number of the first line that begins a record, if it is near.
        first: Option<u64>,
    },
    /// The last record has too few lines.
    #[error(
        "the last record has {found} of {lines} lines; check the number of lines, and whether the file is whole"
    )]
    Short {
        /// Its lines.
        found: u64,
        /// Those that it should have.
        lines: u32,
    },
}

impl Pattern {
    /// # Errors
    /// If it is no regular expression.
    pub fn new(text: &str) -> Result<Pattern, MultilineError> {
        let compiled = |text: &str| RegexBuilder::new(text).size_limit(PATTERN_BYTES).build();
        // By itself first: parentheses may not end before they begin. A comment of `(?x)` ends with its line.
        let found = compiled(text).and_then(|_| {
            let alone = compiled(&format!("^(?:{text})"));
            alone.or_else(|_| compiled(&format!("^(?:{text}\n)")))
        });
        let wrong = |cause: regex_lite::Error| MultilineError::Pattern {
            pattern: text.to_owned(),
            what: cause.to_string(),
        };
        Ok(Pattern {
            text: text.to_owned(),
            literal: is_literal(text),
            regex: found.map_err(wrong)?,
        })
    }

    fn begins(&self, line: &[u8]) -> bool {
        if self.literal {
            return line.starts_with(self.text.as_bytes());
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        self.regex.is_match(&String::from_utf8_lossy(line))
    }
}

impl Multiline {
    /// Records that begin with lines at whose front the pattern is.
    ///
    /// # Errors
    /// If it is no regular expression.
    pub fn from_pattern(pattern: &str) -> Result<Multiline, MultilineError> {
        Pattern::new(pattern).map(Multiline::From)
    }

    /// Records of so many lines.
    ///
    /// # Errors
    /// If they have none.
    pub fn of_lines(lines: u32) -> Result<Multiline, MultilineError> {
        let lines = NonZero::new(lines).ok_or(MultilineError::NoLines)?;
        Ok(Multiline::Lines(lines))
    }

    /// Ends the records in `bytes`, which lie at `offset` in a file and before `ahead`: [`SEEN_BYTES`], or all that
    /// is left. `kept` is 0 at the front, and goes on from one call to the next.
    ///
    /// ```
    /// # use record::Multiline;
    /// let records = Multiline::from_pattern("[0-9]")?;
    /// let mut bytes = *b"1 a\n  b\n2 c\n";
    /// records.end_records((0, &mut bytes), b"", &mut 0)?;
    /// assert_eq!(&bytes, b"1 a\n  b\x002 c\0");
    /// # Ok::<(), record::MultilineError>(())
    /// ```
    ///
    /// # Errors
    /// If a line has a NUL, the first one begins no record, or the last record has too few of them.
    pub fn end_records(
        &self,
        (offset, bytes): (u64, &mut [u8]),
        ahead: &[u8],
        kept: &mut u64,
    ) -> Result<(), MultilineError> {
        if let Some(at) = memchr(RECORD_END, bytes) {
            let at = offset + at as u64;
            return Err(MultilineError::Nul { at });
        }
        match self {
            Multiline::From(pattern) => pattern.end_records((offset, bytes), ahead),
            Multiline::Lines(lines) => count(*lines, bytes, ahead, kept),
        }
    }

    /// Makes the ends of records ends of lines, in one pass over the bytes.
    pub fn end_lines(bytes: &mut [u8]) {
        let ends = bytes.iter_mut().filter(|byte| **byte == RECORD_END);
        ends.for_each(|byte| *byte = b'\n');
    }

    /// Whether an end of a record can be told from the bytes around it.
    #[must_use]
    pub fn is_local(&self) -> bool {
        matches!(self, Multiline::From(_))
    }

    /// Whether a text describes such records.
    pub(crate) fn is_described(text: &str) -> bool {
        text.starts_with("start:") || text.starts_with("lines:")
    }
}

impl FromStr for Multiline {
    type Err = MultilineError;

    fn from_str(text: &str) -> Result<Multiline, MultilineError> {
        match text.split_once(':') {
            Some(("start", pattern)) => Multiline::from_pattern(pattern),
            Some(("lines", lines)) => Multiline::of_lines(lines.parse().unwrap_or(0)),
            _ => Err(MultilineError::Unknown),
        }
    }
}

impl fmt::Display for Multiline {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Multiline::From(pattern) => write!(out, "start:{}", pattern.text),
            Multiline::Lines(lines) => write!(out, "lines:{lines}"),
        }
    }
}

impl Pattern {
    fn end_records(
        &self,
        (offset, bytes): (u64, &mut [u8]),
        ahead: &[u8],
    ) -> Result<(), MultilineError> {
        if offset == 0 && !bytes.is_empty() && !self.begins(&line_at(bytes, 0, ahead)) {
            return Err(self.no_start(bytes, ahead));
        }
        let mut next = 0;
        while let Some(before) = memchr(b'\n', &bytes[next..]) {
            next += before + 1;
            let is_last = next == bytes.len() && ahead.is_empty();
            if is_last || self.begins(&line_at(bytes, next, ahead)) {
                bytes[next - 1] = RECORD_END;
            }
        }
        Ok(())
    }
}

impl Pattern {
    /// The refusal of a file that begins with these bytes.
    fn no_start(&self, bytes: &[u8], ahead: &[u8]) -> MultilineError {
        let begins = memchr_iter(b'\n', bytes).map(|at| at + 1);
        let mut numbered = begins.filter(|&begin| begin < bytes.len()).zip(2..);
        let first = numbered.find(|&(begin, _)| self.begins(&line_at(bytes, begin, ahead)));
        let line = line_at(bytes, 0, ahead);
        let shown = String::from_utf8_lossy(&line[..line.len().min(SHOWN_BYTES)]);
        MultilineError::NoStart {
            line: shown.escape_debug().to_string(),
            pattern: self.text.clone(),
            first: first.map(|(_, number)| number),
        }
    }
}

/// The line that begins there, as far as a pattern sees it.
fn line_at<'b>(bytes: &'b [u8], begin: usize, ahead: &[u8]) -> Cow<'b, [u8]> {
    let here = &bytes[begin..bytes.len().min(begin + SEEN_BYTES)];
    if let Some(end) = memchr(b'\n', here) {
        return here[..end].into();
    }
    let more = &ahead[..ahead.len().min(SEEN_BYTES - here.len())];
    let more = &more[..memchr(b'\n', more).unwrap_or(more.len())];
    if more.is_empty() {
        here.into()
    } else {
        [here, more].concat().into()
    }
}

/// Ends records of so many lines; `kept` are the lines of the last one so far.
fn count(
    lines: NonZero<u32>,
    bytes: &mut [u8],
    ahead: &[u8],
    kept: &mut u64,
) -> Result<(), MultilineError> {
    let mut next = 0;
    while let Some(before) = memchr(b'\n', &bytes[next..]) {
        next += before + 1;
        *kept += 1;
        if *kept == u64::from(lines.get()) {
            bytes[next - 1] = RECORD_END;
            *kept = 0;
        }
    }
    let found = *kept + u64::from(next < bytes.len());
    if ahead.is_empty() && !bytes.is_empty() && !found.is_multiple_of(u64::from(lines.get())) {
        let lines = lines.get();
        return Err(MultilineError::Short { found, lines });
    }
    Ok(())
}

/// Whether a regular expression stands for its own characters.
fn is_literal(pattern: &str) -> bool {
    !pattern.contains(|letter: char| r"\.+*?()|[]{}^$".contains(letter))
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.text == other.text
    }
}

impl Eq for Pattern {}

impl fmt::Debug for Multiline {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file as stretches of that many bytes show it.
    fn shown(records: &Multiline, file: &[u8], stretch: usize) -> Result<Vec<u8>, MultilineError> {
        let (mut seen, mut kept) = (file.to_vec(), 0);
        for begin in (0..file.len()).step_by(stretch) {
            let end = file.len().min(begin + stretch);
            let ahead = &file[end..file.len().min(end + SEEN_BYTES)];
            records.end_records((begin as u64, &mut seen[begin..end]), ahead, &mut kept)?;
        }
        Ok(seen)
    }

    #[test]
    fn stretches_of_any_length_show_the_same() {
        let log = b"1 a\n b\n\n2\n10 \xff x\n y\n z\r\n3 \r\n".as_slice();
        let long = [b"1".as_slice(), &[b'x'; 9000], b"\ny\n2\n"].concat();
        let open = b"1 a\n b\n2 c".as_slice();
        let dated = Multiline::from_pattern("[0-9]+ ?").unwrap();
        for (file, expected) in [
            (
                log,
                b"1 a\n b\n\x002\x0010 \xff x\n y\n z\r\x003 \r\0".to_vec(),
            ),
            (open, b"1 a\n b\x002 c".to_vec()),
            (&long[..], [&long[..9003], b"\x002\0"].concat()),
            (b"", Vec::new()),
        ] {
            for stretch in 1..=file.len().max(1) {
                assert_eq!(shown(&dated, file, stretch).unwrap(), expected, "{stretch}");
            }
            let mut back = expected;
            Multiline::end_lines(&mut back);
            assert_eq!(back, file);
        }
        let pairs = Multiline::of_lines(2).unwrap();
        for stretch in 1..9 {
            let whole = shown(&pairs, b"a\nb\nc\nd\n", stretch).unwrap();
            assert_eq!(whole, b"a\nb\0c\nd\0", "{stretch}");
            let open = shown(&pairs, b"a\nb\nc\nd", stretch).unwrap();
            assert_eq!(open, b"a\nb\0c\nd", "{stretch}");
        }
    }

    #[test]
    fn patterns_may_be_literal_or_have_comments() {
        let file = b"From a\n>From b\nFrom c\n";
        for pattern in ["From ", "Fro[m] ", "(?x)From\\x20 # a comment", "From |x"] {
            let records = Multiline::from_pattern(pattern).unwrap();
            let seen = shown(&records, file, 100).unwrap();
            assert_eq!(seen, b"From a\n>From b\0From c\0", "{pattern}");
        }
    }

    #[test]
    fn the_end_of_a_line_may_decide() {
        let blank = Multiline::from_pattern(".*!$").unwrap();
        let file = b"one!\ntwo\nthree!\r\nfour\n";
        for stretch in 1..file.len() {
            let seen = shown(&blank, file, stretch).unwrap();
            assert_eq!(seen, b"one!\ntwo\0three!\r\nfour\0", "{stretch}");
        }
    }

    #[test]
    fn what_are_no_records_is_refused() {
        let told = |records: &Multiline, file: &[u8]| {
            [1, 3, 100].map(|stretch| shown(records, file, stretch).unwrap_err().to_string())
        };
        let dated = Multiline::from_pattern("[0-9]").unwrap();
        for said in told(&dated, b" a\n1\n") {
            assert!(
                said.contains("the first line, \" a\", does not begin with"),
                "{said}"
            );
        }
        for said in told(&dated, b"1 a\n b\0\n2\n") {
            assert!(said.contains("byte 6 is a NUL"), "{said}");
        }
        let fours = Multiline::of_lines(4).unwrap();
        for file in ["a\nb\nc\n", "a\nb\nc\nd\ne\nf\ng\n", "a\nb\nc"] {
            for said in told(&fours, file.as_bytes()) {
                assert!(said.contains("has 3 of 4 lines"), "{said}");
            }
        }
        let torn = Multiline::from_pattern("[0-9]").unwrap();
        let said = shown(&torn, b"\xef\xbb\xbfx\n y\n1 z\n", 100)
            .unwrap_err()
            .to_string();
        assert!(
            said.contains("\\u{feff}x") && said.contains("tail -n +3"),
            "{said}"
        );
        for pattern in ["a)(b", "(?:x{1000}){1000}", "["] {
            assert!(Multiline::from_pattern(pattern).is_err(), "{pattern}");
        }
        assert!(Multiline::of_lines(0).is_err());
    }

    #[test]
    fn descriptions_are_read_back() {
        for text in ["start:a:b", "lines:4"] {
            let read: Multiline = text.parse().unwrap();
            assert_eq!(read.to_string(), text);
            assert!(Multiline::is_described(text));
        }
        assert!(!Multiline::is_described("key:1"));
        for text in ["lines:x", "key:1", ""] {
            assert!(text.parse::<Multiline>().is_err(), "{text}");
        }
    }
}
