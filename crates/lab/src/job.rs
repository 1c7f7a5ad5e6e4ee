//! An experiment in one piece: a program, what it is told, where it runs, and from which seeds.

use machine::{Profile, Ticks};

use crate::error::LabError;
use crate::observer::Observer;
use crate::parameters::Parameters;
use crate::place::Place;
use crate::report::{RunReport, SimReport};
use crate::room;
use crate::run::{Ground, Runnable};
use crate::spread::Spread;
use crate::trace::{MOST_TRACED, sample};

/// A program, what it is told, where it runs, and from which seeds.
#[derive(Clone, Debug)]
pub struct Job {
    parameters: Parameters,
    place: Place,
    seeds: Seeds,
    /// How many cores of the first run are traced.
    traced: u32,
}

/// The seeds of the runs: they follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seeds {
    /// Of the first run.
    pub first: u64,
    /// How many runs.
    pub runs: u64,
}

impl Default for Seeds {
    fn default() -> Seeds {
        Seeds { first: 1, runs: 1 }
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
            return Err(LabError::usage("--runs 0: there is nothing to run"));
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
    /// When the place does not hold the program, or it cannot run so.
    pub fn new(parameters: Parameters, place: Place, seeds: Seeds) -> Result<Job, LabError> {
        let job = Job::planned(parameters, place, seeds)?;
        job.check_room()?;
        Ok(job)
    }

    /// A job that can begin where there is room for it.
    ///
    /// # Errors
    /// As [`Job::new`], but that this computer may have too little memory.
    pub(crate) fn planned(
        parameters: Parameters,
        place: Place,
        seeds: Seeds,
    ) -> Result<Job, LabError> {
        seeds.check()?;
        let cores = parameters.cores();
        place.check_cores(cores)?;
        let program = parameters.program(seeds.first);
        let objection = program
            .objection_to(&place)
            .or_else(|| program.objection(cores))
            .or_else(|| one_nic(&*program, cores, &place));
        let job = Job {
            parameters,
            place,
            seeds,
            traced: 0,
        };
        job.unless(objection).map(|()| job)
    }

    /// Refuses the job where there is an objection.
    fn unless(&self, objection: Option<String>) -> Result<(), LabError> {
        match objection {
            Some(why) => Err(LabError::usage(format!("{}: {why}", self.name()))),
            None => Ok(()),
        }
    }

    /// Which program.
    pub fn name(&self) -> &'static str {
        self.parameters.listing().name
    }

    /// Whether this computer's memory holds a run.
    ///
    /// # Errors
    /// When it does not, with what it would hold.
    pub(crate) fn check_room(&self) -> Result<(), LabError> {
        self.unless(room::objection(
            &self.parameters,
            &self.place,
            room::bytes(),
        ))
    }

    /// Program, machine, and all that both are told, for people.
    pub(crate) fn told(&self) -> String {
        let told = self
            .parameters
            .iter()
            .map(|(name, value)| format!("{name} {value}"));
        let told = told
            .chain(self.place.changes().told())
            .collect::<Vec<_>>()
            .join(", ");
        format!("{} on {} with {told}", self.name(), self.place.name())
    }

    /// Bytes that a run holds: keys, answers, and the machine.
    pub(crate) fn bytes(&self) -> u64 {
        let cores = self.parameters.cores();
        let at_once = self.place.threads(cores).min(cores as usize);
        let held = self
            .parameters
            .program(self.seeds.first)
            .bytes(cores, at_once);
        held.saturating_add(u64::from(cores) * room::BYTES_OF_A_CORE)
    }

    /// Whether a run of it is a run of the other.
    pub(crate) fn is_same(&self, other: &Job) -> bool {
        let place = |job: &Job| (job.place.hash(), job.place.changes());
        self.name() == other.name()
            && self.parameters.values() == other.parameters.values()
            && self.seeds == other.seeds
            && self.place.name() == other.place.name()
            && place(self) == place(other)
    }

    /// The same with all cores of the first run traced.
    pub(crate) fn traced_whole(self) -> Job {
        Job {
            traced: self.parameters.cores(),
            ..self
        }
    }

    /// The same on so many threads of this computer.
    pub(crate) fn on_threads(self, threads: usize) -> Job {
        Job {
            place: self.place.on_threads(threads),
            ..self
        }
    }

