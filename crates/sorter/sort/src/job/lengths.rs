//! The lengths of lines that a job counts on, and the refusal of longer ones.

use std::path::Path;

use pipeline::Failure;

use super::Source;
use crate::error::SortError;

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
    /// The bytes that were asked for.
    #[must_use]
    pub fn at_least(self) -> Option<usize> {
        match self {
            LongestLine::AtLeast(bytes) => Some(bytes),
            LongestLine::Seen | LongestLine::Measured => None,
        }
    }
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
