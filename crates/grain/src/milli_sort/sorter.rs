//! One core of MilliSort: its keys, and what it does in each step.

use std::collections::BTreeMap;

use node::{Matching, Node, Rank, Work};

use super::layout::Layout;
use super::pivots::{cut, pick, pick_among};
use super::post::{Inbox, Post, set_of};
use crate::records::{Part, VALUE_WORDS, sum_of, value_of};

/// The steps, in their order.
const PIVOTS: u32 = 0;
const SECOND_PIVOTS: u32 = 1;
const BOUNDS: u32 = 2;
const EXCHANGE: u32 = 3;
const SPLITTERS: u32 = 4;
const ITEMS: u32 = 5;

/// Words of an item: a key and its value.
pub(super) const ITEM_WORDS: usize = 1 + VALUE_WORDS;

/// Bytes of a value, of a word, and of an item.
const VALUE_BYTES: u64 = 8 * VALUE_WORDS as u64;
const WORD_BYTES: u64 = 8;
const ITEM_BYTES: u64 = 8 * ITEM_WORDS as u64;

pub(super) struct Sorter {
    post: Post,
    layout: Layout,
    matching: Matching,
    /// The keys that it has now.
    keys: Vec<u64>,
    /// Of all words of the values that it has at the end.
    values: u64,
}

impl Sorter {
    pub fn new(node: &Node, layout: Layout, matching: Matching, keys: Vec<u64>) -> Sorter {
        Sorter {
            post: Post::new(node, matching),
            layout,
            matching,
            keys,
            values: 0,
        }
    }

    /// All of it: its part, but for the time.
    pub async fn run(mut self, node: &Node) -> Part {
        node.stage("local sort");
        order(node, &mut self.keys);
        node.stage("partition");
        let splitters = self.partition(node).await;
        node.stage("shuffle");
        let wrong = self.shuffle(node, &splitters).await;
        node.stage("final sort");
        order(node, &mut self.keys);
        node.stage("rearrange");
        let count = self.keys.len() as u64;
        node.work(Work::Hash { keys: count });
        node.work(Work::Copy {
            bytes: count * VALUE_BYTES,
        });
        Part {
            keys: self.keys,
            wrong,
            values: self.values,
            ..Part::default()
        }
    }

    /// Finds the splitters of all with all: the greatest key of each core's part.
    async fn partition(&mut self, node: &Node) -> Vec<u64> {
        let own = pick(&self.keys, self.layout.cores());
        node.work(Work::Account {
            units: own.len() as u64,
        });
        let sorter = self.layout.sorter_of(node.rank());
        let mut splitters = Inbox::new(SPLITTERS);
        let mut found = Vec::new();
        if sorter == node.rank() {
            let pivots = self.gather(node, own).await;
            let (bounds, all) = self.bounds(node, &pivots).await;
            found = self.exchange(node, &pivots, &bounds, all).await;
            let set = set_of(None, &found, self.matching);
            for other in 1..node.nodes() {
                let to = self.layout.core_after(node.rank(), other);
                self.post.send(node, to, &set, &mut splitters).await;
            }
        } else {
            let set = set_of(None, &own, self.matching);
            self.post
                .send(node, sorter, &set, &mut Inbox::new(PIVOTS))
                .await;
        }
        let others = self.layout.sorters() - u32::from(sorter == node.rank());
        self.post.hear(node, others, &mut splitters).await;
        self.join(node, found, splitters)
    }

    /// Puts the splitters of all sorters one behind the other. Those of one come in any order if
    /// they are several messages.
    fn join(&self, node: &Node, own: Vec<u64>, inbox: Inbox) -> Vec<u64> {
        let mut sets = BTreeMap::from([(self.layout.sorter_of(node.rank()), own)]);
        for (from, words) in inbox.messages {
            node.work(Work::Copy {
                bytes: WORD_BYTES * words.len() as u64,
            });
            let set: &mut Vec<u64> = sets.entry(from).or_default();
            set.extend(&words[..]);
            if !set.is_sorted() {
                order(node, set);
            }
        }
        let splitters: Vec<u64> = sets.into_values().flatten().collect();
        node.work(Work::Copy {
            bytes: WORD_BYTES * splitters.len() as u64,
        });
        splitters
    }

    /// A sorter hears the pivots of its cores: all with its own, in order.
    async fn gather(&mut self, node: &Node, own: Vec<u64>) -> Vec<u64> {
        let mut inbox = Inbox::new(PIVOTS);
        let others = self.layout.cores_of(node.rank()) - 1;
        self.post.hear(node, others, &mut inbox).await;
        let mut pivots = own;
        pivots.extend(inbox.messages.iter().flat_map(|(_, words)| &words[..]));
        order(node, &mut pivots);
        pivots
    }

