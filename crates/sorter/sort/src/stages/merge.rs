//! A merge under way: the next records of its runs, into buffers, checked there.
//!
//! ```text
//! reads of runs, or the parts of a slice > loser tree > a buffer > order, count, checksum
//! ```

use node::{Buffer, Work};
use pipeline::{Failure, Worker};

use crate::error::SortError;
use crate::records::contents::{Edges, Merging, RecordsAt, Room};
use crate::records::part::Part;
use crate::records::size::{Size, Sum};
use crate::stages::Tally;
use crate::stages::carry::Carry;
use crate::stages::slices::SliceOfRun;
use crate::stages::sources::Sources;

/// The result of merging into a buffer.
pub(super) struct Filling {
    pub(super) size: Size,
    /// Bytes of the next record, for which the buffer has no room.
    pub(super) long: Option<usize>,
}

pub(super) struct Merge<'a> {
    pub(super) worker: &'a Worker,
    sources: &'a Sources,
    merging: Merging,
    supply: Supply,
    /// Records before its first one in the output.
    before: u64,
    pub(super) done: Size,
    dropped: Sum,
    pub(super) edges: Edges,
    pub(super) sum: u128,
}

/// Where the next records of a run come from.
enum Supply {
    /// From its reader. By run: whether its current chunk is the last one of its read.
    Reader(Vec<bool>),
    Slice(Vec<SliceOfRun>),
}

/// The part of a unit that is filled.
pub(super) struct UnitRoom {
    pub(super) start: usize,
    pub(super) limit: usize,
    /// Bytes of all records that are wanted in the end.
    pub(super) until: u64,
}

