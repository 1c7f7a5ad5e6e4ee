//! The ranks of a core's keys among those of its band, found list by list as they arrive.
//!
//! ```text
//!   core 0   1   2   3   4       each list goes to the half of the band that follows its core;
//!        a-->a-->a               a core merges it with its own, which ranks both in the other,
//!            b-->b-->b           and tells the list's core the ranks of its keys
//!        c           c-->c ...
//! ```
//!
//! So each two lists are merged once, while the next list is on the way.

use node::{Group, Message, Node, Rank, Work};

use super::item::MOST_WORDS;
use super::lanes::{Lanes, NARROW};
use crate::work;

pub struct Ranking {
    /// The keys, in order.
    pub keys: Vec<u64>,
    /// How many keys are below each, of this core and of the lists that came here.
    below: Vec<u64>,
    /// The same of the other lists.
    told: Vec<u64>,
    /// Keys of the band.
    pub all: u64,
    /// The first core of the band.
    first: Rank,
    /// This core.
    own: Rank,
    /// The cores of the band, by column, whose number of keys is not known.
    silent: Vec<bool>,
    /// How many those are.
    silent_cores: u32,
    /// Keys that come here in lists of known length, and have not come.
    unmerged: u64,
    /// Ranks of the own keys that other cores have not told.
    untold: u64,
}

/// How many cores after a column, of `cores` in a ring, merge its list. With an even number, the
/// two that face each other would merge both; the first half of the band leaves it to the second.
fn reach(column: u32, cores: u32) -> u32 {
    let faces = cores.is_multiple_of(2) && column < cores / 2;
    (cores - 1) / 2 + u32::from(faces)
}

/// Of ranks among that many keys.
fn lanes(keys: u64) -> Lanes {
    Lanes::of(keys.max(NARROW))
}

impl Ranking {
    /// Of the keys of the core at `column` in a band of `cores`.
    pub fn new(keys: Vec<u64>, first: Rank, column: u32, cores: u32) -> Ranking {
        let count = keys.len() as u64;
        let mut silent = vec![true; cores as usize];
        silent[column as usize] = false;
        Ranking {
            below: (0..count).collect(),
            told: vec![0; keys.len()],
            all: count,
            first,
            own: Rank(first.0 + column),
            silent,
            silent_cores: cores - 1,
            unmerged: 0,
            untold: count * u64::from(reach(column, cores)),
            keys,
        }
    }

    /// The cores that merge the list of a column.
    pub fn mergers(&self, column: u32) -> impl Iterator<Item = Group> + use<> {
        let (first, cores) = (self.first.0, self.silent.len() as u32);
        let (begin, end) = (column + 1, column + 1 + reach(column, cores));
        let runs = [(begin, end.min(cores)), (0, end.saturating_sub(cores))];
        let some = runs.into_iter().filter(|(begin, end)| begin < end);
        some.map(move |(begin, end)| Group::row(Rank(first + begin), end - begin))
    }

    pub fn is_known(&self) -> bool {
        self.silent_cores == 0 && self.unmerged == 0 && self.untold == 0
    }

    /// Notes the number of keys of a core; returns whether it was unknown.
    fn hears(&mut self, from: Rank, keys: u64) -> bool {
        let silent = &mut self.silent[(from.0 - self.first.0) as usize];
        let is_new = std::mem::take(silent);
        if is_new {
            self.silent_cores -= 1;
            self.all += keys;
        }
        is_new
    }

    /// Takes the list of a core, or a part of it; returns the words of the ranks that its keys
    /// have among the keys here. Equal keys are in the order of their cores: their records may be in
    /// any.
    pub fn merge(&mut self, node: &Node, message: &Message) -> Vec<u64> {
        let (length, offset) = (message.words[0] as u32, message.words[0] >> 32);
        if self.hears(message.from, length.into()) {
            self.unmerged += u64::from(length);
        }
        let (own, is_after) = (&self.keys, message.from < self.own);
        let (mut at, mut below) = (0, 0);
        let mut ranks = Vec::with_capacity(own.len());
        for other in &message.words[1..] {
            let is_before = |key: &u64| key < other || key == other && !is_after;
            while own.get(at).is_some_and(is_before) {
                self.below[at] += below;
                at += 1;
            }
            ranks.push(at as u64);
            below += 1;
        }
        for rest in &mut self.below[at..] {
            *rest += below;
        }
        node.work(Work::Merge {
            records: own.len() as u64 + below,
            sources: 2,
        });
        self.unmerged -= below;
        let mut words = vec![own.len() as u64 | offset << 32];
        words.extend(lanes(own.len() as u64).pack(&ranks));
        words
    }

    /// Takes the ranks that keys from here have among the keys of another core.
    pub fn told(&mut self, node: &Node, message: &Message) {
        let (all, offset) = (message.words[0] as u32, (message.words[0] >> 32) as usize);
        self.hears(message.from, all.into());
        let words = &message.words[1..];
        let ranks = lanes(all.into()).unpack(words);
        let end = self.told.len().min(offset + MOST_WORDS);
        for (sum, rank) in self.told[offset..end].iter_mut().zip(ranks) {
            *sum += rank;
        }
        // Ranks packed in one word are added together while the sums fit.
        let are_narrow = self.all <= NARROW;
        let units = if are_narrow {
            words.len()
        } else {
            end - offset
        };
        work::account(node, units);
        self.untold -= (end - offset) as u64;
    }

    /// The ranks of the keys in the band, when they are known.
    pub fn ranks(&self) -> impl Iterator<Item = u64> {
        self.below
            .iter()
            .zip(&self.told)
            .map(|(below, told)| below + told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_two_lists_are_merged_once() {
        for cores in 1..20 {
            let mut mergers = vec![Vec::new(); cores as usize];
            for column in 0..cores {
                let ranking = Ranking::new(Vec::new(), Rank(7), column, cores);
                let of_list = ranking.mergers(column).flat_map(Group::members);
                for merger in of_list {
                    mergers[(merger.0 - 7) as usize].push(column);
                }
            }
            let merges = |at: u32, list: u32| mergers[at as usize].contains(&list);
            for (one, other) in (0..cores).flat_map(|one| (0..one).map(move |other| (one, other))) {
                assert!(
                    merges(one, other) != merges(other, one),
                    "{one} {other} of {cores}"
                );
            }
            assert!(
                mergers
                    .iter()
                    .all(|lists| lists.len() <= cores as usize / 2)
            );
        }
    }
}
