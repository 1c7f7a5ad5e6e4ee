//! Signs of points: a colour and a shape for each series, so that none depends on colour alone.

use super::labels::SIGN;
use super::text::escaped;

/// Colours of series in the style sheet (Okabe and Ito's, which people tell apart whatever colours
/// they see).
const COLOURS: usize = 7;

/// What a point is drawn as.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sign {
    /// A full disc.
    Disc,
    /// A full square.
    Square,
    /// A full triangle.
    Triangle,
    /// A full triangle that stands on its tip.
    Tip,
    /// Two crossed strokes.
    Cross,
    /// A hollow diamond: the paper's.
    Diamond,
}

/// The shapes of ours, one more round of them for each round of colours: they come together again
/// only when both are used up.
const OURS: [Sign; 5] = [
    Sign::Disc,
    Sign::Square,
    Sign::Triangle,
    Sign::Tip,
    Sign::Cross,
];

/// The classes of the so-manyth series: its colour, and dashes from the second round of colours on.
pub fn style(series: usize) -> String {
    let dashes = if series < COLOURS { "" } else { " dashed" };
    format!("series c{}{dashes}", series % COLOURS)
}

impl Sign {
    /// Of the so-manyth series.
    pub fn ours(series: usize) -> Sign {
        OURS[series % OURS.len()]
    }

    /// It at a place; `told` is what it says when pointed at.
    pub fn drawn(self, place: (f64, f64), is_little: bool, told: &str) -> String {
        let size = if is_little { SIGN / 2.0 } else { SIGN * 0.75 };
        format!(
            "<path class=\"sign{}\" d=\"{}\"><title>{}</title></path>",
            if self == Sign::Cross { " stroke" } else { "" },
            self.path(place, size),
            escaped(told)
        )
    }

    /// A little drawing for the legend, with a piece of the line if there is one.
    pub fn sample(self, style: &str, has_line: bool) -> String {
        let line = if has_line {
            "<path class=\"line\" d=\"M1 8H31\"/>"
        } else {
            ""
        };
        let sign = self.path((16.0, 8.0), SIGN * 0.8);
        let stroke = if self == Sign::Cross { " stroke" } else { "" };
        format!(
            "<svg class=\"sample\" viewBox=\"0 0 32 16\" aria-hidden=\"true\"><g class=\"{style}\">{line}\
             <path class=\"sign{stroke}\" d=\"{sign}\"/></g></svg>"
        )
    }

    fn path(self, (x, y): (f64, f64), r: f64) -> String {
        // A disc of the same size to the eye is larger than a square, and a triangle larger still.
        let (wide, slim, d) = (r * 1.2, r * 0.85, 2.0 * r);
        let full = 2.0 * wide;
        let half = 2.0 * slim;
        match self {
            Sign::Disc => format!(
                "M{:.1} {y:.1}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0z",
                x - r
            ),
            Sign::Square => {
                format!(
                    "M{:.1} {:.1}h{half:.1}v{half:.1}h-{half:.1}z",
                    x - slim,
                    y - slim
                )
            }
            Sign::Triangle => {
                format!("M{x:.1} {:.1}l{wide:.1} {full:.1}h-{full:.1}z", y - wide)
            }
            Sign::Tip => format!("M{x:.1} {:.1}l{wide:.1} -{full:.1}h-{full:.1}z", y + wide),
            Sign::Cross => {
                let (left, top, bottom) = (x - r, y - r, y + r);
                format!("M{left:.1} {top:.1}l{d} {d}M{left:.1} {bottom:.1}l{d} -{d}")
            }
            Sign::Diamond => {
                format!(
                    "M{x:.1} {:.1}l{wide:.1} {wide:.1}l-{wide:.1} {wide:.1}l-{wide:.1} -{wide:.1}z",
                    y - wide
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_differ_until_all_is_used_up() {
        let mut seen = std::collections::BTreeSet::new();
        for series in 0..2 * COLOURS {
            assert!(seen.insert((style(series), format!("{:?}", Sign::ours(series)))));
            assert_ne!(Sign::ours(series), Sign::Diamond, "the paper's");
        }
        assert_ne!(Sign::ours(0), Sign::ours(1));
    }
}
