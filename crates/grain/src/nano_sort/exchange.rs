//! Keys to their buckets, and when that is over.
//!
//! By buckets, nobody asks when it is over: each core of the own row sends one message, an empty
//! one if it has no key. By keys, nobody knows how many come, so the end is found with messages:
//!
//! ```text
//!   key ------------> drawn core      got it ---> sender
//!   all mine are there, and all of my part of the tree ---> parent      root: over ---> all
//! ```

use std::collections::BTreeMap;

use node::{Node, Rank, Work};

use super::partition::Partition;
use super::sorter::{BUCKETS, Held, Sorter, pairs, step};
use super::{FEW, MOST_WORDS};
use crate::Tree;

/// Keys in order, cut into buckets.
struct Buckets {
    held: Vec<Held>,
    /// Where each bucket ends.
    ends: Vec<usize>,
}

impl Buckets {
    fn of(&self, bucket: u32) -> &[Held] {
        let bucket = bucket as usize;
        &self.held[if bucket == 0 {
            0
        } else {
            self.ends[bucket - 1]
        }..self.ends[bucket]]
    }
}

impl Sorter {
    /// Its keys by buckets; it has none then. Few borders come if nobody had keys to name: then the
    /// last buckets have no keys.
    fn cut(&mut self, node: &Node, columns: u32, splitters: &[u64]) -> Buckets {
        // About as many will come.
        let next = Vec::with_capacity(self.held.len());
        let held = std::mem::replace(&mut self.held, next);
        let end = |splitter| held.partition_point(|held| held.key < splitter);
        let mut ends = Vec::with_capacity(columns as usize);
        ends.extend(splitters.iter().map(|splitter| end(*splitter)));
        ends.resize(columns as usize, held.len());
        node.work(Work::Bucket {
            keys: held.len() as u64,
            splitters: splitters.len() as u64,
        });
        Buckets { held, ends }
    }

    /// Sends its keys to their buckets, one message for each, and receives those of its own. Few
    /// buckets need a second message. It waits for leave, so nobody is sent what it has no room
    /// for.
    pub async fn exchange_buckets(
        &mut self,
        node: &Node,
        group: Partition,
        level: u32,
        splitters: &[u64],
    ) {
        let (column, row) = group.place(node.rank());
        let step = step(level, BUCKETS);
        let buckets = self.cut(node, group.columns(), splitters);
        let most = part_keys(self.records, group.columns());
        let mut more = BTreeMap::new();
        let mut words = Vec::with_capacity(USUAL_WORDS);
        for bucket in 0..group.columns() {
            let to = group.core(bucket, row);
            let mut parts = Parts::new(buckets.of(bucket), most);
            parts.next(&mut words);
            self.steps.send(node, to, step, &words).await;
            if parts.left > 0 {
                more.insert(to, parts);
            }
        }
        let mut senders = Senders::new(group.senders(column, row));
        while senders.left > 0 || !more.is_empty() {
            let message = self.steps.next(node, step).await;
            if message.words[..] == LEAVE {
                let parts = more.get_mut(&message.from).expect("leave is for a part");
                parts.next(&mut words);
                if parts.left == 0 {
                    more.remove(&message.from);
                }
                self.steps.send(node, message.from, step, &words).await;
                self.by_keys += 1;
                continue;
            }
            self.held.extend(pairs(&message.words));
            if senders.has_more(message.from, &message.words) {
                self.steps.send(node, message.from, step, &LEAVE).await;
                self.by_keys += 1;
            }
        }
    }

