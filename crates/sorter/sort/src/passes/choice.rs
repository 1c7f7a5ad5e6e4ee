//! The choice of the plan that sorts an input on one node.

use std::iter::successors;
use std::sync::Arc;

use node::Node;
use pipeline::Failure;

use crate::files::input::Inputs;
use crate::job::{Choice, Job, LongestLine, Resources};
use crate::passes::presorted::Presorted;
use crate::passes::survey;
use crate::plan::{Plan, Shape};
use crate::records::lengths::Lengths;

/// The plan, and its reason if that is not memory alone.
///
/// One pass if memory is sure to hold all records. A merge for input of unknown length, since it
/// needs no splitters before the records come, and for nearly sorted input, whose runs are few and
/// long. Otherwise two passes: distribution does not slow down as the input grows (TritonSort 2.5).
/// But if memory is so small that partitions would be divided again, a merge is better if it writes
/// each record no more often, since its writes are larger.
pub(crate) async fn choose(
    node: &Node,
    job: &Job,
    shape: &Shape,
    inputs: &Arc<Inputs>,
) -> Result<(Plan, Option<String>), Failure> {
    let one = || Plan::new(shape, &job.resources, &job.tuning);
    let two = || Plan::two_pass(shape, &job.resources, &job.tuning);
    let merge = || {
        let plan = Plan::merge(shape, &job.resources, &job.tuning)?;
        Ok(of_short_lines(&plan, shape, job, inputs).unwrap_or(plan))
    };
    let plan = match job.plan {
        // No other plan drops records.
        _ if job.top.is_some() => selecting(shape, job).map_or_else(merge, Ok)?,
        Choice::OnePass => one()?,
        Choice::TwoPass => two()?,
        Choice::Distribute => {
            two().or_else(|refused| merge().map_err(|other| refused.or_less(other)))?
        }
        Choice::Merge | Choice::MergeInputs => merge()?,
        Choice::Auto if shape.bytes.is_none() => {
            merge().or_else(|refused| two().map_err(|other| refused.or_less(other)))?
        }
        Choice::Auto => match one() {
            // Lines may be shorter than expected, and then take more memory.
            Ok(one) if !shape.framing.is_fixed() => two().or_else(|_| merge()).unwrap_or(one),
            Ok(plan) => plan,
            Err(in_one) => {
                let seen = Presorted::measure(node, job, inputs).await?;
                let merged = seen.is_nearly_sorted().then(|| merge().ok()).flatten();
                if merged.is_none()
                    && let Ok(divided) = two()
                    && divided.divides_again()
                    && let Ok(plan) = merge()
                    && plan.times_spilled() <= divided.times_spilled()
                {
                    let why = "partitions would have to be divided again".to_owned();
                    return Ok((plan, Some(why)));
                }
                // Large records need much memory for a sample; a merge takes none.
                let plan = merged.map_or_else(two, Ok).or_else(|in_two| {
                    merge().map_err(|refused| refused.or_less(in_two).or_less(in_one))
                })?;
                return Ok((plan, seen.reason()));
            }
        },
    };
    Ok((plan, None))
}

/// The plan of a merge that counts on shorter lines than `longer`, which it leaves for the rest of the input
/// when it meets a longer one (`passes/merge/long_lines`). Buffers with room for the longest line that a pipe may
/// have would be few and large: most memory would hold nothing, and few runs could be merged at once.
fn of_short_lines(longer: &Plan, shape: &Shape, job: &Job, inputs: &Inputs) -> Option<Plan> {
    let is_pipe = matches!(&inputs.files[..], [input] if input.is_sequential());
    let is_seen = job.longest_line == LongestLine::Seen;
    let forms_runs = job.plan != Choice::MergeInputs && job.top.is_none();
    if shape.bytes.is_some() || shape.framing.is_fixed() || !is_pipe || !is_seen || !forms_runs {
        return None;
    }
    let with = |longest: usize| {
        let framing = shape.framing;
        if longest >= framing.longest() {
            return None;
        }
        let lengths = Lengths::about(framing.mean(), longest);
        let shorter = Shape {
            framing: framing.with_lengths(lengths),
            // The other has memory for packers, too, or neither packs.
            pack: longer.pack(shape.pack),
            ..*shape
        };
        Plan::merge(&shorter, &job.resources, &job.tuning).ok()
    };
    let room = |plan: &Plan| plan.merging.map(|merging| merging.block_room);
    // Its chunks have room for longer lines than it was made for, so it may as well count on those.
    let first = with(survey::likely_longest(job.resources.memory_bytes))?;
    let longest = room(&first)?;
    let plan = with(longest).filter(|plan| room(plan) == Some(longest))?;
    let longer = Some(Box::new(longer.clone()));
    Some(Plan { longer, ..plan })
}

/// Memory in which the first records are selected, if they are few: of loads of some megabytes most is
/// dropped as soon as it is read.
const SELECTING_BYTES: u64 = 32 << 20;

/// The memory for this many times the records that are wanted: a load is a quarter of it, and is sorted
/// when it is full.
const TIMES_WANTED: u64 = 8;

/// Reads of the input while the first records are selected: runs are few and short, and ask for no smaller
/// ones.
const READS: u64 = 64;

/// A merge that selects the first records in as little memory as it can, if there is room for a sorter and
/// a selector.
fn selecting(shape: &Shape, job: &Job) -> Option<Plan> {
    let (top, limit) = (job.top?, job.resources.memory_bytes);
    let wanted = top.saturating_mul(TIMES_WANTED * shape.framing.mean() as u64);
    let least = wanted.max(SELECTING_BYTES);
    let memories = successors(Some(least), |memory| memory.checked_mul(2));
    let plan = |memory_bytes: u64| {
        let resources = Resources {
            memory_bytes,
            ..job.resources
        };
        let mut tuning = job.tuning;
        tuning.sorters = Some(tuning.sorters.unwrap_or(2).max(2));
        let reads = (memory_bytes < limit).then_some((memory_bytes / READS) as usize);
        tuning.chunk_bytes = tuning.chunk_bytes.or(reads);
        Plan::merge(shape, &resources, &tuning).ok()
    };
    let below = memories.take_while(|&memory| memory < limit);
    below.chain([limit]).find_map(plan)
}
