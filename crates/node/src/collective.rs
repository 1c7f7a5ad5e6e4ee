//! Collectives over strings of bytes: what all nodes do together, a step at a time.
//!
//! ```text
//! gather      every node > the root           who is there, how it went
//! broadcast   the root > every node           what was decided
//! all_to_all  every node > every node         a sample, cut by who owns which range
//! ```
//!
//! All nodes take the same steps in the same order. A node that is ahead may send its part of the
//! next step before others have theirs of this one: parts carry the number of their step, and wait
//! for it. Everything goes straight from node to node, over bulk, in pieces: for what is said a few
//! times in a run. What a program of tiny tasks does often deserves a tree (NanoSort, section 4).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::sync::Close;
use crate::{Address, Buffer, BulkPort, Node, Pool, Port, Rank, Undelivered};

/// Bytes of a piece: a few pages, so that the pieces that wait to be taken are little memory.
const PIECE_BYTES: usize = 64 << 10;

/// Pieces that are taken while their senders wait for nobody else.
const PIECES: usize = 4;

/// A node that tells without hearing others may be so far ahead; programs take turns at both.
const STEPS_AHEAD: u64 = 8;

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

/// A string on its way here, in whatever order its pieces come.
#[derive(Default)]
struct Arriving {
    /// By where they begin.
    pieces: BTreeMap<usize, Vec<u8>>,
    came: usize,
    /// How long it is, when a piece has come.
    whole: Option<usize>,
}

impl Collective {
    /// Takes a place, as the owner of `port`; every node uses the same.
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

    /// What sends home who waits for others.
    pub fn closer(&self) -> impl Close + use<> {
        Arc::clone(&self.port)
    }

    /// What every node says, in the order of ranks; nothing but at the root.
    ///
    /// # Errors
    /// When it was closed meanwhile, or another node sent what is no part of these steps; so with
    /// all of these.
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

    /// What the root says, which alone is asked.
    ///
    /// # Errors
    /// When the collective was closed, or a node sent something else.
    pub async fn broadcast(
        &mut self,
        node: &Node,
        root: Rank,
        said: Vec<u8>,
    ) -> Result<Vec<u8>, Undelivered> {
        let everybody = if node.rank() == root {
            0..node.nodes()
        } else {
            0..0
        };
        let sent = everybody.map(|rank| (Rank(rank), said.clone())).collect();
        let mut heard = self.step(node, sent, std::iter::once(root)).await?;
        Ok(heard.pop().expect("the root said something"))
    }

    /// What every node says to this one, in the order of ranks; `said` has a string for each of
    /// them.
    ///
    /// # Errors
    /// When the collective was closed, or a node sent something else.
    pub async fn all_to_all(
        &mut self,
        node: &Node,
        said: Vec<Vec<u8>>,
    ) -> Result<Vec<Vec<u8>>, Undelivered> {
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
    ) -> Result<Vec<Vec<u8>>, Undelivered> {
        for (to, bytes) in sent {
            self.send(node, to, &bytes);
        }
        let (step, mut heard) = (self.step, Vec::new());
        self.step += 1;
        for from in from {
            while !self
                .arriving
                .get(&(step, from))
                .is_some_and(Arriving::is_whole)
            {
                self.take(node).await?;
            }
            heard.extend(self.arriving.remove(&(step, from)).map(Arriving::string));
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
            drop(node.ship(
                Address {
                    rank: to,
                    port: self.number,
                },
                buffer,
            ));
        }
    }

    /// Takes the next piece that comes, of whatever string.
    async fn take(&mut self, node: &Node) -> Result<(), Undelivered> {
        let (from, buffer) = self.port.accept(node, &self.pool).await?;
        let foreign = |what: String| Undelivered::Foreign { from, what };
        let piece = Piece::read(buffer.filled()).map_err(foreign)?;
        // Steps before this one were heard in full.
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

/// A part of a string.
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
                "{} bytes are no piece of a collective",
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
        self.whole == Some(self.came)
    }

    /// Adds a piece: memory grows with what comes, whatever length was told.
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
                self.came,
            ));
        }
        self.came += piece.bytes.len();
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
    fn a_string_comes_in_any_order_of_its_pieces() {
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
    fn a_string_of_nothing_is_a_piece() {
        let mut arriving = Arriving::default();
        assert!(!arriving.is_whole());
        arriving.add(&piece(0, 0, &[])).unwrap();
        assert!(arriving.is_whole() && arriving.string().is_empty());
    }

    /// A piece that does not fit the earlier pieces is refused, and changes nothing.
    #[test]
    fn a_piece_that_does_not_fit_is_told() {
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
        assert_eq!(short, "23 bytes are no piece of a collective");
    }
}