impl<'a> Merge<'a> {
    /// Asks for the first reads of each run, and waits for the first chunk of each.
    pub(super) async fn begin(
        worker: &'a Worker,
        sources: &'a Sources,
    ) -> Result<Merge<'a>, Failure> {
        sources.ask(worker).await?;
        let supply = Supply::Reader(vec![false; sources.runs]);
        let merging = Merging::new(sources.runs, sources.most);
        let mut merge = Merge::new(worker, sources, (merging, supply));
        for run in 0..sources.runs {
            merge.next_chunk(run).await?;
        }
        Ok(merge)
    }

    /// A merge of these runs of a slice, before which `before` records come.
    pub(super) async fn of_slice(
        worker: &'a Worker,
        sources: &'a Sources,
        (runs, before): (Vec<SliceOfRun>, u64),
    ) -> Result<Merge<'a>, Failure> {
        let count = runs.len();
        let supply = Supply::Slice(runs);
        let merging = Merging::new(count, u64::MAX);
        let mut merge = Merge::new(worker, sources, (merging, supply));
        merge.before = before;
        for run in 0..count {
            merge.next_chunk(run).await?;
        }
        Ok(merge)
    }

    fn new(
        worker: &'a Worker,
        sources: &'a Sources,
        (merging, supply): (Merging, Supply),
    ) -> Merge<'a> {
        Merge {
            worker,
            sources,
            merging,
            supply,
            before: 0,
            done: Size::default(),
            dropped: Sum::default(),
            edges: Edges::default(),
            sum: 0,
        }
    }

    /// Whether no run has a record that is still wanted.
    pub(super) fn is_over(&self) -> bool {
        self.merging.is_over()
    }

    /// Fills a unit of the output from `start` on: the carried bytes, then records, until it is full, the
    /// records so far have `until` bytes, or there is none left. The bytes beyond the unit are carried.
    /// Returns the end.
    pub(super) async fn fill_unit(
        &mut self,
        buffer: &mut Buffer,
        carry: &mut Carry,
        unit: UnitRoom,
    ) -> Result<usize, Failure> {
        let UnitRoom {
            start,
            limit,
            until,
        } = unit;
        let mut at = carry.put(buffer, start, limit);
        while at < limit && self.came_bytes() < until {
            let room = (until - self.came_bytes()).min((limit - at) as u64);
            let room = Room::Covering(room as usize);
            let place = RecordsAt {
                buffer: &mut *buffer,
                at,
            };
            let filled = self.fill(place, room).await?;
            let end = at + filled.size.bytes as usize;
            at = end.min(limit);
            if end > limit {
                carry.keep(buffer, limit, end);
            }
            let Some(mut bytes) = filled.long else { break };
            // Only a buffer of its own has room for it.
            while carry.is_empty() && bytes > 0 {
                bytes = self.carry_long(carry, bytes).await?;
            }
            at = carry.put(buffer, at, limit);
        }
        Ok(at)
    }

    /// Carries the next record, which has `bytes` bytes. Returns the length of the one behind it if it
    /// was dropped and that is longer still.
    async fn carry_long(&mut self, carry: &mut Carry, bytes: usize) -> Result<usize, Failure> {
        let mut own = self.sources.memory.buffer(&self.worker.node, bytes)?;
        let place = RecordsAt {
            buffer: &mut own,
            at: 0,
        };
        let filled = self.fill(place, Room::Covering(1)).await?;
        carry.keep(&own, 0, filled.size.bytes as usize);
        Ok(filled.long.unwrap_or(0))
    }

    /// Merges the next records into a buffer until its room is full, or there is none left, or the
    /// next one is longer than the buffer, and checks them there.
    pub(super) async fn fill(
        &mut self,
        out: RecordsAt<'_>,
        room: Room,
    ) -> Result<Filling, Failure> {
        let contents = &self.sources.contents;
        let RecordsAt { buffer, at } = out;
        let mut size = Size::default();
        let long = loop {
            let done = size.bytes as usize;
            let place = RecordsAt {
                buffer: &mut *buffer,
                at: at + done,
            };
            let merged = contents.merge(&mut self.merging, room.behind(done), place);
            size += merged.size;
            self.dropped += merged.dropped;
            match merged.dry {
                Some(run) => self.next_chunk(run).await?,
                None => break merged.long,
            }
        };
        let before = self.before + self.done.records;
        let checked = contents.check(RecordsAt { buffer, at }, size, &mut self.edges);
        let disorder = |number| SortError::Disorder {
            record: before + number as u64,
        };
        self.sum += u128::from(checked.map_err(disorder)?);
        self.done += size;
        let Size { records, bytes } = size;
        let node = &self.worker.node;
        node.work(Work::Merge {
            records,
            sources: self.merging.sources() as u64,
        });
        node.work(Work::Copy { bytes });
        node.work(Work::Checksum { bytes });
        Ok(Filling { size, long })
    }

    /// Bytes of the records so far, with those that were dropped.
    pub(super) fn came_bytes(&self) -> u64 {
        (self.done + self.dropped.size).bytes
    }

    /// Continues with the next chunk of a run, and gives the merged one back.
    async fn next_chunk(&mut self, run: usize) -> Result<(), Failure> {
        let used = self.merging.take(run);
        let next = match &mut self.supply {
            Supply::Slice(runs) => runs[run].next(self.worker, self.sources, used).await?,
            Supply::Reader(ends_read) => {
                let Sources {
                    arrivals,
                    wants,
                    memory,
                    ..
                } = self.sources;
                let node = &self.worker.node;
                // The next read needs this buffer: the merged chunk goes back before it is asked for.
                if let Some(used) = used {
                    let used = used.into_chunk().expect("it was not divided");
                    memory.give_back(node, used.buffer).await;
                    if ends_read[run] {
                        wants.add(self.worker, run).await?;
                    }
                }
                let arrived = self.worker.starve(arrivals.next(node, run)).await?;
                arrived.map(|arrived| {
                    ends_read[run] = arrived.ends_read;
                    Part::whole(arrived.chunk)
                })
            }
        };
        if let Some(next) = next {
            self.merging.put(run, next);
        }
        Ok(())
    }

    /// Notes the records that are not merged.
    pub(super) fn account(&self, tally: &Tally) {
        tally.add_repeated(self.dropped);
        let top = self.sources.most;
        if top < u64::MAX {
            let merged = self.done.records + self.dropped.size.records;
            tally.add_unread(self.sources.size.records - merged, top);
        }
    }

    /// Ends the run readers.
    pub(super) async fn end(&self) {
        self.sources.wants.finish(&self.worker.node).await;
    }
}
