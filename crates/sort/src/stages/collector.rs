//! Collects the chunks of each bucket; when all have come, sizes and places of buckets are known.

use std::sync::Arc;

use node::{Posted, Queue, Work};
use pipeline::{Failure, Worker};

use crate::block::{Bucket, Chunk};
use crate::output::Output;
use crate::splitters::Splitters;

/// What the collector needs.
#[derive(Clone)]
pub(crate) struct Collector {
    pub splitters: Posted<Splitters>,
    pub chunks: Queue<Vec<Chunk>>,
    pub out: Queue<Bucket>,
    pub record_bytes: usize,
    /// To reserve its space, when that was not known before.
    pub output: Option<Arc<Output>>,
}

/// The collector's work.
pub(crate) async fn collect(worker: &Worker, collector: &Collector) -> Result<(), Failure> {
    let splitters = worker.read(&collector.splitters).await?;
    let mut buckets: Vec<Vec<Chunk>> = Vec::new();
    buckets.resize_with(splitters.buckets, Vec::new);
    while let Some(chunks) = worker.pop(&collector.chunks).await? {
        worker.node.work(Work::Account { units: chunks.len() as u64 });
        for chunk in chunks {
            worker.did(chunk.records as usize * collector.record_bytes);
            buckets[chunk.bucket as usize].push(chunk);
        }
    }
    let size = |chunks: &[Chunk]| chunks.iter().map(|chunk| u64::from(chunk.records)).sum::<u64>();
    let total: u64 = buckets.iter().map(|chunks| size(chunks)).sum();
    let output_bytes = total * collector.record_bytes as u64;
    if let Some(output) = &collector.output {
        output.reserve(&worker.node, output_bytes).await?;
    }
    let mut first = 0;
    for (index, chunks) in buckets.into_iter().enumerate() {
        let records = size(&chunks);
        if records == 0 {
            continue;
        }
        let bucket = Bucket { index: index as u32, first, records, chunks, output_bytes };
        first += records;
        worker.push(&collector.out, bucket).await?;
    }
    collector.out.finish(&worker.node).await;
    Ok(())
}
