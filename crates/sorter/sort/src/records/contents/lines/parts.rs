//! Stretches of lines that are classified together: the chunks that they may fill are bounded.

use super::windows::windows;
use crate::records::block::Block;
use crate::records::framing::Framing;
use crate::records::size::Size;

/// The stretches of a block's lines that take `room` bytes of chunks at most, or are one line.
pub(super) fn parts_of(block: &Block, framing: Framing, room: usize) -> Vec<(u64, usize, Size)> {
    let (least, mut parts) = (framing.least_room(), Vec::new());
    for (position, start, size) in block.parts(framing) {
        let bytes = size.bytes as usize;
        let (mut begin, mut taken) = (0, 0);
        let mut add = |from: usize, to: usize| {
            let bytes = (to - from) as u64;
            let size = Size { records: 0, bytes };
            parts.push((position + from as u64, start + from, size));
        };
        let lines = &block.buffer.bytes()[start..start + bytes];
        windows(lines, framing.records(), |offset, _, ends| {
            let mut end_before = 0;
            for &end in ends {
                let takes = least.max((end - end_before) as usize);
                let at = offset + end_before as usize;
                if taken + takes > room && at > begin {
                    add(begin, at);
                    (begin, taken) = (at, 0);
                }
                taken += takes;
                end_before = end;
            }
        });
        add(begin, bytes);
    }
    parts
}
