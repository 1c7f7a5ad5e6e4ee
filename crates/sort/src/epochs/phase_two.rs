//! Phase two of a range that can be gone on with: its partitions are sorted and written group by
//! group (`--resume`).
//!
//! ```text
//! partitions   | 0  1  2 | 3  4 | 5  6  7 | ..
//! each group   sort > write > durable > noted > its spill space goes back
//! ```
//!
//! A disk block in which two groups meet is noted with the first of them, and written with the
//! second.

use pipeline::{Failure, StageReport};

use crate::epochs::checkpoint::{Sum, Written};
use crate::epochs::phase_one::Builder;
use crate::epochs::range::Built;
use crate::files::output::Layout;
use crate::passes::distribution::DistributionSort;
use crate::passes::wiring::{Pools, Run, add_up};
use crate::records::span::Span;
use crate::runs::partition::{Partition, Run as Extents};
use crate::stages::{Seams, Tally};

/// Groups of an output, about: a kill costs a rank at most such a part of phase two.
const GROUPS: u64 = 16;

/// But a group is at least so large a part of memory, which sorters fill.
const MEMORY_SHARE: u64 = 2;

/// What became of a range.
pub(crate) struct Sorted {
    pub spans: Vec<Span>,
    pub sum: Sum,
    pub stages: Vec<StageReport>,
    /// Most writes of any record.
    pub passes: u32,
    /// Records of the largest partition over the mean.
    pub unevenness: f64,
}

/// Sorts what has come of a range into its output, behind what is there.
pub(crate) async fn write(builder: &Builder<'_>, built: &mut Built) -> Result<Sorted, Failure> {
    let contents = &*builder.job.contents;
    let came = built.checkpoint.came();
    let mut partitions = built.checkpoint.partitions();
    let sizes: Vec<u64> = partitions.iter().map(Partition::records).collect();
    let mut sorted = Sorted {
        spans: Vec::new(),
        sum: came,
        stages: Vec::new(),
        passes: 2,
        unevenness: unevenness(&sizes),
    };
    let tally = Tally::default();
    tally.came_in(came.records, came.crc);
    for span in built
        .checkpoint
        .written
        .iter()
        .filter_map(|written| written.span.clone())
    {
        tally.goes_out(span, contents)?;
    }
    if let Some(output) = built.output.clone() {
        let plan = built.plan.clone();
        let run = builder.run(&plan, Some(&output));
        let memory = run.pools(&run.pipeline())?;
        let left = built
            .checkpoint
            .written
            .last()
            .map(|last| last.left.clone());
        let seams = Seams::new(builder.node, memory.seams.clone());
        let seams = seams.with(builder.node, &left.unwrap_or_default()).await?;
        let mut done = built.checkpoint.partitions_written();
        let left: u64 = sizes[done..].iter().sum();
        builder
            .job
            .control
            .enter("sort partitions", left * plan.record_bytes as u64);
        let least = GroupSize::new(&run, came.records);
        while done < sizes.len() {
            let end = least.end(&sizes, done);
            let group = Group {
                partitions: partitions[done..end]
                    .iter_mut()
                    .map(std::mem::take)
                    .collect(),
                end,
                before: sizes[..done].iter().sum(),
                all: came.records,
            };
            if let Some(span) = group
                .write(&run, built, (&memory, &seams), &mut sorted)
                .await?
            {
                tally.goes_out(span, contents)?;
            }
            done = end;
        }
    }
    tally.settle(contents)?;
    sorted.spans = tally.spans();
    Ok(sorted)
}

/// Partitions that are written together.
struct Group {
    partitions: Vec<Partition>,
    /// The partition behind them.
    end: usize,
    /// Records before them, and of the whole range.
    before: u64,
    all: u64,
}

impl Group {
    /// Sorts and writes them; what the output has then is durable and noted, and their spill space
    /// is given back.
    async fn write(
        self,
        run: &Run<'_>,
        built: &mut Built,
        (memory, seams): (&Pools, &Seams),
        sorted: &mut Sorted,
    ) -> Result<Option<Span>, Failure> {
        let (node, output, bytes) = (run.node, run.output(), run.plan.record_bytes);
        let spilled: Vec<Extents> = self
            .partitions
            .iter()
            .flat_map(|part| part.runs.clone())
            .collect();
        let tally = Tally::default();
        let run = &Run {
            tally: tally.clone(),
            ..run.clone()
        };
        let two = DistributionSort {
            run,
            spill: built.spill.clone(),
        };
        let (mut partitions, mut passes) = (self.partitions, 2);
        while partitions
            .iter()
            .any(|partition| two.is_too_large(partition))
        {
            passes += 1;
            partitions = two.again(partitions, memory, &mut sorted.stages).await?;
        }
        sorted.passes = sorted.passes.max(passes);
        let sizes: Vec<u64> = partitions.iter().map(Partition::records).collect();
        let layout = Layout::of_one_file(&sizes, bytes);
        let layout = layout.behind(self.before, self.all * bytes as u64);
        add_up(
            &mut sorted.stages,
            two.phase_two(partitions, &layout, memory, seams).await?,
        );
        output
            .file(0)
            .sync(node)
            .await
            .map_err(|error| output.named(error))?;
        let span = tally.spans().into_iter().next();
        let written = Written {
            partitions: self.end,
            span: span.clone(),
            left: seams.left(),
        };
        built.checkpoint.add_written(node, written).await?;
        for run in spilled {
            let extent = run.extent(built.plan.chunk_bytes);
            built.spill.give_back(node, extent).await;
        }
        Ok(span)
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
