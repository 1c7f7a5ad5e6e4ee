//! Rows with their keys, whose columns the header names.

use std::io::BufRead;

use record::rows::{Nulls, RowCheck, ValueKind};
use record::text::TextOrder;
use record::{Framing, Keep, RowSpec, Totals};

use super::{MOST_LINE_BYTES, keys::kept, keys::text_by};
use crate::sort::shown::{Line, next, order_of};
use terminal::ending::failure::CliFailure;

/// The order of rows whose header was read.
pub(super) struct Explained {
    pub order: TextOrder,
    check: RowCheck,
    totals: Totals,
    framing: Framing,
    /// The line where the next row begins.
    line: u64,
}

impl Explained {
    /// The rows below these lines.
    ///
    /// # Errors
    /// A header with a mistake, or a key that has no column.
    pub(super) fn below(head: &[u8], rows: &RowSpec) -> Result<Explained, CliFailure> {
        let framing = rows.dialect.framing();
        let line = 1 + newlines(head);
        let (order, header) = order_of(rows, head).map_err(CliFailure::usage)?;
        let totals = rows.totals(&order, header.as_ref());
        Ok(Explained {
            totals: totals.map_err(|error| CliFailure::usage(error.to_string()))?,
            order: order.text(),
            check: RowCheck::new(&order, header.as_ref()),
            framing,
            line,
        })
    }

    /// The next row, without the newline at its end, and the line where it begins.
    pub(super) fn next(
        &mut self,
        reader: &mut impl BufRead,
    ) -> std::io::Result<Option<(u64, Line)>> {
        let row = next(reader, self.framing, MOST_LINE_BYTES + 1)?;
        let more = row.as_ref().map_or(0, |row| newlines(&row.bytes) + 1);
        let begin = self.line;
        self.line += more;
        Ok(row.map(|row| (begin, row)))
    }

    /// The reason for which a sort leaves this row out, or ends at it.
    pub(super) fn mistake(&self, row: &[u8]) -> Option<String> {
        if self.check.is_blank(row) {
            return Some("a blank line is no row; a sort leaves it out".to_owned());
        }
        let checked = self.check.check(row);
        let problem = checked
            .and_then(|()| self.totals.check(row).map(drop))
            .err()?;
        Some(format!("{problem}; a sort ends here without --bad-records"))
    }
}

fn newlines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// A line for each key, which says how it is read, and one for rows with equal keys.
pub(in crate::sort) fn summary(rows: &RowSpec) -> Vec<String> {
    let text = text_by(rows.locale);
    let keys = rows.keys.iter().zip(1..).map(|(key, number)| {
        let order = key.order;
        let locale = order.locale.or(rows.locale);
        let text = text_by(locale);
        let kind: &str = match (order.kind, locale) {
            (ValueKind::Text, _) if order.no_case => &format!("{text}, without case"),
            (ValueKind::Text, _) => &text,
            (ValueKind::Number, _) => "a number",
            (ValueKind::Natural, None) => "a name with numbers in it",
            (ValueKind::Natural, Some(_)) => &format!("{text}, with numbers in it"),
            (ValueKind::Date, _) => "a date",
            (ValueKind::Form(form), _) => form.meaning(),
        };
        let direction = if order.descending {
            ", the largest first"
        } else {
            ""
        };
        let is_last = match order.nulls {
            Nulls::Least => order.descending,
            Nulls::First => false,
            Nulls::Last => true,
        };
        let end = if is_last { "last" } else { "first" };
        format!(
            "key {number}, {}: {kind}{direction}, rows without it {end}",
            key.name
        )
    });
    let whole = rows
        .keys
        .is_empty()
        .then(|| format!("key 1, the whole row: {text}"));
    let equal = match rows.keep {
        keep if keep.is_unique() => Some(kept(keep, &rows.sums)),
        Keep::All if rows.keys.is_empty() => None,
        Keep::All => Some("compared as bytes".to_owned()),
        _ => Some("in the order of the input".to_owned()),
    };
    let equal = equal.map(|equal| format!("rows with equal keys: {equal}"));
    keys.chain(whole).chain(equal).collect()
}
