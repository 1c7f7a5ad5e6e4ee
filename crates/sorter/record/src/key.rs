//! One key of a record: its place, its type, its direction.
//!
//! ```text
//! OFFSET+LENGTH[:TYPE][:desc]      0+10   8+4:u32le   100+8:f64be:desc   20+5:packed
//! ```
//!
//! `TYPE` is `bytes` (the default, compared as unsigned bytes), or a number: `u` unsigned, `i`
//! two's complement or `f` IEEE 754, its bits, and `le` or `be`. Numbers of one byte have no byte
//! order. Floats sort by totalOrder of IEEE 754-2008 5.10: -NaN, -inf .. -0, +0 .. +inf, NaN.
//! Types of mainframes are decimal numbers of 1 to 32 bytes, `packed`, `zoned` and `zoned-ascii`
//! ([`Decimal`]), years of two digits, such as `y2c=1950` ([`Year`]), and text in the order of another
//! alphabet, `as-ebcdic` and `as-ascii`
//! ([`Collation`]).
//!
//! A length must be the type's, and a byte order is never guessed. [`Order`](crate::Order) checks
//! that a key lies inside the record.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::collation::Collation;
use crate::decimal::{self, Decimal};
use crate::year::Year;

/// The order of a number's bytes in the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Endian {
    /// The least significant byte is first.
    Little,
    /// The most significant byte is first. Numbers of one byte count as big-endian.
    Big,
}

/// The type of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Bytes that compare as unsigned numbers, one after the other.
    Bytes,
    /// An unsigned integer of 1, 2, 4, 8 or 16 bytes.
    Unsigned(Endian),
    /// An integer in two's complement of 1, 2, 4, 8 or 16 bytes.
    Signed(Endian),
    /// An IEEE 754 number of 4 or 8 bytes.
    Float(Endian),
    /// A decimal number of 1 to 32 bytes.
    Decimal(Decimal),
    /// Bytes in the order of another alphabet.
    Collated(Collation),
}

impl Kind {
    /// Whether a key of this kind can be `bytes` long.
    pub(crate) fn fits(self, bytes: usize) -> bool {
        match self {
            Kind::Bytes | Kind::Collated(_) => bytes > 0,
            Kind::Decimal(Decimal::Year(year)) => bytes == year.bytes(),
            Kind::Decimal(_) => (1..=decimal::MOST_BYTES).contains(&bytes),
            Kind::Unsigned(_) | Kind::Signed(_) => matches!(bytes, 1 | 2 | 4 | 8 | 16),
            Kind::Float(_) => matches!(bytes, 4 | 8),
        }
    }
}

/// A key: `bytes` bytes at `offset` of the record, read as `kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// The number of bytes before the key in the record.
    pub offset: usize,
    /// The length of the key.
    pub bytes: usize,
    /// The type of the key.
    pub kind: Kind,
    /// Whether the largest key comes first.
    pub descending: bool,
}

impl Key {
    /// An ascending key of plain bytes.
    #[must_use]
    pub fn plain(offset: usize, bytes: usize) -> Key {
        Key {
            offset,
            bytes,
            kind: Kind::Bytes,
            descending: false,
        }
    }
}

/// The reason why a key was refused, and its place in the text.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("key \"{spec}\", character {character}: {problem}")]
pub struct KeyError {
    /// The text of the key.
    pub spec: String,
    /// The place of the problem in `spec`, in characters from 1.
    pub character: usize,
    /// The mistake, which displays with a remedy.
    pub problem: KeyProblem,
}

