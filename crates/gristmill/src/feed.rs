//! Records on their way into a sort.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use node_real::Feed as Input;
use record::Framing;

use crate::error::Error;
use crate::sorted::Sorted;

/// Writes the key of a record.
pub(crate) type MakeKey = Box<dyn Fn(&[u8], &mut Vec<u8>) + Send>;

/// Bytes of a read from a reader.
const READ_BYTES: usize = 256 << 10;

/// Takes the records of a sort. Dropped before [`Feed::finish`], it ends the sort.
///
/// ```
/// use gristmill::{Format, Sorter};
/// let mut feed = Sorter::new(Format::fixed(2)).start()?;
/// feed.push(b"ba")?;
/// feed.push_all(["ac", "aa"])?;
/// feed.push_reader(&b"bbca"[..])?;
/// assert_eq!(feed.finish()?.read_to_vec()?, b"aaacbabbca");
/// # Ok::<(), gristmill::Error>(())
/// ```
pub struct Feed {
    input: Input,
    encoder: Encoder,
    sorted: Sorted,
}

impl Feed {
    pub(crate) fn new(input: Input, encoder: Encoder, sorted: Sorted) -> Feed {
        Feed {
            input,
            encoder,
            sorted,
        }
    }

    /// Adds a record. A line may lack its delimiter, which is added. Waits while the sort is behind.
    ///
    /// # Errors
    /// When it is no record of the format, or the sort has failed.
    pub fn push(&mut self, record: &[u8]) -> Result<(), Error> {
        self.encoder.check(record)?;
        let parts = self.encoder.encode(record);
        for part in parts {
            if self.input.push(part).is_err() {
                return Err(self.sorted.failure());
            }
        }
        self.encoder.number += 1;
        Ok(())
    }

    /// Adds a record if that takes no waiting; false if it would. Then [`Feed::push`] takes it, and
    /// may wait, on another thread for instance.
    ///
    /// ```
    /// use gristmill::{Format, Sorter};
    /// let mut feed = Sorter::new(Format::fixed(2)).start()?;
    /// for record in ["ba", "ac"] {
    ///     if !feed.try_push(record.as_bytes())? {
    ///         feed.push(record.as_bytes())?;
    ///     }
    /// }
    /// assert_eq!(feed.finish()?.read_to_vec()?, b"acba");
    /// # Ok::<(), gristmill::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Feed::push`].
    pub fn try_push(&mut self, record: &[u8]) -> Result<bool, Error> {
        let room = self.input.room();
        // A key function is not called in vain.
        if room < record.len() {
            return Ok(false);
        }
        self.encoder.check(record)?;
        let parts = self.encoder.encode(record);
        if room < parts.iter().map(|part| part.len()).sum() {
            return Ok(false);
        }
        for part in parts {
            // It has room, and so it is there.
            let _ = self.input.push(part);
        }
        self.encoder.number += 1;
        Ok(true)
    }

    /// Adds the records of an iterator.
    ///
    /// # Errors
    /// As [`Feed::push`].
    pub fn push_all<R: AsRef<[u8]>>(
        &mut self,
        records: impl IntoIterator<Item = R>,
    ) -> Result<(), Error> {
        records
            .into_iter()
            .try_for_each(|record| self.push(record.as_ref()))
    }

    /// Adds the records of a reader, to its end.
    ///
    /// # Errors
    /// When it fails, ends within a record, or the sort has failed.
    pub fn push_reader(&mut self, mut reader: impl Read) -> Result<(), Error> {
        let framing = self.encoder.framing;
        let (mut read, mut begin, mut end) = (vec![0; READ_BYTES], 0, 0);
        loop {
            if begin == 0 && end == read.len() {
                read.resize(2 * end, 0);
            }
            read.copy_within(begin..end, 0);
            (begin, end) = (0, end - begin);
            let more = match reader.read(&mut read[end..]) {
                Err(cause) if cause.kind() == std::io::ErrorKind::Interrupted => continue,
                more => more?,
            };
            end += more;
            while let Some(length) = framing.end(&read[begin..end]) {
                self.push(&read[begin..begin + length])?;
                begin += length;
            }
            match more {
                0 if begin == end => return Ok(()),
                0 => return self.push(&read[begin..end]),
                _ => {}
            }
        }
    }

    pub(crate) fn push_file(&mut self, path: &Path) -> Result<(), Error> {
        let file = File::open(path).map_err(|cause| Error::File {
            what: format!("cannot open {}: {cause}", path.display()),
            file: path.to_owned(),
            cause,
        })?;
        self.push_reader(BufReader::with_capacity(0, file))
    }

    /// Ends the input. The records come back in order.
    ///
    /// # Errors
    /// None today: a sort that has failed says so with its first record.
    pub fn finish(self) -> Result<Sorted, Error> {
        self.input.finish();
        Ok(self.sorted)
    }
}

/// Makes records as the engine takes them.
pub(crate) struct Encoder {
    framing: Framing,
    make_key: Option<MakeKey>,
    /// Records so far.
    number: u64,
    /// The front of the record: lengths and key.
    front: Vec<u8>,
    /// A delimiter that the record lacks.
    end: [u8; 1],
}

impl Encoder {
    pub(crate) fn new(framing: Framing, make_key: Option<MakeKey>) -> Encoder {
        Encoder {
            framing,
            make_key,
            number: 0,
            front: Vec::new(),
            end: [framing.delimiter().unwrap_or(0)],
        }
    }

    fn check(&self, record: &[u8]) -> Result<(), Error> {
        let wrong = |what| Error::Record {
            number: self.number + 1,
            what,
        };
        match (self.framing.end(record), self.framing) {
            (Some(end), _) if end == record.len() => Ok(()),
            (Some(_), Framing::Delimited(_) | Framing::Quoted(_)) => {
                Err(wrong("it goes on behind its delimiter; push one at a time"))
            }
            (None, Framing::Delimited(_)) => Ok(()),
            (None, Framing::Quoted(_)) if !is_quoted(self.framing, record) => Ok(()),
            (None, Framing::Quoted(_)) => Err(wrong("a quote in it is never closed")),
            (_, Framing::Fixed(_)) => Err(wrong("it has another length than the format says")),
            (_, Framing::Prefixed(_)) => Err(wrong("it has another length than it says")),
        }
    }

    /// The parts of the record, one behind the other.
    fn encode<'r>(&'r mut self, record: &'r [u8]) -> [&'r [u8]; 3] {
        let lacks = self.framing.delimiter().is_some() && self.framing.end(record).is_none();
        let end = if lacks { &self.end[..] } else { &[] };
        self.front.clear();
        if let Some(make_key) = &self.make_key {
            let body = match lacks {
                true => record,
                false => self.framing.body(record),
            };
            self.front.extend_from_slice(&[0; 8]);
            make_key(body, &mut self.front);
            let key = (self.front.len() - 8) as u32;
            let value = (record.len() + end.len()) as u32;
            self.front[..4].copy_from_slice(&key.to_le_bytes());
            self.front[4..8].copy_from_slice(&value.to_le_bytes());
        }
        [&self.front, record, end]
    }
}

/// Whether a row without its delimiter ends inside of quotes.
fn is_quoted(framing: Framing, row: &[u8]) -> bool {
    let mut scanner = framing.scanner();
    let _ = scanner.end(row);
    scanner.is_quoted()
}
