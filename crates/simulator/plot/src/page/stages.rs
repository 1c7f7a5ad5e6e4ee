//! Stages: their colours, and box plots of the cores' times in them.
//!
//! ```text
//!              min p25 p50 p75      p99      max
//!   shuffle     |--[====|===]--------|        o     full: time in the stage
//!                 |-[---|--]----|       o           hollow: time waited in it
//! ```

use crate::figure::{Axis, Scale, StageSpread};
use crate::page::axis::{Span, Tick};
use crate::page::data;
use crate::page::plane::{Plane, Scaled};
use crate::page::text::{escaped, number};

/// Red, green and blue, 0 to 255.
pub(crate) type Colour = [u8; 3];

/// Okabe and Ito's colours without black, in an order with contrast between neighbours. They are
/// the same in light and dark, because the picture of all cores has them in its pixels.
const COLOURS: [Colour; 7] = [
    [0x56, 0xb4, 0xe9],
    [0xe6, 0x9f, 0x00],
    [0x00, 0x9e, 0x73],
    [0xcc, 0x79, 0xa7],
    [0x00, 0x72, 0xb2],
    [0xf0, 0xe4, 0x42],
    [0xd5, 0x5e, 0x00],
];

/// Grey level, and percentage of it, that each round of colours is mixed with.
const MIXED: [(u8, u16); 5] = [(0, 0), (0, 45), (255, 50), (0, 65), (255, 70)];

pub(crate) fn colour(stage: usize) -> Colour {
    let (with, percent) = MIXED[stage / COLOURS.len() % MIXED.len()];
    let mixed = |part: u8| (u16::from(part) * (100 - percent) + u16::from(with) * percent) / 100;
    COLOURS[stage % COLOURS.len()].map(|part| mixed(part) as u8)
}

pub(crate) fn told(colour: Colour) -> String {
    let [red, green, blue] = colour;
    format!("#{red:02x}{green:02x}{blue:02x}")
}

pub(crate) fn legend(stages: &[StageSpread]) -> String {
    let item = |(at, stage): (usize, &StageSpread)| {
        let (colour, name) = (told(colour(at)), escaped(&stage.name));
        format!("<li><span class=\"patch\" style=\"background:{colour}\"></span>{name}</li>\n")
    };
    let items: String = stages.iter().enumerate().map(item).collect();
    let none = "<li><span class=\"patch\"></span>none</li>\n";
    format!("<ul class=\"legend stages\">\n{items}{none}</ul>\n")
}

/// Height of a stage's two boxes, in units of the drawing.
const ROW: f64 = 40.0;

const BOX: f64 = 10.0;

/// Distance of a box from the middle of its row.
const ASIDE: f64 = 8.0;

/// Box plots of all stages, the first at the top.
pub(crate) fn boxes(stages: &[StageSpread]) -> String {
    let (x, y) = (times(stages), names(stages));
    let mut plane = Plane::new(&x, &y, ROW * stages.len().max(1) as f64);
    for (at, (stage, tick)) in stages.iter().zip(&y.ticks).enumerate() {
        let (middle, colour) = (plane.y(tick.place), told(colour(at)));
        let rows = [
            ("time", stage.time_us, -ASIDE),
            ("idle", stage.idle_us, ASIDE),
        ];
        for (what, spread, aside) in rows {
            let places = spread.map(|us| plane.x(x.span.place_within(us)));
            let tooltip = format!("{}, {what}: {}", stage.name, in_words(spread));
            plane.draw(&boxed(places, middle + aside, (what, &colour), &tooltip));
        }
    }
    format!(
        "<figure class=\"chart\">\n<figcaption>Time of the cores in each stage</figcaption>\n{}\
         <p class=\"x-name\">time (us)</p>\n<ul class=\"legend\"><li>full: time in the stage</li>\
         <li>hollow: the part spent waiting</li><li>box: quartiles; line: minimum to 99th percentile; \
         ring: maximum</li></ul>\n{}</figure>\n",
        plane.finish("Box plots of the time in each stage, and of the waiting time in it."),
        data::of_stages(stages)
    )
}

/// The axis of times, with room for all quantiles.
fn times(stages: &[StageSpread]) -> Scaled {
    let all = stages
        .iter()
        .flat_map(|stage| [stage.time_us, stage.idle_us]);
    let axis = Axis {
        label: String::new(),
        scale: Scale::Linear,
        names: Vec::new(),
    };
    let span = Span::of(&axis, &all.flatten().collect::<Vec<_>>());
    let ticks = span.even_ticks();
    Scaled::numbers(span, ticks)
}

/// The axis of names: the middle of each stage's row.
fn names(stages: &[StageSpread]) -> Scaled {
    let tick = |(at, stage): (usize, &StageSpread)| Tick {
        place: 1.0 - (at as f64 + 0.5) / stages.len() as f64,
        label: stage.name.clone(),
    };
    Scaled {
        span: Span::exact(0.0, 1.0),
        ticks: stages.iter().enumerate().map(tick).collect(),
        has_names: true,
    }
}

fn in_words(spread: [f64; 6]) -> String {
    let parts = data::SPREAD.iter().zip(spread);
    let parts = parts.map(|(name, us)| format!("{name} {}", number(us)));
    parts.collect::<Vec<_>>().join(", ")
}

fn boxed(places: [f64; 6], y: f64, (what, colour): (&str, &str), tooltip: &str) -> String {
    const RING: f64 = 2.5;
    let [min, p25, p50, p75, p99, max] = places;
    let (top, half, width) = (y - BOX / 2.0, BOX / 2.0, (p75 - p25).max(0.5));
    let (fill, median) = if what == "time" {
        (colour, "median full")
    } else {
        ("none", "median")
    };
    let cap = y - half / 2.0;
    format!(
        "<g class=\"box\"><title>{}</title>\
         <path class=\"whisker\" d=\"M{min:.1} {cap:.1}v{half}M{min:.1} {y:.1}H{p25:.1}\
         M{p75:.1} {y:.1}H{p99:.1}M{p99:.1} {cap:.1}v{half}\"/>\
         <rect x=\"{p25:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{BOX}\" fill=\"{fill}\"/>\
         <path class=\"{median}\" d=\"M{p50:.1} {top:.1}v{BOX}\"/>\
         <circle cx=\"{max:.1}\" cy=\"{y:.1}\" r=\"{RING}\"/></g>",
        escaped(tooltip)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stage_has_a_colour_of_its_own() {
        let colours: std::collections::BTreeSet<_> = (0..35).map(colour).collect();
        assert_eq!(colours.len(), 35);
        assert_eq!(told(colour(0)), "#56b4e9");
        let _ = colour(usize::MAX);
    }
}
