//! Splitters between the bands of a group: samples, ranked exactly by half of the cores at once.
//!
//! ```text
//!   samples --> leader of a row: the first ones, sorted --a run each--> rankers: every other core
//!                                                       --list--------> all rankers
//!   ranker: ranks its run in each list; a sample where a band begins --> the group
//! ```
//!
//! Runs leave first, so that a ranker works on one list while the next is on its way.
//!
//! How many samples come to a leader is not known. It takes as many as nearly always come, or what
//! it has when all cores of its row have all their records.

use node::{Group, Message, Node, Rank};

use super::division::Division;
use super::item::{Item, pack, unpack};
use super::search::{charge, rank_in};
use super::sorter::{List, Lists, Sorter, step};
use crate::work;

/// Distance of the cores that rank samples: half of the cores take half of the time to hear of all
/// lists, since cores share a NIC, and twice the time to rank.
const RANKER_STRIDE: u32 = 2;

/// Cores of 16 that give a sample when there is one group. With fewer samples a leader has less to
/// sort, and bands are less equal.
const GIVERS_OF_16: u32 = 12;

/// Neighbouring samples that one core ranks.
const RUN: usize = RANKER_STRIDE as usize;

/// The share of one core in finding the splitters between the bands of its group.
pub struct BandSplitting {
    pub has_told: bool,
    /// Samples to come, if this core leads its row.
    pub samples_missing: u32,
    /// Cores of the row that are not complete.
    pub incomplete: u32,
    pub samples: Vec<Item>,
    pub ranking: SampleRanking,
    /// Splitters that have not arrived.
    pub missing: u32,
    pub splitters: Vec<Option<Item>>,
}

impl BandSplitting {
    pub fn is_at_rest(&self) -> bool {
        self.samples_missing == 0 && self.ranking.is_over
    }
}

/// The ranks of some samples among all of the group, found list by list.
pub struct SampleRanking {
    lists: Lists,
    runs: Vec<Run>,
    is_over: bool,
    /// This ranker, among all.
    ranker: usize,
    rankers: usize,
}

/// Neighbours in the list of a row.
struct Run {
    row: usize,
    items: Vec<Item>,
    below: Vec<u64>,
}

impl Run {
    /// Ranks it in the list of another row. Keys without numbers are ordered by row.
    fn rank(&mut self, node: &Node, list: &[Item], row: usize, are_keys: bool) {
        let mut list = list.to_vec();
        if are_keys && row > self.row {
            list.iter_mut().for_each(|item| item.number = u32::MAX);
        }
        charge(node, rank_in(&list, &self.items, &mut self.below));
        work::account(node, self.items.len());
    }
}

impl SampleRanking {
    pub fn take_run(&mut self, node: &Node, rows: Division, message: &Message) {
        let items: Vec<_> = unpack(&message.words[1..]).collect();
        let first = message.words[0];
        let mut run = Run {
            row: rows.place(message.from).0 as usize,
            below: (first..).take(items.len()).collect(),
            items,
        };
        for list in &self.lists.whole {
            let row = rows.place(list.from).0 as usize;
            if row != run.row {
                run.rank(node, &list.items, row, self.lists.are_keys);
            }
        }
        self.runs.push(run);
    }

    pub fn take_list(&mut self, node: &Node, rows: Division, message: &Message) {
        let whole = self.lists.whole.len();
        self.lists.take(message);
        for list in &self.lists.whole[whole..] {
            let row = rows.place(list.from).0 as usize;
            for run in self.runs.iter_mut().filter(|run| run.row != row) {
                run.rank(node, &list.items, row, self.lists.are_keys);
            }
        }
    }

    /// The runs of this ranker, when all lists are here.
    fn expected(&self, rows: Division) -> usize {
        let of_list = |list: &List| {
            let row = rows.place(list.from).0 as usize;
            let runs = 0..list.items.len().div_ceil(RUN);
            runs.filter(|run| ranker(*run, row, rows, self.rankers) == self.ranker)
                .count()
        };
        self.lists.whole.iter().map(of_list).sum()
    }
}

/// The ranker of a run of a row's list.
fn ranker(run: usize, row: usize, rows: Division, rankers: usize) -> usize {
    (run * rows.parts as usize + row) % rankers
}

