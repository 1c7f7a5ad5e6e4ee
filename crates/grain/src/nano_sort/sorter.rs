//! One core of NanoSort: its keys, and what it does in each step.

use std::collections::BTreeMap;

use node::{Node, Port, Rank, Reorder, Work};

use super::partition::Partition;
use super::{MOST_WORDS, NanoSort, VALUE_WORDS, value_of};
use crate::Tree;
use crate::permutation::Permutation;
use crate::pivot_select::pivot_select;

/// The first port of the steps.
const FIRST: Port = Port(1);

/// Steps of a level: names, a tree's medians on each of its levels, splitters, buckets.
const STEPS: u32 = 37;
const NAMES: u32 = 0;
const SPLITTERS: u32 = STEPS - 3;
const BUCKETS: u32 = STEPS - 2;
/// A bucket's next message may come.
const GO_ON: u32 = STEPS - 1;

/// Steps before the first level.
const SHUFFLE: u32 = 0;
const VALUES: u32 = 1;
const BEFORE: u32 = 2;

/// Stages of levels; the deepest levels share one.
const LEVELS: [&str; 8] =
    ["level 0", "level 1", "level 2", "level 3", "level 4", "level 5", "level 6", "level 7"];

/// What a message of the last step says first.
const ASKS: u64 = 0;
const TELLS: u64 = 1;

/// A key with the core that has its value.
#[derive(Clone, Copy, Debug)]
struct Held {
    key: u64,
    origin: Rank,
}

pub(super) struct Sorter {
    steps: Reorder,
    incast: u32,
    seed: u64,
    /// The keys that it has now.
    held: Vec<Held>,
    /// How many records it had at first.
    records: u32,
}

impl Sorter {
    pub fn new(program: &NanoSort, node: &Node, keys: Vec<u64>) -> Sorter {
        let origin = node.rank();
        Sorter {
            steps: Reorder::new(node, FIRST, program.matching),
            incast: program.incast,
            seed: program.seed,
            records: keys.len() as u32,
            held: keys.into_iter().map(|key| Held { key, origin }).collect(),
        }
    }

    pub fn into_keys(self) -> Vec<u64> {
        self.held.into_iter().map(|held| held.key).collect()
    }

    /// Sends its keys to cores drawn for them and receives as many. Key i goes where permutation i
    /// leads, which all know: so nobody is sent more than others.
    pub async fn shuffle(&mut self, node: &Node) {
        node.stage("shuffle");
        let count = self.held.len();
        let mut received = Vec::with_capacity(count);
        for first in (0..count).step_by(BURST) {
            let until = count.min(first + BURST);
            for number in first..until {
                let held = self.held[number];
                let all = Permutation::new(node.nodes(), self.seed, number as u64);
                match Rank(all.of(node.rank().0)) {
                    to if to == node.rank() => received.push(held),
                    to => self.steps.send(node, to, SHUFFLE, &held.words()).await,
                }
            }
            while received.len() < until {
                let message = self.steps.next(node, SHUFFLE).await;
                received.extend(pairs(&message.words));
            }
        }
        self.held = received;
    }

    /// Sorts the keys that it has.
    pub fn sort(&mut self, node: &Node) {
        node.stage("sort");
        self.order(node);
    }

    /// A level of its group: the column that it goes on with.
    pub async fn level(&mut self, node: &Node, group: Partition, level: u32) -> u32 {
        node.stage(LEVELS[(level as usize).min(LEVELS.len() - 1)]);
        self.order(node);
        let splitters = self.splitters(node, group, level).await;
        self.exchange(node, group, level, &splitters).await;
        group.place(node.rank()).0
    }

    fn order(&mut self, node: &Node) {
        self.held.sort_unstable_by_key(|held| held.key);
        node.work(Work::Sort { records: self.held.len() as u64 });
    }

