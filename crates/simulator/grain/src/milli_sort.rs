//! MilliSort on tiny cores (NanoSort, section 6.2.2; Li, Park and Ousterhout, "MilliSort and
//! MilliQuery", NSDI 2021).
//!
//! The algorithm for M cores, with the function of each step. One core in R is a pivot sorter; R is
//! the reduction factor, or in-cast:
//!
//! ```text
//!   1. Sort the local keys.                                                       sort
//!   2. Partition: find M splitters, the greatest key of each core's part.         partition
//!      a. Each core selects M evenly spaced pivots of its keys and sends them to
//!         its pivot sorter, which sorts them.                                     gather_pivots
//!      b. Each pivot sorter selects super-pivots of its pivots. Core 0 selects
//!         boundaries of those: a range of pivots per sorter.                      boundaries
//!      c. Pivot shuffle: sorters send each other the pivots of their ranges.      pivot_shuffle
//!      d. Each sorter selects the splitters of its range, by their positions
//!         among all pivots, and sends them to all cores.                          send_splitters
//!   3. Record shuffle: in M rounds, send each core the records of its part.       record_shuffle
//!   4. Sort the received keys.                                                    sort
//!   5. Rearrange the values in the order of their keys.                           rearrange
//! ```
//!
//! So M cores find M splitters among M x M pivots, and send M x M messages in M rounds. With a
//! thousand records per core that is little; for tiny tasks it is nearly all of the time, which is
//! the paper's reason for NanoSort.
//!
//! Differences from the public program of 2021: a core keeps its own records off the wire; it sends
//! to the next cores first, not to core 0; and some messages request an acknowledgement, so that no
//! core waits to send ([`transport`]). The paper's runs used a later, unpublished revision.
//!
//! The sort only compares keys. Equal keys go to one core.

mod count;
mod layout;
mod partition;
mod pivots;
mod program;
mod records;
mod transport;

pub use self::program::MilliSort;

use node::{Matching, Node};

use self::layout::Layout;
use self::pivots::select;
use self::transport::{Inbox, Transport, fragments};
use crate::program::Span;
use crate::records::Part;
use crate::work;

// Steps.
const PIVOTS: u32 = 0;
const SUPER_PIVOTS: u32 = 1;
const BOUNDARIES: u32 = 2;
const PIVOT_SHUFFLE: u32 = 3;
const SPLITTERS: u32 = 4;
const RECORDS: u32 = 5;

impl MilliSort {
    /// Sorts this core's keys together with those of all cores; the options do not limit their
    /// number. The program must have no [`objection`](crate::Program::objection).
    pub async fn sort(self, node: Node, keys: Vec<u64>) -> Part {
        let begin = node.now();
        let mut sorter = Sorter::new(&self, &node, keys);
        node.stage("local sort");
        sort(&node, &mut sorter.keys);
        node.stage("partition");
        let splitters = sorter.partition(&node).await;
        node.stage("shuffle");
        let wrong = sorter.record_shuffle(&node, &splitters).await;
        node.stage("final sort");
        sort(&node, &mut sorter.keys);
        node.stage("rearrange");
        sorter.rearrange(&node);
        sorter.into_part(wrong, Span::since(begin, &node))
    }
}

/// One core with its keys.
struct Sorter {
    transport: Transport,
    layout: Layout,
    matching: Matching,
    keys: Vec<u64>,
    /// Sum of all words of its values.
    sum_of_values: u64,
}

impl Sorter {
    fn new(program: &MilliSort, node: &Node, keys: Vec<u64>) -> Sorter {
        let matching = program.reorder.matching();
        Sorter {
            transport: Transport::new(node, matching),
            layout: Layout::new(node.nodes(), program.reduction),
            matching,
            keys,
            sum_of_values: 0,
        }
    }

    async fn partition(&mut self, node: &Node) -> Vec<u64> {
        let pivots = self.select(node, &self.keys, self.layout.cores());
        let sorter = self.layout.sorter_of(node.rank());
        let mut inbox = Inbox::new(SPLITTERS);
        let (mut own, mut others) = (Vec::new(), self.layout.sorters());
        if sorter == node.rank() {
            let pivots = self.gather_pivots(node, pivots).await;
            let boundaries = self.boundaries(node, &pivots).await;
            own = self.pivot_shuffle(node, &pivots, &boundaries).await;
            self.send_splitters(node, &own, &mut inbox).await;
            others -= 1;
        } else {
            let set = fragments(None, &pivots, self.matching);
            self.transport
                .send(node, sorter, &set, &mut Inbox::new(PIVOTS))
                .await;
        }
        self.transport.receive(node, others, &mut inbox).await;
        self.join(node, own, inbox)
    }

    /// Evenly spaced pivots of sorted keys.
    fn select(&self, node: &Node, sorted: &[u64], count: usize) -> Vec<u64> {
        let pivots = select(sorted, count);
        work::account(node, pivots.len());
        pivots
    }
}

fn sort(node: &Node, keys: &mut [u64]) {
    keys.sort_unstable();
    work::sort(node, keys.len());
}
