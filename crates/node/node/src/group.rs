//! Groups of ranks, as arithmetic rather than a table.

use crate::Rank;

/// `count` ranks: `first`, `first + stride`, ... These are the receivers of a multicast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// The lowest rank of the group.
    pub first: Rank,
    /// The number of members.
    pub count: u32,
    /// The distance between consecutive members, at least 1.
    pub stride: u32,
}

impl Group {
    /// `count` consecutive ranks.
    pub fn row(first: Rank, count: u32) -> Group {
        Group {
            first,
            count,
            stride: 1,
        }
    }

    /// The members in ascending order.
    pub fn members(self) -> impl Iterator<Item = Rank> {
        (0..self.count).map(move |index| Rank(self.first.0 + index * self.stride))
    }

    /// The highest rank of the group.
    ///
    /// # Panics
    /// When the group is empty.
    pub fn last(self) -> Rank {
        assert!(self.count > 0, "an empty group has no last member");
        Rank(self.first.0 + (self.count - 1) * self.stride)
    }

    /// The members among the ranks `from..until`.
    pub fn within(self, from: u32, until: u32) -> Group {
        let below = |rank: u32| {
            let distance = rank.saturating_sub(self.first.0);
            distance.div_ceil(self.stride).min(self.count)
        };
        let skipped = below(from);
        Group {
            first: Rank(self.first.0 + skipped * self.stride),
            count: below(until).saturating_sub(skipped),
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
