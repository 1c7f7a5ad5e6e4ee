//! A plan: every job that an experiment needs at a size, each once, and who takes what of it.
//!
//! ```text
//!   series, at each value --.
//!   line with a program ----+--> recipe --> job --> the same as one before? --> its number
//!   breakdown --------------'
//!   line of a series, trend --> the numbers of the series' points
//! ```
//!
//! A plan is made when a file is read, at both sizes: what cannot run is told before anything does.

use super::breakdown::BreakdownTable;
use super::line::Line;
use super::recipe::{Recipe, Told};
use super::series::Series;
use super::{Experiment, Size};
use crate::job::{Job, Seeds};

/// What is to run, and what becomes of it.
#[derive(Debug)]
pub(super) struct Plan {
    pub jobs: Vec<Job>,
    /// How many runs of each job there are.
    pub runs: Vec<u64>,
    /// For each series its points, in the order of x.
    pub points: Vec<Vec<Place>>,
    /// For each line where its figure comes from; nothing at smoke size if it is of a series.
    pub sources: Vec<Option<Source>>,
    /// For each trend its series.
    pub trends: Vec<usize>,
    /// The job that is drawn core by core.
    pub breakdown: Option<usize>,
}

/// A point of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    /// Its place in `over`.
    pub place: usize,
    /// Where it lies.
    pub x: f64,
    /// Which job gives it.
    pub job: usize,
}

/// Where a line's figure comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Source {
    /// Arithmetic.
    Rate(f64),
    /// A job of its own.
    Own(usize),
    /// A point of a series.
    Point(PointOf),
    /// Two of them.
    Two([PointOf; 2]),
}

/// A point of a series: where a claim's figure comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PointOf {
    pub series: usize,
    /// Its place in `over`.
    pub place: usize,
    pub job: usize,
}

impl Plan {
    /// What the experiment needs; or the table, the field, and what is wrong.
    pub fn new(of: &Experiment, size: Size) -> Result<Plan, String> {
        let mut plan = Plan {
            jobs: Vec::new(),
            runs: Vec::new(),
            points: Vec::new(),
            sources: Vec::new(),
            trends: Vec::new(),
            breakdown: None,
        };
        for series in &of.series {
            let points = plan.points(series, size, of);
            let points = points.map_err(|why| format!("[[series]] '{}': {why}", series.id))?;
            plan.points.push(points);
        }
        for line in &of.lines {
            let source = plan.source(line, size, of);
            let source = source.map_err(|why| format!("[[line]] '{}': {why}", line.id))?;
            plan.sources.push(source);
        }
        for trend in &of.trends {
            let refused = |why: String| format!("[[trend]] '{}': {why}", trend.id);
            let series = series_named(of, &trend.series, "series").map_err(refused)?;
            trend.check(&of.series[series]).map_err(refused)?;
            plan.trends.push(series);
        }
        if let Some(table) = &of.breakdown {
            plan.draw(table, size, of)
                .map_err(|why| format!("[breakdown]: {why}"))?;
        }
        Ok(plan)
    }

    /// How many runs there are.
    pub fn count(&self) -> u64 {
        self.runs.iter().sum()
    }

    fn points(
        &mut self,
        series: &Series,
        size: Size,
        of: &Experiment,
    ) -> Result<Vec<Place>, String> {
        let mut points = Vec::new();
        for place in series.places(size) {
            let at = |why| format!("at {} {}: {why}", series.vary, series.over[place]);
            let recipe = series.recipe(place, size, of)?;
            let job = self.job(&recipe, of.seeds(size)).map_err(at)?;
            points.push(Place {
                place,
                x: series.x(place),
                job,
            });
        }
        points.sort_by(|one, other| one.x.total_cmp(&other.x));
        Ok(points)
    }

    fn source(
        &mut self,
        line: &Line,
        size: Size,
        of: &Experiment,
    ) -> Result<Option<Source>, String> {
        if let Some(rate) = line.per_second {
            return Ok(Some(Source::Rate(rate)));
        }
        if let Some(recipe) = line.recipe(size, of)? {
            return Ok(Some(Source::Own(self.job(&recipe, of.seeds(size))?)));
        }
        let (id, at) = (line.series.as_deref().unwrap_or_default(), line.at.as_ref());
        let series = series_named(of, id, "series")?;
        let at = at.ok_or("at: missing, and there is a series")?;
        let first = self.point(of, series, at, "at")?;
        let place = of.series[series].find(at).unwrap_or(0);
        line.checked_unit(line.taken(Some(of.series[series].taken(place))))?;
        let second = match line.compares() {
            false => None,
            true => {
                let other = line
                    .against
                    .as_deref()
                    .map(|id| series_named(of, id, "against"));
                let other = other.transpose()?.unwrap_or(series);
                let at = line.against_at.as_ref().unwrap_or(at);
                Some(self.point(of, other, at, "against_at")?)
            }
        };
        // A value that is missing is an error at every size; at smoke size some are not run.
        let source = match (first, second) {
            (Some(first), None) => Some(Source::Point(first)),
            (Some(first), Some(Some(second))) => Some(Source::Two([first, second])),
            _ => None,
        };
        Ok(source.filter(|_| of.judges(size)))
    }

    /// The series and job of that value, if it is run.
    fn point(
        &self,
        of: &Experiment,
        series: usize,
        at: &Told,
        field: &str,
    ) -> Result<Option<PointOf>, String> {
        let named = &of.series[series];
        let place = named.find(at).ok_or_else(|| {
            let known: Vec<_> = named.over.iter().map(ToString::to_string).collect();
            let (id, known) = (&named.id, known.join(", "));
            format!("{field}: series '{id}' has no point at {at}; there are {known}")
        })?;
        let point = self.points[series]
            .iter()
            .find(|point| point.place == place);
        Ok(point.map(|point| PointOf {
            series,
            place,
            job: point.job,
        }))
    }

    fn draw(&mut self, table: &BreakdownTable, size: Size, of: &Experiment) -> Result<(), String> {
        let known = self.jobs.len();
        let job = self.job(&table.recipe(size, of)?, of.seeds(size))?;
        if job == known {
            // Nobody takes anything else of it.
            self.runs[job] = 1;
        }
        self.jobs[job] = self.jobs[job].clone().traced_whole();
        self.breakdown = Some(job);
        Ok(())
    }

    /// The number of that job: one that is there already, or a new one.
    fn job(&mut self, recipe: &Recipe, seeds: Seeds) -> Result<usize, String> {
        let job = recipe.job(seeds)?;
        let known = self.jobs.iter().position(|known| known.is_same(&job));
        Ok(known.unwrap_or_else(|| {
            self.jobs.push(job);
            self.runs.push(seeds.runs);
            self.jobs.len() - 1
        }))
    }
}

fn series_named(of: &Experiment, id: &str, field: &str) -> Result<usize, String> {
    of.series
        .iter()
        .position(|series| series.id == id)
        .ok_or_else(|| {
            let known: Vec<_> = of.series.iter().map(|series| series.id.as_str()).collect();
            let known = if known.is_empty() {
                "none".to_owned()
            } else {
                known.join(", ")
            };
            format!("{field}: there is no series '{id}'; there are {known}")
        })
}
