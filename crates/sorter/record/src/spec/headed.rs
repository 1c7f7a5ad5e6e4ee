//! Records below the head of their file.

use super::{Keep, RowSpec};
use crate::framing::Framing;
use crate::head::Head;
use crate::line_order::LineOrder;
use crate::rows::{Header, without_mark};
use crate::totals::Totals;

/// Records whose file may begin with lines that are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Headed {
    /// Rows: a header decides their order.
    Rows(RowSpec),
    /// Lines.
    Lines {
        /// The lines on top.
        head: Head,
        /// The order of the others.
        order: LineOrder,
        /// The choice among lines with equal keys.
        keep: Keep,
        /// Their fields that are added up.
        totals: Totals,
    },
}

impl Headed {
    /// The lines on top.
    #[must_use]
    pub fn head(&self) -> &Head {
        match self {
            Headed::Rows(rows) => &rows.head,
            Headed::Lines { head, .. } => head,
        }
    }

    /// Where a line of the head ends, and a record.
    #[must_use]
    pub fn framing(&self) -> Framing {
        match self {
            Headed::Rows(rows) => rows.dialect.framing(),
            Headed::Lines { order, .. } => order.framing,
        }
    }

    /// Rows, if these are some.
    #[must_use]
    pub fn rows(&self) -> Option<&RowSpec> {
        match self {
            Headed::Rows(rows) => Some(rows),
            Headed::Lines { .. } => None,
        }
    }

    /// The bytes of a byte order mark at the front, which is before the head.
    #[must_use]
    pub fn mark_of(&self, front: &[u8]) -> usize {
        front.len() - without_mark(front).len()
    }

    /// The line of a head that names columns, without the mark before it.
    #[must_use]
    pub fn names<'h>(&self, head: &'h [u8]) -> &'h [u8] {
        let head = &head[self.mark_of(head)..];
        let last = self.head().last_line(self.framing(), head, true);
        last.ok().flatten().map_or(head, |last| &head[last])
    }

    /// Columns of a first row, of rows that no header names.
    #[must_use]
    pub fn columns_of(&self, front: &[u8]) -> usize {
        match self {
            Headed::Rows(rows) if !rows.has_header() => Header::columns_at(rows.dialect, front),
            _ => 0,
        }
    }
}
