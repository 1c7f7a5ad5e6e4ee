//! An axis: maps values to places between 0 and 1, and chooses readable ticks.
//!
//! ```text
//!   linear   0 ------ 20 ------ 40 ------ 60 -      steps of 1, 2 or 5 times a power of ten
//!   log      1 ---- 10 ---- 100 ---- 1,000 --       powers of ten; of two if all values are;
//!                                                   1, 2, 5 or even steps if it is short
//!   names      shuffle    sort    level 1           places 0, 1, 2 ...
//! ```
//!
//! A linear axis begins at zero. Zero and negative values have no place on a log axis.

use crate::figure::{Axis, Scale};
use crate::page::text::{grouped, number, with_power};

/// Larger values, and on a log axis those below its inverse, would overflow the margins.
const MOST: f64 = 1e250;

/// Margin beyond the outermost values, as a share, so that no point sits on the frame.
const FREE: f64 = 0.04;

/// Most steps of a linear axis.
const STEPS: f64 = 6.0;

/// Fewest ticks that powers of a log axis must give.
const FEW: usize = 3;

/// A labelled value of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    /// From 0 to 1.
    pub place: f64,
    pub label: String,
}

/// The range of an axis.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    from: f64,
    to: f64,
    is_log: bool,
}

impl Span {
    /// The span with room for all these values.
    pub(crate) fn of(axis: &Axis, values: &[f64]) -> Span {
        if !axis.names.is_empty() {
            // Half a step before the first name and after the last.
            return Span::exact(-0.5, axis.names.len() as f64 - 0.5);
        }
        let is_log = axis.scale == Scale::Log;
        let fits = |value: &f64| value.abs() <= MOST && (!is_log || *value >= MOST.recip());
        let shown = || values.iter().copied().filter(fits);
        let from = shown().fold(f64::INFINITY, f64::min);
        let to = shown().fold(f64::NEG_INFINITY, f64::max);
        if is_log {
            Span::log(from, to)
        } else {
            Span::linear(from.min(0.0), to.max(0.0))
        }
    }

    /// A linear span without margins.
    pub(crate) fn exact(from: f64, to: f64) -> Span {
        Span {
            from,
            to: if to > from { to } else { from + 1.0 },
            is_log: false,
        }
    }

    fn linear(from: f64, to: f64) -> Span {
        let margin = (to - from) * FREE;
        // An end at zero is the frame.
        let beyond = |end: f64| {
            if end == 0.0 {
                0.0
            } else {
                end + margin.copysign(end)
            }
        };
        Span::exact(beyond(from), beyond(to))
    }

    fn log(from: f64, to: f64) -> Span {
        let (from, to) = if from > to { (1.0, 10.0) } else { (from, to) };
        // A single value is in the middle of two octaves.
        let margin = if from == to {
            2.0
        } else {
            ((to.ln() - from.ln()) * FREE).exp()
        };
        Span {
            from: from / margin,
            to: to * margin,
            is_log: true,
        }
    }

    /// The place of a value, beyond 0 and 1 if it is outside; `None` if the axis cannot show it.
    pub(crate) fn place(&self, value: f64) -> Option<f64> {
        if !value.is_finite() || (self.is_log && value <= 0.0) {
            return None;
        }
        let scaled = |value: f64| if self.is_log { value.ln() } else { value };
        let [value, from, to] = [value, self.from, self.to].map(scaled);
        Some((value - from) / (to - from))
    }

    /// The place of a value, cut to the axis.
    pub(crate) fn place_within(&self, value: f64) -> f64 {
        self.place(value).unwrap_or(0.0).clamp(0.0, 1.0)
    }

    /// Ticks by ascending place: at least one, and about a dozen at most.
    pub(crate) fn ticks(&self, axis: &Axis, values: &[f64]) -> Vec<Tick> {
        if !axis.names.is_empty() {
            let named = axis.names.iter().enumerate();
            let tick = |(at, name): (usize, &String)| Tick {
                place: self.place_within(at as f64),
                label: name.clone(),
            };
            return named.map(tick).collect();
        }
        if self.is_log {
            self.log_ticks(values)
        } else {
            self.even_ticks()
        }
    }

