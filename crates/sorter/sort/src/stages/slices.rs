//! Slices: a key range of all runs, which one merger takes while others take the next ones.
//!
//! ```text
//! run 0     |..  ....|.......  |...            what was read of each run, up to the border
//! run 1     |........|..       |..........
//! run 2     |  ......|  .......|....           cut at records of the longest run
//! slices    |.. 0 ...|... 1 ...|... 2 ....     one behind the other in the output
//! ```
//!
//! Ranges are cut at records of the runs themselves, so they are of about one size however keys are
//! distributed (multiway merging by splitters, as in the parallel merge of MCSTL and in NOW-Sort's
//! division of keys, section 6).

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::sync::Arc;

use node::Buffer;
use pipeline::{Failure, Worker};
use record::Comparison;

use crate::records::part::Part;
use crate::records::size::Size;
use crate::stages::sources::Sources;

/// A read of a run, as long as any of its records is not merged. The last owner asks for the next one.
struct Read {
    run: usize,
}

/// Records that are read, and are not merged yet.
struct Unmerged {
    part: Part,
    read: Arc<Read>,
}

/// Successive records of a run.
#[derive(Default)]
pub(super) struct SliceOfRun {
    number: usize,
    parts: VecDeque<Unmerged>,
    /// The read of the part that is merged now.
    merged: Option<Arc<Read>>,
}

/// Successive records of the output.
pub(crate) struct Slice {
    /// Records before it.
    pub first: Size,
    pub size: Size,
    /// Without those that have no record in it; in their order, which breaks ties.
    pub(super) runs: Vec<SliceOfRun>,
    /// The unit that it goes to. Those that are longer take further ones.
    pub unit: Buffer,
}

/// A place between two records of the sorted order: behind a record of a run.
pub(super) struct Border<'a> {
    pub order: &'a Comparison,
    pub record: &'a [u8],
    pub run: usize,
    /// Bytes of the run's records that are read up to that one.
    pub bytes: u64,
}

impl SliceOfRun {
    pub(super) fn new(number: usize) -> SliceOfRun {
        SliceOfRun {
            number,
            ..SliceOfRun::default()
        }
    }

    /// Adds the parts of a read behind its records.
    pub(super) fn add(&mut self, parts: impl Iterator<Item = Part>) {
        let run = self.number;
        let read = Arc::new(Read { run });
        self.parts.extend(parts.map(|part| Unmerged {
            part,
            read: Arc::clone(&read),
        }));
    }

    /// Adds the records of a later part of the run.
    pub(super) fn append(&mut self, next: &mut SliceOfRun) {
        self.parts.append(&mut next.parts);
    }

