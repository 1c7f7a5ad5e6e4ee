//! Checks of a whole file before anything runs: names are known and unique, and everything can run.
//! The first mistake ends them.

use std::collections::BTreeSet;

use plot::Size;

use super::file::{Experiment, RUNS};
use super::grid::GridTable;
use super::mistake::{Table, Wrong};
use super::plan::Plans;
use crate::changes::Changes;
use crate::place::Place;
use crate::program::{self, Listing};
use crate::sweep::{MACHINE, Scalar, check_option, instead, unknown};

/// Finds the first mistake; its message names the key and the expected value.
pub(super) fn check(of: &Experiment) -> Result<(), Wrong> {
    check_head(of).map_err(|why| (Table::head(), why))?;
    for (number, series) in of.series.iter().enumerate() {
        let checked = check_chart_of(of, &series.chart).and_then(|()| series.check());
        checked.map_err(|why| (Table::of("series", number, &series.id), why))?;
    }
    for (number, line) in of.lines.iter().enumerate() {
        let checked = line.check_terms().and_then(|()| line.check());
        checked.map_err(|why| (Table::of("line", number, &line.id), why))?;
    }
    check_ids(of)?;
    if let Some(id) = &of.breakdown {
        let named = of.series_named(id);
        named.map_err(|why| (Table::head(), format!("breakdown: {why}")))?;
    }
    for (name, chart) in &of.charts {
        let drawn = of.series.iter().filter(|series| series.chart == *name);
        let checked = chart.check(&drawn.collect::<Vec<_>>());
        checked.map_err(|why| (Table::named(&["chart", name]), why))?;
    }
    for (name, value) in &of.smoke {
        check_smoke(of, name, value).map_err(|why| (Table::named(&["smoke"]), why))?;
    }
    check_grid(of)?;
    for size in [Size::Full, of.size(Size::Smoke)] {
        Plans::new(of, size)?;
    }
    Ok(())
}

fn check_head(of: &Experiment) -> Result<(), String> {
    if of.lines.is_empty() && of.series.is_empty() {
        let why = "the file has no [[series]] and no [[line]], so nothing would run; add a \
                   [[series]]";
        return Err(why.to_owned());
    }
    let place = Place::named(&of.machine, &Changes::default());
    place.map_err(|error| format!("{MACHINE}: machine '{}': {error}", of.machine))?;
    Ok(())
}

fn check_chart_of(of: &Experiment, name: &str) -> Result<(), String> {
    if of.charts.contains_key(name) {
        return Ok(());
    }
    let known: Vec<&str> = of.charts.keys().map(String::as_str).collect();
    let instead = instead(name, &known);
    Err(format!("chart: there is no [chart.{name}]; {instead}"))
}

fn check_ids(of: &Experiment) -> Result<(), Wrong> {
    let series = of.series.iter().map(|series| &series.id).enumerate();
    let lines = of.lines.iter().map(|line| &line.id).enumerate();
    let series = series.map(|(number, id)| ("series", number, id));
    let lines = lines.map(|(number, id)| ("line", number, id));
    let mut known = BTreeSet::new();
    for (list, number, id) in series.chain(lines) {
        if !known.insert((list, id)) {
            let why = format!("id: '{id}' appears twice; give this {list} another id");
            return Err((Table::of(list, number, id), why));
        }
    }
    Ok(())
}

fn check_smoke(of: &Experiment, name: &str, value: &Scalar) -> Result<(), String> {
    if name == RUNS {
        let mut number = value.number().into_iter();
        return if number.any(|it| it >= 1.0 && it.fract() == 0.0) {
            Ok(())
        } else {
            Err(format!("runs {value}: expected a number from 1"))
        };
    }
    let programs = programs(of, |_| true);
    if let Some(program) = programs.iter().find(|program| program.knows(name)) {
        return check_option(program, name, value).map_err(|why| format!("{name}: {why}"));
    }
    let known = programs.iter().flat_map(|program| program.options());
    let known: BTreeSet<String> = known.collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let why = unknown("option", name, &known);
    Err(format!(
        "{name}: no program of this experiment has it; {why}"
    ))
}

/// The programs of these series, by id, and of lines, which have none.
fn programs(of: &Experiment, is_of: impl Fn(Option<&str>) -> bool) -> Vec<&'static Listing> {
    let series = of.series.iter().filter(|series| is_of(Some(&series.id)));
    let lines = of.lines.iter().filter(|_| is_of(None));
    let lines = lines.filter_map(|line| line.program.as_deref());
    let names = series.map(|series| series.program.as_str()).chain(lines);
    names.filter_map(|name| program::named(name).ok()).collect()
}

fn check_grid(of: &Experiment) -> Result<(), Wrong> {
    for (number, table) in of.grid.iter().enumerate() {
        let programs = programs(of, |series| GridTable::turns(table, series));
        let checked = table.check(&of.series, &programs);
        checked.map_err(|why| (Table::of("grid", number, &table.dial), why))?;
    }
    if of.grid.is_empty() {
        return Ok(());
    }
    if of.lines.is_empty() {
        let why = "the readings are compared by their claims; add a [[line]]";
        return Err((Table::of("grid", 0, &of.grid[0].dial), why.to_owned()));
    }
    if of.breakdown.is_some() {
        let why = "breakdown: leave it out; it shows one run, and there are many readings";
        return Err((Table::head(), why.to_owned()));
    }
    let mut lines = of.lines.iter().enumerate();
    match lines.find(|(_, line)| line.known_miss.is_some()) {
        Some((number, line)) => {
            let why = "known_miss: leave it out; a table of all readings shows which miss";
            Err((Table::of("line", number, &line.id), why.to_owned()))
        }
        None => Ok(()),
    }
}
