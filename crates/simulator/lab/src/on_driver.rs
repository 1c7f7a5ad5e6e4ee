//! Programs that run as a whole on the driver of tests, and not on one core after the other.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use grain::{Described, Timing, Verdict};
use machine::{RunError, Watch};
use serde_json::{Map, Value};

use crate::error::LabError;
use crate::observer::Going;
use crate::place::DRIVER;
use crate::program::{Erased, Facts, Listing, Parse, values};
use crate::report::{RunReport, StageReport};
use crate::run::Ground;
use crate::spread::microseconds;

/// The course of a program on the driver.
#[derive(Debug)]
pub struct Course {
    /// Nanoseconds on the driver.
    pub ticks: u64,
    /// Its stages, if it reports some.
    pub stages: Vec<StageReport>,
    /// Whether it was right.
    pub verdict: Verdict,
}

/// A program with nodes of its own, such as a trial of the distributed sort.
pub trait OnDriver: Send + Sync {
    /// Why it cannot run on this number of nodes.
    fn objection(&self, cores: u32) -> Option<String>;
    /// Bytes of all nodes in memory.
    fn bytes(&self, cores: u32) -> u64;
    /// Runs once.
    fn run(&self, cores: u32) -> Course;
}

/// A program that runs on the driver.
struct Driven<P>(P);

impl Listing {
    /// A program that runs on the driver.
    pub fn on_driver<P: OnDriver + Described>() -> Listing {
        let parse: Parse = |matches| Ok(Arc::new(Driven(P::from_arg_matches(matches)?)));
        Listing::parsed::<P>(DRIVER, parse)
    }
}

impl<P: OnDriver + Described> Erased for Driven<P> {
    fn facts(&self, cores: u32) -> Facts {
        Facts {
            objection: self.0.objection(cores),
            needs_two_nics: false,
            load: None,
            timing: Timing::LastEnd,
            note: None,
            dials: Vec::new(),
        }
    }

    fn bytes(&self, cores: u32, _: usize) -> u64 {
        self.0.bytes(cores)
    }

    fn values(&self) -> Map<String, Value> {
        values(&self.0)
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
        let program = self.0.clone().seeded(ground.seed);
        let Course {
            ticks,
            stages,
            verdict,
        } = program.run(ground.cores);
        watch.ticks.store(ticks, Ordering::Relaxed);
        Ok(RunReport {
            seed: ground.seed,
            ticks,
            time_us: microseconds(ticks, tick_fs),
            stages,
            verdict,
            requests: None,
            simulated: None,
            wall_s: begin.elapsed().as_secs_f64(),
        })
    }
}
