//! A job: a program with its options, a place, and seeds.

use grain::Load;
use machine::Ticks;
use std::fmt;

use crate::error::LabError;
use crate::memory;
use crate::observer::Observer;
use crate::parameters::Parameters;
use crate::place::{DRIVER, Place};
use crate::report::RunReport;
use crate::run::Ground;
use crate::sim_report::{self, SimReport};
use crate::spread::of_ticks;
use crate::trace::{MOST_TRACED, sample};

/// A program with its options, a place, and seeds.
#[derive(Clone, Debug)]
pub struct Job {
    parameters: Parameters,
    place: Place,
    seeds: Seeds,
    /// Number of traced cores of the first run.
    traced: u32,
    /// Whether the first run finds its critical path.
    path: bool,
    /// Whether it begins in any memory.
    anyway: bool,
}

/// Consecutive seeds, one per run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seeds {
    /// Seed of the first run.
    pub first: u64,
    /// Number of runs, each with the next seed.
    pub runs: u64,
}

impl Default for Seeds {
    fn default() -> Seeds {
        Seeds { first: 1, runs: 1 }
    }
}

/// In words: `seed 1`, or `seeds 1 to 10`.
impl fmt::Display for Seeds {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.runs {
            1 => write!(out, "seed {}", self.first),
            _ => write!(out, "seeds {} to {}", self.first, self.last()),
        }
    }
}

impl Seeds {
    /// The seed of the last run.
    pub fn last(self) -> u64 {
        self.first.saturating_add(self.runs.saturating_sub(1))
    }

    pub(crate) fn check(self) -> Result<(), LabError> {
        let Seeds { first, runs } = self;
        if runs == 0 {
            return Err(LabError::usage("--runs 0: must be at least 1"));
        }
        match first.checked_add(runs - 1) {
            Some(_) => Ok(()),
            None => Err(LabError::usage(format!(
                "--seed {first} --runs {runs}: seeds end at {}",
                u64::MAX
            ))),
        }
    }
}

impl Job {
    /// A job that can begin.
    ///
    /// # Errors
    /// A usage error if the place or the memory is too small, or the program cannot run this way.
    pub fn new(parameters: Parameters, place: Place, seeds: Seeds) -> Result<Job, LabError> {
        let job = Job::planned(parameters, place, seeds)?;
        job.check_room()?;
        Ok(job)
    }

    /// As [`Job::new`], without a look at this computer's memory.
    ///
    /// # Errors
    /// A usage error if the place is too small, or the program cannot run this way.
    pub fn planned(parameters: Parameters, place: Place, seeds: Seeds) -> Result<Job, LabError> {
        seeds.check()?;
        let cores = parameters.cores();
        place.check_cores(cores)?;
        let facts = parameters.facts();
        let needs_two_nics = facts.needs_two_nics;
        let objection = elsewhere(&parameters, &place)
            .or(facts.objection)
            .or_else(|| one_nic(cores, &place).filter(|_| needs_two_nics));
        let job = Job {
            parameters,
            place,
            seeds,
            traced: 0,
            path: false,
            anyway: false,
        };
        job.unless(objection).map(|()| job)
    }

    fn unless(&self, objection: Option<String>) -> Result<(), LabError> {
        match objection {
            Some(why) => Err(LabError::usage(format!("{}: {why}", self.name()))),
            None => Ok(()),
        }
    }

