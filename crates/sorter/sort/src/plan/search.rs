//! The search over what is not linear: cores, and the least memory that a refusal names.
//!
//! A planner makes the best plan for some cores and some memory, or none. All cores are tried, and
//! then fewer: fewer workers leave more memory to the records. Of all plans those that write a record
//! least often are the best, and of those the one of most cores. So more cores never cost a pass.

use std::iter::successors;

use super::{MIB, Plan, Shape};
use crate::error::SortError;
use crate::job::{Pack, Resources, Tuning};

/// More memory than any machine has: a plan that does not fit in that fits in none.
const MOST_BYTES: u64 = 1 << 50;

/// The resources and wishes that a planner keeps to.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub shape: &'a Shape,
    pub tuning: Tuning,
    pub cores: usize,
    pub memory_bytes: u64,
    /// Whether to plan a sorter for each file that is written at once, however few cores there are.
    pub is_for_files: bool,
    /// Whether to plan for a few large records, see `one_worker`.
    pub is_of_one_worker: bool,
}

/// Packers that were not asked for may take this part of memory.
const PACKER_SHARE: u64 = 32;

impl Given<'_> {
    /// The best of the plans like this one: with packers if they are asked for, or else if there is
    /// room for them.
    pub(super) fn with_packers(
        &self,
        plan: &Plan,
        best: impl Fn(&Plan) -> Option<Plan>,
    ) -> Option<Plan> {
        let with = Plan {
            packs: true,
            ..plan.clone()
        };
        let room = self.memory_bytes / PACKER_SHARE;
        match self.shape.pack {
            Pack::Never => best(plan),
            Pack::In(_) => best(&with),
            Pack::Auto if with.packing().bytes > room => best(plan),
            Pack::Auto => best(&with).or_else(|| best(plan)),
        }
    }
}

/// The best plan of one of the three sorts, and the number of times it writes a record to disk.
pub(super) type Best = fn(&Given) -> Option<(u32, Plan)>;

/// A plan on all cores if memory allows, else on fewer, or of one worker for large records.
///
/// # Errors
/// `TooLittleMemory` with the least that one core needs, and with the name of the sort's `passes`.
pub(super) fn search(
    best: Best,
    passes: &'static str,
    shape: &Shape,
    resources: &Resources,
    tuning: &Tuning,
) -> Result<Plan, SortError> {
    let limit = resources.memory_bytes;
    let with = |cores, limit: u64| {
        let given = Given {
            shape,
            tuning: *tuning,
            cores,
            // No number of a plan changes what compression takes, so plans are made for the rest.
            memory_bytes: shape.rest(limit.min(MOST_BYTES)),
            is_for_files: false,
            is_of_one_worker: false,
        };
        // Powers of two: so more cores try all that fewer try.
        let fewer = |&cores: &usize| Some((cores - 1).checked_ilog2()?).map(|bits| 1 << bits);
        let tried = successors(Some(cores), fewer).map(|cores| Given { cores, ..given });
        // Each sorter takes a part of the chunks, which a plan of few chunks has not.
        let tried = tried.flat_map(|given| {
            let ways = [true, false].map(|is_for_files| Given {
                is_for_files,
                ..given
            });
            let are_alike = shape.outputs <= given.cores;
            ways.into_iter().skip(usize::from(are_alike))
        });
        let one_worker = shape.may_have_one_worker().then(|| given.of_one_worker());
        // Another time on disk costs more than workers help; ties go to the first.
        let plans = tried.chain(one_worker).filter_map(|given| best(&given));
        plans.min_by_key(|(times, _)| *times).map(|(_, plan)| plan)
    };
    with(resources.cores.max(1), limit).ok_or_else(|| SortError::TooLittleMemory {
        bytes: shape.bytes,
        needed: least_above(limit, |limit| with(1, limit).is_some()),
        limit,
        passes,
    })
}

/// The least number of bytes above `low` that works.
fn least_above(mut low: u64, works: impl Fn(u64) -> bool) -> u64 {
    let mut high = low.max(MIB);
    while !works(high) && high < MOST_BYTES {
        (low, high) = (high, high * 2);
    }
    while low + 1 < high {
        let middle = low.midpoint(high);
        if works(middle) {
            high = middle
        } else {
            low = middle
        }
    }
    high
}

#[cfg(test)]
mod tests;
