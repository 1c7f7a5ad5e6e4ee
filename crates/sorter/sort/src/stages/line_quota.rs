//! Cuts blocks that have more lines than a merge counts on.
//!
//! The order of a load takes memory for each of its lines, and a plan counts on their mean length
//! (`Framing::most_in`). Where lines are shorter, fewer bytes of them make a block, so that no load
//! has more lines than planned.
//!
//! ```text
//! read       |a\n|b\n|c\n|d\n|e\n|            two lines a block
//! blocks     |a\n|b\n|   |c\n|d\n|   |e\n|    each in a buffer of the pool
//! ```

use pipeline::{Failure, Worker};
use record::Framing;

use crate::records::block::Block;
use crate::records::size::Size;
use crate::stages::reader::Reader;

/// Hands on whole lines in blocks of at most `most` lines.
///
/// No deadlock: the lines behind the first block leave their buffer before it is handed on. So
/// the reader holds no buffer of theirs while it waits for another, and with its requests in flight
/// it holds fewer than its share of the pool.
pub(super) async fn push_in_blocks(
    worker: &Worker,
    reader: &Reader,
    mut block: Block,
    most: usize,
) -> Result<(), Failure> {
    let framing = reader.framing.records();
    let lines = &block.buffer.bytes()[block.range()];
    let Some(end) = end_within(lines, framing, most) else {
        return Ok(worker.push(&reader.out, block).await?);
    };
    let behind = lines[end..].to_vec();
    let mut position = block.first + end as u64;
    block.size.bytes = end as u64;
    worker.push(&reader.out, block).await?;
    let mut rest = &behind[..];
    while !rest.is_empty() {
        let end = end_within(rest, framing, most).unwrap_or(rest.len());
        let (lines, behind) = rest.split_at(end);
        push_copy(worker, reader, (position, lines)).await?;
        (position, rest) = (position + end as u64, behind);
    }
    Ok(())
}

async fn push_copy(
    worker: &Worker,
    reader: &Reader,
    (first, lines): (u64, &[u8]),
) -> Result<(), Failure> {
    let mut buffer = worker.take(&reader.pool).await?;
    buffer.bytes_mut()[..lines.len()].copy_from_slice(lines);
    let size = Size {
        records: 0,
        bytes: lines.len() as u64,
    };
    let block = Block {
        first,
        size,
        start: 0,
        buffer,
        marks: Vec::new(),
    };
    Ok(worker.push(&reader.out, block).await?)
}

/// The end of the first `most` of whole lines; `None` if there are no more than that.
fn end_within(lines: &[u8], framing: Framing, most: usize) -> Option<usize> {
    let Framing::Delimited(delimiter) = framing else {
        let lengths = framing.split(lines).take(most).map(<[u8]>::len);
        return Some(lengths.sum()).filter(|&end| end < lines.len());
    };
    // Most blocks have fewer, and counting is several times as fast as finding.
    let mut ends = memchr::memchr_iter(delimiter, lines);
    if ends.clone().count() <= most {
        return None;
    }
    ends.nth(most - 1).map(|before| before + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Quoting;

    #[test]
    fn blocks_have_at_most_so_many_lines() {
        let lines = b"a\n\nbcd\ne\n";
        for framing in [Framing::Delimited(b'\n'), Framing::Quoted(Quoting::CSV)] {
            let ends = [1, 2, 3, 4, 5].map(|most| end_within(lines, framing, most));
            assert_eq!(ends, [Some(2), Some(3), Some(7), None, None]);
            assert_eq!(end_within(b"", framing, 1), None);
        }
    }
}
