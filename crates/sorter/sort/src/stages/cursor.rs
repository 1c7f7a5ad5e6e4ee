//! The cursor: hands out the units of seekable inputs, to the reader that asks next.
//!
//! ```text
//! one lane       a unit behind the other, in input order
//! a lane a device   reader 0, 2, ..   | input 1 | input 3 |        on device A
//!                   reader 1, 3, ..   | input 2 |                  on device B
//! ```
//!
//! Units divided among readers in advance would wait for the slowest of them. Several
//! devices are read at the same time, each at its own rate: a reader takes from its own one until that is read, then from the one
//! with the most bytes left (TritonSort 3.2, NOW-Sort 6.2); fewer readers than devices take turns.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use node::{Guarded, Node};
use pipeline::Worker;

use crate::files::input::{Inputs, ReadUnit};

/// Bytes of inputs that were not handed out; of one device, or of all.
struct Lane {
    /// By position.
    ranges: VecDeque<Range<u64>>,
    bytes: u64,
}

/// Bytes of the input that are not handed out; clones share them.
#[derive(Clone)]
pub(crate) struct Cursor {
    shared: Arc<Guarded<Lanes>>,
}

struct Lanes {
    lanes: Vec<Lane>,
    /// Times that a unit was asked for.
    asked: usize,
}

impl Cursor {
    /// Hands out units in input order.
    pub(crate) fn in_order(node: &Node, inputs: &Inputs) -> Cursor {
        let all = 0..inputs.bytes.unwrap_or(0);
        Cursor::of(node, vec![VecDeque::from([all])])
    }

    /// Hands out units of all devices of the inputs at the same time.
    pub(crate) fn by_device(node: &Node, inputs: &Inputs) -> Cursor {
        Cursor::of(node, inputs.by_device())
    }

    fn of(node: &Node, lanes: Vec<VecDeque<Range<u64>>>) -> Cursor {
        let lane = |ranges: VecDeque<Range<u64>>| Lane {
            bytes: ranges.iter().map(|range| range.end - range.start).sum(),
            ranges,
        };
        let lanes = Lanes {
            lanes: lanes.into_iter().map(lane).collect(),
            asked: 0,
        };
        Cursor {
            shared: Arc::new(Guarded::new(node, "the next unit", lanes)),
        }
    }

    /// The next unit, of at most `bytes`; `None` at the end.
    pub(crate) async fn next(
        &self,
        worker: &Worker,
        inputs: &Inputs,
        bytes: usize,
    ) -> Option<ReadUnit> {
        let step = |lanes: &mut Lanes| {
            let lane = lanes.choose(worker)?;
            let range = lane.ranges.front_mut()?;
            let unit = inputs.unit_at(range.start, bytes);
            range.start += unit.bytes as u64;
            lane.bytes -= unit.bytes as u64;
            if range.is_empty() {
                lane.ranges.pop_front();
            }
            Some(unit)
        };
        self.shared.change(&worker.node, step).await
    }
}

impl Lanes {
    fn choose(&mut self, worker: &Worker) -> Option<&mut Lane> {
        let (lanes, readers) = (self.lanes.len(), worker.siblings());
        // Fewer readers than devices take turns at them.
        let home = if readers < lanes {
            self.asked
        } else {
            worker.index
        };
        self.asked += 1;
        let home = home % lanes.max(1);
        if self.lanes.get(home).is_some_and(|lane| lane.bytes > 0) {
            return self.lanes.get_mut(home);
        }
        let longest = self.lanes.iter_mut().max_by_key(|lane| lane.bytes);
        longest.filter(|lane| lane.bytes > 0)
    }
}
