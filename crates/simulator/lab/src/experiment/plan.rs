//! A plan: the jobs that an experiment needs at a size, each once, and what is read from them.
//!
//! ```text
//!   series, at each value --.
//!   line with a program ----+--> recipe --> job --> equal to an earlier one? --> its number
//!   line of a series, breakdown --> the numbers of the series' points
//! ```
//!
//! Plans of both sizes are made when a file is read, so what cannot run is reported before anything
//! runs, for all points of all tables.

use super::line::Line;
use super::measure::Taken;
use super::mistake::{Mistakes, Table, Tell, unknown};
use super::recipe::{Recipe, Scalar};
use super::series::Series;
use super::{Experiment, Size};
use crate::job::{Job, Seeds};

/// Jobs, and what is read from them.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    pub jobs: Vec<Job>,
    /// Points of each series by ascending x.
    pub points: Vec<Vec<PlannedPoint<'a>>>,
    /// Source of each line's figure; `None` if its point does not run at smoke size.
    pub sources: Vec<Option<Source<'a>>>,
    /// The job that is drawn core by core.
    pub breakdown: Option<usize>,
    seeds: Seeds,
}

/// A point of a series.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlannedPoint<'a> {
    /// Its place in `over`.
    pub place: usize,
    pub x: f64,
    pub read: Read<'a>,
}

/// A value from the runs of a job.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read<'a> {
    pub job: usize,
    pub taken: Taken<'a>,
}

