//! The merge sort: sorted runs, then a merge of them (NOW-Sort 6, TritonSort 2.5).
//!
//! ```text
//! run formation   reader > loads > sorter > run writer
//!                 (reader > selector > loads, if not all records are wanted)
//! merge           run reader > merger > writer
//!                 (run reader > merger, into longer runs first, if there are too many)
//! ```
//!
//! 1. Read the input in its order (reader), and gather its blocks into loads (loads).
//! 2. Sort each load in memory (sorter).
//! 3. When memory is full, write the oldest load to spill files (run writer). A load that begins
//!    where the one before ended continues the same run: sorted input is one run (natural merging,
//!    Knuth 5.4.1).
//! 4. While there are more runs than one merge can read, merge groups of neighbours into longer
//!    runs (run reader, run merger; Knuth 5.4.9).
//! 5. Read two requests of each run ahead (run reader; TritonSort 2.5), and take the least record
//!    of all runs with a loser tree (merger; Knuth 5.4.1). Where there are several mergers, runs are cut
//!    into slices for them first (slicer).
//! 6. Write the merged records (writer).
//!
//! Inputs that are sorted already are the runs, and steps 1 to 3 are left out (`merge_inputs`).
//!
//! Loads in memory at the end of the input stay there as far as the merge has room: input that fits
//! in memory is not spilled.

mod groups;
mod long_lines;
mod reading;
mod slicing;

use std::sync::Arc;

use node::{Pool, Queue};
use pipeline::{Failure, Pipeline, StageReport, sharing};

use crate::files::input::Input;
use crate::files::spill::Spill;
use crate::names::{Phase, StageName};
use crate::passes::merge_inputs::{inputs_at_once, merges_inputs, runs_of};
use crate::passes::output_parts::output_parts;
use crate::passes::report::{Outcome, add_up};
use crate::passes::wiring::RunContext;
use crate::plan::Merging;
use crate::records::block::{Block, Piece};
use crate::runs::shelf::Shelf;
use crate::runs::sorted_run::SortedRun;
use crate::stages::{
    Chains, Cursor, Cut, Load, LoadSizes, LoadSorter, Loads, Merger, OutputPart, Reader,
    RestOfPipe, RunWriter, Selector, Sifter, Sources, Writer, gather_loads, read, select,
    sort_loads, write, write_runs,
};
use units::amount;

use reading::MergedInto;

pub(crate) async fn merge(
    run: &RunContext<'_>,
    merging: Merging,
    spill: Spill,
) -> Result<(Vec<StageReport>, Outcome), Failure> {
    let sorting = MergeSort {
        run,
        merging,
        spill,
        sifter: run.sifter(),
        cut: run.plan.longer.is_some().then(Cut::default),
        before: None,
    };
    sorting.sort().await
}

struct Memory {
    /// Loads, then reads of runs.
    loaded: Pool,
    /// Chunks on their way to spill files.
    written: Pool,
}

struct MergeSort<'a> {
    run: &'a RunContext<'a>,
    merging: Merging,
    spill: Spill,
    /// It counts the lines of a pipe from one plan to the next.
    sifter: Option<Sifter>,
    /// Where it may leave a pipe to another plan.
    cut: Option<Cut>,
    /// Of the other plan: the runs of the first, which are on disk.
    before: Option<usize>,
}

/// Sorted runs, the stages that formed them, and the memory for their merge.
type Formed = (Vec<SortedRun>, Vec<StageReport>, Memory);

