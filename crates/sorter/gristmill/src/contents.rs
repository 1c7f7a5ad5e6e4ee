//! The contents of a file that is compressed or not.

use std::fs::File;
use std::io::Read;

use node::{Decompress, Decompression};
use node_real::{Contents, Whole};

/// Reads the contents of a file. A decompressor takes a part of `memory_bytes`.
pub(crate) fn contents(file: File, memory_bytes: u64) -> impl Read {
    let reading = Decompression {
        decompress: Decompress::Auto,
        cores: 1,
        memory_bytes,
        view: None,
        lots: None,
    };
    Contents::new(Whole(file), reading)
}
