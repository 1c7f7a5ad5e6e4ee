//! Checks of a whole file before anything runs: names are known and unique, and everything can run.

use std::collections::BTreeSet;

use super::grid::{Plans, Reading};
use super::mistake::{Mistakes, Table, meant, unknown};
use super::recipe::{MACHINE, Scalar, check_option};
use super::{Experiment, RUNS, Size};
use crate::changes::Changes;
use crate::place::Place;
use crate::programs;

impl Experiment {
    /// Adds all mistakes; each names the table, the key, and the expected value.
    pub(super) fn check(&self, mistakes: &mut Mistakes) {
        self.check_head(mistakes);
        self.check_ids(mistakes);
        for (name, value) in &self.smoke {
            if let Err(why) = self.check_smoke(name, value) {
                mistakes.add(Table::Smoke, "[smoke]", why);
            }
        }
        for (number, series) in self.series.iter().enumerate() {
            let table = Table::Series(number);
            let mut tell = |why| self.tell(mistakes, &table, why);
            self.check_chart_of(&series.chart).unwrap_or_else(&mut tell);
            series.check(&mut tell);
        }
        for (name, chart) in &self.charts {
            self.check_chart(name, chart, mistakes);
        }
        for (number, line) in self.lines.iter().enumerate() {
            let table = Table::Line(number);
            line.check(&mut |why| self.tell(mistakes, &table, why));
        }
        self.check_grid(mistakes);
        if self.knows_its_place(mistakes) {
            for size in [Size::Full, self.size(Size::Smoke)] {
                Plans::new(&Reading::all(self, size), self, size, mistakes);
            }
        }
    }

    fn check_grid(&self, mistakes: &mut Mistakes) {
        for (number, dial) in self.grid.iter().enumerate() {
            let table = Table::Grid(number);
            dial.check(self, &mut |why| self.tell(mistakes, &table, why));
        }
        if self.grid.is_empty() {
            return;
        }
        if self.lines.is_empty() {
            let why = "the readings are compared by their claims; add a [[line]]";
            self.tell(mistakes, &Table::Grid(0), why.to_owned());
        }
        if self.breakdown.is_some() {
            let why = "breakdown: leave it out; it shows one run, and there are many readings";
            self.tell(mistakes, &Table::Head, why.to_owned());
        }
        let lines = self.lines.iter().enumerate();
        for (number, _) in lines.filter(|(_, line)| line.known_miss.is_some()) {
            let why = "known_miss: leave it out; a table of all readings shows which miss";
            self.tell(mistakes, &Table::Line(number), why.to_owned());
        }
    }

    /// Whether it is known where series run, so that it can be checked whether they can.
    fn knows_its_place(&self, mistakes: &Mistakes) -> bool {
        let has_machine = Place::named(&self.machine, &Changes::default()).is_ok();
        has_machine
            && !mistakes.has_lost(&Table::Head, MACHINE)
            && mistakes.is_sound(&Table::Changes)
            && mistakes.is_sound(&Table::Smoke)
    }

    /// Adds a mistake in a table, with the table's name.
    pub(super) fn tell(&self, mistakes: &mut Mistakes, table: &Table, why: String) {
        let name = match table {
            Table::Head => String::new(),
            Table::Changes => "[changes]".to_owned(),
            Table::Smoke => "[smoke]".to_owned(),
            Table::Chart(name) => format!("[chart.{name}]"),
            Table::Grid(number) => format!("[[grid]] '{}'", self.grid[*number].dial),
            Table::Series(number) => format!("[[series]] '{}'", self.series[*number].id),
            Table::Line(number) => format!("[[line]] '{}'", self.lines[*number].id),
        };
        mistakes.add(table.clone(), &name, why);
    }

