//! Phase two: the partitions of a range are sorted and written, in groups.
//!
//! ```text
//! partitions   | 0  1  2 | 3  4 | 5  6  7 | ..
//! each group   sort > write > durable > noted > its spill space goes back
//! ```
//!
//! Without `--resume` all partitions are one group, and nothing is noted. A disk block in which two
//! groups meet is noted with the first group, and written with the second.

use pipeline::{Failure, StageReport};

use crate::epochs::checkpoint::{Checkpoint, WrittenGroup};
use crate::epochs::range::KeyRange;
use crate::files::spill::Spill;
use crate::names::Phase;
use crate::passes::distribution::{DistributionSort, Group, GroupPosition};
use crate::passes::merge::merge;
use crate::passes::report::Outcome;
use crate::passes::wiring::{Pools, RunContext};
use crate::records::size::{Size, Sum};
use crate::records::span::Span;
use crate::runs::partition::{Partition, SpilledRun};
use crate::stages::{Seams, Settled, Tally, unevenness};

/// Number of groups in an output, about: a kill costs a rank at most this part of phase two.
const GROUPS: u64 = 16;

/// A group is at least this part of memory, so that sorters are busy.
const MEMORY_SHARE: u64 = 2;

pub(crate) struct Sorted {
    /// Records that came to the range.
    pub read: Sum,
    pub settled: Settled,
    pub spans: Vec<Span>,
    pub outcome: Outcome,
    /// Records of the largest partition over the mean.
    pub unevenness: f64,
}

impl KeyRange<'_> {
    /// Sorts the records of phase one into the output, behind those that it already holds.
    pub(crate) async fn write_output(
        &mut self,
        stages: &mut Vec<StageReport>,
    ) -> Result<Sorted, Failure> {
        let contents = &*self.run.job.contents;
        let (outcome, unevenness) = match self.run.plan.merging {
            Some(merging) => {
                let (did, outcome) = merge(&self.run, merging, self.spill.clone()).await?;
                *stages = did;
                (outcome, None)
            }
            None => self.sort_partitions(stages).await?,
        };
        let read = self.run.tally.records_in();
        let settled = self.run.tally.settle(contents)?;
        let mut spans = self.run.tally.spans();
        if let (true, Some(output)) = (contents.is_unique(), &self.run.output) {
            let header = contents.header().len() as u64;
            output.end_files(self.run.node, header, &mut spans).await;
        }
        Ok(Sorted {
            read,
            spans,
            outcome,
            unevenness: unevenness.unwrap_or(settled.unevenness()),
            settled,
        })
    }

    async fn sort_partitions(
        &mut self,
        stages: &mut Vec<StageReport>,
    ) -> Result<(Outcome, Option<f64>), Failure> {
        let partitions = match &self.notes {
            Some(notes) => notes.partitions(),
            None => std::mem::take(&mut self.partitions),
        };
        let spilled: usize = partitions.iter().map(Partition::spilled_chunks).sum();
        if self.notes.is_none() {
            let again = self.sort_all(partitions, stages).await?;
            return Ok((self.distribution().outcome(spilled, again), None));
        }
        let sizes: Vec<Size> = partitions.iter().map(Partition::size).collect();
        let again = self.sort_groups(partitions, &sizes, stages).await?;
        // Everything was spilled, even if no record came.
        let outcome = self.distribution().outcome(spilled.max(1), again);
        Ok((outcome, Some(unevenness_of(&sizes))))
    }

    fn distribution(&self) -> DistributionSort<'_> {
        DistributionSort {
            run: &self.run,
            spill: self.spill.clone(),
        }
    }

    /// The memory of phase one, or new memory.
    fn take_memory(&mut self) -> Result<Pools, Failure> {
        match self.memory.take() {
            Some(memory) => Ok(memory),
            None => self.run.pools(&self.run.pipeline()),
        }
    }

    /// Sorts all partitions as one group. Returns how often records were divided again.
    async fn sort_all(
        &mut self,
        partitions: Vec<Partition>,
        stages: &mut Vec<StageReport>,
    ) -> Result<u32, Failure> {
        let memory = self.take_memory()?;
        let run = &self.run;
        let seams = Seams::new(run.node, memory.seams.clone());
        let group = Group {
            partitions,
            place: None,
        };
        let again = self
            .distribution()
            .sort_group(group, &memory, &seams, stages)
            .await?;
        let contents = &*run.job.contents;
        run.output()
            .complete(run.node, contents, seams.left())
            .await?;
        Ok(again)
    }

    /// Sorts the partitions that the output does not hold yet, in groups, and notes each group.
    /// Returns how often records were divided again.
    async fn sort_groups(
        &mut self,
        mut partitions: Vec<Partition>,
        sizes: &[Size],
        stages: &mut Vec<StageReport>,
    ) -> Result<u32, Failure> {
        let memory = match self.run.output {
            Some(_) => Some(self.take_memory()?),
            None => None,
        };
        let run = &self.run;
        let notes = self.notes.as_mut().expect("a resumable sort");
        run.tally.add_in(notes.came());
        for written in &notes.written {
            run.tally.add_repeated(written.dropped);
            if let Some(span) = written.span.clone() {
                run.tally.add_out(span, &*run.job.contents)?;
            }
        }
        let Some(memory) = memory else {
            return Ok(0);
        };
        let seams = Seams::new(run.node, memory.seams.clone());
        let left = notes.written.last().map(|last| last.left.clone());
        let seams = seams.with(run.node, &left.unwrap_or_default()).await?;
        let mut done = notes.partitions_written();
        let left: Size = sizes[done..].iter().sum();
        run.job
            .control
            .enter(Phase::SortPartitions.name(), left.bytes);
        let all = notes.came().size;
        let least = GroupSize::new(run, all.bytes);
        let mut again = 0;
        while done < sizes.len() {
            let end = least.end(sizes, done);
            let before = sizes[..done].iter().sum();
            let group = Group {
                partitions: partitions[done..end]
                    .iter_mut()
                    .map(std::mem::take)
                    .collect(),
                place: Some(GroupPosition { before, all }),
            };
            let mut saved = Saved {
                run,
                notes,
                spill: &self.spill,
                memory: &memory,
                seams: &seams,
            };
            let more = saved.write(group, end, stages).await?;
            again = again.max(more);
            done = end;
        }
        let contents = &*run.job.contents;
        run.output()
            .complete(run.node, contents, seams.left())
            .await?;
        Ok(again)
    }
}

