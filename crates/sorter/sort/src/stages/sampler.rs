//! Draws splitters from a sample of seekable inputs.
//!
//! The sample is stratified: one disk block at a random place in each of equal parts of the input.
//! On random input every record of a block counts; on sorted input the parts divide evenly. The
//! sampler runs beside the readers; the distributors of their first blocks wait for it. If keys are
//! taken for uniform, nothing is read, as in NOW-Sort and psort ([`SplitterChoice::Even`]).

use crate::plan::SAMPLES_IN_FLIGHT;
use std::sync::Arc;

use node::{Filled, Posted};
use pipeline::{Failure, Window, Worker};

use crate::files::input::{Files, Inputs};
use crate::job::SplitterChoice;
use crate::records::block::BLOCK_BYTES;
use crate::records::contents::Contents;
use crate::records::framing::Framing;
use crate::records::sample::Sample;
use crate::records::size::{middles, portion};
use crate::records::splitters::Splitters;
use crate::report::SampleCost;
use crate::stages::Tally;
use crate::stages::unit_read::{Arrived, InFlight};

#[derive(Clone)]
pub(crate) struct Places {
    pub inputs: Arc<Inputs>,
    pub contents: Arc<dyn Contents>,
    /// Disk blocks to read.
    pub count: usize,
    pub splitters: SplitterChoice,
}

#[derive(Clone)]
pub(crate) struct Sampler {
    pub places: Places,
    pub buckets: usize,
    pub splitters: Posted<Splitters>,
    /// Records the cost of the sample.
    pub tally: Tally,
}

pub(crate) async fn sample(worker: &Worker, sampler: &Sampler) -> Result<(), Failure> {
    let begin = worker.node.now();
    let drawn = if sampler.buckets > 1 {
        draw(worker, &sampler.places).await?
    } else {
        Drawn::none(sampler.places.contents.framing())
    };
    let Drawn { sample, mut cost } = drawn;
    let splitters = if sample.is_empty() {
        Splitters::even(1)
    } else {
        sampler.places.contents.splitters(&sample, sampler.buckets)
    };
    cost.seconds = worker.node.seconds(worker.node.now().since(begin));
    sampler.tally.sampled(cost);
    sampler.splitters.post(&worker.node, splitters).await;
    Ok(())
}

pub(crate) struct Drawn {
    pub sample: Sample,
    pub cost: SampleCost,
}

impl Drawn {
    /// Nothing yet. Splitters need the fronts of lines only.
    pub(crate) fn none(framing: Framing) -> Drawn {
        Drawn {
            sample: Sample::of_fronts(framing.longest_sampled()),
            cost: SampleCost::default(),
        }
    }
}

pub(crate) async fn draw(worker: &Worker, places: &Places) -> Result<Drawn, Failure> {
    let (inputs, framing) = (&places.inputs, places.contents.framing());
    let total = inputs.bytes.unwrap_or(0);
    let each = framing.sampled_place();
    let samples = (places.count as u64).min(framing.most_in(total));
    if places.splitters == SplitterChoice::Even {
        return Ok(even(places, samples * framing.most_in(each)));
    }
    // A stretch of records may begin anywhere in a disk block, and lines are looked at ahead.
    let room = (each.next_multiple_of(BLOCK_BYTES) + 3 * BLOCK_BYTES) as usize;
    let most = inputs.reads_of(worker).clamp(1, SAMPLES_IN_FLIGHT);
    let depth = most.min(samples as usize);
    let mut idle = places
        .contents
        .buffers(&worker.node, depth, room, Filled::Often)
        .map_err(|cause| crate::error::no_memory(depth * room, &cause))?;
    let mut files = Files::new(inputs);
    let mut reads = Window::new(depth);
    let mut drawn = Drawn::none(framing);
    for number in inputs.parts_in_turn(samples) {
        let [from, to] = [number, number + 1].map(|part| portion(total, part, samples));
        let place = from + worker.node.random() % (to - from);
        let buffer = match idle.pop() {
            Some(buffer) => buffer,
            None => {
                let oldest = reads.pop_oldest().expect("every buffer is in flight");
                take(worker, places, oldest, &mut drawn).await?
            }
        };
        let unit = inputs.place_at(place, each as usize);
        let file = files.of(&worker.node, unit.input).await?;
        let read = InFlight::submit(&worker.node, file, unit, buffer);
        reads.push(read);
    }
    while let Some(oldest) = reads.pop_oldest() {
        take(worker, places, oldest, &mut drawn).await?;
    }
    Ok(drawn)
}

/// The sample if keys were random: as many records, evenly spaced.
fn even(places: &Places, records: u64) -> Drawn {
    Drawn {
        sample: places
            .contents
            .records_at(&mut middles(0..u64::MAX, records)),
        cost: SampleCost::default(),
    }
}

/// Adds the records of a read to the sample, and returns its buffer.
async fn take(
    worker: &Worker,
    places: &Places,
    read: InFlight,
    drawn: &mut Drawn,
) -> Result<node::Buffer, Failure> {
    let framing = places.contents.framing();
    let Arrived { block, rest } = read.wait(&worker.node, framing).await?;
    let most = framing.most_sampled();
    places.contents.sample(&block, most, &mut drawn.sample);
    if let Some(rest) = rest {
        let mut front = rest.front(&block).to_vec();
        front.extend(framing.records().delimiter());
        // A length that was cut says nothing.
        if framing.records().is_front(&front) {
            drawn.sample.push_line(&front, rest.position(), framing);
        }
    }
    drawn.cost.places += 1;
    drawn.cost.bytes += block.buffer.len() as u64;
    worker.did(block.buffer.len());
    Ok(block.buffer)
}
