//! The places of cores: groups of neighbours, and in each group rows.
//!
//! ```text
//!   group 0        group 1        ...       a group holds neighbouring keys: at most 256 cores,
//!   row 0  0 1 2   row 0  9 10 11           which a nanoPU cluster has behind one switch
//!   row 1  3 4 5   row 1 12 13 14           a row holds neighbouring keys of its group
//!   row 2  6 7 8   row 2 15 16 17           a core's place in its row is its column
//! ```

use node::Rank;

use super::division::Division;

/// Cores that hear each other one by one: so many messages cost less than a trip through a switch.
pub const FEW: u32 = 16;

/// Where one core is.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// All cores, in groups.
    pub groups: Division,
    /// Rows of each group.
    pub rows_each: u32,
    pub group: u32,
    /// The core's index in its group.
    pub index: u32,
    /// The cores of its group, in rows.
    pub rows: Division,
    pub row: u32,
    pub column: u32,
}

impl Shape {
    pub fn new(rank: Rank, cores: u32, most_of_group: u32) -> Shape {
        let groups = Division {
            first: 0,
            cores,
            parts: cores.div_ceil(most_of_group),
        };
        let most = groups.most();
        let rows_each = if most <= FEW {
            1
        } else {
            most.isqrt().min(groups.least())
        };
        let (group, index) = groups.place(rank);
        let rows = groups.part(group, rows_each);
        let (row, column) = rows.place(rank);
        Shape {
            groups,
            rows_each,
            group,
            index,
            rows,
            row,
            column,
        }
    }

    /// The cores of another group, in rows.
    pub fn rows_of(&self, group: u32) -> Division {
        self.groups.part(group, self.rows_each)
    }

    /// The core of this one's column in a row of its own group. In a shorter row columns wrap
    /// round.
    pub fn in_row(&self, row: u32) -> Rank {
        self.rows.core(row, self.column % self.rows.size(row))
    }
}
