//! Sorts entries: a partial radix sort in cache-sized buckets, then a clean-up.
//!
//! NOW-Sort (6.4, 6.5) distributes keys over buckets that fit into the second-level cache and sorts
//! each with a partial radix sort and a clean-up pass. This sort does the same with 16-byte
//! entries:
//!
//! ```text
//! entries   |                    long range                     |
//!              | one pass, write-combining, up to 2^11 bins
//! scratch   |  bucket  | bucket |     bucket     |  ...         |      each fits in cache
//!              | counting pass with about as many bins as entries
//! entries   | nearly sorted | ...                               |
//!              | insertion clean-up, which also notices ties
//! entries   | sorted by prefix  5 5 5 ...                       |
//!              | runs of one prefix: load the next word, start again
//! ```
//!
//! There is no recursion: a list of [`Task`]s holds the ranges that are not sorted yet. Every pass
//! either splits a range by bits in which its smallest and largest prefix differ, or moves a run to
//! a word in which its rows differ, so skewed, equal and adversarial inputs end in bounded time.
//! Positions have 32 bits, so a call sorts fewer than 2^32 entries (64 GiB).

mod count;
mod digit;
mod insertion;
mod parallel;
mod partition;
mod ties;
mod worker;

pub use parallel::sort_parallel;

use crate::{Entry, Words};
use worker::{Area, Task, Worker};

/// Sorts `entries` by `words` on the calling thread.
///
/// Prefixes (word 0) change during the sort and are restored. The content of `scratch` is undefined
/// afterwards.
///
/// # Panics
/// If `scratch` is shorter than `entries`, or there are 2^32 entries or more.
pub fn sort(entries: &mut [Entry], scratch: &mut [Entry], words: &impl Words) {
    let area = Area::new(entries, scratch);
    let task = Task::whole(area.len());
    Worker::new(words).sort(area, task);
}
