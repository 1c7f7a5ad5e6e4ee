//! The plane of a chart: a frame, a grid, ticks and their labels.
//!
//! ```text
//!      60 +-----------+      Lengths are units of the drawing, which the page scales together with
//!      40 +-----------+      its letters. Labels have the width of the widest letters that a page
//!      20 +-----------+      may choose; labels that would touch their neighbours are left out,
//!       0 +---+---+---+      every second or third.
//!         64      1,024
//! ```
//!
//! The names of the axes are text of the page around the drawing, where they can wrap.

use crate::page::axis::{Span, Tick};
use crate::page::text::{escaped, text_at};

/// Width of a drawing. The page shows it between 340 and 640 pixels wide.
pub(crate) const WIDTH: f64 = 480.0;

/// Largest height of letters.
pub(crate) const LETTER: f64 = 13.5;

/// A width that few texts exceed per letter.
pub(crate) const LETTER_WIDTH: f64 = 0.6 * LETTER;

/// Space between two labels, and between a label and the frame.
const GAP: f64 = 8.0;

/// From the frame down to the baseline of the labels below it, which clears the lowest label on the
/// left.
const BASELINE: f64 = 1.2 * LETTER;

/// Most width for labels on the left; longer ones are cut.
const MOST_LEFT: f64 = 150.0;

/// Most lines of a name below the frame; longer names are slanted.
const NAME_LINES: usize = 3;

/// Most letters of a slanted name.
const MOST_SLANTED: usize = 20;
const SLANT_DEGREES: f64 = 40.0;

/// Attribute of a text that ends at its place.
const END: &str = " class=\"end\"";

/// Attribute of a text with its middle at its place.
const MIDDLE: &str = " class=\"mid\"";

pub(crate) fn width_of(text: &str) -> f64 {
    text.chars().count() as f64 * LETTER_WIDTH
}

/// The text, cut at the end to this number of letters.
pub(crate) fn cut(text: &str, letters: usize) -> String {
    if text.chars().count() <= letters {
        return text.to_owned();
    }
    let begin: String = text.chars().take(letters.saturating_sub(1)).collect();
    begin.trim_end().to_owned() + "\u{2026}"
}

/// The text, cut in the middle to this number of letters: names with one beginning often differ at
/// the end.
fn cut_within(text: &str, letters: usize) -> String {
    let count = text.chars().count();
    if count <= letters {
        return text.to_owned();
    }
    let kept = letters.saturating_sub(1);
    let end: String = text.chars().skip(count - kept / 2).collect();
    cut(text, letters - kept / 2) + &end
}

/// A drawing with a frame.
pub(crate) struct Plane {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    height: f64,
    body: String,
}

/// An axis with its ticks.
pub(crate) struct Scaled {
    pub span: Span,
    pub ticks: Vec<Tick>,
    /// Whether the ticks are names, which may be long.
    pub has_names: bool,
}

impl Scaled {
    pub(crate) fn numbers(span: Span, ticks: Vec<Tick>) -> Scaled {
        Scaled {
            span,
            ticks,
            has_names: false,
        }
    }

    /// Half the width of a tick's label.
    fn half_label(tick: Option<&Tick>) -> f64 {
        tick.map_or(0.0, |tick| width_of(&tick.label) / 2.0)
    }

    /// Space for the labels at the left of the frame.
    fn width(&self) -> f64 {
        let widths = self.ticks.iter().map(|tick| width_of(&tick.label));
        widths.fold(0.0, f64::max).min(MOST_LEFT) + GAP
    }
}

/// Layout of the labels below the frame.
enum Below {
    /// Every `stride`-th label, in one line.
    Numbers { stride: usize },
    /// All labels, each in some lines.
    Lines(Vec<Vec<String>>),
    /// Every `stride`-th label, slanted.
    Slanted { stride: usize },
}

impl Plane {
    /// A frame of that height with the ticks of both axes.
    pub(crate) fn new(x: &Scaled, y: &Scaled, frame_height: f64) -> Plane {
        Plane::below((x, y), frame_height, 0.0)
    }

