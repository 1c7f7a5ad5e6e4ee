//! The first bytes of an input, and what they look like: text, control bytes, lines of some length.
//! Used only for hints and warnings.

use std::fs::File;
use std::io::{self, Seek};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

use codec::{Front, LONGEST_HEADER, read_past};
use node::Decompress;
use sort::SortError;

use terminal::files::STANDARD_INPUT;
use units::grouped;

/// Enough for a few hundred lines.
const MOST_BYTES: usize = 64 << 10;

/// Fewer lines say little about their lengths.
const LEAST_LINES: usize = 4;

/// The most lengths that are tried below a wrong one, and above it: a few milliseconds.
const MOST_TRIED: u64 = 1 << 20;

/// The first bytes of a regular file.
pub struct Glance(Vec<u8>);

/// Lengths of lines in bytes, each with its newline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lengths {
    least: usize,
    most: usize,
}

impl Glance {
    /// Looks at a file; at standard input, if it is a file, where the process stands in it. Pipes
    /// and devices are left alone, because what is read of them is gone.
    pub fn at(path: &Path) -> Option<Glance> {
        let is_stdin = path == Path::new(STANDARD_INPUT);
        let mut file = if is_stdin {
            File::from(io::stdin().as_fd().try_clone_to_owned().ok()?)
        } else {
            // Opening a named pipe would wait.
            let is_file = path.metadata().is_ok_and(|found| found.is_file());
            is_file.then(|| File::open(path).ok())??
        };
        let is_file = file.metadata().ok()?.is_file();
        let begin = if is_stdin && is_file {
            file.stream_position().ok()?
        } else {
            0
        };
        let mut bytes = vec![0; MOST_BYTES];
        let length = is_file.then(|| file.read_at(&mut bytes, begin).ok())??;
        bytes.truncate(length);
        Some(Glance(bytes))
    }

    /// Whether it is read as the contents of a compressed file.
    pub fn is_compressed(&self) -> bool {
        let (begin, mut rest) = self.0.split_at(self.0.len().min(LONGEST_HEADER));
        let front = Front::of(begin.to_vec(), &mut rest, Decompress::Auto, read_past);
        front.map_or(true, |front| front.header(0).is_some())
    }

    /// The place of the first byte that no text has, and the byte.
    pub fn control_byte(&self, nul_is_text: bool) -> Option<(usize, u8)> {
        let is_text = |byte: u8| nul_is_text && byte == 0 || is_text(byte);
        let found = self.0.iter().position(|&byte| !is_text(byte))?;
        Some((found, self.0[found]))
    }

    /// The lengths of the whole lines, if this looks like lines of text.
    fn lengths(&self) -> Option<Lengths> {
        if self.control_byte(false).is_some() {
            return None;
        }
        let lines = self.0.split_inclusive(|&byte| byte == b'\n');
        let whole = lines.filter(|line| line.ends_with(b"\n")).map(<[u8]>::len);
        let lengths: Vec<usize> = whole.collect();
        let (least, most) = (*lengths.iter().min()?, *lengths.iter().max()?);
        (lengths.len() >= LEAST_LINES).then_some(Lengths { least, most })
    }

    /// A warning of records that cut lines of text.
    pub fn cut_lines(&self, record_bytes: usize) -> Option<String> {
        let Lengths { least, most } = self.lengths()?;
        let mut records = self.0.chunks_exact(record_bytes);
        let is_cut = |record: &[u8]| record.last() != Some(&b'\n');
        let lines = if least == most {
            format!("{least}")
        } else {
            format!("{least} to {most}")
        };
        records.any(is_cut).then(|| {
            format!(
                "looks like text, with lines of {lines} bytes; records of {record_bytes} bytes cut them: \
                 leave --format out to sort lines"
            )
        })
    }
}

/// The format of records with descriptor words, which files of blocks have, too.
pub const BLOCKED: &str = "rdw";

const WORD_BYTES: usize = 4;

impl Glance {
    /// A warning of blocks that would be sorted as records: the first one is whole records behind a
    /// descriptor of its own.
    pub fn blocks(&self) -> Option<String> {
        let block = self.0.get(..self.word(0)?)?;
        let mut at = WORD_BYTES;
        while at < block.len() {
            at += self.word(at)?;
        }
        let is_block = at == block.len() && at > WORD_BYTES;
        is_block.then(|| {
            "looks like blocks of records, which are sorted as they are; take the block descriptors out, \
             as a transfer without them does, to sort records"
                .to_owned()
        })
    }

    /// The length in a descriptor word, with the word itself.
    fn word(&self, at: usize) -> Option<usize> {
        match *self.0.get(at..at + WORD_BYTES)? {
            [high, low, 0, 0] => Some(usize::from(u16::from_be_bytes([high, low]))),
            _ => None,
        }
        .filter(|&length| length >= WORD_BYTES)
    }
}

