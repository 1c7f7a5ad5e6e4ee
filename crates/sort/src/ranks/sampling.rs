//! A rank's look at its own input: a sample of its keys, and what tells it from another one.

use std::sync::Arc;

use node::{Node, Posted};
use pipeline::{Failure, Pipeline, Worker};

use crate::error::no_memory;
use crate::files::input::{Files, Inputs};
use crate::job::Job;
use crate::records::block::BLOCK_BYTES;
use crate::stages;
use crate::stages::{Drawn, InFlight, Places};

/// What is sampled may take this part of memory.
const SAMPLE_SHARE: u64 = 64;

/// Records that tell an input from another one of its length: its ends, and some between.
const MARKS: u64 = 33;

/// Looks at so many places.
pub(crate) async fn draw(
    node: &Node,
    job: &Job,
    inputs: &Arc<Inputs>,
    places: u64,
) -> Result<Drawn, Failure> {
    let own = inputs.records.unwrap_or(0);
    // With large records memory bounds the sample, of which some copies are made on the way.
    let place = BLOCK_BYTES.max(job.contents.record_bytes() as u64);
    let most = job.resources.memory_bytes / SAMPLE_SHARE / place;
    let count = places.min(most).max(u64::from(own > 0)) as usize;
    job.control.enter("sample", 0);
    let (inputs, contents) = (Arc::clone(inputs), Arc::clone(&job.contents));
    let places = Places {
        inputs,
        contents,
        count,
    };
    let mut pipeline = Pipeline::new(&job.control);
    let drawn = pipeline.owns(Posted::new(node, "sample"));
    let post = drawn.clone();
    let look = async move |worker: &Worker| {
        let begin = worker.node.now();
        let mut drawn = stages::draw(worker, &places).await?;
        drawn.cost.seconds = worker.node.seconds(worker.node.now().since(begin));
        post.post(&worker.node, drawn).await;
        Ok(())
    };
    pipeline.stage(node, "sampler", 1, look);
    pipeline.join(node).await?;
    let Drawn { sample, cost } = &*drawn.read(node).await?;
    Ok(Drawn {
        sample: sample.clone(),
        cost: *cost,
    })
}

/// A checksum of some records, the first and the last among them: the same for the same input.
pub(crate) async fn mark(node: &Node, job: &Job, inputs: &Arc<Inputs>) -> Result<u64, Failure> {
    let bytes = job.contents.record_bytes();
    let Some(last) = inputs.records.unwrap_or(0).checked_sub(1) else {
        return Ok(0);
    };
    let room = bytes.next_multiple_of(BLOCK_BYTES as usize) + 2 * BLOCK_BYTES as usize;
    let mut files = Files::new(inputs);
    let mut sum = 0_u64;
    let steps = (MARKS - 1).min(last).max(1);
    for step in 0..=steps.min(last) {
        let place = (u128::from(last) * u128::from(step) / u128::from(steps)) as u64;
        let buffers = job.contents.buffers(node, 1, room);
        let buffer = buffers
            .map_err(|cause| no_memory(room, &cause))?
            .pop()
            .expect("one was made");
        let unit = inputs.unit_at(place, 1);
        let file = files.of(node, unit.input).await?;
        let block = InFlight::submit(node, file, unit, bytes, buffer)
            .wait(node, bytes)
            .await?;
        sum = sum
            .rotate_left(1)
            .wrapping_add(job.contents.checksum(&block));
    }
    Ok(sum)
}
