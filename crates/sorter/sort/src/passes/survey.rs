//! A look at the lengths of lines, before the plan is made.
//!
//! The lines that begin in some places of the input give the mean: places are evenly spread, and a
//! line begins in a place as often as lines begin anywhere. The longest one seen, and the memory,
//! give the limit for this run.

use std::sync::Arc;

use node::{Filled, Node};
use pipeline::Failure;
use record::Scanner;

use crate::error::{SortError, no_memory};
use crate::files::input::index::Index;
use crate::files::input::{Files, Inputs};
use crate::job::{Job, LongestLine};
use crate::records::block::BLOCK_BYTES;
use crate::records::contents::Contents;
use crate::records::lengths::{LengthCounter, Lengths};
use crate::records::size::portion;
use crate::stages::{Arrived, InFlight};

/// Places looked at. The mean of lines that differ by their own length comes out within a tenth.
const PLACES: u64 = 64;

/// A line of an input that was looked at may be this many times as long as the longest one seen.
const TIMES_SEEN: usize = 4;

/// Buffers have room for a longest line: it may be this part of memory, if no line seen is longer.
const MEMORY_SHARE: u64 = 1024;

/// Places are this far apart at least.
const STEP_BYTES: u64 = 2 * BLOCK_BYTES;

/// Memory for a place, and the disk blocks around it.
const ROOM_BYTES: usize = 4 * BLOCK_BYTES as usize;

/// As [`MEMORY_SHARE`] for a pipe, whose lines were not seen. A merge, which sorts it, has fewer buffers, and most of
/// their bytes are never touched. Where memory is small, or a few first records are to take little of it,
/// they would take too much.
const PIPE_MEMORY_SHARE: u64 = 64;
const SMALL_PIPE_MEMORY_SHARE: u64 = 256;
const SMALL_PIPE_MEMORY: u64 = 64 << 20;

/// Bytes of a read that measures lines, whole disk blocks.
const MEASURED_BYTES: usize = 1 << 20;

/// Limits from memory alone.
const SMALLEST_LIMIT: u64 = 4 << 10;
const LARGEST_LIMIT: u64 = 64 << 10;
const LARGEST_PIPE_LIMIT: u64 = 16 << 20;
const LARGEST_SMALL_PIPE_LIMIT: u64 = 1 << 20;

/// The lengths that the plan counts on.
pub(crate) async fn lengths(
    node: &Node,
    job: &Job,
    inputs: &Arc<Inputs>,
) -> Result<Lengths, Failure> {
    let framing = job.contents.framing();
    let memory = job.resources.memory_bytes;
    let least = match job.longest_line {
        LongestLine::Seen => 0,
        LongestLine::AtLeast(bytes) => bytes,
        LongestLine::Measured => return measure(node, job, inputs).await,
    };
    let Some(total) = inputs.bytes else {
        let longest = longest_of_pipe(memory, job.top).max(least);
        return Ok(Lengths::about(framing.mean(), longest));
    };
    if let Some(counted) = counted(inputs) {
        return Ok(counted);
    }
    let seen = look(node, job, inputs, total).await?;
    let mean = seen.mean();
    let likely = TIMES_SEEN * seen.longest.max(2 * mean);
    let longest = likely_longest(memory);
    Ok(Lengths::about(mean, longest.max(likely).max(least)))
}

/// The longest line of a pipe that a sort with that much memory takes, if none is asked for; `top` as in a
/// [`Job`].
#[must_use]
pub fn longest_of_pipe(memory_bytes: u64, top: Option<u64>) -> usize {
    let (share, largest) = if memory_bytes < SMALL_PIPE_MEMORY || top.is_some() {
        (SMALL_PIPE_MEMORY_SHARE, LARGEST_SMALL_PIPE_LIMIT)
    } else {
        (PIPE_MEMORY_SHARE, LARGEST_PIPE_LIMIT)
    };
    portion_of(memory_bytes, share, largest)
}

/// The longest line that buffers have room for where none that was seen is longer.
pub(crate) fn likely_longest(memory_bytes: u64) -> usize {
    portion_of(memory_bytes, MEMORY_SHARE, LARGEST_LIMIT)
}

/// The length of a line that may be one of so many parts of memory, and is at most `largest`.
fn portion_of(memory: u64, share: u64, largest: u64) -> usize {
    (memory / share).clamp(SMALLEST_LIMIT, largest) as usize
}

/// The job with a larger limit of memory, with which lines may be longer.
pub(crate) fn with_limit(job: &Job, memory_bytes: u64) -> Job {
    let mut larger = job.clone();
    larger.resources.memory_bytes = memory_bytes;
    let framing = job.contents.framing();
    let likely = likely_longest(memory_bytes);
    let is_seen = framing.beyond() < u64::MAX;
    if memory_bytes > job.resources.memory_bytes && likely > framing.longest() && !is_seen {
        let lengths = Lengths::about(framing.mean(), likely);
        larger.contents = with_lengths(&*job.contents, lengths).unwrap_or(larger.contents);
    }
    larger
}

