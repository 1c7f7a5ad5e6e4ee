//! The records of the sort benchmark: any part of gensort's output, on any thread.
//!
//! A record of 100 bytes, of which the first ten are the key, is a function of its number.
//! [`Generator::fill`] takes the number of the first record, jumps to its place in the random
//! sequence (`lcg`), and fills a buffer. Parts that were made separately join to the bytes of the
//! whole.
//!
//! ```text
//! fill(0, ..)            fill(500, ..)          fill(1000, ..)
//! |---------------------||---------------------||------------ ...    one data set
//! ```
//!
//! Layouts are in `binary` and `ascii`, skewed keys in `skew`. Source: the documented behaviour of
//! gensort 1.5 (sortbenchmark.org); the tests compare it with files of the reference.

mod ascii;
mod binary;
mod lcg;
mod skew;

/// The length of every gensort record, key included.
pub const RECORD_BYTES: usize = 100;

/// The length of the key at the start of every gensort record.
pub const KEY_BYTES: usize = 10;

/// The layout of a generated record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// 100 random bytes, as in the Indy and Daytona categories.
    #[default]
    Binary,
    /// A printable line with CR LF at its end, as in JouleSort.
    Ascii,
}

/// Generates the records of one data set: a style, with uniform or skewed keys.
///
/// ```
/// let mut records = [0; 200];
/// record::Generator::default().fill(0, &mut records);
/// assert_eq!(&records[..10], b"JimGrayRIP");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Generator {
    /// The layout of the records.
    pub style: Style,
    /// Whether many keys share a few prefixes (`-s`); otherwise keys are uniform.
    pub skewed: bool,
}

impl Generator {
    /// Fills `out` with the records from number `first` on.
    ///
    /// # Panics
    /// If `out` is not a whole number of records long.
    pub fn fill(&self, first: u128, out: &mut [u8]) {
        let (records, rest) = out.as_chunks_mut::<RECORD_BYTES>();
        assert!(
            rest.is_empty(),
            "a buffer of whole records, not {} bytes more",
            rest.len()
        );
        match self.style {
            Style::Binary => binary::fill(first, self.skewed, records),
            Style::Ascii => ascii::fill(first, self.skewed, records),
        }
    }
}