    /// Sends each key to a core drawn in its bucket, and receives keys until nobody has any on the
    /// way.
    pub async fn exchange_keys(
        &mut self,
        node: &Node,
        group: Partition,
        level: u32,
        splitters: &[u64],
    ) {
        let step = step(level, BUCKETS);
        let buckets = self.cut(node, group.columns(), splitters);
        let drawn = |bucket| group.core(bucket, node.random() as u32);
        let mut keys = (0..group.columns()).flat_map(|bucket| {
            buckets
                .of(bucket)
                .iter()
                .map(move |held| (drawn(bucket), held.words()))
        });
        let own = Rank(node.rank().0 - group.first().0);
        let tree = Tree::new(group.cores(), self.incast());
        let (mut next, mut on_the_way) = (keys.next(), 0);
        let (mut awaited, mut told) = (tree.all_children(own), false);
        loop {
            while let Some((to, words)) = next.filter(|_| on_the_way < MOST_ON_THE_WAY) {
                self.steps.send(node, to, step, &words).await;
                (next, on_the_way) = (keys.next(), on_the_way + 1);
                self.by_keys += 1;
            }
            if on_the_way == 0 && awaited == 0 && !told {
                told = true;
                match tree.parent(own) {
                    Some((parent, _)) => {
                        let parent = Rank(group.first().0 + parent.0);
                        self.steps.send(node, parent, step, &DONE).await;
                    }
                    None => self.steps.multicast(node, group.group(), step, &OVER).await,
                }
            }
            let message = self.steps.next(node, step).await;
            match message.words[..] {
                [_, _] => {
                    self.held.extend(pairs(&message.words));
                    self.steps.send(node, message.from, step, &GOT_IT).await;
                    self.by_keys += 1;
                }
                [] => on_the_way -= 1,
                [_] => awaited -= 1,
                _ => break,
            }
        }
    }
}

/// Words of most buckets' messages.
const USUAL_WORDS: usize = 16;

/// Of a bucket, leave for its next part. Keys come in pairs, and parts have three words at least.
const LEAVE: [u64; 1] = [0];

/// What ends a phase by keys. Messages are told apart by their length: a key has two words.
const GOT_IT: [u64; 0] = [];
const DONE: [u64; 1] = [0];
const OVER: [u64; 3] = [0; 3];

/// Keys of a core on the way at a time: their words and those of as many answers find room on its
/// way to the NIC, so it always comes to reading.
const MOST_ON_THE_WAY: u32 = 16;

/// Entries of a receive queue of a nanoPU core that buckets may take; the rest is for leaves and
/// the next level's names.
const ENTRIES: usize = 63 / 2;

/// Words of an entry.
const ENTRY_WORDS: usize = 8;

/// Keys of a bucket's message: of many records so few that those of all columns find room at a
/// core, with the step and the number of messages.
fn part_keys(records: u32, columns: u32) -> usize {
    let entries = (ENTRIES / columns as usize).max(1);
    let most = if records > FEW {
        entries * ENTRY_WORDS - 2
    } else {
        MOST_WORDS - 1
    };
    most.min(MOST_WORDS - 1) / 2
}

/// A bucket as messages. Nearly always it is one, of pairs alone. If it is several, each has a word
/// more that says how many: they may overtake each other.
struct Parts<'a> {
    keys: std::slice::Chunks<'a, Held>,
    all: usize,
    left: usize,
}

impl<'a> Parts<'a> {
    fn new(bucket: &'a [Held], most: usize) -> Parts<'a> {
        let all = bucket.len().div_ceil(most).max(1);
        Parts {
            keys: bucket.chunks(most),
            all,
            left: all,
        }
    }

    /// Puts the next part into `words`.
    fn next(&mut self, words: &mut Vec<u64>) {
        words.clear();
        let keys = self.keys.next().unwrap_or_default();
        words.extend(keys.iter().flat_map(|held| held.words()));
        words.extend((self.all > 1).then_some(self.all as u64));
        self.left -= 1;
    }
}

/// Who has not sent all of a bucket.
struct Senders {
    left: u32,
    /// How many messages came of those that send several.
    several: BTreeMap<Rank, u64>,
}

impl Senders {
    fn new(left: u32) -> Senders {
        Senders {
            left,
            several: BTreeMap::new(),
        }
    }

    /// Hears one: whether its sender has more.
    fn has_more(&mut self, from: Rank, words: &[u64]) -> bool {
        let has_more = match words.last() {
            Some(all) if !words.len().is_multiple_of(2) => {
                let came = self.several.entry(from).or_insert(0);
                *came += 1;
                *came < *all
            }
            _ => false,
        };
        self.left -= u32::from(!has_more);
        has_more
    }
}
