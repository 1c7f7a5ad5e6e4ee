//! How many records a core will receive in its group: known as soon as they are here, and without
//! an answer to anyone.
//!
//! ```text
//!   core of a row --counts by group------------> clerks of the row, each for 16 groups
//!   clerk ---------counts by group and column--> keepers, one in each of the 16 groups
//!   keeper: adds some rows' counts ------------> the cores of the row that receives from them
//! ```
//!
//! Each arrow is one multicast: its receivers pick their counts from it. A message to each would
//! wait for a transmit buffer of the NIC.
//!
//! A row of any group sends its records for a group to one row there, column by column; so sorted
//! input, where a group keeps all its records, is spread as evenly as random input.

use std::ops::Range;

use node::{Group, Message, Node, Rank};

use super::lanes::Lanes;
use super::parts::Parts;
use super::shape::{FEW, Shape};
use super::sorter::{Sorter, step};
use crate::work;

/// The share of one core in counting.
pub struct Counting {
    plan: Plan,
    /// The blocks of neighbouring groups that this core is clerk of.
    blocks: Vec<u32>,
    /// Messages of its row to come, if it is a clerk.
    missing: u32,
    /// The row's counts: a group, and how many records a column has for it.
    counts: Vec<(u32, Tally)>,
    /// Rows whose counts come to this core.
    rows: u32,
    /// Records for each column of the row whose counts this core adds.
    columns: Vec<u64>,
    /// Counts to come.
    shares: u32,
    pub expected: u64,
}

impl Counting {
    pub fn is_known(&self) -> bool {
        self.shares == 0
    }

    /// Whether other cores still wait for this one.
    pub fn is_owed(&self) -> bool {
        self.rows > 0 || self.missing > 0
    }
}

/// The column that receives the records of a core of another row, in a row of that many cores. The
/// first column leads the samples of its row meanwhile; another one gets the records of two cores, which
/// differs by row.
fn receiving(column: u32, turn: u32, cores: u32) -> u32 {
    match cores {
        1 => 0,
        _ => 1 + (column + turn) % (cores - 1),
    }
}

/// The column of the clerk for a block of groups.
fn clerk(block: u32, cores: u32) -> u32 {
    receiving(block, 0, cores)
}

/// A number of records, and the group or column that they are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    pub id: u32,
    pub count: u64,
}

/// How counts are told, the same for all cores.
#[derive(Clone, Copy)]
struct Plan {
    /// Blocks of groups.
    blocks: u32,
    /// Blocks whose counts a core tells in one message.
    at_once: u32,
    /// Bits of a core's count for a group.
    bits: u32,
    /// From a core: the parts are blocks, the ids are groups in them.
    of_core: Parts,
    /// From a clerk: the parts are groups, the ids are columns.
    of_row: Parts,
    /// From a keeper, by column.
    of_columns: Lanes,
}

impl Plan {
    fn new(shape: &Shape, each: u32) -> Plan {
        let groups = shape.groups;
        let blocks = groups.parts.div_ceil(FEW);
        let most = u64::from(each);
        let bits = u64::BITS - most.leading_zeros();
        let with_ids = |ids: u32| u64::from(ids - 1) << bits | most;
        let of_core = |at_once| Parts::new(at_once, with_ids(FEW));
        let fits = |at_once: &u32| {
            let counts = each.min(at_once * FEW) as usize;
            of_core(*at_once).fit(counts)
        };
        let at_once = (1..=blocks).rev().find(fits).unwrap_or(1);
        let columns = groups.most().div_ceil(shape.rows_each);
        let rows = (groups.parts * shape.rows_each).div_ceil(groups.least());
        Plan {
            blocks,
            at_once,
            of_core: of_core(at_once),
            bits,
            of_row: Parts::new(FEW, with_ids(columns)),
            of_columns: Lanes::of(u64::from(rows) * u64::from(columns) * most),
        }
    }

    /// The number that carries a count with its id.
    fn packed(&self, tally: Tally) -> u64 {
        u64::from(tally.id) << self.bits | tally.count
    }

