//! Messages between ranks, of any length: in pieces, each with a header, since a message of a node has a longest
//! length and messages may overtake each other.

use std::collections::HashMap;

use gristmill_sim::serde::{Deserialize, Serialize};
use gristmill_sim::{Address, MESSAGE_WORDS, Message, MessagePort, Node, Port, Rank, Words};

const PORT: Port = Port(1);

/// What a message is about. Messages of a sender with one tag are received in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tag(pub u8);

const COLLECTIVE: Tag = Tag(u8::MAX);

/// Messages that were sent, and their bytes, without collectives and headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(crate = "gristmill_sim::serde")]
pub struct Counts {
    /// Messages, whatever their pieces.
    pub messages: u64,
    /// Bytes of their numbers.
    pub bytes: u64,
}

/// A rank's node, as its mail.
pub struct Mail {
    node: Node,
    port: MessagePort,
    /// Pieces that came before they were asked for, by sender and header.
    early: HashMap<(Rank, u64), Words>,
    /// The number of the next message to a rank, and from one.
    next_to: HashMap<(Rank, Tag), u32>,
    next_from: HashMap<(Rank, Tag), u32>,
    sent: Counts,
}

impl Mail {
    /// The mail of a node.
    pub fn new(node: Node) -> Mail {
        Mail {
            port: node.bind(PORT),
            node,
            early: HashMap::new(),
            next_to: HashMap::new(),
            next_from: HashMap::new(),
            sent: Counts::default(),
        }
    }

    /// The node.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// What was sent since the last call.
    pub fn take_counts(&mut self) -> Counts {
        std::mem::take(&mut self.sent)
    }

    /// Lets the time of so many operations pass, at a rate in millions a second. Without a rate they take none here.
    pub async fn work(&self, flop: f64, mflops: Option<f64>) {
        if let Some(mflops) = mflops {
            let ticks = self.node.ticks(flop / mflops / 1e6);
            self.node.sleep_until(self.node.now().after(ticks)).await;
        }
    }

    /// Sends a message. While the NIC has no room, it receives, so that ranks that all send do not wait for ever.
    pub async fn send(&mut self, to: Rank, tag: Tag, values: &[f64]) {
        self.sent.messages += 1;
        self.sent.bytes += 8 * values.len() as u64;
        self.send_pieces(to, tag, values).await;
    }

    async fn send_pieces(&mut self, to: Rank, tag: Tag, values: &[f64]) {
        let first = header(tag, next(&mut self.next_to, to, tag));
        let address = Address {
            rank: to,
            port: PORT,
        };
        for (piece, values) in (first..).zip(pieces(values)) {
            let words: Vec<u64> = values.iter().map(|value| value.to_bits()).collect();
            let words = Words::after(piece, &words);
            while let Some(message) = self.node.send_or_next(address, &words, &self.port).await {
                self.keep(message);
            }
        }
    }

    /// Receives the next message with this tag from a rank, of `count` values.
    pub async fn receive(&mut self, from: Rank, tag: Tag, count: usize) -> Vec<f64> {
        let first = header(tag, next(&mut self.next_from, from, tag));
        let mut values = Vec::with_capacity(count);
        for number in 0..pieces_of(count) {
            let piece = (from, first + number);
            let words = loop {
                if let Some(words) = self.early.remove(&piece) {
                    break words;
                }
                let message = self.port.next(&self.node).await;
                self.keep(message);
            };
            values.extend(words.iter().map(|word| f64::from_bits(*word)));
        }
        assert_eq!(values.len(), count, "rank {from} sent another message");
        values
    }

    fn keep(&mut self, message: Message) {
        let mut words = message.words;
        let header = words.take_first().expect("a message begins with a header");
        self.early.insert((message.from, header), words);
    }

    /// Combines the values of all ranks, in one order, so that each run gives the same bits.
    pub async fn combine(&mut self, values: &mut [f64], fold: fn(f64, f64) -> f64) {
        let (me, ranks) = (self.node.rank().0, self.node.nodes());
        // A binomial tree: the parent is the rank without its lowest bit.
        let bits = (0..32).map(|bit| 1 << bit);
        let below: Vec<u32> = bits
            .take_while(|bit| me & bit == 0 && *bit < ranks)
            .collect();
        let children: Vec<Rank> = below
            .iter()
            .map(|bit| Rank(me | bit))
            .filter(|child| child.0 < ranks)
            .collect();
        for child in &children {
            let theirs = self.receive(*child, COLLECTIVE, values.len()).await;
            values
                .iter_mut()
                .zip(theirs)
                .for_each(|(value, theirs)| *value = fold(*value, theirs));
        }
        if me > 0 {
            let parent = Rank(me & (me - 1));
            self.send_pieces(parent, COLLECTIVE, values).await;
            let all = self.receive(parent, COLLECTIVE, values.len()).await;
            values.copy_from_slice(&all);
        }
        for child in children.iter().rev() {
            self.send_pieces(*child, COLLECTIVE, values).await;
        }
    }

    /// The sums of the values of all ranks.
    pub async fn sums<const N: usize>(&mut self, mut values: [f64; N]) -> [f64; N] {
        self.combine(&mut values, |a, b| a + b).await;
        values
    }

    /// Waits until all ranks are here.
    pub async fn barrier(&mut self) {
        self.sums([0.0]).await;
    }
}

/// Values of a piece.
const PIECE: usize = MESSAGE_WORDS - 1;

/// Pieces of a message of so many values; one without has a header.
fn pieces_of(count: usize) -> u64 {
    count.div_ceil(PIECE).max(1) as u64
}

fn pieces(values: &[f64]) -> impl Iterator<Item = &[f64]> {
    let is_empty = values.is_empty();
    is_empty
        .then_some(values)
        .into_iter()
        .chain(values.chunks(PIECE))
}

/// The header of the first piece of a message; those of the next ones follow.
fn header(tag: Tag, number: u32) -> u64 {
    u64::from(tag.0) << 56 | u64::from(number) << 24
}

fn next(numbers: &mut HashMap<(Rank, Tag), u32>, rank: Rank, tag: Tag) -> u32 {
    let next = numbers.entry((rank, tag)).or_default();
    let number = *next;
    *next = next.wrapping_add(1);
    number
}

impl Counts {
    /// So many times as many.
    #[must_use]
    pub fn times(self, factor: u64) -> Counts {
        Counts {
            messages: factor * self.messages,
            bytes: factor * self.bytes,
        }
    }
}
