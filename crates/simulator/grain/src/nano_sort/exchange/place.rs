//! A node's place in a merge tree over neighbouring nodes.

use node::{Group, Node, Rank};

use crate::Tree;

/// A node's place in the tree of a group or of a bucket.
pub struct Place {
    tree: Tree,
    first: Rank,
    own: Rank,
}

impl Place {
    /// The place of this node among neighbouring nodes, of which it is one.
    pub fn new(node: &Node, nodes: Group, incast: u32) -> Place {
        Place {
            tree: Tree::new(nodes.count, incast),
            first: nodes.first,
            own: Rank(node.rank().0 - nodes.first.0),
        }
    }

    pub fn children(&self) -> u32 {
        self.tree.all_children(self.own)
    }

    /// The root has no parent.
    pub fn parent(&self) -> Option<Rank> {
        let (parent, _) = self.tree.parent(self.own)?;
        Some(Rank(self.first.0 + parent.0))
    }
}