impl Sorter {
    pub fn band_splitting(&self, from_groups: bool) -> BandSplitting {
        let (rows, bands) = (self.shape.rows, self.shape.bands);
        let leads = rows.parts > 1 && self.shape.column == 0;
        let cores = rows.size(self.shape.row);
        // A third of those that are to be expected: some groups have fewer records, and bands are
        // even enough.
        let samples = if from_groups {
            (cores * self.row_samples.min(self.each) / 3).max(1)
        } else {
            self.givers()
        };
        let is_ranker = rows.parts > 1 && self.shape.index.is_multiple_of(RANKER_STRIDE);
        let lists = if is_ranker { rows.parts } else { 0 };
        BandSplitting {
            has_told: !from_groups || rows.parts == 1,
            samples_missing: if leads { samples } else { 0 },
            incomplete: if leads && from_groups { cores } else { 0 },
            samples: Vec::new(),
            ranking: SampleRanking {
                lists: if from_groups {
                    Lists::of(lists)
                } else {
                    Lists::of_keys(lists)
                },
                runs: Vec::new(),
                is_over: !is_ranker,
                ranker: (self.shape.index / RANKER_STRIDE) as usize,
                rankers: self.rankers().count as usize,
            },
            missing: bands.parts - 1,
            splitters: vec![None; bands.parts as usize - 1],
        }
    }

    /// The cores that rank the samples of rows.
    fn rankers(&self) -> Group {
        let group = self.shape.rows;
        Group {
            first: Rank(group.first),
            count: group.cores.div_ceil(RANKER_STRIDE),
            stride: RANKER_STRIDE,
        }
    }

    /// How many cores of a row give a sample when there is one group.
    fn givers(&self) -> u32 {
        (self.shape.rows.size(self.shape.row) * GIVERS_OF_16).div_ceil(16)
    }

    pub async fn sample_row(&mut self, node: &Node) {
        if self.shape.rows.parts == 1 || self.shape.column >= self.givers() {
            return;
        }
        let item = self.held[node.random() as usize % self.held.len()].item;
        let words = [item.key, item.number.into()];
        let leader = self.shape.rows.core(self.shape.row, 0);
        self.send(node, leader, step::ROW_SAMPLE, &words).await;
    }

    pub async fn send_row_list(&mut self, node: &Node, rows: &mut BandSplitting) {
        rows.samples.sort_unstable();
        work::sort(node, rows.samples.len());
        let (shape, rankers) = (self.shape, self.rankers());
        for (number, run) in rows.samples.chunks(RUN).enumerate() {
            let to = ranker(
                number,
                shape.row as usize,
                shape.rows,
                rankers.count as usize,
            );
            let to = Rank(rankers.first.0 + to as u32 * RANKER_STRIDE);
            let mut words = vec![(number * RUN) as u64];
            pack(run, &mut words);
            self.send(node, to, step::ROW_RUN, &words).await;
        }
        if rows.ranking.lists.are_keys {
            let keys: Vec<_> = rows.samples.iter().map(|item| item.key).collect();
            self.multicast_keys(node, rankers, step::ROW_LIST, &keys)
                .await;
        } else {
            self.multicast_list(node, rankers, step::ROW_LIST, &rows.samples)
                .await;
        }
    }

    /// Tells each sample of this core that begins a band, when the ranks are known.
    pub async fn announce(&mut self, node: &Node, rows: &mut BandSplitting) {
        let ranking = &mut rows.ranking;
        let group = self.shape.rows;
        if ranking.lists.missing > 0 || ranking.runs.len() < ranking.expected(group) {
            return;
        }
        ranking.is_over = true;
        let samples = ranking.lists.items() as u64;
        let runs = ranking.runs.iter();
        // The rank of each sample is compared with those of the two splitters around it.
        work::account(
            node,
            2 * runs.clone().map(|run| run.items.len()).sum::<usize>(),
        );
        let ranked = runs.flat_map(|run| run.items.iter().zip(&run.below));
        let bands = self.shape.bands;
        for band in 1..bands.parts {
            let target = samples * u64::from(bands.before(band)) / u64::from(bands.cores);
            let item = ranked.clone().find(|(_, below)| **below == target);
            // A group without samples has no splitters, and few records or none; it still has to
            // say so.
            let says_none = samples == 0 && self.shape.index == 0;
            if item.is_some() || says_none {
                let mut words = vec![u64::from(band) - 1];
                if let Some((item, _)) = item {
                    words[0] |= u64::from(item.number) << 32;
                    words.push(item.key);
                }
                self.multicast(node, group.all(), step::BAND_SPLITTER, &words)
                    .await;
            }
        }
    }
}
