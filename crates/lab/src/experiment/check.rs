//! Checks of a whole file before anything runs: names are known and unique, and everything can run.

use std::collections::BTreeSet;

use super::plan::Plan;
use super::recipe::Scalar;
use super::{Experiment, RUNS, Size};
use crate::programs;

impl Experiment {
    /// Checks the file; an error names the table, the field, and the expected value.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.lines.is_empty() && self.series.is_empty() {
            return Err("the file has no [[series]] and no [[line]], so nothing would run; add a [[series]]".to_owned());
        }
        unique("[[series]]", self.series.iter().map(|series| &series.id))?;
        unique("[[line]]", self.lines.iter().map(|line| &line.id))?;
        for (name, value) in &self.smoke {
            let checked = self.check_smoke(name, value);
            checked.map_err(|why| format!("[smoke]: {why}"))?;
        }
        for series in &self.series {
            let checked = self.check_chart_of(&series.chart);
            let checked = checked.and_then(|()| series.check());
            in_table(checked, "[[series]]", &series.id)?;
        }
        for (name, chart) in &self.charts {
            let drawn = self.series.iter().filter(|series| series.chart == *name);
            let checked = chart.check(&drawn.collect::<Vec<_>>());
            checked.map_err(|why| format!("[chart.{name}]: {why}"))?;
        }
        for line in &self.lines {
            in_table(line.check(), "[[line]]", &line.id)?;
        }
        let mut sizes = [Size::Smoke, Size::Full].into_iter();
        sizes.try_for_each(|size| Plan::new(self, size).map(drop))
    }

    fn check_chart_of(&self, name: &str) -> Result<(), String> {
        if self.charts.contains_key(name) {
            return Ok(());
        }
        let known = listed(self.charts.keys().map(String::as_str));
        Err(format!(
            "chart: there is no [chart.{name}]; there are {known}"
        ))
    }

    fn check_smoke(&self, name: &str, value: &Scalar) -> Result<(), String> {
        if name == RUNS {
            let is_count = value
                .number()
                .is_some_and(|it| it >= 1.0 && it.fract() == 0.0);
            return match is_count {
                true => Ok(()),
                false => Err(format!("runs {value}: expected a number from 1")),
            };
        }
        let in_series = self.series.iter().map(|series| &series.program);
        let in_lines = self.lines.iter().filter_map(|line| line.program.as_ref());
        let mut programs = in_series.chain(in_lines);
        match programs.any(|it| programs::named(it).is_ok_and(|program| program.knows(name))) {
            true => Ok(()),
            false => Err(format!(
                "'{name}' is not an option of any program in this experiment"
            )),
        }
    }
}

/// Adds the table to an error.
pub(super) fn in_table<T>(result: Result<T, String>, table: &str, id: &str) -> Result<T, String> {
    result.map_err(|why| format!("{table} '{id}': {why}"))
}

pub(super) fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.collect();
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}

fn unique<'a>(table: &str, ids: impl Iterator<Item = &'a String>) -> Result<(), String> {
    let mut known = BTreeSet::new();
    for id in ids {
        if !known.insert(id) {
            return Err(format!("{table}: id: '{id}' appears twice"));
        }
    }
    Ok(())
}
