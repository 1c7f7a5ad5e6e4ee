//! A chart: its axes, and the points that the paper gives.
//!
//! ```text
//!   [chart.NAME]      series name their chart; charts are in the order in which series name them
//!   title             heading, if not the experiment's title
//!   x, y              quantity and unit of the axes; times are in microseconds. If left out, what
//!                     the first series varies and measures
//!   x_scale, y_scale  "linear" or "log"
//!   names             of the places 0, 1, 2 ... of an x axis without numbers; if left out, the
//!                     words of the first series
//!   trees             merge trees below it: { cores, incast = [1, 2, 4] }
//!   paper             the paper's points: a list of { label, x, y, sd }; sd where it has one
//! ```

use grain::Tree;
use node::Rank;
use plot::{Axis, Chart, Link, Mark, Scale};
use serde::Deserialize;

use super::series::Series;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChartTable {
    title: Option<String>,
    #[serde(default)]
    pub x: String,
    #[serde(default)]
    pub y: String,
    #[serde(default)]
    x_scale: Scale,
    #[serde(default)]
    y_scale: Scale,
    #[serde(default)]
    names: Vec<String>,
    #[serde(default)]
    paper: Vec<Mark>,
    trees: Option<Trees>,
}

/// Merge trees over some cores, one of each incast.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Trees {
    cores: u32,
    incast: Vec<u32>,
}

/// Most cores of a drawn tree, whose dots would touch.
const MOST_DRAWN: u32 = 64;

impl ChartTable {
    /// The chart of a series that names none.
    pub(super) fn of(series: &Series) -> ChartTable {
        let words = series.over.iter().filter(|_| series.has_words());
        ChartTable {
            x: series.vary.clone(),
            y: match &series.relative_to {
                Some(value) => format!("{}, relative to {value}", series.measure.name()),
                None => series.measure.to_string(),
            },
            names: words.map(ToString::to_string).collect(),
            ..ChartTable::default()
        }
    }

    /// Fills in axes that a file leaves out, as those of a series.
    pub(super) fn complete(&mut self, series: &Series) {
        let default = ChartTable::of(series);
        for (axis, default) in [(&mut self.x, default.x), (&mut self.y, default.y)] {
            if axis.is_empty() {
                *axis = default;
            }
        }
        if self.names.is_empty() {
            self.names = default.names;
        }
    }

    pub(super) fn check(&self, drawn: &[&Series]) -> Result<(), String> {
        if drawn.is_empty() {
            return Err("no series is drawn in it".to_owned());
        }
        self.trees.as_ref().map_or(Ok(()), Trees::check)?;
        for mark in &self.paper {
            let checked = self.check_mark(mark);
            checked.map_err(|why| format!("paper: '{}': {why}", mark.label))?;
        }
        for series in drawn {
            let of_series = |why| format!("series '{}': {why}", series.id);
            if series.has_words() && self.names.is_empty() {
                let why = "its values are words: names is missing";
                return Err(of_series(why.to_owned()));
            }
            let mut places = 0..series.over.len();
            let checked = places.try_for_each(|place| self.check_x(series.x(place)));
            checked.map_err(of_series)?;
        }
        Ok(())
    }

    fn check_mark(&self, mark: &Mark) -> Result<(), String> {
        self.check_x(mark.x)?;
        check_on("y", mark.y, self.y_scale)?;
        match mark.sd {
            Some(sd) if !(sd.is_finite() && sd >= 0.0) => {
                Err("sd: expected a number from 0".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn check_x(&self, x: f64) -> Result<(), String> {
        let names = self.names.len();
        if names > 0 && !(0..names).any(|place| place as f64 == x) {
            return Err(format!(
                "x is {x}: expected a whole number below {names}, as many as names"
            ));
        }
        check_on("x", x, self.x_scale)
    }

    /// The chart without series, of an experiment with that title.
    pub(super) fn empty(&self, title: &str) -> Chart {
        let axis = |label: &String, scale, names: &[String]| Axis {
            label: label.clone(),
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

    /// The merge trees below the chart.
    pub(super) fn trees(&self) -> Vec<plot::Tree> {
        self.trees.as_ref().map_or_else(Vec::new, Trees::shapes)
    }
}

impl Trees {
    fn check(&self) -> Result<(), String> {
        let Trees { cores, incast } = self;
        if incast.contains(&0) {
            return Err("trees: incast 0: expected a number from 1".to_owned());
        }
        if !(2..=MOST_DRAWN).contains(cores) {
            let expected = format!("expected a number from 2 to {MOST_DRAWN}");
            return Err(format!("trees: cores {cores}: {expected}"));
        }
        Ok(())
    }

    fn shapes(&self) -> Vec<plot::Tree> {
        let link = |incast, child| {
            let (Rank(parent), level) = Tree::new(self.cores, incast).parent(Rank(child))?;
            // All links of a chain are of level 1 of their own parent.
            let level = if incast == 1 {
                self.cores - child
            } else {
                level
            };
            Some(Link {
                child,
                parent,
                level,
            })
        };
        let shape = |&incast: &u32| plot::Tree {
            label: format!("incast {incast}"),
            cores: self.cores,
            links: (0..self.cores)
                .filter_map(|child| link(incast, child))
                .collect(),
        };
        self.incast.iter().map(shape).collect()
    }
}

fn check_on(axis: &str, value: f64, scale: Scale) -> Result<(), String> {
    match scale {
        Scale::Log if value <= 0.0 => Err(format!(
            "{axis} is {value}: {axis}_scale log is of numbers above 0"
        )),
        _ if !value.is_finite() => Err(format!("{axis} is {value}: expected a number")),
        _ => Ok(()),
    }
}
