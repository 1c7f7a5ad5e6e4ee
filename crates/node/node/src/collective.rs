//! Collectives: steps that all nodes take together, each with a string of bytes.
//!
//! ```text
//! gather      every node > the root           which nodes take part, results
//! broadcast   the root > every node           a decision
//! all_to_all  every node > every node         a sample, cut by the owners of ranges
//! ```
//!
//! All nodes take the same steps in the same order. A node that is ahead may send its string of a
//! later step early: each piece carries the number of its step, and the receiver keeps it until
//! then. Strings go straight from node to node over bulk, in pieces, which is enough for a few
//! steps in a run. A program of tiny tasks that does this often needs a tree (NanoSort, section 4).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::sync::Close;
use crate::{Address, Buffer, BulkPort, Node, Pool, Port, Rank, Undelivered};

/// Bytes of a piece: a few pages, so that waiting pieces take little memory.
const PIECE_BYTES: usize = 64 << 10;

/// Buffers for arriving pieces.
const PIECES: usize = 4;

/// The steps that a node may be ahead of another one. A node that only sends does not wait, but
/// programs alternate sending and receiving.
const STEPS_AHEAD: u64 = 8;

/// Three words in front of a piece: its step, the length of the string, its offset in the string.
const HEADER_BYTES: usize = 24;

/// One node's part in the collective steps of a run.
pub struct Collective {
    number: Port,
    port: Arc<BulkPort>,
    pool: Pool,
    step: u64,
    arriving: BTreeMap<(u64, Rank), Arriving>,
}

/// A string whose pieces arrive in any order.
#[derive(Default)]
struct Arriving {
    /// By offset.
    pieces: BTreeMap<usize, Vec<u8>>,
    bytes: usize,
    /// The length of the string, known from its first piece on.
    whole: Option<usize>,
}

impl Collective {
    /// Takes part, as the owner of `port`; every node uses the same port.
    pub fn new(node: &Node, port: Port) -> Collective {
        let buffers = (0..PIECES)
            .map(|_| Buffer::heap(HEADER_BYTES + PIECE_BYTES))
            .collect();
        let pool = Pool::new(node, "pieces of a collective", buffers);
        let arriving = BTreeMap::new();
        Collective {
            number: port,
            port: Arc::new(node.bind_bulk(port)),
            pool,
            step: 0,
            arriving,
        }
    }

    /// A handle that ends all waits for other nodes with [`Undelivered::Closed`].
    pub fn closer(&self) -> impl Close + use<> {
        Arc::clone(&self.port)
    }

    /// Sends `said` to the root. Returns every node's string there, in the order of ranks, and no
    /// string elsewhere.
    ///
    /// # Errors
    /// [`Undelivered::Closed`] after a close, [`Undelivered::Foreign`] for a piece that does not
    /// belong to these steps.
    pub async fn gather(
        &mut self,
        node: &Node,
        root: Rank,
        said: Vec<u8>,
    ) -> Result<Vec<Vec<u8>>, Undelivered> {
        let from = if node.rank() == root {
            0..node.nodes()
        } else {
            0..0
        };
        self.step(node, vec![(root, said)], from.map(Rank)).await
    }

    /// Returns the root's `said` on every node. The other nodes' `said` is ignored.
    ///
    /// # Errors
    /// As [`Collective::gather`].
    pub async fn broadcast(
        &mut self,
        node: &Node,
        root: Rank,
        said: Vec<u8>,
    ) -> Result<Vec<u8>, Undelivered> {
        let receivers = if node.rank() == root {
            0..node.nodes()
        } else {
            0..0
        };
        let sent = receivers.map(|rank| (Rank(rank), said.clone())).collect();
        let mut heard = self.step(node, sent, std::iter::once(root)).await?;
        Ok(heard.pop().expect("the root said something"))
    }

    /// Sends the strings of `said` to the nodes, one each. Returns every node's string to this one,
    /// in the order of ranks.
    ///
    /// # Errors
    /// As [`Collective::gather`].
    pub async fn all_to_all(
        &mut self,
        node: &Node,
        said: Vec<Vec<u8>>,
    ) -> Result<Vec<Vec<u8>>, Undelivered> {
        assert_eq!(said.len(), node.nodes() as usize, "a string for every node");
        let sent = (0..).map(Rank).zip(said).collect();
        self.step(node, sent, (0..node.nodes()).map(Rank)).await
    }

    /// Sends the strings, and waits for one from each rank of `from`.
    async fn step(
        &mut self,
        node: &Node,
        sent: Vec<(Rank, Vec<u8>)>,
        from: impl Iterator<Item = Rank>,
    ) -> Result<Vec<Vec<u8>>, Undelivered> {
        for (to, bytes) in sent {
            self.send(node, to, &bytes);
        }
        let (step, mut heard) = (self.step, Vec::new());
        self.step += 1;
        for from in from {
            let place = (step, from);
            while !self.arriving.get(&place).is_some_and(Arriving::is_whole) {
                self.take(node).await?;
            }
            heard.extend(self.arriving.remove(&place).map(Arriving::string));
        }
        Ok(heard)
    }

