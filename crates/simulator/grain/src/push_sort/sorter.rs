//! The state of one core, and its messages.

use node::{Group, Message, Node, Port, Rank, Reorder, Work};

use super::PushSort;
use super::item::{Item, MOST_ITEMS, MOST_WORDS, keys, pack, unpack};
use super::search::{charge, probes};
use super::shape::Shape;
use crate::records::{VALUE_WORDS, value_of};
use crate::work;

/// Bytes of a key with its record's number.
const ITEM_BYTES: u64 = 12;

/// The port of all messages. A core takes messages of several steps as they come, which ports of
/// their own would not allow.
const FIRST: Port = Port(1);

/// The kinds of messages, in the order of a key's way; the last one is a note to the leader of a
/// row.
pub mod step {
    pub const SAMPLE: u32 = 0;
    pub const OWN_LIST: u32 = 1;
    pub const LIST: u32 = 2;
    pub const RANK: u32 = 3;
    pub const SPLITTER: u32 = 4;
    pub const SPLITTERS: u32 = 5;
    pub const COUNTS_OF_CORE: u32 = 6;
    pub const COUNTS_OF_ROW: u32 = 7;
    pub const COUNT: u32 = 8;
    pub const TO_GROUP: u32 = 9;
    pub const ROW_SAMPLE: u32 = 10;
    pub const ROW_RUN: u32 = 11;
    pub const ROW_LIST: u32 = 12;
    pub const BAND_SPLITTER: u32 = 13;
    pub const KEYS: u32 = 14;
    pub const KEYS_OF_CORE: u32 = 15;
    pub const KEYS_OF_BAND: u32 = 16;
    pub const CORE_LIST: u32 = 17;
    pub const RANKS: u32 = 18;
    pub const PLACES: u32 = 19;
    pub const PLACES_OF_LIST: u32 = 20;
    pub const TO_CORE: u32 = 21;
    pub const COMPLETE: u32 = 22;

    /// Samples after the first ones, and notes to a leader that has enough: read and dropped.
    pub fn is_late(of: u32) -> bool {
        of == ROW_SAMPLE || of == COMPLETE
    }
}

/// A key with its value.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    pub item: Item,
    /// Its place on the core where it ends, when that is known.
    pub place: u32,
    pub value: [u64; VALUE_WORDS],
}

impl Record {
    pub fn words(&self) -> [u64; 2 + VALUE_WORDS] {
        let mut words = [0; 2 + VALUE_WORDS];
        words[0] = self.item.key;
        words[1] = u64::from(self.item.number) | u64::from(self.place) << 32;
        words[2..].copy_from_slice(&self.value);
        words
    }

    pub fn of(message: &Message) -> Record {
        let mut value = [0; VALUE_WORDS];
        value.copy_from_slice(&message.words[2..]);
        let (key, number) = (message.words[0], message.words[1] as u32);
        Record {
            item: Item { key, number },
            place: (message.words[1] >> 32) as u32,
            value,
        }
    }
}

/// One core with its records.
pub struct Sorter {
    pub steps: Reorder,
    pub shape: Shape,
    /// Samples of a group.
    pub samples: u32,
    /// Samples of each core for the splitters between bands.
    pub row_samples: u32,
    /// Records that each core begins with.
    pub each: u32,
    /// Records that are here.
    pub held: Vec<Record>,
    /// How many of them, from the first on, are in order.
    pub sorted: usize,
    /// Messages sent.
    pub sent: u64,
}

impl Sorter {
    pub fn new(program: &PushSort, node: &Node, own: &[u64]) -> Sorter {
        let each = own.len() as u32;
        let first = node.rank().0 * each;
        let record = |(number, key): (u32, &u64)| Record {
            item: Item { key: *key, number },
            place: 0,
            value: value_of(*key, node.rank()),
        };
        Sorter {
            steps: Reorder::new(node, FIRST, node::Matching::Software),
            shape: Shape::new(node.rank(), node.nodes(), program.group),
            samples: program.samples,
            row_samples: program.row_samples,
            each,
            held: (first..).zip(own).map(record).collect(),
            sorted: 0,
            sent: 0,
        }
    }

    /// The core where a record began.
    pub fn origin(&self, item: Item) -> Rank {
        let has_groups = self.shape.groups.parts > 1;
        let item = if has_groups { item.gathered() } else { item };
        Rank(item.number / self.each)
    }

    pub async fn send(&mut self, node: &Node, to: Rank, step: u32, words: &[u64]) {
        self.sent += 1;
        self.steps.send(node, to, step, words).await;
    }