struct Saved<'r, 'a> {
    run: &'r RunContext<'a>,
    notes: &'r mut Checkpoint,
    spill: &'r Spill,
    memory: &'r Pools,
    seams: &'r Seams,
}

impl Saved<'_, '_> {
    /// Sorts and writes a group that ends before partition `end`, makes it durable, notes it, and
    /// gives its spill space back. Returns how often it was divided again.
    async fn write(
        &mut self,
        group: Group,
        end: usize,
        stages: &mut Vec<StageReport>,
    ) -> Result<u32, Failure> {
        let (node, output) = (self.run.node, self.run.output());
        let came = group.place.as_ref().map_or(0, |place| place.before.bytes);
        let runs = group.partitions.iter().flat_map(|part| part.runs.clone());
        let spilled: Vec<SpilledRun> = runs.collect();
        let tally = Tally::default();
        let run = RunContext {
            tally: tally.clone(),
            placed_before: self.notes.placed_before(came),
            ..self.run.clone()
        };
        let sorting = DistributionSort {
            run: &run,
            spill: self.spill.clone(),
        };
        let again = sorting.sort_group(group, self.memory, self.seams, stages);
        let again = again.await?;
        output
            .file(0)
            .sync(node)
            .await
            .map_err(|error| output.named(error))?;
        let span = tally.written().into_iter().next();
        let written = WrittenGroup {
            partitions: end,
            span,
            dropped: tally.repeated(),
            left: self.seams.left(),
        };
        self.run.tally.add(&tally, &*self.run.job.contents)?;
        self.notes.add_written(node, written).await?;
        for extents in spilled {
            let extent = extents.extent(self.run.plan.chunk_bytes);
            self.spill.give_back(node, extent).await;
        }
        Ok(again)
    }
}

struct GroupSize {
    bytes: u64,
}

impl GroupSize {
    fn new(run: &RunContext<'_>, all: u64) -> GroupSize {
        let bytes = match run.job.tuning.steps {
            Some(steps) => all / u64::from(steps),
            None => (all / GROUPS).max(run.job.resources.memory_bytes / MEMORY_SHARE),
        };
        GroupSize {
            bytes: bytes.max(1),
        }
    }

    /// The end of the group that begins with partition `begin`.
    fn end(&self, sizes: &[Size], begin: usize) -> usize {
        let mut all = 0;
        for (number, size) in sizes.iter().enumerate().skip(begin) {
            all += size.bytes;
            if all >= self.bytes {
                return number + 1;
            }
        }
        sizes.len()
    }
}

/// Records of the largest partition over the mean of those with records.
fn unevenness_of(sizes: &[Size]) -> f64 {
    let records = || sizes.iter().map(|size| size.records);
    let filled = records().filter(|&records| records > 0).count() as u64;
    unevenness(records().max().unwrap_or(0), filled, records().sum())
}
