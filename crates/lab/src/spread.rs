//! How figures spread: quantiles of ticks by nearest rank, mean and standard deviation of runs.
//!
//! Quantiles are elements of what was measured, found on whole numbers, so that a report does not
//! depend on how many threads counted. `sd` divides by n - 1: runs are a sample.

/// Mean, standard deviation, least and most.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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
    /// Of these figures.
    ///
    /// # Panics
    /// When there are none.
    pub fn of(figures: &[f64]) -> Spread {
        assert!(!figures.is_empty(), "nothing was measured");
        let count = figures.len() as f64;
        let mean = figures.iter().sum::<f64>() / count;
        let squares: f64 = figures.iter().map(|figure| (figure - mean).powi(2)).sum();
        Spread {
            mean,
            sd: if figures.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 },
            min: figures.iter().copied().fold(f64::INFINITY, f64::min),
            max: figures.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

/// The element of ascending `sorted` at or below which `percent` per cent of all lie: the nearest
/// rank.
///
/// # Panics
/// When there are none.
pub fn quantile(sorted: &[u64], percent: u64) -> u64 {
    assert!(!sorted.is_empty() && percent <= 100, "a quantile of something");
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
        let spread = Spread::of(&[2.0, 4.0, 6.0]);
        assert_eq!(spread, Spread { mean: 4.0, sd: 2.0, min: 2.0, max: 6.0 });
        assert_eq!(Spread::of(&[5.0]), Spread { mean: 5.0, sd: 0.0, min: 5.0, max: 5.0 });
    }
}
