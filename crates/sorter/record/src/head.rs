//! The head of a file: lines that stay on top.
//!
//! ```text
//! ##fileformat=VCFv4.3     marked by `#`
//! #CHROM  POS  ID          marked by `#`
//! 20      14370  rs6054257     the first record
//! ```

use std::ops::Range;

use thiserror::Error;

use crate::framing::Framing;

/// The lines of a head: those at the front that begin with a mark, then a number of others.
///
/// ```
/// use record::Head;
/// let head = Head::parse(&["#".to_owned(), "1".to_owned()], 0)?;
/// let found = head.last_line(record::Framing::Delimited(b'\n'), b"# a\n# b\nname\n1\n", true);
/// assert_eq!(found, Ok(Some(8..13)));
/// # Ok::<(), record::HeadError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    marks: Vec<Box<[u8]>>,
    lines: u32,
}

/// A head that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HeadError {
    /// A word without a letter.
    #[error("an empty word; write the number of lines, or the first bytes of each")]
    Empty,
    /// Two numbers of lines, or one that is too large.
    #[error("\"{0}\": write one number of lines, at most 1,000,000")]
    Number(String),
}

/// Fewer lines than the head has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the file ends before its header does; write a smaller number of lines")]
pub struct ShortHead;

/// A larger number is a mistake: a head is read into memory.
const MOST_LINES: u32 = 1_000_000;

impl Head {
    /// No head is longer: it is read into memory.
    pub const LONGEST_BYTES: usize = 16 << 20;

    /// A head of so many lines.
    #[must_use]
    pub fn of_lines(lines: u32) -> Head {
        let marks = Vec::new();
        Head { marks, lines }
    }

    /// Reads words: a number of lines, and marks, with which lines before those begin. Without a number there are
    /// `lines` of them.
    ///
    /// # Errors
    /// If a word is empty, or there are two numbers.
    pub fn parse(words: &[String], lines: u32) -> Result<Head, HeadError> {
        let (mut head, mut is_counted) = (Head::of_lines(lines), false);
        for word in words {
            if word.is_empty() {
                return Err(HeadError::Empty);
            }
            if !word.bytes().all(|byte| byte.is_ascii_digit()) {
                head.marks.push(word.as_bytes().into());
                continue;
            }
            let number = word.parse().ok().filter(|lines| *lines <= MOST_LINES);
            let number = number.filter(|_| !is_counted);
            head.lines = number.ok_or_else(|| HeadError::Number(word.clone()))?;
            is_counted = true;
        }
        Ok(head)
    }

    /// Whether no line belongs to it.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.marks.is_empty() && self.lines == 0
    }

    /// Whether only marks tell where it ends, so that records with a mark look like lines of it.
    #[must_use]
    pub fn is_marked_alone(&self) -> bool {
        self.lines == 0 && !self.marks.is_empty()
    }

    /// The first bytes of the lines that are marked.
    pub fn marks(&self) -> impl Iterator<Item = &[u8]> {
        self.marks.iter().map(AsRef::as_ref)
    }

    /// The lines behind those that are marked.
    #[must_use]
    pub fn lines(&self) -> u32 {
        self.lines
    }

    /// The last line of the head, and so the head's end, in the front of a file or in the whole of it; `None` if more
    /// bytes are needed. It may lack its delimiter.
    ///
    /// # Errors
    /// If the file ends first, with a line or more.
    pub fn last_line(
        &self,
        framing: Framing,
        front: &[u8],
        is_whole: bool,
    ) -> Result<Option<Range<usize>>, ShortHead> {
        let (mut at, mut left, mut is_marked) = (0, self.lines, !self.marks.is_empty());
        let mut last = 0..0;
        loop {
            let rest = &front[at..];
            let begins = |mark: &[u8]| rest.starts_with(mark);
            let may_begin = |mark: &[u8]| !is_whole && mark.starts_with(rest);
            if is_marked && !self.marks.iter().any(|mark| begins(mark)) {
                if self.marks.iter().any(|mark| may_begin(mark)) {
                    return Ok(None);
                }
                is_marked = false;
            }
            if !is_marked && left == 0 {
                return Ok(Some(last));
            }
            let end = framing.end(rest);
            let whole = Some(rest.len()).filter(|bytes| is_whole && *bytes > 0);
            last = match end.or(whole) {
                Some(end) => at..at + end,
                None if !is_whole => return Ok(None),
                // A file without a byte has no head, either.
                None if at == 0 => return Ok(Some(last)),
                None => return Err(ShortHead),
            };
            at = last.end;
            left -= u32::from(!is_marked);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: Framing = Framing::Delimited(b'\n');

    fn head(words: &[&str]) -> Head {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        Head::parse(&words, 0).unwrap()
    }

    #[test]
    fn heads_end_behind_marks_and_lines() {
        for (words, file, end) in [
            (&["1"][..], "a\nb\n", Ok(2)),
            (&["2"], "a\nb", Ok(3)),
            (&["2"], "a\n", Err(ShortHead)),
            (&["2"], "", Ok(0)),
            (&["#"], "#a\n#b\nc\n#d\n", Ok(6)),
            (&["#"], "c\n", Ok(0)),
            (&["#"], "#a", Ok(2)),
            (&["#", "1"], "#a\nb\nc\n", Ok(5)),
            (&["#", "1"], "#a\n", Err(ShortHead)),
            (&["track", "browser"], "browser x\ntrack y\nchr1\n", Ok(18)),
            (&["track"], "tra", Ok(0)),
            (&["0"], "a\n", Ok(0)),
        ] {
            let found = head(words).last_line(LINES, file.as_bytes(), true);
            let found = found.map(|last| last.unwrap().end);
            assert_eq!(found, end, "{words:?} of {file:?}");
        }
    }

    /// Whatever is read first, the end is the same.
    #[test]
    fn the_end_is_found_in_any_pieces() {
        for words in [&["#"][..], &["##", "1"], &["2"], &["#", "track", "2"]] {
            let file = b"##a\n#b\ntrack c\nd\ne\nf\n";
            let whole = head(words).last_line(LINES, file, true).unwrap().unwrap();
            let mut pieces = (0..file.len()).map(|end| &file[..end]);
            let first =
                pieces.find_map(|front| head(words).last_line(LINES, front, false).unwrap());
            assert_eq!(first, Some(whole), "{words:?}");
        }
    }

    #[test]
    fn words_are_numbers_or_marks() {
        let refused = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            Head::parse(&words, 0).unwrap_err().to_string()
        };
        assert!(refused(&[""]).contains("empty word"));
        assert!(refused(&["1", "2"]).contains("one number"));
        assert!(refused(&["1000001"]).contains("at most 1,000,000"));
        assert!(head(&[]).is_none() && head(&["0"]).is_none() && !head(&["#"]).is_none());
    }
}
