//! Stages: their colours, and how cores' times in them spread.
//!
//! ```text
//!              min p25 p50 p75      p99      max
//!   shuffle     |--[====|===]--------|        o     time in the stage, full
//!                 |-[---|--]----|       o           time waited in it, hollow
//! ```

use std::fmt::Write;

use super::axis::{Span, Tick};
use super::data;
use super::plane::{Plane, Scaled};
use super::text::{escaped, number};
use crate::figure::{Axis, Scale, StageSpread};

/// Red, green, blue.
pub type Colour = [u8; 3];

/// Okabe and Ito's colours but black, in an order that sets neighbours apart. They are the same in
/// light and dark: the picture of all cores has them in its pixels.
const COLOURS: [Colour; 7] = [
    [0x56, 0xb4, 0xe9],
    [0xe6, 0x9f, 0x00],
    [0x00, 0x9e, 0x73],
    [0xcc, 0x79, 0xa7],
    [0x00, 0x72, 0xb2],
    [0xf0, 0xe4, 0x42],
    [0xd5, 0x5e, 0x00],
];

/// What later rounds of the colours are mixed with, and how much of it: each a darker or lighter
/// round.
const MIXED: [(u8, u16); 5] = [(0, 0), (0, 45), (255, 50), (0, 65), (255, 70)];

/// The colour of the so-manyth stage.
pub fn colour(stage: usize) -> Colour {
    let (with, percent) = MIXED[stage / COLOURS.len() % MIXED.len()];
    let mixed = |part: u8| (u16::from(part) * (100 - percent) + u16::from(with) * percent) / 100;
    COLOURS[stage % COLOURS.len()].map(|part| mixed(part) as u8)
}

/// The colour as the style sheet's language has it.
pub fn told(colour: Colour) -> String {
    let [red, green, blue] = colour;
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Which colour is which stage.
pub fn legend(stages: &[StageSpread]) -> String {
    let mut out = String::from("<ul class=\"legend stages\">\n");
    for (at, stage) in stages.iter().enumerate() {
        let colour = told(colour(at));
        let name = escaped(&stage.name);
        let _ = writeln!(
            out,
            "<li><span class=\"patch\" style=\"background:{colour}\"></span>{name}</li>"
        );
    }
    out + "<li><span class=\"patch\"></span>none</li>\n</ul>\n"
}

/// The height of a stage's two boxes, in units of the drawing, and of a box.
const ROW: f64 = 40.0;
const BOX: f64 = 10.0;

/// How far a box is above or below the middle of its row.
const ASIDE: f64 = 8.0;

/// Box plots of all stages, the first at the top.
pub fn boxes(stages: &[StageSpread]) -> String {
    let most = stages
        .iter()
        .flat_map(|stage| stage.time_us.into_iter().chain(stage.idle_us));
    let axis = Axis {
        label: "time (us)".to_owned(),
        scale: Scale::Linear,
        names: Vec::new(),
    };
    let span = Span::of(&axis, &most.collect::<Vec<_>>());
    let ticks = span.even_ticks();
    let x = Scaled {
        span,
        ticks,
        has_names: false,
    };
    let count = stages.len().max(1) as f64;
    let place = |at: usize| 1.0 - (at as f64 + 0.5) / count;
    let named = stages.iter().enumerate();
    let tick = |(at, stage): (usize, &StageSpread)| Tick {
        place: place(at),
        label: stage.name.clone(),
    };
    let y = Scaled {
        span: Span::exact(0.0, 1.0),
        ticks: named.map(tick).collect(),
        has_names: true,
    };
    let mut plane = Plane::new(&x, &y, ROW * count);
    for (at, stage) in stages.iter().enumerate() {
        let (middle, colour) = (plane.y(place(at)), told(colour(at)));
        let rows = [
            ("time", stage.time_us, -ASIDE),
            ("idle", stage.idle_us, ASIDE),
        ];
        for (what, spread, aside) in rows {
            let places = spread.map(|us| plane.x(x.span.place_within(us)));
            let told = format!("{}, {what}: {}", stage.name, in_words(spread));
            plane.draw(&boxed(places, middle + aside, (what, &colour), &told));
        }
    }
    format!(
        "<figure class=\"chart\">\n<figcaption>How long cores were in each stage</figcaption>\n{}\
         <p class=\"x-name\">time (us)</p>\n<ul class=\"legend\"><li>full: time in the stage</li>\
         <li>hollow: of it, time waited</li><li>box: quartiles; line: from the least to the 99th \
         percentile; ring: the most</li></ul>\n{}</figure>\n",
        plane.finish("Box plots of the time in each stage, and of the time waited there."),
        data::of_stages(stages)
    )
}

fn in_words(spread: [f64; 6]) -> String {
    let parts = data::SPREAD.iter().zip(spread);
    parts
        .map(|(name, us)| format!("{name} {}", number(us)))
        .collect::<Vec<_>>()
        .join(", ")
}

fn boxed(places: [f64; 6], y: f64, (what, colour): (&str, &str), told: &str) -> String {
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
        escaped(told)
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
