//! Estimates of memory and time before a run.
//!
//! ```text
//!   load of the program (messages, steps, bytes) --> at a measured rate --> seconds
//!                                                        ^                    |
//!               the same program, smaller: how fast is this computer? --------'  if that is long
//! ```
//!
//! A message takes about a microsecond, and more on a large machine, whose state is larger than
//! the caches. Rates differ between programs and computers, so before a long run a small one of the
//! same program, of some milliseconds, is timed. docs/simulating.md tells users the same.

use std::collections::BTreeMap;
use std::time::Instant;

use grain::Load;

use crate::job::{Job, Seeds};
use crate::memory;
use crate::observer::Observer;
use crate::parameters::Parameters;
use crate::place::Place;
use crate::program::CORES;

/// The expected time and memory of runs on this computer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Time in seconds.
    pub seconds: f64,
    /// Memory at the most, in bytes.
    pub bytes: u64,
}

/// Seconds of a message among few cores.
const OF_A_MESSAGE: f64 = 1e-6;

/// The share by which a message takes longer with twice as many cores, from [`FEW_CORES`] on. Measured
/// with `flood` and `nano-sort`: the caches hold a smaller part of the machine.
const OF_TWICE_THE_CORES: f64 = 0.12;
const FEW_CORES: f64 = 256.0;

const OF_A_STEP: f64 = 1e-9;

/// Memory of the process without a run.
const OF_THE_PROCESS: u64 = 9 << 20;

/// Runs that are shorter are not worth a trial of the same program.
const WORTH_A_TRIAL: f64 = 2.0;

const CORES_OF_A_TRIAL: u64 = 64;

/// The most messages of a trial.
const COST_OF_A_TRIAL: u64 = 20_000;

/// A computer, or a program, is at most this many times as fast or slow as the measured ones. A
/// trial that differs by more was disturbed.
const MOST_FACTOR: f64 = 8.0;

impl Job {
    /// The estimate for all its runs; `None` if the program does not know its load, or runs on
    /// real nodes.
    pub fn estimate(&self) -> Option<Estimate> {
        let of_one = self.rough()?;
        let runs = self.seeds().runs as f64;
        let factor = if of_one.seconds * runs > WORTH_A_TRIAL {
            self.factor()
        } else {
            1.0
        };
        Some(Estimate {
            seconds: of_one.seconds * runs * factor,
            ..of_one
        })
    }

    /// The estimate for one run at the measured rates.
    pub(crate) fn rough(&self) -> Option<Estimate> {
        let Place::Machine(..) = self.place() else {
            return None;
        };
        let (load, cores) = (self.load()?, self.parameters().cores());
        let threads = self.place().threads(cores).clamp(1, cores.max(1) as usize);
        Some(Estimate {
            seconds: seconds(load, cores) / threads as f64,
            bytes: OF_THE_PROCESS.saturating_add(load.bytes),
        })
    }

    /// How many times slower a small run of the program is than at the measured rates.
    pub(crate) fn factor(&self) -> f64 {
        self.timed()
            .unwrap_or(1.0)
            .clamp(1.0 / MOST_FACTOR, MOST_FACTOR)
    }

    fn timed(&self) -> Option<f64> {
        let small = self.small()?;
        let expected = small.rough()?.seconds;
        // The first run of a process also loads code and grows the heap.
        let observer = Observer::default();
        small.run_once(0, &observer).ok()?;
        let begin = Instant::now();
        small.run_once(0, &observer).ok()?;
        Some(begin.elapsed().as_secs_f64() / expected)
    }

    /// The same program on fewer cores, with smaller options where that is not enough.
    fn small(&self) -> Option<Job> {
        const OPTIONS: [&str; 5] = ["keys-per-core", "messages", "queries", "rounds", "keys"];
        let cores = u64::from(self.parameters().cores());
        let mut parameters = self
            .parameters()
            .with(CORES, cores.min(CORES_OF_A_TRIAL))
            .ok()?;
        let mut job = self.of(&parameters);
        for option in OPTIONS {
            while let Some(value) = parameters.find(option).filter(|value| *value > 1) {
                if job
                    .as_ref()
                    .is_some_and(|job| job.cost() <= COST_OF_A_TRIAL)
                {
                    return job;
                }
                parameters = parameters.with(option, value / 2).ok()?;
                job = self.of(&parameters).or(job);
            }
        }
        job.filter(|job| job.cost() <= COST_OF_A_TRIAL)
    }

    fn of(&self, parameters: &Parameters) -> Option<Job> {
        let seeds = Seeds {
            runs: 1,
            ..self.seeds()
        };
        Job::planned(parameters.clone(), self.place().clone(), seeds).ok()
    }
}

/// The estimate for all runs of these jobs, up to `workers` at once; `None` if no job has one. Jobs
/// without a known load are left out.
pub(crate) fn of_all(jobs: &[Job], workers: usize) -> Option<Estimate> {
    let rough = jobs.iter().filter_map(|job| Some((job, job.rough()?)));
    let rough: Vec<(&Job, Estimate)> = rough.collect();
    let largest = rough.iter().map(|(_, of_one)| of_one.bytes).max()?;
    let workers = workers.max(1);
    Some(Estimate {
        seconds: seconds_of_all(&rough) / workers as f64,
        bytes: at_once(&rough, workers).max(largest),
    })
}

