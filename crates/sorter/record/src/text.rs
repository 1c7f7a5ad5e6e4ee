//! The order of lines of text, with the keys of GNU sort in the C locale, or text in the order of a
//! language.
//!
//! ```text
//!  -t, -k3,3nr -k1,1f            "12,pears,7"  one line, without its end
//!        |                            |
//!    key, options              place, row, scan    which bytes of the line are the key
//!        |                            |
//!        +--> part, order <------ encoding         which bytes have the key's order
//!                     |               |             (edit, number, general, month, version,
//!                     |               |              random, decimal, natural, date,
//!                     |               |              form, locale)
//!                     v               |
//!            words, prefixes <--------+            which words have the order of those bytes (words)
//! ```
//!
//! [`crate::rows`] makes orders of rows, whose keys are columns or members; they are parts of the
//! same machinery (`row`, `decimal`, `natural`, `date`).
//!
//! Lines may contain any bytes. The semantics are those of GNU coreutils 9.1, which the tests run
//! beside this module wherever it is installed.

mod byte_field;
mod date;
mod decimal;
mod edit;
mod encoding;
mod explain;
mod extended;
pub(crate) mod form;
mod general;
mod key;
mod locale;
mod month;
mod natural;
mod number;
mod options;
mod order;
mod part;
mod place;
mod placed;
mod random;
pub(crate) mod row;
mod scan;
mod version;
mod words;

pub(crate) use byte_field::Stretch;
pub use explain::{KeyView, Reading, Warning};

pub use key::{KeyEnd, SeparatorError, TextKey, TextKeyError, TextKeyProblem, separator};
pub(crate) use locale::EQUAL_BYTES;
pub use locale::{Locale, LocaleError};
pub use options::{KeyOptions, OptionError, TextKind};
pub(crate) use order::ANY_RECORD;
pub use order::{Lead, TextOrder, TextOrderError};
pub(crate) use place::Place;
pub use placed::{KeyPlaces, PlacedLine};
