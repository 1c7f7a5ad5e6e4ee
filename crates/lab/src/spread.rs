//! How figures spread: quantiles of ticks by nearest rank, mean and standard deviation of runs.
//!
//! Quantiles are elements of what was measured, found on whole numbers, so that a report does not
//! depend on how many threads counted. `sd` divides by n - 1: runs are a sample.

use serde::{Deserialize, Serialize};

use crate::report::{FS_PER_US, microseconds};

/// Mean, standard deviation, least and most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Sum divided by count.
    pub mean: f64,
    /// Standard deviation of a sample; 0 for a single figure.
    pub sd: f64,
    /// The least.
    pub min: f64,
    /// The most.
    pub max: f64,
}

impl Spread {
    /// Of so many ticks each, of that length, in microseconds. Sums are of whole numbers, so
    /// figures that are the same have themselves as their mean, and no deviation.
    ///
    /// # Panics
    /// When there are none.
    pub fn of(figures: &[u64], tick_fs: u64) -> Spread {
        let (least, most) = (figures.iter().min(), figures.iter().max());
        let (least, most) = least.zip(most).expect("something was measured");
        let count = figures.len() as u128;
        let sum: u128 = figures.iter().map(|ticks| u128::from(*ticks)).sum();
        Spread {
            mean: mean_us(sum, figures.len(), tick_fs),
            sd: deviation(figures, sum / count, sum % count) * microseconds(1, tick_fs),
            min: microseconds(*least, tick_fs),
            max: microseconds(*most, tick_fs),
        }
    }
}

impl Spread {
    /// Of figures that are no ticks. Sums are of differences from the first, so figures that are
    /// the same have themselves as their mean, and no deviation.
    ///
    /// # Panics
    /// When there are none.
    pub fn of_figures(figures: &[f64]) -> Spread {
        let first = *figures.first().expect("something was measured");
        let count = figures.len() as f64;
        let mean = first + figures.iter().map(|figure| figure - first).sum::<f64>() / count;
        let squares: f64 = figures.iter().map(|figure| (figure - mean).powi(2)).sum();
        let sd = if figures.len() < 2 {
            0.0
        } else {
            (squares / (count - 1.0)).sqrt()
        };
        let (min, max) = (
            figures.iter().copied().fold(first, f64::min),
            figures.iter().copied(),
        );
        Spread {
            mean,
            sd,
            min,
            max: max.fold(first, f64::max),
        }
    }

    /// The same of figures that are so many times as large, and so much more.
    #[must_use]
    pub(crate) fn scaled(self, factor: f64, plus: f64) -> Spread {
        let change = |figure: f64| figure * factor + plus;
        let Spread { mean, sd, min, max } = self;
        Spread {
            mean: change(mean),
            sd: sd * factor,
            min: change(min),
            max: change(max),
        }
    }
}

/// Microseconds of the `count`-th part of so many ticks; between the least and the most of them.
pub(crate) fn mean_us(sum: u128, count: usize, tick_fs: u64) -> f64 {
    let (all_fs, count) = (sum * u128::from(tick_fs), count as u128);
    ((all_fs / count) as f64 + (all_fs % count) as f64 / count as f64) / FS_PER_US
}

/// The deviation from the mean, `whole` and the `count`-th part of `rest`, in ticks. Squares are of
/// differences from the whole number, which is less than one off: that is taken off again.
fn deviation(figures: &[u64], whole: u128, rest: u128) -> f64 {
    let count = figures.len();
    if count < 2 {
        return 0.0;
    }
    let square = |ticks: &u64| u128::from(*ticks).abs_diff(whole).pow(2);
    let squares = figures.iter().map(square).fold(0, u128::saturating_add);
    let off = (rest * rest) as f64 / count as f64;
    ((squares as f64 - off) / (count - 1) as f64).sqrt()
}

/// The element of ascending `sorted` at or below which `percent` per cent of all lie: the nearest
/// rank.
///
/// # Panics
/// When there are none.
pub fn quantile(sorted: &[u64], percent: u64) -> u64 {
    assert!(
        !sorted.is_empty() && percent <= 100,
        "a quantile of something"
    );
    let rank = (percent * sorted.len() as u64).div_ceil(100);
    sorted[(rank.max(1) - 1) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_elements() {
        let hundred: Vec<u64> = (1..=100).collect();
        let of = |percent| quantile(&hundred, percent);
        assert_eq!([0, 25, 50, 75, 99, 100].map(of), [1, 25, 50, 75, 99, 100]);
        let few = [3, 5, 8, 13];
        let of = |percent| quantile(&few, percent);
        assert_eq!([0, 25, 50, 51, 99, 100].map(of), [3, 3, 5, 8, 13, 13]);
        assert_eq!(quantile(&[7], 50), 7);
    }

    #[test]
    fn runs_are_a_sample() {
        let of = |figures: &[u64]| Spread::of(figures, 1_000_000_000);
        assert_eq!(
            of(&[2, 4, 6]),
            Spread {
                mean: 4.0,
                sd: 2.0,
                min: 2.0,
                max: 6.0
            }
        );
        assert_eq!(
            of(&[5]),
            Spread {
                mean: 5.0,
                sd: 0.0,
                min: 5.0,
                max: 5.0
            }
        );
        assert_eq!(
            of(&[1, 2]),
            Spread {
                mean: 1.5,
                sd: 0.5_f64.sqrt(),
                min: 1.0,
                max: 2.0
            }
        );
    }

    #[test]
    fn figures_spread_as_ticks_do() {
        let spread = Spread::of_figures(&[2.0, 4.0, 6.0]);
        assert_eq!(
            spread,
            Spread {
                mean: 4.0,
                sd: 2.0,
                min: 2.0,
                max: 6.0
            }
        );
        let same = Spread::of_figures(&[0.1; 3]);
        assert_eq!(
            same,
            Spread {
                mean: 0.1,
                sd: 0.0,
                min: 0.1,
                max: 0.1
            }
        );
        let scaled = Spread {
            mean: 3.0,
            sd: 1.0,
            min: 2.0,
            max: 4.0,
        };
        assert_eq!(spread.scaled(0.5, 1.0), scaled);
    }

    /// In microseconds 3 x 0.1 is more than 0.3: of equal runs the mean would be beyond the most.
    #[test]
    fn equal_runs_do_not_deviate() {
        for ticks in [0, 1, 3, 2_203, 6_527, 1 << 40, (1 << 57) + 1] {
            for runs in [1, 3, 7, 10, 1000] {
                let spread = Spread::of(&vec![ticks; runs], 312_500);
                let us = microseconds(ticks, 312_500);
                assert_eq!(
                    spread,
                    Spread {
                        mean: us,
                        sd: 0.0,
                        min: us,
                        max: us
                    }
                );
            }
        }
    }

    #[test]
    fn a_mean_is_between_the_least_and_the_most() {
        for base in [0, 7, 2_203, (1 << 57) - 9] {
            for last in 1..9 {
                let mut figures = vec![base; 6];
                figures.push(base + last);
                let spread = Spread::of(&figures, 312_500);
                assert!(
                    spread.min <= spread.mean && spread.mean <= spread.max,
                    "{spread:?}"
                );
                let expected = last as f64 / 7_f64.sqrt() * 312.5e-6;
                assert!((spread.sd / expected - 1.0).abs() < 1e-9, "{spread:?}");
            }
        }
    }
}
