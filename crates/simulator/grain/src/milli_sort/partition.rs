//! The steps of the partition, from the pivots of all cores to the splitters.

use std::collections::BTreeMap;

use node::{Node, Rank};

use super::pivots::{cut, select_in_range};
use super::transport::{Inbox, fragments};
use super::{BOUNDARIES, PIVOT_SHUFFLE, PIVOTS, SUPER_PIVOTS, Sorter, sort};
use crate::work;

/// Boundaries between the ranges of the pivot sorters.
pub struct Boundaries {
    keys: Vec<u64>,
    /// Pivots of all sorters.
    all_pivots: usize,
}

impl Sorter {
    /// All pivots of a sorter's cores, in order.
    pub async fn gather_pivots(&mut self, node: &Node, own: Vec<u64>) -> Vec<u64> {
        let mut inbox = Inbox::new(PIVOTS);
        let others = self.layout.cores_of(node.rank()) - 1;
        self.transport.receive(node, others, &mut inbox).await;
        let mut pivots = own;
        pivots.extend(inbox.messages.iter().flat_map(|(_, words)| &words[..]));
        sort(node, &mut pivots);
        pivots
    }

    pub async fn boundaries(&mut self, node: &Node, pivots: &[u64]) -> Boundaries {
        let sorters = self.layout.sorters();
        let own = self.select(node, pivots, sorters as usize);
        let mut inbox = Inbox::new(SUPER_PIVOTS);
        if node.rank() != Rank(0) {
            let set = fragments(Some(pivots.len()), &own, self.matching);
            self.transport.send(node, Rank(0), &set, &mut inbox).await;
            return self.receive_boundaries(node).await;
        }
        self.transport.receive(node, sorters - 1, &mut inbox).await;
        let (mut super_pivots, others) = inbox.led();
        super_pivots.extend(&own);
        sort(node, &mut super_pivots);
        let keys = self.select(node, &super_pivots, sorters as usize);
        let all_pivots = pivots.len() + others;
        let set = fragments(Some(all_pivots), &keys, self.matching);
        let mut inbox = Inbox::new(BOUNDARIES);
        for number in 1..sorters {
            let to = self.layout.sorter(number);
            self.transport.send(node, to, &set, &mut inbox).await;
        }
        Boundaries { keys, all_pivots }
    }

    async fn receive_boundaries(&mut self, node: &Node) -> Boundaries {
        let mut inbox = Inbox::new(BOUNDARIES);
        self.transport.receive(node, 1, &mut inbox).await;
        let (mut keys, all_pivots) = inbox.led();
        if inbox.messages.len() > 1 {
            sort(node, &mut keys);
        }
        Boundaries { keys, all_pivots }
    }

    /// Splitters of this sorter's range. With its pivots each sorter sends how many smaller ones it
    /// has; their sum is the position of the range among all pivots.
    pub async fn pivot_shuffle(
        &mut self,
        node: &Node,
        pivots: &[u64],
        boundaries: &Boundaries,
    ) -> Vec<u64> {
        let sorters = self.layout.sorters();
        let ranges = cut(pivots, &boundaries.keys, sorters as usize);
        work::scan(node, pivots.len() + boundaries.keys.len());
        let mut inbox = Inbox::new(PIVOT_SHUFFLE);
        let own = self.layout.number_of(node.rank());
        for other in 1..sorters {
            let to = (own + other) % sorters;
            let range = ranges[to as usize].clone();
            let set = fragments(Some(range.start), &pivots[range], self.matching);
            let to = self.layout.sorter(to);
            self.transport.send(node, to, &set, &mut inbox).await;
        }
        let range = ranges[own as usize].clone();
        work::copy(node, range.len());
        self.transport.receive(node, sorters - 1, &mut inbox).await;
        let (mut in_range, smaller) = inbox.led();
        in_range.extend(&pivots[range.clone()]);
        sort(node, &mut in_range);
        let cores = self.layout.cores();
        work::account(node, cores);
        let position = smaller + range.start;
        select_in_range(&in_range, position, boundaries.all_pivots, cores)
    }

    pub async fn send_splitters(&mut self, node: &Node, splitters: &[u64], inbox: &mut Inbox) {
        let set = fragments(None, splitters, self.matching);
        for distance in 1..node.nodes() {
            let to = self.layout.core_after(node.rank(), distance);
            self.transport.send(node, to, &set, inbox).await;
        }
    }

    /// The splitters of all ranges, in order. Fragments of one range may arrive in any order.
    pub fn join(&self, node: &Node, own: Vec<u64>, inbox: Inbox) -> Vec<u64> {
        let mut ranges = BTreeMap::from([(self.layout.sorter_of(node.rank()), own)]);
        for (from, words) in inbox.messages {
            work::copy(node, words.len());
            let range: &mut Vec<u64> = ranges.entry(from).or_default();
            range.extend(&words[..]);
            if !range.is_sorted() {
                sort(node, range);
            }
        }
        let splitters: Vec<u64> = ranges.into_values().flatten().collect();
        work::copy(node, splitters.len());
        splitters
    }
}
