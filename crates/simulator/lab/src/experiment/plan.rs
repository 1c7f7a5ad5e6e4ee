//! A plan: the jobs that an experiment needs at a size, each once, and what is read from them.
//!
//! ```text
//!   series, at each value --.
//!   line with a program ----+--> recipe --> job --> equal to an earlier one? --> its number
//!   line of a series, breakdown --> the numbers of the series' points
//! ```
//!
//! Plans of both sizes are made when a file is read, so what cannot run is reported before anything
//! runs.

use plot::Size;

use super::claim::ClaimTable;
use super::file::Experiment;
use super::grid::Reading;
use super::measure::Quantity;
use super::mistake::{Table, Wrong};
use super::series::{STAGE, Series};
use crate::changes::Changes;
use crate::job::{Job, Seeds};
use crate::program;
use crate::sweep::{self, Recipe, Values};

/// The plans of all readings, and their jobs.
#[derive(Debug)]
pub(super) struct Plans<'a> {
    pub plans: Vec<Plan<'a>>,
    pub jobs: Vec<Job>,
    pub size: Size,
    of: &'a Experiment,
}

/// The sources in jobs of the figures of a reading.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    pub reading: Reading<'a>,
    /// Points of each series by ascending x.
    pub points: Vec<Vec<PlannedPoint<'a>>>,
    /// Source of each line's figure; `None` if its point does not run at smoke size.
    pub sources: Vec<Option<Source<'a>>>,
    /// The job that is drawn core by core.
    pub breakdown: Option<usize>,
}

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
    /// The job by whose mean it is divided.
    pub base: Option<usize>,
    pub quantity: Quantity<'a>,
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

struct Head<'a> {
    program: &'a str,
    machine: Option<&'a String>,
    with: &'a Values,
    changes: &'a Changes,
    /// The options that a reading sets.
    turned: Values,
}

impl<'a> Plans<'a> {
    /// The plans of an experiment, or the first table that cannot run.
    pub(super) fn new(of: &'a Experiment, size: Size) -> Result<Plans<'a>, Wrong> {
        let mut all = Plans {
            plans: Vec::new(),
            jobs: Vec::new(),
            size,
            of,
        };
        for reading in Reading::all(&of.grid, size) {
            let told = reading.told();
            let plan = all.plan(reading).map_err(|(table, why)| {
                let with = (!told.is_empty()).then(|| format!(" (with {told})"));
                let with = with.unwrap_or_default();
                let is_small = size == Size::Smoke && of.size(size) == Size::Smoke;
                let small = if is_small { " (at smoke size)" } else { "" };
                (table, format!("{why}{with}{small}"))
            })?;
            all.plans.push(plan);
        }
        Ok(all)
    }

    pub(super) fn count(&self) -> u64 {
        self.jobs.iter().map(|job| job.seeds().runs).sum()
    }

    fn plan(&mut self, reading: Reading<'a>) -> Result<Plan<'a>, Wrong> {
        let of = self.of;
        let mut plan = Plan {
            reading,
            points: Vec::new(),
            sources: Vec::new(),
            breakdown: None,
        };
        for (number, series) in of.series.iter().enumerate() {
            let points = self.points(series, &plan.reading);
            let points = points.map_err(|why| (Table::of("series", number, &series.id), why))?;
            plan.points.push(points);
        }
        for (number, line) in of.lines.iter().enumerate() {
            let source = self.source(line, &plan);
            let source = source.map_err(|why| (Table::of("line", number, &line.id), why))?;
            plan.sources.push(source);
        }
        let drawn = of.breakdown.as_ref().and_then(|id| of.position(id));
        if let Some(first) = drawn.and_then(|series| plan.points[series].first()) {
            let job = first.read.job;
            self.jobs[job] = self.jobs[job].clone().traced_whole();
            plan.breakdown = Some(job);
        }
        Ok(plan)
    }

    fn points(
        &mut self,
        series: &'a Series,
        reading: &Reading<'_>,
    ) -> Result<Vec<PlannedPoint<'a>>, String> {
        let (of, size) = (self.of, self.size);
        let mut seeds = of.seeds(size);
        if size == Size::Full && of.has_own_seeds() {
            seeds.runs = series.runs.unwrap_or(seeds.runs);
        }
        series.take.check(seeds.runs)?;
        let recipe = self.recipe(Head {
            program: &series.program,
            machine: series.machine.as_ref(),
            with: &series.with,
            changes: &series.changes,
            turned: reading.options(Some(&series.id)),
        })?;
        let varied = [series.dial(size)];
        let jobs = sweep::all(&varied).into_iter().map(|value| {
            let mut recipe = recipe.clone();
            if series.vary != STAGE {
                let turned = recipe.turn(&varied, &value);
                turned.map_err(|why| format!("vary: {why}"))?;
            }
            self.job(&recipe, seeds)
        });
        let jobs: Vec<_> = jobs.collect();
        let places: Vec<_> = series.places(size).collect();
        if let Some((at, why)) = first_refused(&jobs) {
            let is_of_all = jobs.len() > 1 && jobs.iter().all(|job| job.as_ref() == Err(why));
            let value = &series.over[places[at]];
            return Err(if is_of_all {
                why.clone()
            } else {
                format!("at {} {value}: {why}", series.vary)
            });
        }
        let jobs: Vec<usize> = jobs.into_iter().flatten().collect();
        let base = places.iter().position(|at| Some(*at) == series.base());
        let base = base.map(|at| jobs[at]);
        let points = places.into_iter().zip(jobs);
        let points = points.map(|(place, job)| PlannedPoint {
            place,
            x: series.x(place),
            read: Read {
                job,
                base,
                quantity: series.quantity(place),
            },
        });
        let mut points: Vec<_> = points.collect();
        points.sort_by(|one, other| one.x.total_cmp(&other.x));
        Ok(points)
    }

    fn source(
        &mut self,
        line: &'a ClaimTable,
        plan: &Plan<'a>,
    ) -> Result<Option<Source<'a>>, String> {
        let of = self.of;
        if let Some(program) = &line.program {
            return self.own_job(line, program, &plan.reading).map(Some);
        }
        let Some(id) = &line.series else {
            return Ok(line.does.map(Source::Constant));
        };
        let named = of.series_named(id);
        let series = named.map_err(|why| format!("series: {why}"))?;
        if let Some(shape) = line.is {
            shape.check(line.at.as_ref(), &of.series[series])?;
            return Ok(Some(Source::Curve(series)));
        }
        let at = line.at.as_ref().ok_or("at: missing")?;
        let point = |key, series: usize, at| {
            let named = &of.series[series];
            let place = named.place_of(at).map_err(|why| format!("{key}: {why}"))?;
            let quantity = line.quantity(Some(named.quantity(place)));
            line.check_quantity(quantity)?;
            let mut points = plan.points[series].iter();
            let found = points.find(|point| point.place == place);
            let read = found.map(|point| point.read);
            Ok::<_, String>(read.map(|read| Read { quantity, ..read }))
        };
        let first = point("at", series, at)?;
        let Some(against) = &line.against else {
            return Ok(first.map(Source::One));
        };
        // The name of a series, or else a value.
        let other = against.word().and_then(|word| of.position(word));
        let (other, at) = other.map_or((series, against), |other| (other, at));
        let second = point("against", other, at)?;
        Ok(first.zip(second).map(|(one, two)| Source::Two([one, two])))
    }

