//! One message per key, to a random node of its bucket: the paper's text. No node knows how many
//! keys it will receive, so messages find the end (ours; the paper does not describe it):
//!
//! ```text
//!   key ----------> random node           received ----------> sender
//!   all my keys are received, and those of my subtree: done ---> parent
//!   root: over --multicast--> all
//! ```

use node::Node;

use super::Buckets;
use super::place::Place;
use crate::nano_sort::sorter::{BUCKETS, Level, Sorter};

// Messages are told apart by their length: a key has two words.
const RECEIVED: [u64; 0] = [];
const DONE: [u64; 1] = [0];
const OVER: [u64; 3] = [0; 3];

/// Keys of a node on their way at a time. Their words and those of as many answers fit the transmit
/// words, so a node always comes to receiving.
const MOST_ON_THE_WAY: u32 = 16;

/// A node's place in the tree that finds the end.
struct Progress {
    place: Place,
    /// Children whose subtrees are not done.
    children: u32,
    on_the_way: u32,
    is_told: bool,
}

impl Progress {
    fn new(level: &Level, node: &Node, incast: u32) -> Progress {
        let place = Place::new(node, level.group.members(), incast);
        Progress {
            children: place.children(),
            place,
            on_the_way: 0,
            is_told: false,
        }
    }

    /// Whether this subtree is done and the parent does not know yet.
    fn must_tell(&mut self) -> bool {
        let is_done = self.on_the_way == 0 && self.children == 0;
        is_done && !std::mem::replace(&mut self.is_told, true)
    }
}

impl Sorter {
    pub async fn exchange_keys(&mut self, node: &Node, level: &Level, buckets: &Buckets) {
        let step = level.step(BUCKETS);
        let mut unsent = buckets.addressed(node, level);
        let mut progress = Progress::new(level, node, self.incast());
        loop {
            while progress.on_the_way < MOST_ON_THE_WAY
                && let Some(addressed) = unsent.next()
            {
                self.send_key(node, level, addressed).await;
                progress.on_the_way += 1;
            }
            if progress.must_tell() {
                self.tell_done(node, level, &progress.place).await;
            }
            let message = self.steps.next(node, step).await;
            match message.words.len() {
                2 => {
                    self.receive_keys(node, &message.words);
                    self.send(node, message.from, step, &RECEIVED).await;
                    self.part.by_keys += 1;
                }
                0 => progress.on_the_way -= 1,
                1 => progress.children -= 1,
                _ => break,
            }
        }
    }

    async fn tell_done(&mut self, node: &Node, level: &Level, place: &Place) {
        let (group, step) = (&level.group, level.step(BUCKETS));
        match place.parent() {
            Some(parent) => self.send(node, parent, step, &DONE).await,
            None => {
                self.steps
                    .multicast(node, group.members(), step, &OVER)
                    .await
            }
        }
    }
}
