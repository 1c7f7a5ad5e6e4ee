//! The search for a plan that fits the memory.

use super::{MIB, Plan, Shape};
use crate::error::SortError;
use crate::job::Resources;

/// More memory than any machine has: a plan that does not fit in that fits in none.
const MOST_BYTES: u64 = 1 << 50;

/// The least memory is told to this.
pub(super) const LEAST_STEP_BYTES: u64 = 64 << 10;

/// A plan on all cores if memory allows, else on fewer, or a tight one for large records.
///
/// # Errors
/// When the memory limit is below what one core needs, with that figure.
pub(super) fn on_fewer_cores(
    shape: &Shape,
    resources: &Resources,
    on: impl Fn((usize, bool), u64) -> Option<(u32, Plan)>,
) -> Result<Plan, SortError> {
    let limit = resources.memory_bytes;
    let halves = std::iter::successors(Some(resources.cores.max(1)), |&cores| Some(cores / 2));
    let tried = halves
        .take_while(|&cores| cores > 0)
        .filter_map(|cores| on((cores, false), limit));
    // Another time on disk costs more than a core helps; of equals the first comes out.
    if let Some((_, plan)) = tried.min_by_key(|(times, _)| *times) {
        return Ok(plan);
    }
    let tight = |memory| shape.is_large().then(|| on((1, true), memory)).flatten();
    if let Some((_, plan)) = tight(limit) {
        return Ok(plan);
    }
    let works = |memory| on((1, false), memory).or_else(|| tight(memory)).is_some();
    let (mut low, mut high) = (limit, limit.max(MIB));
    while !works(high) && high < MOST_BYTES {
        (low, high) = (high, high * 2);
    }
    while low + LEAST_STEP_BYTES < high {
        let middle = low.midpoint(high);
        (low, high) = if works(middle) {
            (low, middle)
        } else {
            (middle, high)
        };
    }
    let bytes = shape
        .records
        .map(|records| records * shape.record_bytes as u64);
    Err(SortError::TooLittleMemory {
        bytes,
        needed: high,
        limit,
        passes: "several passes",
    })
}
