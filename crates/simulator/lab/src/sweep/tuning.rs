//! A program's dials, searched for the reading with the shortest mean simulated time.
//!
//! All readings run on the same seeds, so their differences are paired. The best of many readings
//! is also the luckiest on these seeds; so it and the start run again on as many fresh seeds.

use std::time::Instant;

use machine::RunError;

use super::dial::{Choice, Dial, Reading, meant};
use super::report::{Confirmed, TuneReport};
use super::search::{self, Ended, Figures, Found, Measure, Outcome};
use crate::error::LabError;
use crate::estimate::Estimate;
use crate::job::{Job, Seeds};
use crate::observer::{Observer, Searched};
use crate::parameters::Parameters;
use crate::program::{Listing, Valued};
use crate::report::RunReport;
use crate::run_queue;
use crate::spread::of_ticks;

/// A search over the dials of a job's program.
#[derive(Clone, Debug)]
pub struct Tuning {
    start: Job,
    dials: Vec<Dial>,
    most: u64,
}

impl Tuning {
    /// A search that begins at the job's options and measures at most `most` readings. Each of
    /// `asked` is the name of a dial, or `NAME=V,V` with the values to try; without any the program's
    /// own dials are searched.
    ///
    /// # Errors
    /// A usage error if there are no dials, an option is unknown or a value is wrong.
    pub fn new(start: Job, asked: &[String], most: u64) -> Result<Tuning, LabError> {
        let all = Seeds {
            runs: start.seeds().runs.saturating_mul(2),
            ..start.seeds()
        };
        all.check()?;
        let dials = dials(start.parameters(), asked)?;
        Ok(Tuning { start, dials, most })
    }

    /// The dials in the order in which they are turned.
    pub fn dials(&self) -> impl Iterator<Item = &str> {
        self.dials.iter().map(|dial| dial.name.as_str())
    }

    /// The job with which the search begins.
    pub fn start(&self) -> &Job {
        &self.start
    }

    /// The estimate for as many readings as the limit allows, each like the first.
    pub fn estimate(&self) -> Option<Estimate> {
        // Start and best run once more.
        let readings = self.most.saturating_add(2) as f64;
        let of_one = self.start.estimate()?;
        Some(Estimate {
            seconds: of_one.seconds * readings,
            ..of_one
        })
    }

    /// Searches, and runs the start and the best again on fresh seeds.
    ///
    /// A search that is stopped ends with the readings that it has, and runs none again.
    ///
    /// # Errors
    /// If it is stopped before a reading has figures, or if no reading has figures.
    pub fn run(&self, observer: &Observer) -> Result<TuneReport, LabError> {
        let begin = Instant::now();
        let mut runs = Runs {
            tuning: self,
            observer,
            seen: Searched {
                readings: 0,
                most: self.most,
                best_us: None,
            },
        };
        observer.search(runs.seen);
        let start = self.reading();
        let most = usize::try_from(self.most).unwrap_or(usize::MAX);
        let Found { tried, best, ended } = search::search(&self.dials, start, most, &mut runs)?;
        if best.is_none() && ended == Ended::Stopped {
            return Err(LabError::Run(RunError::Stopped));
        }
        let Some(best) = best else {
            let why = tried[0].outcome.as_ref().err();
            let (name, why) = (self.start.name(), why.map_or("", String::as_str));
            return Err(LabError::usage(format!(
                "{name}: none of {} readings could be measured; the first: {why}",
                tried.len()
            )));
        };
        // As many seeds after those of the search.
        let Seeds { first, runs: each } = self.start.seeds();
        let fresh = Seeds {
            first: first + each,
            runs: each,
        };
        let both = [&tried[0].reading, &tried[best].reading].map(Clone::clone);
        let distinct = if best == 0 { &both[..1] } else { &both[..] };
        let confirmed = match ended {
            Ended::Stopped => None,
            Ended::Settled | Ended::Limit => unless_stopped(runs.of(distinct, fresh))?,
        };
        Ok(TuneReport {
            start: self.start.clone(),
            dials: self.dials().map(str::to_owned).collect(),
            most: self.most,
            ended,
            best,
            parameters: self.with(&tried[best].reading)?,
            tried,
            confirmed: confirmed.map(|outcomes| Confirmed::new(fresh, outcomes)),
            wall_s: begin.elapsed().as_secs_f64(),
        })
    }

