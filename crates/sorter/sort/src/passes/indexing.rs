//! A read of inputs whose records are chained, to find where they may be cut.
//!
//! Only then can several readers, ranks or epochs divide them. A merge, which reads its inputs from
//! front to back, needs no index; but where one can be made, distribution is faster all the same
//! (docs/decisions/0025).

use std::sync::Arc;

use node::{Filled, Node, Pool};
use pipeline::{Failure, Pipeline, sharing};

use crate::error::no_memory;
use crate::files::input::Inputs;
use crate::job::{Choice, Job};
use crate::names::{Phase, StageName};
use crate::stages::{Found, INDEXER_DEPTH, INDEXER_UNIT_BYTES, Indexer, index};

/// Bytes from one cut to the next, about: units of any plan are that long at least. The index has
/// eight bytes for each.
const STEP_BYTES: u64 = 64 << 10;

/// Unit size where units are shorter: one disk block.
const SMALLEST_STEP_BYTES: u64 = 4 << 10;

/// Buffers take this part of memory at most.
const MEMORY_SHARE: u64 = 4;

/// Whether the job divides its inputs, so that those of chained records need indexes.
pub(crate) fn divides_inputs(node: &Node, job: &Job) -> bool {
    let merges = matches!(job.plan, Choice::Merge | Choice::MergeInputs) || job.top.is_some();
    !(job.is_alone(node) && merges)
}

pub(crate) async fn with_indexes(
    node: &Node,
    job: &Job,
    inputs: Inputs,
) -> Result<Inputs, Failure> {
    let lengths = inputs.files.iter().map(|input| input.length());
    job.control.enter(Phase::Index.name(), lengths.sum());
    let step = match (job.tuning.unit_bytes, job.tuning.unit_records) {
        (None, None) => STEP_BYTES,
        _ => SMALLEST_STEP_BYTES,
    };
    let each = (MEMORY_SHARE * INDEXER_DEPTH as u64) * INDEXER_UNIT_BYTES as u64;
    let fit = usize::try_from(job.resources.memory_bytes / each).unwrap_or(usize::MAX);
    let workers = job.resources.cores.min(inputs.files.len()).min(fit).max(1);
    let count = workers * INDEXER_DEPTH;
    let buffers = node
        .buffers(count, INDEXER_UNIT_BYTES, Filled::Often)
        .map_err(|cause| no_memory(count * INDEXER_UNIT_BYTES, &cause))?;
    let mut pipeline = Pipeline::new(&job.control);
    let indexer = Indexer {
        inputs: Arc::new(inputs),
        step,
        pool: pipeline.owns(Pool::new(node, "index buffers", buffers)),
        found: Found::new(node),
        contents: Arc::clone(&job.contents),
        sets_aside: job.bad_rows.is_some(),
    };
    let (inputs, found) = (Arc::clone(&indexer.inputs), indexer.found.clone());
    pipeline.stage(node, StageName::Indexer, workers, sharing(indexer, index));
    pipeline.join(node).await?;
    Ok((*inputs).clone().indexed(found.indexes()?))
}
