//! From runs to a figure: points, claims, faults, and the breakdown.

use plot::{Chart, Check, Claim, Figure, Grid, Outcome, Point, Series, Size, Spread};

use super::breakdown;
use super::chart::ChartTable;
use super::claim::ClaimTable;
use super::file::Experiment;
use super::judgement::{Judgement, drift};
use super::plan::{Plan, PlannedPoint, Plans, Read, Source};
use super::series::Series as SeriesTable;
use crate::error::LabError;
use crate::job::Job;
use crate::parameters::SAME_ORDER;
use crate::report::RunReport;
use crate::spread::scaled;

/// The results of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// Its charts and claims.
    pub figure: Figure,
    /// The value of every run, series by series.
    pub samples: Vec<Sample>,
}

/// The value of one run, for a table of all.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Label of the series.
    pub series: String,
    /// Name of what the series varies.
    pub vary: String,
    /// Its value, as the file has it.
    pub at: String,
    /// Place on the axis.
    pub x: f64,
    /// Seed of the run.
    pub seed: u64,
    /// The measured value.
    pub value: f64,
    /// Mean of the values of all runs of the point.
    pub mean: f64,
    /// Standard deviation of them; 0 for a single run.
    pub sd: f64,
    /// Name of the measure.
    pub measure: String,
    /// Its stage; empty if it has none.
    pub stage: String,
    /// Unit of the values.
    pub unit: &'static str,
}

/// A reading of an experiment with the reports of all jobs.
#[derive(Clone, Copy)]
struct Ran<'a> {
    of: &'a Experiment,
    plan: &'a Plan<'a>,
    jobs: &'a [Job],
    reports: &'a [Vec<RunReport>],
    size: Size,
}

/// The results of an experiment; an error names the table and what is missing.
pub(super) fn of_all(
    of: &Experiment,
    plans: &Plans<'_>,
    reports: &[Vec<RunReport>],
) -> Result<Results, String> {
    let all = plans.plans.iter().map(|plan| Ran {
        of,
        plan,
        jobs: &plans.jobs,
        reports,
        size: plans.size,
    });
    let all: Vec<Ran<'_>> = all.collect();
    let mut figure = figure(&all[0])?;
    if of.compares_readings() {
        compare(&mut figure, of, &all)?;
    }
    let samples = all.iter().map(Ran::all_samples);
    let samples = samples.collect::<Result<Vec<_>, _>>()?.concat();
    Ok(Results { figure, samples })
}

