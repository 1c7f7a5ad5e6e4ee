//! Sealed chunks, which can leave memory and be trusted when they come back.
//!
//! ```text
//! | records ....... | marks ... |        unused        | records, bytes, marks, checksum |
//! ```

use kernel::block_crc;
use node::Buffer;

use crate::records::block::{Chunk, FOOTER_BYTES, MARK_BYTES, Mark, Stamp};
use crate::records::size::Size;

/// Writes a chunk's marks, footer and checksum behind its records.
pub(super) fn seal(chunk: &mut Chunk) {
    let marks_at = chunk.size.bytes as usize;
    let used = marks_at + chunk.marks.len() * MARK_BYTES;
    let bytes = chunk.buffer.bytes_mut();
    let marks = bytes[marks_at..].chunks_exact_mut(MARK_BYTES);
    for (mark, to) in chunk.marks.iter().zip(marks) {
        to[..8].copy_from_slice(&mark.position.to_le_bytes());
        to[8..].copy_from_slice(&mark.start.to_le_bytes());
    }
    let counts = [
        chunk.size.records as u32,
        chunk.size.bytes as u32,
        chunk.marks.len() as u32,
    ];
    let checksum = sealed_crc(&bytes[..used], counts);
    let footer_at = bytes.len() - FOOTER_BYTES;
    let fields = counts.iter().chain([&checksum]);
    for (field, to) in fields.zip(bytes[footer_at..].chunks_exact_mut(4)) {
        to.copy_from_slice(&field.to_le_bytes());
    }
}

/// Adds a place to a sealed chunk's checksum; the same place again removes it.
pub(super) fn stamp(sealed: &mut Buffer, place: Stamp) {
    let checksum = sealed.bytes_mut().last_chunk_mut().expect("a footer");
    *checksum = (u32::from_le_bytes(*checksum) ^ place.0).to_le_bytes();
}

/// Size and marks of a sealed chunk, unless it was stamped with another place or has changed.
pub(super) fn unseal(buffer: &Buffer, place: Stamp) -> Option<(Size, Vec<Mark>)> {
    let (body, footer) = buffer.bytes().split_at(buffer.capacity() - FOOTER_BYTES);
    let field = |number: usize| word(&footer[4 * number..]);
    let counts = [field(0), field(1), field(2)];
    let [records, bytes, marks] = counts;
    let used = (marks as usize)
        .checked_mul(MARK_BYTES)?
        .checked_add(bytes as usize)?;
    let sealed = body.get(..used)?;
    let read = |from: &[u8]| Mark {
        position: u64::from(word(from)) | u64::from(word(&from[4..])) << 32,
        start: word(&from[8..]),
    };
    let size = Size {
        records: records.into(),
        bytes: bytes.into(),
    };
    let is_whole = sealed_crc(sealed, counts) ^ place.0 == field(3);
    let marks = sealed[bytes as usize..].chunks_exact(MARK_BYTES).map(read);
    is_whole.then(|| (size, marks.collect()))
}

/// Part of every checksum, so that zeros, which were never written, are no chunk.
const SEAL: u32 = 0x6772_6973;

/// The checksum of a chunk in a spill file, over its records, marks and counts.
fn sealed_crc(sealed: &[u8], [records, bytes, marks]: [u32; 3]) -> u32 {
    let counts = records.rotate_left(8) ^ marks.rotate_left(16) ^ bytes.rotate_left(24);
    SEAL ^ block_crc(sealed) ^ counts
}

/// The number at the front of `bytes`, in the format of spill files.
fn word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(*bytes.first_chunk().expect("four bytes"))
}