/// The source of a line's figure.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source<'a> {
    /// A number of the file.
    Constant(f64),
    One(Read<'a>),
    Two([Read<'a>; 2]),
    /// All points of a series.
    Curve(usize),
}

impl<'a> Plan<'a> {
    /// The plan of an experiment. Tables with mistakes are left out, and what cannot run is added
    /// to them.
    pub(super) fn new(of: &'a Experiment, size: Size, mistakes: &mut Mistakes) -> Plan<'a> {
        let mut plan = Plan {
            jobs: Vec::new(),
            points: Vec::new(),
            sources: Vec::new(),
            breakdown: None,
            seeds: of.seeds(size),
        };
        for (number, series) in of.series.iter().enumerate() {
            let table = Table::Series(number);
            let points = mistakes.is_sound(&table).then(|| {
                let tell = &mut |why| of.tell(mistakes, &table, why);
                plan.points_of(series, of, size, tell)
            });
            plan.points.push(points.unwrap_or_default());
        }
        for (number, line) in of.lines.iter().enumerate() {
            let table = Table::Line(number);
            let is_sound = mistakes.is_sound(&table);
            let source = is_sound.then(|| plan.source(line, of, size)).transpose();
            let source = source.unwrap_or_else(|why| {
                of.tell(mistakes, &table, of_size(of, size, why));
                None
            });
            plan.sources.push(source.flatten());
        }
        let drawn = of.breakdown.as_ref().and_then(|id| position(of, id));
        if let Some(first) = drawn.and_then(|series| plan.points[series].first()) {
            let job = first.read.job;
            plan.jobs[job] = plan.jobs[job].clone().traced_whole();
            plan.breakdown = Some(job);
        }
        plan
    }

    fn points_of(
        &mut self,
        series: &'a Series,
        of: &Experiment,
        size: Size,
        tell: Tell<'_>,
    ) -> Vec<PlannedPoint<'a>> {
        let seeds = series.seeds(self.seeds, of, size);
        if let Err(why) = series.take.check(seeds.runs) {
            tell(of_size(of, size, why));
            return Vec::new();
        }
        let mut points = Vec::new();
        let mut refused: Vec<(String, Vec<String>)> = Vec::new();
        for place in series.places(size) {
            let recipe = series.recipe(place, of, size);
            match recipe.and_then(|recipe| self.job(&recipe, seeds)) {
                Ok(job) => points.push(PlannedPoint {
                    place,
                    x: series.x(place),
                    read: Read {
                        job,
                        taken: series.taken(place),
                    },
                }),
                Err(why) => {
                    let value = series.over[place].to_string();
                    match refused.iter_mut().find(|(known, _)| *known == why) {
                        Some((_, values)) => values.push(value),
                        None => refused.push((why, vec![value])),
                    }
                }
            }
        }
        for (why, values) in refused {
            let at = format!("at {} {}", series.vary, values.join(", "));
            let is_all = values.len() == series.places(size).count() && values.len() > 1;
            let why = if is_all { why } else { format!("{at}: {why}") };
            tell(of_size(of, size, why));
        }
        points.sort_by(|one, other| one.x.total_cmp(&other.x));
        points
    }

    fn source(
        &mut self,
        line: &'a Line,
        of: &'a Experiment,
        size: Size,
    ) -> Result<Option<Source<'a>>, String> {
        if let Some(recipe) = line.recipe(of, size) {
            let (job, taken) = (self.job(&recipe?, self.seeds)?, line.taken(None));
            return Ok(Some(Source::One(Read { job, taken })));
        }
        match &line.series {
            Some(id) => self.of_series(line, of, series_named(of, id)?),
            None => Ok(line.does.map(Source::Constant)),
        }
    }

    /// The source of a line about that series.
    fn of_series(
        &self,
        line: &'a Line,
        of: &'a Experiment,
        series: usize,
    ) -> Result<Option<Source<'a>>, String> {
        if let Some(shape) = line.is {
            if self.points[series].is_empty() {
                return Ok(None);
            }
            shape.check(line.at.as_ref(), &of.series[series])?;
            return Ok(Some(Source::Curve(series)));
        }
        let at = line.at.as_ref().ok_or("at: missing")?;
        let first = self.point(line, of, (series, at, "at"))?;
        let Some(against) = &line.against else {
            return Ok(first.map(Source::One));
        };
        // The name of a series, or else a value.
        let other = against.word().and_then(|word| position(of, word));
        let other = other.map_or((series, against, "against"), |it| (it, at, "against"));
        let second = self.point(line, of, other)?;
        Ok(first.zip(second).map(|(one, two)| Source::Two([one, two])))
    }

    /// A value of a series, if it runs.
    fn point(
        &self,
        line: &'a Line,
        of: &'a Experiment,
        (series, at, field): (usize, &Scalar, &str),
    ) -> Result<Option<Read<'a>>, String> {
        let named = &of.series[series];
        if self.points[series].is_empty() {
            // It has mistakes of its own.
            return Ok(None);
        }
        let place = named.find(at).ok_or_else(|| {
            let known: Vec<_> = named.over.iter().map(ToString::to_string).collect();
            let (id, known) = (&named.id, known.join(", "));
            format!("{field}: series '{id}' has no point at {at}; there are {known}")
        })?;
        let taken = line.taken(Some(named.taken(place)));
        line.check_taken(taken)?;
        let mut points = self.points[series].iter();
        let found = points.find(|point| point.place == place);
        Ok(found.map(|point| Read {
            job: point.read.job,
            taken,
        }))
    }

    /// The number of a job: of an equal one, or of a new one.
    fn job(&mut self, recipe: &Recipe, seeds: Seeds) -> Result<usize, String> {
        let job = recipe.job(seeds)?;
        let known = self.jobs.iter().position(|known| known.is_same(&job));
        Ok(known.unwrap_or_else(|| {
            self.jobs.push(job);
            self.jobs.len() - 1
        }))
    }
}

pub(super) fn position(of: &Experiment, id: &str) -> Option<usize> {
    of.series.iter().position(|series| series.id == id)
}

fn series_named(of: &Experiment, id: &str) -> Result<usize, String> {
    position(of, id).ok_or_else(|| {
        let known: Vec<&str> = of.series.iter().map(|series| series.id.as_str()).collect();
        format!("series: {}", unknown("series", id, &known))
    })
}

/// A mistake of a size that is not the only one, with that size.
fn of_size(of: &Experiment, size: Size, why: String) -> String {
    if size == Size::Smoke && of.size(size) == Size::Smoke {
        format!("{why} (at smoke size)")
    } else {
        why
    }
}
