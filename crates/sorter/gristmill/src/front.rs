//! The first records of a sort, which decide how it goes on.
//!
//! The number of pushed records is not known before the end. A merge suits any records, but one core
//! merges them all. Two passes use all cores, if the first records show where the others will go. So
//! the first ones are gathered, and looked at in a few places:
//!
//! ```text
//! front    |........|........|........|........|        a record of each part
//!           ^a       ^b       ^c       ^d
//! ascends?     a <= b   b > c    c <= d                 few descents: records come nearly in order,
//!                                                       and later ones are none of the range of these
//! ```

use node_real::{Feed as Input, Take};
use record::Framing;
use sort::{Choice, Job};

use crate::error::Error;
use crate::running::Running;
use crate::sorted::{Decoder, Sorted};
use crate::watch::Watch;

/// Bytes of the front. The engine draws its splitters from more of them.
const FRONT_BYTES: usize = 4 << 20;

/// Parts of the front. Random records descend between 7 of 63 of them less than once in 10^20.
const PARTS: usize = 64;

/// Records are nearly in order if at most this part of neighbours descend.
const MOST_DESCENTS_SHARE: usize = 8;

/// With less memory, two passes of a long input become three.
const DISTRIBUTED_MEMORY_BYTES: u64 = 64 << 20;

/// The first records, and the sort that they are for.
pub(crate) struct Front {
    job: Job,
    decoder: Decoder,
    /// Where records end, as the engine takes them.
    framing: Framing,
    watch: Watch,
    bytes: Vec<u8>,
}

impl Front {
    pub fn new(job: Job, framing: Framing, decoder: Decoder, watch: &Watch) -> Front {
        let (watch, bytes) = (watch.clone(), Vec::new());
        Front {
            job,
            decoder,
            framing,
            watch,
            bytes,
        }
    }

    pub fn is_stopped(&self) -> bool {
        self.watch.is_stopped()
    }

    /// Adds a record.
    pub fn add(&mut self, parts: [&[u8]; 3]) {
        for part in parts {
            self.bytes.extend_from_slice(part);
        }
    }

    /// Whether the first record may stay on top.
    pub fn has_header(&self) -> bool {
        let headed = self.job.headed.as_ref();
        headed.is_some_and(|headed| !headed.head().is_none())
    }

    /// Bytes that are missing; 0 if the front is full.
    pub fn room(&self) -> usize {
        FRONT_BYTES.saturating_sub(self.bytes.len())
    }

    /// Begins the sort.
    pub fn start(mut self) -> Result<(Input, Sorted), Error> {
        self.job.plan = self.plan();
        let (mut input, stdin) = Input::new();
        let (take, stdout) = Take::new();
        let running = Running::start(self.job, &self.watch, Some(stdin), stdout)?;
        let sorted = Sorted::new(take, self.decoder, running);
        // A sort that has ended says so to the next call.
        let _ = input.push(&self.bytes);
        Ok((input, sorted))
    }

    fn plan(&self) -> Choice {
        let is_long = self.room() == 0;
        let is_roomy = self.job.resources.memory_bytes >= DISTRIBUTED_MEMORY_BYTES;
        // The order of rows is known when their header is.
        if is_long && is_roomy && self.job.headed.is_none() && !self.is_nearly_sorted() {
            Choice::Distribute
        } else {
            Choice::Auto
        }
    }

    fn is_nearly_sorted(&self) -> bool {
        let (mut begin, mut next) = (0, 0);
        let mut drawn: Vec<&[u8]> = Vec::new();
        for record in self.framing.split(&self.bytes) {
            if begin >= next {
                drawn.push(record);
                next = drawn.len() * self.bytes.len() / PARTS;
            }
            begin += record.len();
        }
        let contents = &self.job.contents;
        let pairs = drawn.windows(2);
        let descents = pairs.filter(|pair| !contents.in_order(pair[0], pair[1]));
        descents.count() * MOST_DESCENTS_SHARE <= drawn.len()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Format, Sorter};

    use super::*;

    fn plan(records: impl Iterator<Item = u64>, memory: u64) -> Choice {
        let sorter = Sorter::new(Format::fixed(8)).memory(memory);
        let mut front = sorter.front().unwrap();
        for record in records {
            front.add([&[], &record.to_be_bytes(), &[]]);
            if front.room() == 0 {
                break;
            }
        }
        front.plan()
    }

    #[test]
    fn records_in_no_order_are_distributed() {
        let mixed = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // In order but for the last digits.
        let nearly = |number: u64| number ^ (mixed(number) >> 52);
        assert_eq!(plan((0..).map(mixed), 64 << 20), Choice::Distribute);
        assert_eq!(plan((0..).map(mixed), 63 << 20), Choice::Auto);
        assert_eq!(plan((0..100_000).map(mixed), 1 << 30), Choice::Auto);
        assert_eq!(plan(0.., 1 << 30), Choice::Auto);
        assert_eq!(plan((0..).map(nearly), 1 << 30), Choice::Auto);
    }
}