    /// Finds the splitters of its group with all its cores.
    async fn splitters(&mut self, node: &Node, group: Partition, level: u32) -> Vec<u64> {
        let (column, row) = group.place(node.rank());
        let own = self.name(node, group, level).await;
        if column > 0 {
            let names = group.senders(column, row) - 1;
            let mut median = self.median(node, step(level, NAMES), names, own).await;
            let tree = Tree::new(group.rows(column), self.incast);
            for up in 1..=tree.levels(Rank(row)) {
                let children = tree.children(Rank(row), up).count;
                median = self.median(node, step(level, up), children, median).await;
            }
            let words = median.as_slice();
            match tree.parent(Rank(row)) {
                Some((parent, up)) => {
                    let parent = group.core(column, parent.0);
                    self.steps.send(node, parent, step(level, up), words).await;
                }
                None => {
                    let all = group.group();
                    self.steps.multicast(node, all, step(level, SPLITTERS), words).await;
                }
            }
        }
        let mut splitters = Vec::with_capacity(group.columns() as usize);
        for _ in 1..group.columns() {
            let message = self.steps.next(node, step(level, SPLITTERS)).await;
            splitters.extend(message.words.first());
        }
        splitters.sort_unstable();
        node.work(Work::Sort { records: splitters.len() as u64 });
        splitters
    }

    /// Names a key for each border to its row; the one for its own column.
    async fn name(&mut self, node: &Node, group: Partition, level: u32) -> Option<u64> {
        let (column, row) = group.place(node.rank());
        let borders = group.columns() as usize;
        let places = pivot_select(borders, self.held.len(), || node.random());
        node.work(Work::Account { units: borders as u64 });
        let mut own = None;
        for border in 1..group.columns() {
            let place = places.as_ref().map(|places| places[border as usize - 1]);
            let name = place.map(|place| self.held[place].key);
            if border == column {
                own = name;
                continue;
            }
            let words = name.as_slice();
            self.steps.send(node, group.core(border, row), step(level, NAMES), words).await;
        }
        own
    }

    /// The median of its own key and those that come; of no keys none.
    async fn median(&mut self, node: &Node, step: u32, come: u32, own: Option<u64>) -> Option<u64> {
        let mut keys: Vec<u64> = own.into_iter().collect();
        for _ in 0..come {
            keys.extend(self.steps.next(node, step).await.words.first());
        }
        node.work(Work::Select { keys: keys.len() as u64 });
        let middle = keys.len() / 2;
        (!keys.is_empty()).then(|| *keys.select_nth_unstable(middle).1)
    }

    /// Sends its keys to their buckets, one message for each, and receives those of its own.
    async fn exchange(&mut self, node: &Node, group: Partition, level: u32, splitters: &[u64]) {
        let (column, row) = group.place(node.rank());
        let mut buckets = vec![Vec::new(); group.columns() as usize];
        for held in &self.held {
            let bucket = splitters.iter().take_while(|splitter| **splitter <= held.key).count();
            buckets[bucket].extend(held.words());
        }
        let (keys, count) = (self.held.len() as u64, splitters.len() as u64);
        node.work(Work::Bucket { keys, splitters: count });
        self.held.clear();
        self.held.extend(pairs(&std::mem::take(&mut buckets[column as usize])));
        // Few buckets need a second message. It waits for leave, so nobody is sent what it has no room
        // for.
        let most = part_words(self.records, group.columns());
        let others = (0..group.columns()).filter(|bucket| *bucket != column);
        let mut streams: Vec<_> = others
            .map(|bucket| (group.core(bucket, row), parts(&buckets[bucket as usize], most)))
            .collect();
        let mut senders = Senders::new(group.senders(column, row) - 1);
        for round in 0.. {
            if streams.is_empty() && senders.left == 0 {
                break;
            }
            for _ in 0..if round > 0 { streams.len() } else { 0 } {
                self.steps.next(node, step(level, GO_ON)).await;
            }
            for (to, parts) in &mut streams {
                if let Some(part) = parts.pop() {
                    self.steps.send(node, *to, step(level, BUCKETS), &part).await;
                }
            }
            streams.retain(|(_, parts)| !parts.is_empty());
            for _ in 0..senders.left {
                let message = self.steps.next(node, step(level, BUCKETS)).await;
                self.held.extend(pairs(&message.words));
                if senders.has_more(message.from, &message.words) {
                    self.steps.send(node, message.from, step(level, GO_ON), &[]).await;
                }
            }
        }
    }

