//! Trials: the distributed sort on simulated nodes under faults. One seed decides a trial.
//!
//! ```text
//! draw        inputs, order, memory, disks, delays                               draw.rs
//! rehearse    the sort with delays only: it succeeds, and its events are counted
//! strike      the same run; after drawn events nodes die, links are cut, a disk fails   strike.rs
//! again       without faults, on the disks as they were left: it succeeds
//! ```
//!
//! Each run is judged (judge.rs): it ends, in time; every output is the old one or the complete new
//! one, in order and without a lost record; inputs are unchanged; live nodes leave nothing behind;
//! reported success survives a power failure. The sort is the one that users run, on
//! [`machine::Driver`]. FoundationDB and TigerBeetle are tested in this way.
//!
//! Trials must also be able to fail: a [`Mutant`] breaks the machine, and trials must notice.

mod balance;
mod disk_requests;
mod disk_sort;
mod draw;
mod drives;
mod extension;
mod foreign_plan;
mod judge;
mod mutant;
mod phases;
mod prediction;
mod program;
mod relief;
mod server_options;
mod strike;
mod unpredicted;
pub mod world;

use std::fmt;

use lab::Listing;
use machine::Driver;
use node::{Node, Time, caught};
use pipeline::{Control, Failure};
use sort::{ExchangeKind, Job};

use draw::Case;
use judge::Judge;
use strike::{Course, Strikes};

pub use balance::Rule;
pub use disk_sort::EXPERIMENTS;
pub use draw::bytes;
pub use foreign_plan::{Changes, ForeignPlan};
pub use mutant::Mutant;
pub use phases::PhaseTime;
pub use prediction::{Prediction, Wish};
pub use strike::Faults;
pub use unpredicted::Unpredicted;

/// The programs of `sim` on simulated nodes.
pub fn programs() -> [Listing; 3] {
    [
        program::trial(),
        disk_sort::program(),
        disk_requests::program(),
    ]
}

/// Ticks of the driver per second.
const SECOND: u64 = 1_000_000_000;

/// Most time of a sort without delays: disks, and the silence of lost nodes.
const LONGEST: u64 = 1_000 * SECOND;

/// Messages in a row per round: ready, a chunk, its confirmation, done.
const ROUND_MESSAGES: u64 = 4;

/// The parameters of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// Decides everything that is drawn.
    pub seed: u64,
    /// Number of simulated nodes.
    pub nodes: u32,
    /// Records per node, on average.
    pub keys: u32,
    /// Faults that may happen.
    pub faults: Faults,
    /// Safeguard that the machine lacks.
    pub mutant: Option<Mutant>,
}

/// A trial without a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    /// Faults that happened, such as `a cut`.
    pub struck: Vec<&'static str>,
    /// Whether they ended the sort.
    pub failed: bool,
    /// Passes of the rehearsal.
    pub passes: u32,
    /// Duration of the run with faults, or of the rehearsal if none happened, in nanoseconds.
    pub ticks: u64,
    /// Events of all runs.
    pub events: u64,
}

impl Passed {
    /// A summary with few different values, so that trials can be counted by it.
    pub fn words(&self) -> String {
        let struck = self.struck.join(" and ");
        match (self.struck.is_empty(), self.failed) {
            (true, _) => "sorted".to_owned(),
            (false, false) => format!("sorted in spite of {struck}"),
            (false, true) => format!("ended by {struck}, then sorted"),
        }
    }
}

/// A finding: what a trial has found wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// Name of the run in the trial.
    pub run: &'static str,
    /// Kind of the finding.
    pub what: What,
    /// Rank, file or message.
    pub how: String,
}

/// The kinds of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// A run does not end.
    Hangs,
    /// A node panics: a bug.
    Panics,
    /// A run fails although no fault explains it.
    Fails,
    /// A failure names neither a rank nor a file.
    Nameless,
    /// A run ends too long after the last fault.
    Late,
    /// An output is neither the old one nor the new one.
    Output,
    /// A complete output is missing.
    Gone,
    /// A file is left behind.
    Left,
    /// An input has changed.
    Input,
    /// A node has more chunks under way to it than buffers.
    Flooded,
}

