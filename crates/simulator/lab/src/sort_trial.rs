//! The program `sort`: a trial of the distributed sort per run, on the driver.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use clap::Args;
use grain::{Timing, Verdict, described};
use machine::{RunError, Watch};
use serde::Serialize;
use trial::{Faults, Trial};

use crate::error::LabError;
use crate::observer::Going;
use crate::place::Place;
use crate::report::RunReport;
use crate::run::{Ground, Runnable};
use crate::spread::microseconds;

/// Most nodes: each sends every other one some messages a second.
const MOST_NODES: u32 = 64;

/// Most records of a node: more of them make a trial longer, but not different.
const MOST_KEYS: u32 = 100_000;

/// Sort files over nodes, as gristmill sort does, while links and nodes fail.
///
/// Each run ends with a sort without faults. In every second run the records do not fit in memory.
#[derive(Args, Clone, Debug, Serialize)]
pub(crate) struct SortTrial {
    #[arg(skip = 1_u64)]
    #[serde(skip)]
    seed: u64,
    /// Records per node, on average
    #[arg(id = "keys-per-core", long, value_name = "K", default_value_t = 200)]
    #[arg(value_parser = grain::from_0)]
    #[serde(rename = "keys-per-core")]
    keys: u32,
    /// Faults with commas: late (messages), cut (links), death (of nodes), disk (failing requests);
    /// the seed draws their time and node
    #[arg(long, value_name = "LIST", default_value_t)]
    #[serde(serialize_with = "as_text")]
    faults: Faults,
}

described! { SortTrial is "sort" on 4 cores;
    "--runs 100 --faults late,cut,death,disk", "--cores 8 --faults death"
}

fn as_text<S: serde::Serializer>(faults: &Faults, out: S) -> Result<S::Ok, S::Error> {
    out.collect_str(faults)
}

fn verdict(trial: &Trial, tried: &Result<trial::Passed, trial::Wrong>) -> Verdict {
    let verdict = match tried {
        Ok(passed) => Verdict::new(passed.words(), None),
        Err(wrong) => {
            let told = format!("{wrong}; repeat it with: {}", trial.command());
            Verdict::new("wrong".to_owned(), Some(told))
        }
    };
    Verdict {
        sorted: Some(tried.is_ok()),
        ..verdict
    }
}

impl Runnable for SortTrial {
    fn objection(&self, cores: u32) -> Option<String> {
        let most =
            |what, most, given| (given > most).then(|| format!("{what} {given}: at most {most}"));
        most("--cores", MOST_NODES, cores).or_else(|| most("--keys-per-core", MOST_KEYS, self.keys))
    }

    fn objection_to(&self, place: &Place) -> Option<String> {
        let is_driver = matches!(place, Place::Driver);
        (!is_driver).then(|| "it runs on the machine driver alone; leave --machine out".to_owned())
    }

    fn needs_two_nics(&self) -> bool {
        false
    }

    fn bytes(&self, cores: u32, _: usize) -> u64 {
        trial::bytes(cores, self.keys)
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
        let trial = Trial {
            seed: self.seed,
            nodes: ground.cores,
            keys: self.keys,
            faults: self.faults,
            mutant: None,
        };
        let tried = trial.run();
        let ticks = tried.as_ref().map_or(0, |passed| passed.ticks);
        watch.ticks.store(ticks, Ordering::Relaxed);
        Ok(RunReport {
            seed: ground.seed,
            ticks,
            time_us: microseconds(ticks, tick_fs),
            stages: Vec::new(),
            verdict: verdict(&trial, &tried),
            requests: None,
            simulated: None,
            wall_s: begin.elapsed().as_secs_f64(),
        })
    }
}
