//! Records as the engine takes them.

use record::Framing;
use units::amount;

use crate::error::Error;

/// Writes the key of a record.
pub(crate) type MakeKey = Box<dyn Fn(&[u8], &mut Vec<u8>) + Send>;

/// Makes records as the engine takes them.
pub(crate) struct Encoder {
    pub framing: Framing,
    make_key: Option<MakeKey>,
    /// Records so far.
    pub number: u64,
    /// Whether the first record belongs to a header, which may be longer than a row.
    pub has_header: bool,
    /// Bytes of a record and its key, at most: the sort takes no longer one.
    most: usize,
    /// The front of the record: lengths and key.
    front: Vec<u8>,
    /// A delimiter that the record lacks.
    end: [u8; 1],
}

impl Encoder {
    pub(crate) fn new(framing: Framing, make_key: Option<MakeKey>, most: usize) -> Encoder {
        Encoder {
            framing,
            make_key,
            number: 0,
            has_header: false,
            most,
            front: Vec::new(),
            end: [framing.delimiter().unwrap_or(0)],
        }
    }

    /// The next record is none of the format.
    pub fn wrong(&self, what: &'static str) -> Error {
        let number = self.number + 1;
        Error::Record { number, what }
    }

    /// Checks the bytes of a record so far.
    pub fn check_length(&self, bytes: usize) -> Result<(), Error> {
        if bytes <= self.most {
            Ok(())
        } else {
            Err(Error::Memory(format!(
                "record {}{} is longer than {}; set `longest` to the bytes of the longest one, or give \
             more memory",
                self.number + 1,
                if self.makes_keys() {
                    ", with the key that a function makes of it,"
                } else {
                    ""
                },
                amount(self.most as u64)
            )))
        }
    }

    pub fn makes_keys(&self) -> bool {
        self.make_key.is_some()
    }

    /// Checks a record, and says whether it lacks its delimiter.
    #[inline]
    pub fn check(&self, record: &[u8]) -> Result<bool, Error> {
        // A header is read apart.
        if self.number > 0 || !self.has_header {
            self.check_length(record.len())?;
        }
        let wrong = |what| self.wrong(what);
        match (self.framing.end(record), self.framing) {
            (Some(end), _) if end == record.len() => Ok(false),
            (Some(_), Framing::Delimited(_) | Framing::Quoted(_)) => Err(wrong(
                "it has bytes after its delimiter; push one record at a time",
            )),
            (None, Framing::Delimited(_)) => Ok(true),
            (None, Framing::Quoted(_)) if !self.framing.is_open(record) => Ok(true),
            (None, Framing::Quoted(_)) => Err(wrong("a quote in it is never closed")),
            (_, Framing::Fixed(_)) => Err(wrong("it has another length than the format says")),
            (_, Framing::Prefixed(_)) => Err(wrong("it has another length than it says")),
        }
    }

    /// The parts of a record, one behind the other.
    #[inline]
    pub fn encode<'r>(&'r mut self, record: &'r [u8], lacks: bool) -> Result<[&'r [u8]; 3], Error> {
        let end = if lacks { &self.end[..] } else { &[] };
        self.front.clear();
        if let Some(make_key) = &self.make_key {
            let body = if lacks {
                record
            } else {
                self.framing.body(record)
            };
            self.front.extend_from_slice(&[0; 8]);
            make_key(body, &mut self.front);
            self.check_length(self.front.len() + record.len())?;
            let lengths = [self.front.len() - 8, record.len() + end.len()];
            for (length, place) in lengths.into_iter().zip(self.front.chunks_exact_mut(4)) {
                let Ok(length) = u32::try_from(length) else {
                    return Err(self.wrong("it or its key has 4 GiB or more"));
                };
                place.copy_from_slice(&length.to_le_bytes());
            }
        }
        Ok([&self.front, record, end])
    }
}
