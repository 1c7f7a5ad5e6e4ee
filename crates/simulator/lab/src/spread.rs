//! Spreads over runs: quantiles of ticks by nearest rank, mean and standard deviation.
//!
//! Ticks are summed and ranked as whole numbers and become microseconds at the end, so a report
//! does not depend on how many threads counted. `sd` divides by n - 1: runs are a sample.

pub use plot::Spread;

const FS_PER_US: f64 = 1e9;

/// The spread of ticks of that length, in microseconds. Equal figures have themselves as their mean
/// and no deviation, because sums are whole numbers.
///
/// # Panics
/// If there are no figures.
pub fn of_ticks(figures: &[u64], tick_fs: u64) -> Spread {
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

/// The spread of figures that are no ticks. Differences from the first are summed, so equal figures
/// have themselves as their mean and no deviation.
///
/// # Panics
/// If there are no figures.
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
    Spread {
        mean,
        sd,
        min: figures.iter().copied().fold(first, f64::min),
        max: figures.iter().copied().fold(first, f64::max),
    }
}

/// The spread of the figures times `factor`, plus `plus`.
pub(crate) fn scaled(spread: Spread, factor: f64, plus: f64) -> Spread {
    let change = |figure: f64| figure * factor + plus;
    Spread {
        mean: change(spread.mean),
        sd: spread.sd * factor,
        min: change(spread.min),
        max: change(spread.max),
    }
}

/// Ticks in microseconds. One division gives the closest number.
pub(crate) fn microseconds(ticks: u64, tick_fs: u64) -> f64 {
    (u128::from(ticks) * u128::from(tick_fs)) as f64 / FS_PER_US
}

/// Microseconds of a sum of ticks divided by `count`; never beyond the least or the most of them.
pub(crate) fn mean_us(sum: u128, count: usize, tick_fs: u64) -> f64 {
    let (all_fs, count) = (sum * u128::from(tick_fs), count as u128);
    ((all_fs / count) as f64 + (all_fs % count) as f64 / count as f64) / FS_PER_US
}

/// The deviation, in ticks, from the mean `whole + rest / count`. Squares of differences from the
/// whole number are exact; the part by which it is below the mean is taken off again.
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

/// The quantile of ascending figures by nearest rank: always one of them.
///
/// # Panics
/// If there are no figures, or `percent` is above 100.
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

    fn spread(mean: f64, sd: f64, min: f64, max: f64) -> Spread {
        Spread { mean, sd, min, max }
    }

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
        let of = |figures: &[u64]| of_ticks(figures, 1_000_000_000);
        assert_eq!(of(&[2, 4, 6]), spread(4.0, 2.0, 2.0, 6.0));
        assert_eq!(of(&[5]), spread(5.0, 0.0, 5.0, 5.0));
        assert_eq!(of(&[1, 2]), spread(1.5, 0.5_f64.sqrt(), 1.0, 2.0));
    }

    #[test]
    fn figures_spread_as_ticks_do() {
        let found = of_figures(&[2.0, 4.0, 6.0]);
        assert_eq!(found, spread(4.0, 2.0, 2.0, 6.0));
        let same = of_figures(&[0.1; 3]);
        assert_eq!(same, spread(0.1, 0.0, 0.1, 0.1));
        let expected = spread(3.0, 1.0, 2.0, 4.0);
        assert_eq!(scaled(found, 0.5, 1.0), expected);
    }

    /// In microseconds 3 x 0.1 is more than 0.3: of equal runs the mean would be beyond the most.
    #[test]
    fn equal_runs_do_not_deviate() {
        for ticks in [0, 1, 3, 2_203, 6_527, 1 << 40, (1 << 57) + 1] {
            for runs in [1, 3, 7, 10, 1000] {
                let found = of_ticks(&vec![ticks; runs], 312_500);
                let us = microseconds(ticks, 312_500);
                assert_eq!(found, spread(us, 0.0, us, us));
            }
        }
    }

    #[test]
    fn a_mean_is_between_the_least_and_the_most() {
        for base in [0, 7, 2_203, (1 << 57) - 9] {
            for last in 1..9 {
                let mut figures = vec![base; 6];
                figures.push(base + last);
                let spread = of_ticks(&figures, 312_500);
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
