//! The exchange: every record goes to the rank that owns its key (NOW-Sort 6.1, "communicate";
//! TritonSort 3.3).
//!
//! ```text
//! reader > node distributor > sender ==> receiver > opener > distributor > (as on one node)
//!                           confirmer <==
//! ```
//!
//! A message is a chunk in the format of spill files: it holds the number of its records, a
//! checksum, and with `--stable` their positions in the input. Sending and receiving have separate
//! memory: a rank that waits for others can always take what they send.

use std::sync::Arc;

use node::{BulkPort, MessagePort, Node, Pool, Posted, Queue, Tokens};
use pipeline::{Failure, Pipeline, sharing};

use crate::job::ExchangeKind;
use crate::names::StageName;
use crate::passes::wiring::{Dividing, Pools, RunContext};
use crate::plan::{Exchanging, window};
use crate::protocol::{CHUNKS, ROUNDS};
use crate::records::block::{Block, Chunk};
use crate::records::contents::Contents;
use crate::records::splitters::Splitters;
use crate::stages::{
    Confirmer, Distributor, Opener, Receiver, Sender, Tally, confirm, distribute, open, receive,
    send,
};

/// This rank's ports for chunks and for rounds.
#[derive(Clone)]
pub(crate) struct Ports {
    chunks: Arc<BulkPort>,
    rounds: Arc<MessagePort>,
}

impl Ports {
    /// Binds the ports; a rank that sends early waits for that.
    pub(crate) fn bind(node: &Node) -> Ports {
        let (chunks, rounds) = (node.bind_bulk(CHUNKS), node.bind(ROUNDS));
        Ports {
            chunks: Arc::new(chunks),
            rounds: Arc::new(rounds),
        }
    }
}

/// The exchange as this rank's run takes part in it.
#[derive(Clone)]
pub(crate) struct Exchange {
    pub plan: Exchanging,
    /// Splitters of the ranges.
    pub ranks: Posted<Splitters>,
    /// Splitters of this rank's partitions.
    pub partitions: Posted<Splitters>,
    pub ports: Ports,
    /// The owners of the ranges; `None` if each rank owns the range of its number.
    pub owners: Option<Arc<Vec<Option<u32>>>>,
    /// Records that this rank has read.
    pub read: Tally,
}

impl Exchange {
    /// An exchange where each rank owns the range of its number. `divided` has the splitters of the
    /// ranges and of this rank's partitions.
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

    /// Starts all stages from the input to the chunks of partitions. Returns the partitions'
    /// splitters and the chunks.
    pub(crate) fn start(
        &self,
        run: &RunContext<'_>,
        pipeline: &mut Pipeline,
        memory: &Pools,
    ) -> Result<(Posted<Splitters>, Queue<Vec<Chunk>>), Failure> {
        let (node, plan, contents) = (run.node, &self.plan, &run.job.contents);
        let sent = run.pool(pipeline, "chunks to send", (plan.sent, plan.chunk_bytes))?;
        let room = (plan.received, plan.chunk_bytes);
        let received = run.pool(pipeline, "chunks to receive", room)?;
        let outgoing = self.start_node_distributor(run, pipeline, memory, sent);
        let link = Link {
            node,
            kind: run.job.exchange,
            contents,
            plan,
            ports: &self.ports,
        };
        let came = link.start(pipeline, outgoing, &received, run.plan.read_queue());
        let partitions = pipeline.owns(self.partitions.clone());
        let dividing = Dividing {
            blocks: came,
            splitters: &partitions,
            from: &received,
            to: &memory.chunks,
            tally: &run.tally,
            drops_repeats: false,
        };
        let chunks = run.start_distributors(pipeline, dividing);
        Ok((partitions, chunks))
    }

    /// Starts the readers, and the stage that fills chunks of `sent` for each rank.
    fn start_node_distributor(
        &self,
        run: &RunContext<'_>,
        pipeline: &mut Pipeline,
        memory: &Pools,
        sent: Pool,
    ) -> Outgoing {
        let (node, plan, workers) = (run.node, &self.plan, run.plan.node_distributors);
        // A rank that owns several ranges needs open chunks for each: then only the pool bounds its
        // chunks.
        let shares = self.owners.is_none().then(|| plan.shares(pipeline, node));
        let blocks = run.blocks(pipeline);
        run.start_readers(pipeline, memory, (blocks.clone(), None));
        let full = pipeline.owns(Queue::new(node, "chunks of ranks", workers, workers));
        let distributor = Distributor {
            part_bytes: plan.read_bytes,
            contents: Arc::clone(&run.job.contents),
            splitters: pipeline.owns(self.ranks.clone()),
            blocks,
            pool: memory.units.clone(),
            chunks: sent.clone(),
            shape: plan.shape,
            limit: None,
            shares: shares.clone(),
            out: full.clone(),
            tally: self.read.clone(),
            drops_repeats: false,
            owners: self.owners.clone(),
        };
        pipeline.stage(
            node,
            StageName::NodeDistributor,
            workers,
            sharing(distributor, distribute),
        );
        Outgoing {
            chunks: full,
            pool: sent,
            shares,
        }
    }
}

/// The sending side.
#[derive(Clone)]
pub(crate) struct Outgoing {
    /// Full chunks; the bucket of each is its rank.
    pub chunks: Queue<Vec<Chunk>>,
    pub pool: Pool,
    /// A token for each chunk that a rank may take from the pool, if that is bounded.
    pub shares: Option<Tokens>,
}

/// The stages between full chunks here and the blocks that arrive.
pub(crate) struct Link<'a> {
    pub node: &'a Node,
    pub kind: ExchangeKind,
    pub contents: &'a Arc<dyn Contents>,
    pub plan: &'a Exchanging,
    pub ports: &'a Ports,
}

impl Link<'_> {
    /// Starts sender and confirmer, and receiver > opener. Returns the arriving blocks, in buffers
    /// of `received`; at most `queue` of them wait.
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
        pipeline.stage(node, StageName::Sender, 1, sharing(sender, send));
        let confirmer = Confirmer {
            shipped,
            credits,
            shares,
            pool,
        };
        pipeline.stage(node, StageName::Confirmer, 1, sharing(confirmer, confirm));
        let arrivals = pipeline.owns(Queue::new(node, "arrivals", plan.received, 1));
        let port = pipeline.owns(Arc::clone(&self.ports.chunks));
        let receiver = Receiver {
            port,
            pool: received.clone(),
            out: arrivals.clone(),
        };
        pipeline.stage(node, StageName::Receiver, 1, sharing(receiver, receive));
        let came = pipeline.owns(Queue::new(node, "blocks that came", queue, 1));
        let opener = Opener {
            contents: Arc::clone(self.contents),
            arrivals,
            pool: received.clone(),
            out: came.clone(),
        };
        pipeline.stage(node, StageName::Opener, 1, sharing(opener, open));
        came
    }
}

impl Exchanging {
    /// A token for each chunk that a rank may have.
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
