//! Lines and rows as jobs describe them.

use std::sync::Arc;

use kernel::LineCrc;
use record::rows::RowCheck;
use record::{FieldOrder, Keep, LineOrder, Totals};

use super::Lines;
use super::sifting::Check;
use crate::records::framing::Framing;

impl Lines {
    /// Lines in this order.
    pub fn new(order: LineOrder) -> Lines {
        let framing = Framing::ending(order.framing);
        let crc = Arc::new(LineCrc::new());
        let check = order.text.has_types().then(|| Check {
            typed: Some(order.clone()),
            ..Check::default()
        });
        Lines {
            behind: order.text.behind_first(),
            order,
            framing,
            crc,
            unique: false,
            counts: false,
            check: check.map(Arc::new),
            header: Arc::default(),
        }
    }

    /// Rows in this order, which are checked when they are read.
    pub fn rows(order: LineOrder, check: RowCheck) -> Lines {
        Lines {
            check: Some(Arc::new(Check {
                rows: Some(check),
                ..Check::default()
            })),
            ..Lines::new(order)
        }
    }

    /// The same lines below a header: whole lines, or none.
    #[must_use]
    pub fn under(mut self, header: Vec<u8>) -> Lines {
        self.header = Arc::new(header);
        self
    }

    /// Records with lengths in this order, which must have all keys.
    pub fn fields(order: FieldOrder) -> Lines {
        let check = Check {
            least_bytes: order.least_bytes(),
            ..Check::default()
        };
        Lines {
            check: Some(Arc::new(check)),
            ..Lines::new(LineOrder::fields(order))
        }
    }

    /// Keeps these of the lines with equal keys.
    #[must_use]
    pub fn keeping(self, keep: Keep) -> Lines {
        Lines {
            unique: keep.is_unique() && !keep.counts(),
            counts: keep.counts(),
            ..self
        }
    }

    /// Adds up these numbers of lines with equal keys.
    #[must_use]
    pub fn summing(self, totals: &Totals) -> Lines {
        if totals.is_none() {
            return self;
        }
        let check = Check {
            totals: totals.clone(),
            ..self.check.as_deref().cloned().unwrap_or_default()
        };
        Lines {
            unique: false,
            check: Some(Arc::new(check)),
            ..self
        }
    }
}