    /// Name of the program.
    pub fn name(&self) -> &'static str {
        self.parameters.listing().name
    }

    /// Checks that this computer's memory holds a run.
    ///
    /// # Errors
    /// A usage error with options that fit, unless it may begin anyway.
    pub fn check_room(&self) -> Result<(), LabError> {
        // One rank tells for all that the memory of its computer is too small.
        let is_first = !matches!(&self.place, Place::Ranks(ranks) if !ranks.is_first());
        if self.anyway || !is_first {
            return Ok(());
        }
        let objection = memory::objection(&self.parameters, &self.place, memory::bytes());
        self.unless(objection)
    }

    /// Program and machine with options and changes, for people.
    pub(crate) fn told(&self) -> String {
        let options = self.parameters.iter();
        let mut told: Vec<_> = options
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        told.extend(self.place.changes().told());
        let (name, place) = (self.name(), self.place.name());
        format!("{name} on {place} with {}", told.join(", "))
    }

    /// Bytes of a run in memory: keys, answers, and the machine.
    pub(crate) fn bytes(&self) -> u64 {
        let cores = self.parameters.cores();
        let at_once = self.place.threads(cores).min(cores as usize);
        let held = self.parameters.program.bytes(cores, at_once);
        held.saturating_add(u64::from(cores) * memory::BYTES_OF_A_CORE)
    }

    /// The load of a run, if the program knows it.
    pub(crate) fn load(&self) -> Option<Load> {
        self.parameters.facts().load
    }

    /// The expected cost of a run, in messages; without a known load one per core.
    pub(crate) fn cost(&self) -> u64 {
        let cores = u64::from(self.parameters.cores());
        self.load().map_or(cores, Load::cost)
    }

    /// The job with the right to begin whatever the memory is.
    #[must_use]
    pub fn anyway(self, anyway: bool) -> Job {
        Job { anyway, ..self }
    }

    /// The job with other options and seeds, at its place.
    ///
    /// # Errors
    /// A usage error if it cannot run this way.
    pub(crate) fn with(&self, parameters: Parameters, seeds: Seeds) -> Result<Job, LabError> {
        let job = Job::planned(parameters, self.place.clone(), seeds)?.anyway(self.anyway);
        job.check_room()?;
        Ok(job)
    }

    /// Whether both jobs have the same runs.
    pub(crate) fn is_same(&self, other: &Job) -> bool {
        let place = |job: &Job| (job.place.hash(), job.place.changes());
        self.name() == other.name()
            && self.parameters.values() == other.parameters.values()
            && self.seeds == other.seeds
            && self.place.name() == other.place.name()
            && place(self) == place(other)
    }

    /// The job with all cores of the first run traced.
    pub(crate) fn traced_whole(mut self) -> Job {
        self.traced = self.parameters.cores();
        self.path = self.place.profile().is_some();
        self
    }

    /// The job, simulated on `threads` of this computer.
    pub(crate) fn on_threads(mut self, threads: usize) -> Job {
        self.place.run_on(threads);
        self
    }

    /// The job with the first run traced.
    ///
    /// # Errors
    /// A usage error if the place is no simulated machine.
    pub fn traced(mut self) -> Result<Job, LabError> {
        if self.place.profile().is_none() {
            let name = self.place.name();
            let why = format!("--trace shows a simulated machine; {name} is not traced");
            return Err(LabError::usage(why));
        }
        self.traced = MOST_TRACED;
        Ok(self)
    }

    /// The job with the critical path of the first run.
    ///
    /// # Errors
    /// A usage error if the place is no simulated machine.
    pub fn with_path(mut self) -> Result<Job, LabError> {
        if self.place.profile().is_none() {
            let name = self.place.name();
            let why = format!("--critical-path is of a simulated machine, and {name} is none");
            return Err(LabError::usage(why));
        }
        self.path = true;
        Ok(self)
    }

    /// The program with its options.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The place of the runs.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The seeds of the runs.
    pub fn seeds(&self) -> Seeds {
        self.seeds
    }

    /// Runs the program once per seed.
    ///
    /// # Errors
    /// The error of the first run that does not end: stuck, stopped, or a bug.
    pub fn run(&self, observer: &Observer) -> Result<SimReport, LabError> {
        let runs = (0..self.seeds.runs).map(|run| self.run_once(run, observer));
        let runs = runs.collect::<Result<Vec<_>, _>>()?;
        let times: Vec<u64> = runs.iter().map(|run| run.ticks).collect();
        let (cores, hash) = (self.parameters.cores(), self.place.hash());
        Ok(SimReport {
            program: self.name(),
            machine: self.place.name().to_owned(),
            machine_hash: hash,
            cores,
            told: sim_report::told(&self.parameters, &self.place.changes()),
            parameters: self.parameters.clone(),
            timing: self.parameters.facts().timing,
            time_us: of_ticks(&times, self.place.tick_fs()),
            wall_s: runs.iter().map(|run| run.wall_s).sum(),
            events: hash.map(|_| runs.iter().map(RunReport::events).sum()),
            peak_rss_bytes: node_real::peak_rss_bytes(),
            threads: self.place.threads(cores),
            note: self.note(&runs),
            runs,
        })
    }

    /// Runs the program with one of the seeds, counted from 0.
    pub(crate) fn run_once(&self, run: u64, observer: &Observer) -> Result<RunReport, LabError> {
        let seed = self.seeds.first + run;
        let ground = Ground {
            place: &self.place,
            cores: self.parameters.cores(),
            traced: if run == 0 { self.traced } else { 0 },
            path: run == 0 && self.path,
            run,
            runs: self.seeds.runs,
            seed,
            observer,
        };
        self.parameters.program.run(&ground)
    }

    /// Remarks on the runs, for people.
    fn note(&self, runs: &[RunReport]) -> Option<String> {
        let cores = self.parameters.cores();
        let is_sampled = self.traced > 0 && cores > self.traced;
        let shown = is_sampled.then(|| format!("the trace shows {}", sample(cores)));
        let notes: Vec<_> = self.one_block(runs).into_iter().chain(shown).collect();
        (!notes.is_empty()).then(|| notes.join("; "))
    }

    /// Tells that threads did not help. The words do not depend on their number.
    fn one_block(&self, runs: &[RunReport]) -> Option<String> {
        let profile = self.place.profile()?;
        let has_no_latency = profile.link() + profile.switch() == Ticks(0);
        let windows = runs.first()?.simulated.as_ref()?.windows;
        (windows.blocks <= 1 && has_no_latency).then(|| {
            "without latency between blocks the machine ran as one block, on one thread".to_owned()
        })
    }
}