    fn unpacked(&self, number: u64) -> Tally {
        Tally {
            id: (number >> self.bits) as u32,
            count: number & ((1 << self.bits) - 1),
        }
    }

    /// The clerks of a row of that many cores.
    fn clerks(&self, cores: u32) -> u32 {
        self.blocks.min(cores - 1).max(1)
    }
}

impl Sorter {
    pub fn counting(&self) -> Counting {
        let (shape, plan) = (self.shape, self.plan());
        let (groups, group) = (shape.groups.parts, shape.rows.cores);
        let len = shape.rows.size(shape.row);
        let of_clerk = (0..plan.blocks).filter(|block| clerk(*block, len) == shape.column);
        let blocks: Vec<_> = of_clerk.collect();
        // The counts of row q of all are added at index q % group in each group.
        let all_rows = groups * shape.rows_each;
        let kept = (all_rows + group - 1 - shape.index) / group;
        let keeps_for = shape.index % shape.rows_each;
        let keepers = (group + shape.rows_each - 1 - shape.row) / shape.rows_each;
        Counting {
            plan,
            missing: match blocks.len() {
                0 => 0,
                _ => len * plan.blocks.div_ceil(plan.at_once),
            },
            blocks,
            counts: Vec::new(),
            rows: kept,
            columns: vec![0; shape.rows.size(keeps_for) as usize],
            shares: keepers,
            expected: 0,
        }
    }

    fn plan(&self) -> Plan {
        Plan::new(&self.shape, self.each)
    }

    /// Where a record goes in another group.
    pub fn receiver(&self, group: u32) -> Rank {
        let shape = self.shape;
        let rows = shape.rows_of(group);
        let row = self.keeper(group) % shape.rows_each;
        let turn = shape.group + shape.row;
        rows.core(row, receiving(shape.column, turn, rows.size(row)))
    }

    /// The index of the core in another group that adds the counts of this core's row.
    fn keeper(&self, group: u32) -> u32 {
        let shape = self.shape;
        (shape.group * shape.rows_each + shape.row) % shape.groups.size(group)
    }

    /// Tells the clerks of this row how many records go to each group.
    pub async fn send_counts(&mut self, node: &Node, counts: &[Tally]) {
        let (shape, plan) = (self.shape, self.plan());
        let len = shape.rows.size(shape.row);
        let first = shape.rows.core(shape.row, clerk(0, len));
        let clerks = Group::row(first, plan.clerks(len));
        let mut rest = counts;
        for from in (0..plan.blocks).step_by(plan.at_once as usize) {
            let until = rest.partition_point(|tally| tally.id / FEW < from + plan.at_once);
            let (now, later) = rest.split_at(until);
            rest = later;
            let in_block = |tally: &Tally| {
                let (block, id) = (tally.id / FEW, tally.id % FEW);
                (block - from, plan.packed(Tally { id, ..*tally }))
            };
            let now: Vec<_> = now.iter().map(in_block).collect();
            let mut words = vec![from.into()];
            words.extend(plan.of_core.pack(&now));
            // Each is counted, and written.
            work::account(node, now.len() + plan.of_core.units(now.len()));
            self.multicast(node, clerks, step::COUNTS_OF_CORE, &words)
                .await;
        }
    }

    /// A clerk hears how many records a core of its row has for its groups. When all have told it, it
    /// tells these groups.
    pub async fn counts_of_core(
        &mut self,
        node: &Node,
        counting: &mut Counting,
        message: &Message,
    ) {
        let (shape, plan) = (self.shape, counting.plan);
        let (from, words) = (message.words[0] as u32, &message.words[1..]);
        let id = shape.rows.place(message.from).1;
        let here = from..from + plan.at_once;
        let known = counting.counts.len();
        for block in counting.blocks.iter().filter(|block| here.contains(block)) {
            let of_block = plan.of_core.of_part(words, block - from);
            let of_groups = of_block.into_iter().map(|number| {
                let tally = plan.unpacked(number);
                (block * FEW + tally.id, Tally { id, ..tally })
            });
            counting.counts.extend(of_groups);
            work::account(node, 1);
        }
        work::account(node, counting.counts.len() - known);
        counting.missing -= 1;
        if counting.missing == 0 {
            self.send_counts_of_row(node, counting).await;
        }
    }

