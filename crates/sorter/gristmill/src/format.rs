//! Formats: where records end, and what they are compared by.

use record::{Framing, Given, Keep, RecordSpec};

use crate::error::Error;

/// Where a record ends, and the keys that records are compared by.
///
/// ```
/// use gristmill::Format;
/// let lines = Format::lines().separator(b',').key("3,3n").key("1,1");
/// let records = Format::fixed(100).key("0+10");
/// let rows = Format::named("csv").key("price:num:desc").key("city");
/// let unnamed = Format::named("csv").without_header().key("#2:num");
/// let names = Format::lines().delimiter(b'\0');
/// let untidy = Format::named("csv").header("#").null("NA").short_rows().key("price:num");
/// ```
#[derive(Clone, Debug)]
pub struct Format {
    given: Given,
}

impl Format {
    /// Lines of text, each with its newline. Any bytes are text; they are compared as bytes, and
    /// keys are those of `sort -k`.
    pub fn lines() -> Format {
        Format::named("lines")
    }

    /// Records of `bytes` bytes each. Keys are stretches of them, as in `"0+10"` or
    /// `"8+4:u32le:desc"`.
    pub fn fixed(bytes: usize) -> Format {
        Format::named(&format!("fixed:{bytes}"))
    }

    /// Any format that the command knows by `--format`: `csv`, `tsv` and `jsonl` are rows with keys
    /// such as `"price:num:desc"`, `varlen:u32le` has the length before each record.
    pub fn named(name: &str) -> Format {
        let format = name.to_owned();
        Format {
            given: Given {
                format,
                ..Given::default()
            },
        }
    }

    /// Adds a key, less significant than those before. Without keys, whole records are compared.
    #[must_use]
    pub fn key(mut self, key: &str) -> Format {
        self.given.keys.push(key.to_owned());
        self
    }

    /// The byte between the fields of a line, or the values of a row.
    #[must_use]
    pub fn separator(mut self, separator: u8) -> Format {
        self.given.separator = Some(separator);
        self
    }

    /// The byte at the end of a line instead of a newline.
    #[must_use]
    pub fn delimiter(mut self, delimiter: u8) -> Format {
        self.given.delimiter = Some(delimiter);
        self
    }

    /// Rows whose first one names no columns; keys have numbers, as in `"#2:num"`.
    #[must_use]
    pub fn without_header(mut self) -> Format {
        self.given.has_no_header = true;
        self
    }

    /// Lines that stay on top: a number of them, or the first bytes of each, such as `"#"`. Call it again for further
    /// ones; marked lines come first. Of `csv` and `tsv` the last one names the columns, and is counted without being
    /// asked for. Each input has the same lines.
    ///
    /// ```
    /// use gristmill::Format;
    /// let bed = Format::lines().header("#").header("track").key("1,1").key("2,2n");
    /// ```
    #[must_use]
    pub fn header(mut self, lines: &str) -> Format {
        self.given.head.push(lines.to_owned());
        self
    }

    /// A word that stands for a missing value, of rows and of keys of lines with types, such as `"NA"`. Call it again
    /// for further ones.
    #[must_use]
    pub fn null(mut self, word: &str) -> Format {
        self.given.nulls.push(word.to_owned());
        self
    }

    /// Rows of `csv` and `tsv` may have fewer columns than the header; their values are missing.
    #[must_use]
    pub fn short_rows(mut self) -> Format {
        self.given.has_short_rows = true;
        self
    }

    /// Records of several lines: each begins with a line at whose front the pattern is, a regular expression, as the
    /// events of a log do. Files are sorted into files; records that are pushed or read one by one have ends of their
    /// own, as with [`Format::delimiter`].
    ///
    /// ```
    /// use gristmill::{Format, Sorter};
    /// # let place = tempfile::tempdir()?;
    /// # std::env::set_current_dir(place.path())?;
    /// std::fs::write("app.log", "10:02 late\n  at main\n09:59 early\n  at run\n")?;
    /// let events = Format::lines().record_start("[0-9]{2}:");
    /// Sorter::new(events).sort_files(["app.log"], "sorted.log")?;
    /// assert_eq!(std::fs::read("sorted.log")?, b"09:59 early\n  at run\n10:02 late\n  at main\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn record_start(mut self, pattern: &str) -> Format {
        self.given.multiline = Some(format!("start:{pattern}"));
        self
    }

    /// Records of so many lines each, such as 4 of FASTQ; from files into files, as with [`Format::record_start`].
    ///
    /// ```
    /// # use gristmill::Format;
    /// let reads = Format::lines().record_lines(4).separator(b'\n').key("2,2");
    /// ```
    #[must_use]
    pub fn record_lines(mut self, lines: u32) -> Format {
        self.given.multiline = Some(format!("lines:{lines}"));
        self
    }

    /// Lines that are shuffled instead of sorted, from files into a file: each has the same chance of each place, and
    /// the same seed gives the same order. With [`Sorter::top`](crate::Sorter::top) so many lines are drawn.
    ///
    /// ```
    /// use gristmill::{Format, Sorter};
    /// # let place = tempfile::tempdir()?;
    /// # std::env::set_current_dir(place.path())?;
    /// std::fs::write("a.csv", "name\nx\ny\nz\n")?;
    /// let shuffled = Format::lines().header("1").shuffled(42);
    /// Sorter::new(shuffled).sort_files(["a.csv"], "b.csv")?;
    /// assert!(std::fs::read("b.csv")?.starts_with(b"name\n"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn shuffled(mut self, seed: u64) -> Format {
        self.given.shuffle = Some(seed);
        self
    }

    /// Refuses a shuffle where neighbours are compared.
    pub(crate) fn check_order(&self) -> Result<(), Error> {
        match self.given.shuffle {
            Some(_) => Err(Error::Options("shuffled lines are in no order".to_owned())),
            None => Ok(()),
        }
    }

    /// Refuses records of several lines, and shuffled ones, where they do not come from files and go to one.
    pub(crate) fn check_single(&self) -> Result<(), Error> {
        if self.given.shuffle.is_some() {
            let what = "lines are shuffled from files into a file: save them first";
            return Err(Error::Options(what.to_owned()));
        }
        if self.given.multiline.is_none() {
            return Ok(());
        }
        let what = "records of several lines are sorted from files into a file; for records that are pushed or read \
                    one by one, give a delimiter";
        Err(Error::Options(what.to_owned()))
    }

    pub(crate) fn has_header(&self) -> bool {
        !self.given.head.is_empty()
    }

    pub(crate) fn has_keys(&self) -> bool {
        !self.given.keys.is_empty()
    }

    pub(crate) fn is_rows(&self) -> bool {
        self.given.dialect().is_some()
    }

    /// Where records end. Rows of CSV may have newlines inside of quotes.
    pub(crate) fn framing(&self) -> Result<Framing, Error> {
        Ok(self.spec(Keep::All, &[])?.framing())
    }

    pub(crate) fn spec(&self, keep: Keep, sums: &[String]) -> Result<RecordSpec, Error> {
        let given = Given {
            keep,
            sums: sums.to_vec(),
            ..self.given.clone()
        };
        RecordSpec::new(&given).map_err(|problem| Error::Options(problem.to_string()))
    }
}