/// Whether text may have this byte: printable characters, those of any encoding, white space,
/// backspace, and the escape of colours.
fn is_text(byte: u8) -> bool {
    const ESCAPE: u8 = 0x1b;
    const BACKSPACE: u8 = 0x08;
    const VERTICAL_TAB: u8 = 0x0b;
    !byte.is_ascii_control()
        || byte.is_ascii_whitespace()
        || [ESCAPE, BACKSPACE, VERTICAL_TAB].contains(&byte)
}

/// The message about an input that ends inside a record, with the formats that it may have.
pub(crate) fn truncated(error: &SortError) -> Option<String> {
    let SortError::TruncatedRecord {
        file,
        offset,
        left,
        record_bytes,
    } = error
    else {
        return None;
    };
    let looks = Glance::at(file).and_then(|glance| glance.lengths());
    let advice = match looks {
        Some(Lengths { least, most }) if least == most => format!(
            "it looks like lines of {least} bytes: use --format fixed:{least}, or leave --format out to sort lines"
        ),
        Some(_) => "it looks like text: leave --format out to sort lines".to_owned(),
        None => {
            let bytes = offset + left;
            let lengths = likely_lengths(bytes, *record_bytes as u64);
            let lengths: Vec<String> = lengths.iter().map(u64::to_string).collect();
            if lengths.is_empty() {
                return None;
            }
            format!(
                "its {} bytes would be whole records of {} bytes: check --format",
                grouped(bytes),
                lengths.join(" or ")
            )
        }
    };
    Some(format!(
        "{} ends inside a record: the last one, at byte {offset}, has {left} of {record_bytes} bytes; {advice}",
        file.display()
    ))
}

/// The lengths below and above `near` that divide `bytes`, if they are at least a half of it and at
/// most twice as long.
fn likely_lengths(bytes: u64, near: u64) -> Vec<u64> {
    let divides = |length: &u64| bytes.is_multiple_of(*length);
    let least = near.div_ceil(2).max(near.saturating_sub(MOST_TRIED)).max(2);
    let most = near.saturating_add(near.min(MOST_TRIED)).min(bytes);
    let below = (least..near).rev().find(divides);
    let above = (near + 1..=most).find(divides);
    below.into_iter().chain(above).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glance(text: impl AsRef<[u8]>) -> Glance {
        Glance(text.as_ref().to_vec())
    }

    #[test]
    fn text_has_lines_and_no_control_bytes() {
        let lengths = |text: &str| glance(text).lengths().map(|all| (all.least, all.most));
        assert_eq!(lengths("a\nbcd\n\ne\nrest"), Some((1, 4)));
        assert_eq!(lengths("ab\nab\nab\nab\n"), Some((3, 3)));
        assert_eq!(lengths("caf\u{e9}\t1\r\n\x1b[1mx\n\n\n"), Some((1, 9)));
        for other in ["", "a\nb\n", "no line", "a\nb\nc\nd\0\n", "a\nb\nc\n\x01\n"] {
            assert_eq!(lengths(other), None, "{other:?}");
        }
        assert_eq!(glance("ab\0c").control_byte(false), Some((2, 0)));
        assert_eq!(glance("ab\0c\x7f").control_byte(true), Some((4, 0x7f)));
    }

    #[test]
    fn records_that_end_with_newlines_cut_no_lines() {
        let even = glance("ab\n".repeat(20));
        assert_eq!(even.cut_lines(3), None);
        let words = |bytes: &[u8]| Glance(bytes.to_vec()).blocks().is_some();
        assert!(words(b"\0\x0f\0\0\0\x05\0\0a\0\x06\0\0bc\0\x05\0\0"));
        assert!(!words(b"\0\x05\0\0a\0\x06\0\0bc"));
        assert!(!words(b"\0\x04\0\0\0\x04\0\0"));
        assert!(!words(b"\0\x10\0\0\0\x05\0\0a\0\x06\0\0bc"));
        assert_eq!(even.cut_lines(6), None);
        assert!(even.cut_lines(4).unwrap().contains("lines of 3 bytes"));
        let uneven = glance("a\nbcd\n".repeat(20));
        assert!(uneven.cut_lines(5).unwrap().contains("2 to 4 bytes"));
        assert_eq!(uneven.cut_lines(6), None);
        // It has no whole record.
        assert_eq!(uneven.cut_lines(1000), None);
        assert_eq!(glance([0; 100]).cut_lines(7), None);
    }

    #[test]
    fn likely_lengths_are_near() {
        assert_eq!(likely_lengths(9600, 100), [96, 120]);
        assert_eq!(likely_lengths(150, 100), [75, 150]);
        assert_eq!(likely_lengths(97, 100), [97]);
        assert!(likely_lengths(7, 100).is_empty());
        assert!(likely_lengths(9973, 100).is_empty());
        assert_eq!(likely_lengths(9, 2), [3]);
        // Far ones are not looked for.
        assert!(likely_lengths(3 << 30, 1 << 30).is_empty());
    }
}
