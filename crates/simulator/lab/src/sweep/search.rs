//! A search for the reading of some dials with the shortest mean time.
//!
//! ```text
//!   start --> dial by dial: a batch of readings --> measured, each once --> the best so far
//!               ^                                                              |
//!               '---- until a round over all dials changes nothing, ----------'
//!                     or the limit of readings is reached
//! ```
//!
//! A dial with values has all of them tried. A dial without values is a number: half and double are
//! tried while one of them is better, then about a fourth less and more. Of equal readings the first
//! one stays. Readings are known by their values alone: who measures them is behind [`Measure`].

use plot::Spread;

use super::dial::{Choice, Dial, Reading};

/// The time and the messages of a reading's runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// The program's time over the runs, in microseconds.
    pub time_us: Spread,
    /// Messages of a run on average; none on real nodes.
    pub messages: Option<f64>,
}

/// The figures of a reading, or why it has none.
pub type Outcome = Result<Figures, String>;

/// A reading with its outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// The values of the dials.
    pub reading: Reading,
    /// Its figures.
    pub outcome: Outcome,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// A round over all dials changed nothing.
    Settled,
    /// It had measured as many readings as it may.
    Limit,
    /// It was told to stop; readings that were running have no outcome.
    Stopped,
}

pub(crate) trait Measure {
    /// The error that ends the search.
    type Error;

    /// The number that a dial has in effect in a reading; `None` if it is not known.
    fn number(&self, reading: &Reading, dial: usize) -> Option<u64>;

    /// An outcome for each of the readings, in their order; `None` if it was told to stop.
    fn measure(&mut self, readings: &[Reading]) -> Result<Option<Vec<Outcome>>, Self::Error>;
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    /// All readings in the order in which they were measured; the first is the start.
    pub tried: Vec<Tried>,
    /// The place of the best; `None` if none has figures.
    pub best: Option<usize>,
    /// Why it ended.
    pub ended: Ended,
}

/// Searches from `start` on, with at most `most` readings.
///
/// # Errors
/// The error of a measurement that ends the search.
pub(crate) fn search<M: Measure>(
    dials: &[Dial],
    start: Reading,
    most: usize,
    measure: &mut M,
) -> Result<Found, M::Error> {
    let mut search = Search {
        dials,
        most: most.max(1),
        measure,
        tried: Vec::new(),
        best: 0,
        cut: None,
    };
    search.look(vec![start])?;
    while search.cut.is_none() && search.round()? {}
    let best = search.tried.get(search.best);
    let has_best = best.is_some_and(|best| best.outcome.is_ok());
    Ok(Found {
        best: has_best.then_some(search.best),
        ended: search.cut.unwrap_or(Ended::Settled),
        tried: search.tried,
    })
}

/// Values to try when a dial's present number is not known.
const SMALL: [u64; 5] = [1, 2, 4, 8, 16];

/// How far from its present number a dial is tried.
#[derive(Clone, Copy)]
enum Step {
    /// Half and double.
    Coarse,
    /// About a fourth less and more.
    Fine,
}

impl Step {
    /// The numbers to try, from 1.
    fn from(self, number: u64) -> Vec<u64> {
        let [less, more] = match self {
            Step::Coarse => [number / 2, number.saturating_mul(2)],
            Step::Fine => {
                let fourth = (number.saturating_add(2) / 4).max(1);
                [number.saturating_sub(fourth), number.saturating_add(fourth)]
            }
        };
        let differs = |tried: &u64| *tried > 0 && *tried != number;
        [less, more].into_iter().filter(differs).collect()
    }
}

struct Search<'a, M> {
    dials: &'a [Dial],
    /// The limit of readings.
    most: usize,
    measure: &'a mut M,
    tried: Vec<Tried>,
    /// The place of the best so far, from which the search goes on.
    best: usize,
    /// Why it ends before a round changes nothing.
    cut: Option<Ended>,
}

