//! From runs to a figure: points of series, claims beside ours, what was found wrong.

use super::claim::{Claim, Outcome, Terms};
use super::line::Line;
use super::measure::Taken;
use super::plan::{Plan, PointOf, Source};
use super::trend::Trend;
use super::{Experiment, US_PER_SECOND, breakdown};
use crate::error::LabError;
use crate::figure::{Chart, Figure, Point, Series, Size};
use crate::report::RunReport;
use crate::spread::Spread;

/// What was run, and what came of it.
#[derive(Clone, Copy)]
struct Ran<'a> {
    of: &'a Experiment,
    plan: &'a Plan,
    reports: &'a [Vec<RunReport>],
}

/// The figure of an experiment that ran at that size; or the table, and what it does not give.
pub(super) fn figure(
    of: &Experiment,
    plan: &Plan,
    size: Size,
    reports: &[Vec<RunReport>],
) -> Result<Figure, String> {
    let ran = Ran { of, plan, reports };
    let place = of.place().map_err(|error: LabError| error.to_string())?;
    let seeds = of.seeds(size);
    let series = (0..of.series.len()).map(|series| ran.series(series));
    let series = series.collect::<Result<Vec<_>, _>>()?;
    let claims = if of.judges(size) {
        ran.claims(&series)?
    } else {
        Vec::new()
    };
    Ok(Figure {
        name: of.name.clone(),
        title: of.title.clone(),
        source: of.source.clone(),
        says: of.says.clone(),
        note: of.note.clone(),
        size,
        smaller: of.smaller(size),
        machine: place.name().to_owned(),
        machine_hash: place.hash().map(|hash| format!("{hash:016x}")),
        changes: of.changes.told(),
        seed: seeds.first,
        runs: seeds.runs,
        command: of.command(size),
        charts: ran.charts(series, size),
        claims,
        faults: ran.faults(),
        breakdown: ran.breakdown()?,
    })
}

impl Ran<'_> {
    fn series(&self, series: usize) -> Result<Series, String> {
        let table = &self.of.series[series];
        let point = |place: &super::plan::Place| {
            let y = self.take(place.job, table.taken(place.place));
            let y = y.map_err(|why| format!("[[series]] '{}': {why}", table.id))?;
            Ok(Point { x: place.x, y })
        };
        let points = self.plan.points[series].iter().map(point);
        Ok(Series {
            label: table.label.clone(),
            points: points.collect::<Result<_, String>>()?,
        })
    }

    fn take(&self, job: usize, taken: Taken<'_>) -> Result<Spread, String> {
        taken.of(&self.reports[job], self.plan.jobs[job].place().tick_fs())
    }

    /// The charts, in the order in which the series first name them.
    fn charts(&self, series: Vec<Series>, size: Size) -> Vec<Chart> {
        let mut charts: Vec<(&str, Chart)> = Vec::new();
        for (table, series) in self.of.series.iter().zip(series) {
            let known = charts.iter().position(|(name, _)| *name == table.chart);
            let place = known.unwrap_or_else(|| {
                let mut empty = self.of.charts[&table.chart].empty(&self.of.title);
                empty.paper.retain(|_| self.of.judges(size));
                charts.push((&table.chart, empty));
                charts.len() - 1
            });
            charts[place].1.series.push(series);
        }
        charts.into_iter().map(|(_, chart)| chart).collect()
    }

    fn claims(&self, series: &[Series]) -> Result<Vec<Claim>, String> {
        let lines = self
            .of
            .lines
            .iter()
            .zip(&self.plan.sources)
            .filter_map(|(line, source)| {
                let claim = self.line(line, (*source)?);
                Some(claim.map_err(|why| format!("[[line]] '{}': {why}", line.id)))
            });
        let trends = self.of.trends.iter().zip(&self.plan.trends);
        let trends = trends.map(|(trend, &number)| Ok(self.trend(trend, number, &series[number])));
        lines.chain(trends).collect()
    }

    fn line(&self, line: &Line, source: Source) -> Result<Claim, String> {
        let at = |of: PointOf| {
            let taken = line.taken(Some(self.of.series[of.series].taken(of.place)));
            Ok::<_, String>((taken.measure, line.take.of(self.take(of.job, taken)?)))
        };
        let (ours, jobs) = match source {
            Source::Rate(rate) => (rate / US_PER_SECOND, Vec::new()),
            Source::Own(job) => {
                let taken = line.taken(None);
                let figure = line.take.of(self.take(job, taken)?);
                (line.figure(taken.measure, figure)?, vec![job])
            }
            Source::Point(point) => {
                let (measure, figure) = at(point)?;
                (line.figure(measure, figure)?, vec![point.job])
            }
            Source::Two([first, second]) => {
                let ours = line
                    .compared
                    .unwrap_or_default()
                    .of(at(first)?.1, at(second)?.1);
                (ours, vec![first.job, second.job])
            }
        };
        let outcome = self.judged(line.terms(), ours, &jobs);
        Ok(Claim {
            id: line.id.clone(),
            claim: line.claim.clone(),
            unit: line.unit.clone(),
            paper: line.paper,
            at_least: line.at_least,
            at_most: line.at_most,
            note: line.note.clone(),
            ours,
            outcome,
        })
    }

    fn trend(&self, trend: &Trend, number: usize, series: &Series) -> Claim {
        let points: Vec<_> = series
            .points
            .iter()
            .map(|point| (point.x, point.y.mean))
            .collect();
        let jobs: Vec<_> = self.plan.points[number]
            .iter()
            .map(|point| point.job)
            .collect();
        let (terms, ours) = (trend.terms(), trend.of(&points));
        Claim {
            id: trend.id.clone(),
            claim: trend.claim.clone(),
            unit: trend.unit(&self.of.series[number].vary),
            paper: terms.paper,
            at_least: terms.at_least,
            at_most: terms.at_most,
            note: trend.note.clone(),
            ours,
            outcome: self.judged(terms, ours, &jobs),
        }
    }

    fn judged(&self, terms: Terms<'_>, ours: f64, jobs: &[usize]) -> Outcome {
        let runs = jobs.iter().flat_map(|job| &self.reports[*job]);
        let fault = runs.into_iter().find_map(|run| run.verdict.fault.clone());
        terms.judged(ours, fault)
    }

    /// What every program found wrong with itself, of each job its first.
    fn faults(&self) -> Vec<String> {
        let of_job = |(job, runs): (&crate::Job, &Vec<RunReport>)| {
            let wrong = runs
                .iter()
                .find_map(|run| Some((run.seed, run.verdict.fault.clone()?)));
            let (seed, fault) = wrong?;
            Some(format!("{}, seed {seed}: {fault}", job.told()))
        };
        self.plan
            .jobs
            .iter()
            .zip(self.reports)
            .filter_map(of_job)
            .collect()
    }

    fn breakdown(&self) -> Result<Option<crate::figure::Breakdown>, String> {
        let Some(number) = self.plan.breakdown else {
            return Ok(None);
        };
        let (job, run) = (&self.plan.jobs[number], &self.reports[number][0]);
        let drawn = breakdown::of(run, job.parameters().cores(), job.place().tick_fs());
        drawn.map(Some).map_err(|why| format!("[breakdown]: {why}"))
    }
}
