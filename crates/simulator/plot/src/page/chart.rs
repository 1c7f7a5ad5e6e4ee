//! A chart: our series as lines through points, the paper's points as hollow diamonds.
//!
//! ```text
//!   title
//!   name of y
//!   +----------------------+     drawing: lines, points, bars of one standard deviation up and
//!   |        o--o  <> 68   |     down, diamonds with labels where they fit
//!   +----------------------+
//!   name of x
//!   o ours   <> paper            legend
//!   > values                     a table, closed at first
//! ```

use crate::figure::{Axis, Chart, Mark, Point, Series};
use crate::page::axis::Span;
use crate::page::data;
use crate::page::labels::{self, SIGN, UsedArea, square};
use crate::page::plane::{Plane, Scaled};
use crate::page::sign::{self, Sign};
use crate::page::text::{escaped, number, paragraph, text_at};

/// Height of the frame, in units of the drawing.
const FRAME_HEIGHT: f64 = 270.0;

/// Distance of two series on an axis of names, as a share of a step.
const APART: f64 = 0.16;

/// Most of a step that all series fill.
const FILLED: f64 = 0.8;

/// The chart as a `figure` element. It repeats no title that is `above` it.
pub(crate) fn chart(chart: &Chart, above: &str) -> String {
    let (drawing, left_out, named) = Drawing::of(chart).finish();
    let caption = if chart.title != above {
        format!("<figcaption>{}</figcaption>\n", escaped(&chart.title))
    } else {
        String::new()
    };
    [
        "<figure class=\"chart\">\n".to_owned(),
        caption,
        paragraph("y-name", &escaped(&chart.y.label)),
        drawing,
        paragraph("x-name", &escaped(&chart.x.label)),
        remark(left_out),
        legend(chart, named),
        data::of_chart(chart),
        "</figure>\n".to_owned(),
    ]
    .concat()
}

/// A remark about points that are not shown.
fn remark(left_out: usize) -> String {
    let points = match left_out {
        0 => return String::new(),
        1 => "1 point has".to_owned(),
        count => format!("{count} points have"),
    };
    let words = format!("{points} no place on these axes; see the table.");
    paragraph("left-out", &words)
}

/// Where the labels of the paper's points are.
#[derive(Clone, Copy, PartialEq)]
enum Named {
    /// All points have one label, which is in the legend.
    Together,
    Beside,
    /// In the legend, with the numbers that are beside the points.
    Numbered,
}

/// A chart being drawn.
struct Drawing<'a> {
    chart: &'a Chart,
    plane: Plane,
    x: Span,
    y: Span,
    /// Places of lines and points.
    taken: Vec<UsedArea>,
    /// Number of points that the axes cannot show.
    left_out: usize,
}