    fn reading(&self) -> Reading {
        let parameters = self.start.parameters();
        let words = self.dials().map(|dial| parameters.word(dial));
        words.map(|word| Choice::of(word.as_deref())).collect()
    }

    /// The start's options with the values of a reading.
    fn with(&self, reading: &Reading) -> Result<Parameters, LabError> {
        let values = self.dials().zip(reading.iter().map(Choice::word));
        self.start.parameters().turned(&values.collect::<Vec<_>>())
    }

    /// The job of a reading, or why it is refused.
    fn job(&self, reading: &Reading, seeds: Seeds) -> Result<Job, String> {
        let job = self
            .with(reading)
            .and_then(|parameters| self.start.with(parameters, seeds));
        let name = format!("{}: ", self.start.name());
        job.map_err(|error| error.to_string().replacen(&name, "", 1))
    }
}

/// The dials that are asked for, or those of the program.
fn dials(start: &Parameters, asked: &[String]) -> Result<Vec<Dial>, LabError> {
    let known = start.listing().choices();
    let mut dials: Vec<Dial> = Vec::new();
    for asked in asked {
        let refused = |why: String| LabError::usage(format!("--dial {asked}: {why}"));
        let dial = dial(start, &known, asked).map_err(refused)?;
        if dials.iter().any(|known| known.name == dial.name) {
            return Err(refused(format!("{} is given twice", dial.name)));
        }
        dials.push(dial);
    }
    if asked.is_empty() {
        let own = start.facts().dials.into_iter();
        dials.extend(own.map(|(name, _)| Dial {
            name: name.to_owned(),
            values: Vec::new(),
        }));
    }
    if dials.is_empty() {
        return Err(LabError::usage(format!(
            "{} has no dials of its own; name options with --dial: {}",
            start.listing().name,
            names(&known)
        )));
    }
    Ok(dials)
}

/// A dial by `NAME` or `NAME=V,V`, or why it is none.
fn dial(start: &Parameters, known: &[Valued], asked: &str) -> Result<Dial, String> {
    let split = asked.split_once('=');
    let (name, values) = split.map_or((asked, None), |(name, values)| (name, Some(values)));
    let Some((_, words)) = known.iter().find(|(known, _)| known == name) else {
        let meant = meant(name, known.iter().map(|(name, _)| name.as_str()));
        let meant = meant.map_or_else(String::new, |meant| format!("; did you mean {meant}?"));
        let (program, names) = (start.listing().name, names(known));
        return Err(format!(
            "{program} has no option '{name}' with a value{meant} (there are {names})"
        ));
    };
    // As far as the present value tells.
    let is_number = start.word(name).is_none_or(|it| it.parse::<u64>().is_ok());
    let values = match values {
        Some(values) => {
            let values = values.split(',');
            let listed = values.map(|value| listed(start.listing(), name, value.trim()));
            let listed: Result<_, LabError> = listed.collect();
            listed.map_err(|error| error.to_string())?
        }
        None if !words.is_empty() || is_number => {
            words.iter().map(|word| Choice::of(Some(word))).collect()
        }
        None => {
            let why = "it is no number, so give the values to try";
            return Err(format!("{why}: --dial {name}=V,V"));
        }
    };
    Ok(Dial {
        name: name.to_owned(),
        values,
    })
}

fn names(known: &[Valued]) -> String {
    let names: Vec<_> = known.iter().map(|(name, _)| name.as_str()).collect();
    names.join(", ")
}

