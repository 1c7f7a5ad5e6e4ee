//! Cells with their numbers.

use std::ops::Range;

use super::layout::{Layout, Way, cross};
use super::schedule::{Cells, DOWN, UP};
use crate::block::{Block, NOTHING, State, add, add_product, solve, subtract_product};
use crate::equations::{Equations, Neighbour};
use crate::field::Field;
use crate::part::{Part, indices, moved, packed, unpack};

/// The cells of a rank.
pub struct Solver {
    layout: Layout,
    equations: Equations,
    cells: Vec<Values>,
}

/// The values of a cell.
struct Values {
    part: Part,
    force: Field<State>,
    u: Field<State>,
    /// The residual, and then the solution.
    right: Field<State>,
    /// The rest of an elimination, for the point after.
    after: Field<Block>,
}

impl Solver {
    pub fn new(layout: &Layout, equations: Equations) -> Solver {
        let cells = layout.cells.iter().map(|cell| Values {
            part: cell.part,
            force: cell.part.force(&equations),
            u: cell.part.beginning(),
            right: Field::new(cell.part.sides, [0.0; 5]),
            after: Field::new(cell.part.sides, NOTHING),
        });
        Solver {
            layout: layout.clone(),
            equations,
            cells: cells.collect(),
        }
    }

    fn sums(&self, of: impl Fn(&Values) -> State) -> State {
        self.cells.iter().fold([0.0; 5], |mut sums, cell| {
            add(&mut sums, 1.0, &of(cell));
            sums
        })
    }
}

/// Layers of a box at its end along an axis: inwards from the border, or negative ones beyond it.
fn layers(
    part: &Part,
    axis: usize,
    way: Way,
    layers: Range<isize>,
) -> impl Iterator<Item = [isize; 3]> + use<> {
    let length = part.sides[axis] as isize;
    let mut ranges = [0, 1, 2].map(|axis| part.all(axis));
    ranges[axis] = match way {
        Way::Down => layers,
        Way::Up => length - layers.end..length - layers.start,
    };
    indices(ranges)
}

impl Values {
    /// The first points of all lines along an axis that are not on the border.
    fn lines(&self, axis: usize) -> impl Iterator<Item = [isize; 3]> + use<> {
        let mut ranges = [0, 1, 2].map(|axis| self.part.inner(axis));
        ranges[axis] = 0..1;
        indices(ranges)
    }

    /// Eliminates at a point, with what the point before has left.
    fn eliminate(&mut self, equations: &Equations, axis: usize, at: [isize; 3]) {
        let index = self.part.low[axis] + at[axis] as usize;
        if index == 0 || index + 1 == self.part.points {
            // On the border nothing changes.
            self.after[at] = NOTHING;
            return;
        }
        let [before, next] = [-1, 1].map(|step| moved(at, axis, step));
        let low = equations.beside(axis, Neighbour::Before, &self.u[before]);
        let mut here = equations.here(axis..axis + 1, &self.u[at]);
        let mut after = equations.beside(axis, Neighbour::After, &self.u[next]);
        let mut right = self.right[at];
        add_product(&mut right, -1.0, &low, &self.right[before]);
        subtract_product(&mut here, &low, &self.after[before]);
        solve(here, Some(&mut after), &mut right);
        self.right[at] = right;
        self.after[at] = after;
    }
}

impl Cells for Solver {
    fn reset(&mut self) {
        self.cells
            .iter_mut()
            .for_each(|cell| cell.u = cell.part.beginning());
    }

    fn residual(&mut self) {
        let step = self.equations.step();
        for cell in &mut self.cells {
            cell.right = cell.part.residual(&self.equations, &cell.u, &cell.force);
            for at in cell.part.inside() {
                cell.right[at].iter_mut().for_each(|value| *value *= step);
            }
        }
    }

    fn add(&mut self) {
        for cell in &mut self.cells {
            for at in cell.part.inside() {
                add(&mut cell.u[at], 1.0, &cell.right[at]);
            }
        }
    }

    fn eliminate(&mut self, axis: usize, cell: usize) {
        let cell = &mut self.cells[cell];
        for first in cell.lines(axis) {
            for step in cell.part.all(axis) {
                cell.eliminate(&self.equations, axis, moved(first, axis, step));
            }
        }
    }

    fn substitute(&mut self, axis: usize, cell: usize) {
        let cell = &mut self.cells[cell];
        for first in cell.lines(axis) {
            for step in cell.part.all(axis).rev() {
                let at = moved(first, axis, step);
                let next = cell.right[moved(at, axis, 1)];
                let after = cell.after[at];
                add_product(&mut cell.right[at], -1.0, &after, &next);
            }
        }
    }

    fn faces(&self, axis: usize, way: Way) -> Vec<f64> {
        let cells = self.layout.cells.iter().zip(&self.cells);
        let cells = cells.filter(|(cell, _)| self.layout.goes_on(cell, axis, way));
        cells
            .flat_map(|(_, values)| packed(&values.u, layers(&values.part, axis, way, 0..2)))
            .collect()
    }

    fn put_faces(&mut self, axis: usize, way: Way, values: &[f64]) {
        let mut rest = values;
        for (cell, own) in self.layout.cells.iter().zip(&mut self.cells) {
            if self.layout.goes_on(cell, axis, way) {
                let (face, others) = rest.split_at(10 * cross(&cell.part, axis));
                unpack(&mut own.u, layers(&cell.part, axis, way, -2..0), face);
                rest = others;
            }
        }
    }

    fn pass(&self, axis: usize, way: Way, cell: usize) -> Vec<f64> {
        let cell = &self.cells[cell];
        let points = layers(&cell.part, axis, way, 0..1);
        let blocks = points.flat_map(|at| {
            let block = (way == Way::Up).then(|| cell.after[at]);
            block.into_iter().flatten().chain([cell.right[at]])
        });
        blocks.flatten().collect()
    }

    fn put_pass(&mut self, axis: usize, way: Way, cell: usize, values: &[f64]) {
        let cell = &mut self.cells[cell];
        let each = if way == Way::Up { UP } else { DOWN };
        let points = layers(&cell.part, axis, way.back(), -1..0);
        for (at, values) in points.zip(values.chunks(each)) {
            let (states, _) = values.as_chunks::<5>();
            let (right, block) = states.split_last().expect("a state");
            cell.right[at] = *right;
            if let Ok(block) = Block::try_from(block) {
                cell.after[at] = block;
            }
        }
    }

    fn squares(&self) -> State {
        self.sums(|cell| cell.part.squares(&cell.right))
    }

    fn error_squares(&self) -> State {
        self.sums(|cell| cell.part.error_squares(&cell.u))
    }
}
