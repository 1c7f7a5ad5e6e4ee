//! The records of the sort benchmark: what gensort writes, any part of it, on any thread.
//!
//! A record of 100 bytes, its key the first ten, is a function of its number. [`Generator::fill`]
//! takes the number of the first record and a buffer, jumps to that place of the random sequence
//! (`lcg`), and fills the buffer; parts made apart and joined are the bytes of the whole.
//!
//! ```text
//! fill(0, ..)            fill(500, ..)          fill(1000, ..)
//! |---------------------||---------------------||------------ ...    one data set
//! ```
//!
//! Layouts are in `binary` and `ascii`, skewed keys in `skew`. Source: the documented behaviour of
//! gensort 1.5 (sortbenchmark.org); the tests hold it to files of the reference.
//!
//! It refuses a buffer that is not a whole number of records (a panic: the caller's mistake), and
//! opens no file: the command does.

mod ascii;
mod binary;
mod lcg;
mod skew;

/// Length of every gensort record, key included.
pub const RECORD_BYTES: usize = 100;

/// Length of the key that starts every gensort record.
pub const KEY_BYTES: usize = 10;

/// The layout of a generated record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// 100 random bytes: the records of Indy and Daytona sorts.
    #[default]
    Binary,
    /// A printable line with CR LF at its end: the records of JouleSort.
    Ascii,
}

/// Makes records of one data set: a style, with uniform or skewed keys.
///
/// ```
/// let mut records = [0; 200];
/// record::Generator::default().fill(0, &mut records);
/// assert_eq!(&records[..10], b"JimGrayRIP");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Generator {
    /// Binary or ASCII records.
    pub style: Style,
    /// Whether keys crowd around a few beginnings (`-s`) or are uniform.
    pub skewed: bool,
}

impl Generator {
    /// Fills `out` with the records that start at number `first`.
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
