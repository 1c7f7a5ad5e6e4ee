//! Copies of short records of unlike length.
//!
//! A call to copy a few bytes costs more than the bytes. So a short record is copied as whole
//! blocks of fixed length, the last of which overlaps the one before it:
//!
//! ```text
//! 40 bytes    | block 0 .......|~~~|      what follows in the source is copied too, and the next
//! 100 bytes   | block 0 ....|  |~~~|      record overwrites it
//!                      | block 1 |        ends with the record
//! ```

/// The length of a block: a cache line, which is one to four registers.
const BLOCK: usize = 64;

/// Very short records have a block of their own: the whole one would touch a second line.
const SHORT: usize = 16;

/// Longer records are for a call, which costs little then.
const LONGEST: usize = 4 * BLOCK;

/// Copies the first `len` bytes of `from` to `to`. Bytes of `to` behind them may change too.
///
/// # Panics
/// If `from` or `to` is shorter than `len`.
#[inline(always)]
pub(crate) fn copy_front(from: &[u8], to: &mut [u8], len: usize) {
    if len <= SHORT {
        if let (Some(from), Some(to)) = (from.first_chunk(), to.first_chunk_mut::<SHORT>()) {
            *to = *from;
            return;
        }
    } else if len <= BLOCK {
        if let (Some(from), Some(to)) = (from.first_chunk(), to.first_chunk_mut::<BLOCK>()) {
            *to = *from;
            return;
        }
    } else if len <= LONGEST {
        let (from, to) = (&from[..len], &mut to[..len]);
        let (blocks, _) = from.as_chunks::<BLOCK>();
        let (places, _) = to.as_chunks_mut::<BLOCK>();
        for (from, to) in blocks.iter().zip(places) {
            *to = *from;
        }
        if let (Some(from), Some(to)) = (from.last_chunk::<BLOCK>(), to.last_chunk_mut()) {
            *to = *from;
        }
        return;
    }
    to[..len].copy_from_slice(&from[..len]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_with_and_without_slack() {
        let from: Vec<u8> = (0..400).map(|i| i as u8 | 1).collect();
        let step = if cfg!(miri) { 13 } else { 1 };
        for len in (0..300).step_by(step) {
            for slack in [0, 1, 15, 16, 62, 63, 64, 100] {
                for (slack_from, slack_to) in [(slack, 0), (0, slack), (slack, 100), (100, slack)] {
                    let mut to = vec![0; len + slack_to];
                    copy_front(&from[..len + slack_from], &mut to, len);
                    assert_eq!(to[..len], from[..len]);
                    assert!(to.iter().skip(len + BLOCK).all(|&byte| byte == 0));
                }
            }
        }
    }
}
