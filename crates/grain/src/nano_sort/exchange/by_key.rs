//! One message per key, to a random node of its bucket: the paper's text. No node knows how many
//! keys it will receive, so messages find the end (ours):
//!
//! ```text
//!   key ----------> random node           received ----------> sender
//!   all my keys are received, and those of my subtree: done ---> parent
//!   root: over --multicast--> all
//! ```

use node::{Node, Rank};

use super::Buckets;
use crate::Tree;
use crate::nano_sort::sorter::{BUCKETS, Level, Sorter, keys_in};

// Messages are told apart by their length: a key has two words.
const RECEIVED: [u64; 0] = [];
const DONE: [u64; 1] = [0];
const OVER: [u64; 3] = [0; 3];

/// Keys of a node on their way at a time. Their words and those of as many answers fit the transmit
/// words, so a node always comes to receiving.
const MOST_ON_THE_WAY: u32 = 16;

/// A node's place in the tree that finds the end.
struct Progress {
    tree: Tree,
    own: Rank,
    /// Children whose subtrees are not done.
    children: u32,
    on_the_way: u32,
    is_told: bool,
}

impl Progress {
    fn new(level: &Level, node: &Node, incast: u32) -> Progress {
        let tree = Tree::new(level.group.nodes(), incast);
        let own = Rank(node.rank().0 - level.group.first().0);
        Progress {
            tree,
            own,
            children: tree.all_children(own),
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
        let addressed = |bucket| {
            let keys = buckets.of(bucket).iter();
            keys.map(move |key| (level.group.node(bucket, node.random() as u32), key))
        };
        let mut unsent = (0..level.group.buckets()).flat_map(addressed);
        let mut progress = Progress::new(level, node, self.incast());
        loop {
            while progress.on_the_way < MOST_ON_THE_WAY
                && let Some((to, key)) = unsent.next()
            {
                self.send(node, to, step, &key.words()).await;
                progress.on_the_way += 1;
                self.by_keys += 1;
            }
            if progress.must_tell() {
                self.tell_done(node, level, &progress).await;
            }
            let message = self.steps.next(node, step).await;
            match message.words.len() {
                2 => {
                    self.keys.extend(keys_in(&message.words));
                    self.send(node, message.from, step, &RECEIVED).await;
                    self.by_keys += 1;
                }
                0 => progress.on_the_way -= 1,
                1 => progress.children -= 1,
                _ => break,
            }
        }
    }

    async fn tell_done(&mut self, node: &Node, level: &Level, progress: &Progress) {
        let (group, step) = (level.group, level.step(BUCKETS));
        match progress.tree.parent(progress.own) {
            Some((parent, _)) => {
                let parent = Rank(group.first().0 + parent.0);
                self.send(node, parent, step, &DONE).await;
            }
            None => {
                self.steps
                    .multicast(node, group.members(), step, &OVER)
                    .await
            }
        }
    }
}
