//! The ordering options of a key: GNU's letters `bdfgiMhnRrV`.
//!
//! ```text
//!  which bytes count     what they are read as            direction
//!  b  not leading blanks n  number       M  month         r  largest first
//!  d  blanks, letters,   g  float        V  version
//!     digits alone       h  1K, 2M ..    R  shuffled
//!  i  printable alone
//!  f  a as A             (none of these: text)
//! ```
//!
//! Some letters contradict each other: a number has no dictionary order. The letters are kept as
//! they were given, and [`KeyOptions::check`] finds the contradiction, so that a message can name
//! all of them.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// What a key is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextKind {
    /// Bytes.
    Text,
    /// `-n`: a decimal number of any length.
    Numeric,
    /// `-g`: a floating-point number, also `1e9`, `0x1p3`, `inf`.
    General,
    /// `-h`: a decimal number with a unit, such as `2K`.
    Human,
    /// `-M`: the English name of a month.
    Month,
    /// `-V`: a name with a version number.
    Version,
    /// `-R`: a hash, so that equal keys stay together in a shuffled order.
    Random,
}

/// Where `b` was written: it applies to that end of the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blanks {
    Start,
    End,
    Both,
}

/// The ordering options of a key, or those of all keys that have none.
///
/// ```
/// use record::text::{KeyOptions, TextKind};
/// let options: KeyOptions = "br".parse()?;
/// assert!(options.blanks_start && options.blanks_end && options.reverse);
/// assert_eq!(options.kind(), TextKind::Text);
/// # Ok::<(), record::text::OptionError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct KeyOptions {
    /// `b` at the start of the key: its place is counted from the first byte that is no blank.
    pub blanks_start: bool,
    /// `b` at the end of the key.
    pub blanks_end: bool,
    /// `d`: only blanks, letters and digits count.
    pub dictionary: bool,
    /// `f`: small letters count as capital letters.
    pub fold: bool,
    /// `i`: only printable bytes count. `d` is stronger.
    pub printable: bool,
    /// `n`.
    pub numeric: bool,
    /// `g`.
    pub general: bool,
    /// `h`.
    pub human: bool,
    /// `M`.
    pub month: bool,
    /// `V`.
    pub version: bool,
    /// `R`. It is stronger than `V`.
    pub random: bool,
    /// `r`: the largest key comes first.
    pub reverse: bool,
}

/// A mistake in ordering options.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OptionError {
    /// No ordering option has this letter.
    #[error("\"{0}\" is no ordering option; the letters are b d f g h i M n R r V")]
    Unknown(char),
    /// The letters contradict each other.
    #[error("the options -{0} contradict each other; keep one of g h M n, or some of d i R V")]
    Incompatible(String),
}

impl KeyOptions {
    /// Adds the option of a letter; false if there is none.
    pub(super) fn add(&mut self, letter: char, blanks: Blanks) -> bool {
        match letter {
            'b' => {
                self.blanks_start |= blanks != Blanks::End;
                self.blanks_end |= blanks != Blanks::Start;
            }
            'd' => {
                self.dictionary = true;
                self.printable = false;
            }
            'f' => self.fold = true,
            'g' => self.general = true,
            'h' => self.human = true,
            'i' => self.printable = !self.dictionary,
            'M' => self.month = true,
            'n' => self.numeric = true,
            'R' => self.random = true,
            'r' => self.reverse = true,
            'V' => self.version = true,
            _ => return false,
        }
        true
    }

    /// What the key is read as.
    #[must_use]
    pub fn kind(&self) -> TextKind {
        match self {
            _ if self.numeric => TextKind::Numeric,
            _ if self.general => TextKind::General,
            _ if self.human => TextKind::Human,
            _ if self.month => TextKind::Month,
            _ if self.random => TextKind::Random,
            _ if self.version => TextKind::Version,
            _ => TextKind::Text,
        }
    }

    /// Whether the key is read as a number of any kind.
    #[must_use]
    pub fn is_number(&self) -> bool {
        self.numeric || self.general || self.human
    }

    /// The letters of the options by which not all bytes of a text count as they are.
    pub(super) fn of_text(&self) -> String {
        let of_text = KeyOptions {
            dictionary: self.dictionary,
            printable: self.printable,
            fold: self.fold,
            ..KeyOptions::default()
        };
        of_text.to_string()
    }

    /// Whether there is no option but perhaps `r`.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        let ascending = KeyOptions {
            reverse: false,
            ..*self
        };
        ascending == KeyOptions::default()
    }

    /// Checks that the options do not contradict each other.
    ///
    /// # Errors
    /// If they do; the error has all letters but `b` and `r`.
    pub fn check(&self) -> Result<(), OptionError> {
        let of_bytes = self.version || self.random || self.dictionary || self.printable;
        let readings = [self.numeric, self.general, self.human, self.month, of_bytes];
        if readings.into_iter().filter(|&given| given).count() <= 1 {
            return Ok(());
        }
        let contradicting = KeyOptions {
            blanks_start: false,
            blanks_end: false,
            reverse: false,
            ..*self
        };
        Err(OptionError::Incompatible(contradicting.to_string()))
    }

    /// The options that are in `self` and not in `others`.
    pub(super) fn without(&self, others: &KeyOptions) -> KeyOptions {
        KeyOptions {
            blanks_start: self.blanks_start && !others.blanks_start,
            blanks_end: self.blanks_end && !others.blanks_end,
            dictionary: self.dictionary && !others.dictionary,
            fold: self.fold && !others.fold,
            printable: self.printable && !others.printable,
            numeric: self.numeric && !others.numeric,
            general: self.general && !others.general,
            human: self.human && !others.human,
            month: self.month && !others.month,
            version: self.version && !others.version,
            random: self.random && !others.random,
            reverse: self.reverse && !others.reverse,
        }
    }
}

impl FromStr for KeyOptions {
    type Err = OptionError;

    /// Reads letters, such as `nr`. `b` applies to both ends.
    fn from_str(letters: &str) -> Result<KeyOptions, OptionError> {
        let mut options = KeyOptions::default();
        for letter in letters.chars() {
            if !options.add(letter, Blanks::Both) {
                return Err(OptionError::Unknown(letter));
            }
        }
        Ok(options)
    }
}

impl fmt::Display for KeyOptions {
    /// The letters in the order of GNU's messages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters = [
            (self.blanks_start || self.blanks_end, 'b'),
            (self.dictionary, 'd'),
            (self.fold, 'f'),
            (self.general, 'g'),
            (self.human, 'h'),
            (self.printable, 'i'),
            (self.month, 'M'),
            (self.numeric, 'n'),
            (self.random, 'R'),
            (self.reverse, 'r'),
            (self.version, 'V'),
        ];
        let given = letters.into_iter().filter(|(given, _)| *given);
        given
            .map(|(_, letter)| letter)
            .try_for_each(|letter| write!(f, "{letter}"))
    }
}
