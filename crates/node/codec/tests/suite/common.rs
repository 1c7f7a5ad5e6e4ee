//! Contents, and compressed files of them.

use std::io::{self, Read, Write};

use codec::{Decoder, Front, LONGEST_HEADER, read_past};
use node::{Compression, Decompress};

/// A memory limit of which any test's file takes a part.
pub const MEMORY_BYTES: u64 = 1 << 30;

/// A generator of numbers: the same ones for the same seed.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn below(&mut self, bound: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) % bound as u64) as usize
    }
}

/// Lines of drawn words: some repeat, so compression finds something.
pub fn lines(bytes: usize, seed: u64) -> Vec<u8> {
    let mut numbers = Numbers(seed);
    let mut all = Vec::with_capacity(bytes + 16);
    while all.len() < bytes {
        let (word, end) = (numbers.below(5000), b" \n"[numbers.below(2)]);
        write!(all, "{word:x}").unwrap();
        all.push(end);
    }
    all.truncate(bytes);
    all
}

/// A compressed file, of the library's own writer, with all checksums that the format has.
pub fn compressed(format: Compression, contents: &[u8]) -> Vec<u8> {
    fn written<W: Write>(mut writer: W, contents: &[u8]) -> W {
        writer.write_all(contents).unwrap();
        writer
    }
    let out = Vec::new();
    match format {
        Compression::Gzip => {
            let level = flate2::Compression::new(6);
            let writer = flate2::write::GzEncoder::new(out, level);
            written(writer, contents).finish().unwrap()
        }
        Compression::Zstd => {
            let mut writer = zstd::stream::write::Encoder::new(out, 3).unwrap();
            writer.include_checksum(true).unwrap();
            written(writer, contents).finish().unwrap()
        }
        Compression::Lz4 => {
            let info = lz4_flex::frame::FrameInfo::new()
                .content_checksum(true)
                .block_checksums(true);
            let writer = lz4_flex::frame::FrameEncoder::with_frame_info(info, out);
            written(writer, contents).finish().unwrap()
        }
        Compression::Bzip2 => {
            let level = bzip2::Compression::new(1);
            let writer = bzip2::write::BzEncoder::new(out, level);
            written(writer, contents).finish().unwrap()
        }
        Compression::Xz => {
            let options = lzma_rust2::XzOptions::with_preset(1);
            let writer = lzma_rust2::XzWriter::new(out, options).unwrap();
            written(writer, contents).finish().unwrap()
        }
    }
}

/// A source that returns few bytes at a time.
pub struct Short {
    bytes: io::Cursor<Vec<u8>>,
    most: usize,
}

impl Read for Short {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let most = out.len().min(self.most);
        self.bytes.read(&mut out[..most])
    }
}

/// A decoder of a file as a node uses it; none if the file is not compressed.
pub fn decoder(file: &[u8], most: usize) -> Option<Decoder<Short>> {
    opened(file, most).expect("a front")
}

/// As [`decoder`]; an error if the file ends before its first frame.
pub fn opened(file: &[u8], most: usize) -> io::Result<Option<Decoder<Short>>> {
    let (begin, rest) = file.split_at(file.len().min(LONGEST_HEADER));
    let bytes = io::Cursor::new(rest.to_vec());
    let mut rest = Short { bytes, most };
    let front = Front::of(begin.to_vec(), &mut rest, Decompress::Auto, read_past)?;
    let header = front.header(MEMORY_BYTES);
    Ok(header.map(|header| Decoder::new(header, front, rest)))
}

/// A frame that decoders skip.
pub fn skippable(mark: u8, bytes: usize) -> Vec<u8> {
    let mut frame = vec![0x50 + mark, 0x2a, 0x4d, 0x18];
    frame.extend((bytes as u32).to_le_bytes());
    frame.resize(frame.len() + bytes, 7);
    frame
}

/// The contents, read in pieces of `piece` bytes.
pub fn read(mut decoder: Decoder<Short>, piece: usize) -> io::Result<Vec<u8>> {
    let (mut all, mut out) = (Vec::new(), vec![0; piece]);
    loop {
        let read = decoder.fill(&mut out)?;
        all.extend_from_slice(&out[..read]);
        if read < piece {
            assert_eq!(decoder.fill(&mut out)?, 0, "the end stays the end");
            return Ok(all);
        }
    }
}

/// The contents of a file that is compressed.
pub fn decompressed(file: &[u8]) -> io::Result<Vec<u8>> {
    let found = decoder(file, usize::MAX).expect("the format is told by its header");
    read(found, 1 << 16)
}