impl MergeSort<'_> {
    async fn sort(&self) -> Result<(Vec<StageReport>, Outcome), Failure> {
        if self.merges_inputs() {
            let memory = self.memory(&self.run.pipeline())?;
            return self.merge((runs_of(self.run), Vec::new(), memory)).await;
        }
        let formed = self.form_runs(None).await?;
        match self.cut.as_ref().and_then(Cut::take) {
            None => self.merge(formed).await,
            Some(rest) => self.go_on(formed, rest).await,
        }
    }

    async fn merge(
        &self,
        (mut runs, mut stages, memory): Formed,
    ) -> Result<(Vec<StageReport>, Outcome), Failure> {
        let formed = runs.len();
        while runs.len() > self.fan_in() {
            runs = self.merge_groups(runs, &memory, &mut stages).await?;
        }
        let passes = 1 + runs.iter().map(|run| run.writes).max().unwrap_or(0);
        let reason = self.reason(formed, passes);
        add_up(&mut stages, self.merge_all(runs, &memory).await?);
        let temp_peak_bytes = self.spill.peak_bytes();
        let outcome = Outcome {
            plan: "merge",
            reason,
            passes,
            temp_peak_bytes,
            runs: Some(formed as u64),
            stripes: self.spill.stripe_report(),
        };
        Ok((stages, outcome))
    }

    fn reason(&self, runs: usize, passes: u32) -> String {
        if self.merges_inputs() {
            return format!("-m merges {runs} sorted inputs");
        }
        let limit = amount(self.run.job.resources.memory_bytes);
        let made = match runs {
            1 => "one sorted run".to_owned(),
            _ => format!("{runs} sorted runs"),
        };
        match passes {
            _ if self.before.is_some() => format!(
                "a line of the pipe was too long for the plan of short lines, and all before it were spilled: {made}"
            ),
            1 => format!("the input fitted in {limit} of memory, as {made}"),
            _ => format!("{}: {made}", self.run.does_not_fit()),
        }
    }

    /// Whether the inputs are the runs.
    fn merges_inputs(&self) -> bool {
        let run = self.run;
        merges_inputs(run.job, &run.inputs, run.output.as_deref())
    }

    /// Runs that are merged at once.
    fn fan_in(&self) -> usize {
        let asked = self.run.job.tuning.fan_in.unwrap_or(usize::MAX);
        if self.merges_inputs() {
            inputs_at_once(self.run.job, &self.run.plan)
        } else {
            self.merging.fan_in.min(asked.max(2))
        }
    }

    fn memory(&self, pipeline: &Pipeline) -> Result<Memory, Failure> {
        let (run, plan) = (self.run, &self.run.plan);
        let pool = |name, chunks| run.pool(pipeline, name, (chunks, plan.chunk_bytes));
        Ok(Memory {
            loaded: pool("memory for records", plan.chunks_loaded())?,
            written: pool("chunks of runs", plan.chunks_written())?,
        })
    }

    /// reader > loads > sorter > run writer
    async fn form_runs(&self, from: Option<RestOfPipe>) -> Result<Formed, Failure> {
        let (run, node, plan) = (self.run, self.run.node, &self.run.plan);
        let mut pipeline = Pipeline::new(&run.job.control);
        let Memory { loaded, written } = self.memory(&pipeline)?;
        let shelf = pipeline.owns(Shelf::new(node, Arc::clone(&run.job.contents)));
        let sorter = LoadSorter {
            contents: Arc::clone(&run.job.contents),
            loads: self.start_loads(&mut pipeline, &loaded, &shelf, from),
            shelf: shelf.clone(),
            top: run.job.top,
            tally: run.tally.clone(),
        };
        let sorters = plan.sorters - usize::from(self.selects());
        let work = sharing(sorter, sort_loads);
        pipeline.stage(node, StageName::Sorter, sorters, work);
        let chains = self.chains(&pipeline, written.clone());
        let writer = RunWriter {
            shelf: shelf.clone(),
            chains,
            home: loaded.clone(),
        };
        pipeline.stage(
            node,
            StageName::RunWriter,
            self.merging.run_workers,
            sharing(writer, write_runs),
        );
        let stages = pipeline.join(node).await?;
        self.spill.end_stripes(node).await?;
        self.spill.trim(node).await;
        Ok((shelf.take(node).await, stages, Memory { loaded, written }))
    }

    /// Whether one of the sorters selects the first records instead.
    fn selects(&self) -> bool {
        self.run.job.top.is_some() && self.run.plan.sorters > 1
    }

    /// Starts the selector, if not all records are wanted. Returns the blocks that are left.
    fn start_selector(
        &self,
        pipeline: &mut Pipeline,
        memory: &Pool,
        blocks: Queue<Block>,
    ) -> Queue<Block> {
        let (run, merging) = (self.run, self.merging);
        if !self.selects() && !run.job.contents.is_unique() {
            return blocks;
        }
        let left = pipeline.owns(Queue::new(run.node, "blocks that are left", 1, 1));
        let selector = Selector {
            contents: Arc::clone(&run.job.contents),
            blocks,
            out: left.clone(),
            pool: memory.clone(),
            // Without a sorter's memory it hands on what does not fit in one block.
            most: if self.selects() {
                merging.load_chunks
            } else {
                2
            },
            room: merging.block_room,
            most_lines: merging.most_lines(run.plan.framing),
            top: run.job.top.filter(|_| self.selects()),
            tally: run.tally.clone(),
        };
        let work = sharing(selector, select);
        pipeline.stage(run.node, StageName::Selector, 1, work);
        left
    }

    /// Starts reader > loads. Returns the loads, in buffers of `memory`.
    fn start_loads(
        &self,
        pipeline: &mut Pipeline,
        memory: &Pool,
        shelf: &Shelf,
        from: Option<RestOfPipe>,
    ) -> Queue<Load> {
        let (run, node, merging) = (self.run, self.run.node, self.merging);
        let blocks = pipeline.owns(Queue::new(node, "blocks", merging.read_ahead, 1));
        let reader = Reader {
            inputs: Arc::clone(&run.inputs),
            framing: run.plan.framing,
            unit_bytes: (merging.block_room),
            depth: merging.read_ahead,
            cursor: Cursor::in_order(node, &run.inputs),
            pool: memory.clone(),
            out: blocks.clone(),
            most_lines: merging.most_lines(run.plan.framing),
            sampler: None,
            sifter: self.sifter.clone(),
            cut: self.cut.clone(),
            from: from.map(Arc::new),
        };
        // One worker, so that blocks come in input order.
        pipeline.stage(node, StageName::Reader, 1, sharing(reader, read));
        let blocks = self.start_selector(pipeline, memory, blocks);
        let filled = pipeline.owns(Queue::new(node, "loads", 1, 1));
        let blocks_of = |input: &Input| input.bytes.div_ceil(merging.block_room as u64);
        let input_blocks = if run.inputs.is_indexed() {
            run.plan.units
        } else {
            run.inputs.files.iter().map(blocks_of).sum()
        };
        let loads = Loads {
            blocks,
            sizes: LoadSizes {
                most: merging.load_chunks,
                first: merging.first_load(run.plan.chunk_bytes),
                sorters: run.plan.sorters,
                // The selector holds a load, too. The number of loads that it leaves is not known before.
                fit: merging.loads - usize::from(self.selects()),
                exceeds: run.inputs.is_seekable() && !self.selects() && !merging.fits(input_blocks),
            },
            room: run.plan.room().beside(self.before.unwrap_or(0)),
            cut: self.cut.clone(),
            out: filled.clone(),
            shelf: shelf.clone(),
        };
        pipeline.stage(node, StageName::Loads, 1, sharing(loads, gather_loads));
        filled
    }

    fn chains(&self, pipeline: &Pipeline, pool: Pool) -> Chains {
        Chains {
            contents: Arc::clone(&self.run.job.contents),
            spill: pipeline.owns(self.spill.clone()),
            pool,
            room: self.merging.chunk_room,
            chain: self.merging.chain,
            depth: self.run.plan.depth,
        }
    }

    /// run reader > merger > writer
    async fn merge_all(
        &self,
        runs: Vec<SortedRun>,
        memory: &Memory,
    ) -> Result<Vec<StageReport>, Failure> {
        let (run, node, plan) = (self.run, self.run.node, &self.run.plan);
        let parts = output_parts(run, &self.spill, &runs).await?;
        let phase = if self.merges_inputs() {
            Phase::MergeInputs
        } else {
            Phase::Merge
        };
        let bytes = runs.iter().map(|run| run.size().bytes).sum();
        run.job.control.enter(phase.name(), bytes);
        let mut pipeline = Pipeline::new(&run.job.control);
        let units = (plan.write_units(), plan.buffer_bytes());
        let units = run.pool(&pipeline, "unit buffers", units)?;
        let mergers = match parts[..] {
            [_] => self.mergers(),
            _ => 1,
        };
        let into = MergedInto::Output { mergers };
        let sources = self.start_reading(&mut pipeline, runs, into, memory);
        let pieces = if mergers > 1 {
            let to = (parts[0].file, mergers);
            self.start_slices(&mut pipeline, sources, to, units)?
        } else {
            self.start_merger(&mut pipeline, sources, parts, units)
        };
        let pieces = run.start_counter(&mut pipeline, pieces)?;
        let writer = Writer {
            output: Arc::clone(run.output()),
            pieces,
            depth: plan.depth,
        };
        let writers = plan.writers;
        pipeline.stage(node, StageName::Writer, writers, sharing(writer, write));
        pipeline.join(node).await
    }

    /// Starts the only merger. Returns the pieces that it hands on.
    fn start_merger(
        &self,
        pipeline: &mut Pipeline,
        sources: Sources,
        parts: Vec<OutputPart>,
        pool: Pool,
    ) -> Queue<Piece> {
        let run = self.run;
        let pieces = pipeline.owns(Queue::new(run.node, "pieces", 1, 1));
        let merger = Merger {
            sources,
            parts,
            unit_bytes: run.plan.unit_bytes,
            pool,
            output: Arc::clone(run.output()),
            sequential: run.is_sequential(),
            out: pieces.clone(),
            tally: run.tally.clone(),
        };
        pipeline.stage(run.node, StageName::Merger, 1, async move |worker| {
            crate::stages::merge(worker, &merger).await
        });
        pieces
    }
}
