//! The lengths of lines that a job counts on, and the refusal of longer ones.

use std::path::Path;

use node::LOT_BYTES;
use pipeline::Failure;

use super::Source;
use crate::error::SortError;
use crate::records::contents::Contents;

/// How long a line may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LongestLine {
    /// A few lines of the input and the memory decide.
    #[default]
    Seen,
    /// They do, but buffers have room for so many bytes.
    AtLeast(usize),
    /// As long as the longest, for which all of the input is read first.
    Measured,
}

impl LongestLine {
    /// The same of lines behind so many bytes.
    pub(crate) fn behind(self, bytes: usize) -> LongestLine {
        match self {
            LongestLine::AtLeast(line) => LongestLine::AtLeast(line.saturating_add(bytes)),
            LongestLine::Seen | LongestLine::Measured => self,
        }
    }

    /// The bytes that were asked for.
    #[must_use]
    pub fn at_least(self) -> Option<usize> {
        match self {
            LongestLine::AtLeast(bytes) => Some(bytes),
            LongestLine::Seen | LongestLine::Measured => None,
        }
    }
}

/// The failure as it is without the lots of shuffled lines, which are in front of them.
pub(crate) fn without_lots(failure: Failure, contents: &dyn Contents) -> Failure {
    let Failure::Program(mut error) = failure else {
        return failure;
    };
    if let (
        Some(_),
        Some(SortError::LongLine {
            position,
            read,
            limit,
            ..
        }),
    ) = (contents.shuffle(), error.downcast_mut())
    {
        let lot = LOT_BYTES as u64;
        (*read, *limit) = (read.saturating_sub(lot), limit.saturating_sub(lot));
        *position = None;
    }
    Failure::Program(error)
}

/// The failure with the name of the input, if a line of the only one is too long. A position in
/// several inputs names none.
pub(crate) fn naming_source(failure: Failure, sources: &[Source]) -> Failure {
    let Failure::Program(error) = failure else {
        return failure;
    };
    match (error.downcast_ref(), sources) {
        (
            Some(&SortError::LongLine {
                position,
                read,
                limit,
                ..
            }),
            [source],
        ) => SortError::LongLine {
            file: source.path().map(Path::to_owned),
            position,
            read,
            limit,
        }
        .into(),
        _ => Failure::Program(error),
    }
}
