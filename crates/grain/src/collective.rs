//! Collectives over a tree: the root's words to all, everybody's value merged to the root, and the
//! parents' leave to go on.
//!
//! ```text
//!   tell     root --multicast--> all                                      step 0 of a round
//!   merge    hear the children, level by level, and pass their sum on     steps 1, 2, ...
//!   allow    parent --multicast--> its children                           step 0 of a round
//! ```
//!
//! A message belongs to a round and a level, and waits in the reorder buffer until they come, so
//! ranks may be in different rounds. What a rank sends early waits at its parent: in the reorder
//! buffer or, where ports keep steps apart, in the NIC, which must hold as many messages as the
//! parent has children times the rounds they are ahead. [`Collective::allow`] bounds those.

use node::{Group, Matching, Node, Port, Rank, Reorder, Work};

use crate::Tree;

/// The first port of the steps.
const FIRST: Port = Port(1);

/// One rank's place in a tree, with the messages that wait for their step.
pub(crate) struct Collective {
    tree: Tree,
    steps: Reorder,
}

impl Collective {
    /// Owns the ports of the steps.
    pub fn new(node: &Node, incast: u32, matching: Matching) -> Collective {
        let tree = Tree::new(node.nodes(), incast);
        Collective { tree, steps: Reorder::new(node, FIRST, matching) }
    }

    /// Why so many rounds cannot be told apart.
    pub fn objection(tree: Tree, matching: Matching, rounds: u32) -> Option<String> {
        let steps = u64::from(rounds) * u64::from(tree.height() + 1);
        let most = match matching {
            Matching::Software => u64::from(u32::MAX),
            Matching::Ports => u64::from(u16::MAX - FIRST.0),
        };
        (steps > most).then(|| format!("{rounds} rounds need {steps} steps, and {most} fit"))
    }

    /// Tells all other ranks; only the root does.
    pub async fn tell(&self, node: &Node, round: u32, words: &[u64]) {
        let others = Group::row(Rank(1), node.nodes() - 1);
        if others.count > 0 {
            self.steps.multicast(node, others, self.step(round, 0), words).await;
        }
    }

    /// What the root tells.
    pub async fn hear(&mut self, node: &Node, round: u32) -> node::Words {
        self.steps.next(node, self.step(round, 0)).await.words
    }

    /// Tells the children that they may begin a round; each waits by [`Collective::wait_for_leave`].
    pub async fn allow(&self, node: &Node, round: u32) {
        for level in 1..=self.tree.levels(node.rank()) {
            let children = self.tree.children(node.rank(), level);
            if children.count > 0 {
                self.steps.multicast(node, children, self.step(round, 0), &[]).await;
            }
        }
    }

    /// Waits until the parent allows a round; the root may always.
    pub async fn wait_for_leave(&mut self, node: &Node, round: u32) {
        if self.tree.parent(node.rank()).is_some() {
            self.steps.next(node, self.step(round, 0)).await;
        }
    }

    /// Merges the children's values into `value` and passes it on; at the root it is everybody's
    /// then. Looking at a child's words is charged.
    pub async fn merge(
        &mut self,
        node: &Node,
        round: u32,
        value: &mut [u64],
        merge: impl Fn(&mut [u64], &[u64]),
    ) {
        let rank = node.rank();
        for level in 1..=self.tree.levels(rank) {
            for _ in 0..self.tree.children(rank, level).count {
                let message = self.steps.next(node, self.step(round, level)).await;
                merge(value, &message.words);
                node.work(Work::Scan { words: message.words.len() as u64 });
            }
        }
        if let Some((parent, level)) = self.tree.parent(rank) {
            self.steps.send(node, parent, self.step(round, level), value).await;
        }
    }

    fn step(&self, round: u32, level: u32) -> u32 {
        round * (self.tree.height() + 1) + level
    }
}
