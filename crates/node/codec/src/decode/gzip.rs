//! Members of gzip, one behind the other. Zeros behind the last one are padding, as of tapes.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

use crate::input::Input;

/// The first byte of a member (RFC 1952, 2.3.1).
const MEMBER_BEGINS: u8 = 0x1f;

/// All members of an input.
pub(super) struct Gzip<R: Read> {
    member: Option<GzDecoder<Input<R>>>,
}

impl<R: Read> Gzip<R> {
    pub(super) fn new(input: Input<R>) -> Gzip<R> {
        Gzip {
            member: Some(GzDecoder::new(input)),
        }
    }
}

impl<R: Read> Read for Gzip<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let read = member.read(out)?;
            if read > 0 {
                return Ok(read);
            }
            if let Some(member) = self.member.take() {
                let mut input = member.into_inner();
                self.member = (!ends(&mut input)?).then(|| GzDecoder::new(input));
            }
        }
        Ok(0)
    }
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
