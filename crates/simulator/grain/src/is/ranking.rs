//! The ranking of keys by one rank.
//!
//! ```text
//!   count      the keys of each bucket; the keys, bucket by bucket
//!   sum        the counts of all ranks, and the tested keys, up a tree and down again
//!   exchange   each rank gets the keys of consecutive buckets, about as many as the others
//!   rank       counts each value of its keys, and adds up the counts
//! ```

use node::{Group, Matching, Node, Port, Rank, Reorder};

use super::class::{Facts, TESTED};
use crate::{Tree, work};

const PORT: Port = Port(1);

/// Children and parent of a rank in the tree of sums.
const INCAST: u32 = 8;

/// Words of a message of sums: with its step one packet, which switches multicast.
const SUM_WORDS: usize = 127;

/// Words of a message of keys, two in each.
const KEY_WORDS: usize = node::MESSAGE_WORDS - 1;

/// The upper half of a message's last word, if their number is odd. No key is as large.
const NO_KEY: u32 = u32::MAX;

/// One rank's keys, and its part of the latest ranking.
pub(super) struct Ranker {
    facts: &'static Facts,
    steps: Reorder,
    /// The step at which the next messages are sent.
    step: u32,
    pub keys: Vec<u32>,
    by_bucket: Vec<u32>,
    pub ranking: Ranking,
    /// Messages of keys that were sent.
    pub pieces: u64,
}

/// The ranks of the keys that a rank holds.
#[derive(Default)]
pub(super) struct Ranking {
    /// Keys that are here.
    pub keys: Vec<u32>,
    /// The least value that belongs here.
    low: u32,
    /// Keys that are at lower ranks.
    less: u32,
    /// For each value from the least on: keys here that are not greater.
    up_to: Vec<u32>,
}

/// Packs two numbers into each word.
fn pack(numbers: &[u32], words: &mut Vec<u64>) {
    let word = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    let pairs = numbers.chunks_exact(2);
    let last = pairs.remainder();
    words.extend(pairs.map(|pair| word(pair[0], pair[1])));
    words.extend(last.iter().map(|last| word(*last, NO_KEY)));
}

/// Adds the numbers that were packed into words.
fn unpack(words: &[u64], numbers: &mut Vec<u32>) {
    let begin = numbers.len();
    numbers.resize(begin + 2 * words.len(), 0);
    let pairs = numbers[begin..].chunks_exact_mut(2);
    for (pair, word) in pairs.zip(words) {
        pair[0] = *word as u32;
        pair[1] = (word >> 32) as u32;
    }
    numbers.pop_if(|last| *last == NO_KEY);
}

/// Messages of sums, each way between a rank and its parent.
fn sums(facts: &Facts) -> u32 {
    let words = (facts.buckets() + TESTED).div_ceil(2);
    words.div_ceil(SUM_WORDS) as u32
}

/// Messages of a ranking besides those of keys.
pub(super) fn messages(facts: &Facts, ranks: u64, multicast: bool) -> u64 {
    let others = ranks - 1;
    let down = if multicast { others.min(1) } else { others };
    u64::from(sums(facts)) * (others + down) + ranks * others
}

impl Ranker {
    pub fn new(node: &Node, facts: &'static Facts) -> Ranker {
        let keys: Vec<u32> = facts.keys_of(node.rank().0, node.nodes()).collect();
        Ranker {
            facts,
            steps: Reorder::new(node, PORT, Matching::Software),
            step: 0,
            by_bucket: vec![0; keys.len()],
            keys,
            ranking: Ranking::default(),
            pieces: 0,
        }
    }

    /// Ranks all keys, and returns the values of the tested ones.
    pub async fn rank(&mut self, node: &Node, iteration: u32) -> [u32; TESTED] {
        node.stage("count");
        if node.rank() == Rank::ROOT {
            let at = iteration as usize;
            self.keys[at] = iteration;
            self.keys[at + super::ITERATIONS as usize] = self.facts.bound() - iteration;
        }
        let (counts, ends) = self.count(node);
        node.stage("sum");
        let buckets = self.facts.buckets();
        let mut totals = counts;
        totals.resize(buckets + TESTED + 1, 0);
        for (number, place) in self.facts.tested(node.rank().0, self.keys.len() as u32) {
            totals[buckets + number] = self.keys[place];
        }
        let totals = self.all_reduce(node, &totals).await;
        node.stage("exchange");
        let cuts = cuts(&totals[..buckets], self.keys.len() as u64, node.nodes());
        work::scan(node, buckets / 2);
        self.exchange(node, &ends, &cuts).await;
        node.stage("rank");
        let rank = node.rank().0 as usize;
        let own = rank.checked_sub(1).map_or(0, |before| cuts[before])..cuts[rank];
        self.ranking.less = totals[..own.start].iter().sum();
        self.ranking.low = (own.start as u32) << self.facts.bucket_bits();
        self.ranking
            .count(node, own.len() << self.facts.bucket_bits());
        std::array::from_fn(|number| totals[buckets + number])
    }

