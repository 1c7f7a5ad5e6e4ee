//! A report: a table for people, and JSON for scripts.

use serde_json::{Map, Value, json};
use terminal::ending::failure::CliFailure;
use terminal::ending::say;
use terminal::text;
use units::grouped;

use crate::race::Row;

pub struct Report {
    /// Its name on the command line.
    pub bench: &'static str,
    /// An object of facts that hold for all rows.
    pub facts: Value,
    pub sections: Vec<Section>,
}

/// Rows that compare: the first is the floor of the others.
pub struct Section {
    title: String,
    /// How many items a run handles, and the name of one.
    items: (u64, &'static str),
    rows: Vec<Row>,
    view: View,
}

/// A column of a table: its heading, and the cell of a row. A heading that ends in `/` is followed
/// by the name of an item.
pub struct Column(pub &'static str, pub fn(&Section, &Row) -> String);

/// How a section shows its rows.
enum View {
    /// A line for each row: its name, these columns, its command.
    Columns(&'static [Column]),
    /// The lines that the function returns; the first is the heading.
    Lines(fn(&[Row]) -> Vec<Vec<String>>),
}

/// The ratio of a row's median to the floor's.
pub const RATIO: Column = Column("ratio", |section, row| {
    let ratio = section.ratio(row);
    ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"))
});

const TIMES: [Column; 5] = [
    Column("median", |_, row| timed(row, Row::median)),
    Column("min", |_, row| timed(row, Row::least)),
    Column("max", |_, row| timed(row, Row::most)),
    Column("ns/", |section, row| {
        format!("{:.2}", section.nanoseconds(row))
    }),
    RATIO,
];

/// A time of a row, unless all of its runs failed.
fn timed(row: &Row, time: fn(&Row) -> f64) -> String {
    if row.seconds.is_empty() {
        "failed".to_owned()
    } else {
        text::time(time(row) * 1e6)
    }
}

impl Section {
    /// A section that shows times.
    pub fn new(title: impl Into<String>, items: (u64, &'static str), rows: Vec<Row>) -> Section {
        Section {
            title: title.into(),
            items,
            rows,
            view: View::Columns(&TIMES),
        }
    }

    /// Shows these columns in place of times.
    pub fn with_columns(mut self, columns: &'static [Column]) -> Section {
        self.view = View::Columns(columns);
        self
    }

    /// Shows these lines in place of a line for each row.
    pub fn with_lines(mut self, lines: fn(&[Row]) -> Vec<Vec<String>>) -> Section {
        self.view = View::Lines(lines);
        self
    }

    /// The median of the floor; 0 without one.
    pub fn floor(&self) -> f64 {
        self.rows.first().map_or(0.0, Row::median)
    }

    fn ratio(&self, row: &Row) -> Option<f64> {
        let floor = self.floor();
        (floor > 0.0).then(|| row.median() / floor)
    }

    fn nanoseconds(&self, row: &Row) -> f64 {
        row.median() * 1e9 / self.items.0.max(1) as f64
    }

    fn json(&self, row: &Row) -> Value {
        let mut value = json!({
            "name": row.name,
            "command": row.command,
            "seconds": row.seconds,
            "median": row.median(),
            "ratio_to_floor": self.ratio(row),
            "section": self.title,
            "ns_per_item": self.nanoseconds(row),
        });
        let fields = value.as_object_mut().expect("made above");
        fields.extend(row.figures.clone());
        value
    }

    fn lines(&self) -> Vec<Vec<String>> {
        let columns = match self.view {
            View::Columns(columns) => columns,
            View::Lines(lines) => return lines(&self.rows),
        };
        let heading = columns.iter().map(|Column(heading, _)| match heading {
            heading if heading.ends_with('/') => format!("{heading}{}", self.items.1),
            heading => (*heading).to_owned(),
        });
        let framed = |name: &str, cells: Vec<String>, command: &str| {
            let mut line = vec![name.to_owned()];
            line.extend(cells);
            line.push(command.to_owned());
            line
        };
        let line = |row: &Row| {
            let cells = columns.iter().map(|Column(_, cell)| cell(self, row));
            framed(&row.name, cells.collect(), &row.command)
        };
        let mut lines = vec![framed("", heading.collect(), "")];
        lines.extend(self.rows.iter().map(line));
        lines
    }
}

impl Report {
    /// Prints it.
    ///
    /// # Errors
    /// Standard output that cannot be written.
    pub fn tell(&self, json: bool) -> Result<(), CliFailure> {
        if json {
            return say::out(format!("{:#}", self.json()));
        }
        say::out(format!("bench {}", self.bench))?;
        for (name, value) in self.facts() {
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            say::out(format!("  {:<22} {text}", name.replace('_', " ")))?;
        }
        for section in &self.sections {
            let (items, item) = section.items;
            say::out(format!("\n{} ({} {item}s)", section.title, grouped(items)))?;
            print(&section.lines())?;
        }
        Ok(())
    }

    fn facts(&self) -> Map<String, Value> {
        self.facts.as_object().cloned().unwrap_or_default()
    }

    fn json(&self) -> Value {
        let sections = self.sections.iter();
        let rows: Vec<Value> = sections
            .flat_map(|section| section.rows.iter().map(|row| section.json(row)))
            .collect();
        let mut value = json!({ "bench": self.bench });
        let fields = value.as_object_mut().expect("made above");
        fields.extend(self.facts());
        fields.insert("rows".to_owned(), rows.into());
        value
    }
}

/// Prints lines in columns: names to the left, figures to the right, and a last column without a
/// heading as it is.
fn print(lines: &[Vec<String>]) -> Result<(), CliFailure> {
    let Some(heading) = lines.first() else {
        return Ok(());
    };
    let width = |column: usize| {
        lines
            .iter()
            .map(|line| line[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heading.len()).map(width).collect();
    for line in lines {
        let mut text = String::from(" ");
        for (column, cell) in line.iter().enumerate() {
            let width = widths[column];
            text += &if heading[column].is_empty() {
                format!(" {cell:<width$}")
            } else {
                format!("  {cell:>width$}")
            };
            if column + 2 == line.len() && heading[column + 1].is_empty() {
                text.push(' ');
            }
        }
        say::out(text.trim_end())?;
    }
    Ok(())
}