    pub(super) fn number(&self) -> usize {
        self.number
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Whether all of its records are of one read.
    pub(super) fn is_of_one_read(&self) -> bool {
        let ends = self.parts.front().zip(self.parts.back());
        ends.is_none_or(|(first, last)| Arc::ptr_eq(&first.read, &last.read))
    }

    fn size(&self) -> Size {
        self.parts.iter().map(|unmerged| unmerged.part.size()).sum()
    }

    /// The last record.
    pub(super) fn last(&self) -> Option<&[u8]> {
        self.record_at(self.size().bytes.checked_sub(1)?)
            .map(|(_, record)| record)
    }

    /// The record that has byte `at` of all, and where it ends.
    fn record_at(&self, at: u64) -> Option<(u64, &[u8])> {
        let mut before = 0;
        self.parts.iter().find_map(|Unmerged { part, .. }| {
            let begin = before;
            before += part.size().bytes;
            (at < before).then(|| {
                let place = part.place_of((at - begin) as usize);
                (begin + place.end as u64, &part.bytes()[place])
            })
        })
    }

    /// The record in the middle of its bytes, or the first one if that is the last, and where it ends;
    /// `None` if it has no two.
    fn middle(&self) -> Option<(u64, &[u8])> {
        let all = self.size().bytes;
        let is_last = |(end, _): &(u64, &[u8])| *end == all;
        let middle = self.record_at(all / 2)?;
        if is_last(&middle) {
            self.record_at(0).filter(|first| !is_last(first))
        } else {
            Some(middle)
        }
    }

    /// Takes the records before a border.
    pub(super) fn take_before(&mut self, border: &Border<'_>) -> SliceOfRun {
        let run = self.number;
        if run == border.run {
            return self.take(border.bytes);
        }
        // Of equal records those of earlier runs come first.
        let is_before = |record: &[u8]| match border.order.compare(record, border.record) {
            Ordering::Equal => run < border.run,
            order => order.is_lt(),
        };
        let mut taken = SliceOfRun::new(run);
        while let Some(next) = self.parts.get(1) {
            let place = next.part.place_of(0);
            if !is_before(&next.part.bytes()[place]) {
                break;
            }
            taken.parts.extend(self.parts.pop_front());
        }
        taken
            .parts
            .extend(self.take_part(|part| part.take_before(is_before)));
        taken
    }

    /// Takes the records of so many bytes.
    fn take(&mut self, mut bytes: u64) -> SliceOfRun {
        let mut taken = SliceOfRun::new(self.number);
        while let Some(first) = self.parts.front() {
            let all = first.part.size().bytes;
            if all > bytes {
                taken
                    .parts
                    .extend(self.take_part(|part| part.take(bytes as usize)));
                break;
            }
            bytes -= all;
            taken.parts.extend(self.parts.pop_front());
        }
        taken
    }

    /// Takes some records of the first part. A part without records would keep its chunk from going back.
    fn take_part(&mut self, take: impl FnOnce(&mut Part) -> Option<Part>) -> Option<Unmerged> {
        let Unmerged { part, read } = self.parts.front_mut()?;
        let read = Arc::clone(read);
        let taken = take(part);
        if part.size().bytes == 0 {
            self.parts.pop_front();
        }
        taken.map(|part| Unmerged { part, read })
    }

    /// Gives the part that was merged back, and returns the next one.
    pub(super) async fn next(
        &mut self,
        worker: &Worker,
        sources: &Sources,
        merged: Option<Part>,
    ) -> Result<Option<Part>, Failure> {
        if let Some(chunk) = merged.and_then(Part::into_chunk) {
            sources.memory.give_back(&worker.node, chunk.buffer).await;
        }
        // All buffers of a read are back before its last owner asks for the next one.
        if let Some(read) = self.merged.take().and_then(Arc::into_inner) {
            sources.wants.add(worker, read.run).await?;
        }
        let next = self.parts.pop_front();
        Ok(next.map(|Unmerged { part, read }| {
            self.merged = Some(read);
            part
        }))
    }
}

pub(super) fn size_of(runs: &[SliceOfRun]) -> Size {
    runs.iter().map(SliceOfRun::size).sum()
}

/// Divides records into key ranges of at most about `most` bytes, or of one record, in their order.
pub(super) fn divide(runs: Vec<SliceOfRun>, order: &Comparison, most: u64) -> Vec<Vec<SliceOfRun>> {
    let (mut divided, mut left) = (Vec::new(), vec![runs]);
    while let Some(mut runs) = left.pop() {
        runs.retain(|run| !run.is_empty());
        let all = size_of(&runs).bytes;
        let front = if all > most {
            front_of(&mut runs, order)
        } else {
            None
        };
        if let Some(front) = front {
            left.push(runs);
            left.push(front);
        } else if all > 0 {
            divided.push(runs);
        }
    }
    divided
}

/// Takes about the first half of the records; `None` if no run has two.
fn front_of(runs: &mut [SliceOfRun], order: &Comparison) -> Option<Vec<SliceOfRun>> {
    let longest = runs.iter().max_by_key(|run| run.size().bytes)?;
    let (bytes, record) = longest.middle()?;
    let (record, run) = (record.to_vec(), longest.number);
    let border = Border {
        order,
        record: &record,
        run,
        bytes,
    };
    Some(
        runs.iter_mut()
            .map(|run| run.take_before(&border))
            .collect(),
    )
}

#[cfg(test)]
mod tests;
