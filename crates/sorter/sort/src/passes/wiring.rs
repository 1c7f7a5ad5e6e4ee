//! The wiring that all sorts share: memory, and the stages at both ends.
//!
//! ```text
//! sampler
//!    | splitters
//! reader > distributor > ( ... ) > sorter > writer
//! ```

use crate::error::no_memory;
use crate::names::StageName;
use std::io;
use std::sync::Arc;
use units::amount;

use node::{Buffer, Node, Pool, Posted, Queue};
use pipeline::{Failure, Pipeline, sharing};

use crate::files::bad_rows::BadRows;
use crate::files::input::Inputs;
use crate::files::output::Output;
use crate::job::Job;
use crate::passes::exchange::Exchange;
use crate::plan::Plan;
use crate::records::block::BLOCK_BYTES;
use crate::records::block::{Block, Chunk, Piece};
use crate::records::splitters::Splitters;
use crate::stages::{
    Counter, Cursor, Distributor, Outlet, Outs, PipeSampler, PlacedBefore, Places, Placing,
    ReadRates, Reader, Ready, Sampler, Seams, Sifted, Sifter, Sorter, Tally, Turn, Writer, count,
    distribute, read, sample, sort, write,
};

#[derive(Clone)]
pub(crate) struct Pools {
    /// Chunks: records between reading and writing.
    pub chunks: Pool,
    /// Units that are read or written.
    pub units: Pool,
    /// Disk blocks of the output in which two buckets meet.
    pub seams: Pool,
}

/// The blocks that distributors divide, and how.
pub(crate) struct Dividing<'a> {
    pub blocks: Queue<Block>,
    pub splitters: &'a Posted<Splitters>,
    /// The pool of the blocks.
    pub from: &'a Pool,
    /// The pool of the chunks.
    pub to: &'a Pool,
    pub tally: &'a Tally,
    pub drops_repeats: bool,
}

impl Pools {
    /// These pools for another pipeline, which closes them if it fails.
    pub(crate) fn of(&self, pipeline: &Pipeline) -> Pools {
        Pools {
            chunks: pipeline.owns(self.chunks.clone()),
            units: pipeline.owns(self.units.clone()),
            seams: pipeline.owns(self.seams.clone()),
        }
    }
}

/// The context from which a run's stages are started.
#[derive(Clone)]
pub(crate) struct RunContext<'a> {
    pub node: &'a Node,
    pub job: &'a Job,
    pub plan: Plan,
    /// The reason for the plan, if that is not memory alone.
    pub why: Option<String>,
    pub inputs: Arc<Inputs>,
    /// The output; `None` for a run that writes none.
    pub output: Option<Arc<Output>>,
    pub tally: Tally,
    /// The rates of the inputs' devices, once they are read.
    pub read_rates: ReadRates,
    /// The exchange, if there are several ranks.
    pub exchange: Option<Exchange>,
    /// Where the first bucket is placed, if records are dropped.
    pub placed_before: PlacedBefore,
    pub sifted: Sifted,
    /// Where rows with mistakes go; without it, one ends the sort.
    pub bad_rows: Option<BadRows>,
}