    /// Asks for the values of its keys and answers for those it had at first, until all are there: how
    /// many are wrong.
    pub async fn values(&mut self, node: &Node) -> u32 {
        node.stage("values");
        let mut by_origin: BTreeMap<Rank, Vec<u64>> = BTreeMap::new();
        for held in &self.held {
            by_origin.entry(held.origin).or_default().push(held.key);
        }
        node.work(Work::Hash { keys: 2 * self.held.len() as u64 });
        let own = by_origin.remove(&node.rank()).unwrap_or_default();
        let mut served = own.len() as u32;
        let mut missing = self.held.len() - own.len();
        node.work(Work::Hash { keys: own.len() as u64 });
        node.work(Work::Copy { bytes: own.len() as u64 * VALUE_BYTES });
        let (most, mut asked) = (most_asked(self.records), 0);
        // From its own place on: not all ask the first core first.
        let others = by_origin.range(node.rank()..).chain(by_origin.range(..node.rank()));
        let mut questions = others.flat_map(|(origin, keys)| {
            keys.chunks(most.min(MOST_WORDS - 1)).map(move |keys| (*origin, keys))
        });
        let mut question = questions.next();
        let mut wrong = 0;
        while served < self.records || missing > 0 {
            while let Some((origin, keys)) = question.filter(|(_, keys)| asked + keys.len() <= most)
            {
                let words: Vec<u64> = [ASKS].iter().chain(keys).copied().collect();
                self.steps.send(node, origin, VALUES, &words).await;
                asked += keys.len();
                question = questions.next();
            }
            let message = self.steps.next(node, VALUES).await;
            let (kind, rest) = message.words.split_first().expect("every message has a kind");
            if *kind == TELLS {
                (missing, asked) = (missing - 1, asked - 1);
                wrong += u32::from(rest[1..] != value_of(rest[0]));
                node.work(Work::Hash { keys: 1 });
                continue;
            }
            for &key in rest {
                node.work(Work::Hash { keys: 1 });
                let words: Vec<u64> = [TELLS, key].into_iter().chain(value_of(key)).collect();
                self.steps.send(node, message.from, VALUES, &words).await;
                served += 1;
            }
        }
        wrong
    }
}

/// Bytes of a value.
const VALUE_BYTES: u64 = 8 * VALUE_WORDS as u64;

/// Keys that a core sends in the shuffle before it receives as many: a quarter of a receive queue.
const BURST: usize = 16;

/// Records of which all that a core sends in a step finds room in its transmit words (1,024, and an
/// answer has 15): then nothing keeps it from receiving. With more it must not send what others have
/// no room for.
const FEW: u32 = 64;

/// Entries of a receive queue of a nanoPU core that buckets may take; the rest is for leaves and the
/// next level's names.
const ENTRIES: usize = 63 / 2;

/// Words of an entry.
const ENTRY_WORDS: usize = 8;

/// Words of a bucket's message: of many records so few that those of all columns find room at a core,
/// with the step and the number of messages.
fn part_words(records: u32, columns: u32) -> usize {
    let entries = (ENTRIES / columns as usize).max(1);
    let most = if records > FEW { entries * ENTRY_WORDS - 2 } else { MOST_WORDS - 1 };
    most.min(MOST_WORDS - 1) / 2 * 2
}

/// How many values a core asks for before one has come.
fn most_asked(records: u32) -> usize {
    if records > FEW { 8 } else { usize::MAX }
}

impl Held {
    fn words(self) -> [u64; 2] {
        [self.key, self.origin.0.into()]
    }
}

fn step(level: u32, step: u32) -> u32 {
    BEFORE + level * STEPS + step
}

fn pairs(words: &[u64]) -> impl Iterator<Item = Held> {
    words.chunks_exact(2).map(|pair| Held { key: pair[0], origin: Rank(pair[1] as u32) })
}

/// A bucket's words as messages. Nearly always it is one, of pairs alone. If it is several, each has a
/// word more that says how many: they may overtake each other.
fn parts(words: &[u64], most: usize) -> Vec<Vec<u64>> {
    if words.len() <= most {
        return vec![words.to_vec()];
    }
    let all = words.len().div_ceil(most) as u64;
    words.chunks(most).map(|part| part.iter().copied().chain([all]).collect()).collect()
}

/// Who has not sent all of a bucket.
struct Senders {
    left: u32,
    /// How many messages came of those that send several.
    several: BTreeMap<Rank, u64>,
}

impl Senders {
    fn new(left: u32) -> Senders {
        Senders { left, several: BTreeMap::new() }
    }

    /// Hears one: whether its sender has more.
    fn has_more(&mut self, from: Rank, words: &[u64]) -> bool {
        let has_more = match words.last() {
            Some(all) if !words.len().is_multiple_of(2) => {
                let came = self.several.entry(from).or_insert(0);
                *came += 1;
                *came < *all
            }
            _ => false,
        };
        self.left -= u32::from(!has_more);
        has_more
    }
}
