//! Collectives over strings of bytes: what all nodes do together, a step at a time.
//!
//! ```text
//! gather      every node > the root           who is there, how it went
//! broadcast   the root > every node           what was decided
//! all_to_all  every node > every node         a sample, cut by who owns which range
//! ```
//!
//! All nodes take the same steps in the same order. A node that is ahead may send its part of the next step
//! before others have theirs of this one: parts carry the number of their step, and wait for it. Everything
//! goes straight from node to node, over bulk, in pieces: for what is said a few times in a run. What a
//! program of tiny tasks does often deserves a tree (NanoSort, section 4).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::guarded::{Close, Closed};
use crate::{Address, Buffer, BulkPort, Node, Pool, Port, Rank};

/// Bytes of a piece: a few pages, so that the pieces that wait to be taken are little memory.
const PIECE_BYTES: usize = 64 << 10;

/// Pieces that are taken while their senders wait for nobody else.
const PIECES: usize = 4;

/// In front of a piece: its step, the length of the string, where the piece begins in it.
const HEADER_BYTES: usize = 24;

/// A node's place among all that take the same steps.
pub struct Collective {
    number: Port,
    port: Arc<BulkPort>,
    pool: Pool,
    step: u64,
    arriving: BTreeMap<(u64, Rank), Arriving>,
}

/// A string on its way here.
#[derive(Default)]
struct Arriving {
    bytes: Vec<u8>,
    missing: Option<usize>,
}

impl Collective {
    /// Takes a place, as the owner of `port`; every node uses the same.
    pub fn new(node: &Node, port: Port) -> Collective {
        let buffers = (0..PIECES).map(|_| Buffer::heap(HEADER_BYTES + PIECE_BYTES)).collect();
        let pool = Pool::new(node, "pieces of a collective", buffers);
        let arriving = BTreeMap::new();
        Collective { number: port, port: Arc::new(node.bind_bulk(port)), pool, step: 0, arriving }
    }

    /// What sends home who waits for others.
    pub fn closer(&self) -> impl Close + use<> {
        Arc::clone(&self.port)
    }

    /// What every node says, in the order of ranks; nothing but at the root.
    ///
    /// # Errors
    /// When it was closed meanwhile; so with all of these.
    pub async fn gather(
        &mut self,
        node: &Node,
        root: Rank,
        said: Vec<u8>,
    ) -> Result<Vec<Vec<u8>>, Closed> {
        let from = if node.rank() == root { 0..node.nodes() } else { 0..0 };
        self.step(node, vec![(root, said)], from.map(Rank)).await
    }

    /// What the root says, which alone is asked.
    pub async fn broadcast(
        &mut self,
        node: &Node,
        root: Rank,
        said: Vec<u8>,
    ) -> Result<Vec<u8>, Closed> {
        let everybody = if node.rank() == root { 0..node.nodes() } else { 0..0 };
        let sent = everybody.map(|rank| (Rank(rank), said.clone())).collect();
        let mut heard = self.step(node, sent, std::iter::once(root)).await?;
        Ok(heard.pop().expect("the root said something"))
    }

    /// What every node says to this one, in the order of ranks; `said` has a string for each of them.
    pub async fn all_to_all(
        &mut self,
        node: &Node,
        said: Vec<Vec<u8>>,
    ) -> Result<Vec<Vec<u8>>, Closed> {
        assert_eq!(said.len(), node.nodes() as usize, "a string for every node");
        let sent = (0..).map(Rank).zip(said).collect();
        self.step(node, sent, (0..node.nodes()).map(Rank)).await
    }

    /// Sends these, and waits for a string of each of `from`.
    async fn step(
        &mut self,
        node: &Node,
        sent: Vec<(Rank, Vec<u8>)>,
        from: impl Iterator<Item = Rank>,
    ) -> Result<Vec<Vec<u8>>, Closed> {
        for (to, bytes) in sent {
            self.send(node, to, &bytes);
        }
        let (step, mut heard) = (self.step, Vec::new());
        self.step += 1;
        for from in from {
            while !self.arriving.get(&(step, from)).is_some_and(Arriving::is_whole) {
                self.take(node).await?;
            }
            heard.extend(self.arriving.remove(&(step, from)).map(|string| string.bytes));
        }
        Ok(heard)
    }

    /// Nobody waits for the buffers: the receiver takes every piece before it goes on.
    fn send(&self, node: &Node, to: Rank, bytes: &[u8]) {
        let pieces = bytes.len().div_ceil(PIECE_BYTES).max(1);
        for offset in (0..pieces).map(|piece| piece * PIECE_BYTES) {
            let piece = &bytes[offset..bytes.len().min(offset + PIECE_BYTES)];
            let mut buffer = Buffer::heap(HEADER_BYTES + piece.len());
            let header = [self.step, bytes.len() as u64, offset as u64];
            let (words, rest) = buffer.bytes_mut().split_at_mut(HEADER_BYTES);
            for (place, word) in words.chunks_exact_mut(8).zip(header) {
                place.copy_from_slice(&word.to_le_bytes());
            }
            rest.copy_from_slice(piece);
            buffer.set_len(HEADER_BYTES + piece.len());
            drop(node.ship(Address { rank: to, port: self.number }, buffer));
        }
    }

    /// Takes the next piece that comes, of whatever string.
    async fn take(&mut self, node: &Node) -> Result<(), Closed> {
        let (from, buffer) = self.port.accept(node, &self.pool).await?;
        let (header, piece) = buffer.filled().split_at(HEADER_BYTES);
        let word = |number: usize| {
            let bytes = header[number * 8..][..8].try_into().expect("eight bytes");
            u64::from_le_bytes(bytes)
        };
        let (step, all, offset) = (word(0), word(1) as usize, word(2) as usize);
        let string = self.arriving.entry((step, from)).or_default();
        string.bytes.resize(all, 0);
        string.bytes[offset..offset + piece.len()].copy_from_slice(piece);
        string.missing = Some(string.missing.unwrap_or(all) - piece.len());
        self.pool.give(node, buffer).await;
        Ok(())
    }
}

impl Arriving {
    fn is_whole(&self) -> bool {
        self.missing == Some(0)
    }
}