    /// Core 0 finds bounds for the sorters by the pivots of their pivots, and sums up how many
    /// pivots there are: both, at every sorter.
    async fn bounds(&mut self, node: &Node, pivots: &[u64]) -> (Vec<u64>, usize) {
        let sorters = self.layout.sorters();
        let seconds = pick(pivots, sorters as usize);
        node.work(Work::Account {
            units: seconds.len() as u64,
        });
        let mut inbox = Inbox::new(BOUNDS);
        if node.rank() != Rank(0) {
            let set = set_of(Some(pivots.len()), &seconds, self.matching);
            self.post
                .send(node, Rank(0), &set, &mut Inbox::new(SECOND_PIVOTS))
                .await;
            self.post.hear(node, 1, &mut inbox).await;
            let (mut bounds, all) = led(&inbox);
            if inbox.messages.len() > 1 {
                order(node, &mut bounds);
            }
            return (bounds, all);
        }
        let mut heard = Inbox::new(SECOND_PIVOTS);
        self.post.hear(node, sorters - 1, &mut heard).await;
        let (mut all_seconds, others) = led(&heard);
        all_seconds.extend(&seconds);
        order(node, &mut all_seconds);
        let bounds = pick(&all_seconds, sorters as usize);
        node.work(Work::Account {
            units: bounds.len() as u64,
        });
        let all = pivots.len() + others;
        let set = set_of(Some(all), &bounds, self.matching);
        for sorter in 1..sorters {
            self.post
                .send(node, self.layout.sorter(sorter), &set, &mut inbox)
                .await;
        }
        (bounds, all)
    }

    /// Sorters give each other the pivots between each one's bounds, and how many are less than
    /// those. So each knows the places of its pivots among those of all, and which are splitters.
    async fn exchange(
        &mut self,
        node: &Node,
        pivots: &[u64],
        bounds: &[u64],
        all: usize,
    ) -> Vec<u64> {
        let sorters = self.layout.sorters();
        let pieces = cut(pivots, bounds, sorters as usize);
        node.work(Work::Scan {
            words: (pivots.len() + bounds.len()) as u64,
        });
        let mut inbox = Inbox::new(EXCHANGE);
        let own = self.layout.number_of(node.rank());
        for other in 1..sorters {
            let to = (own + other) % sorters;
            let piece = pieces[to as usize].clone();
            let set = set_of(Some(piece.start), &pivots[piece], self.matching);
            self.post
                .send(node, self.layout.sorter(to), &set, &mut inbox)
                .await;
        }
        let piece = pieces[own as usize].clone();
        node.work(Work::Copy {
            bytes: WORD_BYTES * piece.len() as u64,
        });
        self.post.hear(node, sorters - 1, &mut inbox).await;
        let (mut between, less) = led(&inbox);
        between.extend(&pivots[piece.clone()]);
        order(node, &mut between);
        let cores = self.layout.cores();
        node.work(Work::Account {
            units: cores as u64,
        });
        pick_among(&between, less + piece.start, all, cores)
    }

    /// Sends its items to the cores of their parts and receives those of its own, in rounds: in
    /// each it sends one core what is for it and hears one, whoever is the next. How many values
    /// are wrong.
    async fn shuffle(&mut self, node: &Node, splitters: &[u64]) -> u32 {
        let cores = node.nodes();
        let keys = std::mem::take(&mut self.keys);
        let pieces = cut(&keys, splitters, cores as usize);
        node.work(Work::Scan {
            words: (keys.len() + splitters.len()) as u64,
        });
        let own = &keys[pieces[node.rank().0 as usize].clone()];
        node.work(Work::Hash {
            keys: 2 * own.len() as u64,
        });
        node.work(Work::Copy {
            bytes: ITEM_BYTES * own.len() as u64,
        });
        self.keys.extend(own);
        let own = own.iter().map(|key| sum_of(&value_of(*key, node.rank())));
        self.values = own.fold(self.values, u64::wrapping_add);
        let mut inbox = Inbox::new(ITEMS);
        let mut wrong = 0;
        for round in 1..cores {
            let to = self.layout.core_after(node.rank(), round);
            let set = items(&keys[pieces[to.0 as usize].clone()], node.rank());
            node.work(Work::Hash {
                keys: set.iter().filter(|item| !item.is_empty()).count() as u64,
            });
            self.post.send(node, to, &set, &mut inbox).await;
            match self.matching {
                Matching::Software => self.post.hear(node, round, &mut inbox).await,
                // The one whose turn it is: so nobody is far ahead, and what comes early finds
                // room.
                Matching::Ports => {
                    let from = self.layout.core_before(node.rank(), round);
                    self.post.hear_from(node, from, &mut inbox).await;
                }
            }
            for (from, item) in inbox.messages.drain(..) {
                let Some((&key, value)) = item.split_first() else {
                    continue;
                };
                node.work(Work::Hash { keys: 1 });
                self.keys.push(key);
                wrong += u32::from(*value != value_of(key, from));
                self.values = self.values.wrapping_add(sum_of(value));
            }
        }
        self.post.settle(node, &mut inbox).await;
        wrong
    }
}

/// Sorts keys.
fn order(node: &Node, keys: &mut [u64]) {
    keys.sort_unstable();
    node.work(Work::Sort {
        records: keys.len() as u64,
    });
}

/// The words of sets whose first word is a number, and the sum of those.
fn led(inbox: &Inbox) -> (Vec<u64>, usize) {
    let messages = inbox
        .messages
        .iter()
        .filter_map(|(_, words)| words.split_first());
    messages.fold((Vec::new(), 0), |(mut all, sum), (first, words)| {
        all.extend(words);
        (all, sum + *first as usize)
    })
}

/// A message for each key, with its value; of no keys an empty one.
fn items(keys: &[u64], origin: Rank) -> Vec<Vec<u64>> {
    match keys {
        [] => vec![Vec::new()],
        _ => {
            let item = |&key: &u64| [key].into_iter().chain(value_of(key, origin)).collect();
            keys.iter().map(item).collect()
        }
    }
}