/// A mistake in a key.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum KeyProblem {
    #[error("no \"+\"; write OFFSET+LENGTH, such as 0+10")]
    NoLength,
    #[error("\"{0}\" is not a number of bytes; write digits alone, such as 10")]
    NotANumber(String),
    #[error("a key of no bytes; give a length of at least 1")]
    Empty,
    #[error(
        "unknown type \"{0}\"; use bytes, u8, i8, or u16 to u128, i16 to i128, f32, f64 \
         followed by le or be, such as u64le, or packed, zoned, zoned-ascii, y2c, y2c-ascii, y2p, y2d, y2b, \
         as-ebcdic, as-ascii"
    )]
    UnknownType(String),
    #[error("{name} is a type of mainframe tools; write {instead}")]
    OfMainframe { name: String, instead: &'static str },
    #[error("the byte order of {0} is missing; write {0}le or {0}be")]
    NoEndian(String),
    #[error("{0} is a single byte and has no byte order; write {0}")]
    UselessEndian(String),
    #[error("{name} is {needed} byte{s} long, not {given}; write {offset}+{needed}:{name}", s = if *needed == 1 { "" } else { "s" })]
    WrongLength {
        name: String,
        offset: usize,
        needed: usize,
        given: usize,
    },
    #[error("numbers are 1, 2, 4, 8 or 16 bytes long and floats 4 or 8, not {0}")]
    NoSuchNumber(usize),
    #[error("a decimal number is 1 to {most} bytes long, not {0}", most = decimal::MOST_BYTES)]
    DecimalLength(usize),
    #[error("{0} needs the first of its hundred years; write {0}=1950 for 1950 to 2049")]
    NoWindow(String),
    #[error("\"{0}\" after the end; a key is OFFSET+LENGTH[:TYPE][:desc]")]
    Trailing(String),
    #[error(
        "the key ends at byte {end}, but a record has {record_bytes}; \
         shorten the key, or give the format with longer records"
    )]
    PastEnd { end: usize, record_bytes: usize },
}

impl FromStr for Key {
    type Err = KeyError;

    fn from_str(spec: &str) -> Result<Key, KeyError> {
        let fail = |at: &str, problem| {
            Err(KeyError {
                spec: spec.to_owned(),
                character: character_of(spec, at),
                problem,
            })
        };
        let mut parts = spec.split(':');
        let place = parts.next().unwrap_or_default();
        let Some((offset, bytes)) = place.split_once('+') else {
            return fail(place, KeyProblem::NoLength);
        };
        let mut key = match (number(offset), number(bytes)) {
            (None, _) => return fail(offset, KeyProblem::NotANumber(offset.to_owned())),
            (_, None) => return fail(bytes, KeyProblem::NotANumber(bytes.to_owned())),
            (_, Some(0)) => return fail(bytes, KeyProblem::Empty),
            (Some(offset), Some(bytes)) => Key::plain(offset, bytes),
        };
        let mut next = parts.next();
        if let Some(name) = next.filter(|&part| part != "desc") {
            key.kind = match kind_for(name, &key) {
                Ok(kind) => kind,
                Err(problem) => return fail(name, problem),
            };
            next = parts.next();
        }
        if next == Some("desc") {
            key.descending = true;
            next = parts.next();
        }
        match next {
            None => Ok(key),
            Some(part) => fail(part, KeyProblem::Trailing(part.to_owned())),
        }
    }
}

/// The place of `part`, a slice of `spec`, in characters from 1.
fn character_of(spec: &str, part: &str) -> usize {
    let bytes_before = part.as_ptr().addr() - spec.as_ptr().addr();
    spec[..bytes_before].chars().count() + 1
}

/// Parses digits only: `+5`, which the standard library would accept, is a mistake here. A number
/// that is too large becomes the largest one, which the caller refuses.
pub(crate) fn number(text: &str) -> Option<usize> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(usize::MAX))
}