/// Seconds of all runs, one after the other.
fn seconds_of_all(rough: &[(&Job, Estimate)]) -> f64 {
    let of = |(job, of_one): &(&Job, Estimate)| of_one.seconds * job.seeds().runs as f64;
    let is_short = rough.iter().map(of).sum::<f64>() <= WORTH_A_TRIAL;
    let mut factors = BTreeMap::new();
    let seconds = rough.iter().map(|one| {
        let name = one.0.name();
        let factor = *factors.entry(name).or_insert_with(|| {
            // The largest job of a program has the options that matter.
            let of_program = rough.iter().filter(|(job, _)| job.name() == name);
            let most = of_program.max_by(|one, other| of(one).total_cmp(&of(other)));
            most.filter(|_| !is_short)
                .map_or(1.0, |(job, _)| job.factor())
        });
        of(one) * factor
    });
    seconds.sum()
}

/// The memory of the largest runs that can be at once. Runs wait for memory, so together they take
/// no more than there is.
fn at_once(rough: &[(&Job, Estimate)], workers: usize) -> u64 {
    let of_run = |of_one: &Estimate| of_one.bytes.saturating_sub(OF_THE_PROCESS);
    let runs = rough.iter().flat_map(|(job, of_one)| {
        let runs = job.seeds().runs.min(workers as u64) as usize;
        std::iter::repeat_n(of_run(of_one), runs)
    });
    let mut runs: Vec<u64> = runs.collect();
    runs.sort_unstable_by(|one, other| other.cmp(one));
    let held = runs.iter().take(workers).sum::<u64>();
    OF_THE_PROCESS.saturating_add(held.min(memory::bytes().unwrap_or(u64::MAX)))
}

fn seconds(load: Load, cores: u32) -> f64 {
    let doublings = (f64::from(cores) / FEW_CORES).log2().max(0.0);
    let of_a_message = OF_A_MESSAGE * (1.0 + OF_TWICE_THE_CORES * doublings);
    load.received as f64 * of_a_message + load.steps as f64 * OF_A_STEP
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Changes, programs};

    fn job(program: &str, options: &[(&str, u64)]) -> Job {
        let listing = crate::programs()
            .iter()
            .find(|it| it.name == program)
            .unwrap();
        let place = Place::named(listing.machine, &Changes::default()).unwrap();
        let asked = Parameters::of(program, options.iter().copied()).unwrap();
        Job::new(asked, place, Seeds::default()).unwrap()
    }

    /// Progress and estimate rely on the number of messages.
    #[test]
    fn programs_know_their_messages() {
        let cases: [(&str, &[(&str, u64)]); 16] = [
            ("loopback", &[]),
            ("receive", &[("messages", 500)]),
            ("send", &[("messages", 500)]),
            ("merge-min", &[("cores", 256)]),
            ("milli-sort", &[]),
            ("milli-sort", &[("cores", 128), ("keys-per-core", 16)]),
            ("milli-sort", &[("cores", 32), ("keys-per-core", 512)]),
            ("nano-sort", &[]),
            ("nano-sort", &[("cores", 512), ("buckets", 8)]),
            ("nano-sort", &[("cores", 64), ("keys-per-core", 1024)]),
            ("flood", &[("cores", 256)]),
            ("flood", &[("cores", 64), ("to", 0)]),
            ("kv", &[]),
            ("kv", &[("servers", 8), ("messages", 64)]),
            ("set-algebra", &[("queries", 16)]),
            ("map-reduce", &[("rounds", 16)]),
        ];
        for (program, options) in cases {
            let job = job(program, options);
            let report = job.run_once(0, &Observer::default()).unwrap();
            let received = report.simulated.unwrap().counts.received as f64;
            let ratio = job.load().unwrap().received as f64 / received;
            assert!(
                (0.7..1.43).contains(&ratio),
                "{program} {options:?}: {ratio}"
            );
        }
    }

    #[test]
    fn every_program_of_cores_has_a_load() {
        for program in programs().iter().filter(|it| it.machine == "nanopu") {
            assert!(
                job(program.name, &[]).estimate().is_some(),
                "{}",
                program.name
            );
        }
    }

    #[test]
    fn a_trial_is_small_and_of_the_same_program() {
        let asked = [("cores", 16_384), ("keys-per-core", 64), ("buckets", 8)];
        let small = job("nano-sort", &asked).small().unwrap();
        assert!(small.cost() <= COST_OF_A_TRIAL, "{}", small.cost());
        assert_eq!(small.parameters().find("buckets"), Some(8));
        let factor = job("nano-sort", &asked).factor();
        assert!((1.0 / MOST_FACTOR..=MOST_FACTOR).contains(&factor));
        // Fewer cores have no core 5,000, so there is no trial.
        assert!(
            job("flood", &[("cores", 8192), ("to", 5000)])
                .small()
                .is_none()
        );
    }

    #[test]
    fn many_runs_add_up() {
        let one = job("flood", &[("cores", 64)]);
        let rough = one.rough().unwrap();
        let all = of_all(&[one.clone(), one], 1).unwrap();
        assert!((all.seconds / rough.seconds - 2.0).abs() < 1e-9);
        assert_eq!(all.bytes, rough.bytes, "one at a time");
    }
}