    /// A frame that begins at `least_left` or further right, below another one.
    pub(crate) fn below((x, y): (&Scaled, &Scaled), frame_height: f64, least_left: f64) -> Plane {
        let (mut left, mut right) = (y.width().max(least_left), WIDTH - GAP);
        if !x.has_names {
            // The first and the last label may reach beyond the frame by half their width.
            let [first, last] = [x.ticks.first(), x.ticks.last()].map(Scaled::half_label);
            left = left.max(first.min(MOST_LEFT));
            right = WIDTH - last.clamp(GAP, MOST_LEFT / 2.0);
        }
        let below = Below::of(x, right - left);
        let left = left.max(below.width_on_the_left(x, right - left));
        let top = LETTER / 2.0 + 1.0;
        let bottom = top + frame_height;
        let mut plane = Plane {
            left,
            right,
            top,
            bottom,
            height: bottom + below.height(x),
            body: String::new(),
        };
        plane.rows(y);
        plane.columns(x, &below);
        plane
    }

    /// A place of the x axis in the drawing.
    pub(crate) fn x(&self, place: f64) -> f64 {
        self.left + place * (self.right - self.left)
    }

    /// A place of the y axis in the drawing.
    pub(crate) fn y(&self, place: f64) -> f64 {
        self.bottom - place * (self.bottom - self.top)
    }

    /// Left, top, right and bottom of the frame.
    pub(crate) fn frame(&self) -> [f64; 4] {
        [self.left, self.top, self.right, self.bottom]
    }

    /// Adds an SVG element.
    pub(crate) fn draw(&mut self, shape: &str) {
        self.body.push_str(shape);
        self.body.push('\n');
    }

    /// The `svg` element; `description` is for readers who cannot see it.
    pub(crate) fn finish(self, description: &str) -> String {
        let [left, top, right, bottom] = self.frame();
        let (width, height) = (right - left, bottom - top);
        format!(
            "<svg viewBox=\"0 0 {WIDTH} {:.1}\" role=\"img\" aria-label=\"{}\">\n{}\
             <rect class=\"frame\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" \
             height=\"{height:.1}\"/>\n</svg>\n",
            self.height,
            escaped(description),
            self.body
        )
    }

    fn rows(&mut self, y: &Scaled) {
        let places: Vec<_> = y.ticks.iter().map(|tick| self.y(tick.place)).collect();
        let stride = stride(&places, |_| LETTER);
        let letters = (MOST_LEFT / LETTER_WIDTH) as usize;
        let (left, right) = (self.left, self.right);
        for (at, (tick, place)) in y.ticks.iter().zip(places).enumerate() {
            self.grid(&format!("M{left:.1} {place:.1}H{right:.1}"));
            if at.is_multiple_of(stride) {
                let start = (left - GAP / 2.0, place + LETTER / 3.0);
                self.draw(&text_at(start, END, &cut(&tick.label, letters)));
            }
        }
    }

    fn columns(&mut self, x: &Scaled, below: &Below) {
        let (top, bottom) = (self.top, self.bottom);
        for (at, tick) in x.ticks.iter().enumerate() {
            let place = self.x(tick.place);
            if !x.has_names {
                self.grid(&format!("M{place:.1} {top:.1}V{bottom:.1}"));
            }
            let labels = below.labels(at, tick, (place, bottom + BASELINE));
            labels.iter().for_each(|label| self.draw(label));
        }
    }

    fn grid(&mut self, line: &str) {
        self.draw(&format!("<path class=\"grid\" d=\"{line}\"/>"));
    }
}

impl Below {
    fn of(x: &Scaled, width: f64) -> Below {
        let places: Vec<_> = x.ticks.iter().map(|tick| tick.place * width).collect();
        if !x.has_names {
            let stride = stride(&places, |at| width_of(&x.ticks[at].label) + GAP);
            return Below::Numbers { stride };
        }
        let letters = ((width / x.ticks.len() as f64 - GAP) / LETTER_WIDTH).max(0.0) as usize;
        let lines = x.ticks.iter().map(|tick| lines(&tick.label, letters));
        match lines.collect() {
            Some(lines) => Below::Lines(lines),
            None => Below::Slanted {
                stride: stride(&places, |_| 1.5 * LETTER),
            },
        }
    }

