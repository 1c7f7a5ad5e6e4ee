//! The refusal of a prediction.

use std::fmt;

/// The reason why there is no prediction, in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unpredicted(String);

impl Unpredicted {
    pub(crate) fn because(why: String) -> Unpredicted {
        Unpredicted(why)
    }
}

impl fmt::Display for Unpredicted {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for Unpredicted {}
