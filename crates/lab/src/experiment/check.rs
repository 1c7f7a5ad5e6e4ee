//! Checks of a whole file before anything runs: names that must be known, and known once.

use super::plan::Plan;
use super::recipe::Told;
use super::{Experiment, RUNS, Size};
use crate::programs;

impl Experiment {
    /// What is wrong with it: the table, the field, and what was expected.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.lines.is_empty() && self.series.is_empty() && self.breakdown.is_none() {
            return Err("there is no [[line]], [[series]] or [breakdown]: nothing runs".to_owned());
        }
        unique(
            "[[series]]",
            self.series.iter().map(|series| series.id.as_str()),
        )?;
        let claims = self.lines.iter().map(|line| line.id.as_str());
        unique(
            "[[line]] or [[trend]]",
            claims.chain(self.trends.iter().map(|it| it.id.as_str())),
        )?;
        self.check_smoke()
            .map_err(|why| format!("[smoke]: {why}"))?;
        for series in &self.series {
            let known = self.charts.contains_key(&series.chart);
            let known = known.then_some(()).ok_or_else(|| {
                let names: Vec<_> = self.charts.keys().map(String::as_str).collect();
                let names = if names.is_empty() {
                    "none".to_owned()
                } else {
                    names.join(", ")
                };
                format!(
                    "chart: there is no [chart.{}]; there are {names}",
                    series.chart
                )
            });
            let checked = known.and_then(|()| series.check());
            checked.map_err(|why| format!("[[series]] '{}': {why}", series.id))?;
        }
        for (name, chart) in &self.charts {
            let drawn = self.series.iter().filter(|series| series.chart == *name);
            chart
                .check(drawn)
                .map_err(|why| format!("[chart.{name}]: {why}"))?;
        }
        for line in &self.lines {
            line.check()
                .map_err(|why| format!("[[line]] '{}': {why}", line.id))?;
        }
        [Size::Smoke, Size::Full]
            .into_iter()
            .try_for_each(|size| Plan::new(self, size).map(drop))
    }

    fn check_smoke(&self) -> Result<(), String> {
        let in_series = self.series.iter().map(|series| &series.program);
        let in_lines = self.lines.iter().filter_map(|line| line.program.as_ref());
        let in_breakdown = self.breakdown.iter().map(|table| &table.program);
        let all: Vec<_> = in_series.chain(in_lines).chain(in_breakdown).collect();
        for (name, value) in &self.smoke {
            let is_known = || {
                all.iter()
                    .any(|program| programs::named(program).is_ok_and(|it| it.knows(name)))
            };
            match (name.as_str(), value) {
                (RUNS, Told::Whole(1..)) => {}
                (RUNS, value) => return Err(format!("runs {value}: expected a number from 1")),
                _ if is_known() => {}
                (name, _) => return Err(format!("'{name}' is no option of a program that is run")),
            }
        }
        Ok(())
    }
}

fn unique<'a>(table: &str, ids: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let mut known = std::collections::BTreeSet::new();
    for id in ids {
        if !known.insert(id) {
            return Err(format!("{table}: id: '{id}' is there twice"));
        }
    }
    Ok(())
}