/// A number by its name: its bytes, and its kind for a byte order.
type Number = (&'static str, usize, fn(Endian) -> Kind);

/// The types of numbers.
const NUMBERS: [Number; 12] = [
    ("u8", 1, Kind::Unsigned),
    ("u16", 2, Kind::Unsigned),
    ("u32", 4, Kind::Unsigned),
    ("u64", 8, Kind::Unsigned),
    ("u128", 16, Kind::Unsigned),
    ("i8", 1, Kind::Signed),
    ("i16", 2, Kind::Signed),
    ("i32", 4, Kind::Signed),
    ("i64", 8, Kind::Signed),
    ("i128", 16, Kind::Signed),
    ("f32", 4, Kind::Float),
    ("f64", 8, Kind::Float),
];

/// The types of mainframes, which do not say their length.
const DECIMALS: [(&str, Decimal); 3] = [
    ("packed", Decimal::Packed),
    ("zoned", Decimal::Zoned),
    ("zoned-ascii", Decimal::ZonedAscii),
];

/// Types as DFSORT names them, and what they are here.
const OF_MAINFRAME: [(&str, &str); 11] = [
    ("PD", "packed"),
    ("ZD", "zoned"),
    ("BI", "bytes"),
    ("CH", "bytes"),
    ("FI", "i8, i16be, i32be or i64be"),
    ("Y2C", "y2c=1950, with the first of its hundred years"),
    ("Y2Z", "y2c=1950, with the first of its hundred years"),
    ("Y2S", "y2c=1950, with the first of its hundred years"),
    ("Y2P", "y2p=1950, with the first of its hundred years"),
    ("Y2D", "y2d=1950, with the first of its hundred years"),
    ("Y2B", "y2b=1950, with the first of its hundred years"),
];

/// The types that do not say their length, with their names.
fn of_any_length() -> impl Iterator<Item = (&'static str, Kind)> {
    let decimals = DECIMALS.map(|(name, decimal)| (name, Kind::Decimal(decimal)));
    let collated = Collation::NAMES.map(|(name, collation)| (name, Kind::Collated(collation)));
    let bytes = [("bytes", Kind::Bytes)];
    bytes.into_iter().chain(decimals).chain(collated)
}

/// The kind with the type's `name`, if the length of `key` is right for it.
fn kind_for(name: &str, key: &Key) -> Result<Kind, KeyProblem> {
    if let Some((_, kind)) = of_any_length().find(|(known, _)| *known == name) {
        let fits = kind.fits(key.bytes).then_some(kind);
        return fits.ok_or(KeyProblem::DecimalLength(key.bytes));
    }
    match name.parse::<Year>() {
        Ok(year) if key.bytes == year.bytes() => return Ok(Kind::Decimal(Decimal::Year(year))),
        Ok(year) => {
            return Err(KeyProblem::WrongLength {
                name: name.to_owned(),
                offset: key.offset,
                needed: year.bytes(),
                given: key.bytes,
            });
        }
        Err(Some(problem)) => return Err(problem),
        Err(None) => {}
    }
    let is_meant = |(other, _): &&(&str, _)| other.eq_ignore_ascii_case(name);
    if let Some(&(_, instead)) = OF_MAINFRAME.iter().find(is_meant) {
        let name = name.to_owned();
        return Err(KeyProblem::OfMainframe { name, instead });
    }
    let (base, endian) = match (name.strip_suffix("le"), name.strip_suffix("be")) {
        (Some(base), _) => (base, Some(Endian::Little)),
        (_, Some(base)) => (base, Some(Endian::Big)),
        _ => (name, None),
    };
    let known = NUMBERS.iter().find(|(number, ..)| *number == base);
    let &(_, needed, kind) = known.ok_or_else(|| KeyProblem::UnknownType(name.to_owned()))?;
    let endian = match (needed, endian) {
        (1, None) => Endian::Big,
        (1, Some(_)) => return Err(KeyProblem::UselessEndian(base.to_owned())),
        (_, None) => return Err(KeyProblem::NoEndian(base.to_owned())),
        (_, Some(endian)) => endian,
    };
    if key.bytes != needed {
        let (name, offset, given) = (name.to_owned(), key.offset, key.bytes);
        return Err(KeyProblem::WrongLength {
            name,
            offset,
            needed,
            given,
        });
    }
    Ok(kind(endian))
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", self.offset, self.bytes)?;
        match self.kind {
            Kind::Bytes => Ok(()),
            Kind::Unsigned(endian) => self.fmt_number(f, 'u', endian),
            Kind::Signed(endian) => self.fmt_number(f, 'i', endian),
            Kind::Float(endian) => self.fmt_number(f, 'f', endian),
            Kind::Decimal(Decimal::Year(year)) => write!(f, ":{year}"),
            Kind::Decimal(_) | Kind::Collated(_) => {
                let named = of_any_length().find(|(_, kind)| *kind == self.kind);
                write!(f, ":{}", named.expect("each has a name").0)
            }
        }?;
        if self.descending {
            f.write_str(":desc")
        } else {
            Ok(())
        }
    }
}

impl Key {
    /// Writes the type of a number: its letter, its bits, its byte order.
    fn fmt_number(&self, f: &mut fmt::Formatter<'_>, letter: char, endian: Endian) -> fmt::Result {
        let order = match endian {
            _ if self.bytes == 1 => "",
            Endian::Little => "le",
            Endian::Big => "be",
        };
        write!(f, ":{letter}{}{order}", 8 * self.bytes)
    }
}
