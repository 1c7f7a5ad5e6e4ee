//! The contents of a file that is compressed or not.

use std::fs::File;
use std::io::{self, Read};

use node::{Decompress, Decompression};
use node_real::Contents;

/// Reads the contents of a file. A decompressor takes a part of `memory_bytes`.
pub(crate) fn contents(file: File, memory_bytes: u64) -> impl Read {
    let decompress = Decompress::Auto;
    let reading = Decompression {
        decompress,
        cores: 1,
        memory_bytes,
    };
    Reader(Contents::new(Whole(file), reading))
}

struct Reader(Contents<Whole>);

impl Read for Reader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.fill(out)
    }
}

/// A file whose reads fill their buffer: a pipe gives less at a time.
struct Whole(File);

impl Read for Whole {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let most = out.len() as u64;
        let (mut filled, mut rest) = (0, &mut out[..]);
        while filled < most {
            match self.0.read(rest) {
                Ok(0) => break,
                Ok(read) => {
                    filled += read as u64;
                    rest = &mut rest[read..];
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled as usize)
    }
}
