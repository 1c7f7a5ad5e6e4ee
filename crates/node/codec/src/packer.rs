//! Chunks of memory, compressed one by one. There is no frame and no checksum around them: their
//! holder knows the format and checks the bytes.

use std::io;
use std::ops::Range;

use node::Compression;

use crate::damaged::Damaged;

#[cfg(feature = "lz4")]
use lz4_flex::block;
#[cfg(feature = "zstd")]
use zstd::bulk::{Compressor, Decompressor};

/// Compresses about as fast as lz4, by more.
const ZSTD_LEVEL: i32 = 1;

/// Tables of both directions of both formats, for chunks of a few megabytes.
const TABLES: u64 = 1 << 20;

/// Formats of packed chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Blocks of LZ4.
    Lz4,
    /// Frames of Zstandard.
    Zstd,
}

/// Packs and unpacks chunks, with memory that it keeps.
#[derive(Default)]
pub struct Packer {
    scratch: Vec<u8>,
    #[cfg(feature = "zstd")]
    compressor: Option<Compressor<'static>>,
    #[cfg(feature = "zstd")]
    decompressor: Option<Decompressor<'static>>,
}

/// Memory that a packer takes for chunks of `bytes` bytes at most.
pub fn packer_memory(bytes: usize) -> u64 {
    TABLES + longest(bytes) as u64
}

/// Bytes that a chunk takes packed, however badly it compresses.
fn longest(bytes: usize) -> usize {
    #[cfg(feature = "lz4")]
    let bytes_of_lz4 = block::get_maximum_output_size(bytes);
    #[cfg(not(feature = "lz4"))]
    let bytes_of_lz4 = bytes;
    #[cfg(feature = "zstd")]
    let bytes_of_zstd = zstd::compress_bound(bytes);
    #[cfg(not(feature = "zstd"))]
    let bytes_of_zstd = bytes;
    bytes_of_lz4.max(bytes_of_zstd)
}

fn not_built(format: Packing) -> io::Error {
    Damaged::not_built(match format {
        Packing::Lz4 => Compression::Lz4,
        Packing::Zstd => Compression::Zstd,
    })
}

impl Packer {
    /// The packed `chunk`.
    ///
    /// # Errors
    /// When a library has no memory.
    pub fn pack(&mut self, format: Packing, chunk: &[u8]) -> io::Result<&[u8]> {
        self.grow(longest(chunk.len()));
        let packed = match format {
            #[cfg(feature = "lz4")]
            Packing::Lz4 => {
                block::compress_into(chunk, &mut self.scratch).map_err(io::Error::other)?
            }
            #[cfg(feature = "zstd")]
            Packing::Zstd => {
                // Both directions have their memory then.
                self.decompressor()?;
                let compressor = match &mut self.compressor {
                    Some(compressor) => compressor,
                    none => none.insert(Compressor::new(ZSTD_LEVEL)?),
                };
                compressor.compress_to_buffer(chunk, &mut self.scratch[..])?
            }
            #[allow(unreachable_patterns, reason = "where both formats are built")]
            format => return Err(not_built(format)),
        };
        Ok(&self.scratch[..packed])
    }

    /// Unpacks the range `packed` of `bytes` to the front of `bytes`. Returns the length of the
    /// chunk.
    ///
    /// # Errors
    /// When the bytes are no packed chunk, or a longer one than there is room for.
    pub fn unpack(
        &mut self,
        format: Packing,
        bytes: &mut [u8],
        packed: Range<usize>,
    ) -> io::Result<usize> {
        let length = packed.len();
        self.grow(length);
        self.scratch[..length].copy_from_slice(&bytes[packed]);
        match format {
            #[cfg(feature = "lz4")]
            Packing::Lz4 => {
                let packed = &self.scratch[..length];
                block::decompress_into(packed, bytes).map_err(io::Error::other)
            }
            #[cfg(feature = "zstd")]
            Packing::Zstd => {
                self.decompressor()?;
                let decompressor = self.decompressor.as_mut().expect("made above");
                decompressor.decompress_to_buffer(&self.scratch[..length], bytes)
            }
            #[allow(unreachable_patterns, reason = "where both formats are built")]
            format => Err(not_built(format)),
        }
    }

    #[cfg(feature = "zstd")]
    fn decompressor(&mut self) -> io::Result<()> {
        if self.decompressor.is_none() {
            self.decompressor = Some(Decompressor::new()?);
        }
        Ok(())
    }

    /// Makes the scratch memory that long, and no longer.
    fn grow(&mut self, room: usize) {
        let all = self.scratch.len();
        if all < room {
            self.scratch.reserve_exact(room - all);
            self.scratch.resize(room, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_come_back() {
        let mut packer = Packer::default();
        let chunks = [
            Vec::new(),
            vec![7],
            (0..100_000_u32)
                .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
                .collect(),
            b"a line\n".repeat(30_000),
        ];
        for format in [Packing::Lz4, Packing::Zstd] {
            for chunk in &chunks {
                let packed = packer.pack(format, chunk).unwrap().to_vec();
                let at = chunk.len() / 3;
                let mut bytes = vec![1; packed.len().max(chunk.len()) + at];
                let range = at..at + packed.len();
                bytes[range.clone()].copy_from_slice(&packed);
                let length = packer.unpack(format, &mut bytes, range).unwrap();
                assert!(bytes[..length] == chunk[..], "{format:?}");
            }
            let packed = packer.pack(format, &chunks[3]).unwrap();
            assert!(packed.len() < chunks[3].len() / 20, "{format:?}");
        }
    }

    #[test]
    fn damaged_chunks_are_errors() {
        let mut packer = Packer::default();
        for format in [Packing::Lz4, Packing::Zstd] {
            let packed = packer
                .pack(format, &b"a line\n".repeat(1000))
                .unwrap()
                .to_vec();
            // No room for the chunk.
            let mut bytes = packed.clone();
            assert!(packer.unpack(format, &mut bytes, 0..packed.len()).is_err());
            for cut in 0..packed.len() {
                let mut bytes = vec![0; 7000];
                bytes[..packed.len()].copy_from_slice(&packed);
                let unpacked = packer.unpack(format, &mut bytes, 0..cut);
                assert!(
                    unpacked.is_err() || unpacked.unwrap() < 7000,
                    "{format:?}: {cut}"
                );
            }
        }
    }
}
