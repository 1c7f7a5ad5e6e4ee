//! The parts of the records that ranks write: alike, as they are given, or in proportion to the rates of
//! their disks.
//!
//! ```text
//! each rank   writes a little to each disk of its output and its spill files  > bytes a second
//! the root    cuts the keys into many steps, and gives each range as many as its weight says
//! ```

use std::path::{Path, PathBuf};

use node::{Buffer, DiskError, DiskTicket, Filled, Node, Open};
use pipeline::{Failure, Window};

use crate::error::{SortError, no_memory};
use crate::files::temporary::Temporary;
use crate::files::text_file::PRIVATE;
use crate::job::{IoChoice, Job, Shares};
use crate::records::block::BLOCK_BYTES;
use crate::records::sample::Sample;
use crate::records::size::portion;

/// Steps of a range of mean weight: shares are exact to one of them.
pub(crate) const STEPS: usize = 64;

/// Requests that are written to each directory for its rate.
const REQUESTS: usize = 8;

/// All of them are this part of the records of a rank, but no more than a disk needs to reach its rate.
const MEASURED_SHARE: u64 = 16;
const LEAST_REQUEST: u64 = 64 << 10;
const MOST_REQUEST: u64 = 4 << 20;

/// Requests in flight: a disk that serves several at once is not full with one.
const DEPTH: usize = 2;

/// The weight of this rank's range among all; ranks have about `even` bytes each.
///
/// # Errors
/// When the list of shares has another length than the job has ranks, or a disk refuses.
pub(crate) async fn weight(
    node: &Node,
    job: &Job,
    (directories, even): (&[PathBuf], u64),
) -> Result<u64, Failure> {
    match &job.shares {
        Shares::Even => Ok(1),
        Shares::Given(all) => {
            let (given, ranks) = (all.len(), node.nodes());
            let own = all.get(node.rank().0 as usize).copied();
            let own = own.filter(|_| given == ranks as usize);
            Ok(own.ok_or(SortError::Shares { given, ranks })?.into())
        }
        Shares::Measured => {
            let request = even / MEASURED_SHARE / REQUESTS as u64;
            let limit = job.temporary_limit.unwrap_or(u64::MAX) / REQUESTS as u64;
            let request = request.clamp(LEAST_REQUEST, MOST_REQUEST).min(limit.max(1));
            let trial = Trial {
                node,
                job,
                bytes: request.next_multiple_of(BLOCK_BYTES) as usize,
            };
            let (mut all, mut devices) = (0, Vec::new());
            for directory in directories {
                let found = node.metadata(directory).await.ok();
                let device = found.map(|found| found.device);
                if device.is_none_or(|device| !devices.contains(&device)) {
                    devices.extend(device);
                    all += trial.rate(directory).await?;
                }
            }
            Ok(all.max(1))
        }
    }
}

/// Writes that tell the rate of a disk.
struct Trial<'a> {
    node: &'a Node,
    job: &'a Job,
    /// Bytes of each.
    bytes: usize,
}

impl Trial<'_> {
    /// Bytes a second that a directory's disk writes.
    async fn rate(&self, directory: &Path) -> Result<u64, Failure> {
        let (node, contents) = (self.node, &self.job.contents);
        let idle = contents.buffers(node, DEPTH, self.bytes, Filled::Once);
        let mut idle = idle.map_err(|cause| no_memory(DEPTH * self.bytes, &cause))?;
        for buffer in idle.iter_mut().filter(|buffer| !buffer.is_counted()) {
            // A file system may compress zeros.
            for word in buffer.bytes_mut().chunks_exact_mut(8) {
                word.copy_from_slice(&node.random().to_le_bytes());
            }
        }
        let how = Open::Create {
            direct: self.job.resources.io != IoChoice::Buffered,
            mode: PRIVATE,
        };
        let made = Temporary::create(node, directory, how).await?;
        let begin = node.now();
        let written = self.write(&made, &mut idle).await;
        let seconds = node.seconds(node.now().since(begin));
        made.remove(node).await;
        written?;
        Ok(((REQUESTS * self.bytes) as f64 / seconds.max(1e-9)) as u64)
    }

    /// Writes a file, and waits until it is on the disk.
    async fn write(&self, made: &Temporary, idle: &mut Vec<Buffer>) -> Result<(), DiskError> {
        let mut writes = Window::new(DEPTH);
        for number in 0..REQUESTS {
            let buffer = match idle.pop() {
                Some(buffer) => buffer,
                None => self.finish(&mut writes).await?.expect("all are in flight"),
            };
            let offset = (number * self.bytes) as u64;
            writes.push(made.file.write(self.node, offset, buffer, 0..self.bytes));
        }
        while self.finish(&mut writes).await?.is_some() {}
        made.file.sync(self.node).await
    }

    async fn finish(&self, writes: &mut Window<DiskTicket>) -> Result<Option<Buffer>, DiskError> {
        let Some(oldest) = writes.pop_oldest() else {
            return Ok(None);
        };
        let (buffer, result) = oldest.wait(self.node).await;
        result.map(|_| Some(buffer))
    }
}

/// Of splitters between many even steps, those between ranges with these weights.
pub(crate) fn weighted(steps: &Sample, weights: &[u64]) -> Sample {
    let all: u64 = weights.iter().sum();
    let mut chosen = Sample::default();
    let (mut below, mut last) = (0, 0);
    for weight in &weights[..weights.len().saturating_sub(1)] {
        below += weight;
        // A range has a step at least, while there are some.
        let step = portion(steps.len() as u64 + 1, below, all) as usize;
        let step = step.max(last + 1);
        if step <= steps.len() {
            last = step;
            let element = steps.element(step - 1);
            chosen.push(element.record, element.position);
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_have_as_many_steps_as_their_weights_say() {
        let mut steps = Sample::default();
        (1..=15_u8).for_each(|step| steps.push(&[step], 0));
        let chosen = |weights: &[u64]| {
            let chosen = weighted(&steps, weights);
            let records = chosen.elements().map(|element| element.record[0]);
            records.collect::<Vec<u8>>()
        };
        assert_eq!(chosen(&[1, 1]), [8]);
        assert_eq!(chosen(&[1, 3]), [4]);
        assert_eq!(chosen(&[3, 1]), [12]);
        assert_eq!(chosen(&[5, 2, 1]), [10, 14]);
        assert_eq!(chosen(&[1_000, 1]), [15], "each has a step");
        assert_eq!(chosen(&[1, 1_000]), [1]);
        assert_eq!(chosen(&[1, 1, 1_000]), [1, 2]);
        assert_eq!(chosen(&[1_000, 1, 1]), [15], "no step is left for the last");
        assert!(weighted(&Sample::default(), &[1, 2]).is_empty());
    }
}
