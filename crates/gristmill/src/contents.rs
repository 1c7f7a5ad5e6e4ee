//! The contents of a file that is compressed or not.

use std::fs::File;
use std::io::{self, Chain, Cursor, Read};

use codec::{Decoder, Header, LONGEST_HEADER};

/// Memory of which a decompressor takes a part.
const DECODER_BYTES: u64 = 64 << 20;

pub(crate) enum Contents {
    Plain(Chain<Cursor<Vec<u8>>, File>),
    Compressed(Decoder<File>),
}

impl Contents {
    pub fn of(mut file: File) -> io::Result<Contents> {
        let mut begin = Vec::new();
        let first = (&mut file).take(LONGEST_HEADER as u64);
        { first }.read_to_end(&mut begin)?;
        Ok(match Header::of(&begin, DECODER_BYTES) {
            Some(header) => Contents::Compressed(Decoder::new(header, begin, file)),
            None => Contents::Plain(Cursor::new(begin).chain(file)),
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
