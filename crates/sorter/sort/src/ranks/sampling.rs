//! A rank's samples of its own input: of keys, for splitters, and of records, to recognize the
//! input.

use std::sync::Arc;

use node::{Filled, Node, Posted};
use pipeline::{Failure, Pipeline, Worker};

use crate::error::no_memory;
use crate::files::input::{Files, Inputs, ReadUnit};
use crate::job::{Job, SplitterChoice};
use crate::names::{Phase, StageName};
use crate::records::block::BLOCK_BYTES;
use crate::records::framing::Framing;
use crate::records::size::portion;
use crate::stages;
use crate::stages::{Drawn, InFlight, Places};

/// The sample may take this part of memory.
const SAMPLE_MEMORY_SHARE: u64 = 64;

/// Random keys are evenly spaced, so that a few for each partition do.
const MOST_RANDOM_KEYS: u64 = 4096;

/// Records that tell an input from others of its length: its ends, and some between.
const PROBES: u64 = 33;

/// A sample of the records at `places` places of the input.
pub(crate) async fn draw(
    node: &Node,
    job: &Job,
    inputs: &Arc<Inputs>,
    places: u64,
) -> Result<Drawn, Failure> {
    let own = inputs.bytes.unwrap_or(0);
    let most = most_of(job, job.contents.framing().sampled_bytes());
    let count = places.min(most).max(u64::from(own > 0)) as usize;
    job.control.enter(Phase::Sample.name(), 0);
    let (inputs, contents) = (Arc::clone(inputs), Arc::clone(&job.contents));
    let places = Places {
        inputs,
        contents,
        count,
        splitters: job.splitters,
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
    pipeline.stage(node, StageName::Sampler, 1, look);
    pipeline.join(node).await?;
    let Drawn { sample, cost } = &*drawn.read(node).await?;
    Ok(Drawn {
        sample: sample.clone(),
        cost: *cost,
    })
}

/// Places of `bytes` bytes in a sample at most: with large records memory bounds it, which is copied a few times
/// on the way.
fn most_of(job: &Job, bytes: u64) -> u64 {
    job.resources.memory_bytes / SAMPLE_MEMORY_SHARE / bytes
}

/// Records of a sample of random keys, which divide the range of a rank among its partitions.
pub(crate) fn random_keys(job: &Job) -> Option<u64> {
    let most = most_of(job, job.contents.framing().longest() as u64);
    let is_even = job.splitters == SplitterChoice::Even;
    is_even.then(|| most.clamp(1, MOST_RANDOM_KEYS))
}

/// A checksum of some records, the first and the last among them; of lines and chained records, of
/// some of their bytes. It tells apart inputs of one length.
pub(crate) async fn probe_checksum(
    node: &Node,
    job: &Job,
    inputs: &Arc<Inputs>,
) -> Result<u64, Failure> {
    let framing = job.contents.framing();
    let total = inputs.bytes.unwrap_or(0);
    if total == 0 {
        return Ok(0);
    }
    let (probed, probe_bytes) = if framing.is_fixed() {
        (framing, framing.longest())
    } else {
        (Framing::fixed(1), BLOCK_BYTES.min(total) as usize)
    };
    let last = probed.most_in(total - probe_bytes as u64);
    let room = probe_bytes.next_multiple_of(BLOCK_BYTES as usize) + 3 * BLOCK_BYTES as usize;
    let mut files = Files::new(inputs);
    let mut sum = 0_u64;
    let steps = (PROBES - 1).min(last).max(1);
    for step in 0..=steps.min(last) {
        let buffers = job.contents.buffers(node, 1, room, Filled::Once);
        let buffer = buffers
            .map_err(|cause| no_memory(room, &cause))?
            .pop()
            .expect("one was made");
        let place = probed.room_for(portion(last, step, steps));
        let unit = ReadUnit {
            is_whole: true,
            ..inputs.place_at(place, probe_bytes)
        };
        let file = files.of(node, unit.input).await?;
        let read = InFlight::submit(node, file, unit, buffer);
        let mut block = read.wait(node, probed).await?.block;
        let crc = if framing.is_fixed() {
            job.contents.measure(&mut block)?
        } else {
            kernel::block_crc(&block.buffer.bytes()[block.range()]).into()
        };
        sum = sum.rotate_left(1).wrapping_add(crc);
    }
    Ok(sum)
}
