//! A chart: the axes, and the points that the paper gives.
//!
//! ```text
//!   [chart.NAME]      series name it; charts come in the order in which series first do
//!   title             what it shows, if not the experiment's title
//!   x, y              what the axes are, with their units; times are in microseconds
//!   x_scale, y_scale  "linear" or "log"
//!   names             of the places 0, 1, 2 ... of an axis without numbers
//!   paper             the paper's points: a list of { label, x, y, sd }, with sd where it has one
//! ```

use serde::Deserialize;

use super::series::Series;
use crate::figure::{Axis, Chart, Mark, Scale};

/// A chart, as its table says.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChartTable {
    /// What it shows, if not the same as the experiment.
    pub title: Option<String>,
    /// What is varied.
    pub x: String,
    /// What comes out.
    pub y: String,
    /// How x is divided.
    #[serde(default)]
    pub x_scale: Scale,
    /// How y is divided.
    #[serde(default)]
    pub y_scale: Scale,
    /// Names of the places of x.
    #[serde(default)]
    pub names: Vec<String>,
    /// Points that the paper gives.
    #[serde(default)]
    pub paper: Vec<Mark>,
}

impl ChartTable {
    /// The chart of a series that names none.
    pub(super) fn of(series: &Series) -> ChartTable {
        let words = || series.over.iter().map(ToString::to_string).collect();
        ChartTable {
            title: None,
            x: series.vary.clone(),
            y: series.measure.to_string(),
            x_scale: Scale::default(),
            y_scale: Scale::default(),
            names: if series.has_words() {
                words()
            } else {
                Vec::new()
            },
            paper: Vec::new(),
        }
    }

    /// What is wrong with it and the series that are drawn in it.
    pub(super) fn check<'a>(
        &self,
        drawn: impl Iterator<Item = &'a Series> + Clone,
    ) -> Result<(), String> {
        if drawn.clone().next().is_none() {
            return Err("no series is drawn in it".to_owned());
        }
        for mark in &self.paper {
            let Mark { label, x, y, sd } = mark;
            self.check_place(*x)
                .map_err(|why| format!("paper: '{label}': {why}"))?;
            self.check_height(*y)
                .map_err(|why| format!("paper: '{label}': {why}"))?;
            if sd.is_some_and(|sd| !(sd.is_finite() && sd >= 0.0)) {
                return Err(format!("paper: '{label}': sd: expected a number from 0"));
            }
        }
        for series in drawn {
            let of_series = |why: String| format!("series '{}': {why}", series.id);
            if series.has_words() && self.names.is_empty() {
                return Err(of_series(
                    "its values are words: names is missing".to_owned(),
                ));
            }
            for place in 0..series.over.len() {
                self.check_place(series.x(place)).map_err(of_series)?;
            }
        }
        Ok(())
    }

    fn check_place(&self, x: f64) -> Result<(), String> {
        let names = self.names.len();
        if names > 0 && !(0..names).any(|place| place as f64 == x) {
            return Err(format!(
                "x is {x}: expected a whole number below {names}, as many as names"
            ));
        }
        match self.x_scale {
            Scale::Log if x <= 0.0 => Err(format!("x is {x}: x_scale log is of numbers above 0")),
            _ if !x.is_finite() => Err(format!("x is {x}: expected a number")),
            _ => Ok(()),
        }
    }

    fn check_height(&self, y: f64) -> Result<(), String> {
        match self.y_scale {
            Scale::Log if y <= 0.0 => Err(format!("y is {y}: y_scale log is of numbers above 0")),
            _ if !y.is_finite() => Err(format!("y is {y}: expected a number")),
            _ => Ok(()),
        }
    }

    /// The chart, still empty, of an experiment with that title.
    pub(super) fn empty(&self, title: &str) -> Chart {
        let axis = |label: &str, scale, names: &[String]| Axis {
            label: label.to_owned(),
            scale,
            names: names.to_vec(),
        };
        Chart {
            title: self.title.as_deref().unwrap_or(title).to_owned(),
            x: axis(&self.x, self.x_scale, &self.names),
            y: axis(&self.y, self.y_scale, &[]),
            series: Vec::new(),
            paper: self.paper.clone(),
        }
    }
}
