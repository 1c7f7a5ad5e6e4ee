//! Splitters between groups: samples of all groups, ranked exactly by all cores at once.
//!
//! ```text
//!   16 cores of a group --sample--> leader: sorts 16, multicasts the list
//!   ranker (sample, class) of each group: below = rank of its sample in the lists of the class
//!   ranker (sample, 0):    rank of the sample = the sum over the classes
//!                          if it is a splitter's rank: --> a collector in each group
//!   collector: 16 splitters in one message --> its group
//! ```
//!
//! Rank r of S samples stands for rank r / S of all records. With s samples a group, the records of
//! a group have a standard deviation of about 1 / sqrt(s) of their mean.

use std::cmp::Ordering;

use node::{Group, Node, Words};

use super::item::{Item, MOST_ITEMS, MOST_WORDS, keys, pack, unpack};
use super::lanes::Lanes;
use super::search::{charge, probes, rank_in};
use super::shape::{FEW, Shape};
use super::sorter::{Lists, Sorter, step};
use crate::work;

/// Mark of a rank whose key other samples have, too, and of splitters that need the numbers of
/// records to cut among equal keys.
const TIED: u64 = 1 << 63;

/// Mark of a rank whose key has its upper half in common with other samples, and of splitters that
/// need their lower halves.
const CLOSE: u64 = 1 << 62;

/// The bits of half a key.
const HALF: u32 = 32;

/// The parts of the cores, the same in all groups.
struct Sampling {
    /// Samples of a group.
    per_group: u32,
    /// Distance of the cores that give samples.
    stride: u32,
    /// Classes of groups, whose lists go to different rankers.
    classes: u32,
    /// Collectors of a group.
    blocks: u32,
    /// Distance of the collectors.
    block_stride: u32,
}

impl Sampling {
    fn new(shape: &Shape, samples: u32) -> Sampling {
        let (groups, least) = (shape.groups.parts, shape.groups.least());
        let per_group = samples.min(least);
        let stride = least / per_group;
        let blocks = (groups - 1).div_ceil(FEW).min(least);
        Sampling {
            per_group,
            stride,
            classes: if groups <= FEW { 1 } else { stride },
            blocks,
            block_stride: least / blocks,
        }
    }

    /// The sample that a core ranks, and the class of the lists that it ranks it in.
    fn sample_and_class(&self, index: u32) -> Option<(u32, u32)> {
        let (sample, class) = (index / self.stride, index % self.stride);
        (sample < self.per_group && class < self.classes).then_some((sample, class))
    }

    /// Whether splitters go to all cores one by one, since there are few.
    fn is_direct(&self) -> bool {
        self.blocks == 1
    }

    /// The collector of a splitter.
    fn block_of(&self, splitter: u32, splitters: u32) -> u32 {
        (u64::from(splitter) * u64::from(self.blocks) / u64::from(splitters)) as u32
    }

    /// The block that a core collects.
    fn collects(&self, index: u32) -> Option<u32> {
        let block = index / self.block_stride;
        (!self.is_direct() && index.is_multiple_of(self.block_stride) && block < self.blocks)
            .then_some(block)
    }
}

impl Sorter {
    /// The splitters between groups; sorts the own records on the way.
    pub async fn group_splitters(&mut self, node: &Node) -> Vec<Item> {
        let shape = self.shape;
        let plan = Sampling::new(&shape, self.samples);
        let leader = shape.groups.core(shape.group, 0);
        if shape.index.is_multiple_of(plan.stride) && shape.index / plan.stride < plan.per_group {
            let item = self.held[node.random() as usize % self.held.len()].item;
            let words = [item.key, item.number.into()];
            self.send(node, leader, step::SAMPLE, &words).await;
        }
        self.sort_held(node);
        if shape.index == 0 {
            self.send_list(node, &plan).await;
        }
        if let Some((sample, class)) = plan.sample_and_class(shape.index) {
            self.rank_sample(node, &plan, sample, class).await;
        }
        if let Some(block) = plan.collects(shape.index) {
            self.collect(node, &plan, block).await;
        }
        self.all_splitters(node, &plan).await
    }

    async fn send_list(&mut self, node: &Node, plan: &Sampling) {
        let mut list = Vec::with_capacity(plan.per_group as usize);
        for _ in 0..plan.per_group {
            list.extend(unpack(&self.steps.next(node, step::SAMPLE).await.words));
        }
        list.sort_unstable();
        work::sort(node, list.len());
        let shape = self.shape;
        let class = shape.group % plan.classes;
        let keys: Vec<u64> = list.iter().map(|item| item.key).collect();
        for to in shape.groups.in_each(class, plan.per_group, plan.stride) {
            for keys in keys.chunks(MOST_WORDS) {
                self.multicast(node, to, step::LIST, keys).await;
            }
        }
        let first = shape.groups.core(shape.group, 0);
        let rankers = if plan.classes == 1 {
            Group {
                first,
                count: plan.per_group,
                stride: plan.stride,
            }
        } else {
            Group::row(first, plan.per_group * plan.stride)
        };
        self.multicast_list(node, rankers, step::OWN_LIST, &list)
            .await;
    }

