//! The part of the grid that a rank has, or a cell of it.

use std::ops::Range;

use crate::block::{State, add};
use crate::equations::{Equations, exact};
use crate::field::Field;

/// A box of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Points of a side of the whole grid.
    pub points: usize,
    /// The first point.
    pub low: [usize; 3],
    /// Points along each axis.
    pub sides: [usize; 3],
}

/// The begin and length of a piece of `points`, of `pieces`; the first ones have what is left over.
pub fn piece(points: usize, pieces: usize, number: usize) -> (usize, usize) {
    let (least, left) = (points / pieces, points % pieces);
    (
        number * least + number.min(left),
        least + usize::from(number < left),
    )
}

impl Part {
    /// All indices along an axis.
    pub fn all(&self, axis: usize) -> Range<isize> {
        0..self.sides[axis] as isize
    }

    /// Indices along an axis without the border of the grid, where the exact solution is given.
    pub fn inner(&self, axis: usize) -> Range<isize> {
        let side = self.sides[axis];
        let begin = isize::from(self.low[axis] == 0);
        begin..(side - usize::from(self.low[axis] + side == self.points)) as isize
    }

    /// All points without the border of the grid.
    pub fn inside(&self) -> impl Iterator<Item = [isize; 3]> + use<> {
        indices([0, 1, 2].map(|axis| self.inner(axis)))
    }

    /// The number of those.
    pub fn count(&self) -> usize {
        (0..3).map(|axis| self.inner(axis).len()).product()
    }

    /// The place in the unit cube of a point, or of a neighbour.
    fn place(&self, at: [isize; 3]) -> [f64; 3] {
        let intervals = (self.points - 1) as f64;
        [0, 1, 2].map(|axis| (self.low[axis] as isize + at[axis]) as f64 / intervals)
    }

    /// The first values: the exact solution on the border, between them a blend of the six faces.
    pub fn beginning(&self) -> Field<State> {
        let mut u = Field::new(self.sides, [1.0; 5]);
        for at in indices([0, 1, 2].map(|axis| self.all(axis))) {
            u[at] = exact(self.place(at));
        }
        for at in self.inside() {
            u[at] = blend(self.place(at));
        }
        u
    }

    /// The force that makes the exact solution stand.
    pub fn force(&self, equations: &Equations) -> Field<State> {
        let mut solution = Field::new(self.sides, [1.0; 5]);
        let wide = |axis| -2..self.sides[axis] as isize + 2;
        for at in indices([wide(0), wide(1), wide(2)]) {
            solution[at] = exact(self.place(at));
        }
        let nothing = Field::new(self.sides, [0.0; 5]);
        self.residual(equations, &solution, &nothing)
    }

    /// What the equations leave over `force` at each point, whose neighbours are there.
    pub fn residual(
        &self,
        equations: &Equations,
        u: &Field<State>,
        force: &Field<State>,
    ) -> Field<State> {
        let mut residual = Field::new(self.sides, [0.0; 5]);
        for at in self.inside() {
            let mut sum = force[at].map(|value| -value);
            for axis in 0..3 {
                let line = [-2, -1, 0, 1, 2].map(|step| u[moved(at, axis, step)]);
                let index = self.low[axis] + at[axis] as usize;
                add(&mut sum, 1.0, &equations.along(axis, index, &line));
            }
            residual[at] = sum;
        }
        residual
    }

    /// Sums of squares over the points inside.
    pub fn squares(&self, field: &Field<State>) -> State {
        let mut sums = [0.0; 5];
        for at in self.inside() {
            add(&mut sums, 1.0, &field[at].map(|value| value * value));
        }
        sums
    }

    /// Sums of squares of the distance from the exact solution.
    pub fn error_squares(&self, u: &Field<State>) -> State {
        let mut error = Field::new(self.sides, [0.0; 5]);
        for at in self.inside() {
            let mut distance = exact(self.place(at));
            add(&mut distance, -1.0, &u[at]);
            error[at] = distance;
        }
        self.squares(&error)
    }
}

/// A point between the six faces of the cube, in whose corners and edges their values meet.
fn blend(place: [f64; 3]) -> State {
    let between = [0, 1, 2].map(|axis| {
        let face = |at| {
            let mut place = place;
            place[axis] = at;
            exact(place)
        };
        let mut between = [0.0; 5];
        add(&mut between, 1.0 - place[axis], &face(0.0));
        add(&mut between, place[axis], &face(1.0));
        between
    });
    std::array::from_fn(|variable| {
        let [x, y, z] = between.map(|state| state[variable]);
        x + y + z - x * y - y * z - z * x + x * y * z
    })
}

/// All indices of a box, x first.
pub fn indices([x, y, z]: [Range<isize>; 3]) -> impl Iterator<Item = [isize; 3]> {
    z.flat_map(move |z| {
        let x = x.clone();
        y.clone()
            .flat_map(move |y| x.clone().map(move |x| [x, y, z]))
    })
}

/// The point some steps along an axis.
pub fn moved(mut at: [isize; 3], axis: usize, steps: isize) -> [isize; 3] {
    at[axis] += steps;
    at
}

/// Values of points in a row, as they are sent.
pub fn packed(field: &Field<State>, points: impl Iterator<Item = [isize; 3]>) -> Vec<f64> {
    points.flat_map(|at| field[at]).collect()
}

/// The reverse of [`packed`].
pub fn unpack(field: &mut Field<State>, points: impl Iterator<Item = [isize; 3]>, values: &[f64]) {
    for (at, state) in points.zip(values.as_chunks::<5>().0) {
        field[at] = *state;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_all_points_once() {
        for (points, pieces) in [(12, 1), (12, 5), (33, 8), (102, 10)] {
            let mut next = 0;
            for number in 0..pieces {
                let (begin, length) = piece(points, pieces, number);
                assert_eq!(begin, next);
                next += length;
            }
            assert_eq!(next, points);
        }
    }

    /// The exact solution stands under its own force, and no other does.
    #[test]
    fn the_exact_solution_has_no_residual() {
        let part = Part {
            points: 12,
            low: [0; 3],
            sides: [12; 3],
        };
        let equations = Equations::new(12, 0.5, 0.25);
        let force = part.force(&equations);
        let mut u = part.beginning();
        assert!(part.squares(&part.residual(&equations, &u, &force))[0] > 1.0);
        part.inside().for_each(|at| u[at] = exact(part.place(at)));
        let left = part.squares(&part.residual(&equations, &u, &force));
        assert!(left.iter().all(|sum| *sum < 1e-20), "{left:?}");
    }
}
