//! A cache of blocks that drops the least recently used one, or a victim by its standing.
//!
//! ```text
//!   oldest                                 newest
//!   duplicate      a . . d . . . .     a victim for a block that arrives is the oldest duplicate,
//!   recirculating  . b . . . f . .     else the oldest recirculating block, else the oldest one:
//!   single         . . c . e . g h     a, d, b, f, c, ...; least recently used: a, b, c, ...
//! ```

use std::collections::BTreeMap;

/// Whether other caches hold a block, too (Dahlin and others, OSDI 1994).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Another cache holds it.
    Duplicate,
    /// The last copy, which another cache gave away; it may be passed on so many times less one.
    Recirculating(u32),
    /// The last copy, read here.
    Single,
}

/// A block in a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// A word that stands for its bytes.
    pub content: u64,
    pub standing: Standing,
    age: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct BlockCache {
    room: usize,
    clock: u64,
    blocks: BTreeMap<u64, Block>,
    /// Blocks by age, the oldest first, for each standing.
    ages: [BTreeMap<u64, u64>; 3],
}

impl BlockCache {
    pub fn new(room: u32) -> BlockCache {
        BlockCache {
            room: room as usize,
            clock: 0,
            blocks: BTreeMap::new(),
            ages: Default::default(),
        }
    }

    /// Whether it is full, when it keeps room for so many blocks that are on their way.
    pub fn is_full(&self, reserved: usize) -> bool {
        self.blocks.len() + reserved >= self.room
    }

    /// The numbers of its blocks, ascending.
    pub fn numbers(&self) -> impl Iterator<Item = u64> {
        self.blocks.keys().copied()
    }

    /// The block, without a trace of the look-up.
    pub fn peek(&self, number: u64) -> Option<Block> {
        self.blocks.get(&number).copied()
    }

    /// Reads a block: it is the newest then, and no longer recirculates.
    pub fn read(&mut self, number: u64) -> Option<u64> {
        let block = self.take(number)?;
        let standing = match block.standing {
            Standing::Recirculating(_) => Standing::Single,
            standing => standing,
        };
        self.put(number, block.content, standing);
        Some(block.content)
    }

    /// Adds a block that it does not hold, as the newest. The caller has made room.
    pub fn put(&mut self, number: u64, content: u64, standing: Standing) {
        self.clock += 1;
        let age = self.clock;
        let block = Block {
            content,
            standing,
            age,
        };
        self.blocks.insert(number, block);
        self.ages[row(standing)].insert(age, number);
    }

    /// Adds a block as the newest, in place of the oldest one if it is full.
    pub fn keep(&mut self, number: u64, content: u64) {
        self.take(number);
        if self.is_full(0) {
            self.oldest().map(|oldest| self.take(oldest));
        }
        if !self.is_full(0) {
            self.put(number, content, Standing::Single);
        }
    }

    pub fn take(&mut self, number: u64) -> Option<Block> {
        let block = self.blocks.remove(&number)?;
        self.ages[row(block.standing)].remove(&block.age);
        Some(block)
    }

    /// Changes the standing of a block, if it is here; its age stays.
    pub fn stand(&mut self, number: u64, standing: Standing) {
        if let Some(block) = self.blocks.get_mut(&number) {
            self.ages[row(block.standing)].remove(&block.age);
            block.standing = standing;
            self.ages[row(standing)].insert(block.age, number);
        }
    }

    /// The least recently used block.
    pub fn oldest(&self) -> Option<u64> {
        let firsts = self.ages.iter().filter_map(BTreeMap::first_key_value);
        firsts.min().map(|(_, number)| *number)
    }

    /// The block that makes room for one that another cache gives away.
    pub fn victim(&self) -> Option<u64> {
        let first = self.ages.iter().find_map(BTreeMap::first_key_value);
        first.map(|(_, number)| *number)
    }
}

fn row(standing: Standing) -> usize {
    match standing {
        Standing::Duplicate => 0,
        Standing::Recirculating(_) => 1,
        Standing::Single => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn victims_are_duplicates_then_recirculating_then_the_oldest() {
        let mut cache = BlockCache::new(8);
        for (number, standing) in [
            (1, Standing::Single),
            (2, Standing::Recirculating(2)),
            (3, Standing::Duplicate),
            (4, Standing::Recirculating(1)),
            (5, Standing::Single),
        ] {
            cache.put(number, number * 10, standing);
        }
        assert_eq!((cache.oldest(), cache.read(2)), (Some(1), Some(20)));
        cache.stand(1, Standing::Duplicate);
        let mut victims = Vec::new();
        while let Some(victim) = cache.victim() {
            victims.push((victim, cache.take(victim).unwrap().content));
        }
        assert_eq!(victims, [(1, 10), (3, 30), (4, 40), (5, 50), (2, 20)]);
        assert!(!cache.is_full(7) && cache.is_full(8));
    }

    #[test]
    fn it_keeps_the_newest() {
        let mut cache = BlockCache::new(2);
        for number in [1, 2, 1, 3] {
            cache.keep(number, 0);
        }
        assert!(cache.numbers().eq([1, 3]));
        let mut none = BlockCache::new(0);
        none.keep(1, 0);
        assert_eq!(none.peek(1), None);
    }
}
