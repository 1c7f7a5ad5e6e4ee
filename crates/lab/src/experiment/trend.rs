//! A trend: what the paper says of a curve when it gives no figure.
//!
//! Each shape is one number, of the means at full size, that is 1 when the curve has it. So a trend
//! is judged like any other claim: within `tolerance` (0 if it is not said), as a known miss, or by
//! what it was `today`.
//!
//! ```text
//!   is            the number                                                   claimed
//!   rising        the least ratio of a point's y to that of the point before   at least 1
//!   falling       the least ratio of a point's y to that of the point after    at least 1
//!   flat          the most y by the least y                                    1
//!   linear        1 less the largest distance of a point from the straight     at least 1
//!                 line of least squares, by the difference of the most and
//!                 the least y
//!   lowest-at     the x of the least y; the first of them if there are more    `at`
//! ```
//!
//! So `is = "flat"` with `tolerance = 0.1` allows that the most is 10 % above the least, and `is =
//! "linear"` with the same that a point is off the line by a tenth of the whole climb. A rising
//! curve may fall by the tolerance from one point to the next.

use serde::Deserialize;

use super::claim::Terms;
use super::series::Series;

/// What the paper says of a series.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trend {
    /// A word for programs.
    pub id: String,
    /// The paper's words.
    pub claim: String,
    /// Of which series.
    pub series: String,
    /// What it looks like.
    pub is: Shape,
    /// Where the lowest point lies.
    pub at: Option<f64>,
    /// How far it may be off, as a share.
    #[serde(default)]
    pub tolerance: f64,
    /// Ours when the trend was written.
    pub today: Option<f64>,
    /// Why it is not so.
    pub known_miss: Option<String>,
    /// What to know of it.
    pub note: Option<String>,
}

/// What a series looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// No point is below the one before.
    Rising,
    /// No point is above the one before.
    Falling,
    /// All points are as high.
    Flat,
    /// All points lie on a straight line.
    Linear,
    /// One point is the lowest.
    LowestAt,
}

impl Trend {
    /// What is wrong with it, as a trend of that series.
    pub(super) fn check(&self, series: &Series) -> Result<(), String> {
        let needed = if self.is == Shape::Linear { 3 } else { 2 };
        let points = series.over.len();
        if points < needed {
            let id = &series.id;
            return Err(format!(
                "series: '{id}' has {points} points, and needs {needed} or more"
            ));
        }
        match (self.is, self.at) {
            (Shape::LowestAt, None) => return Err("at: missing, and is = lowest-at".to_owned()),
            (Shape::LowestAt, Some(at)) => {
                let mut places = (0..points).map(|place| series.x(place));
                if places.all(|x| x != at) {
                    return Err(format!("at: series '{}' has no point at {at}", series.id));
                }
            }
            (_, Some(_)) => return Err("at: only lowest-at is at a place".to_owned()),
            (_, None) => {}
        }
        self.terms().check()
    }

    pub(super) fn terms(&self) -> Terms<'_> {
        Terms {
            paper: self.at.unwrap_or(1.0),
            at_most: false,
            at_least: matches!(self.is, Shape::Rising | Shape::Falling | Shape::Linear),
            tolerance: Some(self.tolerance),
            today: self.today,
            known_miss: self.known_miss.as_deref(),
        }
    }

    /// Of what its number is, of a series that varies this.
    pub(super) fn unit(&self, vary: &str) -> String {
        match self.is {
            Shape::Rising => "x up a step".to_owned(),
            Shape::Falling => "x down a step".to_owned(),
            Shape::Flat => "x from least to most".to_owned(),
            Shape::Linear => "of a line".to_owned(),
            Shape::LowestAt => vary.to_owned(),
        }
    }

    /// The number of these points, in the order of x.
    pub(super) fn of(&self, points: &[(f64, f64)]) -> f64 {
        let least = |numbers: &mut dyn Iterator<Item = f64>| numbers.fold(f64::INFINITY, f64::min);
        let heights = points.iter().map(|(_, y)| *y);
        let (low, high) = (
            least(&mut heights.clone()),
            heights.fold(f64::NEG_INFINITY, f64::max),
        );
        match self.is {
            Shape::Rising => least(&mut points.windows(2).map(|two| two[1].1 / two[0].1)),
            Shape::Falling => least(&mut points.windows(2).map(|two| two[0].1 / two[1].1)),
            Shape::Flat => high / low,
            Shape::Linear => 1.0 - farthest(points) / (high - low),
            Shape::LowestAt => {
                let lowest = points.iter().find(|(_, y)| *y == low);
                lowest.map_or(f64::NAN, |(x, _)| *x)
            }
        }
    }
}

/// The largest distance in y of a point from the line of least squares.
fn farthest(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x0, y0) = (mean(|point| point.0), mean(|point| point.1));
    let squares: f64 = points.iter().map(|(x, _)| (x - x0).powi(2)).sum();
    let slope = points.iter().map(|(x, y)| (x - x0) * (y - y0)).sum::<f64>() / squares;
    points
        .iter()
        .map(|(x, y)| (y - y0 - slope * (x - x0)).abs())
        .fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(is: &str, heights: &[f64]) -> f64 {
        let trend = format!("id = 'x'\nclaim = 'x'\nseries = 'x'\nis = '{is}'");
        let trend: Trend = toml::from_str(&trend).unwrap();
        let points = heights.iter().enumerate().map(|(x, y)| (x as f64, *y));
        trend.of(&points.collect::<Vec<_>>())
    }

    #[test]
    fn each_shape_is_a_number() {
        assert_eq!(number("rising", &[1.0, 2.0, 5.0]), 2.0);
        assert_eq!(number("rising", &[1.0, 2.0, 1.0]), 0.5);
        assert_eq!(number("falling", &[8.0, 2.0, 1.0]), 2.0);
        assert_eq!(number("falling", &[1.0, 2.0]), 0.5);
        assert_eq!(number("flat", &[2.0, 3.0, 2.5]), 1.5);
        assert_eq!(number("lowest-at", &[3.0, 2.0, 2.0, 4.0]), 1.0);
        assert_eq!(number("linear", &[1.0, 3.0, 5.0]), 1.0);
        // The line through 0, 2, 1 rises by 1/2 from 1/2: the second point is 1 above it.
        assert_eq!(number("linear", &[0.0, 2.0, 1.0]), 0.5);
    }

    /// What neither rises nor falls has no line to lie on.
    #[test]
    fn a_flat_curve_is_no_line() {
        assert!(!number("linear", &[2.0, 2.0, 2.0]).is_finite());
    }
}