    async fn rank_sample(&mut self, node: &Node, plan: &Sampling, sample: u32, class: u32) {
        let shape = self.shape;
        let (item, lists) = self.lists_of_class(node, plan, sample, class).await;
        charge(node, lists.iter().map(|(_, keys)| probes(keys.len())).sum());
        // The sum, and the test of the two keys that the last probes read.
        work::account(node, 3 * lists.len());
        let (mut below, mut marks) = rank_among(item.key, shape.group, &lists);
        if shape.group % plan.classes == class {
            below += u64::from(sample);
        }
        if class > 0 {
            let to = shape.groups.core(shape.group, sample * plan.stride);
            self.send(node, to, step::RANK, &[below | marks]).await;
            return;
        }
        for _ in 1..plan.classes {
            let rank = self.steps.next(node, step::RANK).await.words[0];
            marks |= rank & (TIED | CLOSE);
            below += rank & !(TIED | CLOSE);
        }
        work::account(node, plan.classes as usize);
        let groups = shape.groups.parts;
        let all = u64::from(plan.per_group) * u64::from(groups);
        let target = |splitter: u32| {
            all * u64::from(shape.groups.before(splitter)) / u64::from(shape.groups.cores)
        };
        for splitter in (1..groups).filter(|splitter| target(*splitter) == below) {
            let words = pack_splitter(splitter - 1, item, marks);
            self.send_splitter(node, plan, splitter - 1, &words).await;
        }
    }

    /// The sample, and the lists of a class with their groups.
    async fn lists_of_class(
        &mut self,
        node: &Node,
        plan: &Sampling,
        sample: u32,
        class: u32,
    ) -> (Item, Vec<(u32, Words)>) {
        let groups = self.shape.groups;
        let mut own = Lists::of(1);
        let mut missing = (groups.parts + plan.classes - 1 - class) / plan.classes * plan.per_group;
        let mut lists = Vec::new();
        while own.missing + missing > 0 {
            let either = |of| of == step::OWN_LIST || of == step::LIST;
            let (of, message) = self.steps.next_of(node, either).await;
            if of == step::OWN_LIST {
                own.take(&message);
            } else {
                missing -= message.words.len() as u32;
                lists.push((groups.place(message.from).0, message.words));
            }
        }
        (own.whole[0].items[sample as usize], lists)
    }

    /// Sends a splitter to all cores, or to its collectors.
    async fn send_splitter(&mut self, node: &Node, plan: &Sampling, splitter: u32, words: &[u64]) {
        let groups = self.shape.groups;
        if plan.is_direct() {
            self.multicast(node, groups.all(), step::SPLITTER, words)
                .await;
            return;
        }
        let block = plan.block_of(splitter, groups.parts - 1);
        for to in groups.in_each(block * plan.block_stride, 1, 1) {
            self.multicast(node, to, step::SPLITTER, words).await;
        }
    }

    async fn collect(&mut self, node: &Node, plan: &Sampling, block: u32) {
        let splitters = self.shape.groups.parts - 1;
        let count = (0..splitters).filter(|splitter| plan.block_of(*splitter, splitters) == block);
        let mut found = Vec::new();
        for _ in count {
            let message = self.steps.next(node, step::SPLITTER).await;
            found.push(unpack_splitter(&message.words));
        }
        found.sort_unstable();
        // Each to its place, and a look at what it needs of its key.
        work::account(node, 2 * found.len());
        // Splitters of a block are neighbours, so the first number of a message is enough.
        for part in found.chunks(MOST_ITEMS) {
            let items: Vec<_> = part.iter().map(|(_, item)| *item).collect();
            let words = pack_block(part[0].0, &items);
            self.multicast(node, self.shape.rows.all(), step::SPLITTERS, &words)
                .await;
        }
    }

    /// Receives the splitters between groups, and finds the groups of the own records.
    async fn all_splitters(&mut self, node: &Node, plan: &Sampling) -> Vec<Item> {
        let mut splitters = vec![Item::default(); self.shape.groups.parts as usize - 1];
        let own: Vec<Item> = self.held.iter().map(|record| record.item).collect();
        let (mut missing, mut blocks) = (splitters.len(), 0);
        while missing > 0 {
            let (first, items) = if plan.is_direct() {
                let message = self.steps.next(node, step::SPLITTER).await;
                let (number, splitter) = unpack_splitter(&message.words);
                (number, vec![splitter])
            } else {
                let words = self.steps.next(node, step::SPLITTERS).await.words;
                // The first splitter of a block is searched while other blocks are on their way.
                charge(node, probes(own.len()));
                blocks += 1;
                unpack_block(&words)
            };
            let first = first as usize;
            splitters[first..first + items.len()].copy_from_slice(&items);
            missing -= items.len();
        }
        if plan.is_direct() {
            charge(
                node,
                rank_in(&own, &splitters, &mut vec![0; splitters.len()]),
            );
        } else {
            // Each key in the other splitters of its block.
            charge(node, own.len() as u64 * probes(splitters.len() / blocks));
        }
        work::account(node, own.len() + blocks);
        splitters
    }
}

