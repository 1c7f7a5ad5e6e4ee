//! Meters: what each stage did, and what it waited for (TritonSort, Figure 8).

use std::sync::atomic::{AtomicU64, Ordering};

use node::{Node, Time};

/// A stage's counters, shared by its workers; times in ticks, summed over workers.
#[derive(Debug)]
pub(crate) struct Meter {
    pub name: &'static str,
    pub workers: usize,
    pub units: AtomicU64,
    pub bytes: AtomicU64,
    pub alive: AtomicU64,
    pub starved: AtomicU64,
    pub blocked: AtomicU64,
}

impl Meter {
    pub(crate) fn new(name: &'static str, workers: usize) -> Meter {
        let zero = AtomicU64::default;
        Meter {
            name,
            workers,
            units: zero(),
            bytes: zero(),
            alive: zero(),
            starved: zero(),
            blocked: zero(),
        }
    }

    pub(crate) fn report(&self, node: &Node) -> StageReport {
        let seconds = |ticks: &AtomicU64| node.seconds(ticks.load(Ordering::Relaxed));
        let (starved_s, blocked_s) = (seconds(&self.starved), seconds(&self.blocked));
        let busy_s = (seconds(&self.alive) - starved_s - blocked_s).max(0.0);
        StageReport {
            name: self.name,
            workers: self.workers,
            units: self.units.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            busy_s,
            starved_s,
            blocked_s,
        }
    }
}

/// Adds the ticks since `begin` to a counter.
pub(crate) fn add_since(counter: &AtomicU64, node: &Node, begin: Time) {
    counter.fetch_add(node.now().since(begin), Ordering::Relaxed);
}

/// What a stage did in a run. Seconds are summed over its workers.
#[derive(Clone, Debug, PartialEq)]
pub struct StageReport {
    /// The stage.
    pub name: &'static str,
    /// Its workers.
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
    /// The rate of all its workers while busy, in MB/s: what the stage could do if never held up.
    pub fn mb_per_s(&self) -> f64 {
        let busy = self.busy_each_s();
        if busy > 0.0 { self.bytes as f64 / 1e6 / busy } else { 0.0 }
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

    /// Busy seconds of its average worker.
    pub fn busy_each_s(&self) -> f64 {
        self.busy_s / self.workers.max(1) as f64
    }
}

/// The stage that held the others up: whose average worker was busy longest.
pub fn bottleneck(stages: &[StageReport]) -> &'static str {
    let busiest = stages.iter().max_by(|a, b| a.busy_each_s().total_cmp(&b.busy_each_s()));
    busiest.map_or("", |stage| stage.name)
}
