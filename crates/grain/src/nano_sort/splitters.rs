//! From keys to splitters: names, medians of rows, median trees of columns, a multicast for each.

use node::{Node, Rank, Work};

use super::partition::Partition;
use super::sorter::{NAMES, SPLITTERS, Sorter, step};
use crate::Tree;
use crate::pivot_select::pivot_select;

impl Sorter {
    /// Finds the splitters of its group with all its cores.
    pub async fn splitters(&mut self, node: &Node, group: Partition, level: u32) -> Vec<u64> {
        let (column, row) = group.place(node.rank());
        if row < group.first_rows(column, self.reading.rows) {
            self.name(node, group, level).await;
            if column > 0 {
                self.merge(node, group, level).await;
            }
        }
        let mut splitters = Vec::with_capacity(group.columns() as usize);
        for _ in 1..group.columns() {
            let message = self.steps.next(node, step(level, SPLITTERS)).await;
            splitters.extend(message.words.first());
        }
        splitters.sort_unstable();
        node.work(Work::Sort {
            records: splitters.len() as u64,
        });
        splitters
    }

    /// Names a key for each border to its row.
    async fn name(&mut self, node: &Node, group: Partition, level: u32) {
        let row = group.place(node.rank()).1;
        let borders = group.columns() as usize;
        let places = pivot_select(borders, self.held.len(), || node.random());
        node.work(Work::Account {
            units: borders as u64,
        });
        for border in 1..group.columns() {
            let place = places.as_ref().map(|places| places[border as usize - 1]);
            let name = place.map(|place| self.held[place].key);
            // A row that this column does not have is one of its first again: that row names, too.
            let to = group.core(border, row % group.first_rows(border, self.reading.rows));
            self.steps
                .send(node, to, step(level, NAMES), name.as_slice())
                .await;
        }
    }

    /// Takes the median of its row's names for its column, and those of its part of the column's
    /// tree. What the root finds is a splitter.
    async fn merge(&mut self, node: &Node, group: Partition, level: u32) {
        let (column, row) = group.place(node.rank());
        let rows = group.first_rows(column, self.reading.rows);
        let names = group.senders_of(column, row, self.reading.rows);
        let mut median = self.median(node, step(level, NAMES), names, None).await;
        let tree = Tree::new(rows, self.incast());
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
                self.steps
                    .multicast(node, all, step(level, SPLITTERS), words)
                    .await;
            }
        }
    }

    /// The median of its own key and those that come; of no keys none. Of an even number a coin
    /// says which of the two in the middle: if it were always the upper one, each level of a tree
    /// would move a border up, and the last bucket would be much smaller than the first.
    async fn median(&mut self, node: &Node, step: u32, come: u32, own: Option<u64>) -> Option<u64> {
        let mut keys = Vec::with_capacity(come as usize + 1);
        keys.extend(own);
        for _ in 0..come {
            keys.extend(self.steps.next(node, step).await.words.first());
        }
        node.work(Work::Select {
            keys: keys.len() as u64,
        });
        let coin = (node.random() & 1) as usize;
        let middle = keys.len().saturating_sub(coin) / 2;
        (!keys.is_empty()).then(|| *keys.select_nth_unstable(middle).1)
    }
}