    /// Puts the keys in the order of their buckets; returns the sizes and the ends of the buckets.
    fn count(&mut self, node: &Node) -> (Vec<u32>, Vec<usize>) {
        let bits = self.facts.bucket_bits();
        let mut counts = vec![0_u32; self.facts.buckets()];
        let (keys, by_bucket) = (&self.keys[..], &mut self.by_bucket[..]);
        for key in keys {
            counts[(key >> bits) as usize] += 1;
        }
        let mut next = Vec::with_capacity(counts.len());
        let mut sum = 0;
        for count in &counts {
            next.push(sum);
            sum += *count as usize;
        }
        for &key in keys {
            let place = &mut next[(key >> bits) as usize];
            by_bucket[*place] = key;
            *place += 1;
        }
        work::account(node, 2 * keys.len() + counts.len());
        work::copy(node, keys.len() / 2);
        (counts, next)
    }

    /// Sums up the numbers of all ranks. No sum has more than 32 bits, so words are added as they are.
    async fn all_reduce(&mut self, node: &Node, numbers: &[u32]) -> Vec<u32> {
        let mut words = Vec::new();
        pack(numbers, &mut words);
        let (rank, tree) = (node.rank(), Tree::new(node.nodes(), INCAST));
        let levels = 1..=tree.levels(rank);
        let children: u32 = levels.map(|level| tree.children(rank, level).count).sum();
        for piece in words.chunks_mut(SUM_WORDS) {
            for _ in 0..children {
                let message = self.steps.next(node, self.step).await;
                let pairs = piece.iter_mut().zip(&*message.words);
                pairs.for_each(|(sum, word)| *sum += word);
                work::scan(node, piece.len());
            }
            if let Some((parent, _)) = tree.parent(rank) {
                self.steps.send(node, parent, self.step, piece).await;
            }
            self.step += 1;
        }
        let others = Group::row(Rank(1), node.nodes() - 1);
        for piece in words.chunks_mut(SUM_WORDS) {
            if rank != Rank::ROOT {
                piece.copy_from_slice(&self.steps.next(node, self.step).await.words);
            } else if others.count > 0 {
                self.steps.multicast(node, others, self.step, piece).await;
            }
            self.step += 1;
        }
        let mut sums = Vec::new();
        unpack(&words, &mut sums);
        sums
    }

    /// Sends each rank the keys of its buckets, which end at `cuts`, and receives those of this one. A
    /// message of its own says how many keys come.
    async fn exchange(&mut self, node: &Node, ends: &[usize], cuts: &[usize]) {
        let (me, ranks) = (node.rank().0, node.nodes());
        let end = |buckets: usize| buckets.checked_sub(1).map_or(0, |last| ends[last]);
        let of = |rank: u32| {
            let rank = rank as usize;
            let begin = rank.checked_sub(1).map_or(0, |before| cuts[before]);
            end(begin)..end(cuts[rank])
        };
        let (of_counts, of_keys) = (self.step, self.step + 1);
        self.step += 2;
        for rank in (1..ranks).map(|turn| (me + turn) % ranks) {
            let count = of(rank).len() as u64;
            self.steps.send(node, Rank(rank), of_counts, &[count]).await;
        }
        let mut words = Vec::with_capacity(KEY_WORDS);
        for rank in (1..ranks).map(|turn| (me + turn) % ranks) {
            for keys in self.by_bucket[of(rank)].chunks(2 * KEY_WORDS) {
                words.clear();
                pack(keys, &mut words);
                self.steps.send(node, Rank(rank), of_keys, &words).await;
                self.pieces += 1;
            }
        }
        let mut expected = of(me).len();
        for _ in 1..ranks {
            expected += self.steps.next(node, of_counts).await.words[0] as usize;
        }
        let received = &mut self.ranking.keys;
        received.clear();
        received.extend_from_slice(&self.by_bucket[of(me)]);
        while received.len() < expected {
            let message = self.steps.next(node, of_keys).await;
            unpack(&message.words, received);
        }
        work::copy(node, expected / 2);
    }
}

/// The end of each rank's buckets: a range is closed when the ranks up to it have their share, `each` keys for
/// every one. Ranks behind a very large bucket have none.
fn cuts(totals: &[u32], each: u64, ranks: u32) -> Vec<usize> {
    let (mut cuts, mut sum) = (Vec::new(), 0);
    for (bucket, total) in totals.iter().enumerate() {
        sum += u64::from(*total);
        if sum >= (cuts.len() as u64 + 1) * each {
            cuts.push(bucket + 1);
        }
    }
    cuts.resize(ranks as usize, totals.len());
    cuts
}

impl Ranking {
    /// Counts the keys here, which are of `values` values.
    fn count(&mut self, node: &Node, values: usize) {
        self.up_to.clear();
        self.up_to.resize(values, 0);
        let (up_to, low) = (&mut self.up_to[..], self.low);
        for key in &self.keys {
            up_to[(key - low) as usize] += 1;
        }
        let mut sum = 0;
        for count in up_to {
            sum += *count;
            *count = sum;
        }
        work::account(node, self.keys.len() + 2 * values);
    }

    /// The number of keys of all ranks that are less than this one, if it belongs here.
    pub fn of(&self, key: u32) -> Option<u32> {
        let place = key.checked_sub(self.low)? as usize;
        self.up_to.get(place)?;
        let below = place.checked_sub(1).map_or(0, |below| self.up_to[below]);
        Some(self.less + below)
    }

    /// The keys in the order of their ranks, which are used up.
    pub fn sorted(&mut self, node: &Node) -> Vec<u32> {
        let mut sorted = vec![0; self.keys.len()];
        for key in &self.keys {
            let place = &mut self.up_to[(key - self.low) as usize];
            *place -= 1;
            sorted[*place as usize] = *key;
        }
        work::account(node, 2 * sorted.len());
        sorted
    }
}
