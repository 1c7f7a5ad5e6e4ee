//! The exchange: every node's records go to the node whose keys they hold (TritonSort 3.3, NOW-Sort
//! 6).
//!
//! ```text
//! reader > node distributor > sender ==> receiver > opener > distributor > (as on one node)
//!             | a chunk a rank    ==>  confirmer
//! ```
//!
//! What is sent is a chunk as spill files have it: it says at its end what it holds, with a
//! checksum, and with `--stable` where in the input its records were. Each side has its own memory:
//! a node that waits for others can always take what they send.

use crate::protocol::{CHUNKS, ROUNDS};
use std::sync::Arc;

use node::{BulkPort, MessagePort, Node, Pool, Posted, Queue, Tokens};
use pipeline::{Failure, Pipeline};

use crate::job::ExchangeKind;
use crate::passes::wiring::{Pools, Run};
use crate::plan::{Exchanging, window};
use crate::records::block::{Block, Chunk};
use crate::records::contents::Contents;
use crate::records::splitters::Splitters;
use crate::stages::{
    Confirmer, Distributor, Opener, Receiver, Sender, Tally, confirm, distribute, open, receive,
    send,
};

/// This node's ends of both.
#[derive(Clone)]
pub(crate) struct Ports {
    chunks: Arc<BulkPort>,
    rounds: Arc<MessagePort>,
}

impl Ports {
    /// Takes them: who sends early waits for their owner.
    pub(crate) fn bind(node: &Node) -> Ports {
        let (chunks, rounds) = (node.bind_bulk(CHUNKS), node.bind(ROUNDS));
        Ports {
            chunks: Arc::new(chunks),
            rounds: Arc::new(rounds),
        }
    }
}

/// How this node's run exchanges records.
#[derive(Clone)]
pub(crate) struct Exchange {
    pub plan: Exchanging,
    /// What divides the ranks.
    pub ranks: Posted<Splitters>,
    /// What divides the partitions of this one.
    pub partitions: Posted<Splitters>,
    pub ports: Ports,
    /// Whose the ranges are, if not each rank's that of its number.
    pub owners: Option<Arc<Vec<Option<u32>>>>,
    /// What was read here.
    pub read: Tally,
}

impl Exchange {
    /// Each rank has the range of its number; `divided` is what divides ranks, and this one's
    /// partitions.
    pub(crate) async fn new(
        node: &Node,
        plan: Exchanging,
        ports: &Ports,
        divided: (Splitters, Splitters),
    ) -> Exchange {
        let ranks = Posted::new(node, "splitters of ranks");
        let partitions = Posted::new(node, "splitters");
        ranks.post(node, divided.0).await;
        partitions.post(node, divided.1).await;
        let (ports, read) = (ports.clone(), Tally::default());
        Exchange {
            plan,
            ranks,
            partitions,
            ports,
            owners: None,
            read,
        }
    }

    /// All stages from the input to the chunks of partitions, with what divides those.
    pub(crate) fn start(
        &self,
        run: &Run<'_>,
        pipeline: &mut Pipeline,
        memory: &Pools,
    ) -> Result<(Posted<Splitters>, Queue<Vec<Chunk>>), Failure> {
        let (node, plan, contents) = (run.node, &self.plan, &run.job.contents);
        let sent = run.pool(pipeline, "chunks to send", (plan.sent, plan.chunk_bytes))?;
        let received = run.pool(
            pipeline,
            "chunks to receive",
            (plan.received, plan.chunk_bytes),
        )?;
        // A rank that owns several ranges needs open chunks for each: then the pool alone bounds
        // what it has.
        let shares = self.owners.is_none().then(|| plan.shares(pipeline, node));
        let blocks = run.blocks(pipeline);
        run.start_readers(pipeline, memory, (blocks.clone(), None));
        let distributors = run.plan.distributors;
        let full = pipeline.owns(Queue::new(
            node,
            "chunks of ranks",
            distributors,
            distributors,
        ));
        let distributor = Distributor {
            contents: Arc::clone(contents),
            splitters: pipeline.owns(self.ranks.clone()),
            blocks,
            pool: memory.units.clone(),
            chunks: sent.clone(),
            shape: plan.shape,
            limit: None,
            shares: shares.clone(),
            out: full.clone(),
            tally: self.read.clone(),
            owners: self.owners.clone(),
        };
        let stage = run.dials.stage("node distributor", distributors, 0);
        pipeline.start(node, stage, async move |worker| {
            distribute(worker, &distributor).await
        });
        let link = Link {
            node,
            kind: run.job.exchange,
            contents,
            plan,
            ports: &self.ports,
        };
        let outgoing = Outgoing {
            chunks: full,
            pool: sent,
            shares,
        };
        let came = link.start(pipeline, outgoing, &received, run.plan.read_queue());
        let partitions = pipeline.owns(self.partitions.clone());
        let from_others = (&received, &memory.chunks);
        let chunks = run.start_distributors(pipeline, (&partitions, &run.tally), came, from_others);
        Ok((partitions, chunks))
    }
}

