//! Framing: where a record ends, of records that lie one behind the other.
//!
//! ```text
//! Fixed(4)         |abcd|efgh|ijkl|
//! Delimited(\n)    |ab\n|\n|cdefg\n|           the delimiter belongs to its record
//! ```
//!
//! Records delimit themselves: bytes that begin with a record need no table of lengths, in memory,
//! in a spill file or on the network.

/// How a sequence of bytes divides into records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Framing {
    /// Every record has this many bytes.
    Fixed(usize),
    /// Every record ends with this byte, which occurs nowhere else in it.
    Delimited(u8),
}

impl Framing {
    /// The end of the record at the front of `bytes`; `None` if they do not hold all of it.
    #[inline]
    #[must_use]
    pub fn end(self, bytes: &[u8]) -> Option<usize> {
        match self {
            Framing::Fixed(length) => (bytes.len() >= length).then_some(length),
            Framing::Delimited(delimiter) => {
                memchr::memchr(delimiter, bytes).map(|before| before + 1)
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

    /// The record without its delimiter.
    #[inline]
    #[must_use]
    pub fn body(self, record: &[u8]) -> &[u8] {
        match self {
            Framing::Fixed(_) => record,
            Framing::Delimited(_) => &record[..record.len() - 1],
        }
    }

    /// The delimiter that completes a last record without one.
    #[must_use]
    pub fn delimiter(self) -> Option<u8> {
        match self {
            Framing::Fixed(_) => None,
            Framing::Delimited(delimiter) => Some(delimiter),
        }
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
}
