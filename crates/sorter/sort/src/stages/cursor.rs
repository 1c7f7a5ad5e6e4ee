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
//! with the most bytes left (TritonSort 3.2, NOW-Sort 6.2); fewer readers than devices take turns. The bytes of
//! each device at the moment when the first is read are in proportion to their rates.

use std::collections::VecDeque;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use node::{Guarded, Mutex, Node};
use pipeline::Worker;

use crate::files::input::{Inputs, ReadUnit};

/// Bytes of inputs that were not handed out; of one device, or of all.
struct Lane {
    /// By position.
    ranges: VecDeque<Range<u64>>,
    bytes: u64,
    begin: u64,
    all_bytes: u64,
}

/// Bytes of the input that are not handed out; clones share them.
#[derive(Clone)]
pub(crate) struct Cursor {
    shared: Arc<Guarded<Lanes>>,
    rates: ReadRates,
    /// Requests in flight of each reader.
    depth: usize,
}

struct Lanes {
    lanes: Vec<Lane>,
    /// Times that a unit was asked for.
    asked: usize,
    /// Whether readers have taken turns, which says nothing of the rates of devices.
    took_turns: bool,
}

/// Bytes that were read of several devices in the same time, each with a file there; clones share them. There
/// are none if that is not known: caches have rates of their own, and readers that take turns have one.
#[derive(Clone, Default)]
pub(crate) struct ReadRates {
    measured: Arc<Mutex<Vec<(PathBuf, u64)>>>,
}

impl ReadRates {
    pub(crate) fn measured(&self) -> Vec<(PathBuf, u64)> {
        self.measured.lock().clone()
    }
}

/// Rates that differ by less than this part are alike: a few requests more or less are chance.
const LEAST_DIFFERENCE: u64 = 4;

/// A device of which less was read than this part of its requests in flight says little of its rate.
const LEAST_READ_SHARE: u64 = 2;

impl Cursor {
    /// Hands out units in input order.
    pub(crate) fn in_order(node: &Node, inputs: &Inputs) -> Cursor {
        let all = 0..inputs.bytes.unwrap_or(0);
        Cursor::of(node, vec![VecDeque::from([all])])
    }

    /// Hands out units of all devices of the inputs at the same time, and notes their rates.
    pub(crate) fn by_device(
        node: &Node,
        inputs: &Inputs,
        (rates, depth): (&ReadRates, usize),
    ) -> Cursor {
        Cursor {
            rates: rates.clone(),
            depth,
            ..Cursor::of(node, inputs.by_device())
        }
    }

    fn of(node: &Node, lanes: Vec<VecDeque<Range<u64>>>) -> Cursor {
        let lane = |ranges: VecDeque<Range<u64>>| {
            let bytes = ranges.iter().map(|range| range.end - range.start).sum();
            Lane {
                begin: ranges.front().map_or(0, |range| range.start),
                all_bytes: bytes,
                bytes,
                ranges,
            }
        };
        let lanes = Lanes {
            lanes: lanes.into_iter().map(lane).collect(),
            asked: 0,
            took_turns: false,
        };
        Cursor {
            shared: Arc::new(Guarded::new(node, "the next unit", lanes)),
            rates: ReadRates::default(),
            depth: 1,
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
            if lane.bytes == 0 && inputs.is_direct() {
                let in_flight = worker.siblings() / lanes.lanes.len() * self.depth;
                self.note_rates(lanes, inputs, (in_flight * bytes) as u64);
            }
            Some(unit)
        };
        self.shared.change(&worker.node, step).await
    }

    /// Notes how much was handed out of each device, when the first of several is read.
    /// `in_flight` bytes of each were not read yet.
    fn note_rates(&self, lanes: &Lanes, inputs: &Inputs, in_flight: u64) {
        let read = |lane: &Lane| (lane.all_bytes - lane.bytes).saturating_sub(in_flight);
        let is_enough = |lane: &Lane| read(lane) >= in_flight / LEAST_READ_SHARE;
        let mut known = self.rates.measured.lock();
        let is_first = known.is_empty() && lanes.lanes.len() > 1;
        let ends = || lanes.lanes.iter().map(read);
        let differ = ends().max() > ends().min().map(|least| least + least / LEAST_DIFFERENCE);
        if is_first && differ && !lanes.took_turns && lanes.lanes.iter().all(is_enough) {
            let of = |lane: &Lane| Some((inputs.path_at(lane.begin)?.to_owned(), read(lane)));
            *known = lanes.lanes.iter().filter_map(of).collect();
        }
    }
}

impl Lanes {
    fn choose(&mut self, worker: &Worker) -> Option<&mut Lane> {
        let (lanes, readers) = (self.lanes.len(), worker.siblings());
        // Fewer readers than devices take turns at them.
        let home = if readers < lanes {
            self.took_turns = true;
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