/// Why a program cannot run at a place, whatever its options are.
fn elsewhere(parameters: &Parameters, place: &Place) -> Option<String> {
    let is_driven = parameters.listing().machine == DRIVER;
    let why = match (is_driven, matches!(place, Place::Driver)) {
        (true, false) => "it runs on the machine driver alone; leave --machine out",
        (false, true) => "the machine driver is for sort; leave --machine out",
        _ => return None,
    };
    Some(why.to_owned())
}

/// A program that measures a NIC needs a second one that sends to it.
fn one_nic(cores: u32, place: &Place) -> Option<String> {
    let each = place.cores_per_nic();
    if let (Place::Ranks(_), 1) = (place, cores) {
        return Some("it needs a second NIC: start 2 ranks or more".to_owned());
    }
    (cores <= each).then(|| {
        let (name, least) = (place.name(), each + 1);
        let share = if each == 1 {
            "has one"
        } else {
            "cores share one"
        };
        format!("it needs a second NIC; on {name} {each} {share}, so use --cores {least} or more")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Changes;

    fn told(program: &str, machine: &str, options: &[(&str, u64)]) -> Option<String> {
        let place = Place::named(machine, &Changes::default()).unwrap();
        let asked = Parameters::of(program, options.iter().copied()).unwrap();
        Job::new(asked, place, Seeds::default())
            .err()
            .map(|error| error.to_string())
    }

    /// Without a sender the busy share of the link would be undefined.
    #[test]
    fn a_flood_needs_a_sender() {
        let alone = told("flood", "nanopu", &[("cores", 4), ("to", 0)]).unwrap();
        assert!(
            alone.contains("second NIC") && alone.contains("--cores 5 or more"),
            "{alone}"
        );
        assert!(told("flood", "threads", &[("cores", 1), ("to", 0)]).is_some());
        assert_eq!(told("flood", "nanopu", &[("cores", 5), ("to", 4)]), None);
        assert_eq!(told("flood", "nanopu", &[("cores", 4)]), None);
    }
}
