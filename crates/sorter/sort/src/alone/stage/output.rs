//! The stages of the second half, each alone: once the places of all buckets are known.
//!
//! ```text
//! buckets > sorter > sink                  pieces > writer > a file that is thrown away
//! ```

use std::sync::Arc;

use node::{Pool, Queue};
use pipeline::{Dial, Failure, StageReport, Worker, sharing};

use crate::alone::stage::Bench;
use crate::files::output::Output;
use crate::job::Target;
use crate::names::StageName;
use crate::records::block::BLOCK_BYTES;
use crate::records::block::Piece;
use crate::stages::{Seams, Sorter, Tally, Writer, sort, write};

impl Bench<'_> {
    /// Buckets > sorter > sink. Each chunk is used once, so that records come from memory and not
    /// from a cache, as in a sort.
    pub(super) async fn sorter(&self) -> Result<StageReport, Failure> {
        let (node, plan) = (self.node, &self.plan);
        let mut pipeline = self.pipeline();
        let chunks = self.filled(plan.chunks, plan.chunk_bytes)?;
        let chunks = pipeline.owns(Pool::new(node, "memory for records", chunks));
        let buckets = pipeline.owns(Queue::new(node, "buckets", plan.sorters, 1));
        let (even, out) = (self.even(), buckets.clone());
        let source = async move |worker: &Worker| {
            for bucket in 0..even.buckets {
                let chunks = even.chunks(worker, &chunks, bucket).await?;
                worker.push(&out, even.bucket(bucket, chunks)).await?;
            }
            out.finish(&worker.node).await;
            Ok(())
        };
        pipeline.stage(node, "source", 1, source);
        let pieces = pipeline.owns(Queue::new(node, "pieces", plan.write_queue(), plan.sorters));
        let pool = self.buffers(plan.buffers(), plan.buffer_bytes())?;
        let seams = self.buffers(plan.seam_buffers(), BLOCK_BYTES as usize)?;
        let seams = pipeline.owns(Pool::new(node, "seam buffers", seams));
        let sorter = Sorter {
            placing: None,
            contents: Arc::clone(&self.contents),
            buckets,
            chunks: pipeline.owns(Pool::new(node, "used memory", Vec::new())),
            unit_bytes: plan.unit_bytes,
            pool: pipeline.owns(Pool::new(node, "unit buffers", pool)),
            seams: Seams::new(node, seams),
            turn: None,
            out: pieces.clone(),
            tally: Tally::default(),
        };
        let work = sharing(sorter, sort);
        pipeline.stage(node, StageName::Sorter, plan.sorters, work);
        let sink = async move |worker: &Worker| {
            while let Some(piece) = worker.pop(&pieces).await? {
                piece.home.give(&worker.node, piece.buffer).await;
            }
            Ok(())
        };
        pipeline.stage(node, "sink", 1, sink);
        self.report(pipeline).await
    }

    /// Pieces > writer > a file that is thrown away.
    pub(super) async fn on_output(&self) -> Result<StageReport, Failure> {
        let target = Target::Path(self.job.directory.join("gristmill-stage-output"));
        let output = Output::open(self.node, &target, self.job.resources.io, &[]).await?;
        let report = self.writer(&output).await;
        output.discard(self.node).await;
        report
    }

    async fn writer(&self, output: &Output) -> Result<StageReport, Failure> {
        let (node, plan) = (self.node, &self.plan);
        let total = self.even().all.bytes.next_multiple_of(BLOCK_BYTES);
        output.reserve(node, total).await?;
        let mut pipeline = self.pipeline();
        let pool = self.filled(plan.buffers(), plan.buffer_bytes())?;
        let pool = pipeline.owns(Pool::new(node, "unit buffers", pool));
        let pieces = pipeline.owns(Queue::new(node, "pieces", plan.write_queue(), 1));
        let (unit, out) = (plan.unit_bytes, pieces.clone());
        let source = async move |worker: &Worker| {
            for offset in (0..total).step_by(unit) {
                let mut buffer = worker.take(&pool).await?;
                let bytes = unit.min((total - offset) as usize);
                buffer.set_len(bytes);
                let home = pool.clone();
                let piece = Piece {
                    file: 0,
                    offset,
                    range: 0..bytes,
                    buffer,
                    home,
                };
                worker.push(&out, piece).await?;
            }
            out.finish(&worker.node).await;
            Ok(())
        };
        pipeline.stage(node, "source", 1, source);
        let writer = Writer {
            output: Arc::new(output.clone()),
            pieces,
            depth: Dial::fixed(plan.depth),
        };
        let work = sharing(writer, write);
        pipeline.stage(node, StageName::Writer, plan.writers, work);
        self.report(pipeline).await
    }
}
