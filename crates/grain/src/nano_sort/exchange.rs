//! Keys to their buckets, and when that is over.
//!
//! By buckets, nobody asks when it is over: each core of the own row sends one message, an empty one if
//! it has no key. By keys, nobody knows how many come, so the end is found with messages:
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

impl Sorter {
    /// The bucket of each of its keys; its hands are empty then.
    fn buckets(&mut self, node: &Node, splitters: &[u64]) -> Vec<Vec<Held>> {
        let mut buckets = vec![Vec::new(); splitters.len() + 1];
        let (keys, count) = (self.held.len() as u64, splitters.len() as u64);
        for held in self.held.drain(..) {
            let bucket = splitters.iter().take_while(|splitter| **splitter <= held.key).count();
            buckets[bucket].push(held);
        }
        node.work(Work::Bucket { keys, splitters: count });
        buckets
    }

    /// Sends its keys to their buckets, one message for each, and receives those of its own. Few buckets
    /// need a second message. It waits for leave, so nobody is sent what it has no room for.
    pub async fn exchange_buckets(
        &mut self,
        node: &Node,
        group: Partition,
        level: u32,
        splitters: &[u64],
    ) {
        let (column, row) = group.place(node.rank());
        let most = part_words(self.records, group.columns());
        // Few borders came if nobody had keys to name: then there are fewer buckets than columns.
        let mut buckets = self.buckets(node, splitters);
        buckets.resize(group.columns() as usize, Vec::new());
        let step = step(level, BUCKETS);
        let mut more = BTreeMap::new();
        for (bucket, keys) in (0..).zip(&buckets) {
            let (to, mut parts) = (group.core(bucket, row), parts(keys, most));
            let first = parts.pop().unwrap_or_default();
            self.steps.send(node, to, step, &first).await;
            more.insert(to, parts);
        }
        more.retain(|_, parts| !parts.is_empty());
        let mut senders = Senders::new(group.senders(column, row));
        while senders.left > 0 || !more.is_empty() {
            let message = self.steps.next(node, step).await;
            if message.words[..] == LEAVE {
                let parts = more.get_mut(&message.from).expect("leave is for a part");
                let part = parts.pop().expect("leave is for a part");
                if parts.is_empty() {
                    more.remove(&message.from);
                }
                self.steps.send(node, message.from, step, &part).await;
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

    /// Sends each key to a core drawn in its bucket, and receives keys until nobody has any on the way.
    pub async fn exchange_keys(
        &mut self,
        node: &Node,
        group: Partition,
        level: u32,
        splitters: &[u64],
    ) {
        let step = step(level, BUCKETS);
        let buckets = self.buckets(node, splitters);
        let mut drawn = (0..).zip(&buckets).flat_map(|(bucket, keys)| {
            keys.iter().map(move |held| (group.core(bucket, node.random() as u32), held.words()))
        });
        let own = Rank(node.rank().0 - group.first().0);
        let tree = Tree::new(group.cores(), self.reading.incast.unwrap_or(self.buckets));
        let (mut next, mut on_the_way) = (drawn.next(), 0);
        let mut awaited = tree.all_children(own);
        let mut told = false;
        loop {
            while let Some((to, words)) = next.filter(|_| on_the_way < MOST_ON_THE_WAY) {
                self.steps.send(node, to, step, &words).await;
                (next, on_the_way) = (drawn.next(), on_the_way + 1);
                self.by_keys += 1;
            }
            if on_the_way == 0 && awaited == 0 && !told {
                told = true;
                match tree.parent(own) {
                    Some((parent, _)) => {
                        let parent = Rank(group.first().0 + parent.0);
                        self.steps.send(node, parent, step, &[DONE]).await;
                    }
                    None => {
                        self.steps.multicast(node, group.group(), step, &[OVER, OVER, OVER]).await
                    }
                }
            }
            let message = self.steps.next(node, step).await;
            match message.words[..] {
                [_, _] => {
                    self.held.extend(pairs(&message.words));
                    self.steps.send(node, message.from, step, &[]).await;
                    self.by_keys += 1;
                }
                [] => on_the_way -= 1,
                [_] => awaited -= 1,
                _ => break,
            }
        }
    }
}

/// Of a bucket, leave for its next part. Keys come in pairs, and parts have three words at least.
const LEAVE: [u64; 1] = [0];

/// What ends a phase by keys says; messages are told apart by their length: a key has two words, that
/// it came none, that a part of the tree is done one, that all is over three.
const DONE: u64 = 1;
const OVER: u64 = 1;

/// Keys of a core on the way at a time: their words and those of as many answers find room on its way to
/// the NIC, so it always comes to reading.
const MOST_ON_THE_WAY: u32 = 16;

/// Entries of a receive queue of a nanoPU core that buckets may take; the rest is for leaves and the
/// next level's names.
const ENTRIES: usize = 63 / 2;

/// Words of an entry.
const ENTRY_WORDS: usize = 8;

/// Words of a bucket's message: of many records so few that those of all columns find room at a core,
/// with the step and the number of messages.
fn part_words(records: u32, columns: u32) -> usize {
    let entries = (ENTRIES / columns as usize).max(1);
    let most = if records > FEW { entries * ENTRY_WORDS - 2 } else { MOST_WORDS - 1 };
    most.min(MOST_WORDS - 1) / 2 * 2
}

/// A bucket as messages. Nearly always it is one, of pairs alone. If it is several, each has a word more
/// that says how many: they may overtake each other.
fn parts(bucket: &[Held], most: usize) -> Vec<Vec<u64>> {
    let words: Vec<u64> = bucket.iter().flat_map(|held| held.words()).collect();
    if words.len() <= most {
        return vec![words];
    }
    let all = words.len().div_ceil(most) as u64;
    words.chunks(most).map(|part| part.iter().copied().chain([all]).collect()).collect()
}

/// Who has not sent all of a bucket.
struct Senders {
    left: u32,
    /// How many messages came of those that send several.
    several: BTreeMap<Rank, u64>,
}

impl Senders {
    fn new(left: u32) -> Senders {
        Senders { left, several: BTreeMap::new() }
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
