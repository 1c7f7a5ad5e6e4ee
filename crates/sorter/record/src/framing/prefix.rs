//! Lengths in front of records.
//!
//! ```text
//! varlen:u16le     |LL|body......|          LL counts the body
//! kv:u32be         |KKKK|VVVV|key..|value....|        TritonSort's pairs, lengths of both (6.1)
//! rdw              |LL|00|body......|       LL counts all four bytes and the body (RECFM VB)
//! ```

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// The header of a record that says how long it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Prefix {
    kind: Kind,
    /// Bytes of a length: 1, 2, 4 or 8.
    width: u8,
    big_endian: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    /// The length of the body.
    Body,
    /// The length of the key and that of the value.
    Pair,
    /// A record descriptor word.
    Descriptor,
}

/// Bytes of a record descriptor word: the length, and two zeros unless a record is segmented.
const DESCRIPTOR_BYTES: usize = 4;

/// A mistake in the name of a format with lengths.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "\"{given}\" is not a length; give u8, u16le, u16be, u32le, u32be, u64le or u64be, \
     such as varlen:u32le"
)]
pub struct PrefixError {
    /// The given length.
    pub given: String,
}

impl Prefix {
    /// Bytes of the header.
    #[inline]
    #[must_use]
    pub fn header_bytes(self) -> usize {
        match self.kind {
            Kind::Body => self.width.into(),
            Kind::Pair => 2 * usize::from(self.width),
            Kind::Descriptor => DESCRIPTOR_BYTES,
        }
    }

    /// The length of the record that begins with these bytes, its header included; `None` if they
    /// do not hold the header.
    ///
    /// # Errors
    /// If no record has that length.
    #[inline]
    pub(super) fn length(self, bytes: &[u8]) -> Result<Option<u64>, u64> {
        let header = self.header_bytes();
        let Some(head) = bytes.get(..header) else {
            return Ok(None);
        };
        let width = usize::from(self.width);
        let first = self.number(&head[..width]);
        let length = match self.kind {
            Kind::Body => first.checked_add(header as u64),
            Kind::Pair => {
                let second = self.number(&head[width..]);
                let both = first.checked_add(second);
                both.and_then(|both| both.checked_add(header as u64))
            }
            // A segment of a spanned record has other bytes behind its length.
            Kind::Descriptor => {
                let is_whole = first >= header as u64 && head[2..] == [0, 0];
                is_whole.then_some(first)
            }
        };
        length.map(Some).ok_or(first)
    }

    /// Bytes of the key at the front of a record's body, if the header says it.
    #[must_use]
    pub fn key_bytes(self, record: &[u8]) -> Option<usize> {
        match self.kind {
            Kind::Pair => {
                let key = self.number(record.get(..self.width.into())?);
                Some(usize::try_from(key).unwrap_or(usize::MAX))
            }
            Kind::Body | Kind::Descriptor => None,
        }
    }

    /// Whether the header has the length of a key.
    #[must_use]
    pub fn has_key(self) -> bool {
        self.kind == Kind::Pair
    }

    #[inline]
    fn number(self, bytes: &[u8]) -> u64 {
        let add = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        if self.big_endian {
            bytes.iter().fold(0, add)
        } else {
            bytes.iter().rev().fold(0, add)
        }
    }

    /// The prefix of a format; `None` if the format's name is another one.
    ///
    /// # Errors
    /// If its length has a mistake.
    pub fn parse(format: &str) -> Option<Result<Prefix, PrefixError>> {
        if format == "rdw" {
            return Some(Ok(Prefix {
                kind: Kind::Descriptor,
                width: 2,
                big_endian: true,
            }));
        }
        let (name, length) = format.split_once(':').unwrap_or((format, ""));
        let kind = match name {
            "varlen" => Kind::Body,
            "kv" => Kind::Pair,
            _ => return None,
        };
        let (width, big_endian) = match length {
            "u8" => (1, false),
            "u16le" => (2, false),
            "u16be" => (2, true),
            "u32le" => (4, false),
            "u32be" => (4, true),
            "u64le" => (8, false),
            "u64be" => (8, true),
            given => {
                let given = given.to_owned();
                return Some(Err(PrefixError { given }));
            }
        };
        Some(Ok(Prefix {
            kind,
            width,
            big_endian,
        }))
    }
}

impl FromStr for Prefix {
    type Err = PrefixError;

    fn from_str(format: &str) -> Result<Prefix, PrefixError> {
        let given = || format.to_owned();
        Prefix::parse(format).unwrap_or_else(|| Err(PrefixError { given: given() }))
    }
}

impl fmt::Display for Prefix {
    /// The format, as [`Prefix::parse`] takes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.kind {
            Kind::Descriptor => return f.write_str("rdw"),
            Kind::Body => "varlen",
            Kind::Pair => "kv",
        };
        let end = match (self.width, self.big_endian) {
            (1, _) => "",
            (_, true) => "be",
            (_, false) => "le",
        };
        write!(f, "{name}:u{}{end}", 8 * u32::from(self.width))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(format: &str) -> Prefix {
        format.parse().unwrap()
    }

    #[test]
    fn lengths_of_every_kind_are_read() {
        let length = |format: &str, bytes: &[u8]| prefix(format).length(bytes);
        assert_eq!(length("varlen:u8", b"\x03abc"), Ok(Some(4)));
        assert_eq!(length("varlen:u16le", b"\x02\x01"), Ok(Some(0x104)));
        assert_eq!(length("varlen:u16be", b"\x02\x01"), Ok(Some(0x203)));
        assert_eq!(length("varlen:u32be", b"\0\0\0"), Ok(None));
        assert_eq!(length("varlen:u64le", &[0xff; 8]), Err(u64::MAX));
        assert_eq!(length("kv:u16le", b"\x02\0\x05\0"), Ok(Some(11)));
        assert_eq!(prefix("kv:u16le").key_bytes(b"\x02\0\x05\0"), Some(2));
        assert_eq!(length("rdw", b"\0\x06\0\0ab"), Ok(Some(6)));
        assert_eq!(length("rdw", b"\0\x03\0\0"), Err(3));
        assert_eq!(length("rdw", b"\0\x06\x01\0"), Err(6));
    }

    #[test]
    fn formats_are_read_back() {
        for format in [
            "varlen:u8",
            "varlen:u16le",
            "varlen:u64be",
            "kv:u32be",
            "rdw",
        ] {
            assert_eq!(prefix(format).to_string(), format);
        }
        assert_eq!(Prefix::parse("lines"), None);
        assert!(Prefix::parse("varlen").unwrap().is_err());
        assert!(Prefix::parse("kv:u24le").unwrap().is_err());
    }
}