fn listed(program: &Listing, dial: &str, value: &str) -> Result<Choice, LabError> {
    let given = Choice::of(Some(value));
    if given.word().is_none() {
        return Ok(given);
    }
    Parameters::check_value(program, dial, &value)?;
    // 1K and 1024 are one value.
    let alone = Parameters::with_options(program, [(dial, value)]);
    let word = alone.ok().and_then(|alone| alone.word(dial));
    Ok(word.map_or(given, |word| Choice::of(Some(&word))))
}

/// Runs readings for a search.
struct Runs<'a> {
    tuning: &'a Tuning,
    observer: &'a Observer,
    seen: Searched,
}

impl Runs<'_> {
    /// Runs readings on these seeds. A reading that is refused, does not end or fails its check has
    /// no figures.
    fn of(&self, readings: &[Reading], seeds: Seeds) -> Result<Vec<Outcome>, LabError> {
        let planned = readings.iter();
        let planned: Vec<_> = planned
            .map(|reading| self.tuning.job(reading, seeds))
            .collect();
        let jobs: Vec<Job> = planned.iter().flatten().cloned().collect();
        let start = &self.tuning.start;
        let workers = start.place().threads(start.parameters().cores());
        let mut ended = run_queue::each(&jobs, self.observer, workers)?.into_iter();
        let outcome = |planned: Result<Job, String>| {
            let job = planned?;
            match ended.next().expect("a result for each job") {
                Ok(runs) => figures(&job, &runs),
                Err(error) => Err(error.to_string()),
            }
        };
        Ok(planned.into_iter().map(outcome).collect())
    }
}

impl Measure for Runs<'_> {
    type Error = LabError;

    fn number(&self, reading: &Reading, dial: usize) -> Option<u64> {
        let name = self.tuning.dials[dial].name.as_str();
        let parameters = self.tuning.with(reading).ok()?;
        let known = parameters.facts().dials;
        let known = known.into_iter().find(|(dial, _)| *dial == name);
        known.map_or_else(
            || reading[dial].word()?.parse().ok(),
            |(_, number)| Some(number.into()),
        )
    }

    fn measure(&mut self, readings: &[Reading]) -> Result<Option<Vec<Outcome>>, LabError> {
        let outcomes = unless_stopped(self.of(readings, self.tuning.start.seeds()))?;
        let Some(outcomes) = outcomes else {
            return Ok(None);
        };
        self.seen.readings += readings.len() as u64;
        for figures in outcomes.iter().flatten() {
            let (best, mean) = (self.seen.best_us, figures.time_us.mean);
            self.seen.best_us = Some(best.map_or(mean, |best| best.min(mean)));
        }
        self.observer.search(self.seen);
        Ok(Some(outcomes))
    }
}

/// The measurements, or `None` if the search was told to stop.
fn unless_stopped<T>(measured: Result<T, LabError>) -> Result<Option<T>, LabError> {
    match measured {
        Err(LabError::Run(RunError::Stopped)) => Ok(None),
        measured => measured.map(Some),
    }
}