    /// Ticks at equal differences.
    pub(crate) fn even_ticks(&self) -> Vec<Tick> {
        let step = nice((self.to - self.from) / STEPS);
        let (first, last) = ((self.from / step).ceil(), (self.to / step).floor());
        let count = (last - first) as usize + 1;
        let value = |at| (first + at as f64) * step;
        (0..count)
            .map(|at| self.tick(value(at), stepped(value(at), step)))
            .collect()
    }

    fn log_ticks(&self, values: &[f64]) -> Vec<Tick> {
        let of_two = values.iter().all(|value| value.log2().fract() == 0.0);
        let octaves = self.powers(2.0, &[1.0]);
        if of_two && octaves.len() >= FEW && self.from >= 0.25 {
            return octaves;
        }
        let decades = self.powers(10.0, &[1.0]);
        let finer = self.powers(10.0, &[1.0, 2.0, 5.0]);
        match (decades.len(), finer.len()) {
            (FEW.., _) => decades,
            (_, FEW..) => finer,
            _ => self.even_ticks(),
        }
    }

    /// Multiples of the powers of `base` within the span.
    fn powers(&self, base: f64, times: &[f64]) -> Vec<Tick> {
        let [first, last] = [self.from, self.to].map(|end| end.log(base).floor() as i32);
        // More ticks would lose their labels anyway.
        let stride = ((last - first) / 12).max(1) as usize;
        let powers = (first..=last).step_by(stride).map(|power| base.powi(power));
        let values = powers.flat_map(|power| times.iter().map(move |times| power * times));
        let within = values.filter(|value| (self.from..=self.to).contains(value));
        // Powers of two are counts, which people know by all their digits.
        let label = if base == 2.0 { number } else { short };
        within.map(|value| self.tick(value, label(value))).collect()
    }

    fn tick(&self, value: f64, label: String) -> Tick {
        Tick {
            place: self.place_within(value),
            label,
        }
    }
}

/// Ticks from 0 to `count`: its quarters where they are whole numbers.
pub(crate) fn quarters(count: u32) -> Vec<Tick> {
    const QUARTERS: u32 = 4;
    if !count.is_multiple_of(QUARTERS) || count == 0 {
        return Span::exact(0.0, f64::from(count)).even_ticks();
    }
    let at = |quarter| f64::from(count / QUARTERS * quarter);
    let place = |quarter| f64::from(quarter) / f64::from(QUARTERS);
    (0..=QUARTERS)
        .map(|part| Tick {
            place: place(part),
            label: number(at(part)),
        })
        .collect()
}

/// The least of 1, 2, 5 times a power of ten that is at least `step`.
fn nice(step: f64) -> f64 {
    let power = 10_f64.powf(step.log10().floor());
    let times = [1.0, 2.0, 5.0, 10.0];
    // The tolerance is for steps that rounding left slightly above.
    let fits = times
        .into_iter()
        .find(|times| times * power >= step * (1.0 - 1e-9));
    fits.unwrap_or(10.0) * power
}

/// Larger round numbers are written with a power of ten, as their zeros would fill the axis.
const MUCH: f64 = 1e7;

fn tick_number(value: f64) -> String {
    if value.abs() >= MUCH {
        with_power(value)
    } else {
        number(value)
    }
}

/// A round number without trailing zeros in its decimals.
fn short(value: f64) -> String {
    let told = tick_number(value);
    if told.contains('.') && !told.contains('\u{d7}') {
        told.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        told
    }
}

