//! Trials: the distributed sort on simulated nodes, to which things happen. One seed is one trial.
//!
//! ```text
//! draw        inputs, order, memory, disks, lateness                             draw.rs
//! rehearse    the sort, late but whole: it succeeds, and its events are counted
//! strike      the same again; after drawn events nodes die, links are cut, a disk fails   strike.rs
//! again       all that is over, and dead nodes are back with what their disks kept: it succeeds
//! ```
//!
//! Each of these runs is judged (judge.rs): it ends, in time; outputs are the old ones or the
//! complete new ones, in order, each record as often as it was read; inputs are what they were;
//! nobody leaves anything behind who lives; what has reported success is there after the power has
//! failed. The sort is the one that users run, on
//! [`machine::Driver`]. FoundationDB and TigerBeetle are tested so.
//!
//! A trial that finds nothing wrong with a broken machine finds nothing: a [`Mutant`] breaks it.

mod draw;
mod judge;
mod mutant;
mod strike;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use clap::Args;
use grain::{Timing, Verdict, described};
use machine::{Driver, RunError, Watch};
use node::Time;
use pipeline::{Control, Failure};
use serde::Serialize;
use sort::{ExchangeKind, Job};

use crate::error::LabError;
use crate::place::Place;
use crate::report::{RunReport, microseconds};
use crate::run::{Ground, Runnable, said};

use draw::Case;
use judge::Judge;
use strike::{Course, Strikes};

pub use mutant::Mutant;
pub use strike::Faults;

/// Ticks of a second of the driver.
const SECOND: u64 = 1_000_000_000;

/// A sort of which nothing is late takes less: disks, and the silence of who was lost.
const LONGEST: u64 = 1_000 * SECOND;

/// Messages of a round, one after the other: ready, a chunk, its confirmation, done.
const ROUND_MESSAGES: u64 = 4;

/// The most nodes: each of them sends every other one some messages a second.
const MOST_NODES: u32 = 64;

/// The most records of a node: more make longer trials, not others.
const MOST_KEYS: u32 = 100_000;

/// Sort files over nodes, as gristmill sort does, while links and nodes fail.
///
/// Each run sorts once more when all is whole again. A node's disks hold more than its memory in
/// every second run, whatever the number of records.
#[derive(Args, Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Trial {
    /// Decides all that is drawn.
    #[arg(skip = 1_u64)]
    #[serde(skip)]
    pub seed: u64,
    /// How many nodes.
    #[arg(skip = 4_u32)]
    #[serde(skip)]
    pub nodes: u32,
    /// Records of each node, on average
    #[arg(id = "keys-per-core", long, value_name = "K", default_value_t = 200)]
    #[arg(value_parser = grain::from_0)]
    #[serde(rename = "keys-per-core")]
    pub keys: u32,
    /// Any of late (messages), cut (links), death (of nodes), disk (a request fails), with commas;
    /// the seed draws when, and which node
    #[arg(long, value_name = "LIST", default_value_t)]
    pub faults: Faults,
    /// What of the machine is broken.
    #[arg(skip)]
    #[serde(skip)]
    pub mutant: Option<Mutant>,
}

described! { Trial is "sort" on 4 cores;
    "--runs 100 --faults late,cut,death,disk", "--cores 8 --faults death"
}

/// A trial in which all was right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    /// What has happened, in the order of [`Faults::NAMES`].
    pub struck: Vec<&'static str>,
    /// Whether it ended the sort.
    pub failed: bool,
    /// In how many passes the rehearsal sorted.
    pub passes: u32,
    /// How long what things happened to took of its time; the rehearsal if nothing did.
    pub ticks: u64,
    /// Events of all runs.
    pub events: u64,
}

impl Passed {
    /// In some words: few different ones, so that many trials can be counted by them.
    pub fn words(&self) -> String {
        let struck = self.struck.join(" and ");
        match (self.struck.is_empty(), self.failed) {
            (true, _) => "sorted".to_owned(),
            (false, false) => format!("sorted in spite of {struck}"),
            (false, true) => format!("ended by {struck}, then sorted"),
        }
    }
}

/// What was wrong in a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// In which of its runs.
    pub run: &'static str,
    /// What.
    pub what: What,
    /// More of it.
    pub how: String,
}

/// What can be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// It does not end.
    Hangs,
    /// A bug.
    Panics,
    /// It fails, and nothing has happened that it may fail for.
    Fails,
    /// It fails, and says neither of which rank nor of which file.
    Nameless,
    /// It ends too long after what happened.
    Late,
    /// An output is neither the old one nor the new one.
    Output,
    /// An output that was there for sure has gone.
    Gone,
    /// Something is left behind.
    Left,
    /// An input has changed.
    Input,
    /// More is under way to a node than it has room for.
    Flooded,
}

impl fmt::Display for Wrong {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.what {
            What::Hangs => "it hangs",
            What::Panics => "a bug",
            What::Fails => "it fails without a reason",
            What::Nameless => "a failure names nothing",
            What::Late => "it ends late",
            What::Output => "an output is neither the old one nor the new one",
            What::Gone => "an output has gone",
            What::Left => "something is left behind",
            What::Input => "an input has changed",
            What::Flooded => "more is under way to a node than it has room for",
        };
        write!(out, "{}: {what}: {}", self.run, self.how)
    }
}

/// How the sort ended on a node.
struct End {
    rank: u32,
    at: Time,
    /// In how many passes, or why not.
    sorted: Result<u32, String>,
}

/// A run of a trial: its ends, on the driver that it left behind.
struct Ran<'a> {
    name: &'static str,
    driver: &'a Driver,
    ends: Vec<End>,
}

