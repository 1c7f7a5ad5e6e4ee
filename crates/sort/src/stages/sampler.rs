//! Draws splitters from a sample of seekable inputs.
//!
//! The sample is stratified: one disk block at a random place of each of equal parts of the input.
//! Of random input every record of a block counts; of sorted input the parts still divide evenly.
//! The sampler runs beside the readers, whose first blocks wait for it.

use crate::plan::SAMPLES_IN_FLIGHT;
use std::collections::VecDeque;
use std::sync::Arc;

use node::Posted;
use pipeline::{Failure, Worker};

use crate::files::input::{Files, Inputs};
use crate::records::block::BLOCK_BYTES;
use crate::records::contents::{Contents, Sample};
use crate::records::splitters::Splitters;
use crate::report::SampleCost;
use crate::stages::Tally;
use crate::stages::reader::InFlight;

/// What is to be sampled.
#[derive(Clone)]
pub(crate) struct Places {
    pub inputs: Arc<Inputs>,
    pub contents: Arc<dyn Contents>,
    /// How many places to look at.
    pub count: usize,
}

/// What the sampler needs.
#[derive(Clone)]
pub(crate) struct Sampler {
    pub places: Places,
    /// Buckets to divide into.
    pub buckets: usize,
    pub splitters: Posted<Splitters>,
    /// Where what the sample cost is noted.
    pub tally: Tally,
}

/// The sampler's work.
pub(crate) async fn sample(worker: &Worker, sampler: &Sampler) -> Result<(), Failure> {
    let begin = worker.node.now();
    let drawn = if sampler.buckets > 1 {
        draw(worker, &sampler.places).await?
    } else {
        Drawn::default()
    };
    let Drawn { sample, mut cost } = drawn;
    let splitters = if sample.positions.is_empty() {
        Splitters::even(1)
    } else {
        sampler.places.contents.splitters(&sample, sampler.buckets)
    };
    cost.seconds = worker.node.seconds(worker.node.now().since(begin));
    sampler.tally.sampled(cost);
    sampler.splitters.post(&worker.node, splitters).await;
    Ok(())
}

/// A sample, and what it cost so far.
#[derive(Default)]
pub(crate) struct Drawn {
    pub sample: Sample,
    pub cost: SampleCost,
}

/// Looks at all places.
pub(crate) async fn draw(worker: &Worker, places: &Places) -> Result<Drawn, Failure> {
    let (inputs, bytes) = (&places.inputs, places.contents.record_bytes());
    let total = inputs.records.unwrap_or(0);
    let each = (BLOCK_BYTES as usize / bytes).max(1);
    let samples = (places.count as u64).min(total);
    // Room for a run of records wherever it lies in its disk blocks.
    let room = (each * bytes).next_multiple_of(BLOCK_BYTES as usize) + 2 * BLOCK_BYTES as usize;
    let depth = SAMPLES_IN_FLIGHT.min(samples as usize);
    let mut idle = places
        .contents
        .buffers(&worker.node, depth, room)
        .map_err(|cause| crate::error::no_memory(depth * room, &cause))?;
    let mut files = Files::new(inputs);
    let mut in_flight: VecDeque<InFlight> = VecDeque::new();
    let mut drawn = Drawn::default();
    for number in 0..samples {
        let (from, to) = (number * total / samples, (number + 1) * total / samples);
        let place = from + worker.node.random() % (to - from);
        let buffer = match idle.pop() {
            Some(buffer) => buffer,
            None => {
                let oldest = in_flight.pop_front().expect("every buffer is in flight");
                take(worker, places, oldest, &mut drawn).await?
            }
        };
        let unit = inputs.unit_at(place, each);
        let file = files.of(&worker.node, unit.input).await?;
        in_flight.push_back(InFlight::submit(&worker.node, file, unit, bytes, buffer));
    }
    for oldest in in_flight {
        take(worker, places, oldest, &mut drawn).await?;
    }
    Ok(drawn)
}

/// Adds what was read to the sample, and gives the buffer back.
async fn take(
    worker: &Worker,
    places: &Places,
    read: InFlight,
    drawn: &mut Drawn,
) -> Result<node::Buffer, Failure> {
    let block = read
        .wait(&worker.node, places.contents.record_bytes())
        .await?;
    places
        .contents
        .sample(&block, block.records, &mut drawn.sample);
    drawn.cost.places += 1;
    drawn.cost.bytes += block.buffer.len() as u64;
    worker.did(block.buffer.len());
    Ok(block.buffer)
}