/// Replaces the charts and claims of the first reading by a table of all readings.
fn compare(figure: &mut Figure, of: &Experiment, all: &[Ran<'_>]) -> Result<(), String> {
    let readings = all.iter().map(|ran| {
        let claims = ran.claims(&ran.all_series()?)?;
        if ran.plan.reading.is_first {
            figure.faults.extend(ran.drifts(&claims));
        }
        let values = ran.plan.reading.values.iter();
        Ok(plot::Reading {
            values: values.map(ToString::to_string).collect(),
            off: ran.off(&claims),
            claims: claims
                .into_iter()
                .map(|claim| ran.compared(claim))
                .collect(),
        })
    });
    let mut grid = Grid {
        readings: readings.collect::<Result<_, String>>()?,
        dials: of.grid.iter().map(|table| table.dial.clone()).collect(),
    };
    figure.faults.sort();
    figure.faults.dedup();
    figure.charts.clear();
    figure.claims.clear();
    // At a smaller size than the paper's, nothing is met.
    if !of.is_shrunk(figure.size) {
        grid.rank();
    }
    figure.grid = Some(grid);
    Ok(())
}

/// A remark about distributions of keys with the same figure, which look like a mistake.
fn equal_distributions(of: &Experiment, series: &[Series]) -> Option<String> {
    let are_equal = |drawn: &Series| {
        let means: Vec<f64> = drawn.points.iter().map(|point| point.y.mean).collect();
        (1..means.len()).any(|at| means[..at].contains(&means[at]))
    };
    let mut varied = of.series.iter().zip(series);
    let found = varied.any(|(table, drawn)| table.vary == "distribution" && are_equal(drawn));
    found.then(|| format!("Some distributions give the same figure: {SAME_ORDER}."))
}

/// The figure of an experiment with one reading.
fn figure(ran: &Ran<'_>) -> Result<Figure, String> {
    let (of, size) = (ran.of, ran.size);
    let place = of.place().map_err(|error: LabError| error.to_string())?;
    let seeds = of.seeds(size);
    let series = ran.all_series()?;
    let claims = ran.claims(&series)?;
    let (claims, drifts) = if of.is_shrunk(size) {
        // The paper's figures are of other options. Only that ours stay the same is checked.
        (Vec::new(), ran.drifts(&claims))
    } else {
        (claims, Vec::new())
    };
    Ok(Figure {
        name: of.name.clone(),
        title: of.title.clone(),
        source: of.source.clone(),
        says: of.says.clone(),
        shows: of.shows.clone(),
        note: of.note.clone().or_else(|| equal_distributions(of, &series)),
        size,
        smaller: of.smaller(size),
        machine: place.name().to_owned(),
        machine_hash: place.hash().map(|hash| format!("{hash:016x}")),
        changes: of.changes.told(),
        seed: seeds.first,
        runs: seeds.runs,
        command: of.command(size),
        charts: ran.charts(series, size),
        trees: of.charts.values().flat_map(ChartTable::trees).collect(),
        claims,
        faults: [ran.faults(), drifts].concat(),
        breakdown: ran.breakdown()?,
        grid: None,
    })
}

impl Ran<'_> {
    /// The values of all runs, series by series.
    fn all_samples(&self) -> Result<Vec<Sample>, String> {
        let mut samples = Vec::new();
        for (table, points) in self.of.series.iter().zip(&self.plan.points) {
            for point in points {
                let of_point = self.samples(table, point);
                samples.extend(in_table(of_point, "[[series]]", &table.id)?);
            }
        }
        if self.of.compares_readings() {
            let reading = self.plan.reading.told();
            let all = samples.iter_mut();
            all.for_each(|sample: &mut Sample| sample.series += &format!(", {reading}"));
        }
        Ok(samples)
    }

    fn all_series(&self) -> Result<Vec<Series>, String> {
        let series = (0..self.of.series.len()).map(|series| self.series(series));
        series.collect()
    }

    /// The geometric mean of the distances from the paper's figures, less one.
    fn off(&self, claims: &[Claim]) -> f64 {
        let lines = self.of.lines.iter();
        let has_distance = |claim: &&Claim| {
            let line = lines.clone().find(|line| line.id == claim.id);
            let is_figure = line.is_some_and(|line| line.is.is_none());
            is_figure && !claim.at_least && !claim.at_most && claim.ratio() > 0.0
        };
        let exact = claims.iter().filter(has_distance);
        let logarithms: Vec<f64> = exact.map(|claim| claim.ratio().ln().abs()).collect();
        let count = logarithms.len().max(1) as f64;
        (logarithms.iter().sum::<f64>() / count).exp() - 1.0
    }

    /// A claim as one of many readings has it: the misses are the result, and fail nothing.
    fn compared(&self, claim: Claim) -> Claim {
        let outcome = match claim.outcome {
            _ if self.of.is_shrunk(self.size) => Outcome::Shown,
            Outcome::Failed => Outcome::Missed,
            outcome => outcome,
        };
        Claim {
            outcome,
            check: Check {
                passed: true,
                fault: None,
            },
            ..claim
        }
    }

    fn series(&self, series: usize) -> Result<Series, String> {
        let table = &self.of.series[series];
        let point = |place: &PlannedPoint<'_>| {
            let y = in_table(self.read(place.read), "[[series]]", &table.id)?;
            let y = table.take.drawn(y);
            Ok(Point { x: place.x, y })
        };
        let points = self.plan.points[series].iter().map(point);
        Ok(Series {
            label: table.label.clone(),
            points: points.collect::<Result<_, String>>()?,
        })
    }

    /// The values of the runs of a point.
    fn samples(
        &self,
        table: &SeriesTable,
        point: &PlannedPoint<'_>,
    ) -> Result<Vec<Sample>, String> {
        let Read { job, quantity, .. } = point.read;
        let (spread, tick_fs) = (self.read(point.read)?, self.jobs[job].place().tick_fs());
        let factor = self.factor(point.read)?;
        let sample = |run: &RunReport| {
            let value = quantity.of(std::slice::from_ref(run), tick_fs)?.mean;
            Ok(Sample {
                series: table.label.clone(),
                vary: table.vary.clone(),
                at: table.over[point.place].to_string(),
                x: point.x,
                seed: run.seed,
                value: value * factor,
                mean: spread.mean,
                sd: spread.sd,
                measure: quantity.measure.name(),
                stage: quantity.stage.unwrap_or_default().to_owned(),
                unit: quantity.unit(),
            })
        };
        self.reports[job].iter().map(sample).collect()
    }

    fn read(&self, read: Read<'_>) -> Result<Spread, String> {
        Ok(scaled(
            self.of_job(read, read.job)?,
            self.factor(read)?,
            0.0,
        ))
    }

    /// The factor of a value that is relative to another; else 1.
    fn factor(&self, read: Read<'_>) -> Result<f64, String> {
        let base = read.base.map(|base| self.of_job(read, base)).transpose()?;
        let mean = base.map_or(1.0, |base| base.mean);
        let why = || format!("relative_to: the mean there is {mean}; name another value");
        mean.is_normal().then_some(1.0 / mean).ok_or_else(why)
    }

    fn of_job(&self, read: Read<'_>, job: usize) -> Result<Spread, String> {
        (read.quantity).of(&self.reports[job], self.jobs[job].place().tick_fs())
    }

    /// The charts in the order in which series name them.
    fn charts(&self, series: Vec<Series>, size: Size) -> Vec<Chart> {
        let mut charts: Vec<(&str, Chart)> = Vec::new();
        for (table, series) in self.of.series.iter().zip(series) {
            let known = charts.iter().position(|(name, _)| *name == table.chart);
            let place = known.unwrap_or_else(|| {
                let mut empty = self.of.charts[&table.chart].empty(&self.of.title);
                empty.paper.retain(|_| size == Size::Full);
                charts.push((&table.chart, empty));
                charts.len() - 1
            });
            charts[place].1.series.push(series);
        }
        charts.into_iter().map(|(_, chart)| chart).collect()
    }

    fn claims(&self, series: &[Series]) -> Result<Vec<Claim>, String> {
        let lines = self.of.lines.iter().zip(&self.plan.sources);
        let claims = lines.filter_map(|(line, source)| {
            let claim = self.claim(line, (*source)?, series);
            Some(in_table(claim, "[[line]]", &line.id))
        });
        claims.collect()
    }

    fn claim(
        &self,
        line: &ClaimTable,
        source: Source<'_>,
        series: &[Series],
    ) -> Result<Claim, String> {
        let ours = self.ours(line, source, series)?;
        let table = match source {
            Source::Curve(number) => Some(&self.of.series[number]),
            _ => None,
        };
        let judgement = match self.fault(source) {
            Some(fault) => Judgement::failed(fault),
            None => line.judge(line.paper(table), ours, self.known(line)),
        };
        Ok(line.reported(self.of, Some(&self.plan.reading), ours, judgement))
    }

    /// Our figure when the line was written, if it was of the same seeds.
    fn known(&self, line: &ClaimTable) -> Option<f64> {
        let is_of_file = self.plan.reading.is_first && self.of.has_own_seeds();
        line.known(self.size).filter(|_| is_of_file)
    }

    /// The claims whose figure at this size is no longer what it was.
    fn drifts(&self, claims: &[Claim]) -> Vec<String> {
        let known = |id: &str| self.known(self.of.lines.iter().find(|line| line.id == id)?);
        let drifts = claims.iter().filter_map(|claim| {
            let why = drift(claim.ours, Some(known(&claim.id)?))?;
            Some(format!("claim '{}': {why}", claim.id))
        });
        drifts.collect()
    }

    fn ours(
        &self,
        line: &ClaimTable,
        source: Source<'_>,
        series: &[Series],
    ) -> Result<f64, String> {
        let value = |read: Read<'_>| Ok::<_, String>(read.quantity.take.of(self.read(read)?));
        match source {
            Source::Constant(rate) => Ok(rate),
            Source::One(read) => line.figure(read.quantity, value(read)?),
            Source::Two([one, two]) => line.compare(one.quantity, [value(one)?, value(two)?]),
            Source::Curve(number) => {
                let points = series[number].points.iter();
                let points: Vec<_> = points.map(|point| (point.x, point.y.mean)).collect();
                Ok(line.is.map_or(f64::NAN, |shape| shape.of(&points)))
            }
        }
    }

    /// The first fault that a program found in the runs of a source.
    fn fault(&self, source: Source<'_>) -> Option<String> {
        let jobs: Vec<usize> = match source {
            Source::Constant(_) => Vec::new(),
            Source::One(read) => vec![read.job],
            Source::Two(reads) => reads.map(|read| read.job).to_vec(),
            Source::Curve(number) => {
                let points = self.plan.points[number].iter();
                points.map(|point| point.read.job).collect()
            }
        };
        let mut runs = jobs.into_iter().flat_map(|job| &self.reports[job]);
        runs.find_map(|run| run.verdict.fault.clone())
    }

    /// The first fault of each job, with its options and seed.
    fn faults(&self) -> Vec<String> {
        let jobs = self.jobs.iter().zip(self.reports);
        let faults = jobs.filter_map(|(job, runs)| {
            let mut faults = runs.iter().map(|run| (run.seed, &run.verdict.fault));
            let (seed, fault) = faults.find_map(|(seed, fault)| Some((seed, fault.as_ref()?)))?;
            Some(format!("{}, seed {seed}: {fault}", job.told()))
        });
        faults.collect()
    }

    fn breakdown(&self) -> Result<Option<plot::Breakdown>, String> {
        let Some(number) = self.plan.breakdown else {
            return Ok(None);
        };
        let (job, run) = (&self.jobs[number], &self.reports[number][0]);
        let drawn = breakdown::of(run, job.parameters().cores(), job.place().tick_fs());
        drawn.map(Some).map_err(|why| format!("breakdown: {why}"))
    }
}

fn in_table<T>(result: Result<T, String>, table: &str, id: &str) -> Result<T, String> {
    result.map_err(|why| format!("{table} '{id}': {why}"))
}
