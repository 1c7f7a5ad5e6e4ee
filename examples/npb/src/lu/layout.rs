//! The grid of ranks, and the neighbours of one.

use gristmill_sim::Rank;

use crate::mail::Tag;
use crate::part::{Part, piece};

/// The least points of a side that a rank may have.
const LEAST: usize = 3;

/// A side of a rank's pencil.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Low x.
    North,
    /// High x.
    South,
    /// Low y.
    West,
    /// High y.
    East,
}

impl Side {
    /// The axis along which the neighbour lies.
    pub fn axis(self) -> usize {
        match self {
            Side::North | Side::South => 0,
            Side::West | Side::East => 1,
        }
    }

    /// Whether the neighbour has lower points.
    pub fn is_low(self) -> bool {
        matches!(self, Side::North | Side::West)
    }

    /// The side at which the neighbour sees this rank.
    pub fn opposite(self) -> Side {
        match self {
            Side::North => Side::South,
            Side::South => Side::North,
            Side::West => Side::East,
            Side::East => Side::West,
        }
    }

    /// The tag of messages that arrive at this side.
    pub fn tag(self) -> Tag {
        Tag(self as u8)
    }
}

/// Rows along x and columns along y of so many ranks, a power of two: as square as may be, with more rows.
pub fn grid(ranks: u32) -> [u32; 2] {
    let columns = 1 << (ranks.ilog2() / 2);
    [ranks / columns, columns]
}

/// A rank's place among others.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Its points.
    pub part: Part,
    rank: u32,
    grid: [u32; 2],
}

impl Layout {
    /// The place of a rank among `ranks`, on `points` points a side.
    pub fn of(rank: Rank, ranks: u32, points: usize) -> Result<Layout, String> {
        if !ranks.is_power_of_two() {
            return Err(format!(
                "LU takes a power of two of ranks, and these are {ranks}"
            ));
        }
        let grid = grid(ranks);
        let least = points / grid[0] as usize;
        if least < LEAST {
            return Err(format!(
                "{ranks} ranks leave {least} of {points} points a side to a rank, and LU needs {LEAST}: use fewer ranks"
            ));
        }
        let place = [rank.0 % grid[0], rank.0 / grid[0]];
        let [x, y] = [0, 1].map(|axis| piece(points, grid[axis] as usize, place[axis] as usize));
        Ok(Layout {
            part: Part {
                points,
                low: [x.0, y.0, 0],
                sides: [x.1, y.1, points],
            },
            rank: rank.0,
            grid,
        })
    }

    /// The neighbour at a side, if there is one.
    pub fn neighbour(&self, side: Side) -> Option<Rank> {
        let rows = self.grid[0];
        let (place, step) = match side.axis() {
            0 => (self.rank % rows, 1),
            _ => (self.rank / rows, rows),
        };
        let last = self.grid[side.axis()] - 1;
        if side.is_low() {
            (place > 0).then(|| Rank(self.rank - step))
        } else {
            (place < last).then(|| Rank(self.rank + step))
        }
    }

    /// Values of a row of points along a side, on one plane, without the border of the grid.
    pub fn row(&self, side: Side) -> usize {
        5 * self.part.inner(1 - side.axis()).len()
    }

    /// Values of the two planes of points along a side.
    pub fn planes(&self, side: Side) -> usize {
        10 * self.part.sides[1 - side.axis()] * self.part.points
    }
}
