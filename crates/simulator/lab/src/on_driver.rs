//! Programs that run as a whole on the driver of tests, and not on one core after the other.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use grain::{Described, Timing, Verdict};
use machine::{RunError, Watch};
use serde_json::{Map, Value};

use crate::error::LabError;
use crate::observer::Going;
use crate::place::Place;
use crate::programs::{Configured, values};
use crate::report::RunReport;
use crate::run::{Ground, Runnable};
use crate::spread::microseconds;

/// A program with nodes of its own, such as a trial of the distributed sort.
pub trait OnDriver: Send + Sync {
    /// Why it cannot run on this number of nodes.
    fn objection(&self, cores: u32) -> Option<String>;
    /// Bytes of all nodes in memory.
    fn bytes(&self, cores: u32) -> u64;
    /// Runs once: its nanoseconds on the driver, and whether it was right.
    fn run(&self, cores: u32) -> (u64, Verdict);
}

/// A program that runs on the driver.
pub(crate) struct Driven<P>(pub P);

impl<P: OnDriver + Described> Configured for Driven<P> {
    fn with_seed(&self, seed: u64) -> Box<dyn Runnable> {
        Box::new(Driven(self.0.clone().seeded(seed)))
    }

    fn values(&self) -> Map<String, Value> {
        values(&self.0)
    }
}

impl<P: OnDriver> Runnable for Driven<P> {
    fn objection(&self, cores: u32) -> Option<String> {
        self.0.objection(cores)
    }

    fn objection_to(&self, place: &Place) -> Option<String> {
        let is_driver = matches!(place, Place::Driver);
        (!is_driver).then(|| "it runs on the machine driver alone; leave --machine out".to_owned())
    }

    fn needs_two_nics(&self) -> bool {
        false
    }

    fn bytes(&self, cores: u32, _: usize) -> u64 {
        self.0.bytes(cores)
    }

    fn timing(&self) -> Timing {
        Timing::LastEnd
    }

    fn run(&self, ground: &Ground<'_>) -> Result<RunReport, LabError> {
        let observer = ground.observer;
        if observer.is_stopped() {
            return Err(RunError::Stopped.into());
        }
        let (begin, watch) = (Instant::now(), Arc::new(Watch::default()));
        let tick_fs = ground.place.tick_fs();
        let _mark = observer.begin(Going {
            run: ground.run,
            runs: ground.runs,
            tick_fs,
            expected: None,
            watch: Arc::clone(&watch),
        });
        let (ticks, verdict) = self.0.run(ground.cores);
        watch.ticks.store(ticks, Ordering::Relaxed);
        Ok(RunReport {
            seed: ground.seed,
            ticks,
            time_us: microseconds(ticks, tick_fs),
            stages: Vec::new(),
            verdict,
            requests: None,
            simulated: None,
            wall_s: begin.elapsed().as_secs_f64(),
        })
    }
}