/// A multiple of the step, with enough decimals to tell it from its neighbours.
fn stepped(value: f64, step: f64) -> String {
    const MOST_DECIMALS: f64 = 4.0;
    let decimals = (-step.log10().floor()).max(0.0);
    if decimals > MOST_DECIMALS || value.abs() >= MUCH {
        return tick_number(value);
    }
    // Turns -0 into 0.
    let value = if value == 0.0 { 0.0 } else { value };
    grouped(&format!("{value:.*}", decimals as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(scale: Scale) -> Axis {
        Axis {
            label: "x".to_owned(),
            scale,
            names: Vec::new(),
        }
    }

    fn labels(scale: Scale, values: &[f64]) -> Vec<String> {
        let axis = axis(scale);
        let ticks = Span::of(&axis, values).ticks(&axis, values);
        assert!(
            ticks.iter().all(|tick| (0.0..=1.0).contains(&tick.place)),
            "{ticks:?}"
        );
        assert!(
            ticks.windows(2).all(|two| two[0].place < two[1].place),
            "{ticks:?}"
        );
        ticks.into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn linear_ticks_are_round() {
        let of = |values: &[f64]| labels(Scale::Linear, values).join(" ");
        assert_eq!(of(&[3.0, 68.0]), "0 20 40 60");
        assert_eq!(of(&[0.3]), "0.0 0.1 0.2 0.3");
        assert_eq!(of(&[100_000.0]), "0 20,000 40,000 60,000 80,000 100,000");
        assert_eq!(of(&[-1.0, 1.0]), "\u{2212}1.0 \u{2212}0.5 0.0 0.5 1.0");
        assert_eq!(of(&[4e9]), "0 10⁹ 2\u{d7}10⁹ 3\u{d7}10⁹ 4\u{d7}10⁹");
        assert_eq!(of(&[]), of(&[0.0, f64::NAN]), "no range is a range of one");
        assert_eq!(of(&[0.0]), "0.0 0.2 0.4 0.6 0.8 1.0");
    }

    #[test]
    fn log_ticks_are_powers() {
        let of = |values: &[f64]| labels(Scale::Log, values).join(" ");
        assert_eq!(of(&[1.0, 1000.0]), "1 10 100 1,000");
        assert_eq!(of(&[64.0, 256.0, 1024.0]), "64 128 256 512 1,024");
        assert_eq!(of(&[3.0, 70.0]), "5 10 20 50");
        assert_eq!(of(&[40.0, 45.0]), "40 41 42 43 44 45");
        assert_eq!(of(&[0.001, 3.0]), "0.001 0.01 0.1 1");
        assert_eq!(of(&[]), "1 2 4 8");
        assert!(
            of(&[7.0]).contains(' '),
            "a single value has ticks around it"
        );
        assert_eq!(
            of(&[0.0, -5.0, 1.0, 1000.0]),
            "1 10 100 1,000",
            "only what is above zero"
        );
    }

    #[test]
    fn the_largest_span_has_ticks() {
        for scale in [Scale::Linear, Scale::Log] {
            let all = labels(scale, &[f64::MIN_POSITIVE, 1e-250, 1e250, f64::MAX, -1e250]);
            assert!((2..=14).contains(&all.len()), "{all:?}");
        }
    }

    #[test]
    fn values_are_between_the_ends() {
        for scale in [Scale::Linear, Scale::Log] {
            for values in [&[1.0, 2.0, 1e6][..], &[5.0], &[1e-9, 1e-8]] {
                let span = Span::of(&axis(scale), values);
                for value in values {
                    let place = span.place(*value).expect("it is shown");
                    assert!((0.0..=1.0).contains(&place), "{value} at {place}");
                }
            }
        }
        let log = Span::of(&axis(Scale::Log), &[1.0, 10.0]);
        assert_eq!(
            (log.place(0.0), log.place(-1.0), log.place(f64::NAN)),
            (None, None, None)
        );
        let linear = Span::of(&axis(Scale::Linear), &[1.0, 10.0]);
        assert_eq!(
            (linear.place(0.0), linear.place(f64::INFINITY)),
            (Some(0.0), None)
        );
        assert_eq!(linear.place_within(1e9), 1.0);
    }

    #[test]
    fn names_have_places() {
        let names = vec!["a".to_owned(), "b".to_owned()];
        let axis = Axis {
            names,
            ..axis(Scale::Linear)
        };
        let span = Span::of(&axis, &[0.0, 1.0]);
        let ticks = span.ticks(&axis, &[]);
        let told: Vec<_> = ticks
            .iter()
            .map(|tick| (tick.label.as_str(), tick.place))
            .collect();
        assert_eq!(told, [("a", 0.25), ("b", 0.75)]);
    }

    #[test]
    fn a_count_has_quarters() {
        let labels = |count| {
            quarters(count)
                .into_iter()
                .map(|tick| tick.label)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            labels(65_536),
            ["0", "16,384", "32,768", "49,152", "65,536"]
        );
        assert_eq!(labels(6), ["0", "1", "2", "3", "4", "5", "6"]);
        assert_eq!(labels(0).first().map(String::as_str), Some("0.0"));
    }
}
