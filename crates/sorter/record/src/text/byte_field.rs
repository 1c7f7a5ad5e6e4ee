//! Keys at byte offsets of records with lengths.

use std::ops::Range;

use super::encoding::Code;
use crate::field::Field;
use crate::framing::Prefix;
use crate::key::{Key, Kind};

/// A key at a place that is counted in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(super) place: BytePlace,
    pub(super) code: Code,
    pub(super) reversed: bool,
}

/// Where a key is in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BytePlace {
    At {
        offset: usize,
        bytes: usize,
    },
    /// Behind the header of a pair, which says how long the key is.
    Key(Prefix),
}

impl Stretch {
    /// A key behind `before` bytes.
    pub(crate) fn of_key(key: &Key, before: usize) -> Stretch {
        let place = BytePlace::At {
            offset: before + key.offset,
            bytes: key.bytes,
        };
        match key.kind {
            Kind::Bytes => Stretch {
                place,
                code: Code::Text,
                reversed: key.descending,
            },
            // The field itself has its direction.
            _ => Stretch {
                place,
                code: Code::Field(Field::from(&Key { offset: 0, ..*key })),
                reversed: false,
            },
        }
    }

    /// The key of a pair.
    pub(crate) fn of_pair(prefix: Prefix) -> Stretch {
        Stretch {
            place: BytePlace::Key(prefix),
            code: Code::Text,
            reversed: false,
        }
    }
}

impl BytePlace {
    #[inline]
    pub(super) fn range(self, record: &[u8]) -> Range<usize> {
        let (offset, bytes) = match self {
            BytePlace::At { offset, bytes } => (offset, bytes),
            BytePlace::Key(prefix) => {
                (prefix.header_bytes(), prefix.key_bytes(record).unwrap_or(0))
            }
        };
        let start = offset.min(record.len());
        start..start.saturating_add(bytes).min(record.len())
    }
}
