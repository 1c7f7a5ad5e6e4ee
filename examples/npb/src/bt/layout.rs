//! The cells of a rank, and its neighbours.

use gristmill_sim::Rank;

use crate::part::{Part, piece};

/// The least points of a side of a cell.
const LEAST: usize = 3;

/// The way to a neighbour along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To higher points.
    Up,
    /// To lower points.
    Down,
}

impl Way {
    /// The other one.
    pub fn back(self) -> Way {
        match self {
            Way::Up => Way::Down,
            Way::Down => Way::Up,
        }
    }
}

/// The cells of a rank: one in each slab along each axis.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Cells, from low z on.
    pub cells: Vec<Cell>,
    points: usize,
    place: [usize; 2],
}

/// A cell and its place among all cells.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// Its slab along each axis.
    pub slabs: [usize; 3],
    /// Its points.
    pub part: Part,
}

impl Layout {
    /// The cells of a rank among `ranks`, on `points` points a side.
    pub fn of(rank: Rank, ranks: u32, points: usize) -> Result<Layout, String> {
        let slabs = ranks.isqrt() as usize;
        if slabs * slabs != ranks as usize {
            return Err(format!("BT takes a square of ranks, and these are {ranks}"));
        }
        let least = points / slabs;
        if least < LEAST {
            return Err(format!(
                "{ranks} ranks leave {least} of {points} points a side to a cell, and BT needs {LEAST}: use fewer ranks"
            ));
        }
        let place = [rank.0 as usize % slabs, rank.0 as usize / slabs];
        let cells = (0..slabs).map(|z| {
            let slabs_of_cell = [(place[0] + z) % slabs, (place[1] + slabs - z) % slabs, z];
            let pieces = slabs_of_cell.map(|slab| piece(points, slabs, slab));
            let part = Part {
                points,
                low: pieces.map(|(low, _)| low),
                sides: pieces.map(|(_, side)| side),
            };
            Cell {
                slabs: slabs_of_cell,
                part,
            }
        });
        Ok(Layout {
            cells: cells.collect(),
            points,
            place,
        })
    }

    /// Slabs along an axis.
    pub fn slabs(&self) -> usize {
        self.cells.len()
    }

    /// The index of the cell in a slab.
    pub fn in_slab(&self, axis: usize, slab: usize) -> usize {
        let found = self.cells.iter().position(|cell| cell.slabs[axis] == slab);
        found.expect("a rank has a cell in every slab")
    }

    /// The rank that has the cells beyond those of this one.
    pub fn neighbour(&self, axis: usize, way: Way) -> Rank {
        let slabs = self.slabs();
        let (next, before) = match way {
            Way::Up => (1, slabs - 1),
            Way::Down => (slabs - 1, 1),
        };
        let [i, j] = self.place;
        // Along z, the cell above has lower x and higher y among those of its rank.
        let (i, j) = match axis {
            0 => (i + next, j),
            1 => (i, j + next),
            _ => (i + before, j + next),
        };
        Rank((i % slabs + slabs * (j % slabs)) as u32)
    }

    /// Whether a cell has another beyond it.
    pub fn goes_on(&self, cell: &Cell, axis: usize, way: Way) -> bool {
        match way {
            Way::Up => cell.slabs[axis] + 1 < self.slabs(),
            Way::Down => cell.slabs[axis] > 0,
        }
    }

    /// Values of all faces that go one way, two layers deep.
    pub fn faces(&self, axis: usize, way: Way) -> usize {
        let cells = self
            .cells
            .iter()
            .filter(|cell| self.goes_on(cell, axis, way));
        cells.map(|cell| 10 * cross(&cell.part, axis)).sum()
    }

    /// Points of the cross section that messages of passes are sized for: that of the largest cell, and more.
    pub fn padded(&self) -> usize {
        (self.points / self.slabs() + 1).pow(2)
    }
}

/// Points of a cross section.
pub fn cross(part: &Part, axis: usize) -> usize {
    (0..3)
        .filter(|other| *other != axis)
        .map(|other| part.sides[other])
        .product()
}
