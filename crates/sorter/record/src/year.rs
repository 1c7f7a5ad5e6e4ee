//! Years of two digits, which lie in a window of a hundred years: DFSORT's formats Y2.
//!
//! ```text
//! 2024 as    y2c        F2 F4    zoned, in EBCDIC; y2c-ascii: 32 34      Y2C Y2Z Y2S
//!            y2p        02 4C    packed; more digits than two are left out   Y2P
//!            y2d        24       two digits in a byte                    Y2D
//!            y2b        18       a number in a byte, of which two digits count   Y2B
//!
//! y2c=1950   50 .. 99 00 .. 49   are 1950 to 2049
//! ```
//!
//! Of zoned digits the zones do not count. A field that holds no year comes before all years, ordered by its bytes.
//! So do zeros and blanks where years are zoned, and bits that are all set come behind: the special years of Y2S.

use std::fmt;
use std::str::FromStr;

use crate::decimal::Decimal;
use crate::key::KeyProblem;

/// How a field holds the two digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum YearForm {
    /// `y2c`: zoned digits in EBCDIC.
    Zoned,
    /// `y2c-ascii`: zoned digits in ASCII.
    ZonedAscii,
    /// `y2p`: a packed number.
    Packed,
    /// `y2d`: a digit in each half of a byte.
    Digits,
    /// `y2b`: a byte that is a number, whose last two digits count.
    Binary,
}

/// A year of two digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Year {
    /// How a field holds it.
    pub form: YearForm,
    /// The first of the hundred years that it may be.
    pub first: u16,
}

const NAMES: [(&str, YearForm); 5] = [
    ("y2c", YearForm::Zoned),
    ("y2c-ascii", YearForm::ZonedAscii),
    ("y2p", YearForm::Packed),
    ("y2d", YearForm::Digits),
    ("y2b", YearForm::Binary),
];

impl Year {
    /// The bytes of a field.
    pub(crate) fn bytes(self) -> usize {
        match self.form {
            YearForm::Zoned | YearForm::ZonedAscii | YearForm::Packed => 2,
            YearForm::Digits | YearForm::Binary => 1,
        }
    }

    /// Whether a field is the end of time that Y2S has.
    pub(crate) fn is_end(self, field: &[u8]) -> bool {
        self.is_zoned() && field == [0xFF; 2]
    }

    fn is_zoned(self) -> bool {
        matches!(self.form, YearForm::Zoned | YearForm::ZonedAscii)
    }

    /// The years of a field behind the first of the window.
    pub(crate) fn place(self, field: &[u8]) -> Option<u8> {
        let blank = if self.form == YearForm::Zoned {
            0x40
        } else {
            0x20
        };
        if self.is_zoned() && (field == [0; 2] || field == [blank; 2]) {
            return None;
        }
        let two = |high: u8, low: u8| (high <= 9 && low <= 9).then(|| u16::from(10 * high + low));
        let year = match (self.form, field) {
            // Their zones do not count.
            (YearForm::Zoned | YearForm::ZonedAscii, &[high, low]) => two(high & 0x0F, low & 0x0F)?,
            (YearForm::Packed, _) => {
                let (_, digits) = Decimal::Packed.digits(field)?;
                digits.fold(0, |year, digit| (10 * year + u16::from(digit)) % 100)
            }
            (YearForm::Digits, &[pair]) => two(pair >> 4, pair & 0x0F)?,
            (YearForm::Binary, &[number]) => u16::from(number) % 100,
            _ => return None,
        };
        let place = (year + 100 - self.first % 100) % 100;
        Some(place as u8)
    }

    /// The year of a field.
    pub(crate) fn read(self, field: &[u8]) -> Option<u16> {
        self.place(field).map(|place| self.first + u16::from(place))
    }
}

impl FromStr for Year {
    type Err = Option<KeyProblem>;

    /// Reads the name of a type. Without a problem it is another type.
    fn from_str(name: &str) -> Result<Year, Option<KeyProblem>> {
        let (word, first) = name.split_once('=').unwrap_or((name, ""));
        let known = NAMES.iter().find(|(known, _)| *known == word);
        let &(_, form) = known.ok_or(None)?;
        let is_number = first.len() == 4 && first.bytes().all(|byte| byte.is_ascii_digit());
        let first = first.parse().ok().filter(|_| is_number);
        let first = first.ok_or_else(|| KeyProblem::NoWindow(word.to_owned()))?;
        Ok(Year { form, first })
    }
}

impl fmt::Display for Year {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = NAMES.iter().find(|(_, form)| *form == self.form);
        write!(f, "{}={:04}", named.expect("each has a name").0, self.first)
    }
}