impl fmt::Display for Wrong {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.what {
            What::Hangs => "it hangs",
            What::Panics => "a bug",
            What::Fails => "it fails without a reason",
            What::Nameless => "a failure names no rank and no file",
            What::Late => "it ends late",
            What::Output => "an output is neither the old one nor the new one",
            What::Gone => "an output has gone",
            What::Left => "something is left behind",
            What::Input => "an input has changed",
            What::Flooded => "more is under way to a node than it has buffers for",
        };
        write!(out, "{}: {what}: {}", self.run, self.how)
    }
}

/// The end of the sort on a node.
struct End {
    rank: u32,
    at: Time,
    /// The number of passes, or the failure.
    sorted: Result<u32, String>,
}

/// A run that has ended, with the driver as it left it.
struct Ran<'a> {
    name: &'static str,
    driver: &'a Driver,
    ends: Vec<End>,
}

impl Trial {
    /// Rehearses, strikes, and sorts again.
    ///
    /// # Errors
    /// The first finding.
    pub fn run(&self) -> Result<Passed, Wrong> {
        let case = Case::draw(self);
        let driver = case.driver(self);
        let rehearsal = sort_on(&driver, &case, "rehearsal")?;
        let judge = Judge {
            trial: self,
            case: &case,
            parts: case.outputs(&driver),
        };
        judge.check_first(&rehearsal)?;
        let passed = Passed {
            struck: Vec::new(),
            failed: false,
            passes: rehearsal.passes(),
            ticks: driver.now().0,
            events: driver.events(),
        };
        let strikes = Strikes::draw(self, &Course::of(&driver, self.nodes));
        if strikes.are_none() {
            judge.power_failure(&rehearsal)?;
            return Ok(passed);
        }
        self.strike(&judge, &strikes, passed)
    }

    /// The run with faults, and the one after it.
    fn strike(
        &self,
        judge: &Judge<'_>,
        strikes: &Strikes,
        rehearsed: Passed,
    ) -> Result<Passed, Wrong> {
        let driver = judge.case.driver(self);
        strikes.plan(&driver);
        let ran = sort_on(&driver, judge.case, "with faults")?;
        let (ticks, struck) = (driver.now().0, strikes.struck(&driver));
        let events = rehearsed.events + driver.events();
        let failed = judge.has_failed(&ran);
        judge.check_struck(&ran, strikes)?;
        (0..self.nodes).for_each(|rank| driver.disks(rank).mend());
        if self.seed.is_multiple_of(2) {
            judge.power_failure(&ran)?;
        }
        let again = sort_on(&driver, judge.case, "again")?;
        judge.check_again(&again)?;
        judge.power_failure(&again)?;
        Ok(Passed {
            struck,
            failed,
            ticks,
            events: events + driver.events(),
            ..rehearsed
        })
    }

    /// The command that repeats the trial.
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
        let passes = self.ends.iter().filter_map(|end| end.sorted.as_ref().ok());
        passes.copied().max().unwrap_or(0)
    }
}

/// Runs the sort on all nodes.
fn sort_on<'a>(driver: &'a Driver, case: &Case, name: &'static str) -> Result<Ran<'a>, Wrong> {
    driver.end_by(driver.now().after(LONGEST + rounds(case)));
    let wrong = |what, how| Wrong {
        run: name,
        what,
        how,
    };
    let job = case.job.clone();
    let program = move |node: Node| sort_of_a_node(node, job.clone());
    let ended = caught(|| driver.run(program))
        .map_err(|panic| wrong(What::Panics, panic.0))?
        .map_err(|stuck| wrong(What::Hangs, stuck.to_string()))?;
    let mut ends = Vec::new();
    for (rank, sorted, at) in ended {
        if let Err(Failure::Panic { message, .. }) = &sorted {
            return Err(wrong(What::Panics, message.clone()));
        }
        let sorted = sorted.map_err(|failure| failure.to_string());
        ends.push(End { rank, at, sorted });
    }
    Ok(Ran { name, driver, ends })
}

/// Most delay of the exchange, in ticks. In rounds each chunk, which may be one record, waits for a
/// turn of all nodes.
fn rounds(case: &Case) -> u64 {
    if case.job.exchange != ExchangeKind::Rounds {
        return 0;
    }
    (case.records * case.parts.len()) as u64 * ROUND_MESSAGES * case.late_ns
}

async fn sort_of_a_node(node: Node, job: Job) -> (u32, Result<u32, Failure>, Time) {
    let job = Job {
        control: Control::default(),
        ..job
    };
    let sorted = sort::run(&node, &job).await;
    let passes = sorted.map(|report| report.passes);
    (node.rank().0, passes, node.now())
}
