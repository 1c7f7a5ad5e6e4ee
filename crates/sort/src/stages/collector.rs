//! Collects the chunks of each bucket; when all have come, sizes and places of buckets are known.

use std::sync::Arc;

use node::{Node, Posted, Queue, Work};
use pipeline::{Failure, Worker};

use crate::files::output::{Layout, Output};
use crate::records::block::{Bucket, Chunk};
use crate::records::splitters::Splitters;

/// What the collector needs.
#[derive(Clone)]
pub(crate) struct Collector {
    pub splitters: Posted<Splitters>,
    pub chunks: Queue<Vec<Chunk>>,
    pub out: Queue<Bucket>,
    pub record_bytes: usize,
    /// Whom to ask where buckets go; without an output, all go to one file.
    pub output: Option<Arc<Output>>,
    /// Whether its space is to be reserved, which was not known before.
    pub reserve: bool,
}

/// The collector's work.
pub(crate) async fn collect(worker: &Worker, collector: &Collector) -> Result<(), Failure> {
    let splitters = worker.read(&collector.splitters).await?;
    let mut buckets: Vec<Vec<Chunk>> = Vec::new();
    buckets.resize_with(splitters.buckets, Vec::new);
    while let Some(chunks) = worker.pop(&collector.chunks).await? {
        worker.node.work(Work::Account {
            units: chunks.len() as u64,
        });
        for chunk in chunks {
            worker.did(chunk.records as usize * collector.record_bytes);
            buckets[chunk.bucket as usize].push(chunk);
        }
    }
    let size = |chunks: &Vec<Chunk>| chunks.iter().map(|chunk| u64::from(chunk.records)).sum();
    let sizes: Vec<u64> = buckets.iter().map(size).collect();
    let layout = collector.lay_out(&worker.node, &sizes).await?;
    for &index in &layout.order {
        let bucket = layout.bucket(index, std::mem::take(&mut buckets[index]));
        worker.push(&collector.out, bucket).await?;
    }
    collector.out.finish(&worker.node).await;
    Ok(())
}

impl Collector {
    async fn lay_out(&self, node: &Node, sizes: &[u64]) -> Result<Layout, Failure> {
        let Some(output) = &self.output else {
            return Ok(Layout::of_one_file(sizes, self.record_bytes));
        };
        if self.reserve {
            output
                .reserve(node, sizes.iter().sum::<u64>() * self.record_bytes as u64)
                .await?;
        }
        output.lay_out(node, sizes, self.record_bytes).await
    }
}
