//! The stages of the first half, each alone: up to the end of the input.
//!
//! ```text
//! a generated file > sampler > sink        a generated file > reader > sink
//! blocks > distributor > sink              lists of chunks > partition buffers
//! ```

use std::path::Path;
use std::sync::Arc;

use node::{Decompress, Pool, Posted, Queue, Tokens};
use pipeline::{Dial, Failure, StageReport, Tuner, Worker, sharing};
use record::Generator;

use crate::alone::stage::{Bench, Stage, drain};
use crate::files::input::Inputs;
use crate::job::{IoChoice, Reading, Source, Target};
use crate::names::StageName;
use crate::records::block::Block;
use crate::records::framing::GENSORT;
use crate::runs::partition::Ledger;
use crate::stages::{
    Cursor, Distributor, PartitionBuffers, Places, Reader, Sampler, Tally, distribute, hold, read,
    sample,
};
use crate::tools::generate::{Generate, generate};

impl Bench<'_> {
    /// A generated file > sampler or reader > sink.
    pub(super) async fn on_input(&self) -> Result<StageReport, Failure> {
        let path = self.job.directory.join("gristmill-stage-input");
        self.generate(&path).await?;
        let sources = [Source::Path(path.clone())];
        let reading = Reading {
            io: self.job.resources.io,
            decompress: Decompress::Never,
            ..Reading::default()
        };
        let report = match Inputs::open(self.node, &sources, GENSORT, reading).await {
            Ok(inputs) if self.job.stage == Stage::Sampler => self.sampler(inputs).await,
            Ok(inputs) => self.reader(inputs).await,
            Err(failure) => Err(failure),
        };
        self.node.remove(&path).await?;
        report
    }

    async fn generate(&self, path: &Path) -> Result<(), Failure> {
        let made = Generate {
            generator: Generator::default(),
            first: 0,
            records: self.job.records,
            target: Target::Path(path.to_owned()),
            checksum: false,
            cores: self.job.resources.cores,
            // A file written past the page cache is not cached when it is read.
            io: IoChoice::Direct,
            control: self.job.control.clone(),
        };
        generate(self.node, &made).await.map(drop)
    }

    async fn sampler(&self, inputs: Inputs) -> Result<StageReport, Failure> {
        let mut pipeline = self.pipeline();
        let splitters = pipeline.owns(Posted::new(self.node, "splitters"));
        let sampler = Sampler {
            places: Places {
                inputs: Arc::new(inputs),
                contents: Arc::clone(&self.contents),
                count: self.plan.samples,
            },
            buckets: self.plan.buckets,
            splitters: splitters.clone(),
            tally: Tally::default(),
        };
        let work = sharing(sampler, sample);
        pipeline.stage(self.node, StageName::Sampler, 1, work);
        let sink = async move |worker: &Worker| Ok(worker.read(&splitters).await.map(drop)?);
        pipeline.stage(self.node, "sink", 1, sink);
        self.report(pipeline).await
    }

    async fn reader(&self, inputs: Inputs) -> Result<StageReport, Failure> {
        let (node, plan) = (self.node, &self.plan);
        let mut pipeline = self.pipeline();
        let pool = self.buffers(plan.buffers(), plan.buffer_bytes())?;
        let pool = pipeline.owns(Pool::new(node, "unit buffers", pool));
        let blocks = pipeline.owns(Queue::new(node, "blocks", plan.read_queue(), plan.readers));
        let reader = Reader {
            inputs: Arc::new(inputs),
            framing: plan.framing,
            unit_bytes: Dial::fixed(plan.read_bytes),
            depth: Dial::fixed(plan.depth),
            cursor: Cursor::new(node),
            pool: pool.clone(),
            out: blocks.clone(),
            most_lines: None,
            sampler: None,
            sifter: None,
        };
        let work = sharing(reader, read);
        pipeline.stage(node, StageName::Reader, plan.readers, work);
        let sink = async move |worker: &Worker| {
            while let Some(block) = worker.pop(&blocks).await? {
                pool.give(&worker.node, block.buffer).await;
            }
            Ok(())
        };
        pipeline.stage(node, "sink", 1, sink);
        self.report(pipeline).await
    }

    /// Blocks > distributor > sink. The sink keeps the chunks: a sort does not give any back either
    /// while it reads.
    pub(super) async fn distributor(&self) -> Result<StageReport, Failure> {
        let (node, plan) = (self.node, &self.plan);
        let mut pipeline = self.pipeline();
        let splitters = pipeline.owns(Posted::new(node, "splitters"));
        splitters.post(node, self.splitters()?).await;
        let pool = self.filled(plan.buffers(), plan.buffer_bytes())?;
        let pool = pipeline.owns(Pool::new(node, "unit buffers", pool));
        let chunks = self.buffers(plan.chunks, plan.chunk_bytes)?;
        let chunks = pipeline.owns(Pool::new(node, "memory for records", chunks));
        let blocks = pipeline.owns(Queue::new(node, "blocks", plan.read_queue(), 1));
        let full = pipeline.owns(Queue::new(
            node,
            "chunks",
            plan.distributors,
            plan.distributors,
        ));
        let distributor = Distributor {
            part_bytes: plan.read_bytes,
            owners: None,
            contents: Arc::clone(&self.contents),
            splitters,
            blocks: blocks.clone(),
            pool: pool.clone(),
            chunks,
            shape: plan.chunk_shape(),
            limit: Some(self.job.resources.memory_bytes),
            shares: None,
            out: full.clone(),
            tally: Tally::default(),
            drops_repeats: false,
        };
        let (total, unit) = (plan.input_bytes.unwrap_or(0), plan.read_bytes);
        let source = async move |worker: &Worker| {
            for first in (0..total).step_by(unit) {
                let buffer = worker.take(&pool).await?;
                let block = Block {
                    first,
                    size: GENSORT.size_of((unit as u64).min(total - first)),
                    start: 0,
                    buffer,
                    marks: Vec::new(),
                };
                worker.push(&blocks, block).await?;
            }
            blocks.finish(&worker.node).await;
            Ok(())
        };
        pipeline.stage(node, "source", 1, source);
        let work = sharing(distributor, distribute);
        pipeline.stage(node, StageName::Distributor, plan.distributors, work);
        pipeline.stage(node, "sink", 1, sharing(full, drain));
        self.report(pipeline).await
    }

    /// Lists of chunks, one for each bucket > partition buffers, which keep them all.
    pub(super) async fn partition_buffers(&self) -> Result<StageReport, Failure> {
        let (node, plan) = (self.node, &self.plan);
        let mut pipeline = self.pipeline();
        let splitters = pipeline.owns(Posted::new(node, "splitters"));
        splitters.post(node, self.splitters()?).await;
        let pool = self.buffers(plan.chunks, plan.chunk_bytes)?;
        let pool = pipeline.owns(Pool::new(node, "memory for records", pool));
        let lists = pipeline.owns(Queue::new(node, "chunks", plan.distributors, 1));
        let (even, out) = (self.even(), lists.clone());
        let source = async move |worker: &Worker| {
            for bucket in 0..even.buckets {
                let chunks = even.chunks(worker, &pool, bucket).await?;
                worker.push(&out, chunks).await?;
            }
            out.finish(&worker.node).await;
            Ok(())
        };
        pipeline.stage(node, "source", 1, source);
        let buffers = PartitionBuffers {
            splitters,
            chunks: lists,
            limits: plan.limits(),
            keeps: true,
            positions: 0.0..1.0,
            tokens: pipeline.owns(Tokens::new(node, "write tokens", Vec::new())),
            out: Vec::new(),
            ledger: pipeline.owns(Ledger::new(node)),
            chunk_bytes: plan.chunk_bytes,
            tuner: Tuner::off(),
        };
        let work = sharing(buffers, hold);
        pipeline.stage(node, StageName::PartitionBuffers, 1, work);
        self.report(pipeline).await
    }
}