impl<'a> RunContext<'a> {
    /// A run of these inputs, without output and exchange.
    pub(crate) fn new(
        node: &'a Node,
        job: &'a Job,
        plan: Plan,
        inputs: Arc<Inputs>,
    ) -> RunContext<'a> {
        RunContext {
            node,
            job,
            plan,
            why: None,
            inputs,
            output: None,
            tally: Tally::default(),
            read_rates: ReadRates::default(),
            exchange: None,
            placed_before: PlacedBefore::default(),
            sifted: Sifted::default(),
            bad_rows: None,
        }
    }

    /// Checks rows as they are read.
    pub(crate) fn sifter(&self) -> Option<Sifter> {
        let contents = &self.job.contents;
        let sifter = || {
            let sifted = Some(self.sifted.clone());
            Sifter::new(Arc::clone(contents), sifted, self.bad_rows.clone())
        };
        contents.is_checked().then(sifter)
    }

    /// # Panics
    /// Panics in a run without output.
    pub(crate) fn output(&self) -> &Arc<Output> {
        self.output.as_ref().expect("a run that writes")
    }

    pub(crate) fn pipeline(&self) -> Pipeline {
        Pipeline::new(&self.job.control)
    }

    /// The reason why records are spilled.
    pub(crate) fn does_not_fit(&self) -> String {
        let limit = amount(self.job.resources.memory_bytes);
        match self.plan.input_bytes {
            Some(bytes) => format!("{} do not fit in {limit} of memory", amount(bytes)),
            None => format!("the input, of unknown length, did not fit in {limit} of memory"),
        }
    }

    pub(crate) fn pools(&self, pipeline: &Pipeline) -> Result<Pools, Failure> {
        let plan = &self.plan;
        let chunks = self.pool(
            pipeline,
            "memory for records",
            (plan.chunks, plan.chunk_bytes),
        )?;
        let units = self.pool(
            pipeline,
            "unit buffers",
            (plan.buffers(), plan.buffer_bytes()),
        )?;
        let seams = (plan.seam_buffers(), BLOCK_BYTES as usize);
        let seams = self.pool(pipeline, "seam buffers", seams)?;
        Ok(Pools {
            chunks,
            units,
            seams,
        })
    }

    /// Starts sampler, and reader > distributor. Returns the chunks that distributors fill.
    pub(crate) fn start_input(
        &self,
        pipeline: &mut Pipeline,
        splitters: &Posted<Splitters>,
        memory: &Pools,
    ) -> Queue<Vec<Chunk>> {
        let (node, plan, contents) = (self.node, &self.plan, &self.job.contents);
        let seekable = self.inputs.is_seekable();
        let blocks = self.blocks(pipeline);
        if seekable {
            let places = Places {
                inputs: Arc::clone(&self.inputs),
                contents: Arc::clone(contents),
                count: plan.samples,
                splitters: self.job.splitters,
            };
            let sampler = Sampler {
                places,
                buckets: plan.buckets,
                splitters: splitters.clone(),
                tally: self.tally.clone(),
            };
            pipeline.stage(node, StageName::Sampler, 1, sharing(sampler, sample));
        }
        let sampler = (!seekable).then(|| PipeSampler {
            contents: Arc::clone(contents),
            buckets: plan.buckets,
            splitters: splitters.clone(),
            blocks: plan.buffers() - 1,
            tally: self.tally.clone(),
        });
        self.start_readers(pipeline, memory, (blocks.clone(), sampler));
        let dividing = Dividing {
            blocks,
            splitters,
            from: &memory.units,
            to: &memory.chunks,
            tally: &self.tally,
            drops_repeats: self.job.resume.is_none(),
        };
        self.start_distributors(pipeline, dividing)
    }

    /// Number of readers. A pipe has one, which reads a unit at a time.
    fn readers(&self) -> usize {
        if self.inputs.is_seekable() {
            self.plan.readers
        } else {
            1
        }
    }

    pub(crate) fn blocks(&self, pipeline: &Pipeline) -> Queue<Block> {
        let queue = Queue::new(self.node, "blocks", self.plan.read_queue(), self.readers());
        pipeline.owns(queue)
    }

    pub(crate) fn start_readers(
        &self,
        pipeline: &mut Pipeline,
        memory: &Pools,
        (blocks, sampler): (Queue<Block>, Option<PipeSampler>),
    ) {
        let (node, plan) = (self.node, &self.plan);
        let reader = Reader {
            inputs: Arc::clone(&self.inputs),
            framing: plan.framing,
            unit_bytes: plan.read_bytes,
            depth: plan.depth,
            cursor: Cursor::by_device(node, &self.inputs, (&self.read_rates, plan.depth)),
            pool: memory.units.clone(),
            out: blocks,
            most_lines: None,
            sampler,
            sifter: self.sifter(),
            cut: None,
            from: None,
        };
        pipeline.stage(
            node,
            StageName::Reader,
            self.readers(),
            sharing(reader, read),
        );
    }

    /// Starts the distributors. Returns the chunks that they fill.
    pub(crate) fn start_distributors(
        &self,
        pipeline: &mut Pipeline,
        dividing: Dividing<'_>,
    ) -> Queue<Vec<Chunk>> {
        let (node, plan) = (self.node, &self.plan);
        let full = pipeline.owns(Queue::new(
            node,
            "chunks",
            plan.distributors,
            plan.distributors,
        ));
        let distributor = Distributor {
            part_bytes: plan.read_bytes,
            contents: Arc::clone(&self.job.contents),
            splitters: dividing.splitters.clone(),
            blocks: dividing.blocks,
            pool: dividing.from.clone(),
            chunks: dividing.to.clone(),
            shape: plan.chunk_shape(),
            limit: plan
                .spilling
                .is_none()
                .then_some(self.job.resources.memory_bytes),
            shares: None,
            out: full.clone(),
            tally: dividing.tally.clone(),
            drops_repeats: dividing.drops_repeats,
            owners: None,
        };
        pipeline.stage(
            node,
            StageName::Distributor,
            plan.distributors,
            sharing(distributor, distribute),
        );
        full
    }

    pub(crate) fn start_output(
        &self,
        pipeline: &mut Pipeline,
        ready: Ready,
        memory: &Pools,
        seams: &Seams,
    ) -> Result<(), Failure> {
        let (node, plan) = (self.node, &self.plan);
        let directories = if self.is_sequential() {
            Vec::new()
        } else {
            ready.files.to_vec()
        };
        let count = directories.iter().max().map_or(1, |last| last + 1);
        // A sorter goes on to the next directory while two pieces wait for the disk of one.
        let room = plan.write_queue().div_ceil(count).max(2);
        let queue = |_| pipeline.owns(Queue::new(node, "pieces", room, plan.sorters));
        let pieces: Vec<Queue<Piece>> = (0..count).map(queue).collect();
        let sorter = Sorter {
            contents: Arc::clone(&self.job.contents),
            ready,
            chunks: memory.chunks.clone(),
            unit_bytes: plan.unit_bytes,
            outlet: Outlet {
                pool: memory.units.clone(),
                seams: (!self.is_sequential()).then(|| seams.clone()),
                out: Outs::new(pieces.clone(), directories),
            },
            turn: (self.is_sequential()).then(|| pipeline.owns(Turn::new(node))),
            placing: (self.job.contents.is_unique()).then(|| {
                let before = self.placed_before.clone();
                pipeline.owns(Placing::new(node, before))
            }),
            tally: self.tally.clone(),
        };
        pipeline.stage(node, StageName::Sorter, plan.sorters, sharing(sorter, sort));
        for pieces in pieces {
            let pieces = self.start_counter(pipeline, pieces)?;
            let writer = Writer {
                output: Arc::clone(self.output()),
                pieces,
                depth: plan.depth,
            };
            let writers = plan.writers.div_ceil(count);
            pipeline.stage(node, StageName::Writer, writers, sharing(writer, write));
        }
        Ok(())
    }

    /// Whether sorted records leave front to back: to a pipe, or to be joined.
    pub(crate) fn is_sequential(&self) -> bool {
        self.output().is_sequential() || self.job.contents.joins()
    }

    /// Starts the counter of sorted `pieces`, if records are joined. Returns the pieces to write.
    pub(crate) fn start_counter(
        &self,
        pipeline: &mut Pipeline,
        pieces: Queue<Piece>,
    ) -> Result<Queue<Piece>, Failure> {
        if !self.job.contents.joins() {
            return Ok(pieces);
        }
        let counted = pipeline.owns(Queue::new(self.node, "joined pieces", 1, 1));
        let counter = Counter {
            contents: Arc::clone(&self.job.contents),
            pieces,
            pool: self.pool(pipeline, "joined records", Counter::POOL)?,
            sequential: self.output().is_sequential(),
            read: self.sifted.clone(),
            out: counted.clone(),
            tally: self.tally.clone(),
        };
        pipeline.stage(self.node, StageName::Counter, 1, sharing(counter, count));
        Ok(counted)
    }

    /// Memory that a merge of inputs leaves idle beside its chunks.
    pub(crate) fn idle_beside(&self, runs: usize, chunks: usize) -> u64 {
        let mut used = self.plan.used_by_merge(runs, chunks);
        if self.job.contents.joins() {
            used += Counter::bytes(&*self.job.contents, self.plan.framing);
        }
        self.job.resources.memory_bytes.saturating_sub(used)
    }

    pub(crate) fn pool(
        &self,
        pipeline: &Pipeline,
        label: &'static str,
        (count, bytes): (usize, usize),
    ) -> Result<Pool, Failure> {
        let buffers: io::Result<Vec<Buffer>> =
            self.job
                .contents
                .buffers(self.node, count, bytes, self.plan.filled(count * bytes));
        let buffers = buffers.map_err(|cause| no_memory(count * bytes, &cause))?;
        Ok(pipeline.owns(Pool::new(self.node, label, buffers)))
    }
}