impl Trial {
    /// Tries it.
    ///
    /// # Errors
    /// With what was wrong first.
    pub fn run(&self) -> Result<Passed, Wrong> {
        let case = Case::draw(self);
        let rehearsed = case.driver(self);
        let rehearsal = sort_on(&rehearsed, &case, "rehearsal")?;
        let judge = Judge {
            trial: self,
            case: &case,
            parts: case.outputs(&rehearsed),
        };
        judge.first(&rehearsal)?;
        let (passes, ticks, mut events) =
            (rehearsal.passes(), rehearsed.now().0, rehearsed.events());
        let strikes = Strikes::draw(self, &Course::of(&rehearsed, self.nodes));
        if strikes.are_none() {
            judge.power_failure(&rehearsal)?;
            return Ok(Passed {
                struck: Vec::new(),
                failed: false,
                passes,
                ticks,
                events,
            });
        }
        let driver = case.driver(self);
        strikes.plan(&driver);
        let ran = sort_on(&driver, &case, "with faults")?;
        let (ticks, struck) = (driver.now().0, strikes.struck(&driver));
        events += driver.events();
        let failed =
            ran.ends.iter().any(|end| end.sorted.is_err()) || ran.ends.len() < case.parts.len();
        judge.struck(&ran, &strikes)?;
        (0..self.nodes).for_each(|rank| driver.disks(rank).mend());
        if self.seed.is_multiple_of(2) {
            judge.power_failure(&ran)?;
        }
        let again = sort_on(&driver, &case, "again")?;
        judge.again(&again)?;
        judge.power_failure(&again)?;
        events += driver.events();
        Ok(Passed {
            struck,
            failed,
            passes,
            ticks,
            events,
        })
    }

    /// The command that tries it again.
    pub fn command(&self) -> String {
        let Trial {
            seed,
            nodes,
            keys,
            faults,
            ..
        } = self;
        format!(
            "gristmill sim sort --cores {nodes} --keys-per-core {keys} --faults {faults} --seed {seed}"
        )
    }
}

impl Ran<'_> {
    /// The most passes of a rank.
    fn passes(&self) -> u32 {
        self.ends
            .iter()
            .filter_map(|end| end.sorted.as_ref().ok())
            .copied()
            .max()
            .unwrap_or(0)
    }
}

/// Runs the sort on all nodes, to its end.
fn sort_on<'a>(driver: &'a Driver, case: &Case, name: &'static str) -> Result<Ran<'a>, Wrong> {
    // A sort that goes on for longer hangs. In rounds each chunk waits for a turn of all nodes, and
    // may be one record.
    let records = case.sorted.len() / case.job.contents.record_bytes();
    let turns = (records * case.parts.len()) as u64;
    let late_ns = if case.job.exchange == ExchangeKind::Rounds {
        case.late_ns
    } else {
        0
    };
    let late = turns * ROUND_MESSAGES * late_ns;
    driver.end_by(driver.now().after(LONGEST + late));
    let job = case.job.clone();
    let program = move |node: node::Node| {
        let job = Job {
            control: Control::default(),
            ..job.clone()
        };
        async move {
            let sorted = sort::run(&node, &job).await;
            (
                node.rank().0,
                sorted.map(|report| report.passes),
                node.now(),
            )
        }
    };
    let wrong = |what, how| Wrong {
        run: name,
        what,
        how,
    };
    // Unwind safe: nothing of a driver whose program panicked is used again.
    let ended = catch_unwind(AssertUnwindSafe(|| driver.run(program)))
        .map_err(|panic| wrong(What::Panics, said(&*panic)))?
        .map_err(|stuck| wrong(What::Hangs, stuck.to_string()))?;
    let mut ends = Vec::new();
    for (rank, sorted, at) in ended {
        if let Err(Failure::Panic { message, .. }) = &sorted {
            return Err(wrong(What::Panics, message.clone()));
        }
        ends.push(End {
            rank,
            at,
            sorted: sorted.map_err(|failure| failure.to_string()),
        });
    }
    Ok(Ran { name, driver, ends })
}

impl Runnable for Trial {
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
        draw::bytes(cores, self.keys)
    }

    fn timing(&self) -> Timing {
        Timing::LastEnd
    }

    fn run(&self, ground: &Ground<'_>) -> Result<RunReport, LabError> {
        if ground.observer.is_stopped() {
            return Err(RunError::Stopped.into());
        }
        let (begin, watch) = (Instant::now(), Arc::new(Watch::default()));
        let tick_fs = ground.place.tick_fs();
        let _goes_on = ground
            .observer
            .begin(ground.run, tick_fs, Arc::clone(&watch));
        let trial = Trial {
            nodes: ground.cores,
            ..*self
        };
        let tried = trial.run();
        let ticks = tried.as_ref().map_or(0, |passed| passed.ticks);
        watch.ticks.store(ticks, Ordering::Relaxed);
        let verdict = match &tried {
            Ok(passed) => Verdict::new(passed.words(), None),
            Err(wrong) => {
                let told = format!("{wrong}; to see it again: {}", trial.command());
                Verdict::new("wrong".to_owned(), Some(told))
            }
        };
        Ok(RunReport {
            seed: ground.seed,
            ticks,
            time_us: microseconds(ticks, tick_fs),
            stages: Vec::new(),
            verdict: Verdict {
                sorted: Some(tried.is_ok()),
                ..verdict
            },
            simulated: None,
            wall_s: begin.elapsed().as_secs_f64(),
        })
    }
}
