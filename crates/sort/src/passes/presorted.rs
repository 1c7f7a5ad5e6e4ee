//! Whether an input is nearly sorted: a look at a few places, before it is decided how to sort.
//!
//! ```text
//! input    |........|........|........|........|       as many parts as there are places
//!              ^a        ^b        ^c       ^d         a record at a random place of each
//! ascends?        a <= b    b > c     c <= d           a descent: some run ends between b and c
//! ```
//!
//! Descents between places are what counts, not those within a block: a load is sorted anyhow, so
//! disorder within its reach makes no run more. Of d descents among p places there are about d in p
//! loads that begin a run; random input has one for every other load.

use std::sync::Arc;

use node::Node;
use pipeline::Failure;

use crate::files::input::{Files, Inputs};
use crate::job::Job;
use crate::records::block::BLOCK_BYTES;
use crate::stages::InFlight;

/// Places looked at. Random input has at most 7 descents in 63 less than once in 10^20.
const PLACES: u64 = 64;

/// At most this part of successive places may descend: then a run is eight loads long, or more, and
/// a merge reads few runs in long stretches. A few files that are sorted, one behind the other, are
/// below it.
const MOST_DESCENTS_SHARE: u64 = 8;

/// Smaller inputs are sorted before their order is measured.
const RECORDS_AT_LEAST: u64 = 16 * PLACES;

/// How the places of an input follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Presorted {
    /// Pairs of successive places.
    pub pairs: u64,
    /// Those of which the second is below the first.
    pub descents: u64,
}

impl Presorted {
    /// Looks at a seekable input; at counted records there is nothing to see.
    pub(crate) async fn measure(
        node: &Node,
        job: &Job,
        inputs: &Arc<Inputs>,
    ) -> Result<Presorted, Failure> {
        let contents = &*job.contents;
        let bytes = contents.record_bytes();
        let total = inputs
            .records
            .filter(|records| *records >= RECORDS_AT_LEAST)
            .unwrap_or(0);
        let mut seen = Presorted::default();
        if total == 0 {
            return Ok(seen);
        }
        let room = bytes.next_multiple_of(BLOCK_BYTES as usize) + BLOCK_BYTES as usize;
        let buffers = contents.buffers(node, 1, room);
        let mut buffers = buffers.map_err(|cause| crate::error::no_memory(room, &cause))?;
        let mut buffer = buffers.pop().expect("one was asked for");
        let (mut files, mut last): (_, Vec<u8>) = (Files::new(inputs), Vec::new());
        for number in 0..PLACES {
            let (from, to) = (number * total / PLACES, (number + 1) * total / PLACES);
            let unit = inputs.unit_at(from + node.random() % (to - from), 1);
            let file = files.of(node, unit.input).await?;
            let block = InFlight::submit(node, file, unit, bytes, buffer)
                .wait(node, bytes)
                .await?;
            if block.buffer.is_counted() {
                return Ok(seen);
            }
            let record = &block.buffer.bytes()[block.range(bytes)];
            if number > 0 {
                seen.pairs += 1;
                seen.descents += u64::from(!contents.in_order(&last, record));
            }
            last.clear();
            last.extend_from_slice(record);
            buffer = block.buffer;
        }
        Ok(seen)
    }

    /// Whether runs will be few and long.
    pub(crate) fn is_nearly_sorted(self) -> bool {
        self.pairs > 0 && self.descents * MOST_DESCENTS_SHARE <= self.pairs
    }

    /// What was seen, if anything was.
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