    /// Width of slanted names left of the frame: each name ends below its place.
    fn width_on_the_left(&self, x: &Scaled, width: f64) -> f64 {
        let Below::Slanted { .. } = self else {
            return 0.0;
        };
        let out = |tick: &Tick| {
            slanted(tick) * SLANT_DEGREES.to_radians().cos() - tick.place * width + GAP
        };
        x.ticks.iter().map(out).fold(0.0, f64::max).min(MOST_LEFT)
    }

    fn height(&self, x: &Scaled) -> f64 {
        match self {
            Below::Numbers { .. } => BASELINE + LETTER / 4.0,
            Below::Lines(lines) => {
                let most = lines.iter().map(Vec::len).max().unwrap_or(0);
                most.saturating_sub(1) as f64 * LETTER + BASELINE + LETTER / 4.0
            }
            Below::Slanted { .. } => {
                let longest = x.ticks.iter().map(slanted).fold(0.0, f64::max);
                longest * SLANT_DEGREES.to_radians().sin() + 1.6 * LETTER
            }
        }
    }

    /// The `text` elements of a tick.
    fn labels(&self, at: usize, tick: &Tick, (x, y): (f64, f64)) -> Vec<String> {
        match self {
            Below::Numbers { stride } if at.is_multiple_of(*stride) => {
                vec![text_at((x, y), MIDDLE, &tick.label)]
            }
            Below::Lines(lines) => {
                let lines = (0..).zip(&lines[at]);
                let y = |line| y + f64::from(line) * LETTER;
                let labels = lines.map(|(line, text)| text_at((x, y(line)), MIDDLE, text));
                labels.collect()
            }
            Below::Slanted { stride } if at.is_multiple_of(*stride) => {
                let turned = format!("{END} transform=\"rotate(-{SLANT_DEGREES} {x:.1} {y:.1})\"");
                let text = cut_within(&tick.label, MOST_SLANTED);
                vec![text_at((x, y), &turned, &text)]
            }
            _ => Vec::new(),
        }
    }
}

/// Length of a slanted name.
fn slanted(tick: &Tick) -> f64 {
    width_of(&cut_within(&tick.label, MOST_SLANTED))
}

/// The least stride at which labels of these widths do not touch.
fn stride(places: &[f64], width: impl Fn(usize) -> f64) -> usize {
    let fits = |stride: &usize| {
        let kept: Vec<_> = (0..places.len()).step_by(*stride).collect();
        let apart = |two: &[usize]| (places[two[0]] - places[two[1]]).abs();
        kept.windows(2)
            .all(|two| apart(two) >= (width(two[0]) + width(two[1])) / 2.0)
    };
    (1..places.len()).find(fits).unwrap_or(places.len().max(1))
}

/// The words in lines of at most `letters`; `None` if there are too many lines, or a word
/// does not fit.
fn lines(text: &str, letters: usize) -> Option<Vec<String>> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let long = word.chars().count();
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + long <= letters => {
                line.push(' ');
                line.push_str(word);
            }
            _ if long <= letters => lines.push(word.to_owned()),
            _ => return None,
        }
    }
    (lines.len() <= NAME_LINES).then_some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_would_touch_are_left_out() {
        let places = [0.0, 10.0, 20.0, 30.0, 40.0];
        assert_eq!(
            [5.0, 10.0, 11.0, 25.0, 41.0].map(|room| stride(&places, |_| room)),
            [1, 1, 2, 3, 5]
        );
        assert_eq!((stride(&[], |_| 1.0), stride(&[3.0], |_| 1.0)), (1, 1));
    }

    #[test]
    fn names_are_broken_into_lines() {
        assert_eq!(lines("level 1", 7).unwrap(), ["level 1"]);
        assert_eq!(lines("level 1", 5).unwrap(), ["level", "1"]);
        assert_eq!(lines("levels", 5), None);
        assert_eq!(lines("a b c d", 1), None);
    }

    #[test]
    fn long_text_is_cut() {
        assert_eq!(cut("merge tree", 10), "merge tree");
        assert_eq!(cut("merge tree", 7), "merge\u{2026}");
        assert_eq!(cut("abc", 0), "\u{2026}");
        assert_eq!(
            cut_within("a stage of a long name, number 12", 20),
            "a stage of\u{2026}number 12"
        );
        assert_eq!(cut_within("level 1", 7), "level 1");
    }
}
