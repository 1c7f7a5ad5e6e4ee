//! Framing: where a record ends, of records that lie one behind the other.
//!
//! ```text
//! Fixed(4)         |abcd|efgh|ijkl|
//! Delimited(\n)    |ab\n|\n|cdefg\n|            the delimiter belongs to its record
//! Quoted           |ab\n|"c\nd",e\n|            a newline inside of quotes ends nothing
//! Prefixed         |2ab|0|5cdefg|               the length belongs to its record
//! ```
//!
//! Records delimit themselves: bytes that begin with a record need no table of lengths, in memory,
//! in a spill file or on the network. Only delimited records can be found from any place of a file;
//! the ends of the last two kinds follow from all records before, so a file of them is read once
//! from its beginning ([`Scanner`]) before its parts can be.

mod prefix;
mod quoted;
mod scanner;

pub use prefix::{Prefix, PrefixError};
pub use quoted::Quoting;
pub use scanner::{BadLength, Scanner};

/// How a sequence of bytes divides into records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Framing {
    /// Every record has this many bytes.
    Fixed(usize),
    /// Every record ends with this byte, which occurs nowhere else in it.
    Delimited(u8),
    /// Every record is a row of fields that ends with a newline. Quotes may hold newlines.
    Quoted(Quoting),
    /// Every record begins with its length.
    Prefixed(Prefix),
}

impl Framing {
    /// The end of the record at the front of `bytes`; `None` if they do not hold all of it, or its
    /// length cannot be one.
    #[inline]
    #[must_use]
    pub fn end(self, bytes: &[u8]) -> Option<usize> {
        match self {
            Framing::Fixed(length) => (bytes.len() >= length).then_some(length),
            Framing::Delimited(delimiter) => {
                memchr::memchr(delimiter, bytes).map(|before| before + 1)
            }
            Framing::Quoted(quoting) => quoting.end(bytes),
            Framing::Prefixed(prefix) => {
                let length = prefix.length(bytes).ok()??;
                usize::try_from(length)
                    .ok()
                    .filter(|&end| end <= bytes.len())
            }
        }
    }

    /// The whole records at the front of `bytes`: their number, and the bytes of all.
    #[must_use]
    pub fn whole(self, bytes: &[u8]) -> (usize, usize) {
        match self {
            Framing::Fixed(length) => (bytes.len() / length, bytes.len() - bytes.len() % length),
            Framing::Delimited(delimiter) => {
                let end = memchr::memrchr(delimiter, bytes).map_or(0, |before| before + 1);
                (memchr::memchr_iter(delimiter, &bytes[..end]).count(), end)
            }
            Framing::Quoted(_) | Framing::Prefixed(_) => {
                let (mut records, mut all) = (0, 0);
                while let Some(end) = self.end(&bytes[all..]) {
                    (records, all) = (records + 1, all + end);
                }
                (records, all)
            }
        }
    }

    /// Each record of whole records.
    ///
    /// # Panics
    /// If the last one is not whole.
    pub fn split(self, records: &[u8]) -> impl Iterator<Item = &[u8]> {
        let mut rest = records;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let end = self.end(rest).expect("whole records");
            let record = &rest[..end];
            rest = &rest[end..];
            Some(record)
        })
    }

    /// The record without its delimiter or length; of a pair all bytes, because its header says
    /// where the key ends.
    #[inline]
    #[must_use]
    pub fn body(self, record: &[u8]) -> &[u8] {
        match self {
            Framing::Fixed(_) => record,
            Framing::Delimited(_) | Framing::Quoted(_) => &record[..record.len() - 1],
            Framing::Prefixed(prefix) if prefix.has_key() => record,
            Framing::Prefixed(prefix) => &record[prefix.header_bytes()..],
        }
    }

    /// The delimiter that completes a last record without one.
    #[must_use]
    pub fn delimiter(self) -> Option<u8> {
        match self {
            Framing::Fixed(_) | Framing::Prefixed(_) => None,
            Framing::Delimited(delimiter) => Some(delimiter),
            Framing::Quoted(_) => Some(b'\n'),
        }
    }

    /// Whether a quote in a record that does not end is open.
    #[must_use]
    pub fn is_open(self, record: &[u8]) -> bool {
        let mut scanner = self.scanner();
        let _ = scanner.end(record);
        scanner.is_quoted()
    }

    /// Whether all records have one length.
    #[must_use]
    pub fn is_fixed(self) -> bool {
        matches!(self, Framing::Fixed(_))
    }

    /// Whether the records before decide where one ends, so that it cannot be found from any place.
    #[must_use]
    pub fn is_chained(self) -> bool {
        matches!(self, Framing::Quoted(_) | Framing::Prefixed(_))
    }

    /// Bytes of the shortest record.
    #[must_use]
    pub fn shortest(self) -> usize {
        match self {
            Framing::Fixed(length) => length,
            Framing::Delimited(_) | Framing::Quoted(_) => 1,
            Framing::Prefixed(prefix) => prefix.header_bytes(),
        }
    }

    /// The front of a record, of at most `most` bytes, as a record for comparisons: with the
    /// delimiter at its end, or with its length.
    #[must_use]
    pub fn front(self, record: &[u8], most: usize) -> Vec<u8> {
        let most = record.len().min(most.max(self.shortest()));
        let mut front = record[..most].to_vec();
        if let (Some(delimiter), Some(last)) = (self.delimiter(), front.last_mut()) {
            *last = delimiter;
        }
        front
    }

    /// Whether [`Framing::front`] can have made these bytes.
    #[must_use]
    pub fn is_front(self, bytes: &[u8]) -> bool {
        match self {
            Framing::Fixed(length) => bytes.len() == length,
            Framing::Delimited(_) => self.end(bytes) == Some(bytes.len()),
            Framing::Quoted(_) => bytes.last() == Some(&b'\n'),
            Framing::Prefixed(prefix) => bytes.len() >= prefix.header_bytes(),
        }
    }

    /// A scanner of bytes that come piece by piece.
    #[must_use]
    pub fn scanner(self) -> Scanner {
        Scanner::new(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_ends_behind_its_delimiter() {
        let lines = Framing::Delimited(b'\n');
        assert_eq!(lines.end(b"ab\ncd"), Some(3));
        assert_eq!(lines.end(b"\n"), Some(1));
        assert_eq!(lines.end(b"ab"), None);
        assert_eq!(lines.end(b""), None);
        assert_eq!(lines.body(b"ab\n"), b"ab");
        assert_eq!(Framing::Fixed(3).end(b"abcd"), Some(3));
        assert_eq!(Framing::Fixed(3).end(b"ab"), None);
        assert_eq!(Framing::Fixed(3).body(b"abc"), b"abc");
    }

    #[test]
    fn fronts_can_be_compared() {
        let lines = Framing::Delimited(b'\n');
        assert_eq!(lines.front(b"abcdef\n", 3), b"ab\n");
        assert_eq!(lines.front(b"a\n", 3), b"a\n");
        let rows = Framing::Quoted(Quoting::CSV);
        let front = rows.front(b"\"abc\ndef\"\n", 4);
        assert_eq!(front, b"\"ab\n");
        assert!(rows.is_front(&front));
        let pairs = Framing::Prefixed("varlen:u16le".parse().unwrap());
        assert_eq!(pairs.front(b"\x03\0abc", 4), b"\x03\0ab");
        assert_eq!(pairs.front(b"\x03\0abc", 0), b"\x03\0");
        assert!(!pairs.is_front(b"\x03"));
    }
}
