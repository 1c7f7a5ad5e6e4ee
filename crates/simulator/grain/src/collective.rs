//! Collectives over a tree: broadcast from the root, reduction to the root, and flow control
//! between parents and children.
//!
//! ```text
//!   broadcast   root --multicast--> all                                        step 0 of a round
//!   reduce      receive from the children, level by level; send to the parent  steps 1, 2, ...
//!   allow       parent --multicast--> its children                             step 0 of a round
//! ```
//!
//! A message belongs to a round and a level, and waits in the reorder buffer until its step, so
//! ranks may be in different rounds. An early message waits at the parent: in the reorder buffer
//! or, where ports keep steps apart, in the NIC, which must then hold a message per child and
//! round. A [`Window`] bounds the rounds, by [`Collective::allow`].
//!
//! Steps are numbered modulo [`ROUNDS`]: ports are reused, so the time of a message does not grow
//! with the rounds.

use node::{Group, Matching, Node, Port, Rank, Reorder};

use crate::{Tree, work};

/// The first port of the steps.
const FIRST: Port = Port(1);

/// Rounds whose messages may be on their way to a rank at once.
const ROUNDS: u32 = 4;

/// Entries of a nanoPU core's receive queue, which holds the messages of one step.
const QUEUE_ENTRIES: u64 = 63;

/// Entries of a NIC that one core's messages may take: those of two of its four queues. The other
/// cores receive at most half as many, and a permission each.
const NIC_ENTRIES: u64 = 2 * QUEUE_ENTRIES;

/// Words per entry.
const ENTRY_WORDS: u32 = 8;

/// How far children may be ahead of their parent. A permission covers `every` rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    /// Rounds whose messages may be on their way to a parent.
    ahead: u32,
    /// Rounds between two permissions.
    every: u32,
}

impl Window {
    /// The widest window with which messages of `words` words never overflow a queue. In a tree so
    /// wide that not even one round fits, children send one round at a time, to a rank that
    /// receives those of its first level before anything else.
    pub fn new(tree: Tree, matching: Matching, words: u32) -> Window {
        // In software the program takes messages of any step out of the queue.
        let fits =
            |rounds| matching == Matching::Software || fit(&tree.most_children(1), words, rounds);
        match (fits(ROUNDS), fits(2)) {
            (true, _) => Window {
                ahead: ROUNDS,
                every: 2,
            },
            (false, true) => Window { ahead: 2, every: 1 },
            (false, false) => Window { ahead: 1, every: 1 },
        }
    }

    /// Whether a rank waits for its parent's permission before it begins a round.
    pub fn waits(self, round: u32) -> bool {
        round >= self.ahead && round.is_multiple_of(self.every)
    }

    /// The round that a parent allows when it begins a round and has its own permission.
    pub fn allows(self, round: u32) -> Option<u32> {
        let gives = round > 0 && round.is_multiple_of(self.every);
        gives.then(|| round.saturating_add(self.ahead - self.every))
    }
}

/// Whether the messages of some rounds fit the queues, from `children[i]` cores on level i.
fn fit(children: &[u32], words: u32, rounds: u32) -> bool {
    let entries = |cores: u32| u64::from(cores) * u64::from(words.div_ceil(ENTRY_WORDS).max(1));
    let all: u64 = children.iter().map(|cores| entries(*cores)).sum();
    children
        .iter()
        .all(|cores| entries(*cores) <= QUEUE_ENTRIES)
        && all * u64::from(rounds) <= NIC_ENTRIES
}

/// One rank in the tree, with the messages that wait for their step.
pub(crate) struct Collective {
    tree: Tree,
    steps: Reorder,
}

impl Collective {
    /// Binds the ports of the steps.
    pub fn new(node: &Node, incast: u32, matching: Matching) -> Collective {
        let tree = Tree::new(node.nodes(), incast);
        Collective {
            tree,
            steps: Reorder::new(node, FIRST, matching),
        }
    }

    /// Why messages of `words` words could block a rank where steps wait in the NIC: those of its
    /// children, by level, arrive while it waits for another message, and leave no room for that.
    pub fn objection(children: &[u32], matching: Matching, words: u32) -> Option<String> {
        let blocks = matching == Matching::Ports && !fit(children, words, 1);
        blocks.then(|| {
            let cores: u64 = children.iter().map(|cores| u64::from(*cores)).sum();
            format!(
                "messages of {cores} cores could wait in one core's NIC, which has {QUEUE_ENTRIES} \
                 entries for each step and {NIC_ENTRIES} in all, while it waits for another: ask for \
                 a smaller incast, or for --reorder software"
            )
        })
    }

