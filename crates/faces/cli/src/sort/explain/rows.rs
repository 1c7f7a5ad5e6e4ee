//! Rows with their keys, whose columns the header names.

use std::io::BufRead;

use record::rows::RowCheck;
use record::text::TextOrder;
use record::{Framing, Keep, RowSpec, Totals};

use super::MOST_LINE_BYTES;
use super::keys::{end_of_missing, kept, reads_value, text_by};
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
    let keys = rows.keys.iter().zip(1..).map(|(key, number)| {
        let order = key.order;
        format!(
            "key {number}, {}: {}, rows without it {}",
            key.name,
            reads_value(order, rows.locale),
            end_of_missing(order)
        )
    });
    let whole = rows
        .keys
        .is_empty()
        .then(|| format!("key 1, the whole row: {}", text_by(rows.locale)));
    let equal = match rows.keep {
        keep if keep.is_unique() => Some(kept(keep, &rows.sums)),
        Keep::All if rows.keys.is_empty() => None,
        Keep::All => Some("compared as bytes".to_owned()),
        _ => Some("in the order of the input".to_owned()),
    };
    let equal = equal.map(|equal| format!("rows with equal keys: {equal}"));
    keys.chain(whole).chain(equal).collect()
}
