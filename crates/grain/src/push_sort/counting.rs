//! How many records a core will receive in its group: known as soon as they are here, and without
//! an answer to anyone.
//!
//! ```text
//!   core of a row --counts of 16 groups--> clerk of the row for these groups
//!   clerk ---------counts by column------> keeper in each of the groups
//!   keeper: adds some rows' counts ------> each core of the row that receives from them
//! ```
//!
//! A row of any group sends its records for a group to one row there, column by column; so sorted
//! input, where a group keeps all its records, is spread as evenly as random input.

use node::{Message, Node, Rank};

use super::shape::FEW;
use super::sorter::{Sorter, step};
use crate::work;

/// The share of one core in counting.
pub struct Counting {
    /// The blocks of groups that this core is clerk of.
    blocks: Vec<Block>,
    /// Rows whose counts come to this core.
    rows: u32,
    /// Records for each column of the row that this core keeps the books of.
    columns: Vec<u64>,
    /// Counts to come.
    shares: u32,
    pub expected: u64,
}

/// Neighbouring groups, for whose records a clerk keeps the counts of its row.
struct Block {
    number: u32,
    /// Cores of the row that have not told their counts.
    missing: u32,
    /// A group, and a column and its count in one word.
    counts: Vec<(u32, u64)>,
}

impl Counting {
    pub fn is_known(&self) -> bool {
        self.shares == 0
    }

    /// Whether other cores still wait for this one.
    pub fn is_owed(&self) -> bool {
        self.rows > 0 || self.blocks.iter().any(|block| block.missing > 0)
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

fn blocks(groups: u32) -> u32 {
    groups.div_ceil(FEW)
}

impl Sorter {
    pub fn counting(&self) -> Counting {
        let shape = self.shape;
        let (groups, group) = (shape.groups.parts, shape.rows.cores);
        let len = shape.rows.size(shape.row);
        let of_clerk = (0..blocks(groups)).filter(|block| clerk(*block, len) == shape.column);
        // Row q of all has its books kept at index q % group in each group.
        let all_rows = groups * shape.rows_each;
        let kept = (all_rows + group - 1 - shape.index) / group;
        let keeps_for = shape.index % shape.rows_each;
        let keepers = (group + shape.rows_each - 1 - shape.row) / shape.rows_each;
        Counting {
            blocks: of_clerk
                .map(|number| Block {
                    number,
                    missing: len,
                    counts: Vec::new(),
                })
                .collect(),
            rows: kept,
            columns: vec![0; shape.rows.size(keeps_for) as usize],
            shares: keepers,
            expected: 0,
        }
    }

    /// Where a record goes in another group.
    pub fn receiver(&self, group: u32) -> Rank {
        let shape = self.shape;
        let rows = shape.rows_of(group);
        let row = self.keeper(group) % shape.rows_each;
        let turn = shape.group + shape.row;
        rows.core(row, receiving(shape.column, turn, rows.size(row)))
    }

    /// The index of the core in another group that keeps the books of this core's row.
    fn keeper(&self, group: u32) -> u32 {
        let shape = self.shape;
        (shape.group * shape.rows_each + shape.row) % shape.groups.size(group)
    }

    /// Tells the clerks of this row how many records go to each group.
    pub async fn send_counts(&mut self, node: &Node, counts: &[(u32, u64)]) {
        let shape = self.shape;
        let len = shape.rows.size(shape.row);
        let mut rest = counts;
        for block in 0..blocks(shape.groups.parts) {
            let until = rest.partition_point(|(group, _)| group / FEW == block);
            let (now, later) = rest.split_at(until);
            rest = later;
            let mut words = vec![block.into()];
            words.extend(
                now.iter()
                    .map(|(group, count)| u64::from(*group) << 32 | count),
            );
            let to = shape.rows.core(shape.row, clerk(block, len));
            self.send(node, to, step::COUNTS_OF_CORE, &words).await;
        }
        work::account(node, counts.len());
    }

    /// A clerk hears of the records of a core in its row, and passes on to each group how many come from its row.
    pub async fn counts_of_core(
        &mut self,
        node: &Node,
        counting: &mut Counting,
        message: &Message,
    ) {
        let shape = self.shape;
        let block = message.words[0] as u32;
        let at = counting
            .blocks
            .iter()
            .position(|known| known.number == block);
        let at = at.expect("counts come to the clerk of their block");
        let known = &mut counting.blocks[at];
        let column = shape.rows.place(message.from).1;
        for word in &message.words[1..] {
            known.counts.push((
                (word >> 32) as u32,
                u64::from(column) << 32 | word & u64::from(u32::MAX),
            ));
        }
        work::account(node, message.words.len());
        known.missing -= 1;
        if known.missing > 0 {
            return;
        }
        let counts = std::mem::take(&mut known.counts);
        work::account(node, counts.len());
        for group in block * FEW..((block + 1) * FEW).min(shape.groups.parts) {
            let of_group = counts.iter().filter(|(to, _)| *to == group);
            let words: Vec<u64> = of_group.map(|(_, count)| *count).collect();
            let to = shape.groups.core(group, self.keeper(group));
            self.send(node, to, step::COUNTS_OF_ROW, &words).await;
        }
    }

    /// The keeper of some rows' books adds, and tells each core that receives from them.
    pub async fn counts_of_row(&mut self, node: &Node, counting: &mut Counting, message: &Message) {
        // The clerk is of the row that the counts are of.
        let group = self.shape.groups.place(message.from).0;
        let turn = group + self.shape.rows_of(group).place(message.from).0;
        let cores = counting.columns.len() as u32;
        for word in message.words.iter() {
            let column = receiving((word >> 32) as u32, turn, cores);
            counting.columns[column as usize] += word & u64::from(u32::MAX);
        }
        work::account(node, message.words.len());
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
        for (column, count) in (0..).zip(&counting.columns) {
            self.send(node, rows.core(row, column), step::COUNT, &[*count])
                .await;
        }
    }

    pub fn count(&mut self, node: &Node, counting: &mut Counting, message: &Message) {
        counting.expected += message.words[0];
        counting.shares -= 1;
        work::account(node, 1);
    }
}
