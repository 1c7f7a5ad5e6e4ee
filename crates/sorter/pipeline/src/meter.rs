//! Meters: the work and the waits of each stage (TritonSort, Figure 8).

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use node::Node;
use serde::{Deserialize, Serialize};

use crate::clock::{Clock, Spent};

/// The counters of a stage.
#[derive(Debug)]
pub(crate) struct Meter {
    pub name: &'static str,
    pub workers: Vec<WorkerMeter>,
}

/// The counters of one worker, which alone adds to them.
#[derive(Debug, Default)]
pub(crate) struct WorkerMeter {
    pub clock: Clock,
    units: AtomicU64,
    records: AtomicU64,
    bytes: AtomicU64,
    locked_ns: AtomicU64,
}

impl WorkerMeter {
    pub(crate) fn add_unit(&self, records: u64, bytes: u64) {
        self.units.fetch_add(1, Ordering::Relaxed);
        self.records.fetch_add(records, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn add_locked(&self, time: Duration) {
        let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.locked_ns.fetch_add(ns, Ordering::Relaxed);
    }
}

impl Meter {
    pub(crate) fn new(name: &'static str, workers: usize) -> Meter {
        let workers = (0..workers).map(|_| WorkerMeter::default()).collect();
        Meter { name, workers }
    }

    /// The time of all workers until now, current waits included.
    fn spent(&self, node: &Node) -> Spent {
        let each = self
            .workers
            .iter()
            .map(|worker| worker.clock.spent(node.now()));
        each.fold(Spent::default(), Spent::plus)
    }

    fn sum(&self, of: fn(&WorkerMeter) -> &AtomicU64) -> u64 {
        let each = self.workers.iter().map(of);
        each.map(|count| count.load(Ordering::Relaxed)).sum()
    }

    fn most(&self, of: fn(&WorkerMeter) -> &AtomicU64) -> u64 {
        let each = self.workers.iter().map(of);
        let most = each.map(|count| count.load(Ordering::Relaxed)).max();
        most.unwrap_or(0)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.sum(|worker| &worker.bytes)
    }

    pub(crate) fn report(&self, node: &Node) -> StageReport {
        let spent = self.spent(node);
        let busy = |worker: &WorkerMeter| worker.clock.spent(node.now()).busy;
        let busiest = self.workers.iter().map(busy).max().unwrap_or(0);
        StageReport {
            name: self.name,
            workers: self.workers.len(),
            units: self.sum(|worker| &worker.units),
            records: self.sum(|worker| &worker.records),
            bytes: self.bytes(),
            busy_s: node.seconds(spent.busy),
            starved_s: node.seconds(spent.starved),
            blocked_s: node.seconds(spent.blocked),
            locked_s: self.sum(|worker| &worker.locked_ns) as f64 / 1e9,
            most: Most {
                records: self.most(|worker| &worker.records),
                bytes: self.most(|worker| &worker.bytes),
                busy_s: node.seconds(busiest),
            },
        }
    }
}

/// The work and the waits of a stage in a run. Seconds are summed over its workers. A report that another node has sent has a `String` for a name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StageReport<Name = &'static str> {
    /// The name of the stage.
    pub name: Name,
    /// The number of its workers.
    pub workers: usize,
    /// The number of units that it handled.
    pub units: u64,
    /// The records in those units; 0 of a stage that does not know them.
    pub records: u64,
    /// The bytes in those units.
    pub bytes: u64,
    /// Seconds at work, or waiting for its disk.
    pub busy_s: f64,
    /// Seconds of waiting for work.
    pub starved_s: f64,
    /// Seconds of waiting for room or buffers downstream.
    pub blocked_s: f64,
    /// Seconds of waiting for locks that other threads held, which count as one of the others.
    pub locked_s: f64,
    /// How unevenly its workers shared the work.
    pub most: Most,
}

/// The most that a worker of a stage had, of each for itself; of several phases the sum of theirs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Most {
    /// Records that one worker handled.
    pub records: u64,
    /// Bytes that one worker handled.
    pub bytes: u64,
    /// Seconds for which one worker was busy.
    pub busy_s: f64,
}

impl StageReport {
    /// A copy for another node.
    pub fn to_be_told(&self) -> StageReport<String> {
        let StageReport {
            name,
            workers,
            units,
            records,
            bytes,
            busy_s,
            starved_s,
            blocked_s,
            locked_s,
            most,
        } = *self;
        let name = name.to_owned();
        StageReport {
            name,
            workers,
            units,
            records,
            bytes,
            busy_s,
            starved_s,
            blocked_s,
            locked_s,
            most,
        }
    }

    /// Adds the figures of the same stage in another phase. Workers do not add up: the larger
    /// number counts.
    pub fn add(&mut self, other: &StageReport) {
        self.workers = self.workers.max(other.workers);
        self.units += other.units;
        self.records += other.records;
        self.bytes += other.bytes;
        self.busy_s += other.busy_s;
        self.starved_s += other.starved_s;
        self.blocked_s += other.blocked_s;
        self.locked_s += other.locked_s;
        self.most.records += other.most.records;
        self.most.bytes += other.most.bytes;
        self.most.busy_s += other.most.busy_s;
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

    /// The most of a worker over the mean, by records, bytes and busy seconds: 1 is even, and so is a stage
    /// without any.
    pub fn unevenness(&self) -> [f64; 3] {
        let over_mean = |most: f64, all: f64| match all {
            0.0 => 1.0,
            all => most * self.workers as f64 / all,
        };
        [
            over_mean(self.most.records as f64, self.records as f64),
            over_mean(self.most.bytes as f64, self.bytes as f64),
            over_mean(self.most.busy_s, self.busy_s),
        ]
    }

    /// The busy seconds of the average worker.
    pub fn busy_each_s(&self) -> f64 {
        self.busy_s / self.workers.max(1) as f64
    }
}

/// Workers that were busy for less of a run say nothing about its length.
const NOTED_SHARE: f64 = 0.1;

/// The stage whose workers shared their busy time most unevenly in a run of that length, of the stages with
/// several workers of which one was busy for a tenth of it.
pub fn most_uneven<Name>(stages: &[StageReport<Name>], seconds: f64) -> Option<&StageReport<Name>> {
    let several = stages.iter().filter(|stage| stage.workers > 1);
    let noted = several.filter(|stage| stage.most.busy_s > seconds * NOTED_SHARE);
    noted.max_by(|a, b| a.unevenness()[2].total_cmp(&b.unevenness()[2]))
}

/// The name of the bottleneck: the stage whose average worker was busy longest.
pub fn bottleneck(stages: &[StageReport]) -> &'static str {
    let busiest = stages
        .iter()
        .max_by(|a, b| a.busy_each_s().total_cmp(&b.busy_each_s()));
    busiest.map_or("", |stage| stage.name)
}