    /// The same with the first run traced.
    ///
    /// # Errors
    /// When the place cannot trace.
    pub fn traced(self) -> Result<Job, LabError> {
        match self.place {
            Place::Machine(..) => Ok(Job {
                traced: MOST_TRACED,
                ..self
            }),
            Place::Threads | Place::Driver => {
                let name = self.place.name();
                let why = format!("--trace shows a simulated machine; {name} is not traced");
                Err(LabError::usage(why))
            }
        }
    }

    /// All that it is told.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Where it runs.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// From which seeds.
    pub fn seeds(&self) -> Seeds {
        self.seeds
    }

    /// Runs it, from each seed once.
    ///
    /// # Errors
    /// When a run does not end: stuck, stopped, or a bug.
    pub fn run(&self, observer: &Observer) -> Result<SimReport, LabError> {
        let runs = (0..self.seeds.runs).map(|run| self.run_once(run, observer));
        let runs = runs.collect::<Result<Vec<_>, _>>()?;
        let times: Vec<u64> = runs.iter().map(|run| run.ticks).collect();
        let cores = self.parameters.cores();
        Ok(SimReport {
            program: self.name(),
            machine: self.place.name().to_owned(),
            machine_hash: self.place.hash(),
            cores,
            parameters: self.parameters.clone(),
            changes: self.place.changes(),
            timing: self.parameters.program(self.seeds.first).timing(),
            time_us: Spread::of(&times, self.place.tick_fs()),
            wall_s: runs.iter().map(|run| run.wall_s).sum(),
            events: runs.iter().map(RunReport::events).sum(),
            peak_rss_bytes: node_real::peak_rss_bytes(),
            threads: self.place.threads(cores),
            note: self.note(&runs),
            runs,
        })
    }

    /// Runs it from one of its seeds, counted from zero.
    ///
    /// # Errors
    /// When the run does not end: stuck, stopped, or a bug.
    pub(crate) fn run_once(&self, run: u64, observer: &Observer) -> Result<RunReport, LabError> {
        let seed = self.seeds.first + run;
        let ground = Ground {
            place: &self.place,
            cores: self.parameters.cores(),
            traced: if run == 0 { self.traced } else { 0 },
            run,
            seed,
            observer,
        };
        self.parameters.program(seed).run(&ground)
    }

    /// What people should know of how it ran.
    fn note(&self, runs: &[RunReport]) -> Option<String> {
        let cores = self.parameters.cores();
        let is_sampled = self.traced > 0 && cores > self.traced;
        let shown = is_sampled.then(|| format!("the trace shows {}", sample(cores)));
        let notes: Vec<_> = self.one_block(runs).into_iter().chain(shown).collect();
        (!notes.is_empty()).then(|| notes.join("; "))
    }

    /// That threads could not help is told; the words do not depend on how many there were.
    fn one_block(&self, runs: &[RunReport]) -> Option<String> {
        let Place::Machine(profile, ..) = &self.place else {
            return None;
        };
        let simulated = runs.first()?.simulated.as_ref()?;
        (simulated.windows.blocks <= 1 && has_no_latency(profile)).then(|| {
            "without latency between blocks the machine ran as one block, on one thread".to_owned()
        })
    }
}

/// What passes a NIC needs another one that sends to it.
fn one_nic(program: &dyn Runnable, cores: u32, place: &Place) -> Option<String> {
    let each = place.cores_per_nic();
    (program.needs_two_nics() && cores <= each).then(|| {
        let (name, share) = (
            place.name(),
            if each == 1 {
                "has one"
            } else {
                "cores share one"
            },
        );
        let least = each + 1;
        format!("it needs a second NIC; on {name} {each} {share}, so ask for {least} or more cores")
    })
}

fn has_no_latency(profile: &Profile) -> bool {
    profile.link() + profile.switch() == Ticks(0)
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

    /// Else nothing is sent, and no time is a share of nothing.
    #[test]
    fn a_flood_needs_somebody_who_sends() {
        let alone = told("flood", "nanopu", &[("cores", 4), ("to", 0)]).unwrap();
        assert!(
            alone.contains("second NIC") && alone.contains("5 or more cores"),
            "{alone}"
        );
        assert!(told("flood", "threads", &[("cores", 1), ("to", 0)]).is_some());
        assert_eq!(told("flood", "nanopu", &[("cores", 5), ("to", 4)]), None);
        assert_eq!(told("flood", "nanopu", &[("cores", 4)]), None);
    }
}
