//! Meters: what each stage did, and what it waited for (TritonSort, Figure 8).

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
    /// One for each worker.
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

    /// What its workers have spent until now, waits that have not ended included.
    fn spent(&self, node: &Node) -> Spent {
        let each = self.clocks.iter().map(|clock| clock.spent(node.now()));
        each.fold(Spent::default(), Spent::plus)
    }

    /// What the stage has done until now.
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

/// What a stage did in a run. Seconds are summed over its workers, while they were called. What
/// another node has told has a name of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageReport<Name = &'static str> {
    /// The stage.
    pub name: Name,
    /// Its workers, the most that were called at a time.
    pub workers: usize,
    /// Units it handled.
    pub units: u64,
    /// Bytes in them.
    pub bytes: u64,
    /// Neither starved nor blocked: at work, or waiting for its disk.
    pub busy_s: f64,
    /// Waiting for work.
    pub starved_s: f64,
    /// Waiting for room or buffers downstream.
    pub blocked_s: f64,
}

impl StageReport {
    /// The same, to be told to another node.
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

    /// Adds what a stage of the same name did in another phase.
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
    /// The rate of all its workers while busy, in MB/s: what the stage could do if never held up.
    pub fn mb_per_s(&self) -> f64 {
        let busy = self.busy_each_s();
        if busy > 0.0 {
            self.bytes as f64 / 1e6 / busy
        } else {
            0.0
        }
    }

    /// The rate of one of its workers while busy, in MB/s.
    pub fn worker_mb_per_s(&self) -> f64 {
        self.mb_per_s() / self.workers.max(1) as f64
    }

    /// Bytes of a unit on average.
    pub fn unit_bytes(&self) -> f64 {
        self.bytes as f64 / self.units.max(1) as f64
    }

    /// How long its workers lived.
    pub fn alive_s(&self) -> f64 {
        self.busy_s + self.starved_s + self.blocked_s
    }

    /// Busy seconds of its average worker.
    pub fn busy_each_s(&self) -> f64 {
        self.busy_s / self.workers.max(1) as f64
    }
}

/// The stage that held the others up: whose average worker was busy longest.
pub fn bottleneck(stages: &[StageReport]) -> &'static str {
    let busiest = stages
        .iter()
        .max_by(|a, b| a.busy_each_s().total_cmp(&b.busy_each_s()));
    busiest.map_or("", |stage| stage.name)
}
