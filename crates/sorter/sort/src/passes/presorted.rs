//! Whether an input is nearly sorted: a few places are sampled before the plan is chosen.
//!
//! ```text
//! input    |........|........|........|........|       one part for each place
//!              ^a        ^b        ^c       ^d         a record at a random place of each
//! ascends?        a <= b    b > c     c <= d           a descent: some run ends between b and c
//! ```
//!
//! Only descents between places count, not those within a block: each load is sorted anyway, so
//! disorder within a load adds no run. With d descents among p places, about d of p loads begin a
//! run; for random input it is every other load.

use std::sync::Arc;

use node::{Filled, Node};
use pipeline::Failure;

use crate::files::input::{Files, Inputs};
use crate::job::Job;
use crate::records::block::BLOCK_BYTES;
use crate::records::size::portion;
use crate::stages::InFlight;

/// Places sampled. Random input has at most 7 descents in 63 less than once in 10^20.
const PLACES: u64 = 64;

/// At most this part of successive places may descend: then a run is eight loads long, or more, and
/// a merge reads few runs in long stretches. A few sorted files, one behind the other, stay below
/// it.
const MOST_DESCENTS_SHARE: u64 = 8;

/// Smaller inputs are sorted faster than their order is measured.
const RECORDS_AT_LEAST: u64 = 16 * PLACES;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Presorted {
    pub pairs: u64,
    /// Pairs whose second record is less than the first.
    pub descents: u64,
}

impl Presorted {
    /// Samples a seekable input. Counted records show nothing.
    pub(crate) async fn measure(
        node: &Node,
        job: &Job,
        inputs: &Arc<Inputs>,
    ) -> Result<Presorted, Failure> {
        let contents = &*job.contents;
        let framing = contents.framing();
        let total = inputs
            .bytes
            .filter(|&bytes| framing.most_in(bytes) >= RECORDS_AT_LEAST)
            .unwrap_or(0);
        let mut seen = Presorted::default();
        if total == 0 {
            return Ok(seen);
        }
        let place = framing.sampled_place() as usize;
        let room = place.next_multiple_of(BLOCK_BYTES as usize) + 3 * BLOCK_BYTES as usize;
        let buffers = contents.buffers(node, 1, room, Filled::Often);
        let mut buffers = buffers.map_err(|cause| crate::error::no_memory(room, &cause))?;
        let mut buffer = buffers.pop().expect("one was asked for");
        let (mut files, mut last): (_, Vec<u8>) = (Files::new(inputs), Vec::new());
        for number in 0..PLACES {
            let [from, to] = [number, number + 1].map(|part| portion(total, part, PLACES));
            let place = from + node.random() % (to - from);
            let unit = inputs.place_at(place, framing.sampled_place() as usize);
            let file = files.of(node, unit.input).await?;
            let read = InFlight::submit(node, file, unit, buffer);
            let block = read.wait(node, framing).await?.block;
            if block.buffer.is_counted() {
                return Ok(seen);
            }
            let records = &block.buffer.bytes()[block.range()];
            let Some(end) = framing.records().end(records) else {
                // A long line covers the place.
                buffer = block.buffer;
                continue;
            };
            let record = &records[..end];
            if !last.is_empty() {
                seen.pairs += 1;
                seen.descents += u64::from(!contents.in_order(&last, record));
            }
            last.clear();
            last.extend_from_slice(record);
            buffer = block.buffer;
        }
        Ok(seen)
    }

    /// Whether a merge would have few and long runs.
    pub(crate) fn is_nearly_sorted(self) -> bool {
        self.pairs > 0 && self.descents * MOST_DESCENTS_SHARE <= self.pairs
    }

    /// The result in words, if anything was sampled.
    pub(crate) fn reason(self) -> Option<String> {
        let Presorted { pairs, descents } = self;
        let nearly = if self.is_nearly_sorted() {
            "the input is nearly sorted: "
        } else {
            ""
        };
        let seen = || format!("{nearly}{descents} of {pairs} sampled places descend");
        (pairs > 0).then(seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_descent_in_eight_is_nearly_sorted() {
        let seen = |descents| Presorted {
            pairs: 63,
            descents,
        };
        assert!(seen(0).is_nearly_sorted() && seen(7).is_nearly_sorted());
        assert!(!seen(8).is_nearly_sorted() && !seen(31).is_nearly_sorted());
        assert!(!Presorted::default().is_nearly_sorted(), "nothing was seen");
    }
}