    async fn send_counts_of_row(&mut self, node: &Node, counting: &mut Counting) {
        let (groups, plan) = (self.shape.groups, counting.plan);
        let mut counts = std::mem::take(&mut counting.counts);
        counts.sort_unstable_by_key(|(group, tally)| (*group, tally.id));
        // Each goes to the others of its group.
        work::account(node, counts.len());
        for block in &counting.blocks {
            let end = groups.parts.min((block + 1) * FEW);
            for alike in groups.alike() {
                let alike = alike.start.max(block * FEW)..alike.end.min(end);
                if !alike.is_empty() {
                    self.send_to_keepers(node, &plan, &counts, alike).await;
                }
            }
        }
    }

    /// Tells the keepers in groups of the same size, all at once if that fits in a message.
    async fn send_to_keepers(
        &mut self,
        node: &Node,
        plan: &Plan,
        counts: &[(u32, Tally)],
        alike: Range<u32>,
    ) {
        let of = |group| counts.partition_point(|(of, _)| *of < group);
        let within = |run: Range<u32>| &counts[of(run.start)..of(run.end)];
        let all = within(alike.clone()).len();
        let at_once = if plan.of_row.fit(all) {
            alike.end - alike.start
        } else {
            1
        };
        for first in alike.clone().step_by(at_once as usize) {
            let counts: Vec<_> = within(first..first + at_once)
                .iter()
                .map(|(group, tally)| (group % FEW, plan.packed(*tally)))
                .collect();
            let words = plan.of_row.pack(&counts);
            work::account(node, plan.of_row.units(counts.len()));
            let groups = self.shape.groups;
            let to = Group {
                first: groups.core(first, self.keeper(first)),
                count: at_once,
                stride: groups.size(first),
            };
            self.multicast(node, to, step::COUNTS_OF_ROW, &words).await;
        }
    }

    /// The keeper of some rows' counts adds them, and tells the cores that receive from these rows.
    pub async fn counts_of_row(&mut self, node: &Node, counting: &mut Counting, message: &Message) {
        // The clerk is of the row that the counts are of.
        let shape = self.shape;
        let group = shape.groups.place(message.from).0;
        let turn = group + shape.rows_of(group).place(message.from).0;
        let cores = counting.columns.len() as u32;
        let plan = counting.plan;
        let of_group = plan.of_row.of_part(&message.words, shape.group % FEW);
        for tally in of_group.iter().map(|number| plan.unpacked(*number)) {
            let column = receiving(tally.id, turn, cores);
            counting.columns[column as usize] += tally.count;
        }
        work::account(node, 1 + of_group.len());
        counting.rows -= 1;
        if counting.rows == 0 {
            self.share_counts(node, counting).await;
        }
    }

    /// A keeper without rows shares that, too.
    pub async fn share_counts_of_none(&mut self, node: &Node, counting: &Counting) {
        if counting.rows == 0 {
            self.share_counts(node, counting).await;
        }
    }

    async fn share_counts(&mut self, node: &Node, counting: &Counting) {
        let rows = self.shape.rows;
        let row = self.shape.index % self.shape.rows_each;
        let to = Group::row(rows.core(row, 0), rows.size(row));
        let words: Vec<_> = counting.plan.of_columns.pack(&counting.columns).collect();
        work::account(node, counting.columns.len());
        self.multicast(node, to, step::COUNT, &words).await;
    }

    pub fn count(&mut self, node: &Node, counting: &mut Counting, message: &Message) {
        let mut columns = counting.plan.of_columns.unpack(&message.words);
        let own = columns.nth(self.shape.column as usize);
        counting.expected += own.expect("a keeper tells all columns of the row");
        counting.shares -= 1;
        work::account(node, 1);
    }
}
