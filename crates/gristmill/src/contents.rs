//! The contents of a file that is compressed or not.

use std::fs::File;
use std::io::{self, Chain, Cursor, Read, Take};

use codec::{Decoder, Header, LONGEST_HEADER};

pub(crate) enum Contents {
    Plain(Chain<Cursor<Vec<u8>>, Take<File>>),
    Compressed(Decoder<File>),
}

impl Contents {
    /// A decompressor takes a part of `memory_bytes`.
    ///
    /// # Errors
    /// When the file cannot be read, or its data need more than that part.
    pub fn of(mut file: File, memory_bytes: u64) -> io::Result<Contents> {
        let mut begin = Vec::new();
        let first = (&mut file)
            .take(LONGEST_HEADER as u64)
            .read_to_end(&mut begin)?;
        Ok(match Header::of(&begin, memory_bytes) {
            Some(header) => {
                let header = header.of_pipe(memory_bytes).map_err(io::Error::from)?;
                Contents::Compressed(Decoder::new(header, begin, file))
            }
            None => {
                // A second read behind the end of a terminal would wait for more.
                let rest = if first < LONGEST_HEADER { 0 } else { u64::MAX };
                Contents::Plain(Cursor::new(begin).chain(file.take(rest)))
            }
        })
    }
}

impl Read for Contents {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Contents::Plain(file) => file.read(out),
            Contents::Compressed(decoder) => decoder.fill(out),
        }
    }
}
