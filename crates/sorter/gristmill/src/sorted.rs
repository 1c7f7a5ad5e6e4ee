//! Records on their way out of a sort.

use std::io::Write;
use std::mem::replace;
use std::ops::Range;
use std::path::Path;

use node_real::Take;
use record::{Framing, Scanner};

use crate::error::Error;
use crate::report::Report;
use crate::running::{Running, store};
use crate::watch::Watch;

/// The sorted records. They lie in the memory of the sort, which waits for the reader; dropped, it
/// ends the sort.
///
/// ```
/// use gristmill::{Format, Sorter};
/// let mut feed = Sorter::new(Format::lines()).start()?;
/// feed.push_all(["b", "a"])?;
/// let mut sorted = feed.finish()?;
/// assert_eq!(sorted.next()?, Some(&b"a\n"[..]));
/// assert_eq!(sorted.next()?, Some(&b"b\n"[..]));
/// assert_eq!(sorted.next()?, None);
/// assert_eq!(sorted.report().unwrap().records, 2);
/// # Ok::<(), gristmill::Error>(())
/// ```
///
/// The sort compares the records that it took with those that it gave. If one was lost or changed,
/// that is an error at the end: rely on the records only then.
pub struct Sorted {
    take: Take,
    /// Bytes of the piece that were given.
    at: usize,
    /// Bytes of all records that were given one by one.
    given: u64,
    /// A record that lies in several pieces.
    carried: Vec<u8>,
    scanner: Scanner,
    decoder: Decoder,
    watch: Watch,
    end: End,
}

/// The end of the sort.
enum End {
    Awaited(Running),
    Reached(Report),
    /// It has failed, and every call says so.
    Failed(Error),
    /// Its thread panicked, and that went on to the caller.
    Lost,
}

/// The place of a record.
enum Found {
    InPiece(Range<usize>),
    Carried,
}

impl Sorted {
    pub(crate) fn new(take: Take, decoder: Decoder, running: Running) -> Sorted {
        Sorted {
            take,
            at: 0,
            given: 0,
            carried: Vec::new(),
            scanner: decoder.framing.scanner(),
            decoder,
            watch: running.watch.clone(),
            end: End::Awaited(running),
        }
    }

    /// The next record, with its delimiter; none behind the last one. The header of rows comes first.
    ///
    /// # Errors
    /// When the sort has failed.
    #[expect(clippy::should_implement_trait, reason = "it lends its records")]
    pub fn next(&mut self) -> Result<Option<&[u8]>, Error> {
        match self.find(Take::advance)? {
            Some(found) => Ok(Some(self.record(found))),
            None => {
                self.end()?;
                Ok(None)
            }
        }
    }

    /// The next record if that takes no waiting. None if it would, and at the end: [`Sorted::next`]
    /// then waits for the record or the end, on another thread for instance.
    ///
    /// ```
    /// use gristmill::{Format, Sorter};
    /// let mut feed = Sorter::new(Format::lines()).start()?;
    /// feed.push(b"a")?;
    /// let mut sorted = feed.finish()?;
    /// let is_there = sorted.try_next()?.is_some();
    /// assert_eq!(sorted.next()?.is_some(), !is_there);
    /// # Ok::<(), gristmill::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sorted::next`].
    pub fn try_next(&mut self) -> Result<Option<&[u8]>, Error> {
        let found = self.find(Take::try_advance)?;
        Ok(found.map(|found| self.record(found)))
    }

    fn record(&mut self, found: Found) -> &[u8] {
        let record = self.decoder.record(match found {
            Found::InPiece(range) => &self.take.held()[range],
            Found::Carried => &self.carried,
        });
        self.given += record.len() as u64;
        record
    }

    /// Finds the next record; none if there are no bytes more.
    #[inline]
    fn find(&mut self, advance: fn(&mut Take) -> bool) -> Result<Option<Found>, Error> {
        if !self.scanner.is_within() {
            // Most records lie in one piece.
            let from = self.at;
            if let Some(end) = self.decoder.framing.end(&self.take.held()[from..]) {
                self.at += end;
                return Ok(Some(Found::InPiece(from..self.at)));
            }
            self.carried.clear();
        }
        self.carry(advance)
    }

    /// Finds a record that goes on in the next piece, or the next piece.
    fn carry(&mut self, advance: fn(&mut Take) -> bool) -> Result<Option<Found>, Error> {
        loop {
            let rest = &self.take.held()[self.at..];
            if rest.is_empty() {
                self.at = 0;
                if !advance(&mut self.take) {
                    return Ok(None);
                }
                continue;
            }
            let end = self.scanner.end(rest);
            let end = end.map_err(|bad| Error::Damaged(bad.to_string()))?;
            let taken = end.unwrap_or(rest.len());
            if end.is_some() && self.carried.is_empty() {
                let from = self.at;
                self.at += taken;
                return Ok(Some(Found::InPiece(from..self.at)));
            }
            self.carried.extend_from_slice(&rest[..taken]);
            self.at += taken;
            if end.is_some() {
                return Ok(Some(Found::Carried));
            }
        }
    }

