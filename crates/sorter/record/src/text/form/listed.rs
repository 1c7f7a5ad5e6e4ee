//! Words in the order of the lines of a file: sizes of shirts, chromosomes, stages of a process.

use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use thiserror::Error;

use crate::text::row::ValueError;
use crate::text::words::Sink;

/// The bytes of a place.
pub(super) const MOST_BYTES: usize = 4;

/// Words are kept in memory beside the limit of a sort.
const MOST_FILE_BYTES: u64 = 16 << 20;

/// Between the name of a file and the checksum of its words in a description.
const SUM: char = '#';

/// An order that a file gives. It lives as long as the process: few are ever asked for.
#[derive(Clone, Copy)]
pub struct Listed(&'static Words);

struct Words {
    file: String,
    checksum: u32,
    places: HashMap<Vec<u8>, u32>,
}

/// A file of an order that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ListedError {
    /// It cannot be read.
    #[error("order={file}: cannot read the file: {cause}; check its name")]
    Read {
        /// The file.
        file: String,
        /// The reason.
        cause: String,
    },
    /// A word occurs twice.
    #[error("order={file}: line {line}: \"{word}\" stands in line {first}, too; leave one out")]
    Twice {
        /// The file.
        file: String,
        /// The line of the second one.
        line: usize,
        /// The line of the first one.
        first: usize,
        /// The word.
        word: String,
    },
    /// It has no words.
    #[error("order={0}: the file has no words; write one in each line, the first of them first")]
    Empty(String),
    /// It has other words than those of an earlier sort.
    #[error("order={0}: the file has changed since; sort again, or bring its words back")]
    Changed(String),
}

static LOADED: Mutex<Vec<&'static Words>> = Mutex::new(Vec::new());

impl Listed {
    /// The order of a file, which may be named with a checksum, as descriptions do.
    pub(super) fn named(text: &str) -> Result<Listed, ListedError> {
        let sum = |text: &str| {
            u32::from_str_radix(text, 16)
                .ok()
                .filter(|_| text.len() == 8)
        };
        let named = text.rsplit_once(SUM).filter(|_| !Path::new(text).exists());
        let named = named.and_then(|(file, text)| Some((file, sum(text)?)));
        let file = named.map_or(text, |(file, _)| file);
        let unread = |cause: String| ListedError::Read {
            file: file.to_owned(),
            cause,
        };
        let found = std::fs::metadata(file).map_err(|error| unread(error.to_string()))?;
        if !found.is_file() || found.len() > MOST_FILE_BYTES {
            return Err(unread("it is no file of at most 16 MiB".to_owned()));
        }
        let bytes = std::fs::read(file).map_err(|error| unread(error.to_string()))?;
        let listed = Listed::load(file, &bytes)?;
        match named {
            Some((_, checksum)) if checksum != listed.0.checksum => {
                Err(ListedError::Changed(file.to_owned()))
            }
            _ => Ok(listed),
        }
    }

    fn load(file: &str, bytes: &[u8]) -> Result<Listed, ListedError> {
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let mut places = HashMap::new();
        let mut lines = HashMap::new();
        let mut joined = Vec::new();
        for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            let word = line.trim_ascii();
            if word.is_empty() {
                continue;
            }
            if let Some(first) = lines.insert(word, number + 1) {
                return Err(ListedError::Twice {
                    file: file.to_owned(),
                    line: number + 1,
                    first,
                    word: String::from_utf8_lossy(word).into_owned(),
                });
            }
            places.insert(word.to_vec(), places.len() as u32);
            joined.extend_from_slice(word);
            joined.push(b'\n');
        }
        if places.is_empty() {
            return Err(ListedError::Empty(file.to_owned()));
        }
        let checksum = crc32fast::hash(&joined);
        // Nothing that panics runs while it is locked.
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = |words: &&&Words| words.file == file && words.checksum == checksum;
        if let Some(known) = loaded.iter().find(is_known) {
            return Ok(Listed(known));
        }
        let words: &'static Words = Box::leak(Box::new(Words {
            file: file.to_owned(),
            checksum,
            places,
        }));
        loaded.push(words);
        Ok(Listed(words))
    }

    pub(super) fn encode(self, value: &[u8], out: &mut impl Sink) -> Result<(), ValueError> {
        let place = self
            .0
            .places
            .get(value.trim_ascii())
            .ok_or(ValueError::NotListed(self))?;
        out.push_all(&place.to_be_bytes());
        Ok(())
    }
}

impl Listed {
    /// The name of the file.
    #[must_use]
    pub fn file(self) -> &'static str {
        &self.0.file
    }
}

impl PartialEq for Listed {
    fn eq(&self, other: &Listed) -> bool {
        self.0.file == other.0.file && self.0.checksum == other.0.checksum
    }
}

impl Eq for Listed {}

impl Hash for Listed {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.checksum.hash(state);
    }
}

impl fmt::Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.file)?;
        if f.alternate() {
            write!(f, "{SUM}{:08x}", self.0.checksum)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Listed({self})")
    }
}
