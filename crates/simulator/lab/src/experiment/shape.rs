//! Shapes of curves, for claims without a figure.
//!
//! A shape is a number of the means at full size that is 1 if the curve has the shape. So it is
//! judged like any other claim, with tolerance 0 if none is given.
//!
//! ```text
//!   is            the number                                                   claimed
//!   rising        the least ratio of a point's y to that of the point before   at least 1
//!   falling       the least ratio of a point's y to that of the point after    at least 1
//!   flat          the most y by the least y                                    1
//!   linear        1 less the largest distance of a point from the straight     at least 1
//!                 line of least squares, by the difference of the most and
//!                 the least y
//!   lowest-at     the x of the least y; the first of several                   the x of `at`
//! ```
//!
//! With `tolerance = 0.1`, the most of a flat curve may be 10 % above the least, a point of a
//! linear one may be off the line by a tenth of the whole climb, and a rising one may fall by a
//! tenth from one point to the next.

use serde::Deserialize;

use super::series::Series;
use crate::sweep::Scalar;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Shape {
    Rising,
    Falling,
    Flat,
    Linear,
    LowestAt,
}

impl Shape {
    pub(super) fn check(self, at: Option<&Scalar>, series: &Series) -> Result<(), String> {
        let (id, points) = (&series.id, series.over.len());
        let needed = if self == Shape::Linear { 3 } else { 2 };
        if points < needed {
            return Err(format!(
                "series: '{id}' has {points} points, and needs {needed} or more"
            ));
        }
        match (self, at) {
            (Shape::LowestAt, None) => Err("at: missing, and is = lowest-at".to_owned()),
            (Shape::LowestAt, Some(at)) if series.place_of(at).is_err() => {
                Err(format!("at: series '{id}' has no point at {at}"))
            }
            (Shape::LowestAt, Some(_)) | (_, None) => Ok(()),
            (_, Some(_)) => Err("at: only lowest-at is at a place".to_owned()),
        }
    }

    pub(super) fn is_at_least(self) -> bool {
        matches!(self, Shape::Rising | Shape::Falling | Shape::Linear)
    }

    /// The unit of the number, of a series that varies this.
    pub(super) fn unit(self, vary: &str) -> &str {
        match self {
            Shape::Rising => "x up a step",
            Shape::Falling => "x down a step",
            Shape::Flat => "x from least to most",
            Shape::Linear => "of a line",
            Shape::LowestAt => vary,
        }
    }

    /// The number of these points by ascending x.
    pub(super) fn of(self, points: &[(f64, f64)]) -> f64 {
        let least = |numbers: &mut dyn Iterator<Item = f64>| numbers.fold(f64::INFINITY, f64::min);
        let mut heights = points.iter().map(|(_, y)| *y);
        let high = heights.clone().fold(f64::NEG_INFINITY, f64::max);
        let low = least(&mut heights);
        match self {
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
    let distances = points
        .iter()
        .map(|(x, y)| (y - y0 - slope * (x - x0)).abs());
    distances.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(shape: Shape, heights: &[f64]) -> f64 {
        let points = heights.iter().enumerate().map(|(x, y)| (x as f64, *y));
        shape.of(&points.collect::<Vec<_>>())
    }

    #[test]
    fn each_shape_is_a_number() {
        assert_eq!(number(Shape::Rising, &[1.0, 2.0, 5.0]), 2.0);
        assert_eq!(number(Shape::Rising, &[1.0, 2.0, 1.0]), 0.5);
        assert_eq!(number(Shape::Falling, &[8.0, 2.0, 1.0]), 2.0);
        assert_eq!(number(Shape::Falling, &[1.0, 2.0]), 0.5);
        assert_eq!(number(Shape::Flat, &[2.0, 3.0, 2.5]), 1.5);
        assert_eq!(number(Shape::LowestAt, &[3.0, 2.0, 2.0, 4.0]), 1.0);
        assert_eq!(number(Shape::Linear, &[1.0, 3.0, 5.0]), 1.0);
        // The line through 0, 2, 1 rises by 1/2 from 1/2: the second point is 1 above it.
        assert_eq!(number(Shape::Linear, &[0.0, 2.0, 1.0]), 0.5);
    }

    #[test]
    fn a_flat_curve_is_not_linear() {
        assert!(!number(Shape::Linear, &[2.0, 2.0, 2.0]).is_finite());
    }
}
