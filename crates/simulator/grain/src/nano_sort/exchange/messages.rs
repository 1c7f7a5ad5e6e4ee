//! A bucket as messages, and which buckets have not arrived whole.

use std::collections::BTreeMap;

use node::Rank;

use crate::nano_sort::limits::{FEW, MOST_WORDS};
use crate::nano_sort::sorter::TaggedKey;

/// Entries of a nanoPU core's receive queue that buckets may take; the rest is for requests to
/// continue and for the next level's pivots.
const ENTRIES: usize = 63 / 2;

/// Words of an entry.
const ENTRY_WORDS: usize = 8;

/// Keys per message. With many records, so few that one message from every bucket, each with its
/// step and the number of messages, fits a receive queue.
pub fn most_keys(records: u32, buckets: u32) -> usize {
    let entries = (ENTRIES / buckets as usize).max(1);
    let most = if records > FEW {
        entries * ENTRY_WORDS - 2
    } else {
        MOST_WORDS - 1
    };
    most.min(MOST_WORDS - 1) / 2
}

/// A bucket as messages of keys: nearly always one. If there are several, each ends with their
/// number, since they may overtake each other.
pub struct BucketMessages<'a> {
    keys: std::slice::Chunks<'a, TaggedKey>,
    count: usize,
    /// Messages that have not been sent.
    pub left: usize,
}

impl<'a> BucketMessages<'a> {
    pub fn new(bucket: &'a [TaggedKey], most_keys: usize) -> BucketMessages<'a> {
        let count = bucket.len().div_ceil(most_keys).max(1);
        BucketMessages {
            keys: bucket.chunks(most_keys),
            count,
            left: count,
        }
    }

    /// Replaces `words` by the next message.
    pub fn next(&mut self, words: &mut Vec<u64>) {
        words.clear();
        let keys = self.keys.next().unwrap_or_default();
        words.extend(keys.iter().flat_map(|tagged| tagged.words()));
        words.extend((self.count > 1).then_some(self.count as u64));
        self.left -= 1;
    }
}

/// The buckets that have not arrived whole.
pub struct Incomplete {
    pub senders: u32,
    /// Messages that arrived of each bucket that has several.
    arrived: BTreeMap<Rank, u64>,
}

impl Incomplete {
    pub fn new(senders: u32) -> Incomplete {
        Incomplete {
            senders,
            arrived: BTreeMap::new(),
        }
    }

    /// Counts a message; true if its sender has more.
    pub fn add(&mut self, from: Rank, words: &[u64]) -> bool {
        let has_more = match words.last() {
            Some(count) if !words.len().is_multiple_of(2) => {
                let arrived = self.arrived.entry(from).or_insert(0);
                *arrived += 1;
                *arrived < *count
            }
            _ => false,
        };
        self.senders -= u32::from(!has_more);
        has_more
    }
}
