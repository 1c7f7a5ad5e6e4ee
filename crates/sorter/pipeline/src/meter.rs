//! Meters: the work and the waits of each stage (TritonSort, Figure 8).

use std::sync::atomic::{AtomicU64, Ordering};

use node::Node;
use serde::{Deserialize, Serialize};

use crate::clock::{Clock, Spent};
use crate::gate::Gate;
use crate::tuner::Done;

/// A stage's counters, shared by its workers.
#[derive(Debug)]
pub(crate) struct Meter {
    pub name: &'static str,
    pub units: AtomicU64,
    pub bytes: AtomicU64,
    /// One per worker.
    pub clocks: Vec<Clock>,
    pub gate: Gate,
}

impl Meter {
    pub(crate) fn new(name: &'static str, workers: usize, gate: Gate) -> Meter {
        let zero = AtomicU64::default;
        let clocks = (0..workers).map(|_| Clock::new()).collect();
        Meter {
            name,
            units: zero(),
            bytes: zero(),
            clocks,
            gate,
        }
    }

    /// The time of all workers until now, current waits included.
    fn spent(&self, node: &Node) -> Spent {
        let each = self.clocks.iter().map(|clock| clock.spent(node.now()));
        each.fold(Spent::default(), Spent::plus)
    }

    pub(crate) fn done(&self, node: &Node) -> Done {
        Done {
            units: self.units.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            spent: self.spent(node),
            ended: self.gate.has_ended(),
        }
    }

    pub(crate) fn report(&self, node: &Node) -> StageReport {
        let spent = self.spent(node);
        StageReport {
            name: self.name,
            workers: self.gate.most().min(self.clocks.len()),
            units: self.units.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            busy_s: node.seconds(spent.busy),
            starved_s: node.seconds(spent.starved),
            blocked_s: node.seconds(spent.blocked),
        }
    }
}

/// The work and the waits of a stage in a run. Seconds are summed over its workers, while they were
/// called. A report that another node has sent has a `String` for a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageReport<Name = &'static str> {
    /// The name of the stage.
    pub name: Name,
    /// The most workers that were called at a time.
    pub workers: usize,
    /// The number of units that it handled.
    pub units: u64,
    /// The bytes in those units.
    pub bytes: u64,
    /// Seconds at work, or waiting for its disk.
    pub busy_s: f64,
    /// Seconds of waiting for work.
    pub starved_s: f64,
    /// Seconds of waiting for room or buffers downstream.
    pub blocked_s: f64,
}

impl StageReport {
    /// A copy for another node.
    pub fn to_be_told(&self) -> StageReport<String> {
        let StageReport {
            name,
            workers,
            units,
            bytes,
            busy_s,
            starved_s,
            blocked_s,
        } = *self;
        let name = name.to_owned();
        StageReport {
            name,
            workers,
            units,
            bytes,
            busy_s,
            starved_s,
            blocked_s,
        }
    }

    /// Adds the figures of the same stage in another phase. Workers do not add up: the larger
    /// number counts.
    pub fn add(&mut self, other: &StageReport) {
        self.workers = self.workers.max(other.workers);
        self.units += other.units;
        self.bytes += other.bytes;
        self.busy_s += other.busy_s;
        self.starved_s += other.starved_s;
        self.blocked_s += other.blocked_s;
    }
}

impl<Name> StageReport<Name> {
    /// The rate of all workers while busy, in MB/s: the rate of the stage if it never had to wait.
    pub fn mb_per_s(&self) -> f64 {
        let busy = self.busy_each_s();
        if busy > 0.0 {
            self.bytes as f64 / 1e6 / busy
        } else {
            0.0
        }
    }

    /// The rate of one worker while busy, in MB/s.
    pub fn worker_mb_per_s(&self) -> f64 {
        self.mb_per_s() / self.workers.max(1) as f64
    }

    /// The average bytes of a unit.
    pub fn unit_bytes(&self) -> f64 {
        self.bytes as f64 / self.units.max(1) as f64
    }

    /// The run time of all workers in seconds, busy or waiting.
    pub fn alive_s(&self) -> f64 {
        self.busy_s + self.starved_s + self.blocked_s
    }

    /// The busy seconds of the average worker.
    pub fn busy_each_s(&self) -> f64 {
        self.busy_s / self.workers.max(1) as f64
    }
}

/// The name of the bottleneck: the stage whose average worker was busy longest.
pub fn bottleneck(stages: &[StageReport]) -> &'static str {
    let busiest = stages
        .iter()
        .max_by(|a, b| a.busy_each_s().total_cmp(&b.busy_each_s()));
    busiest.map_or("", |stage| stage.name)
}
