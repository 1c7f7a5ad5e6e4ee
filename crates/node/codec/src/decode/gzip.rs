//! Members of gzip, one behind the other. Zeros behind the last one are padding, as of tapes.
//!
//! ```text
//! 1f 8b 08 | flags | time (4) | effort | system | data | checksum (4) | bytes of contents (4)
//! ```
//!
//! No field tells where a member ends. The next one begins with bytes that are seldom in data: once in
//! 2^37 random ones. Contents that hold such files, stored as they are, have them, too: a worker notices that, for
//! the member goes on there.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

use super::ahead::{NotAhead, Piece, Stretch};
use super::frames::Format;
use crate::input::Input;

/// The first byte of a member (RFC 1952, 2.3.1).
const MEMBER_BEGINS: u8 = 0x1f;

/// The shortest member: its header, a block without contents, and its end.
const SHORTEST_MEMBER: usize = 20;

/// Tables and window of a decoder.
const STATE_BYTES: usize = 64 << 10;

pub(super) struct Gzip;

impl<R: Read> Format<R> for Gzip {
    type Decoder = GzDecoder<Input<R>>;

    fn enter(&self, input: &mut Input<R>) -> io::Result<bool> {
        Ok(!ends(input)?)
    }

    fn open(&self, input: Input<R>) -> io::Result<Self::Decoder> {
        Ok(GzDecoder::new(input))
    }

    fn close(decoder: Self::Decoder) -> io::Result<Input<R>> {
        Ok(decoder.into_inner())
    }

    fn measure(&self, bytes: &[u8], is_all: bool) -> Result<Stretch, NotAhead> {
        let end = match next_member(bytes) {
            Some(end) => end,
            None if is_all && bytes.len() >= SHORTEST_MEMBER => bytes.len(),
            None => return Err(NotAhead::Longer),
        };
        let contents = bytes[end - 4..end].try_into().expect("four bytes");
        Ok(Stretch {
            bytes: end,
            contents: u32::from_le_bytes(contents) as usize,
            state: STATE_BYTES,
        })
    }

    fn decode(piece: Piece) -> Option<Vec<u8>> {
        piece.decode(GzDecoder::new, GzDecoder::into_inner)
    }
}

/// The end of the member that `bytes` begin with, as far as the beginning of another tells it.
fn next_member(bytes: &[u8]) -> Option<usize> {
    let mut at = SHORTEST_MEMBER;
    while let Some(mut rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        at += rest.skip_until(MEMBER_BEGINS).expect("it is in memory");
        if may_begin(&bytes[at - 1..]) {
            return Some(at - 1);
        }
    }
    None
}

/// Whether these bytes are as those that compressors write in front of a member.
fn may_begin(bytes: &[u8]) -> bool {
    const NEW_FLAGS: u8 = 0xe0;
    const EFFORTS: [u8; 3] = [0, 2, 4];
    const LAST_SYSTEM: u8 = 13;
    const UNKNOWN_SYSTEM: u8 = 255;
    let &[
        MEMBER_BEGINS,
        0x8b,
        8,
        flags,
        _,
        _,
        _,
        _,
        effort,
        system,
        ..,
    ] = bytes
    else {
        return false;
    };
    let is_system = system <= LAST_SYSTEM || system == UNKNOWN_SYSTEM;
    flags & NEW_FLAGS == 0 && EFFORTS.contains(&effort) && is_system
}

/// Whether nothing but zeros follows; skips them.
///
/// # Errors
/// When bytes follow that begin no member.
fn ends<R: Read>(input: &mut Input<R>) -> io::Result<bool> {
    loop {
        let next = input.fill_buf()?;
        let zeros = next.iter().take_while(|&&byte| byte == 0).count();
        if next.is_empty() {
            return Ok(true);
        }
        let other = next.get(zeros).copied();
        input.consume(zeros);
        match other {
            None => {}
            Some(MEMBER_BEGINS) => return Ok(false),
            Some(_) => {
                let what = "bytes that are no gzip data follow its end";
                return Err(io::Error::new(io::ErrorKind::InvalidData, what));
            }
        }
    }
}
