//! A chart: our series as lines through points, the paper's points as hollow diamonds.
//!
//! ```text
//!   title
//!   y's name
//!   +----------------------+     drawing: `plane`, with lines, points, bars of one standard deviation
//!   |        o--o  <> 68   |     up and down, and diamonds with labels where there is room for them
//!   +----------------------+
//!   x's name
//!   o ours   <> paper            legend
//!   > the figures                a table, closed at first
//! ```

use std::fmt::Write;

use super::axis::Span;
use super::data;
use super::labels::{self, SIGN, Taken};
use super::plane::{Plane, Scaled};
use super::sign::{self, Sign};
use super::text::{escaped, number};
use crate::figure::{Axis, Chart, Mark, Point, Series};

/// The height of a chart's frame, in units of the drawing.
const FRAME_HEIGHT: f64 = 270.0;

/// Of names' axes, how far series stand apart, as a share of a step, and how much of it they may
/// fill.
const APART: f64 = 0.16;
const FILLED: f64 = 0.8;

/// The chart with all that belongs to it.
pub fn chart(chart: &Chart) -> String {
    let (drawing, left_out, named) = Drawing::of(chart).finish();
    let mut out = String::from("<figure class=\"chart\">\n");
    let _ = write!(
        out,
        "<figcaption>{}</figcaption>\n<p class=\"y-name\">{}</p>\n{drawing}<p class=\"x-name\">{}</p>\n",
        escaped(&chart.title),
        escaped(&chart.y.label),
        escaped(&chart.x.label),
    );
    match left_out {
        0 => {}
        1 => out.push_str(
            "<p class=\"left-out\">1 point has no place on these axes: see the table.</p>\n",
        ),
        count => {
            let _ = writeln!(
                out,
                "<p class=\"left-out\">{count} points have no place on these axes: see the table.</p>"
            );
        }
    }
    out.push_str(&legend(chart, named));
    out.push_str(&data::of_chart(chart));
    out + "</figure>\n"
}

/// How the paper's points are told from each other.
#[derive(Clone, Copy, PartialEq)]
enum Named {
    /// There is at most one label: the legend has it.
    Together,
    /// Their labels stand beside them.
    Beside,
    /// Numbers stand beside them, the labels in the legend.
    Numbered,
}

/// A chart being drawn.
struct Drawing<'a> {
    chart: &'a Chart,
    plane: Plane,
    x: Span,
    y: Span,
    /// What lines and points take of the plane.
    taken: Vec<Taken>,
    /// Points that an axis has no place for.
    left_out: usize,
}

