//! Experiments: figures of papers as files that say what runs, what is drawn, and what is claimed.
//!
//! An experiment is a TOML file. The shortest one is a series; everything else has defaults:
//!
//! ```text
//!   [[series]]
//!   program = "merge-min"
//!   vary = "incast"
//!   over = [1, 2, 4, 8, 16]
//! ```
//!
//! The head of a file names a machine and seeds:
//!
//! ```text
//!   title, source     heading (else the file's name); paper and figure
//!   says, shows, note the paper's finding; what ours shows; caveats
//!   format            1, the format of these files, which this version reads
//!   machine           "nanopu" if it is missing
//!   [changes]         changes of the machine, by the names of `sim`'s options
//!   seed, runs        seed of the first run; runs per point, whose mean is the figure
//!   breakdown         id of a series: its first run is drawn core by core
//!   [smoke]           runs, and options of all programs that have them, at smoke size
//! ```
//!
//! Tables follow, each explained in the module of that name:
//!
//! ```text
//!   [chart.NAME]      axes, and the points that the paper gives
//!   [[series]]        one of our curves: a program, one thing that varies, a measure
//!   [[line]]          a claim of the paper about a run, a point, or the shape of a curve
//!   [[grid]]          a choice that the paper leaves open: all combinations are run and judged
//! ```
//!
//! A file is checked as a whole when it is read, and its first mistake is told with its line (`mistake`,
//! `check`). docs/experiments.md has every key.
//!
//! There are two sizes. Full size is the paper's, and only there claims are judged. Smoke size
//! takes a moment: it shows that everything runs and that results have not changed. A file without
//! smaller values has the full size only. At both sizes every program checks its own result, and a
//! wrong result fails the experiment.

mod breakdown;
mod built_in;
mod chart;
mod check;
mod claim;
mod file;
mod grid;
mod judgement;
mod measure;
mod mistake;
mod plan;
mod reported_claim;
mod result;
mod series;
mod shape;
#[cfg(test)]
mod tests;

pub use built_in::add as add_experiments;
pub use file::Experiment;
pub use reported_claim::{UNNAMED, readings};
pub use result::{Results, Sample};

use std::path::Path;

use plot::{Figure, Size};

use crate::error::LabError;
use crate::estimate::{self, Estimate};
use crate::observer::Observer;
use crate::run_queue;
use plan::Plans;

/// Most runs of an experiment: a report of a run has some kilobytes.
const MOST_RUNS: u64 = 100_000;

/// The cost of an experiment at a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Number of runs of all jobs.
    pub runs: u64,
    /// Cores of the largest run.
    pub most_cores: u32,
}

impl Experiment {
    /// Names of the built-in experiments.
    pub fn names() -> impl Iterator<Item = &'static str> {
        built_in::names()
    }

    /// The built-in experiment of that name, or of that last part of it, or the one in that file.
    ///
    /// # Errors
    /// If there is none, or if it is wrong or cannot run.
    pub fn load(name: &str) -> Result<Experiment, LabError> {
        let (name, text) = built_in::text_of(name)?;
        Experiment::parse(&name, &text)
    }

    fn parse(name: &str, text: &str) -> Result<Experiment, LabError> {
        let wrong = |mistake| LabError::mistake(Path::new(name), mistake);
        let mut experiment = mistake::read::<Experiment>(text).map_err(wrong)?;
        experiment.complete(name);
        let checked = check::check(&experiment);
        checked.map_err(|why| wrong(mistake::found(Some(text), why)))?;
        Ok(experiment)
    }

    /// Its cost at that size.
    ///
    /// # Errors
    /// A usage error if there are too many runs, or a file error if it cannot run with the given
    /// seeds.
    pub fn cost(&self, size: Size) -> Result<Cost, LabError> {
        let plans = self.plans(size)?;
        let cores = plans.jobs.iter().map(|job| job.parameters().cores());
        Ok(Cost {
            runs: plans.count(),
            most_cores: cores.max().unwrap_or(0),
        })
    }

    /// The estimate for all its runs at that size, up to `workers` at once; `None` if no program
    /// knows its load.
    ///
    /// # Errors
    /// As [`Experiment::cost`].
    pub fn estimate(&self, size: Size, workers: usize) -> Result<Option<Estimate>, LabError> {
        Ok(estimate::of_all(&self.plans(size)?.jobs, workers))
    }

    /// Runs it on at most `workers` threads; the figure does not depend on their number.
    ///
    /// # Errors
    /// The error of a run that does not end, or a file error if a run lacks what is measured.
    pub fn run(&self, observer: &Observer, size: Size, workers: usize) -> Result<Figure, LabError> {
        Ok(self.results(observer, size, workers)?.figure)
    }

    /// As [`Experiment::run`], with the value of every run.
    ///
    /// # Errors
    /// As [`Experiment::run`].
    pub fn results(
        &self,
        observer: &Observer,
        size: Size,
        workers: usize,
    ) -> Result<Results, LabError> {
        let plans = self.plans(size)?;
        let reports = run_queue::run(&plans.jobs, observer, workers)?;
        let results = result::of_all(self, &plans, &reports);
        results.map_err(|why| LabError::file(Path::new(&self.name), why))
    }

    fn plans(&self, size: Size) -> Result<Plans<'_>, LabError> {
        let seeds = self.seeds(size);
        seeds.check()?;
        let bounded = |all: u64| match all {
            0..=MOST_RUNS => Ok(()),
            all => Err(LabError::usage(format!(
                "--runs {}: that makes {all} runs, whose reports are all kept in memory; the maximum \
                 is {MOST_RUNS}",
                seeds.runs
            ))),
        };
        bounded(seeds.runs)?;
        let plans = Plans::new(self, self.size(size));
        let plans = plans
            .map_err(|why| LabError::mistake(Path::new(&self.name), mistake::found(None, why)))?;
        bounded(plans.count()).map(|()| plans)
    }
}
