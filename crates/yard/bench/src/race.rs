//! A race: every contender runs once a round, and each round begins with another one.
//!
//! A machine's noise is larger than the differences of interest. So no time stands alone: the first
//! contender is a floor (a copy of the same bytes), and all of them see the same noise.
//!
//! ```text
//! round 1   floor  a  b  c
//! round 2          a  b  c  floor
//! round 3             b  c  floor  a        > median of each, and its ratio to the floor's
//! ```

use serde_json::{Map, Value};
use terminal::ending::failure::CliFailure;

pub struct Run {
    /// Its time; `None` from a contender that has left the race.
    pub seconds: Option<f64>,
    /// Further figures, as an object.
    pub figures: Value,
}

impl From<f64> for Run {
    fn from(seconds: f64) -> Run {
        Run {
            seconds: Some(seconds),
            ..Run::none()
        }
    }
}

impl Run {
    /// The turn of a contender that has left the race.
    pub fn none() -> Run {
        let (seconds, figures) = (None, Value::Null);
        Run { seconds, figures }
    }
}

type Work<'a, C> = Box<dyn FnMut(&mut C) -> Result<Run, CliFailure> + 'a>;

/// Contenders that measure in a common context `C`, the floor first.
pub struct Race<'a, C> {
    contenders: Vec<(Row, Work<'a, C>)>,
}

impl<'a, C> Race<'a, C> {
    /// A race without contenders.
    pub fn new() -> Race<'a, C> {
        let contenders = Vec::new();
        Race { contenders }
    }

    /// Adds a contender. `command` says what it runs: a command line, or a call.
    pub fn enter<R: Into<Run>>(
        &mut self,
        name: impl Into<String>,
        command: impl Into<String>,
        mut run: impl FnMut(&mut C) -> Result<R, CliFailure> + 'a,
    ) {
        let work: Work<'a, C> = Box::new(move |context| run(context).map(Into::into));
        self.contenders.push((Row::new(name, command), work));
    }

    /// Runs every contender `runs` times, in turns.
    ///
    /// # Errors
    /// The first failure of a contender, which ends the race.
    pub fn run(mut self, runs: u16, context: &mut C) -> Result<Vec<Row>, CliFailure> {
        for number in 0..usize::from(runs) {
            self.round(number, context)?;
        }
        Ok(self.into_rows())
    }

    /// Runs every contender once. The number of the round decides which one begins.
    ///
    /// # Errors
    /// The first failure of a contender.
    pub fn round(&mut self, number: usize, context: &mut C) -> Result<(), CliFailure> {
        let count = self.contenders.len();
        for turn in 0..count {
            let (row, work) = &mut self.contenders[(number + turn) % count];
            let run = work(context)?;
            row.seconds.extend(run.seconds);
            row.add(run.figures);
        }
        Ok(())
    }

    /// The rows of all contenders, with the figures of their last runs.
    pub fn into_rows(self) -> Vec<Row> {
        self.contenders.into_iter().map(|(row, _)| row).collect()
    }
}

/// The measured times of one contender, and further figures.
#[derive(Clone, Debug)]
pub struct Row {
    /// The contender's name.
    pub name: String,
    /// The command line or call that was measured.
    pub command: String,
    /// Seconds of each run, in order.
    pub seconds: Vec<f64>,
    pub figures: Map<String, Value>,
}

impl Row {
    /// A row without times.
    pub fn new(name: impl Into<String>, command: impl Into<String>) -> Row {
        Row {
            name: name.into(),
            command: command.into(),
            seconds: Vec::new(),
            figures: Map::new(),
        }
    }

    /// Adds the figures of an object. A figure of the same name is replaced.
    pub fn add(&mut self, figures: Value) {
        if let Value::Object(figures) = figures {
            self.figures.extend(figures);
        }
    }

    /// A figure; 0 where the row has none of that name.
    pub fn figure(&self, name: &str) -> f64 {
        let figure = self.figures.get(name).and_then(Value::as_f64);
        figure.unwrap_or_default()
    }

    /// A figure as `show` writes it; a dash where the row has none of that name.
    pub fn shown(&self, name: &str, show: fn(&Value) -> Option<String>) -> String {
        let figure = self.figures.get(name).and_then(show);
        figure.unwrap_or_else(|| "-".to_owned())
    }

    /// The middle of its runs; not a number if all failed.
    pub fn median(&self) -> f64 {
        median(&self.seconds)
    }

    /// The shortest run.
    pub fn least(&self) -> f64 {
        self.seconds.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// The longest run.
    pub fn most(&self) -> f64 {
        self.seconds.iter().copied().fold(0.0, f64::max)
    }
}

/// The middle of some figures; of an even number, the mean of the two. Not a number if there are
/// none.
pub fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() % 2 {
        _ if sorted.is_empty() => f64::NAN,
        1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_begins_a_round_and_runs_as_often() {
        let mut race = Race::new();
        for number in 0..3 {
            race.enter("a", "b", move |order: &mut Vec<u8>| {
                order.push(number);
                Ok(f64::from(number))
            });
        }
        let mut order = Vec::new();
        let rows = race.run(3, &mut order).unwrap();
        assert_eq!(order, [0, 1, 2, 1, 2, 0, 2, 0, 1]);
        assert_eq!(rows[2].seconds, [2.0; 3]);
    }

    #[test]
    fn the_median_is_the_middle() {
        let mut row = Row::new("a", "b");
        row.seconds.extend([3.0, 1.0, 9.0]);
        assert_eq!((row.median(), row.least(), row.most()), (3.0, 1.0, 9.0));
        row.seconds.push(5.0);
        assert_eq!(row.median(), 4.0);
    }
}
