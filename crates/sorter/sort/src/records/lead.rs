//! The first words of records, where these share them: dates of one year, pages of one host, one heavy key.
//!
//! ```text
//! https://example.org/a      | https:/ | /exampl | e.org/a |        the third word tells these apart, as
//! https://example.org/b      | https:/ | /exampl | e.org/b |        the first one does other records
//! ftp://example.org/c        | ftp://e |                            one that does not share them comes
//!                                                                   before all of them, or behind
//! ```
//!
//! They are a guess from some records. Each other record is compared with them, so that a wrong guess costs
//! time alone.

use std::cmp::Ordering;

use crate::records::order::TotalOrder;

/// So many words of a record are read at once, since a key that must be sought is sought once for all
/// of them.
pub(crate) const NEAR_WORDS: usize = 8;

/// Words that records share, so that the one behind them is the first to tell these apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lead {
    shared: Vec<u64>,
}

impl Lead {
    /// The first words that all of these records share, without the last of a record.
    pub(crate) fn of<'r>(
        order: &impl TotalOrder,
        mut records: impl Iterator<Item = &'r [u8]>,
    ) -> Lead {
        let mut shared = vec![0; NEAR_WORDS + 1];
        let Some(first) = records.next() else {
            return Lead::default();
        };
        let there = order.words_from(first, 0, &mut shared);
        shared.truncate(there.saturating_sub(1));
        let mut words = [0; NEAR_WORDS];
        for record in records {
            if shared.is_empty() {
                break;
            }
            let words = &mut words[..shared.len()];
            order.words_from(record, 0, words);
            let differ = shared.iter().zip(words).position(|(a, b)| *a != *b);
            shared.truncate(differ.unwrap_or(shared.len()));
        }
        Lead { shared }
    }

    pub(crate) fn words(&self) -> u32 {
        self.shared.len() as u32
    }

    pub(crate) fn is_none(&self) -> bool {
        self.shared.is_empty()
    }

    /// The word of a record behind those; or its order with all records that share them.
    #[inline]
    pub(crate) fn behind(&self, order: &impl TotalOrder, record: &[u8]) -> Result<u64, Ordering> {
        let mut words = [0; NEAR_WORDS + 1];
        let words = &mut words[..=self.shared.len()];
        order.words_from(record, 0, words);
        let (next, words) = words.split_last().expect("one more than are shared");
        match words.cmp(&self.shared[..]) {
            Ordering::Equal => Ok(*next),
            other => Err(other),
        }
    }
}
