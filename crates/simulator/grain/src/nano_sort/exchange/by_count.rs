//! One message per key, to a random node of its bucket, without answers: counts find the end (ours;
//! the paper does not describe it). No node can know how many keys it gets, but a group can know
//! how many each of its buckets gets:
//!
//! ```text
//!   borders are known: counts of each bucket ---> parent in the tree of the group
//!   root of the group: the bucket's total --multicast--> each bucket
//!   key ----------> random node of its bucket
//!
//!   the total is told: keys received in my subtree ---> parent in the tree of the bucket     a wave
//!   root of the bucket:  fewer than the total: the total, again --multicast--> the bucket    the next
//!                        the total: over                        --multicast--> the bucket
//! ```
//!
//! So each bucket ends on its own. A key has most often arrived before the total is told, and then
//! one wave is enough. Without answers, only NICs limit the keys on their way. A node that waits for
//! room to send receives meanwhile, so none waits for ever; but with hundreds of keys a node, queues
//! overflow, and NICs send again what was dropped.

use node::Node;

use super::Buckets;
use super::place::Place;
use crate::nano_sort::limits::MOST_WORDS;
use crate::nano_sort::sorter::{BUCKETS, COUNTS, Level, OVER, RECEIVED, Sorter, TOTAL};
use crate::work;

/// Counts of a message, after the number of the first one's bucket.
const MOST_COUNTS: usize = MOST_WORDS - 1;

/// Messages for the counts of that many buckets.
pub fn messages_of_counts(buckets: u32) -> u32 {
    buckets.div_ceil(MOST_COUNTS as u32)
}

/// The counts of keys of a node's group and of its bucket, as far as they have come.
struct Counting {
    group: Place,
    /// The keys that this node and its subtree of the group send to each bucket.
    counts: Vec<u64>,
    /// Messages of children that are missing in them.
    missing: u32,
    bucket: Place,
    /// Children in the tree of the bucket.
    children: u32,
    /// The total of the bucket, while a wave waits for this node.
    total: Option<u64>,
    waves: u32,
    /// Children that have reported in this wave, and the keys that their subtrees have received.
    reports: u32,
    received: u64,
}

impl Counting {
    fn new(node: &Node, level: &Level, incast: u32, buckets: &Buckets) -> Counting {
        let group = Place::new(node, level.group.members(), incast);
        let bucket = Place::new(node, level.group.members_of(level.bucket), incast);
        let numbers = 0..level.group.buckets();
        Counting {
            counts: numbers.map(|of| buckets.of(of).len() as u64).collect(),
            missing: group.children() * messages_of_counts(level.group.buckets()),
            group,
            children: bucket.children(),
            bucket,
            total: None,
            waves: 0,
            reports: 0,
            received: 0,
        }
    }

    /// Adds the counts of a child.
    fn add(&mut self, node: &Node, words: &[u64]) {
        let (first, counts) = (words[0] as usize, &words[1..]);
        for (sum, count) in self.counts[first..].iter_mut().zip(counts) {
            *sum += count;
        }
        work::account(node, counts.len());
        self.missing -= 1;
    }

    fn tell_total(&mut self, total: u64) {
        self.total = Some(total);
        self.waves += 1;
    }

    /// Adds the keys that a child's subtree has received. A child may hear of the next wave first.
    fn report(&mut self, node: &Node, received: u64) {
        self.received += received;
        self.reports += 1;
        work::account(node, 1);
    }

    /// The total, if this node is to report.
    fn asked(&self) -> Option<u64> {
        self.total.filter(|_| self.reports == self.children)
    }

    fn end_wave(&mut self) {
        (self.total, self.reports, self.received) = (None, 0, 0);
    }
}

impl Sorter {
    pub async fn exchange_counted(&mut self, node: &Node, level: &Level, buckets: &Buckets) {
        let mut counting = Counting::new(node, level, self.incast(), buckets);
        self.tell_counts(node, level, &counting).await;
        for addressed in buckets.addressed(node, level) {
            self.send_key(node, level, addressed).await;
        }
        let first = level.step(0);
        let wanted = |step| (first + BUCKETS..=first + OVER).contains(&step);
        loop {
            let (step, message) = self.steps.next_of(node, wanted).await;
            match step - first {
                BUCKETS => self.receive_keys(node, &message.words),
                COUNTS => {
                    counting.add(node, &message.words);
                    self.tell_counts(node, level, &counting).await;
                }
                TOTAL => counting.tell_total(message.words[0]),
                RECEIVED => counting.report(node, message.words[0]),
                _ => break,
            }
            if let Some(total) = counting.asked() {
                self.tell_received(node, level, &mut counting, total).await;
            }
        }
    }

    /// Tells the counts once they are whole: to the parent, and those of all nodes to the buckets.
    async fn tell_counts(&mut self, node: &Node, level: &Level, counting: &Counting) {
        if counting.missing > 0 {
            return;
        }
        let Some(parent) = counting.group.parent() else {
            for (bucket, total) in (0..).zip(&counting.counts) {
                let (to, step) = (level.group.members_of(bucket), level.step(TOTAL));
                self.steps.multicast(node, to, step, &[*total]).await;
            }
            return;
        };
        for (number, counts) in (0..).zip(counting.counts.chunks(MOST_COUNTS)) {
            let mut words = Vec::with_capacity(1 + counts.len());
            words.push(number * MOST_COUNTS as u64);
            words.extend(counts);
            self.send(node, parent, level.step(COUNTS), &words).await;
        }
    }

    /// Tells the parent how many keys this subtree of the bucket has received; the root ends the level,
    /// or asks for another wave.
    async fn tell_received(
        &mut self,
        node: &Node,
        level: &Level,
        counting: &mut Counting,
        total: u64,
    ) {
        let received = counting.received + self.keys.len() as u64;
        let all = level.group.members_of(level.bucket);
        match counting.bucket.parent() {
            Some(parent) => {
                self.send(node, parent, level.step(RECEIVED), &[received])
                    .await;
                // The closed form has the first wave.
                self.part.by_keys += u64::from(counting.waves > 1);
            }
            None if received == total => {
                self.steps.multicast(node, all, level.step(OVER), &[]).await;
            }
            // Alone in its bucket, it sees for itself when the last key comes.
            None if all.count == 1 => return,
            None => {
                self.steps
                    .multicast(node, all, level.step(TOTAL), &[total])
                    .await;
                self.part.multicasts += 1;
                self.part.copies += u64::from(all.count);
            }
        }
        counting.end_wave();
    }
}
