//! Readings: all combinations of the choices that a paper leaves open.
//!
//! ```text
//!   [[grid]]
//!   dial    an option of programs, a change of the machine, or a name for several
//!   over    its values: numbers or words, or tables of options; "default" sets nothing
//!   smoke   some of them at smoke size (else all)
//!   of      ids of the series that it turns; if left out, all series and lines whose program has
//!           the option. A dial does not override what a series sets or varies itself
//! ```
//!
//! Each reading is the experiment with one value of each dial, so every claim is judged for every
//! reading in the same way, and none is chosen for its result. Jobs that several readings need run
//! once. A file without dials has one reading.
//!
//! `today` and `smoke` of a line are the figures of the first reading, which has the first value of
//! every dial.

use plot::Size;
use serde::Deserialize;

use super::series::Series;
use crate::changes::Changes;
use crate::program::Listing;
use crate::sweep::{self, Choice, Dial, Values, at_size, check_option, check_values, unknown};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GridTable {
    pub dial: String,
    over: Vec<Choice>,
    pub smoke: Option<Vec<Choice>>,
    of: Option<Vec<String>>,
}

impl GridTable {
    fn dial(&self, size: Size) -> Dial {
        Dial {
            name: self.dial.clone(),
            values: at_size(&self.over, self.smoke.as_ref(), size).to_vec(),
        }
    }

    /// Whether it turns a series, or lines of their own program.
    pub(super) fn turns(&self, series: Option<&str>) -> bool {
        let of = self.of.as_ref();
        of.is_none_or(|of| of.iter().any(|id| Some(id.as_str()) == series))
    }

    /// Checks the table by itself, in an experiment with these series; it turns `programs`.
    pub(super) fn check(&self, series: &[Series], programs: &[&Listing]) -> Result<(), String> {
        check_values(&self.over, self.smoke.as_ref(), "reading")?;
        let ids: Vec<&str> = series.iter().map(|series| series.id.as_str()).collect();
        let mut named = self.of.iter().flatten();
        if let Some(id) = named.find(|id| !ids.contains(&id.as_str())) {
            return Err(format!("of: {}", unknown("series", id, &ids)));
        }
        let options = self.over.iter().map(|choice| choice.options(&self.dial));
        for (option, value) in options.flatten() {
            let key = if option == self.dial { "dial" } else { "over" };
            let changed = Changes::default().set(&option, &value);
            if changed.map_err(|why| format!("{key}: {option} {value}: {why}"))? {
                continue;
            }
            let known = programs.iter().find(|program| program.knows(&option));
            if let Some(program) = known.or(programs.first()) {
                let checked = check_option(program, &option, &value);
                checked.map_err(|why| format!("{key}: {why}"))?;
            }
        }
        Ok(())
    }
}

/// One value of each dial of a file.
#[derive(Clone, Debug)]
pub(super) struct Reading<'a> {
    grid: &'a [GridTable],
    pub values: sweep::Reading,
    /// Whether it has the first value of every dial: the figures of the file are its.
    pub is_first: bool,
}

impl<'a> Reading<'a> {
    /// All readings of these dials at that size.
    pub fn all(grid: &'a [GridTable], size: Size) -> Vec<Reading<'a>> {
        let dials: Vec<Dial> = grid.iter().map(|table| table.dial(size)).collect();
        let readings = sweep::all(&dials).into_iter().enumerate();
        let readings = readings.map(|(number, values)| Reading {
            grid,
            values,
            is_first: number == 0,
        });
        readings.collect()
    }

    /// The options that it sets in a series of that id, or in lines of their own program. Of two
    /// dials that set the same option the first one counts.
    pub fn options(&self, series: Option<&str>) -> Values {
        let turned = self.grid.iter().zip(&self.values).rev();
        let turned = turned.filter(|(table, _)| table.turns(series));
        let options = turned.map(|(table, choice)| choice.options(&table.dial));
        options.flatten().collect()
    }

    /// Its values with the names of the dials, for people.
    pub fn told(&self) -> String {
        let words = self.grid.iter().zip(&self.values);
        let words = words.map(|(table, value)| format!("{} {value}", table.dial));
        words.collect::<Vec<_>>().join(", ")
    }
}