impl<'a> Drawing<'a> {
    fn of(chart: &'a Chart) -> Drawing<'a> {
        let points = chart.series.iter().flat_map(|series| &series.points);
        let ours = points.map(|point| (point.x, (point.y.mean, point.y.sd)));
        let marks = chart.paper.iter();
        let theirs = marks.map(|mark| (mark.x, (mark.y, mark.sd.unwrap_or(0.0))));
        let (xs, ys): (Vec<_>, Vec<_>) = ours.chain(theirs).unzip();
        let reached: Vec<_> = ys.into_iter().flat_map(reached).collect();
        let (x, y) = (scaled(&chart.x, &xs), scaled(&chart.y, &reached));
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

    /// The drawing, the number of points left out, and where the paper's labels are.
    fn finish(mut self) -> (String, usize, Named) {
        for (at, series) in self.chart.series.iter().enumerate() {
            self.series(at, series);
        }
        let named = self.marks();
        let drawing = self.plane.finish(&format!("Chart: {}", self.chart.title));
        (drawing, self.left_out, named)
    }

    /// The place of a point of the series with that index; the paper's points have the last one. On
    /// an axis of names series are side by side.
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

    fn series(&mut self, at: usize, series: &'a Series) {
        let place = |point: &'a Point| Some((point, self.place(at, point.x, point.y.mean)?));
        let shown: Vec<_> = series.points.iter().filter_map(place).collect();
        self.left_out += series.points.len() - shown.len();
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
            let words = in_words(values, point.x, &self.chart.x);
            let tooltip = format!("{}: {words}", series.label);
            let sign = Sign::ours(at).drawn(place, little, &tooltip);
            self.sign(place, values, &sign);
        }
        self.plane.draw("</g>");
    }

    fn line(&mut self, shown: &[(&Point, (f64, f64))]) {
        for two in shown.windows(2) {
            self.taken.extend(labels::along(two[0].1, two[1].1));
        }
        if shown.len() > 1 {
            let places = shown.iter().map(|(_, (x, y))| format!("{x:.1} {y:.1}"));
            let path = places.collect::<Vec<_>>().join("L");
            let line = format!("<path class=\"line\" d=\"M{path}\"/>");
            self.plane.draw(&line);
        }
    }

    /// Names have no order for a line to follow: each point has a stem instead.
    fn stems(&mut self, shown: &[(&Point, (f64, f64))]) {
        let bottom = self.plane.y(self.y.place_within(0.0));
        for (_, (x, y)) in shown {
            let stem = format!("<path class=\"stem\" d=\"M{x:.1} {bottom:.1}V{y:.1}\"/>");
            self.plane.draw(&stem);
            self.taken.extend(labels::along((*x, bottom), (*x, *y)));
        }
    }

    /// A sign with its error bar.
    fn sign(&mut self, place: (f64, f64), values: (f64, f64), sign: &str) {
        self.bar(place.0, ends(values));
        self.plane.draw(sign);
        self.taken.push(square(place, SIGN));
    }

    fn bar(&mut self, x: f64, [from, to]: [f64; 2]) {
        const CAP: f64 = 3.5;
        if from == to {
            return;
        }
        let [low, high] = [from, to].map(|end| self.plane.y(self.y.place_within(end)));
        let (left, width) = (x - CAP, 2.0 * CAP);
        self.plane.draw(&format!(
            "<path class=\"bar\" d=\"M{x:.1} {low:.1}V{high:.1}\
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
            let values = (mark.y, mark.sd.unwrap_or(0.0));
            let words = in_words(values, mark.x, &chart.x);
            let tooltip = format!("paper, {}: {words}", mark.label);
            let sign = Sign::Diamond.drawn(*place, false, &tooltip);
            self.sign(*place, values, &sign);
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
                words = shown.iter().map(|(mark, _)| self.number(mark)).collect();
                let starts = labels::crowded(&points, &words, &self.taken, frame);
                (starts, Named::Numbered)
            }
        };
        for ((x, y), word) in starts.into_iter().zip(words) {
            self.plane.draw(&text_at((x, y), "", &word));
        }
        named
    }

    /// The number of one of the paper's points, from 1.
    fn number(&self, mark: &Mark) -> String {
        let at = self.chart.paper.iter().position(|other| other == mark);
        (at.unwrap_or(0) + 1).to_string()
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

/// One deviation down and up from the mean.
fn ends((mean, sd): (f64, f64)) -> [f64; 2] {
    if sd > 0.0 {
        [mean - sd, mean + sd]
    } else {
        [mean, mean]
    }
}

/// The mean and both ends: a log axis may show the mean and not the lower end.
fn reached(values: (f64, f64)) -> [f64; 3] {
    let [low, high] = ends(values);
    [low, values.0, high]
}

fn have_one_label(marks: &[Mark]) -> bool {
    marks.windows(2).all(|two| two[0].label == two[1].label)
}

/// A place of the axis: its name, or its number.
pub(crate) fn at(x: f64, axis: &Axis) -> String {
    let is_place = x >= 0.0 && x.fract() == 0.0;
    let name = axis.names.get(x as usize).filter(|_| is_place);
    name.cloned().unwrap_or_else(|| number(x))
}

/// Value, deviation and place, for a tooltip.
fn in_words((mean, sd): (f64, f64), x: f64, axis: &Axis) -> String {
    let sd = if sd > 0.0 {
        format!(" \u{b1} {}", number(sd))
    } else {
        String::new()
    };
    format!("{}{sd} at {}", number(mean), at(x, axis))
}

fn legend(chart: &Chart, named: Named) -> String {
    let has_lines = chart.x.names.is_empty();
    let ours = chart.series.iter().enumerate().map(|(at, series)| {
        let sample = Sign::ours(at).sample(&sign::style(at), has_lines);
        sample + &escaped(&series.label)
    });
    let paper = chart.paper.first().map(|first| {
        let words = match named {
            Named::Together => format!("paper: {}", first.label),
            Named::Beside | Named::Numbered => "paper\u{2019}s points".to_owned(),
        };
        Sign::Diamond.sample("paper", false) + &escaped(&words)
    });
    let numbered = chart.paper.iter().enumerate();
    let numbered = numbered.filter(|_| named == Named::Numbered);
    let numbered = numbered.map(|(at, mark)| format!("<b>{}</b>{}", at + 1, escaped(&mark.label)));
    let items: String = (ours.chain(paper).chain(numbered))
        .map(|item| format!("<li>{item}</li>\n"))
        .collect();
    if items.is_empty() {
        return paragraph("left-out", "Nothing was measured.");
    }
    format!("<ul class=\"legend\">\n{items}</ul>\n")
}
