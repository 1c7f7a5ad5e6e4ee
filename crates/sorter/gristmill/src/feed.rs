//! Records on their way into a sort.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind};
use std::mem::replace;
use std::path::Path;

use node_real::Feed as Input;

use crate::contents::contents;
use crate::encoder::Encoder;
use crate::error::Error;
use crate::front::Front;
use crate::sorted::Sorted;

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
    encoder: Encoder,
    state: State,
}

#[expect(
    clippy::large_enum_variant,
    reason = "a sort has one, and each push would go through the box"
)]
enum State {
    /// The first records; the sort has not begun.
    Front(Box<Front>),
    Running(Input, Sorted),
    /// It could not begin.
    Ended,
}

impl Feed {
    pub(crate) fn new(encoder: Encoder, front: Front) -> Feed {
        let state = State::Front(Box::new(front));
        Feed { encoder, state }
    }

    /// Adds a record. A line may lack its delimiter, which is added. Waits while the sort is behind.
    ///
    /// # Errors
    /// When it is no record of the format, or the sort has failed.
    pub fn push(&mut self, record: &[u8]) -> Result<(), Error> {
        let lacks = self.encoder.check(record)?;
        let parts = self.encoder.encode(record, lacks)?;
        match &mut self.state {
            State::Running(input, sorted) => {
                for part in parts {
                    if !part.is_empty() && input.push(part).is_err() {
                        return Err(sorted.failure());
                    }
                }
            }
            State::Front(front) => {
                if front.is_stopped() {
                    return Err(Error::Stopped);
                }
                front.add(parts);
                if front.room() == 0 {
                    self.begin()?;
                }
            }
            State::Ended => return Err(not_begun()),
        }
        self.encoder.number += 1;
        Ok(())
    }

    /// Begins the sort, if it has not begun.
    fn begin(&mut self) -> Result<(), Error> {
        match replace(&mut self.state, State::Ended) {
            State::Front(front) => {
                let (input, sorted) = front.start()?;
                self.state = State::Running(input, sorted);
            }
            begun => self.state = begun,
        }
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
        let room = match &mut self.state {
            State::Running(input, _) => input.room(),
            // The record that fills it begins the sort, and waits for it.
            State::Front(front) if front.is_stopped() => 0,
            State::Front(front) => front.room().saturating_sub(1),
            State::Ended => 0,
        };
        // A key function is not called in vain.
        if room < record.len() {
            return Ok(false);
        }
        let lacks = self.encoder.check(record)?;
        let parts = self.encoder.encode(record, lacks)?;
        if room < parts.iter().map(|part| part.len()).sum() {
            return Ok(false);
        }
        match &mut self.state {
            // It has room, and so it is there.
            State::Running(input, _) => parts.iter().for_each(|part| {
                let _ = input.push(part);
            }),
            State::Front(front) => front.add(parts),
            State::Ended => {}
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

    /// Adds the records of a reader, to its end. They are copied once, from its buffer into the sort, so
    /// a file wants a [`BufReader`] of some 100 KB.
    ///
    /// # Errors
    /// When it fails, ends within a record, or the sort has failed.
    pub fn push_reader(&mut self, mut reader: impl BufRead) -> Result<(), Error> {
        let mut scanner = self.encoder.framing.scanner();
        // The record that goes on in the next piece.
        let mut carried = Vec::new();
        loop {
            let piece = match reader.fill_buf() {
                Err(cause) if cause.kind() == ErrorKind::Interrupted => continue,
                piece => piece?,
            };
            if piece.is_empty() {
                break;
            }
            let mut rest = piece;
            if scanner.is_within() {
                let end = scanner.end(rest).map_err(|_| self.has_bad_length())?;
                let (more, behind) = rest.split_at(end.unwrap_or(rest.len()));
                self.encoder.check_length(carried.len() + more.len())?;
                carried.extend_from_slice(more);
                if end.is_some() {
                    self.push(&carried)?;
                    carried.clear();
                }
                rest = behind;
            }
            let behind = self.push_whole(rest)?;
            if !behind.is_empty() {
                let end = scanner.end(behind).map_err(|_| self.has_bad_length())?;
                debug_assert!(end.is_none(), "it is not whole");
                carried.extend_from_slice(behind);
            }
            let read = piece.len();
            reader.consume(read);
        }
        if carried.is_empty() {
            Ok(())
        } else {
            self.push(&carried)
        }
    }

    /// Adds the whole records at the front of a piece. Returns the bytes behind them.
    fn push_whole<'p>(&mut self, piece: &'p [u8]) -> Result<&'p [u8], Error> {
        let framing = self.encoder.framing;
        let mut rest = piece;
        // One by one where each gets a key, and where one of them may begin the sort.
        while self.encoder.makes_keys() || !matches!(self.state, State::Running(..)) {
            let Some(end) = framing.end(rest) else {
                return Ok(rest);
            };
            self.push(&rest[..end])?;
            rest = &rest[end..];
        }
        let (records, end) = framing.whole(rest);
        if let State::Running(input, sorted) = &mut self.state
            && input.push(&rest[..end]).is_err()
        {
            return Err(sorted.failure());
        }
        self.encoder.number += records as u64;
        Ok(&rest[end..])
    }

    fn has_bad_length(&self) -> Error {
        self.encoder.wrong("its length is none that a record has")
    }

    pub(crate) fn push_file(&mut self, path: &Path, memory_bytes: u64) -> Result<(), Error> {
        let file = File::open(path).map_err(|cause| Error::File {
            what: format!("cannot open {}: {cause}", path.display()),
            file: path.to_owned(),
            cause,
        })?;
        let reader = BufReader::with_capacity(READ_BYTES, contents(file, memory_bytes));
        self.push_reader(reader)
            .map_err(|error| error.in_file(path))
    }

    /// Ends the input. The records come back in order.
    ///
    /// # Errors
    /// When the system has no thread for the sort. Other failures come with the first record.
    pub fn finish(mut self) -> Result<Sorted, Error> {
        self.begin()?;
        match self.state {
            State::Running(input, sorted) => {
                input.finish();
                Ok(sorted)
            }
            State::Front(_) | State::Ended => Err(not_begun()),
        }
    }
}

fn not_begun() -> Error {
    Error::Other("the sort could not begin".to_owned())
}