    /// Ships the pieces and drops the tickets: the buffers are not used again.
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
            let port = self.number;
            drop(node.ship(Address { rank: to, port }, buffer));
        }
    }

    /// Receives the next piece of any string.
    async fn take(&mut self, node: &Node) -> Result<(), Undelivered> {
        let (from, buffer) = self.port.accept(node, &self.pool).await?;
        let foreign = |what: String| Undelivered::Foreign { from, what };
        let piece = Piece::read(buffer.filled()).map_err(foreign)?;
        // Earlier steps have ended, so no piece of them is missing.
        let now = self.step - 1;
        if !(now..=now + STEPS_AHEAD).contains(&piece.step) {
            let what = format!("a piece of step {}, and this is {now}", piece.step);
            return Err(foreign(what));
        }
        self.arriving
            .entry((piece.step, from))
            .or_default()
            .add(&piece)
            .map_err(foreign)?;
        self.pool.give(node, buffer).await;
        Ok(())
    }
}

struct Piece<'a> {
    step: u64,
    whole: usize,
    offset: usize,
    bytes: &'a [u8],
}

impl Piece<'_> {
    fn read(buffer: &[u8]) -> Result<Piece<'_>, String> {
        let Some((header, bytes)) = buffer.split_first_chunk::<HEADER_BYTES>() else {
            return Err(format!(
                "{} bytes are not a piece of a collective",
                buffer.len()
            ));
        };
        let mut words = header
            .chunks_exact(8)
            .map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes")));
        let mut next = || words.next().expect("three words");
        let (step, whole, offset) = (next(), next() as usize, next() as usize);
        Ok(Piece {
            step,
            whole,
            offset,
            bytes,
        })
    }
}

impl Arriving {
    fn is_whole(&self) -> bool {
        self.whole == Some(self.bytes)
    }

    /// Adds a piece. Memory grows with the pieces, not with the length that a header claims.
    fn add(&mut self, piece: &Piece<'_>) -> Result<(), String> {
        let whole = *self.whole.get_or_insert(piece.whole);
        let rest = whole.saturating_sub(piece.offset);
        let fits = piece.whole == whole && piece.offset.is_multiple_of(PIECE_BYTES);
        let is_new = !self.pieces.contains_key(&piece.offset);
        if !(fits && is_new && piece.bytes.len() == rest.min(PIECE_BYTES)) {
            return Err(format!(
                "{} bytes at {} of {}, where {} of {whole} have come",
                piece.bytes.len(),
                piece.offset,
                piece.whole,
                self.bytes,
            ));
        }
        self.bytes += piece.bytes.len();
        self.pieces.insert(piece.offset, piece.bytes.to_vec());
        Ok(())
    }

    fn string(self) -> Vec<u8> {
        self.pieces.into_values().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(whole: usize, offset: usize, bytes: &[u8]) -> Piece<'_> {
        Piece {
            step: 0,
            whole,
            offset,
            bytes,
        }
    }

    #[test]
    fn pieces_arrive_in_any_order() {
        let string: Vec<u8> = (0..2 * PIECE_BYTES + 5)
            .map(|at| (at * 7 + at / 256) as u8)
            .collect();
        let (whole, mut arriving) = (string.len(), Arriving::default());
        for index in [2, 0, 1] {
            assert!(!arriving.is_whole());
            let offset = index * PIECE_BYTES;
            let end = whole.min(offset + PIECE_BYTES);
            arriving
                .add(&piece(whole, offset, &string[offset..end]))
                .unwrap();
        }
        assert!(arriving.is_whole());
        assert!(arriving.string() == string);
    }

    #[test]
    fn an_empty_string_is_one_piece() {
        let mut arriving = Arriving::default();
        assert!(!arriving.is_whole());
        arriving.add(&piece(0, 0, &[])).unwrap();
        assert!(arriving.is_whole() && arriving.string().is_empty());
    }

    /// A piece that does not fit the earlier pieces is refused, and changes nothing.
    #[test]
    fn a_piece_that_does_not_fit_is_refused() {
        let bytes = vec![7; PIECE_BYTES];
        let whole = PIECE_BYTES + 4;
        let mut arriving = Arriving::default();
        arriving.add(&piece(whole, 0, &bytes)).unwrap();
        for (whole, offset, len) in [
            (whole, 0, PIECE_BYTES),
            (whole + 1, PIECE_BYTES, 4),
            (whole, PIECE_BYTES, 3),
            (whole, PIECE_BYTES, 5),
            (whole, PIECE_BYTES - 1, 5),
            (whole, 2 * PIECE_BYTES, 4),
        ] {
            let told = arriving
                .add(&piece(whole, offset, &bytes[..len]))
                .unwrap_err();
            let expected =
                format!("{len} bytes at {offset} of {whole}, where 65536 of 65540 have come");
            assert_eq!(told, expected);
        }
        arriving
            .add(&piece(whole, PIECE_BYTES, &bytes[..4]))
            .unwrap();
        assert!(arriving.is_whole());
    }

    #[test]
    fn a_header_is_three_words() {
        let mut buffer: Vec<u8> = [5_u64, 6, 7]
            .into_iter()
            .flat_map(u64::to_le_bytes)
            .collect();
        let read = Piece::read(&buffer).unwrap();
        assert_eq!(
            (read.step, read.whole, read.offset, read.bytes.len()),
            (5, 6, 7, 0)
        );
        buffer.push(9);
        assert_eq!(Piece::read(&buffer).unwrap().bytes, [9]);
        let short = Piece::read(&buffer[..23]).map(|_| ()).unwrap_err();
        assert_eq!(short, "23 bytes are not a piece of a collective");
    }
}
