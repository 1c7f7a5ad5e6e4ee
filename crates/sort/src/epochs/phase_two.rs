//! Phase two: the partitions of a range are sorted and written, group by group.
//!
//! ```text
//! partitions   | 0  1  2 | 3  4 | 5  6  7 | ..
//! each group   sort > write > durable > noted > its spill space goes back
//! ```
//!
//! Without `--resume` all partitions are one group, and nothing is noted. A disk block in which two
//! groups meet is noted with the first of them, and written with the second.

use pipeline::{Failure, StageReport};

use crate::epochs::checkpoint::{Checkpoint, Written};
use crate::epochs::range::Range;
use crate::files::spill::Spill;
use crate::passes::distribution::{DistributionSort, Group, Place};
use crate::passes::merge::merge;
use crate::passes::report::Outcome;
use crate::passes::wiring::{Pools, Run};
use crate::records::span::Span;
use crate::runs::partition::{Partition, Run as Extents};
use crate::stages::{Seams, Settled, Tally};

/// Groups of an output, about: a kill costs a rank at most such a part of phase two.
const GROUPS: u64 = 16;

/// But a group is at least so large a part of memory, which sorters fill.
const MEMORY_SHARE: u64 = 2;

/// A range that is written.
pub(crate) struct Sorted {
    pub settled: Settled,
    pub spans: Vec<Span>,
    pub outcome: Outcome,
    /// Records of the largest partition over the mean.
    pub unevenness: f64,
}

impl Range<'_> {
    /// Sorts the records of phase one into the output, behind those that are there.
    pub(crate) async fn phase_two(
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
        let settled = self.run.tally.settle(contents)?;
        Ok(Sorted {
            spans: self.run.tally.spans(),
            outcome,
            unevenness: unevenness.unwrap_or(settled.unevenness()),
            settled,
        })
    }

    async fn sort_partitions(
        &mut self,
        stages: &mut Vec<StageReport>,
    ) -> Result<(Outcome, Option<f64>), Failure> {
        let run = &self.run;
        let (node, contents) = (run.node, &*run.job.contents);
        let mut partitions = match &self.notes {
            Some(notes) => notes.partitions(),
            None => std::mem::take(&mut self.partitions),
        };
        let sorting = DistributionSort {
            run,
            spill: self.spill.clone(),
        };
        let mut spilled: usize = partitions.iter().map(Partition::spilled_chunks).sum();
        let sizes: Vec<u64> = partitions.iter().map(Partition::records).collect();
        let even = self.notes.as_ref().map(|_| unevenness(&sizes));
        if let Some(notes) = &self.notes {
            // All of it was, even if nothing came.
            spilled = spilled.max(1);
            let came = notes.came();
            run.tally.came_in(came.records, came.crc);
            for span in notes
                .written
                .iter()
                .filter_map(|written| written.span.clone())
            {
                run.tally.goes_out(span, contents)?;
            }
        }
        let Some(output) = &run.output else {
            return Ok((sorting.outcome(spilled, 0), even));
        };
        let memory = match self.memory.take() {
            Some(memory) => memory,
            None => run.pools(&run.pipeline())?,
        };
        let seams = Seams::new(node, memory.seams.clone());
        let Some(notes) = &mut self.notes else {
            let group = Group {
                partitions,
                place: None,
            };
            let again = sorting.sort_group(group, (&memory, &seams), stages).await?;
            output.complete(node, contents, seams.left()).await?;
            return Ok((sorting.outcome(spilled, again), even));
        };
        let left = notes.written.last().map(|last| last.left.clone());
        let seams = seams.with(node, &left.unwrap_or_default()).await?;
        let mut done = notes.partitions_written();
        let bytes: u64 = sizes[done..].iter().sum::<u64>() * run.plan.record_bytes as u64;
        run.job.control.enter("sort partitions", bytes);
        let all = notes.came().records;
        let least = GroupSize::new(run, all);
        let mut again = 0;
        while done < sizes.len() {
            let end = least.end(&sizes, done);
            let before = sizes[..done].iter().sum();
            let group = Group {
                partitions: partitions[done..end]
                    .iter_mut()
                    .map(std::mem::take)
                    .collect(),
                place: Some(Place { before, all }),
            };
            let mut saved = Saved {
                run,
                notes,
                spill: &self.spill,
            };
            let more = saved.write(group, end, (&memory, &seams), stages).await?;
            again = again.max(more);
            done = end;
        }
        Ok((sorting.outcome(spilled, again), even))
    }
}

/// Groups of a range whose progress is saved.
struct Saved<'r, 'a> {
    run: &'r Run<'a>,
    notes: &'r mut Checkpoint,
    spill: &'r Spill,
}

impl Saved<'_, '_> {
    /// Sorts and writes a group, whose last partition is the one before `end`. Then it is durable
    /// and noted, and its spill space is given back. Returns how often it was divided again.
    async fn write(
        &mut self,
        group: Group,
        end: usize,
        memory: (&Pools, &Seams),
        stages: &mut Vec<StageReport>,
    ) -> Result<u32, Failure> {
        let (node, output) = (self.run.node, self.run.output());
        let runs = group.partitions.iter().flat_map(|part| part.runs.clone());
        let spilled: Vec<Extents> = runs.collect();
        let tally = Tally::default();
        let run = Run {
            tally: tally.clone(),
            ..self.run.clone()
        };
        let sorting = DistributionSort {
            run: &run,
            spill: self.spill.clone(),
        };
        let again = sorting.sort_group(group, memory, stages).await?;
        output
            .file(0)
            .sync(node)
            .await
            .map_err(|error| output.named(error))?;
        let span = tally.written().into_iter().next();
        let written = Written {
            partitions: end,
            span,
            left: memory.1.left(),
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

/// How large groups are.
struct GroupSize {
    records: u64,
}

impl GroupSize {
    fn new(run: &Run<'_>, records: u64) -> GroupSize {
        if let Some(steps) = run.job.tuning.steps {
            return GroupSize {
                records: (records / u64::from(steps)).max(1),
            };
        }
        let memory = run.job.resources.memory_bytes / MEMORY_SHARE / run.plan.record_bytes as u64;
        GroupSize {
            records: (records / GROUPS).max(memory).max(1),
        }
    }

    /// Where the group ends that begins with that partition.
    fn end(&self, sizes: &[u64], begin: usize) -> usize {
        let mut all = 0;
        for (number, records) in sizes.iter().enumerate().skip(begin) {
            all += records;
            if all >= self.records {
                return number + 1;
            }
        }
        sizes.len()
    }
}

/// Records of the largest partition over the mean.
fn unevenness(sizes: &[u64]) -> f64 {
    let filled = sizes.iter().filter(|&&records| records > 0).count();
    let (all, largest) = (
        sizes.iter().sum::<u64>(),
        sizes.iter().max().copied().unwrap_or(0),
    );
    if filled <= 1 {
        1.0
    } else {
        largest as f64 * filled as f64 / all as f64
    }
}
