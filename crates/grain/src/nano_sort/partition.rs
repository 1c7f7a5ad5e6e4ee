//! Who is who in a level of NanoSort: arithmetic, no tables.
//!
//! The cores of a group stand in columns, one for each bucket, of neighbours; the cores of one row
//! stand at the same place in each column. With 8 cores and 4 buckets:
//!
//! ```text
//!              column 0   1   2   3
//!     row 0           0   2   4   6       bucket i goes to column i, which is the group
//!     row 1           1   3   5   7       of the next level
//! ```
//!
//! A number of cores that is no multiple of the buckets gives columns of two lengths; rows that a
//! column does not have are taken by its first ones again.

use node::{Group, Rank};

/// A group of cores, cut into columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition {
    first: u32,
    cores: u32,
    columns: u32,
}

impl Partition {
    /// All of so many cores, for so many buckets.
    pub fn of_all(cores: u32, buckets: u32) -> Partition {
        Partition {
            first: 0,
            cores,
            columns: buckets.clamp(1, cores),
        }
    }

    /// The column of a core, cut into columns itself.
    pub fn of_column(self, column: u32, buckets: u32) -> Partition {
        let cores = self.rows(column);
        Partition {
            first: self.core(column, 0).0,
            cores,
            columns: buckets.clamp(1, cores),
        }
    }

    /// How many columns, and buckets, there are.
    pub fn columns(self) -> u32 {
        self.columns
    }

    pub fn cores(self) -> u32 {
        self.cores
    }

    /// Its first core.
    pub fn first(self) -> Rank {
        Rank(self.first)
    }

    /// All cores of the group.
    pub fn group(self) -> Group {
        Group::row(Rank(self.first), self.cores)
    }

    /// The column and the row of one of its cores.
    pub fn place(self, rank: Rank) -> (u32, u32) {
        let offset = u64::from(rank.0 - self.first);
        let column = ((offset + 1) * u64::from(self.columns) - 1) / u64::from(self.cores);
        (
            column as u32,
            rank.0 - self.first - self.begin(column as u32),
        )
    }

    /// How many cores a column has.
    pub fn rows(self, column: u32) -> u32 {
        self.begin(column + 1) - self.begin(column)
    }

    /// The core of a column that takes what comes from a row.
    pub fn core(self, column: u32, row: u32) -> Rank {
        Rank(self.first + self.begin(column) + row % self.rows(column))
    }

    /// How many cores of the group send to this row of a column, each from its own row.
    pub fn senders(self, column: u32, row: u32) -> u32 {
        self.senders_of(column, row, None)
    }

    /// The same of the first so many rows of each column; of all, if it is not said.
    pub fn senders_of(self, column: u32, row: u32, most: Option<u32>) -> u32 {
        let rows = self.first_rows(column, most);
        // Of each column those of its rows that are this one, or that fall on it again.
        let of = |other| (self.first_rows(other, most) + rows - 1 - row) / rows;
        (0..self.columns).map(of).sum()
    }

    /// How many rows a column has of the first so many; of all, if it is not said.
    pub fn first_rows(self, column: u32, most: Option<u32>) -> u32 {
        most.unwrap_or(u32::MAX).clamp(1, self.rows(column))
    }

    fn begin(self, column: u32) -> u32 {
        (u64::from(column) * u64::from(self.cores) / u64::from(self.columns)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partitions() -> impl Iterator<Item = Partition> {
        let sizes = [1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 64, 100, 255, 256];
        sizes.into_iter().flat_map(|cores| {
            [1, 2, 3, 4, 8, 16, 300].map(|buckets| Partition::of_all(cores, buckets))
        })
    }

    #[test]
    fn every_core_has_a_place_of_its_own() {
        for all in partitions() {
            for partition in [all, all.of_column(all.columns() - 1, 3)] {
                let mut places = std::collections::BTreeSet::new();
                for rank in partition.group().members() {
                    let (column, row) = partition.place(rank);
                    assert!(column < partition.columns() && row < partition.rows(column));
                    assert_eq!(partition.core(column, row), rank, "{partition:?}");
                    assert!(places.insert((column, row)));
                }
                let rows: u32 = (0..partition.columns()).map(|at| partition.rows(at)).sum();
                assert_eq!(rows, partition.cores());
            }
        }
    }

    #[test]
    fn columns_differ_by_a_core_at_most() {
        for partition in partitions() {
            let rows = (0..partition.columns()).map(|column| partition.rows(column));
            let (least, most) = (rows.clone().min().unwrap(), rows.max().unwrap());
            assert!(least >= 1 && most <= least + 1, "{partition:?}");
        }
    }

    #[test]
    fn senders_are_counted_right() {
        for partition in partitions().filter(|partition| partition.cores() <= 64) {
            for column in 0..partition.columns() {
                let mut naive = vec![0; partition.rows(column) as usize];
                for rank in partition.group().members() {
                    let (_, row) = partition.place(rank);
                    let (_, at) = partition.place(partition.core(column, row));
                    naive[at as usize] += 1;
                }
                let found: Vec<_> = (0..partition.rows(column))
                    .map(|row| partition.senders(column, row))
                    .collect();
                assert_eq!(found, naive, "column {column} of {partition:?}");
            }
        }
    }

    #[test]
    fn the_drawing_is_right() {
        let all = Partition::of_all(8, 4);
        assert_eq!(all.place(Rank(5)), (2, 1));
        assert_eq!(
            (all.core(3, 0), all.rows(3), all.senders(3, 0)),
            (Rank(6), 2, 4)
        );
        assert_eq!(all.of_column(2, 4).group(), Group::row(Rank(4), 2));
    }
}
