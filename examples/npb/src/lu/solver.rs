//! A pencil with its numbers.

use std::ops::Range;

use super::layout::{Layout, Side};
use super::schedule::Pencil;
use crate::block::{State, add, add_product, solve};
use crate::equations::{Equations, Neighbour, pressure};
use crate::field::Field;
use crate::part::{Part, indices, moved, packed, unpack};

/// The factor of over-relaxation.
const OMEGA: f64 = 1.2;

/// The values of a pencil.
pub struct Solver {
    part: Part,
    equations: Equations,
    force: Field<State>,
    u: Field<State>,
    /// The residual, and then the correction.
    change: Field<State>,
}

impl Solver {
    pub fn new(layout: Layout, equations: Equations) -> Solver {
        let part = layout.part;
        Solver {
            part,
            equations,
            force: part.force(&equations),
            u: part.beginning(),
            change: Field::new(part.sides, [0.0; 5]),
        }
    }

    /// Points of a side, or in `layers` behind it, on some planes.
    fn at_side(
        &self,
        side: Side,
        layers: Range<isize>,
        rest: [Range<isize>; 2],
    ) -> impl Iterator<Item = [isize; 3]> + use<> {
        let length = self.part.sides[side.axis()] as isize;
        // Layers count from the border inwards; those of the neighbour are negative.
        let layers = if side.is_low() {
            layers
        } else {
            length - layers.end..length - layers.start
        };
        let [along, planes] = rest;
        match side.axis() {
            0 => indices([layers, along, planes]),
            _ => indices([along, layers, planes]),
        }
    }

    fn row_at(
        &self,
        side: Side,
        layers: Range<isize>,
        plane: usize,
    ) -> impl Iterator<Item = [isize; 3]> + use<> {
        let plane = plane as isize;
        self.at_side(
            side,
            layers,
            [self.part.inner(1 - side.axis()), plane..plane + 1],
        )
    }

    fn planes_at(
        &self,
        side: Side,
        layers: Range<isize>,
    ) -> impl Iterator<Item = [isize; 3]> + use<> {
        self.at_side(
            side,
            layers,
            [self.part.all(1 - side.axis()), self.part.all(2)],
        )
    }

    /// What the neighbours on one hand add to a point of a sweep.
    fn of_neighbours(&self, at: [isize; 3], hand: Neighbour) -> State {
        let step = if hand == Neighbour::Before { -1 } else { 1 };
        let mut sum = [0.0; 5];
        for axis in 0..3 {
            let beside = moved(at, axis, step);
            let block = self.equations.beside(axis, hand, &self.u[beside]);
            add_product(&mut sum, OMEGA, &block, &self.change[beside]);
        }
        sum
    }

    fn plane(&self, plane: usize) -> Vec<[isize; 3]> {
        let plane = plane as isize;
        indices([self.part.inner(0), self.part.inner(1), plane..plane + 1]).collect()
    }

    fn diagonal(&self, at: [isize; 3], right: State) -> State {
        let mut solution = right;
        solve(self.equations.here(0..3, &self.u[at]), None, &mut solution);
        solution
    }
}

impl Pencil for Solver {
    fn reset(&mut self) {
        self.u = self.part.beginning();
    }

    fn begin(&mut self) {
        let step = self.equations.step();
        for at in self.part.inside() {
            self.change[at].iter_mut().for_each(|value| *value *= step);
        }
    }

    fn lower(&mut self, plane: usize) {
        for at in self.plane(plane) {
            let mut right = self.change[at];
            add(&mut right, -1.0, &self.of_neighbours(at, Neighbour::Before));
            self.change[at] = self.diagonal(at, right);
        }
    }

    fn upper(&mut self, plane: usize) {
        for at in self.plane(plane).into_iter().rev() {
            let right = self.of_neighbours(at, Neighbour::After);
            let less = self.diagonal(at, right);
            add(&mut self.change[at], -1.0, &less);
        }
    }

    fn correct(&mut self) {
        let factor = 1.0 / (OMEGA * (2.0 - OMEGA));
        for at in self.part.inside() {
            add(&mut self.u[at], factor, &self.change[at]);
        }
    }

    fn residual(&mut self) {
        self.change = self.part.residual(&self.equations, &self.u, &self.force);
    }

    fn squares(&self) -> State {
        self.part.squares(&self.change)
    }

    fn row(&self, side: Side, plane: usize) -> Vec<f64> {
        packed(&self.change, self.row_at(side, 0..1, plane))
    }

    fn put_row(&mut self, side: Side, plane: usize, values: &[f64]) {
        let points = self.row_at(side, -1..0, plane);
        unpack(&mut self.change, points, values);
    }

    fn planes(&self, side: Side) -> Vec<f64> {
        packed(&self.u, self.planes_at(side, 0..2))
    }

    fn put_planes(&mut self, side: Side, values: &[f64]) {
        let points = self.planes_at(side, -2..0);
        unpack(&mut self.u, points, values);
    }

    fn end(&self) -> (State, f64) {
        (
            self.part.error_squares(&self.u),
            integral(&self.part, &self.u),
        )
    }
}

/// A part's share of the integral of pressure over the surface of a box, by the rule of trapezoids. The box has the
/// first and last points that NPB takes.
fn integral(part: &Part, u: &Field<State>) -> f64 {
    let points = part.points as isize;
    let ends = [[1, points - 2], [1, points - 3], [2, points - 2]];
    let size = (points - 1) as f64;
    let mut sum = 0.0;
    for at in part.inside() {
        let global = [0, 1, 2].map(|axis| part.low[axis] as isize + at[axis]);
        let is_in = |axis: usize| (ends[axis][0]..=ends[axis][1]).contains(&global[axis]);
        let is_end = |axis: usize| ends[axis].contains(&global[axis]);
        if !(0..3).all(is_in) {
            continue;
        }
        // On a face that an axis crosses, a point counts for the squares around it.
        for axis in (0..3).filter(|axis| is_end(*axis)) {
            let others = (0..3).filter(|other| *other != axis);
            let squares: f64 = others
                .map(|other| if is_end(other) { 1.0 } else { 2.0 })
                .product();
            sum += squares * pressure(&u[at]);
        }
    }
    0.25 * sum / (size * size)
}