    /// Sends words from the root to all other ranks.
    pub async fn broadcast(&mut self, node: &Node, round: u32, words: &[u64]) {
        let others = Group::row(Rank(1), node.nodes() - 1);
        if others.count > 0 {
            self.steps
                .multicast(node, others, self.step(round, 0), words)
                .await;
        }
    }

    /// Receives the words of the root.
    pub async fn receive(&mut self, node: &Node, round: u32) -> node::Words {
        self.steps.next(node, self.step(round, 0)).await.words
    }

    /// Allows the children to begin a round, for which each waits in
    /// [`Collective::wait_for_permission`].
    pub async fn allow(&mut self, node: &Node, round: u32) {
        for level in 1..=self.tree.levels(node.rank()) {
            let children = self.tree.children(node.rank(), level);
            if children.count > 0 {
                self.steps
                    .multicast(node, children, self.step(round, 0), &[])
                    .await;
            }
        }
    }

    /// Waits until the parent allows a round; the root does not wait.
    pub async fn wait_for_permission(&mut self, node: &Node, round: u32) {
        if self.tree.parent(node.rank()).is_some() {
            self.steps.next(node, self.step(round, 0)).await;
        }
    }

    /// Merges the children's values into `value` and sends it to the parent; at the root it is then
    /// the value of all ranks. Reading a child's words is charged.
    pub async fn reduce(
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
                work::scan(node, message.words.len());
            }
        }
        if let Some((parent, level)) = self.tree.parent(rank) {
            self.steps
                .send(node, parent, self.step(round, level), value)
                .await;
        }
    }

    fn step(&self, round: u32, level: u32) -> u32 {
        round % ROUNDS * (self.tree.height() + 1) + level
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(ranks: u32, incast: u32, words: u32) -> (u32, u32) {
        let window = Window::new(Tree::new(ranks, incast), Matching::Ports, words);
        (window.ahead, window.every)
    }

    #[test]
    fn a_window_fits_the_queue() {
        // 14, 21, 42, 130 children of the root.
        assert_eq!(window(64, 8, 8), (4, 2));
        assert_eq!(window(512, 8, 8), (4, 2));
        assert_eq!(window(1 << 18, 8, 8), (2, 1));
        assert_eq!(window(512, 128, 8), (1, 1));
        // One step's messages would be one more than its queue holds.
        assert_eq!(window(65, 65, 8), (1, 1));
        assert_eq!(window(64, 64, 8), (2, 1));
        // Messages of two entries.
        assert_eq!(window(64, 8, 9), (4, 2));
        assert_eq!(window(512, 8, 9), (2, 1));
        for (ranks, incast) in [(2, 1), (33, 2), (64, 8), (1 << 18, 8), (1000, 300)] {
            for words in [0, 8, 9, 255] {
                let (ahead, every) = window(ranks, incast, words);
                let children = Tree::new(ranks, incast).most_children(1);
                assert!(
                    ahead == 1 || fit(&children, words, ahead),
                    "{ranks} {incast} {words}"
                );
                assert!(every <= ahead && ahead <= ROUNDS);
            }
        }
    }

    /// A child waits for each permission once, and is never further ahead.
    #[test]
    fn every_permission_is_waited_for() {
        for (ahead, every) in [(1, 1), (2, 1), (4, 2)] {
            let window = Window { ahead, every };
            let given: Vec<_> = (0..20).filter_map(|round| window.allows(round)).collect();
            let waited = (0..).filter(|round| window.waits(*round)).take(given.len());
            assert_eq!(given, waited.collect::<Vec<_>>(), "{window:?}");
            assert!((0..20).all(|round| window.allows(round).is_none_or(|to| to < round + ahead)));
        }
    }

    #[test]
    fn overflowing_queues_are_refused() {
        let objection = Collective::objection;
        assert_eq!(objection(&[63, 63], Matching::Ports, 8), None);
        let told = objection(&[64], Matching::Ports, 8).unwrap();
        assert!(
            told.contains("64 cores") && told.contains("63 entries"),
            "{told}"
        );
        assert!(objection(&[63, 63, 1], Matching::Ports, 8).is_some());
        assert!(objection(&[2], Matching::Ports, 255).is_some());
        assert_eq!(objection(&[1000], Matching::Software, 255), None);
    }
}
