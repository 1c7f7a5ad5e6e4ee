//! Text of the page: escaped words, readable numbers, names of links.

use crate::plain::plain;
use std::collections::BTreeSet;

/// The text for an element, or for an attribute in double quotes. Characters that XML forbids, such
/// as most control characters, become replacement characters.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(letter),
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => {
                out.push(char::REPLACEMENT_CHARACTER);
            }
            letter => out.push(letter),
        }
    }
    out
}

/// A `text` element of a drawing.
pub(crate) fn text_at((x, y): (f64, f64), attributes: &str, text: &str) -> String {
    let text = escaped(text);
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\"{attributes}>{text}</text>")
}

pub(crate) fn paragraph(class: &str, html: &str) -> String {
    format!("<p class=\"{class}\">{html}</p>\n")
}

/// Significant digits of a number.
const DIGITS: i32 = 3;

/// Larger numbers are written with a power of ten.
const MUCH: f64 = 1e9;

/// Smaller numbers are, too.
const LITTLE: f64 = 1e-3;

/// A number for people: three significant digits in groups of thousands; a whole number in full;
/// very large and very small ones with a power of ten.
pub(crate) fn number(value: f64) -> String {
    if !value.is_finite() {
        return "none".to_owned();
    }
    let size = value.abs();
    if size == 0.0 {
        "0".to_owned()
    } else if !(LITTLE..MUCH).contains(&size) {
        with_power(value)
    } else if value.fract() == 0.0 {
        grouped(&format!("{value:.0}"))
    } else {
        // Of the rounded number.
        let whole = exponent(value).1 + 1;
        let decimals = (DIGITS - whole).max(0) as usize;
        let unit = 10_f64.powi(whole - DIGITS);
        let rounded = (value / unit).round() * unit;
        let value = if unit > 1.0 { rounded } else { value };
        grouped(&format!("{value:.decimals$}"))
    }
}

/// The digits and the power of ten of a rounded number.
fn exponent(value: f64) -> (String, i32) {
    let told = format!("{value:.*e}", DIGITS as usize - 1);
    let (digits, power) = told.split_once('e').unwrap_or((&told, "0"));
    (digits.to_owned(), power.parse().unwrap_or(0))
}

/// A number with three significant digits and a power of ten.
pub(crate) fn with_power(value: f64) -> String {
    let (digits, power) = exponent(value);
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    let raised: String = power.to_string().chars().map(superscript).collect();
    match digits {
        "1" => format!("10{raised}"),
        digits => format!("{}\u{d7}10{raised}", digits.replace('-', "\u{2212}")),
    }
}

fn superscript(digit: char) -> char {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    digit
        .to_digit(10)
        .map_or('⁻', |digit| RAISED[digit as usize])
}

/// Groups the digits before the point; a hyphen becomes a minus sign.
pub(crate) fn grouped(number: &str) -> String {
    let (sign, digits) = match number.strip_prefix('-') {
        Some(digits) => ("\u{2212}", digits),
        None => ("", number),
    };
    let (whole, rest) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let whole = whole
        .parse()
        .map_or_else(|_| whole.to_owned(), units::grouped);
    format!("{sign}{whole}{rest}")
}

/// Unique names of links.
#[derive(Default)]
pub(crate) struct Anchors(BTreeSet<String>);

impl Anchors {
    /// An unused name in letters, digits and hyphens.
    pub(crate) fn name(&mut self, like: &str) -> String {
        let base = plain(like);
        let numbered = (2..).map(|number| format!("{base}-{number}"));
        let mut names = std::iter::once(base.clone()).chain(numbered);
        let free = names
            .find(|name| !self.0.contains(name))
            .expect("numbers do not end");
        self.0.insert(free.clone());
        free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
            (7.0, "7"),
            (65_536.0, "65,536"),
            (-65_536.0, "\u{2212}65,536"),
            (1_048_576.0, "1,048,576"),
            (68.04, "68.0"),
            (0.781_25, "0.781"),
            (0.001_234_5, "0.00123"),
            (9.996, "10.0"),
            (999.6, "1,000"),
            (2_302.4, "2,300"),
            (23_890.7, "23,900"),
            (2e9, "2\u{d7}10⁹"),
            (1e12, "10¹²"),
            (1.5e-7, "1.5\u{d7}10⁻⁷"),
            (-1.25e300, "\u{2212}1.25\u{d7}10³⁰⁰"),
            (f64::NAN, "none"),
            (f64::INFINITY, "none"),
        ];
        for (value, told) in cases {
            assert_eq!(number(value), told, "{value}");
        }
    }

    #[test]
    fn markup_is_escaped() {
        assert_eq!(
            escaped("<script a=\"1\" b='2'>&\n\u{0}\u{1b}"),
            "&lt;script a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;\n\u{fffd}\u{fffd}"
        );
        assert_eq!(escaped("µs ≥ 3"), "µs ≥ 3");
    }

    #[test]
    fn anchors_are_unique() {
        let mut anchors = Anchors::default();
        let names = [
            "nanosort/figure-12",
            "NanoSort Figure 12",
            "",
            "\"<>",
            "nanosort/figure-12",
        ];
        let given = names.map(|name| anchors.name(name));
        assert_eq!(
            given,
            [
                "nanosort-figure-12",
                "nanosort-figure-12-2",
                "figure",
                "figure-2",
                "nanosort-figure-12-3"
            ]
        );
    }
}