    /// The next message of a step that is wanted now. Late samples and notes are dropped.
    pub async fn next_of(&mut self, node: &Node, wanted: impl Fn(u32) -> bool) -> (u32, Message) {
        loop {
            let either = |of| wanted(of) || step::is_late(of);
            let (of, message) = self.steps.next_of(node, either).await;
            if wanted(of) {
                return (of, message);
            }
        }
    }

    pub async fn multicast(&mut self, node: &Node, to: Group, step: u32, words: &[u64]) {
        self.sent += 1;
        self.steps.multicast(node, to, step, words).await;
    }

    /// Sends a list of any length to a group.
    pub async fn multicast_list(&mut self, node: &Node, to: Group, step: u32, list: &[Item]) {
        let parts = parts(list, MOST_ITEMS, pack);
        self.multicast_parts(node, to, step, parts).await;
    }

    /// As [`Sorter::multicast_list`], without the numbers of records.
    pub async fn multicast_keys(&mut self, node: &Node, to: Group, step: u32, list: &[u64]) {
        let parts = parts(list, MOST_WORDS, |list, words| words.extend(list));
        self.multicast_parts(node, to, step, parts).await;
    }

    async fn multicast_parts(&mut self, node: &Node, to: Group, step: u32, parts: Vec<Vec<u64>>) {
        for words in parts {
            if to.count == 1 {
                self.send(node, to.first, step, &words).await;
            } else {
                self.multicast(node, to, step, &words).await;
            }
        }
    }

    /// Sorts the records that are here by their keys.
    pub fn sort_held(&mut self, node: &Node) {
        let new = self.held.len() - self.sorted;
        if new == 0 {
            return;
        }
        work::sort(node, new);
        if self.sorted > 0 {
            // The new ones are searched in the others, which move.
            let bytes = self.held.len() as u64 * ITEM_BYTES;
            let search = new as u64 * probes(self.sorted);
            if search < self.held.len() as u64 {
                charge(node, search);
                node.work(Work::Copy { bytes });
            } else {
                node.work(Work::Merge {
                    records: self.held.len() as u64,
                    sources: 2,
                });
            }
        }
        self.held.sort_unstable_by_key(|record| record.item);
        self.sorted = self.held.len();
    }

    /// Sends a record on.
    pub async fn push(&mut self, node: &Node, to: Rank, step: u32, record: &Record) {
        self.send(node, to, step, &record.words()).await;
    }
}

/// The messages of a list, one at least: each tells the length of the whole, and where in it its
/// items begin.
fn parts<T>(list: &[T], most: usize, pack: impl Fn(&[T], &mut Vec<u64>)) -> Vec<Vec<u64>> {
    let part = |offset: usize| {
        let items = &list[offset..list.len().min(offset + most)];
        let mut words = Vec::with_capacity(1 + 2 * items.len());
        words.push(list.len() as u64 | (offset as u64) << 32);
        pack(items, &mut words);
        words
    };
    (0..list.len().max(1)).step_by(most).map(part).collect()
}

/// Lists that arrive in one message or several.
#[derive(Default)]
pub struct Lists {
    /// Lists that have not arrived whole.
    pub missing: u32,
    /// Whether they come without the numbers of records.
    pub are_keys: bool,
    partial: Vec<List>,
    pub whole: Vec<List>,
}

/// A sorted list.
pub struct List {
    pub from: Rank,
    pub items: Vec<Item>,
}

impl Lists {
    pub fn of(count: u32) -> Lists {
        Lists {
            missing: count,
            ..Lists::default()
        }
    }

    /// Lists that come without the numbers of records: those are 0.
    pub fn of_keys(count: u32) -> Lists {
        Lists {
            are_keys: true,
            ..Lists::of(count)
        }
    }

    pub fn take(&mut self, message: &Message) {
        let (all, packed) = (message.words[0] as u32 as usize, &message.words[1..]);
        let place = self
            .partial
            .iter()
            .position(|list| list.from == message.from);
        let mut list = match place {
            Some(place) => self.partial.swap_remove(place),
            None => List {
                from: message.from,
                items: Vec::with_capacity(all),
            },
        };
        if self.are_keys {
            list.items.extend(keys(packed));
        } else {
            list.items.extend(unpack(packed));
        }
        if list.items.len() < all {
            self.partial.push(list);
            return;
        }
        // Messages may overtake each other; each is a run of the list.
        list.items.sort_unstable();
        self.whole.push(list);
        self.missing -= 1;
    }

    pub fn items(&self) -> usize {
        self.whole.iter().map(|list| list.items.len()).sum()
    }
}