    fn end(&mut self) -> Result<Report, Error> {
        self.end = match replace(&mut self.end, End::Lost) {
            End::Awaited(running) => match running.join() {
                // The engine counts their keys, too.
                Ok(report) if self.decoder.is_pair => End::Reached(Report {
                    bytes: self.given,
                    ..report
                }),
                Ok(report) => End::Reached(report),
                Err(error) => End::Failed(error),
            },
            end => end,
        };
        match &self.end {
            End::Reached(report) => Ok(*report),
            End::Failed(error) => Err(error.again()),
            End::Awaited(_) | End::Lost => Err(Error::Bug("the sort has panicked".to_owned())),
        }
    }

    /// The reason why the sort takes no more records.
    pub(crate) fn failure(&mut self) -> Error {
        match self.end() {
            Err(error) => error,
            Ok(_) => Error::Other("the sort has ended".to_owned()),
        }
    }

    /// The report, once the last record was read.
    pub fn report(&self) -> Option<&Report> {
        match &self.end {
            End::Reached(report) => Some(report),
            _ => None,
        }
    }

    /// Writes all records that are left.
    ///
    /// # Errors
    /// When the sort has failed, or the writer fails.
    pub fn write_to(mut self, mut writer: impl Write) -> Result<Report, Error> {
        while let Some(records) = self.next_records()? {
            writer.write_all(records)?;
        }
        writer.flush()?;
        self.end()
    }

    /// Writes all records that are left to a file, which gets its name when it is complete and durable.
    ///
    /// ```
    /// use gristmill::{Format, Sorter};
    /// # let place = tempfile::tempdir()?;
    /// let file = place.path().join("sorted");
    /// let mut feed = Sorter::new(Format::fixed(1)).start()?;
    /// feed.push_reader(&b"hello"[..])?;
    /// assert_eq!(feed.finish()?.write_file(&file)?.records, 5);
    /// assert_eq!(std::fs::read(&file)?, b"ehllo");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the sort has failed, or the file cannot be written; it has its old content then.
    pub fn write_file(mut self, path: impl AsRef<Path>) -> Result<Report, Error> {
        let watch = self.watch.clone();
        let (report, in_place) = store(path.as_ref(), &watch, |file| {
            loop {
                match self.next_records() {
                    Ok(Some(records)) => file.push(records)?,
                    Ok(None) => break Ok(self.end()),
                    Err(error) => break Ok(Err(error)),
                }
            }
        })?;
        Ok(Report { in_place, ..report })
    }

    /// Bytes of the next records; none at the end.
    fn next_records(&mut self) -> Result<Option<&[u8]>, Error> {
        // A record that `try_next` has begun is carried. Elsewhere records lie one behind the other.
        if self.decoder.is_pair || self.scanner.is_within() {
            return self.next();
        }
        while self.at == self.take.held().len() {
            self.at = 0;
            if !self.take.advance() {
                self.end()?;
                return Ok(None);
            }
        }
        let from = replace(&mut self.at, self.take.held().len());
        Ok(Some(&self.take.held()[from..]))
    }

    /// All records that are left, one behind the other.
    ///
    /// # Errors
    /// When the sort has failed.
    pub fn read_to_vec(self) -> Result<Vec<u8>, Error> {
        let mut all = Vec::new();
        self.write_to(&mut all)?;
        Ok(all)
    }
}

/// Finds records in the output of the engine.
pub(crate) struct Decoder {
    framing: Framing,
    /// Whether each record lies behind its key.
    is_pair: bool,
}

impl Decoder {
    /// The format of records behind their keys: both lengths, key, record.
    pub(crate) const PAIRS: &str = "kv:u32le";

    pub(crate) fn plain(framing: Framing) -> Decoder {
        let is_pair = false;
        Decoder { framing, is_pair }
    }

    pub(crate) fn of_pairs() -> Decoder {
        let prefix = Decoder::PAIRS.parse().expect("a format");
        Decoder {
            framing: Framing::Prefixed(prefix),
            is_pair: true,
        }
    }

    fn record<'r>(&self, record: &'r [u8]) -> &'r [u8] {
        if !self.is_pair {
            return record;
        }
        let (key, rest) = record.split_first_chunk().expect("both lengths");
        &rest[4 + u32::from_le_bytes(*key) as usize..]
    }
}
