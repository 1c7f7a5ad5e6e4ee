//! Records on their way into a sort.

use std::fs::File;
use std::io::{BufReader, Read};
use std::mem::replace;
use std::path::Path;

use node_real::Feed as Input;

use crate::encoder::Encoder;
use crate::error::Error;
use crate::front::Front;
use crate::sorted::Sorted;

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
        let parts = self.encoder.encode(record, lacks);
        match &mut self.state {
            State::Running(input, sorted) => {
                for part in parts {
                    if !part.is_empty() && input.push(part).is_err() {
                        return Err(sorted.failure());
                    }
                }
            }
            State::Front(front) => {
                front.add(parts);
                if front.room() == 0 {
                    self.begin()?;
                }
            }
            State::Ended => return Err(Error::Other("the sort could not begin".to_owned())),
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
            State::Front(front) => front.room().saturating_sub(1),
            State::Ended => 0,
        };
        // A key function is not called in vain.
        if room < record.len() {
            return Ok(false);
        }
        let lacks = self.encoder.check(record)?;
        let parts = self.encoder.encode(record, lacks);
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
    /// When the system has no thread for the sort. Other failures come with the first record.
    pub fn finish(mut self) -> Result<Sorted, Error> {
        self.begin()?;
        match self.state {
            State::Running(input, sorted) => {
                input.finish();
                Ok(sorted)
            }
            State::Front(_) | State::Ended => unreachable!("it has begun"),
        }
    }
}
