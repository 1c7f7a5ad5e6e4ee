//! The choice among equal records.

use crate::order::Ties;

/// The choice among records with equal keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// All, in an order of their whole records.
    #[default]
    All,
    /// All, in the order of the input.
    Stable,
    /// The first.
    First,
    /// The last.
    Last,
    /// The first, behind their number; of lines alone.
    Counted,
    /// The last, behind their number; of lines alone.
    LastCounted,
}

impl Keep {
    /// The tie-breaker that this takes.
    #[must_use]
    pub fn ties(self) -> Ties {
        match self {
            Keep::All => Ties::Record,
            Keep::Stable | Keep::First | Keep::Counted => Ties::Position,
            Keep::Last | Keep::LastCounted => Ties::LastPosition,
        }
    }

    /// Whether one record stands for all with its keys.
    #[must_use]
    pub fn is_unique(self) -> bool {
        matches!(self, Keep::First | Keep::Last) || self.counts()
    }

    /// Whether its records stand behind their number.
    #[must_use]
    pub fn counts(self) -> bool {
        matches!(self, Keep::Counted | Keep::LastCounted)
    }
}