/// The figures of a job's runs, or the fault of the first that is wrong.
fn figures(job: &Job, runs: &[RunReport]) -> Outcome {
    let fault = |run: &RunReport| {
        let fault = run.verdict.fault.as_ref()?;
        Some(format!("the check of seed {} failed: {fault}", run.seed))
    };
    if let Some(fault) = runs.iter().find_map(fault) {
        return Err(fault);
    }
    let ticks: Vec<u64> = runs.iter().map(|run| run.ticks).collect();
    let counted = runs.iter().map(|run| run.simulated.as_ref());
    let counted: Option<Vec<_>> = counted
        .map(|simulated| Some(simulated?.counts.messages))
        .collect();
    Ok(Figures {
        time_us: of_ticks(&ticks, job.place().tick_fs()),
        messages: counted.map(|counted| counted.iter().sum::<u64>() as f64 / runs.len() as f64),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Changes, Place};

    fn tuning(program: &str, asked: &[&str]) -> Result<Tuning, LabError> {
        let place = Place::named("nanopu", &Changes::default()).unwrap();
        let parameters = Parameters::of(program, [("cores", 16)]).unwrap();
        let job = Job::new(parameters, place, Seeds { first: 3, runs: 2 })?;
        let asked: Vec<_> = asked.iter().map(|asked| (*asked).to_owned()).collect();
        Tuning::new(job, &asked, 60)
    }

    fn told(program: &str, asked: &[&str]) -> String {
        tuning(program, asked).unwrap_err().to_string()
    }

    #[test]
    fn dials_are_those_of_the_program_or_given() {
        let names = |tuning: Tuning| tuning.dials().map(str::to_owned).collect::<Vec<_>>();
        let own = names(tuning("nano-sort", &[]).unwrap());
        assert_eq!(own, ["buckets", "incast", "burst", "rows", "pivot-keys"]);
        let given = tuning("nano-sort", &["exchange", "incast=default,1K,1024", "rows"]).unwrap();
        let values = |dial: usize| given.dials[dial].values.clone();
        let some = |word| Choice::of(Some(word));
        assert_eq!(values(0), [some("buckets"), some("keys")]);
        assert_eq!(values(1), [Choice::of(None), some("1024"), some("1024")]);
        assert!(given.dials[2].values.is_empty());
        assert_eq!(given.reading(), [None; 3].map(Choice::of));
    }

    #[test]
    fn wrong_dials_are_told() {
        let none = told("local-sort", &[]);
        assert!(none.contains("--dial: cores, keys-per-core, "), "{none}");
        let misspelt = told("merge-min", &["incats"]);
        assert!(misspelt.contains("did you mean incast?"), "{misspelt}");
        assert!(misspelt.contains("(there are cores, "), "{misspelt}");
        let value = told("merge-min", &["incast=4,x"]);
        assert!(value.contains("--dial incast=4,x: "), "{value}");
        let twice = told("merge-min", &["incast=4", "incast"]);
        assert!(twice.contains("given twice"), "{twice}");
    }

    #[test]
    fn the_best_runs_again_on_fresh_seeds() {
        let report = tuning("merge-min", &["incast=1,4,16"]).unwrap();
        let report = report.run(&Observer::default()).unwrap();
        let values: Vec<_> = report
            .tried
            .iter()
            .map(|it| it.reading[0].clone())
            .collect();
        assert_eq!(
            values,
            ["8", "1", "4", "16"].map(|value| Choice::of(Some(value)))
        );
        assert_eq!(report.ended, Ended::Settled);
        let confirmed = report.confirmed.unwrap();
        assert_eq!(confirmed.seeds, Seeds { first: 5, runs: 2 });
        let best = report.tried[report.best].outcome.as_ref().unwrap();
        let means = report
            .tried
            .iter()
            .map(|it| it.outcome.as_ref().unwrap().time_us.mean);
        assert_eq!(Some(best.time_us.mean), means.reduce(f64::min));
        let chosen = report.tried[report.best].reading[0].word();
        assert_eq!(report.parameters.word("incast"), chosen);
    }

    #[test]
    fn keys_of_all_cores_stay_when_cores_are_turned() {
        let start = Parameters::of("nano-sort", [("cores", 16), ("keys", 1024)]).unwrap();
        let some = |word: &str| Some(word.to_owned());
        let turned = |values: &[(&str, Option<String>)]| {
            let turned = start.turned(values).unwrap();
            ["cores", "keys", "keys-per-core", "incast"].map(|name| turned.find(name))
        };
        let cores = turned(&[("cores", some("64")), ("incast", some("4"))]);
        assert_eq!(cores, [Some(64), Some(1024), Some(16), Some(4)]);
        let each = turned(&[("keys-per-core", some("8"))]);
        assert_eq!(each, [Some(16), None, Some(8), None]);
        let given = start.turned(&[("incast", some("4"))]).unwrap();
        let given = given.given();
        let word = |name, value: &str| (name, value.to_owned());
        assert_eq!(
            given,
            [
                word("cores", "16"),
                word("keys", "1024"),
                word("incast", "4")
            ]
        );
    }
}
