//! The plane that a chart is drawn on: a frame, a grid, ticks and their labels.
//!
//! ```text
//!      60 +-----------+      All lengths are units of the drawing: the page scales it to the room that
//!      40 +-----------+      there is, and the letters with it. Labels are given the room of the
//!      20 +-----------+      widest letters that the page may choose for them; those that would touch
//!       0 +---+---+---+      their neighbour are left out, each second or third.
//!         64      1,024
//! ```
//!
//! The axes' names are not here but in the page around the drawing, where they may wrap.

use std::fmt::Write;

use super::axis::{Span, Tick};
use super::text::escaped;

/// The drawing's width. The page shows it between 340 and 640 pixels wide.
pub const WIDTH: f64 = 480.0;

/// The height of letters, at their largest, and a width that few letters exceed on average.
pub const LETTER: f64 = 13.5;
pub const LETTER_WIDTH: f64 = 0.6 * LETTER;

/// Between labels, and between a label and what it is beside.
const GAP: f64 = 8.0;

/// From the frame to the baseline of the labels below it: they clear the lowest label on the left.
const BASELINE: f64 = 1.2 * LETTER;

/// The most room that labels on the left get; longer ones are cut.
const MOST_LEFT: f64 = 150.0;

/// Names below the frame stand in so many lines at most; else they are written aslant.
const NAME_LINES: usize = 3;
const MOST_SLANTED: usize = 20;
const SLANT_DEGREES: f64 = 40.0;

/// The room that a text needs.
pub fn width_of(text: &str) -> f64 {
    text.chars().count() as f64 * LETTER_WIDTH
}

/// The text, or its beginning where it is longer than so many letters.
pub fn cut(text: &str, letters: usize) -> String {
    if text.chars().count() <= letters {
        return text.to_owned();
    }
    let begin: String = text.chars().take(letters.saturating_sub(1)).collect();
    begin.trim_end().to_owned() + "\u{2026}"
}

/// The text, or its beginning and end where it is longer than so many letters: names that begin
/// alike often end in what tells them apart.
fn cut_within(text: &str, letters: usize) -> String {
    let count = text.chars().count();
    if count <= letters {
        return text.to_owned();
    }
    let kept = letters.saturating_sub(1);
    let end: String = text.chars().skip(count - kept / 2).collect();
    cut(text, letters - kept / 2) + &end
}

/// A frame in a drawing, and what is drawn so far.
pub struct Plane {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    height: f64,
    body: String,
}

/// What an axis shows: ticks, and whether they are names.
pub struct Scaled {
    /// From values to places.
    pub span: Span,
    /// What it names.
    pub ticks: Vec<Tick>,
    /// Whether the ticks are names, which may be long.
    pub has_names: bool,
}

/// How the labels below the frame are written.
enum Below {
    /// Each in a line; each `stride`-th of them.
    Numbers { stride: usize },
    /// Each in some lines.
    Lines(Vec<Vec<String>>),
    /// Aslant; each `stride`-th of them.
    Slanted { stride: usize },
}

impl Plane {
    /// A frame of that height with both axes' ticks; y goes up, or down from the top.
    pub fn new(x: &Scaled, y: &Scaled, frame_height: f64) -> Plane {
        Plane::below((x, y), frame_height, 0.0)
    }

    /// The same, no further left than another that it stands below.
    pub fn below((x, y): (&Scaled, &Scaled), frame_height: f64, others_left: f64) -> Plane {
        let widest = y
            .ticks
            .iter()
            .map(|tick| width_of(&tick.label))
            .fold(0.0, f64::max);
        let left = (widest.min(MOST_LEFT) + GAP).max(others_left);
        // Half of a label may stand out at either end.
        let outer = x
            .ticks
            .last()
            .map_or(0.0, |tick| width_of(&tick.label) / 2.0);
        let right = if x.has_names {
            GAP
        } else {
            outer.clamp(GAP, MOST_LEFT / 2.0)
        };
        let first = x
            .ticks
            .first()
            .map_or(0.0, |tick| width_of(&tick.label) / 2.0);
        let left = if x.has_names {
            left
        } else {
            left.max(first.min(MOST_LEFT))
        };
        let (right, top) = (WIDTH - right, LETTER / 2.0 + 1.0);
        let below = Below::of(x, right - left);
        let left = left.max(below.room_on_the_left(x, right - left));
        let bottom = top + frame_height;
        let room = below.room(x);
        let mut plane = Plane {
            left,
            right,
            top,
            bottom,
            height: bottom + room,
            body: String::new(),
        };
        plane.rows(y);
        plane.columns(x, &below);
        plane
    }

    /// Where a place of x is.
    pub fn x(&self, place: f64) -> f64 {
        self.left + place * (self.right - self.left)
    }

    /// Where a place of y is.
    pub fn y(&self, place: f64) -> f64 {
        self.bottom - place * (self.bottom - self.top)
    }