/// What goes out.
#[derive(Clone)]
pub(crate) struct Outgoing {
    /// Chunks whose bucket is a rank.
    pub chunks: Queue<Vec<Chunk>>,
    /// Where they come from.
    pub pool: Pool,
    /// As many of each rank as may be taken from there, if that is bounded.
    pub shares: Option<Tokens>,
}

/// The stages between full chunks here and records that came from elsewhere.
pub(crate) struct Link<'a> {
    pub node: &'a Node,
    pub kind: ExchangeKind,
    pub contents: &'a Arc<dyn Contents>,
    pub plan: &'a Exchanging,
    pub ports: &'a Ports,
}

impl Link<'_> {
    /// sender, confirmer; receiver > opener: blocks in buffers of `received`, of which so many may
    /// wait.
    pub(crate) fn start(
        &self,
        pipeline: &mut Pipeline,
        outgoing: Outgoing,
        received: &Pool,
        queue: usize,
    ) -> Queue<Block> {
        let (node, plan, ranks) = (self.node, self.plan, self.node.nodes());
        let Outgoing {
            chunks,
            pool,
            shares,
        } = outgoing;
        let window = window(self.kind);
        let credits = of_each(ranks, window);
        let credits = pipeline.owns(Tokens::new(node, "credits", credits));
        let on_their_way = window * ranks as usize;
        let shipped = pipeline.owns(Queue::new(node, "chunks on their way", on_their_way, 1));
        let sender = Sender {
            kind: self.kind,
            contents: Arc::clone(self.contents),
            chunks,
            pool: pool.clone(),
            credits: credits.clone(),
            window,
            port: CHUNKS,
            rounds: Arc::clone(&self.ports.rounds),
            out: shipped.clone(),
        };
        pipeline.stage(node, "sender", 1, async move |worker| {
            send(worker, &sender).await
        });
        let confirmer = Confirmer {
            shipped,
            credits,
            shares,
            pool,
        };
        pipeline.stage(node, "confirmer", 1, async move |worker| {
            confirm(worker, &confirmer).await
        });
        let arrivals = pipeline.owns(Queue::new(node, "arrivals", plan.received, 1));
        let port = pipeline.owns(Arc::clone(&self.ports.chunks));
        let receiver = Receiver {
            port,
            pool: received.clone(),
            out: arrivals.clone(),
        };
        pipeline.stage(node, "receiver", 1, async move |worker| {
            receive(worker, &receiver).await
        });
        let came = pipeline.owns(Queue::new(node, "blocks that came", queue, 1));
        let opener = Opener {
            contents: Arc::clone(self.contents),
            arrivals,
            pool: received.clone(),
            out: came.clone(),
        };
        pipeline.stage(node, "opener", 1, async move |worker| {
            open(worker, &opener).await
        });
        came
    }
}

impl Exchanging {
    /// As many tokens of each rank as it may have chunks.
    pub(crate) fn shares(&self, pipeline: &Pipeline, node: &Node) -> Tokens {
        pipeline.owns(Tokens::new(
            node,
            "shares",
            of_each(node.nodes(), self.share),
        ))
    }
}

fn of_each(ranks: u32, count: usize) -> Vec<u32> {
    (0..ranks).flat_map(|rank| vec![rank; count]).collect()
}
