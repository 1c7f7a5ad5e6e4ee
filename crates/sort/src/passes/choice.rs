//! The choice of the plan that sorts an input on one node.

use std::sync::Arc;

use node::Node;
use pipeline::Failure;

use crate::files::input::Inputs;
use crate::job::{Choice, Job};
use crate::passes::presorted::Presorted;
use crate::plan::{Plan, Shape};

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
    let merge = || Plan::merge(shape, &job.resources, &job.tuning);
    let plan = match job.plan {
        // A merge drops most of each load when it is sorted; no other plan drops records.
        _ if job.top.is_some() => merge()?,
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
