//! An axis: from values to places between 0 and 1, and the ticks that people can read.
//!
//! ```text
//!   linear   0 ------ 20 ------ 40 ------ 60 -      steps of 1, 2 or 5 times a power of ten
//!   log      1 ---- 10 ---- 100 ---- 1,000 --       powers of ten; of two when all values are;
//!                                                   1, 2, 5 or even steps when it is short
//!   names      shuffle    sort    level 1           places 0, 1, 2 ...
//! ```
//!
//! A linear axis begins at zero. What a log axis cannot show, as zero, has no place.

use super::text::{grouped, number, with_power};
use crate::figure::{Axis, Scale};

/// Beyond this, and below its inverse on a log axis, what is left free could not be computed.
const MOST: f64 = 1e250;

/// What is left free beyond the outermost values, as a share, so that no point sits on the frame.
const FREE: f64 = 0.04;

/// So many ticks a linear axis has at most, and a log axis wants at least.
const TICKS: f64 = 6.0;
const FEW: usize = 3;

/// A value that an axis names.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Where, between 0 and 1.
    pub place: f64,
    /// What it says.
    pub label: String,
}

/// From values to places between 0 and 1.
#[derive(Clone, Debug)]
pub struct Span {
    from: f64,
    to: f64,
    is_log: bool,
}

impl Span {
    /// That has room for all these values.
    pub fn of(axis: &Axis, values: &[f64]) -> Span {
        if !axis.names.is_empty() {
            // Half a step of room beside the first and the last.
            return Span::exact(-0.5, axis.names.len() as f64 - 0.5);
        }
        let is_log = axis.scale == Scale::Log;
        let seen = values
            .iter()
            .copied()
            .filter(|value| is_counted(*value, is_log));
        let (from, to) = seen.fold((f64::INFINITY, f64::NEG_INFINITY), |(from, to), value| {
            (value.min(from), value.max(to))
        });
        if is_log {
            Span::log(from, to)
        } else {
            Span::linear(from.min(0.0), to.max(0.0))
        }
    }

    /// A linear one from here to there.
    pub fn exact(from: f64, to: f64) -> Span {
        Span {
            from,
            to: if to > from { to } else { from + 1.0 },
            is_log: false,
        }
    }

    fn linear(from: f64, to: f64) -> Span {
        let free = (to - from) * FREE;
        // The side that is zero is the frame.
        Span::exact(
            if from < 0.0 { from - free } else { 0.0 },
            if to > 0.0 { to + free } else { 0.0 },
        )
    }

    fn log(from: f64, to: f64) -> Span {
        let (from, to) = if from > to { (1.0, 10.0) } else { (from, to) };
        // A single value is in the middle of an octave or two.
        let free = if from == to {
            2.0
        } else {
            ((to.ln() - from.ln()) * FREE).exp()
        };
        Span {
            from: from / free,
            to: to * free,
            is_log: true,
        }
    }

    /// Where the value is, beyond 0 and 1 if no room was made for it; none if it has no place.
    pub fn place(&self, value: f64) -> Option<f64> {
        if !value.is_finite() || (self.is_log && value <= 0.0) {
            return None;
        }
        Some(match self.is_log {
            true => (value.ln() - self.from.ln()) / (self.to.ln() - self.from.ln()),
            false => (value - self.from) / (self.to - self.from),
        })
    }

    /// Where the value is, or the end of the axis that it lies beyond.
    pub fn place_within(&self, value: f64) -> f64 {
        self.place(value).unwrap_or(0.0).clamp(0.0, 1.0)
    }

    /// Its ticks in their order: at most a dozen or so, and at least one.
    pub fn ticks(&self, axis: &Axis, values: &[f64]) -> Vec<Tick> {
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
    pub fn even_ticks(&self) -> Vec<Tick> {
        let step = nice((self.to - self.from) / TICKS);
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

    /// The powers within it, and so many times each.
    fn powers(&self, base: f64, times: &[f64]) -> Vec<Tick> {
        let [first, last] = [self.from, self.to].map(|end| end.log(base).floor() as i32);
        // More than these are thinned out anyway.
        let stride = ((last - first) / 12).max(1) as usize;
        let powers = (first..=last).step_by(stride).map(|power| base.powi(power));
        let values = powers.flat_map(|power| times.iter().map(move |times| power * times));
        let within = values.filter(|value| (self.from..=self.to).contains(value));
        // Powers of two are counts, and are known by all their digits.
        let told = |value| {
            if base == 2.0 {
                number(value)
            } else {
                short(value)
            }
        };
        within.map(|value| self.tick(value, told(value))).collect()
    }

    fn tick(&self, value: f64, label: String) -> Tick {
        Tick {
            place: self.place_within(value),
            label,
        }
    }
}

/// Ticks of a count of things from none to all: of a power of two at its quarters.
pub fn quarters(count: u32) -> Vec<Tick> {
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

/// Whether an axis makes room for the value.
fn is_counted(value: f64, is_log: bool) -> bool {
    value.abs() <= MOST && (!is_log || value >= MOST.recip())
}

/// The least of 1, 2, 5 times a power of ten that is no less.
fn nice(step: f64) -> f64 {
    let power = 10_f64.powf(step.log10().floor());
    let times = [1.0, 2.0, 5.0, 10.0];
    // A step that rounding left a hair above one of them is that one.
    let fits = times
        .into_iter()
        .find(|times| times * power >= step * (1.0 - 1e-9));
    fits.unwrap_or(10.0) * power
}

/// Round numbers from here on have a power of ten: their zeros would only fill the axis.
const MUCH: f64 = 1e7;

fn tick_number(value: f64) -> String {
    if value.abs() >= MUCH {
        with_power(value)
    } else {
        number(value)
    }
}

/// A round number without the zeros that end its decimals.
fn short(value: f64) -> String {
    let told = tick_number(value);
    match told.contains('.') && !told.contains('\u{d7}') {
        true => told.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => told,
    }
}

/// A multiple of the step, with the decimals that tell it from its neighbours.
fn stepped(value: f64, step: f64) -> String {
    const MOST_DECIMALS: f64 = 4.0;
    let decimals = (-step.log10().floor()).max(0.0);
    if decimals > MOST_DECIMALS || value.abs() >= MUCH {
        return tick_number(value);
    }
    // Zero may come out as less than nothing.
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
