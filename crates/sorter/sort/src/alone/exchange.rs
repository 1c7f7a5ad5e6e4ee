//! Measures the exchange alone, between a synthetic source and a sink: the rate of the network if
//! no disk and no distributor limits it.
//!
//! ```text
//! source > sender, confirmer ==> receiver > opener > sink
//!   ^__________|                     ^_________________|      chunks that are full of records all the time
//! ```
//!
//! The stages in the middle are those of the sort, with as much memory as next to one distributor.
//! The source hands out chunks for all other ranks in turn, like a distributor of even data; a rank
//! sends nothing to itself, since that uses no link. The sink counts, and the opener checks that
//! each chunk arrived unchanged.

use std::sync::Arc;

use node::{Buffer, Collective, Filled, Mutex, Node, Pool, Queue};
use pipeline::{Control, Failure, Pipeline, Worker};
use record::{Generator, Order, Ties};

use crate::error::no_memory;
use crate::job::ExchangeKind;
use crate::passes::exchange::{Link, Outgoing, Ports};
use crate::plan::Exchanging;
use crate::protocol::MEETING;
use crate::records::block::{Block, Chunk};
use crate::records::contents::{Bytes, Contents};
use crate::records::framing::GENSORT;
use crate::records::size::Size;

/// Bytes of the sender's rank at the front of a chunk.
const RANK_BYTES: usize = 4;

/// Length of a sort's queue between opener and distributor.
const QUEUE: usize = 2;

/// This node's side of measured exchanges, one after the other.
pub struct ExchangeAlone {
    ports: Ports,
    together: Collective,
}

/// The result of an exchange.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchanged {
    /// Seconds from the moment when all ranks were ready until this one had sent and received
    /// everything.
    pub seconds: f64,
    /// Number of records received.
    pub records: u64,
    /// The sender of each chunk received.
    pub from: Vec<u32>,
}

/// The data that each rank sends to each other rank.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// How ranks exchange.
    pub kind: ExchangeKind,
    /// Chunks for each other rank.
    pub chunks: u64,
    /// Bytes of each.
    pub chunk_bytes: usize,
}

impl ExchangeAlone {
    /// Binds the ports; once per node.
    pub fn new(node: &Node) -> ExchangeAlone {
        ExchangeAlone {
            ports: Ports::bind(node),
            together: Collective::new(node, MEETING),
        }
    }

    /// Exchanges with all other ranks, which all begin at once.
    ///
    /// # Errors
    /// When the system refuses memory, or a chunk arrives damaged.
    pub async fn run(&mut self, node: &Node, load: Load) -> Result<Exchanged, Failure> {
        let contents: Arc<dyn Contents> = Arc::new(Bytes::new(Order::gensort(Ties::Record)));
        let plan = Exchanging::alone(node.nodes(), load.chunk_bytes, GENSORT);
        let mut pipeline = Pipeline::new(&Control::default());
        let pool = |label, count| -> Result<Pool, Failure> {
            let buffers = filled(node, &*contents, count, plan.chunk_bytes)?;
            Ok(pipeline.owns(Pool::new(node, label, buffers)))
        };
        let sent = pool("chunks to send", plan.sent)?;
        let received = pool("chunks to receive", plan.received)?;
        self.meet(node).await?;
        let begin = node.now();
        let full = pipeline.owns(Queue::new(node, "chunks of ranks", 1, 1));
        let outgoing = Outgoing {
            chunks: full,
            pool: sent,
            shares: Some(plan.shares(&pipeline, node)),
        };
        let source = Source {
            outgoing: outgoing.clone(),
            load,
            size: GENSORT.size_of(plan.shape.room.into()),
        };
        pipeline.stage(node, "source", 1, async move |worker| {
            source.run(worker).await
        });
        let (kind, contents, plan, ports) = (load.kind, &contents, &plan, &self.ports);
        let link = Link {
            node,
            kind,
            contents,
            plan,
            ports,
        };
        let blocks = link.start(&mut pipeline, outgoing, &received, QUEUE);
        let came = Arc::new(Mutex::new((0, Vec::new())));
        let sink = Sink {
            blocks,
            pool: received,
            came: Arc::clone(&came),
        };
        pipeline.stage(node, "sink", 1, async move |worker| sink.run(worker).await);
        pipeline.join(node).await?;
        let seconds = node.seconds(node.now().since(begin));
        self.meet(node).await?;
        let (records, from) = std::mem::take(&mut *came.lock());
        Ok(Exchanged {
            seconds,
            records,
            from,
        })
    }

    async fn meet(&mut self, node: &Node) -> Result<(), Failure> {
        let nothing = vec![Vec::new(); node.nodes() as usize];
        Ok(self.together.all_to_all(node, nothing).await.map(drop)?)
    }
}

/// Buffers full of records, the first of which begins with this rank's number.
fn filled(
    node: &Node,
    contents: &dyn Contents,
    count: usize,
    bytes: usize,
) -> Result<Vec<Buffer>, Failure> {
    let buffers = contents.buffers(node, count, bytes, Filled::Often);
    let mut buffers = buffers.map_err(|cause| no_memory(count * bytes, &cause))?;
    let whole = GENSORT.whole(bytes as u64) as usize;
    for buffer in &mut buffers {
        Generator::default().fill(0, &mut buffer.bytes_mut()[..whole]);
        buffer.bytes_mut()[..RANK_BYTES].copy_from_slice(&node.rank().0.to_le_bytes());
    }
    Ok(buffers)
}

#[derive(Clone)]
struct Source {
    outgoing: Outgoing,
    load: Load,
    size: Size,
}

impl Source {
    async fn run(&self, worker: &Worker) -> Result<(), Failure> {
        let (own, ranks) = (worker.node.rank().0, worker.node.nodes());
        let Outgoing {
            chunks,
            pool,
            shares,
        } = &self.outgoing;
        for _ in 0..self.load.chunks {
            let mut full = Vec::new();
            for bucket in (1..ranks).map(|step| (own + step) % ranks) {
                if let Some(shares) = shares {
                    worker
                        .hold(shares.take_any(&worker.node, &[bucket], None))
                        .await?;
                }
                full.push(Chunk {
                    bucket,
                    size: self.size,
                    marks: Vec::new(),
                    buffer: worker.take(pool).await?,
                });
            }
            worker.push(chunks, full).await?;
        }
        chunks.finish(&worker.node).await;
        Ok(())
    }
}

#[derive(Clone)]
struct Sink {
    blocks: Queue<Block>,
    pool: Pool,
    came: Arc<Mutex<(u64, Vec<u32>)>>,
}

impl Sink {
    async fn run(&self, worker: &Worker) -> Result<(), Failure> {
        let (mut records, mut from) = (0, Vec::new());
        while let Some(block) = worker.pop(&self.blocks).await? {
            records += block.size.records;
            let rank = block
                .buffer
                .bytes()
                .first_chunk::<RANK_BYTES>()
                .expect("a whole chunk");
            from.push(u32::from_le_bytes(*rank));
            self.pool.give(&worker.node, block.buffer).await;
        }
        *self.came.lock() = (records, from);
        Ok(())
    }
}
