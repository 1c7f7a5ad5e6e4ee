//! The exchange: every node's records go to the node whose keys they hold (TritonSort 3.3, NOW-Sort 6).
//!
//! ```text
//! reader > node distributor > sender ==> receiver > opener > distributor > (as on one node)
//!             | a chunk a rank    ==>  confirmer
//! ```
//!
//! What is sent is a chunk as spill files have it: it says at its end what it holds, with a checksum, and with
//! `--stable` where in the input its records were. Each side has its own memory: a node that waits for others
//! can always take what they send.

use std::sync::Arc;

use node::{BulkPort, Port, Posted, Queue, Tokens};
use pipeline::{Failure, Pipeline};

use crate::block::Chunk;
use crate::phase::{Pools, Run};
use crate::plan::Exchanging;
use crate::splitters::Splitters;
use crate::stages::{
    Confirmer, Distributor, Opener, Receiver, Sender, Tally, confirm, distribute, open, receive,
    send,
};

/// Where chunks come in.
pub const CHUNKS: Port = Port(101);

/// How this node's run exchanges records.
#[derive(Clone)]
pub(crate) struct Exchange {
    pub plan: Exchanging,
    /// What divides the ranks.
    pub ranks: Posted<Splitters>,
    /// What divides the partitions of this one.
    pub partitions: Posted<Splitters>,
    pub port: Arc<BulkPort>,
    /// Whose the ranges are, if not each rank's that of its number.
    pub owners: Option<Arc<Vec<Option<u32>>>>,
    /// What was read here.
    pub read: Tally,
}

impl Exchange {
    /// All stages from the input to the chunks of partitions, with what divides those.
    pub(crate) fn start(
        &self,
        run: &Run<'_>,
        pipeline: &mut Pipeline,
        memory: &Pools,
    ) -> Result<(Posted<Splitters>, Queue<Vec<Chunk>>), Failure> {
        let (node, plan, contents) = (run.node, &self.plan, &run.job.contents);
        let sent = run.pool(pipeline, "chunks to send", (plan.sent, plan.chunk_bytes))?;
        let received =
            run.pool(pipeline, "chunks to receive", (plan.received, plan.chunk_bytes))?;
        let (ranks, port) = (node.nodes(), pipeline.owns(Arc::clone(&self.port)));
        let blocks = run.blocks(pipeline);
        run.start_readers(pipeline, memory, (blocks.clone(), None));
        let distributors = run.plan.distributors;
        let full = pipeline.owns(Queue::new(node, "chunks of ranks", distributors, distributors));
        let distributor = Distributor {
            contents: Arc::clone(contents),
            splitters: pipeline.owns(self.ranks.clone()),
            blocks,
            pool: memory.units.clone(),
            chunks: sent.clone(),
            shape: plan.shape,
            limit: None,
            out: full.clone(),
            tally: self.read.clone(),
            owners: self.owners.clone(),
        };
        let stage = run.dials.stage("node distributor", distributors, 0);
        pipeline.start(node, stage, async move |worker| distribute(worker, &distributor).await);
        let credits = (0..ranks).flat_map(|rank| vec![rank; plan.window]).collect();
        let credits = pipeline.owns(Tokens::new(node, "credits", credits));
        let on_their_way = plan.window * ranks as usize;
        let shipped = pipeline.owns(Queue::new(node, "chunks on their way", on_their_way, 1));
        let sender = Sender {
            contents: Arc::clone(contents),
            chunks: full,
            credits: credits.clone(),
            port: CHUNKS,
            out: shipped.clone(),
        };
        pipeline.stage(node, "sender", 1, async move |worker| send(worker, &sender).await);
        let confirmer = Confirmer { shipped, credits, pool: sent };
        pipeline.stage(node, "confirmer", 1, async move |worker| confirm(worker, &confirmer).await);
        let arrivals = pipeline.owns(Queue::new(node, "arrivals", plan.received, 1));
        let receiver = Receiver { port, pool: received.clone(), out: arrivals.clone() };
        pipeline.stage(node, "receiver", 1, async move |worker| receive(worker, &receiver).await);
        let came = pipeline.owns(Queue::new(node, "blocks that came", run.plan.read_queue(), 1));
        let opener = Opener {
            contents: Arc::clone(contents),
            arrivals,
            pool: received.clone(),
            out: came.clone(),
        };
        pipeline.stage(node, "opener", 1, async move |worker| open(worker, &opener).await);
        let partitions = pipeline.owns(self.partitions.clone());
        let from_others = (&received, &memory.chunks);
        let chunks = run.start_distributors(pipeline, (&partitions, &run.tally), came, from_others);
        Ok((partitions, chunks))
    }
}