impl<'a> Drawing<'a> {
    fn of(chart: &'a Chart) -> Drawing<'a> {
        let points = || chart.series.iter().flat_map(|series| &series.points);
        let marks = || chart.paper.iter();
        let xs = points()
            .map(|point| point.x)
            .chain(marks().map(|mark| mark.x));
        let ours = points().flat_map(|point| reached(point.y.mean, point.y.sd));
        let theirs = marks().flat_map(|mark| reached(mark.y, mark.sd.unwrap_or(0.0)));
        let [x, y] = [
            scaled(&chart.x, &xs.collect::<Vec<_>>()),
            scaled(&chart.y, &ours.chain(theirs).collect::<Vec<_>>()),
        ];
        let plane = Plane::new(&x, &y, FRAME_HEIGHT);
        Drawing {
            chart,
            plane,
            x: x.span,
            y: y.span,
            taken: Vec::new(),
            left_out: 0,
        }
    }

    /// The drawing, how many points it has no place for, and how the paper's are told.
    fn finish(mut self) -> (String, usize, Named) {
        for (at, series) in self.chart.series.iter().enumerate() {
            self.series(at, series);
        }
        let named = self.marks();
        let drawing = self.plane.finish(&format!("Chart: {}", self.chart.title));
        (drawing, self.left_out, named)
    }

    /// Where a point of the so-manyth of all series is; the paper's come last. On an axis of names
    /// they stand side by side.
    fn place(&self, at: usize, x: f64, y: f64) -> Option<(f64, f64)> {
        let aside = if self.chart.x.names.is_empty() {
            0.0
        } else {
            let all = self.chart.series.len() + usize::from(!self.chart.paper.is_empty());
            (at as f64 - (all as f64 - 1.0) / 2.0) * APART.min(FILLED / all as f64)
        };
        let (x, y) = (self.x.place(x + aside)?, self.y.place(y)?);
        let is_inside = |place: &f64| (0.0..=1.0).contains(place);
        (is_inside(&x) && is_inside(&y)).then(|| (self.plane.x(x), self.plane.y(y)))
    }

    fn series(&mut self, at: usize, series: &Series) {
        let places: Vec<_> = series
            .points
            .iter()
            .map(|point| (point, self.place(at, point.x, point.y.mean)))
            .collect();
        let shown: Vec<_> = places
            .iter()
            .filter_map(|(point, place)| Some((*point, (*place)?)))
            .collect();
        self.left_out += places.len() - shown.len();
        let style = sign::style(at);
        self.plane.draw(&format!("<g class=\"{style}\">"));
        if self.chart.x.names.is_empty() {
            self.line(&shown);
        } else {
            self.stems(&shown);
        }
        let little = shown.len() > 40;
        for (point, place) in shown {
            let values = (point.y.mean, point.y.sd);
            let told = format!("{}: {}", series.label, told(values, point.x, &self.chart.x));
            self.bar(place.0, ends(point.y.mean, point.y.sd), "bar");
            self.plane.draw(&Sign::ours(at).drawn(place, little, &told));
            self.taken.push(around(place));
        }
        self.plane.draw("</g>");
    }

    fn line(&mut self, shown: &[(&Point, (f64, f64))]) {
        let mut path = String::new();
        for (at, (_, (x, y))) in shown.iter().enumerate() {
            let _ = write!(path, "{}{x:.1} {y:.1}", if at == 0 { 'M' } else { 'L' });
        }
        for two in shown.windows(2) {
            self.taken.extend(labels::along(two[0].1, two[1].1));
        }
        if shown.len() > 1 {
            self.plane
                .draw(&format!("<path class=\"line\" d=\"{path}\"/>"));
        }
    }

    /// Names have no order that a line could follow: each point stands on a stem instead.
    fn stems(&mut self, shown: &[(&Point, (f64, f64))]) {
        let bottom = self.plane.y(self.y.place_within(0.0));
        for (_, (x, y)) in shown {
            self.plane.draw(&format!(
                "<path class=\"stem\" d=\"M{x:.1} {bottom:.1}V{y:.1}\"/>"
            ));
            self.taken.extend(labels::along((*x, bottom), (*x, *y)));
        }
    }

    /// A bar from end to end, if they are apart.
    fn bar(&mut self, x: f64, [from, to]: [f64; 2], class: &str) {
        const CAP: f64 = 3.5;
        if from == to {
            return;
        }
        let [low, high] = [from, to].map(|end| self.plane.y(self.y.place_within(end)));
        let (left, width) = (x - CAP, 2.0 * CAP);
        self.plane.draw(&format!(
            "<path class=\"{class}\" d=\"M{x:.1} {low:.1}V{high:.1}\
             M{left:.1} {low:.1}h{width}M{left:.1} {high:.1}h{width}\"/>"
        ));
        self.taken.extend(labels::along((x, low), (x, high)));
    }

    fn marks(&mut self) -> Named {
        let (chart, last) = (self.chart, self.chart.series.len());
        let place = |mark: &'a Mark| Some((mark, self.place(last, mark.x, mark.y)?));
        let shown: Vec<_> = chart.paper.iter().filter_map(place).collect();
        self.left_out += chart.paper.len() - shown.len();
        self.plane.draw("<g class=\"paper\">");
        for (mark, place) in &shown {
            self.bar(place.0, ends(mark.y, mark.sd.unwrap_or(0.0)), "bar");
            let values = (mark.y, mark.sd.unwrap_or(0.0));
            let told = format!("paper, {}: {}", mark.label, told(values, mark.x, &chart.x));
            self.plane.draw(&Sign::Diamond.drawn(*place, false, &told));
            self.taken.push(around(*place));
        }
        let named = self.labels(&shown);
        self.plane.draw("</g>");
        named
    }

    fn labels(&mut self, shown: &[(&Mark, (f64, f64))]) -> Named {
        if have_one_label(&self.chart.paper) {
            return Named::Together;
        }
        let (points, frame) = (shown.iter().map(|(_, place)| *place), self.plane.frame());
        let points: Vec<_> = points.collect();
        let mut words: Vec<_> = shown.iter().map(|(mark, _)| mark.label.clone()).collect();
        let (starts, named) = match labels::placed(&points, &words, &self.taken, frame) {
            Some(starts) => (starts, Named::Beside),
            None => {
                let at = |mark: &Mark| self.chart.paper.iter().position(|other| other == mark);
                words = shown
                    .iter()
                    .map(|(mark, _)| (at(mark).unwrap_or(0) + 1).to_string())
                    .collect();
                (
                    labels::crowded(&points, &words, &self.taken, frame),
                    Named::Numbered,
                )
            }
        };
        for ((x, y), word) in starts.into_iter().zip(words) {
            self.plane.draw(&format!(
                "<text x=\"{x:.1}\" y=\"{y:.1}\">{}</text>",
                escaped(&word)
            ));
        }
        named
    }
}

fn scaled(axis: &Axis, values: &[f64]) -> Scaled {
    let span = Span::of(axis, values);
    let ticks = span.ticks(axis, values);
    Scaled {
        span,
        ticks,
        has_names: !axis.names.is_empty(),
    }
}

/// A deviation down and up from the mean.
fn ends(mean: f64, sd: f64) -> [f64; 2] {
    if sd > 0.0 {
        [mean - sd, mean + sd]
    } else {
        [mean, mean]
    }
}

/// The mean and both ends: on a log axis the lower end may have no place where the mean has one.
fn reached(mean: f64, sd: f64) -> [f64; 3] {
    let [low, high] = ends(mean, sd);
    [low, mean, high]
}

fn around((x, y): (f64, f64)) -> Taken {
    [x - SIGN, y - SIGN, x + SIGN, y + SIGN]
}

fn have_one_label(marks: &[Mark]) -> bool {
    marks.windows(2).all(|two| two[0].label == two[1].label)
}

/// What is at a place of the axis: its name if it has one.
pub fn at(x: f64, axis: &Axis) -> String {
    let is_place = x >= 0.0 && x.fract() == 0.0;
    let name = axis.names.get(x as usize).filter(|_| is_place);
    name.cloned().unwrap_or_else(|| number(x))
}

/// Value, deviation and place in words, for those who point at a sign.
fn told((mean, sd): (f64, f64), x: f64, axis: &Axis) -> String {
    let sd = if sd > 0.0 {
        format!(" \u{b1} {}", number(sd))
    } else {
        String::new()
    };
    format!("{}{sd} at {}", number(mean), at(x, axis))
}

fn legend(chart: &Chart, named: Named) -> String {
    let mut items = String::new();
    for (at, series) in chart.series.iter().enumerate() {
        let sample = Sign::ours(at).sample(&sign::style(at), chart.x.names.is_empty());
        let _ = writeln!(items, "<li>{sample}{}</li>", escaped(&series.label));
    }
    if let Some(first) = chart.paper.first() {
        let words = match named {
            Named::Together => format!("paper: {}", first.label),
            Named::Beside | Named::Numbered => "paper\u{2019}s points".to_owned(),
        };
        let sample = Sign::Diamond.sample("paper", false);
        let _ = writeln!(items, "<li>{sample}{}</li>", escaped(&words));
        if named == Named::Numbered {
            for (at, mark) in chart.paper.iter().enumerate() {
                let _ = writeln!(items, "<li><b>{}</b>{}</li>", at + 1, escaped(&mark.label));
            }
        }
    }
    if items.is_empty() {
        return "<p class=\"left-out\">Nothing was measured.</p>\n".to_owned();
    }
    format!("<ul class=\"legend\">\n{items}</ul>\n")
}
