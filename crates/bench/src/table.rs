//! What was measured, as a table for people and as JSON for scripts.

use serde_json::{Map, Value, json};

use crate::measure::Row;
use cli::failure::CliFailure;
use cli::say;
use cli::size::grouped;

/// A measurement.
pub struct Report {
    /// Its name on the command line.
    pub bench: &'static str,
    /// What holds for all rows.
    pub facts: Map<String, Value>,
    /// Its parts.
    pub sections: Vec<Section>,
}

/// Rows that compare: the first is the floor of the others.
pub struct Section {
    /// What is measured.
    pub title: String,
    /// Items of a run, and what an item is: for the time of one.
    pub items: (u64, &'static str),
    /// The rows, the floor first.
    pub rows: Vec<Row>,
    /// Columns instead of those of times, for rows that are more than a time.
    pub columns: Option<Columns>,
}

/// How a section with columns of its own shows a row; the first row is the heading.
pub type Columns = fn(&[Row]) -> Vec<Vec<String>>;

impl Section {
    /// A section of times.
    pub fn new(title: impl Into<String>, items: (u64, &'static str), rows: Vec<Row>) -> Section {
        Section {
            title: title.into(),
            items,
            rows,
            columns: None,
        }
    }

    fn ratio(&self, row: &Row) -> Option<f64> {
        let floor = self.rows.first().map_or(0.0, Row::median);
        (floor > 0.0 && !row.published).then(|| row.median() / floor)
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
            "published": row.published,
        });
        let fields = value.as_object_mut().expect("made above");
        fields.extend(row.more.clone());
        value
    }

    fn times(&self) -> Vec<Vec<String>> {
        let heading = [
            "",
            "median",
            "min",
            "max",
            &format!("ns/{}", self.items.1),
            "ratio",
            "",
        ];
        let mut lines = vec![heading.map(str::to_owned).to_vec()];
        for row in &self.rows {
            let ratio = self
                .ratio(row)
                .map_or("published".to_owned(), |x| format!("{x:.2}"));
            let each = format!("{:.2}", self.nanoseconds(row));
            let times = [row.median(), row.least(), row.most()].map(duration);
            let mut line = vec![row.name.clone()];
            line.extend(times);
            line.extend([each, ratio, row.command.clone()]);
            lines.push(line);
        }
        lines
    }
}

impl Report {
    /// Prints it.
    pub fn tell(&self, json: bool) -> Result<(), CliFailure> {
        if json {
            return say::out(format!("{:#}", self.json()));
        }
        say::out(format!("bench {}", self.bench))?;
        for (name, value) in &self.facts {
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            say::out(format!("  {:<22} {text}", name.replace('_', " ")))?;
        }
        for section in &self.sections {
            let (items, item) = section.items;
            say::out(format!("\n{} ({} {item}s)", section.title, grouped(items)))?;
            let lines = section
                .columns
                .map_or_else(|| section.times(), |of| of(&section.rows));
            print(&lines)?;
        }
        Ok(())
    }

    fn json(&self) -> Value {
        let rows = |section: &Section| section.rows.iter().map(|row| section.json(row)).collect();
        let rows: Vec<Value> = self
            .sections
            .iter()
            .flat_map::<Vec<Value>, _>(rows)
            .collect();
        let mut value = json!({ "bench": self.bench });
        let fields = value.as_object_mut().expect("made above");
        fields.extend(self.facts.clone());
        fields.insert("rows".to_owned(), rows.into());
        value
    }
}

/// Prints lines in columns: names to the left, figures to the right, a last column without a
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
            text += &match heading[column].is_empty() {
                true => format!(" {cell:<width$}"),
                false => format!("  {cell:>width$}"),
            };
            if column + 2 == line.len() && heading[column + 1].is_empty() {
                text.push(' ');
            }
        }
        say::out(text.trim_end())?;
    }
    Ok(())
}

/// A time as people read it.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{s:.3} s"),
        s if s >= 1e-3 => format!("{:.2} ms", s * 1e3),
        s => format!("{:.2} us", s * 1e6),
    }
}