    /// The frame: left, top, right, bottom.
    pub fn frame(&self) -> [f64; 4] {
        [self.left, self.top, self.right, self.bottom]
    }

    /// Draws it.
    pub fn draw(&mut self, shape: &str) {
        self.body.push_str(shape);
        self.body.push('\n');
    }

    /// The drawing, as an element of a page. `told` is what those hear who do not see it.
    pub fn finish(self, told: &str) -> String {
        let [left, top, right, bottom] = self.frame();
        let (width, height) = (right - left, bottom - top);
        format!(
            "<svg viewBox=\"0 0 {WIDTH} {:.1}\" role=\"img\" aria-label=\"{}\">\n{}\
             <rect class=\"frame\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" \
             height=\"{height:.1}\"/>\n</svg>\n",
            self.height,
            escaped(told),
            self.body
        )
    }

    fn rows(&mut self, y: &Scaled) {
        let places: Vec<_> = y.ticks.iter().map(|tick| self.y(tick.place)).collect();
        let stride = stride(&places, |_| LETTER);
        let letters = (MOST_LEFT / LETTER_WIDTH) as usize;
        let (left, right) = (self.left, self.right);
        for (at, (tick, place)) in y.ticks.iter().zip(places).enumerate() {
            let _ = writeln!(
                self.body,
                "<path class=\"grid\" d=\"M{left:.1} {place:.1}H{right:.1}\"/>"
            );
            if at.is_multiple_of(stride) {
                let label = escaped(&cut(&tick.label, letters));
                let (x, y) = (left - GAP / 2.0, place + LETTER / 3.0);
                let _ = writeln!(
                    self.body,
                    "<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"end\">{label}</text>"
                );
            }
        }
    }

    fn columns(&mut self, x: &Scaled, below: &Below) {
        let (top, bottom) = (self.top, self.bottom);
        for (at, tick) in x.ticks.iter().enumerate() {
            let place = self.x(tick.place);
            if !x.has_names {
                let _ = writeln!(
                    self.body,
                    "<path class=\"grid\" d=\"M{place:.1} {top:.1}V{bottom:.1}\"/>"
                );
            }
            let label = below.label(at, tick, (place, bottom));
            self.body.push_str(&label);
        }
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
        let lines: Option<Vec<_>> = x
            .ticks
            .iter()
            .map(|tick| lines(&tick.label, letters))
            .collect();
        match lines {
            Some(lines) => Below::Lines(lines),
            None => Below::Slanted {
                stride: stride(&places, |_| 1.5 * LETTER),
            },
        }
    }

    /// What names aslant need left of the frame: they end below their places.
    fn room_on_the_left(&self, x: &Scaled, width: f64) -> f64 {
        let Below::Slanted { .. } = self else {
            return 0.0;
        };
        let out = |tick: &Tick| {
            slanted(tick) * SLANT_DEGREES.to_radians().cos() - tick.place * width + GAP
        };
        x.ticks.iter().map(out).fold(0.0, f64::max).min(MOST_LEFT)
    }

    fn room(&self, x: &Scaled) -> f64 {
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

    fn label(&self, at: usize, tick: &Tick, (x, bottom): (f64, f64)) -> String {
        let y = bottom + BASELINE;
        match self {
            Below::Numbers { stride } if at.is_multiple_of(*stride) => {
                format!(
                    "<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"mid\">{}</text>\n",
                    escaped(&tick.label)
                )
            }
            Below::Lines(lines) => {
                let line = |(line, text): (usize, &String)| {
                    let y = y + line as f64 * LETTER;
                    format!(
                        "<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"mid\">{}</text>\n",
                        escaped(text)
                    )
                };
                lines[at].iter().enumerate().map(line).collect()
            }
            Below::Slanted { stride } if at.is_multiple_of(*stride) => format!(
                "<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"end\" \
                 transform=\"rotate(-{SLANT_DEGREES} {x:.1} {y:.1})\">{}</text>\n",
                escaped(&cut_within(&tick.label, MOST_SLANTED))
            ),
            _ => String::new(),
        }
    }
}

/// The length of a name aslant.
fn slanted(tick: &Tick) -> f64 {
    width_of(&cut_within(&tick.label, MOST_SLANTED))
}

/// The least number so that each so-manyth label has its room.
fn stride(places: &[f64], room: impl Fn(usize) -> f64) -> usize {
    let fits = |stride: &usize| {
        let kept: Vec<_> = (0..places.len()).step_by(*stride).collect();
        let apart = |two: &[usize]| (places[two[0]] - places[two[1]]).abs();
        kept.windows(2)
            .all(|two| apart(two) >= (room(two[0]) + room(two[1])) / 2.0)
    };
    (1..places.len()).find(fits).unwrap_or(places.len().max(1))
}

/// The words in lines of so many letters; none if that are too many lines, or a word does not fit.
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
    fn names_stand_in_lines() {
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
