//! Nodes in proportion to the keys of each bucket (NanoSort, section 4.2: it "would require counting
//! ... the number of keys in each bucket").
//!
//! ```text
//!   keys of each bucket, of one node --up a tree over the group, added--> first node of the group
//!   keys of each bucket, of all      --multicast--> the group: each node divides it alike
//! ```

use node::Node;

use super::Buckets;
use super::place::Place;
use crate::nano_sort::sorter::{ALL_SHARES, Level, SHARES, Sorter};
use crate::work;

impl Sorter {
    /// The level with as many nodes for each bucket as its keys ask for.
    pub async fn in_proportion(&mut self, node: &Node, level: &Level, buckets: &Buckets) -> Level {
        let group = &level.group;
        let of = |bucket| buckets.of(bucket).len() as u64;
        let mut counts: Vec<u64> = (0..group.buckets()).map(of).collect();
        let place = Place::new(node, group.members(), self.incast());
        for _ in 0..place.children() {
            let message = self.steps.next(node, level.step(SHARES)).await;
            let pairs = counts.iter_mut().zip(&message.words[..]);
            pairs.for_each(|(count, more)| *count += more);
            work::scan(node, message.words.len());
        }
        match place.parent() {
            Some(parent) => self.send(node, parent, level.step(SHARES), &counts).await,
            None => {
                let (all, step) = (group.members(), level.step(ALL_SHARES));
                self.steps.multicast(node, all, step, &counts).await;
            }
        }
        let all = self.steps.next(node, level.step(ALL_SHARES)).await;
        work::account(node, all.words.len());
        level.regrouped(node, group.in_proportion(&all.words))
    }
}