/// How many keys of the lists are before this one of `own_group`, and the marks of its rank.
fn rank_among(key: u64, own_group: u32, lists: &[(u32, Words)]) -> (u64, u64) {
    let (mut below, mut marks, mut own_equal) = (0, 0, 0);
    for (group, keys) in lists {
        let lower = keys.partition_point(|other| *other < key);
        let until = keys.partition_point(|other| *other <= key);
        // Records are numbered group by group, which orders equal keys.
        below += match group.cmp(&own_group) {
            Ordering::Less => until as u64,
            Ordering::Greater => lower as u64,
            Ordering::Equal => 0,
        };
        let is_own = *group == own_group;
        let equal = until - lower;
        own_equal += if is_own { equal } else { 0 };
        let around = [lower.wrapping_sub(1), until];
        if equal > 0 && !is_own || own_equal > 1 {
            marks |= TIED | CLOSE;
        } else if (around.into_iter().filter_map(|at| keys.get(at)))
            .any(|other| other >> HALF == key >> HALF)
        {
            marks |= CLOSE;
        }
    }
    (below, marks)
}

/// The words of a splitter with its number: of a sample whose rank has these marks.
///
/// A key that no other sample has is too rare to be cut: the splitter needs no record's number. If no
/// other sample has the key's upper half, that half is the splitter.
fn pack_splitter(number: u32, item: Item, marks: u64) -> Vec<u64> {
    let number = u64::from(number);
    if marks & CLOSE == 0 {
        vec![number | item.key >> HALF << HALF]
    } else if marks & TIED == 0 {
        vec![number, item.key]
    } else {
        vec![number, item.key, item.number.into()]
    }
}

fn unpack_splitter(words: &[u64]) -> (u64, Item) {
    let key = match words.get(1) {
        Some(key) => *key,
        None => words[0] >> HALF << HALF,
    };
    let number = words.get(2).map_or(0, |number| *number as u32);
    (u64::from(words[0] as u32), Item { key, number })
}

/// The words of neighbouring splitters, the first of which has that number. Most need only the upper
/// halves of their keys.
fn pack_block(first: u64, items: &[Item]) -> Vec<u64> {
    let mut words = vec![first];
    let halves: Vec<_> = items.iter().map(|item| item.key >> HALF).collect();
    if items.iter().any(|item| item.number > 0) {
        words[0] |= TIED | CLOSE;
        pack(items, &mut words);
    } else if items.iter().any(|item| item.key as u32 > 0) {
        words[0] |= CLOSE;
        words.extend(items.iter().map(|item| item.key));
    } else {
        words[0] |= (items.len() as u64) << HALF;
        words.extend(Lanes::of(u32::MAX.into()).pack(&halves));
    }
    words
}

fn unpack_block(words: &[u64]) -> (u64, Vec<Item>) {
    let (first, rest) = (words[0], &words[1..]);
    let items = if first & CLOSE == 0 {
        let count = (first >> HALF) as usize;
        let halves = Lanes::of(u32::MAX.into()).unpack(rest).take(count);
        let keys: Vec<_> = halves.map(|half| half << HALF).collect();
        self::keys(&keys).collect()
    } else if first & TIED == 0 {
        keys(rest).collect()
    } else {
        unpack(rest).collect()
    };
    (u64::from(first as u32), items)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: Item = Item {
        key: 0x1234_5678_9ABC_DEF0,
        number: 7,
    };

    #[test]
    fn splitters_carry_what_cuts_them_from_other_samples() {
        let cut = |key, number| Item { key, number };
        for (marks, words, expected) in [
            (0, 1, cut(0x1234_5678_0000_0000, 0)),
            (CLOSE, 2, cut(WHOLE.key, 0)),
            (CLOSE | TIED, 3, WHOLE),
        ] {
            let packed = pack_splitter(254, WHOLE, marks);
            assert_eq!(packed.len(), words);
            assert_eq!(unpack_splitter(&packed), (254, expected));
        }
    }

    #[test]
    fn blocks_carry_what_their_splitters_need() {
        let half = Item {
            key: 0x1234_5678_0000_0000,
            number: 0,
        };
        let key = Item {
            key: WHOLE.key,
            number: 0,
        };
        for (last, words) in [(half, 4), (key, 6), (WHOLE, 9)] {
            let items = [half, half, half, half, last];
            let packed = pack_block(32, &items);
            assert_eq!(packed.len(), words);
            assert_eq!(unpack_block(&packed), (32, items.to_vec()));
        }
    }
}
