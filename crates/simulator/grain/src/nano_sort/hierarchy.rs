//! The upper levels of a bounding volume hierarchy over the sorted records (NanoSort, section 3.2:
//! "constructing the bounding volume hierarchy (BVH) requires sorting the objects in the scene").
//!
//! Keys are Morton codes of the boxes' centres, so the sorted boxes of one node are near each other,
//! and those of neighbouring nodes, too.
//!
//! ```text
//!   boxes of a node -> bounds --.
//!   boxes of a node -> bounds ---+-> bounds --.
//!   boxes of a node -> bounds --'              +-> the root's, at node 0
//!   ...                          ... ---------'     up a tree, `children` at a time
//! ```

use node::{Node, Rank};

use super::count::by_key;
use super::sorter::{BOUNDS, Sorter};
use crate::bounds::{Bounds, WORDS};
use crate::records::{Part, Records, value_of};
use crate::{Tree, work};

impl Sorter {
    /// Takes this node's part in the hierarchy; returns the nodes of the hierarchy that it made.
    pub async fn bounds(&mut self, node: &Node, children: u32) -> Vec<Bounds> {
        node.stage("bounds");
        let boxes = self.boxes.take().unwrap_or_default();
        work::scan(node, boxes.len() * WORDS as usize);
        let mut made = vec![Bounds::around(boxes.into_iter())];
        let (tree, rank) = (Tree::new(node.nodes(), children), node.rank());
        let mut bounds = made[0];
        for level in 1..=tree.levels(rank) {
            for _ in 0..tree.children(rank, level).count {
                let message = self.steps.next(node, BOUNDS + level).await;
                bounds = bounds.and(Bounds::from_words(&message.words));
                work::scan(node, message.words.len());
            }
            made.push(bounds);
        }
        if let Some((parent, level)) = tree.parent(rank) {
            self.send(node, parent, BOUNDS + level, &bounds.words())
                .await;
        }
        made
    }
}

/// The first node of the hierarchy that is not as the sorted boxes and its children say.
pub(super) fn fault(records: Records, children: u32, parts: &[Part]) -> Option<String> {
    let cores = parts.len() as u32;
    let of_record = |(key, origin)| Bounds::of(key, &value_of(key, origin));
    let boxes: Vec<Bounds> = by_key(records, cores).into_iter().map(of_record).collect();
    let top = |rank: Rank| parts[rank.0 as usize].nodes.last().copied();
    if top(Rank(0)) != Some(Bounds::around(boxes.iter().copied())) {
        return Some("the bounds of the root are not those of all boxes".to_owned());
    }
    let (tree, mut rest) = (Tree::new(cores, children), &boxes[..]);
    for (rank, part) in (0..).map(Rank).zip(parts) {
        let (own, after) = rest.split_at(part.keys.len().min(rest.len()));
        rest = after;
        let mut expected = Bounds::around(own.iter().copied());
        for level in 0..=tree.levels(rank) {
            if level > 0 {
                let below = tree.children(rank, level).members();
                expected = expected.and(Bounds::around(below.filter_map(top)));
            }
            if part.nodes.get(level as usize) != Some(&expected) {
                return Some(format!(
                    "core {rank}'s bounds on level {level} are not those of what is below"
                ));
            }
        }
    }
    None
}