/// The contents with these lengths. Without a line there is no mean, and theirs stays.
pub(crate) fn with_lengths(
    contents: &dyn Contents,
    mut lengths: Lengths,
) -> Option<Arc<dyn Contents>> {
    if lengths.mean == 0 {
        lengths.mean = contents.framing().mean();
    }
    contents.with_lengths(lengths)
}

/// The lengths of all records, which are read for that. Mistakes are found when they are read again.
///
/// # Errors
/// `BadRecord` if rows that were taken for lines hold newlines.
async fn measure(node: &Node, job: &Job, inputs: &Arc<Inputs>) -> Result<Lengths, Failure> {
    let framing = job.contents.framing().records();
    let buffers = node.buffers(1, MEASURED_BYTES, Filled::Often);
    let mut buffers = buffers.map_err(|cause| no_memory(MEASURED_BYTES, &cause))?;
    let mut buffer = buffers.pop().expect("one was asked for");
    let (mut all, mut bytes) = (LengthCounter::default(), 0);
    let as_lines = job.headed.as_ref().filter(|_| !framing.is_chained());
    for input in &inputs.files {
        let file = input.open_again(node).await?;
        let (skipped, _) = input.front();
        // Reads of files begin with a disk block.
        let mut aside = if file.is_sequential() {
            0
        } else {
            (skipped % BLOCK_BYTES) as usize
        };
        let (mut at, mut scanner) = (skipped - aside as u64, framing.scanner());
        let mut rows = as_lines.map(|headed| headed.framing().scanner());
        let (lines_before, mut rows_here) = (all.records, 0);
        loop {
            let (read, result) = file.read(node, at, MEASURED_BYTES, buffer).wait(node).await;
            result?;
            let fresh = &read.bytes()[aside.min(read.len())..read.len()];
            each_end(&mut scanner, fresh, |length| all.add(length));
            if let Some(rows) = &mut rows {
                each_end(rows, fresh, |_| rows_here += 1);
            }
            let ends = read.len() < MEASURED_BYTES;
            (at, bytes, aside) = (at + read.len() as u64, bytes + fresh.len() as u64, 0);
            buffer = read;
            if ends {
                break;
            }
        }
        if rows.is_some() && all.records - lines_before != rows_here {
            return Err(SortError::BadRecord {
                file: file.path().to_owned(),
                offset: skipped,
                what: "a row goes on over several lines".to_owned(),
            }
            .into());
        }
        if scanner.is_within() {
            all.add(scanner.seen() + 1);
        }
    }
    Ok(all.lengths(bytes))
}

/// Tells the length of each record that ends in these bytes.
fn each_end(scanner: &mut Scanner, mut bytes: &[u8], mut tell: impl FnMut(u64)) {
    loop {
        let seen = scanner.seen();
        let Ok(Some(end)) = scanner.end(bytes) else {
            return;
        };
        tell(seen + end as u64);
        bytes = &bytes[end..];
    }
}

/// The lengths of records that an index has counted.
fn counted(inputs: &Inputs) -> Option<Lengths> {
    // A rank reads a part of a file, but its index is of the whole.
    let each = inputs.indexes().map(|index| index.lengths);
    let all = each.reduce(|some, more| some + more)?;
    Some(all.lengths(inputs.indexes().map(Index::bytes).sum()))
}

/// The lines that begin in the places looked at.
#[derive(Default)]
struct Seen {
    lines: u64,
    bytes: u64,
    longest: usize,
}

impl Seen {
    /// 0 if there was no line.
    fn mean(&self) -> usize {
        match self.lines {
            0 => 0,
            // Lines that only begin in a place are counted, too: of empty ones more than bytes.
            lines => (self.bytes / lines).max(1) as usize,
        }
    }
}

async fn look(node: &Node, job: &Job, inputs: &Arc<Inputs>, total: u64) -> Result<Seen, Failure> {
    let (contents, mut seen) = (&*job.contents, Seen::default());
    let (framing, places) = (contents.framing(), (total.div_ceil(STEP_BYTES)).min(PLACES));
    let room = ROOM_BYTES;
    let buffers = contents.buffers(node, 1, room, Filled::Often);
    let mut buffers = buffers.map_err(|cause| no_memory(room, &cause))?;
    let mut buffer = buffers.pop().expect("one was asked for");
    let mut files = Files::new(inputs);
    for place in 0..places {
        let unit = inputs.place_at(portion(total, place, places), BLOCK_BYTES as usize);
        let file = files.of(node, unit.input).await?;
        let read = InFlight::submit(node, file, unit, buffer);
        let Arrived { mut block, rest } = read.wait(node, framing).await?;
        let delimiter = framing.records().delimiter().expect("lines");
        let lines = block.range();
        seen.bytes += unit.bytes as u64;
        for line in block.buffer.bytes()[lines].split(|&byte| byte == delimiter) {
            seen.longest = seen.longest.max(line.len() + 1);
        }
        contents.measure(&mut block)?;
        seen.lines += block.size.records;
        buffer = block.buffer;
        // A line that is longer than what was read begins here, too.
        seen.lines += u64::from(rest.is_some());
    }
    Ok(seen)
}
