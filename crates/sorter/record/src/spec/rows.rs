//! Rows as a user describes them.

use super::Keep;
use crate::head::Head;
use crate::rows::{Dialect, Header, RowKey, RowOrder, RowOrderError};
use crate::text::Locale;
use crate::totals::{TotalError, Totals};

/// Rows as a user describes them: their keys may need the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowSpec {
    /// How a row divides into values.
    pub dialect: Dialect,
    /// The lines on top of each input, the last of which names the columns if there is one.
    pub head: Head,
    /// The keys, the most significant first.
    pub keys: Vec<RowKey>,
    /// The choice among rows with equal keys.
    pub keep: Keep,
    /// The language by which text is compared; without one, by its bytes.
    pub locale: Option<Locale>,
    /// Words that stand for a missing value.
    pub nulls: Vec<String>,
    /// Whether a row may have fewer columns than the header.
    pub has_short_rows: bool,
    /// Columns whose numbers in rows with equal keys are added up.
    pub sums: Vec<String>,
}

impl RowSpec {
    /// The order under a header, if rows have one. Until it is there, keys are left out, since only the
    /// header has their columns.
    ///
    /// # Errors
    /// If a key has no place in the rows.
    pub fn order(&self, header: Option<&Header>) -> Result<RowOrder, RowOrderError> {
        let waits = self.has_header() && header.is_none();
        let keys = if waits { &[][..] } else { &self.keys };
        let order = RowOrder::new(self.dialect, header, keys, self.keep.ties())?;
        let order = order
            .with_nulls(&self.nulls)
            .with_short_rows(self.has_short_rows);
        Ok(order.with_locale(self.locale))
    }

    /// The totals under a header, as [`RowSpec::order`] has it; none until it is there.
    ///
    /// # Errors
    /// If a column has no place in the rows, or is a key.
    pub fn totals(&self, order: &RowOrder, header: Option<&Header>) -> Result<Totals, TotalError> {
        if self.has_header() && header.is_none() {
            return Totals::check_columns(&self.sums, &self.keys).map(|()| Totals::default());
        }
        Totals::of_rows(&self.sums, order, (header, &self.nulls))
    }

    /// Whether a line of the head names the columns.
    #[must_use]
    pub fn has_header(&self) -> bool {
        self.head.lines() > 0
    }
}
