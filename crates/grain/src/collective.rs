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
//! parent has children times the rounds they are ahead. A [`Window`] bounds those by
//! [`Collective::allow`].
//!
//! Steps are numbered modulo [`ROUNDS`]: ports are used again and not piled up, so the time for a
//! message does not grow with the rounds.

use node::{Group, Matching, Node, Port, Rank, Reorder, Work};

use crate::Tree;

/// The first port of the steps.
const FIRST: Port = Port(1);

/// Rounds that may be on their way to a rank at once: the steps of no more are kept apart.
const ROUNDS: u32 = 4;

/// Entries of a nanoPU core's receive queue; the messages of one step wait in one.
const QUEUE_ENTRIES: u64 = 63;

/// Entries of a NIC that a core's messages may take together: two queues' of its four. Its
/// neighbours hear half as many at most, and each may have a leave.
const NIC_ENTRIES: u64 = 2 * QUEUE_ENTRIES;

/// Words of an entry.
const ENTRY_WORDS: u32 = 8;

/// How far children may be ahead of their parent. A leave is for so many rounds as `every` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    /// Rounds whose messages may be on their way to a parent.
    ahead: u32,
    /// A parent gives leave after so many rounds.
    every: u32,
}

impl Window {
    /// The widest one with which what waits at a rank never fills its queue, for messages of so
    /// many words. Of a tree so wide that one round's messages do not fit, children come a round at
    /// a time, and find a rank that takes those of its first level and waits for nothing before
    /// them.
    pub fn new(tree: Tree, matching: Matching, words: u32) -> Window {
        // In software the program takes what comes, whatever its step.
        let fits = |rounds| matching == Matching::Software || fit(&tree.heard(1), words, rounds);
        match (fits(ROUNDS), fits(2)) {
            (true, _) => Window {
                ahead: ROUNDS,
                every: 2,
            },
            (false, true) => Window { ahead: 2, every: 1 },
            (false, false) => Window { ahead: 1, every: 1 },
        }
    }

    /// Whether a rank waits for its parent's leave before it begins a round.
    pub fn waits(self, round: u32) -> bool {
        round >= self.ahead && round.is_multiple_of(self.every)
    }

    /// Which round a parent gives leave for when it begins a round and has its own leave for it.
    pub fn leave(self, round: u32) -> Option<u32> {
        let gives = round > 0 && round.is_multiple_of(self.every);
        gives.then(|| round.saturating_add(self.ahead - self.every))
    }
}

/// Whether messages of so many words from so many cores on each level, of some rounds, find room.
fn fit(heard: &[u32], words: u32, rounds: u32) -> bool {
    let entries = |cores: u32| u64::from(cores) * u64::from(words.div_ceil(ENTRY_WORDS).max(1));
    let all: u64 = heard.iter().map(|cores| entries(*cores)).sum();
    heard.iter().all(|cores| entries(*cores) <= QUEUE_ENTRIES)
        && all * u64::from(rounds) <= NIC_ENTRIES
}

/// One rank's place in a tree, with the messages that wait for their step.
pub(crate) struct Collective {
    tree: Tree,
    steps: Reorder,
}

impl Collective {
    /// Owns the ports of the steps.
    pub fn new(node: &Node, incast: u32, matching: Matching) -> Collective {
        let tree = Tree::new(node.nodes(), incast);
        Collective {
            tree,
            steps: Reorder::new(node, FIRST, matching),
        }
    }

    /// Why messages of so many words could stand still, where steps wait in the NIC: those of so
    /// many cores on each level come while a rank waits for another, and would leave no room for
    /// it.
    pub fn objection(heard: &[u32], matching: Matching, words: u32) -> Option<String> {
        let stands = matching == Matching::Ports && !fit(heard, words, 1);
        stands.then(|| {
            let cores: u64 = heard.iter().map(|cores| u64::from(*cores)).sum();
            format!(
                "messages of {cores} cores could wait in one core's NIC, which has {QUEUE_ENTRIES} \
                 entries for each step and {NIC_ENTRIES} in all, while it waits for another: ask for a \
                 smaller incast, or for --reorder software"
            )
        })
    }

    /// Tells all other ranks; only the root does.
    pub async fn tell(&mut self, node: &Node, round: u32, words: &[u64]) {
        let others = Group::row(Rank(1), node.nodes() - 1);
        if others.count > 0 {
            self.steps
                .multicast(node, others, self.step(round, 0), words)
                .await;
        }
    }

    /// What the root tells.
    pub async fn hear(&mut self, node: &Node, round: u32) -> node::Words {
        self.steps.next(node, self.step(round, 0)).await.words
    }

    /// Tells the children that they may begin a round; each waits by
    /// [`Collective::wait_for_leave`].
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
                node.work(Work::Scan {
                    words: message.words.len() as u64,
                });
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
                let heard = Tree::new(ranks, incast).heard(1);
                assert!(
                    ahead == 1 || fit(&heard, words, ahead),
                    "{ranks} {incast} {words}"
                );
                assert!(every <= ahead && ahead <= ROUNDS);
            }
        }
    }

    /// A child waits for each leave once, and is never further ahead.
    #[test]
    fn every_leave_is_waited_for() {
        for (ahead, every) in [(1, 1), (2, 1), (4, 2)] {
            let window = Window { ahead, every };
            let given: Vec<_> = (0..20).filter_map(|round| window.leave(round)).collect();
            let waited = (0..).filter(|round| window.waits(*round)).take(given.len());
            assert_eq!(given, waited.collect::<Vec<_>>(), "{window:?}");
            assert!((0..20).all(|round| window.leave(round).is_none_or(|to| to < round + ahead)));
        }
    }

    #[test]
    fn what_could_fill_a_queue_is_refused() {
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