impl<M: Measure> Search<'_, M> {
    /// Turns all dials; returns whether one of them moved.
    fn round(&mut self) -> Result<bool, M::Error> {
        let mut moved = false;
        for dial in 0..self.dials.len() {
            if self.cut.is_none() {
                moved |= self.turn(dial)?;
            }
        }
        Ok(moved)
    }

    fn turn(&mut self, dial: usize) -> Result<bool, M::Error> {
        let values = &self.dials[dial].values;
        if !values.is_empty() {
            let readings = self.others(dial, values);
            return self.look(readings);
        }
        let mut moved = false;
        while self.cut.is_none() && self.step(dial, Step::Coarse)? {
            moved = true;
        }
        Ok(self.cut.is_none() && self.step(dial, Step::Fine)? || moved)
    }

    fn step(&mut self, dial: usize, step: Step) -> Result<bool, M::Error> {
        let present = self.measure.number(self.present(), dial);
        let numbers = present.map_or_else(|| SMALL.to_vec(), |number| step.from(number));
        let values: Vec<_> = numbers
            .iter()
            .map(|number| Choice::of(Some(&number.to_string())))
            .collect();
        let readings = self.others(dial, &values);
        self.look(readings)
    }

    fn present(&self) -> &Reading {
        &self.tried[self.best].reading
    }

    /// The present reading with each of these values for a dial, without those that have the effect
    /// of the present value: beyond the end of its range a dial has none.
    fn others(&self, dial: usize, values: &[Choice]) -> Vec<Reading> {
        let number = |reading: &Reading| self.measure.number(reading, dial);
        let present = number(self.present());
        let with = |value: &Choice| {
            let mut reading = self.present().clone();
            reading[dial].clone_from(value);
            reading
        };
        let differs = |reading: &Reading| present.is_none() || number(reading) != present;
        values.iter().map(with).filter(differs).collect()
    }

    /// Measures those of the readings that are new, as far as the limit allows, and moves to the
    /// best of all; returns whether it moved.
    fn look(&mut self, readings: Vec<Reading>) -> Result<bool, M::Error> {
        let mut new: Vec<Reading> = Vec::new();
        for reading in readings {
            let is_known = self.tried.iter().any(|tried| tried.reading == reading);
            if !is_known && !new.contains(&reading) {
                new.push(reading);
            }
        }
        let left = self.most - self.tried.len();
        if new.len() > left {
            self.cut = Some(Ended::Limit);
        }
        new.truncate(left);
        if new.is_empty() {
            return Ok(false);
        }
        let Some(outcomes) = self.measure.measure(&new)? else {
            self.cut = Some(Ended::Stopped);
            return Ok(false);
        };
        let tried = new.into_iter().zip(outcomes);
        let before = self.best;
        for (reading, outcome) in tried {
            self.tried.push(Tried { reading, outcome });
            let last = self.tried.len() - 1;
            if self.mean(last) < self.mean(self.best) {
                self.best = last;
            }
        }
        Ok(self.best != before)
    }

    /// The mean time of a reading; without figures it is longer than any.
    fn mean(&self, tried: usize) -> f64 {
        let outcome = &self.tried[tried].outcome;
        outcome
            .as_ref()
            .map_or(f64::INFINITY, |figures| figures.time_us.mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A time as a function of the dials' numbers; `None` is refused.
    struct Of<F> {
        time: F,
        measured: Vec<Reading>,
        /// The number of a dial that is left out.
        left_out: Option<u64>,
        batches: usize,
        most_batches: usize,
    }

    impl<F: Fn(&[u64]) -> Option<f64>> Of<F> {
        fn new(time: F) -> Of<F> {
            Of {
                time,
                measured: Vec::new(),
                left_out: None,
                batches: 0,
                most_batches: usize::MAX,
            }
        }
    }

    impl<F: Fn(&[u64]) -> Option<f64>> Measure for Of<F> {
        type Error = &'static str;

        fn number(&self, reading: &Reading, dial: usize) -> Option<u64> {
            let value = reading[dial].word();
            value.map_or(self.left_out, |value| value.parse().ok())
        }

        fn measure(&mut self, readings: &[Reading]) -> Result<Option<Vec<Outcome>>, &'static str> {
            self.batches += 1;
            if self.batches > self.most_batches {
                return Ok(None);
            }
            let mut outcomes = Vec::new();
            for reading in readings {
                let numbers: Vec<u64> = (0..reading.len())
                    .map(|dial| self.number(reading, dial).unwrap_or(0))
                    .collect();
                let figures = |mean| Figures {
                    time_us: Spread {
                        mean,
                        sd: 0.0,
                        min: mean,
                        max: mean,
                    },
                    messages: None,
                };
                let time = (self.time)(&numbers).map(figures);
                outcomes.push(time.ok_or_else(|| "refused".to_owned()));
                self.measured.push(reading.clone());
            }
            Ok(Some(outcomes))
        }
    }

    fn dial(name: &str, values: Option<&[&str]>) -> Dial {
        let values = values.unwrap_or_default().iter();
        Dial {
            name: name.to_owned(),
            values: values.map(|value| Choice::of(Some(value))).collect(),
        }
    }

    fn near(names: [&str; 2]) -> Vec<Dial> {
        names.map(|name| dial(name, None)).to_vec()
    }

    fn reading(numbers: &[u64]) -> Reading {
        numbers
            .iter()
            .map(|number| Choice::of(Some(&number.to_string())))
            .collect()
    }

    fn best(found: &Found) -> &[Choice] {
        &found.tried[found.best.unwrap()].reading
    }

    /// Least at 12 and 3, and convex in the logarithms of both.
    fn bowl(numbers: &[u64]) -> Option<f64> {
        let [x, y] = [numbers[0] as f64, numbers[1] as f64].map(f64::ln);
        Some(10.0 + (x - 12_f64.ln()).powi(2) + (y - 3_f64.ln()).powi(2) + (x - y).powi(2) / 99.0)
    }

    fn is_each_once(measured: &[Reading]) -> bool {
        let mut known: Vec<_> = measured.iter().map(|it| format!("{it:?}")).collect();
        known.sort();
        known.dedup();
        known.len() == measured.len()
    }

    #[test]
    fn the_least_of_a_bowl_is_found() {
        let mut of = Of::new(bowl);
        let found = search(&near(["x", "y"]), reading(&[64, 64]), 200, &mut of).unwrap();
        assert_eq!(best(&found), reading(&[12, 3]));
        for start in [[1, 1], [64, 64], [12, 3], [100, 1], [7, 1000]] {
            let mut of = Of::new(bowl);
            let found = search(&near(["x", "y"]), reading(&start), 200, &mut of).unwrap();
            assert!(found.ended == Ended::Settled);
            // The last step is about a fourth, so the least is found to a fourth.
            let number = |value: &Choice| value.word().unwrap().parse::<u64>().unwrap();
            let [x, y] = [0, 1].map(|dial| number(&best(&found)[dial]));
            assert!((10..=14).contains(&x) && y == 3, "{x}, {y} from {start:?}");
            assert!(is_each_once(&of.measured), "{:?}", of.measured);
            let measured: Vec<_> = found.tried.iter().map(|it| it.reading.clone()).collect();
            assert_eq!(measured, of.measured);
            assert_eq!(measured[0], reading(&start));
        }
    }

    #[test]
    fn the_limit_is_kept() {
        let start = || reading(&[64, 64]);
        let whole = search(&near(["x", "y"]), start(), 200, &mut Of::new(bowl)).unwrap();
        let whole = whole.tried.len();
        for most in 1..whole + 3 {
            let mut of = Of::new(bowl);
            let found = search(&near(["x", "y"]), start(), most, &mut of).unwrap();
            assert_eq!(found.tried.len(), most.min(whole));
            assert_eq!(found.ended == Ended::Settled, most >= whole);
            let least = |tried: &Tried| tried.outcome.as_ref().unwrap().time_us.mean;
            let means: Vec<f64> = found.tried.iter().map(least).collect();
            let best = means[found.best.unwrap()];
            assert!(means.iter().all(|mean| *mean >= best));
        }
    }

    #[test]
    fn what_is_refused_is_passed_over() {
        // Beyond 20 nothing runs, and 12 is refused, too.
        let time = |numbers: &[u64]| {
            let runs = numbers[0] <= 20 && numbers[0] != 12;
            bowl(numbers).filter(|_| runs)
        };
        let mut of = Of::new(time);
        let found = search(&near(["x", "y"]), reading(&[16, 4]), 200, &mut of).unwrap();
        assert_eq!(best(&found)[1], Choice::of(Some("3")));
        let refused = found.tried.iter().filter(|tried| tried.outcome.is_err());
        assert!(refused.count() >= 2, "{:?}", found.tried);
        // A start that is refused is left.
        let found = search(
            &near(["x", "y"]),
            reading(&[32, 4]),
            200,
            &mut Of::new(time),
        )
        .unwrap();
        assert!(found.tried[0].outcome.is_err() && found.best.is_some());
        let none = |_: &[u64]| None;
        let found = search(&near(["x", "y"]), reading(&[8, 8]), 200, &mut Of::new(none)).unwrap();
        assert_eq!(
            (found.best, found.tried.len(), found.ended == Ended::Settled),
            (None, 9, true)
        );
    }

    #[test]
    fn given_values_are_the_only_ones() {
        let dials = [dial("x", Some(&["8", "10", "14"])), dial("y", None)];
        let mut of = Of::new(bowl);
        let found = search(&dials, reading(&[100, 3]), 200, &mut of).unwrap();
        assert_eq!(best(&found), reading(&[14, 3]));
        let tried = |reading: &Reading| reading[0].word().unwrap().parse::<u64>().unwrap();
        let tried: Vec<_> = of.measured.iter().map(tried).collect();
        assert!(
            tried.iter().all(|x| [100, 8, 10, 14].contains(x)),
            "{tried:?}"
        );
        assert!(is_each_once(&of.measured));
    }

    #[test]
    fn a_dial_that_is_left_out_has_the_number_in_effect() {
        let start = || vec![Choice::of(None), Choice::of(Some("3"))];
        let mut of = Of::new(bowl);
        of.left_out = Some(12);
        let found = search(&near(["x", "y"]), start(), 200, &mut of).unwrap();
        assert_eq!(best(&found), start());
        // Without a known number small powers of two are tried first.
        let mut of = Of::new(|numbers: &[u64]| bowl(&[numbers[0].max(1), numbers[1]]));
        let found = search(&near(["x", "y"]), start(), 200, &mut of).unwrap();
        assert_eq!(best(&found), reading(&[12, 3]));
        assert_eq!(
            of.measured[1..6],
            [1, 2, 4, 8, 16].map(|x| reading(&[x, 3]))
        );
    }

    #[test]
    fn of_equal_readings_the_first_stays() {
        let mut of = Of::new(|_: &[u64]| Some(1.0));
        let found = search(&near(["x", "y"]), reading(&[8, 1]), 200, &mut of).unwrap();
        assert_eq!(found.best, Some(0));
        // Half, double, 6 and 10; double, which is one more, too.
        assert_eq!(of.measured.len(), 6);
    }

    #[test]
    fn a_search_that_is_stopped_keeps_its_readings() {
        let mut of = Of::new(bowl);
        of.most_batches = 2;
        let found = search(&near(["x", "y"]), reading(&[64, 64]), 200, &mut of).unwrap();
        assert_eq!(found.ended, Ended::Stopped);
        let readings: Vec<_> = found.tried.into_iter().map(|tried| tried.reading).collect();
        assert_eq!(readings, of.measured);
        assert!(readings.len() > 1 && found.best.is_some());
        of.most_batches = 0;
        let found = search(&near(["x", "y"]), reading(&[64, 64]), 200, &mut of).unwrap();
        assert_eq!((found.tried.len(), found.best), (0, None));
    }
}