    /// The job of a line that names its own program.
    fn own_job(
        &mut self,
        line: &'a ClaimTable,
        program: &'a str,
        reading: &Reading<'a>,
    ) -> Result<Source<'a>, String> {
        let recipe = self.recipe(Head {
            program,
            machine: line.machine.as_ref(),
            with: &line.with,
            changes: &line.changes,
            turned: reading.options(None),
        })?;
        let job = self.job(&recipe, self.of.seeds(self.size))?;
        let quantity = line.quantity(None);
        Ok(Source::One(Read {
            job,
            base: None,
            quantity,
        }))
    }

    /// A recipe from what counts least to what counts most: the file, the reading, the table, and at
    /// smoke size its options.
    fn recipe(&self, head: Head<'_>) -> Result<Recipe, String> {
        let of = self.of;
        let program = program::named(head.program).map_err(|error| error.to_string())?;
        let machine = head.machine.unwrap_or(&of.machine);
        let mut recipe = Recipe::new(program, machine, of.changes);
        for (name, value) in &head.turned {
            if program.knows(name) || Changes::knows(name) {
                recipe.set(name, value)?;
            }
        }
        recipe.changes = head.changes.over(&recipe.changes);
        recipe.with.extend(head.with.clone());
        if self.size == Size::Smoke {
            let smaller = of.smoke.clone().into_iter();
            let smaller = smaller.filter(|(name, _)| program.knows(name));
            recipe.with.extend(smaller);
        }
        Ok(recipe)
    }

    /// The number of a job: of an equal one, or of a new one.
    fn job(&mut self, recipe: &Recipe, seeds: Seeds) -> Result<usize, String> {
        let job = recipe.job(seeds)?.anyway(self.of.anyway);
        let known = self.jobs.iter().position(|known| known.is_same(&job));
        Ok(known.unwrap_or_else(|| {
            self.jobs.push(job);
            self.jobs.len() - 1
        }))
    }
}

fn first_refused(jobs: &[Result<usize, String>]) -> Option<(usize, &String)> {
    let mut refused = jobs.iter().enumerate();
    refused.find_map(|(at, job)| Some((at, job.as_ref().err()?)))
}
