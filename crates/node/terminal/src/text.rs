//! Text for people: wrapped lines, tables, figures and times.

/// The width of a report.
pub const COLUMNS: usize = 80;

const LABEL: usize = 10;

/// A text without control characters, which names of files may have: a terminal would obey them, and
/// a message is one line.
pub fn printable(text: &str) -> String {
    let shown = |letter: char| {
        if letter.is_control() {
            letter.escape_default().to_string()
        } else {
            letter.to_string()
        }
    };
    text.chars().map(shown).collect()
}

/// A label and its text, in lines of at most [`COLUMNS`] columns. Lines break between `parts`.
pub fn labelled<'a>(label: &str, parts: impl IntoIterator<Item = &'a str>) -> String {
    let lines = lines(parts, COLUMNS - LABEL);
    let indent = format!("\n{:LABEL$}", "");
    format!("{label:<LABEL$}{}", lines.join(&indent))
}

/// The words of `text` in lines of at most `columns` columns.
pub fn wrapped(text: &str, columns: usize) -> Vec<String> {
    lines(text.split_whitespace(), columns)
}

fn lines<'a>(parts: impl IntoIterator<Item = &'a str>, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for part in parts {
        let last = lines.last_mut().expect("one at least");
        if last.is_empty() {
            part.clone_into(last);
        } else if last.chars().count() + 1 + part.chars().count() > columns {
            lines.push(part.to_owned());
        } else {
            *last += " ";
            *last += part;
        }
    }
    lines
}

/// The items of a list, each but the last with a comma.
pub fn with_commas(items: &[String]) -> Vec<String> {
    let last = items.len().saturating_sub(1);
    let comma = |at| if at < last { "," } else { "" };
    items
        .iter()
        .enumerate()
        .map(|(at, item)| format!("{item}{}", comma(at)))
        .collect()
}

/// Lines of a table: the first column is aligned to the left, the others to the right. A column is
/// as wide as its widest cell, and at least [`FIGURE`].
pub fn table(rows: &[Vec<String>]) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        let widest = cells
            .map(|cell: &String| cell.chars().count())
            .max()
            .unwrap_or(0);
        if column == 0 {
            widest
        } else {
            widest.max(FIGURE)
        }
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(column, (cell, &width))| {
                if column == 0 {
                    format!("{cell:<width$}")
                } else {
                    format!(" {cell:>width$}")
                }
            });
        cells.collect()
    };
    rows.iter().map(line).collect()
}

const FIGURE: usize = 7;

/// A number with `decimals` decimals below 100 and fewer above: at most seven columns below
/// 10,000,000. A small number that would be shown as 0 has two more.
pub fn figure(value: f64, decimals: usize) -> String {
    let is_little = value > 0.0 && value * 10_f64.powi(decimals as i32) < 1.0;
    let decimals = match value {
        _ if is_little => decimals + 2,
        value if value < 100.0 => decimals,
        value if value < 10_000.0 => decimals.saturating_sub(2),
        _ => 0,
    };
    format!("{value:.decimals$}")
}

/// A unit of time: its name, and how many of them make a microsecond.
pub type Unit = (&'static str, f64);

const UNITS: [Unit; 4] = [("ns", 1e3), ("us", 1.0), ("ms", 1e-3), ("s", 1e-6)];

/// The largest unit in which `us` microseconds are at least 1; nanoseconds below that.
pub fn unit_of(us: f64) -> Unit {
    UNITS
        .into_iter()
        .rev()
        .find(|(_, scale)| us * scale >= 1.0)
        .unwrap_or(UNITS[0])
}

/// The unit for a table whose largest time is `most_us`: the smallest of microseconds, milliseconds
/// and seconds that shows the largest with decimals.
pub fn unit_of_table(most_us: f64) -> Unit {
    let fits = |(_, scale): &Unit| most_us * scale < 10_000.0;
    UNITS[1..].iter().copied().find(fits).unwrap_or(UNITS[3])
}

/// A time in a unit of its size: 989.4 ns, 4.753 us, 2.302 ms.
pub fn time(us: f64) -> String {
    let (unit, scale) = unit_of(us);
    format!("{} {unit}", figure(us * scale, 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(printable("a\nb\x1b[2J\u{9b}"), "a\\nb\\u{1b}[2J\\u{9b}");
        assert_eq!(printable("caf\u{e9} 'x' \\"), "caf\u{e9} 'x' \\");
    }

    #[test]
    fn lines_end_between_parts() {
        let words = "one two three four";
        assert_eq!(wrapped(words, 9), ["one two", "three", "four"]);
        assert_eq!(wrapped(words, 2), ["one", "two", "three", "four"]);
        assert_eq!(wrapped("", 9), [""]);
        let long = ["a ".repeat(20), "b ".repeat(16), "c".to_owned()];
        let told = labelled("label", long.iter().map(|part| part.trim_end()));
        let [first, second] = told.lines().collect::<Vec<_>>()[..] else {
            panic!("{told}")
        };
        assert!(
            first.starts_with("label     a a") && first.ends_with('a'),
            "{told}"
        );
        assert!(
            second.starts_with("          b b") && second.ends_with(" c"),
            "{told}"
        );
        assert_eq!(with_commas(&["a".to_owned(), "b".to_owned()]), ["a,", "b"]);
    }

    #[test]
    fn columns_never_touch() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let rows = [
            row(["", "cores", "max"]),
            row(["scan", "1048576", "4375000001"]),
        ];
        assert_eq!(
            table(&rows),
            ["       cores        max", "scan 1048576 4375000001"]
        );
        assert!(table(&[]).is_empty());
    }

    #[test]
    fn times_have_the_unit_of_their_size() {
        let cases = [
            (0.0, "0.000 ns"),
            (0.989_375, "989.4 ns"),
            (4.753, "4.753 us"),
            (999.96, "1000.0 us"),
            (2302.0, "2.302 ms"),
            (4_375_000.0, "4.375 s"),
            (4_375_000_001.0, "4375.0 s"),
        ];
        for (us, told) in cases {
            assert_eq!(time(us), told);
        }
    }

    #[test]
    fn a_table_has_one_unit() {
        let units = [0.0, 9999.0, 10_000.0, 9_999_000.0, 10_000_000.0, 1e12].map(unit_of_table);
        assert_eq!(
            units.map(|(name, _)| name),
            ["us", "us", "ms", "ms", "s", "s"]
        );
    }

    #[test]
    fn small_numbers_are_not_shown_as_zero() {
        let of = |value| figure(value, 3);
        assert_eq!(
            [0.0, 0.000_14, 0.001, 99.9, 100.0, 12_345.6].map(of),
            ["0.000", "0.00014", "0.001", "99.900", "100.0", "12346"]
        );
        assert_eq!(
            [0.781, 31.25, 1024.0].map(|value| figure(value, 2)),
            ["0.78", "31.25", "1024"]
        );
    }
}
