//! The records of the sort benchmark: 100 bytes. The first 10 are the key.
//!
//! They are those of gensort, with which systems are compared (sortbenchmark.org).

use record::{Generator, RECORD_BYTES, Style};

/// An iterator over numbered records.
///
/// ```
/// use gristmill::gensort::Records;
/// use gristmill::{Format, Sorter};
/// let mut feed = Sorter::new(Format::fixed(100).key("0+10")).start()?;
/// feed.push_all(Records::ascii(0).take(1000))?;
/// let all = feed.finish()?.read_to_vec()?;
/// assert_eq!(all.len(), 100_000);
/// assert_ne!(Records::binary(0).next(), Records::ascii(0).next());
/// # Ok::<(), gristmill::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Records {
    generator: Generator,
    next: u128,
}

impl Records {
    /// Records of printable characters from number `first` on, as `gensort -a` makes them.
    pub fn ascii(first: u128) -> Records {
        Records::of(Style::Ascii, first)
    }

    /// Binary records from number `first` on.
    pub fn binary(first: u128) -> Records {
        Records::of(Style::Binary, first)
    }

    fn of(style: Style, next: u128) -> Records {
        let generator = Generator {
            style,
            skewed: false,
        };
        Records { generator, next }
    }
}

impl Iterator for Records {
    type Item = [u8; RECORD_BYTES];

    fn next(&mut self) -> Option<Self::Item> {
        let mut record = [0; RECORD_BYTES];
        self.generator.fill(self.next, &mut record);
        self.next = self.next.wrapping_add(1);
        Some(record)
    }
}
