//! The places of cores: groups of neighbours, and in each group rows and bands.
//!
//! ```text
//!   group 0        group 1        ...       a group holds neighbouring keys: at most 256 cores,
//!   row 0  0 1 2   row 0  9 10 11           which a nanoPU cluster has behind one switch
//!   row 1  3 4 5   row 1 12 13 14           the cores of a row count and sample together
//!   row 2  6 7 8   row 2 15 16 17           a core's place in its row is its column
//! ```
//!
//! The cores of a group are divided a second time, in bands: a band holds neighbouring keys of its
//! group. With one group bands are rows. With several there are half as many more, as the fullest
//! groups have nearly twice their share of keys, and the work of ranking a key grows with the keys
//! of its band.

use std::ops::Range;

use node::{Group, Rank};

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
    /// The same cores, in bands.
    pub bands: Division,
    pub band: u32,
    /// The core's index in its band.
    pub place: u32,
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
        let bands = match (groups.parts, rows_each) {
            (1, _) | (_, 1) => rows,
            _ => groups.part(group, (rows_each + rows_each / 2).min(groups.least())),
        };
        let (band, place) = bands.place(rank);
        Shape {
            groups,
            rows_each,
            group,
            index,
            rows,
            row,
            column,
            bands,
            band,
            place,
        }
    }

    /// The cores of another group, in rows.
    pub fn rows_of(&self, group: u32) -> Division {
        self.groups.part(group, self.rows_each)
    }

    /// The core of a band to which this one sends its keys. In a shorter band places wrap round.
    pub fn in_band(&self, band: u32) -> Rank {
        self.bands.core(band, self.place % self.bands.size(band))
    }

    /// The cores that send this one their keys, with their bands: in bands of the same size those at the
    /// same place, and those of longer bands whose places wrap round.
    pub fn senders(&self) -> Vec<(Range<u32>, Group)> {
        let cores = self.bands.size(self.band) as usize;
        let mut senders = Vec::new();
        for alike in self
            .bands
            .alike()
            .into_iter()
            .filter(|alike| !alike.is_empty())
        {
            let stride = self.bands.size(alike.start);
            let count = alike.end - alike.start;
            senders.extend((self.place..stride).step_by(cores).map(|place| {
                let first = self.bands.core(alike.start, place);
                (
                    alike.clone(),
                    Group {
                        first,
                        count,
                        stride,
                    },
                )
            }));
        }
        senders
    }

    /// The bands of the same size as this core's own.
    pub fn bands_alike(&self) -> Range<u32> {
        let alike = self.bands.alike().into_iter();
        let mut with_own = alike.filter(|alike| alike.contains(&self.band));
        with_own.next().expect("each band is of one size")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_from_the_senders() {
        for (cores, group) in [(256, 256), (100, 100), (257, 100), (1000, 256), (90, 16)] {
            let shapes: Vec<_> = (0..cores)
                .map(|core| Shape::new(Rank(core), cores, group))
                .collect();
            let mut senders = vec![Vec::new(); cores as usize];
            for (core, shape) in shapes.iter().enumerate() {
                for band in 0..shape.bands.parts {
                    senders[shape.in_band(band).0 as usize].push(core as u32);
                }
            }
            for (shape, expected) in shapes.iter().zip(senders) {
                let mut found = Vec::new();
                for (bands, group) in shape.senders() {
                    for (band, core) in bands.clone().zip(group.members()) {
                        assert_eq!(shape.bands.place(core).0, band);
                        assert_eq!(shapes[core.0 as usize].bands_alike(), bands);
                        found.push(core.0);
                    }
                }
                found.sort_unstable();
                assert_eq!(found, expected);
            }
        }
    }
}
