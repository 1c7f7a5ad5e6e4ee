//! Groups of ranks: arithmetic, never a table.

use crate::Rank;

/// The ranks `first`, `first + stride`, ... `count` of them: who hears a multicast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its first member.
    pub first: Rank,
    /// How many members it has.
    pub count: u32,
    /// From one member to the next; at least 1.
    pub stride: u32,
}

impl Group {
    /// `count` ranks in a row.
    pub fn row(first: Rank, count: u32) -> Group {
        Group {
            first,
            count,
            stride: 1,
        }
    }

    /// Its members in ascending order.
    pub fn members(self) -> impl Iterator<Item = Rank> {
        (0..self.count).map(move |index| Rank(self.first.0 + index * self.stride))
    }

    /// Its last member.
    ///
    /// # Panics
    /// When it has none.
    pub fn last(self) -> Rank {
        assert!(self.count > 0, "an empty group has no last member");
        Rank(self.first.0 + (self.count - 1) * self.stride)
    }

    /// Its members among the ranks `from..until`.
    pub fn within(self, from: u32, until: u32) -> Group {
        let skipped = from
            .saturating_sub(self.first.0)
            .div_ceil(self.stride)
            .min(self.count);
        let before = until
            .saturating_sub(self.first.0)
            .div_ceil(self.stride)
            .min(self.count);
        let first = Rank(self.first.0 + skipped * self.stride);
        Group {
            first,
            count: before.saturating_sub(skipped),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn within_keeps_the_members_of_a_range() {
        let group = Group {
            first: Rank(5),
            count: 6,
            stride: 7,
        };
        for from in 0..60 {
            for until in from..60 {
                let some = group.within(from, until).members();
                let expected = group
                    .members()
                    .filter(|rank| (from..until).contains(&rank.0));
                assert!(some.eq(expected), "{from}..{until}");
            }
        }
        assert_eq!(group.last(), Rank(40));
    }
}