    fn check_head(&self, mistakes: &mut Mistakes) {
        let has_lost = |key| mistakes.has_lost(&Table::Head, key);
        if self.lines.is_empty()
            && self.series.is_empty()
            && !has_lost("series")
            && !has_lost("line")
        {
            let why = "the file has no [[series]] and no [[line]], so nothing would run; add a \
                       [[series]]";
            mistakes.add(Table::Head, "", why.to_owned());
        }
        if let Err(error) = Place::named(&self.machine, &Changes::default()) {
            let why = format!("{MACHINE}: machine '{}': {error}", self.machine);
            mistakes.add(Table::Head, "", why);
        }
        let ids: Vec<&str> = self
            .series
            .iter()
            .map(|series| series.id.as_str())
            .collect();
        if let Some(id) = self.breakdown.as_deref().filter(|id| !ids.contains(id)) {
            let why = format!("breakdown: {}", unknown("series", id, &ids));
            mistakes.add(Table::Head, "", why);
        }
    }

    fn check_ids(&self, mistakes: &mut Mistakes) {
        let series = self.series.iter().map(|series| &series.id).enumerate();
        let lines = self.lines.iter().map(|line| &line.id).enumerate();
        let series = series.map(|(number, id)| (Table::Series(number), id, "series"));
        let lines = lines.map(|(number, id)| (Table::Line(number), id, "line"));
        let mut known = BTreeSet::new();
        for (table, id, what) in series.chain(lines) {
            if !id.is_empty() && !known.insert((what, id)) {
                let why = format!("id: '{id}' appears twice; give this {what} another id");
                self.tell(mistakes, &table, why);
            }
        }
    }

    fn check_chart(&self, name: &str, chart: &super::ChartTable, mistakes: &mut Mistakes) {
        let drawn = self.series.iter().enumerate();
        let drawn = drawn.filter(|(_, series)| series.chart == *name);
        let is_sound = |number| mistakes.is_sound(&Table::Series(number));
        let all_sound = drawn.clone().all(|(number, _)| is_sound(number));
        let drawn: Vec<_> = drawn.map(|(_, series)| series).collect();
        // The places of a wrong series say nothing about the chart.
        if all_sound {
            let table = Table::Chart(name.to_owned());
            chart.check(&drawn, &mut |why| self.tell(mistakes, &table, why));
        }
    }

    fn check_chart_of(&self, name: &str) -> Result<(), String> {
        if self.charts.contains_key(name) {
            return Ok(());
        }
        let known: Vec<&str> = self.charts.keys().map(String::as_str).collect();
        let rest = match meant(name, known.iter().copied()) {
            Some(meant) => format!("did you mean {meant}?"),
            None => format!("there are {}", known.join(", ")),
        };
        Err(format!("chart: there is no [chart.{name}]; {rest}"))
    }

    fn check_smoke(&self, name: &str, value: &Scalar) -> Result<(), String> {
        if name == RUNS {
            let is_count = value
                .number()
                .is_some_and(|it| it >= 1.0 && it.fract() == 0.0);
            return if is_count {
                Ok(())
            } else {
                Err(format!("runs {value}: expected a number from 1"))
            };
        }
        let in_series = self.series.iter().map(|series| &series.program);
        let in_lines = self.lines.iter().filter_map(|line| line.program.as_ref());
        let programs = in_series.chain(in_lines);
        let programs: Vec<_> = programs.filter_map(|it| programs::named(it).ok()).collect();
        let knows = programs.iter().find(|program| program.knows(name));
        match knows {
            Some(program) => {
                check_option(program, name, value).map_err(|why| format!("{name}: {why}"))
            }
            None => {
                let known = programs.iter().flat_map(|program| program.options());
                let known: BTreeSet<String> = known.collect();
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                let why = unknown("option", name, &known);
                Err(format!(
                    "{name}: no program of this experiment has it; {why}"
                ))
            }
        }
    }
}

/// Adds the table to an error.
pub(super) fn in_table<T>(result: Result<T, String>, table: &str, id: &str) -> Result<T, String> {
    result.map_err(|why| format!("{table} '{id}': {why}"))
}
