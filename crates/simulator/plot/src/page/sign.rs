//! Signs of points: a colour and a shape per series, so that colour alone never matters.

use crate::page::labels::SIGN;
use crate::page::text::escaped;

/// Number of series colours in the style sheet (Okabe and Ito's, safe for colour-blind readers).
const COLOURS: usize = 7;

/// The shape of a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Sign {
    Disc,
    Square,
    Triangle,
    /// A triangle that stands on its tip.
    Tip,
    Cross,
    /// Hollow, for the paper's points.
    Diamond,
}

/// Shapes of our series. Their number and that of the colours have no common divisor, so every pair
/// is used before one comes again.
const OURS: [Sign; 5] = [
    Sign::Disc,
    Sign::Square,
    Sign::Triangle,
    Sign::Tip,
    Sign::Cross,
];

/// The CSS classes of a series: its colour, and dashes from the second round of colours on.
pub(crate) fn style(series: usize) -> String {
    let dashes = if series < COLOURS { "" } else { " dashed" };
    format!("series c{}{dashes}", series % COLOURS)
}

impl Sign {
    pub(crate) fn ours(series: usize) -> Sign {
        OURS[series % OURS.len()]
    }

    pub(crate) fn drawn(self, place: (f64, f64), is_little: bool, tooltip: &str) -> String {
        let size = if is_little { SIGN / 2.0 } else { SIGN * 0.75 };
        format!(
            "<path class=\"sign{}\" d=\"{}\"><title>{}</title></path>",
            self.stroke(),
            self.path(place, size),
            escaped(tooltip)
        )
    }

    /// A small drawing for the legend.
    pub(crate) fn sample(self, style: &str, has_line: bool) -> String {
        let line = if has_line {
            "<path class=\"line\" d=\"M1 8H31\"/>"
        } else {
            ""
        };
        let sign = self.path((16.0, 8.0), SIGN * 0.8);
        let stroke = self.stroke();
        format!(
            "<svg class=\"sample\" viewBox=\"0 0 32 16\" aria-hidden=\"true\"><g class=\"{style}\">{line}\
             <path class=\"sign{stroke}\" d=\"{sign}\"/></g></svg>"
        )
    }

    /// The class of a sign without an inside.
    fn stroke(self) -> &'static str {
        if self == Sign::Cross { " stroke" } else { "" }
    }

    fn path(self, (x, y): (f64, f64), r: f64) -> String {
        // For signs that look equally large, a square is narrower than a disc, a triangle wider.
        let (wide, slim, d) = (r * 1.2, r * 0.85, 2.0 * r);
        let (full, half) = (2.0 * wide, 2.0 * slim);
        let (left, top, bottom) = (x - r, y - r, y + r);
        let (high, low, slim_left, slim_top) = (y - wide, y + wide, x - slim, y - slim);
        match self {
            Sign::Disc => {
                format!("M{left:.1} {y:.1}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0z")
            }
            Sign::Square => {
                format!("M{slim_left:.1} {slim_top:.1}h{half:.1}v{half:.1}h-{half:.1}z")
            }
            Sign::Triangle => format!("M{x:.1} {high:.1}l{wide:.1} {full:.1}h-{full:.1}z"),
            Sign::Tip => format!("M{x:.1} {low:.1}l{wide:.1} -{full:.1}h-{full:.1}z"),
            Sign::Cross => {
                format!("M{left:.1} {top:.1}l{d} {d}M{left:.1} {bottom:.1}l{d} -{d}")
            }
            Sign::Diamond => {
                let [right, back] = [format!("{wide:.1}"), format!("-{wide:.1}")];
                format!("M{x:.1} {high:.1}l{right} {right}l{back} {right}l{back} {back}z")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_differ_until_all_pairs_are_used() {
        let mut seen = std::collections::BTreeSet::new();
        for series in 0..2 * COLOURS {
            assert!(seen.insert((style(series), format!("{:?}", Sign::ours(series)))));
            assert_ne!(Sign::ours(series), Sign::Diamond, "the paper's");
        }
        assert_ne!(Sign::ours(0), Sign::ours(1));
    }
}
