//! Years of two digits, which lie in a window of a hundred years: DFSORT's formats Y2.
//!
//! ```text
//! 2024 as    y2c        F2 F4    zoned, in EBCDIC; y2c-ascii: 32 34      Y2C Y2Z Y2S
//!            y2p        02 4C    packed; more digits than two are left out   Y2P
//!            y2d        24       two digits in a byte                    Y2D
//!            y2b        18       a number in a byte                      Y2B
//!
//! y2c=1950   50 .. 99 00 .. 49   are 1950 to 2049
//! ```
//!
//! A field that holds no year, such as one of blanks or zeros, comes before all years, ordered by its bytes. One
//! whose bits are all set comes behind them, as an end of time that is not known does in Y2S.

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
    /// `y2b`: a byte that is a number up to 99.
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

    /// The years of a field behind the first of the window.
    pub(crate) fn place(self, field: &[u8]) -> Option<u8> {
        let digits = |decimal: Decimal| {
            let (_, digits) = decimal.digits(field)?;
            Some(digits.fold(0, |year, digit| (10 * year + u16::from(digit)) % 100))
        };
        let year = match (self.form, field) {
            (YearForm::Zoned, _) => digits(Decimal::Zoned)?,
            (YearForm::ZonedAscii, _) => digits(Decimal::ZonedAscii)?,
            (YearForm::Packed, _) => digits(Decimal::Packed)?,
            (YearForm::Digits, &[pair]) => {
                let (high, low) = (pair >> 4, pair & 0x0F);
                (high <= 9 && low <= 9).then(|| u16::from(10 * high + low))?
            }
            (YearForm::Binary, &[number]) => u16::from(number),
            _ => return None,
        };
        let place = (year + 100 - self.first % 100) % 100;
        (year < 100).then_some(place as u8)
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
