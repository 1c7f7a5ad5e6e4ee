//! The ends of records in bytes that come piece by piece.

use thiserror::Error;

use super::Framing;
use super::quoted::InRow;

/// The most bytes of a header.
const MOST_HEADER_BYTES: usize = 16;

/// A length that no record has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "{length} is no length of a record; check the format, and that the file begins with a record"
)]
pub struct BadLength {
    /// The length in the header.
    pub length: u64,
    /// Bytes of the piece before the record; 0 if it began in an earlier piece.
    pub before: usize,
}

/// Follows records through pieces of bytes; a record may begin in one piece and end in another.
///
/// ```
/// use record::Framing;
/// let mut scanner = Framing::Delimited(b'\n').scanner();
/// assert_eq!(scanner.end(b"ab"), Ok(None));
/// assert_eq!(scanner.end(b"c\nd"), Ok(Some(2)));
/// assert!(!scanner.is_within());
/// ```
#[derive(Clone, Debug)]
pub struct Scanner {
    framing: Framing,
    /// Bytes of the current record so far.
    seen: u64,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    /// Nothing but the number of bytes matters.
    Counted,
    Row(InRow),
    /// The header so far; the number of its bytes is `seen`, until its length is known.
    Header([u8; MOST_HEADER_BYTES]),
    /// A body of a record that has this many bytes.
    Body(u64),
}

impl State {
    fn start(framing: Framing) -> State {
        match framing {
            Framing::Fixed(_) | Framing::Delimited(_) => State::Counted,
            Framing::Quoted(_) => State::Row(InRow::FieldStart),
            Framing::Prefixed(_) => State::Header([0; MOST_HEADER_BYTES]),
        }
    }
}

impl Scanner {
    pub(super) fn new(framing: Framing) -> Scanner {
        Scanner {
            framing,
            seen: 0,
            state: State::start(framing),
        }
    }

    /// Whether a record has begun that has not ended.
    #[must_use]
    pub fn is_within(&self) -> bool {
        self.seen > 0
    }

    /// Bytes of that record so far.
    #[must_use]
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// Whether the record is inside of quotes, so that a delimiter does not end it.
    #[must_use]
    pub fn is_quoted(&self) -> bool {
        matches!(self.state, State::Row(InRow::Quoted))
    }

    /// The end in `bytes`, which follow those before, of the record that they begin or go on with;
    /// `None` if it goes on behind them. The next call is for the bytes behind the end.
    ///
    /// # Errors
    /// If the record's header is none.
    pub fn end(&mut self, bytes: &[u8]) -> Result<Option<usize>, BadLength> {
        let end = match (self.framing, &mut self.state) {
            (Framing::Fixed(length), _) => remaining(length as u64, self.seen, bytes),
            (Framing::Delimited(delimiter), _) => {
                memchr::memchr(delimiter, bytes).map(|before| before + 1)
            }
            (Framing::Quoted(quoting), State::Row(place)) => quoting.end_from(place, bytes),
            (Framing::Prefixed(_), _) => self.end_of_prefixed(bytes)?,
            (Framing::Quoted(_), _) => unreachable!("rows have places"),
        };
        match end {
            Some(_) => *self = Scanner::new(self.framing),
            None => self.seen += bytes.len() as u64,
        }
        Ok(end)
    }

    /// The end of the last record that ends in `bytes`; 0 if none does. Afterwards the scanner has
    /// seen all of them.
    ///
    /// # Errors
    /// If a header is none.
    pub fn last_end(&mut self, bytes: &[u8]) -> Result<usize, BadLength> {
        if let Framing::Delimited(delimiter) = self.framing {
            let last = memchr::memrchr(delimiter, bytes).map_or(0, |before| before + 1);
            let before = if last > 0 { 0 } else { self.seen };
            self.seen = before + (bytes.len() - last) as u64;
            return Ok(last);
        }
        let mut last = 0;
        loop {
            let end = self.end(&bytes[last..]);
            let before = |bad: BadLength| BadLength {
                before: last,
                ..bad
            };
            match end.map_err(before)? {
                Some(end) => last += end,
                None => return Ok(last),
            }
        }
    }

