//! The one-pass sort: everything fits in memory (NOW-Sort 6.1 on one node).
//!
//! Reading and bucketing overlap; when the last record has come, the places of buckets are known,
//! and sorting and writing overlap.

use std::sync::Arc;

use node::{Posted, Queue};
use pipeline::{Failure, Pipeline};

use crate::passes::wiring::{Outcome, Run};
use crate::report::Report;
use crate::stages::{Collector, Seams, collect};

/// Sorts in memory.
pub(crate) async fn one_pass(run: &Run<'_>) -> Result<Report, Failure> {
    let stages = start(run)?.join(run.node).await?;
    let (needed, limit) = (run.plan.needed(), run.job.resources.memory_bytes);
    let reason = match run.plan.input_bytes {
        Some(bytes) => format!("{bytes} bytes fit in memory: {needed} of {limit} bytes needed"),
        None => format!("the input, of unknown length, fitted in {limit} bytes of memory"),
    };
    run.report(
        stages,
        Outcome {
            plan: "one-pass",
            reason,
            passes: 1,
            temp_peak_bytes: 0,
        },
    )
}

/// sampler, reader > distributor > collector > sorter > writer
fn start(run: &Run<'_>) -> Result<Pipeline, Failure> {
    let (node, plan) = (run.node, &run.plan);
    let mut pipeline = run.pipeline();
    let splitters = pipeline.owns(Posted::new(node, "splitters"));
    let buckets = pipeline.owns(Queue::new(node, "buckets", plan.sorters, 1));
    let memory = run.pools(&pipeline)?;
    let chunks = run.start_input(&mut pipeline, &splitters, &memory);
    let collector = Collector {
        splitters,
        chunks,
        out: buckets.clone(),
        record_bytes: plan.record_bytes,
        output: Some(Arc::clone(run.output())),
        reserve: !run.inputs.is_seekable(),
    };
    pipeline.stage(node, "collector", 1, async move |worker| {
        collect(worker, &collector).await
    });
    let seams = Seams::new(node, memory.seams.clone());
    run.start_output(&mut pipeline, &buckets, &memory, &seams);
    Ok(pipeline)
}
