//! The order behind a first key that its prefix holds whole. Such a key is sought once.
//!
//! ```text
//! -k2,2      key "35347"    word 0  | 35347.. 5 |     5 bytes and no more: equal words, equal keys
//!                           behind it: the last resort alone
//! ```

use super::TextOrder;

impl TextOrder {
    /// Whether keys must be sought in a line, since they are not all of it.
    #[must_use]
    pub fn seeks(&self) -> bool {
        self.line_only.is_none()
    }

    /// Whether word 0 of a line is all of its first key.
    #[inline]
    #[must_use]
    pub fn is_key(&self, prefix: u64) -> bool {
        let first = self.all().next();
        first.is_none_or(|part| part.is_whole_in(prefix))
    }

    /// The order of lines whose first keys are equal. It may have no key, and then no prefixes.
    #[must_use]
    pub fn behind_first(&self) -> TextOrder {
        let mut parts = self.parts.clone();
        parts.remove(0);
        let line_only = match (&parts[..], &self.rest[..]) {
            ([only], []) | ([], [only]) if only.is_line() => Some(only.flip()),
            _ => None,
        };
        TextOrder {
            parts,
            line_only,
            ..self.clone()
        }
    }
}
