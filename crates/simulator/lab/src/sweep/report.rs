//! The report of a search over dials, and as JSON.
//!
//! Outside of `wall_s` and `threads` its bytes do not depend on the computer.

use serde_json::{Map, Value, json};

use super::dial::{Choice, Reading};
use super::search::{Ended, Figures, Outcome, Tried};
use crate::job::{Job, Seeds};
use crate::parameters::Parameters;
use crate::sim_report::{extend, told, versioned};

/// A search over the dials of a program.
#[derive(Clone, Debug)]
pub struct TuneReport {
    /// The job with which it began.
    pub start: Job,
    /// The dials by name, in the order in which they were turned.
    pub dials: Vec<String>,
    /// The limit of readings.
    pub most: u64,
    /// Why the search ended.
    pub ended: Ended,
    /// All readings in the order in which they ran; the first is the start.
    pub tried: Vec<Tried>,
    /// The place of the best reading.
    pub best: usize,
    /// The start and the best on fresh seeds, unless it was stopped before that.
    pub confirmed: Option<Confirmed>,
    /// Wall time of the search, in seconds.
    pub wall_s: f64,
    /// The program with the options of the best reading.
    pub parameters: Parameters,
}

/// The start and the best on seeds that the search did not use.
#[derive(Clone, Debug)]
pub struct Confirmed {
    /// These seeds.
    pub seeds: Seeds,
    /// The start.
    pub start: Outcome,
    /// The best reading.
    pub best: Outcome,
}

impl Confirmed {
    /// From the outcome of the start, and of the best if that is another reading.
    pub(crate) fn new(seeds: Seeds, outcomes: Vec<Outcome>) -> Confirmed {
        let mut outcomes = outcomes.into_iter();
        let start = outcomes.next().expect("the start ran");
        let best = outcomes.next().unwrap_or_else(|| start.clone());
        Confirmed { seeds, start, best }
    }

    /// The mean time of the best in that of the start, if both have one.
    pub fn ratio(&self) -> Option<f64> {
        let mean = |outcome: &Outcome| Some(outcome.as_ref().ok()?.time_us.mean);
        let start = mean(&self.start).filter(|start| *start > 0.0)?;
        Some(mean(&self.best)? / start)
    }
}

impl TuneReport {
    /// The report as JSON.
    pub fn to_json(&self) -> Value {
        let readings = self.tried.iter().map(|tried| self.reading(tried));
        let confirmation = self.confirmed.as_ref().map(|confirmed| {
            json!({
                "seeds": of_seeds(confirmed.seeds),
                "start": of_outcome(&confirmed.start),
                "best": of_outcome(&confirmed.best),
                "ratio": confirmed.ratio(),
            })
        });
        let (start, place) = (self.start.parameters(), self.start.place());
        let report = json!({
            "program": self.start.name(),
            "machine": place.name(),
            "machine_hash": place.hash().map(|hash| format!("{hash:016x}")),
            "parameters": told(start, &place.changes()),
            "dials": self.names().collect::<Vec<_>>(),
            "seeds": of_seeds(self.start.seeds()),
            "tries": self.most,
            "finished": self.ended == Ended::Settled,
            "stopped": self.confirmed.is_none(),
            "readings": readings.collect::<Vec<_>>(),
            "start": 0,
            "best": self.best,
            "confirmation": confirmation,
            "wall_s": self.wall_s,
            "threads": place.threads(start.cores()),
        });
        versioned(&report).expect("it is JSON")
    }

    fn reading(&self, tried: &Tried) -> Value {
        let mut value = json!({ "dials": self.values(&tried.reading) });
        extend(&mut value, of_outcome(&tried.outcome));
        value
    }

    /// The values of the dials, as numbers where they are some; `null` for an option left out.
    fn values(&self, reading: &Reading) -> Map<String, Value> {
        let of = |value: &Choice| {
            let word = value.word()?;
            let number = word.parse::<u64>().map(Value::from);
            Some(number.unwrap_or_else(|_| word.into()))
        };
        let values = reading.iter().map(|value| of(value).into());
        self.names().zip(values).collect()
    }

    /// The dials by the names of members.
    fn names(&self) -> impl Iterator<Item = String> {
        self.dials.iter().map(|name| name.replace('-', "_"))
    }
}

fn of_seeds(seeds: Seeds) -> Value {
    json!({ "first": seeds.first, "runs": seeds.runs })
}

fn of_outcome(outcome: &Outcome) -> Value {
    let figures = outcome.as_ref().ok();
    json!({
        "time_us": figures.map(|Figures { time_us, .. }| time_us),
        "messages": figures.and_then(|figures| figures.messages),
        "refused": outcome.as_ref().err(),
    })
}
