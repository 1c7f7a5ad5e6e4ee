//! Step 4: each node fetches the values of its keys from the nodes that had them at first, and
//! serves the values of its own first records (NanoSort, section 5.2).
//!
//! ```text
//!   node with the key  --request: keys-->  node with the value
//!                      <--reply: key, value--   one per key
//! ```
//!
//! A node ends when it has served all its records and has received all its values.

use std::ops::Range;

use node::{Message, Node, Rank};

use super::limits::{FEW, MOST_WORDS};
use super::sorter::{Sorter, TaggedKey, VALUES};
use crate::bounds::Bounds;
use crate::records::{VALUE_WORDS, store_value, sum_of, value_of};
use crate::work;

// The first word of a message.
const REQUEST: u64 = 0;
const REPLY: u64 = 1;

impl Sorter {
    /// Fetches and serves values; returns how many of the fetched ones are wrong.
    pub async fn fetch_values(&mut self, node: &Node) -> u32 {
        node.stage("values");
        let mut keys = std::mem::take(&mut self.keys);
        keys.sort_unstable_by_key(|tagged| (tagged.origin, tagged.key));
        // The place of each key here, and the keys of each origin.
        work::hash(node, 2 * keys.len());
        let own = keys_of(&keys, node.rank());
        let most = most_requested(self.records);
        let mut requests = requests(&keys, &own, self.records).peekable();
        let mut values = Values::new(self, node, keys.len(), &keys[own.clone()]);
        while !values.is_done() {
            while let Some(keys) = requests.next_if(|keys| values.requested + keys.len() <= most) {
                values.request(keys).await;
            }
            let message = values.next().await;
            match message.words[0] {
                REPLY => values.receive(&message),
                _ => values.serve(&message).await,
            }
        }
        let wrong = values.wrong;
        drop(requests);
        keys.sort_unstable_by_key(|tagged| tagged.key);
        self.keys = keys;
        wrong
    }
}

/// The exchange of values at one node.
struct Values<'a> {
    sorter: &'a mut Sorter,
    node: &'a Node,
    words: Vec<u64>,
    /// Own records that are still to be served.
    unserved: u32,
    /// Keys whose value has not arrived.
    missing: usize,
    /// Those of them that were requested.
    requested: usize,
    wrong: u32,
}

impl<'a> Values<'a> {
    /// For a node with `keys` keys, `own` among them, whose values are here already.
    fn new(sorter: &'a mut Sorter, node: &'a Node, keys: usize, own: &[TaggedKey]) -> Values<'a> {
        let mut values = Values {
            unserved: sorter.records - own.len() as u32,
            sorter,
            node,
            words: Vec::with_capacity(2 + VALUE_WORDS),
            missing: keys - own.len(),
            requested: 0,
            wrong: 0,
        };
        for tagged in own {
            values.store(tagged.key, &value_of(tagged.key, tagged.origin));
        }
        values
    }

    fn is_done(&self) -> bool {
        self.unserved == 0 && self.missing == 0
    }

    async fn next(&mut self) -> Message {
        self.sorter.steps.next(self.node, VALUES).await
    }

    async fn send(&mut self, to: Rank) {
        let sorter = &mut *self.sorter;
        sorter.send(self.node, to, VALUES, &self.words).await;
    }

    /// Requests the values of keys of one origin.
    async fn request(&mut self, keys: &[TaggedKey]) {
        self.words.clear();
        self.words.push(REQUEST);
        self.words.extend(keys.iter().map(|tagged| tagged.key));
        self.requested += keys.len();
        self.send(keys[0].origin).await;
    }

    fn receive(&mut self, reply: &Message) {
        let (key, value) = (reply.words[1], &reply.words[2..]);
        self.wrong += u32::from(*value != value_of(key, reply.from));
        self.missing -= 1;
        self.requested -= 1;
        self.store(key, value);
    }

    async fn serve(&mut self, request: &Message) {
        for &key in &request.words[1..] {
            work::hash(self.node, 1);
            self.words.clear();
            self.words.extend([REPLY, key]);
            self.words.extend(value_of(key, self.node.rank()));
            self.unserved -= 1;
            self.send(request.from).await;
        }
    }

    fn store(&mut self, key: u64, value: &[u64]) {
        if let Some(boxes) = &mut self.sorter.boxes {
            boxes.push(Bounds::of(key, value));
        }
        let sum = &mut self.sorter.part.values;
        *sum = sum.wrapping_add(sum_of(value));
        store_value(self.node);
    }
}

/// The keys of an origin, among keys in order of their origins.
fn keys_of(keys: &[TaggedKey], origin: Rank) -> Range<usize> {
    let begin = keys.partition_point(|tagged| tagged.origin < origin);
    begin..keys.partition_point(|tagged| tagged.origin <= origin)
}

/// The keys of other nodes, in pieces that one message requests. The nodes after this one come
/// first, so that not all nodes send to the first node at once.
fn requests<'a>(
    keys: &'a [TaggedKey],
    own: &Range<usize>,
    records: u32,
) -> impl Iterator<Item = &'a [TaggedKey]> + use<'a> {
    let most = most_in_request(records);
    [&keys[own.end..], &keys[..own.start]]
        .into_iter()
        .flat_map(|keys| keys.chunk_by(|one, next| one.origin == next.origin))
        .flat_map(move |keys| keys.chunks(most))
}

/// Values that a node may request before one has come.
fn most_requested(records: u32) -> usize {
    if records > FEW { 8 } else { usize::MAX }
}

/// Values that one message requests.
pub(super) fn most_in_request(records: u32) -> usize {
    most_requested(records).min(MOST_WORDS - 1)
}