    fn end_of_prefixed(&mut self, bytes: &[u8]) -> Result<Option<usize>, BadLength> {
        let Framing::Prefixed(prefix) = self.framing else {
            unreachable!("records with lengths");
        };
        let length = match &mut self.state {
            State::Body(length) => *length,
            State::Header(head) => {
                let have = self.seen as usize;
                let more = (prefix.header_bytes() - have).min(bytes.len());
                head[have..have + more].copy_from_slice(&bytes[..more]);
                let length = prefix.length(&head[..have + more]);
                let Some(length) = length.map_err(|length| BadLength { length, before: 0 })? else {
                    return Ok(None);
                };
                self.state = State::Body(length);
                length
            }
            State::Counted | State::Row(_) => unreachable!("records with lengths"),
        };
        Ok(remaining(length, self.seen, bytes))
    }
}

/// The end of a record of `length` bytes, of which some were seen, if `bytes` reach it.
fn remaining(length: u64, seen: u64, bytes: &[u8]) -> Option<usize> {
    let left = length - seen;
    (left <= bytes.len() as u64).then_some(left as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Quoting;

    /// The ends found in pieces of any length are those found at once.
    #[test]
    fn pieces_change_nothing() {
        let csv: &[u8] = b"a,b\n\"c\n\"\"d\",e\n5\",\"\"\n\n\",\"\"\n\"\n";
        let pairs: &[u8] = b"\x01\0\x02\0kvv\0\0\0\0\x03\0\0\0abc";
        let words: &[u8] = b"\0\x05\0\0a\0\x04\0\0\0\x08\0\0abcd";
        let all = [
            (Framing::Quoted(Quoting::CSV), csv),
            (Framing::Delimited(b'\n'), csv),
            (Framing::Fixed(5), &csv[..20]),
            (Framing::Prefixed("kv:u16le".parse().unwrap()), pairs),
            (Framing::Prefixed("rdw".parse().unwrap()), words),
        ];
        for (framing, bytes) in all {
            let mut expected = Vec::new();
            let mut at = 0;
            for record in framing.split(bytes) {
                at += record.len();
                expected.push(at);
            }
            assert_eq!(at, bytes.len());
            for piece in 1..=bytes.len() {
                let (mut scanner, mut found) = (framing.scanner(), Vec::new());
                for (number, bytes) in bytes.chunks(piece).enumerate() {
                    let mut begin = 0;
                    while let Some(end) = scanner.end(&bytes[begin..]).unwrap() {
                        begin += end;
                        found.push(number * piece + begin);
                    }
                }
                assert_eq!(found, expected, "{framing:?} in pieces of {piece}");
                assert!(!scanner.is_within());
                let mut scanner = framing.scanner();
                let last = scanner.last_end(&bytes[..piece]).unwrap();
                let before = expected.iter().rfind(|&&end| end <= piece);
                assert_eq!(last, before.copied().unwrap_or(0));
                assert_eq!(scanner.seen(), (piece - last) as u64);
            }
        }
    }

    #[test]
    fn an_open_quote_is_noticed() {
        let mut scanner = Framing::Quoted(Quoting::CSV).scanner();
        assert_eq!(scanner.end(b"a,\"b\n"), Ok(None));
        assert!(scanner.is_quoted());
        assert_eq!(scanner.end(b"\""), Ok(None));
        assert!(!scanner.is_quoted());
        assert_eq!(scanner.end(b"\"\n"), Ok(None));
        assert!(scanner.is_quoted(), "it was doubled");
    }

    #[test]
    fn a_length_that_cannot_be_is_an_error() {
        let mut scanner = Framing::Prefixed("rdw".parse().unwrap()).scanner();
        assert_eq!(scanner.end(b"\0"), Ok(None));
        assert_eq!(
            scanner.end(b"\x02\0\0"),
            Err(BadLength {
                length: 2,
                before: 0
            })
        );
    }
}
