//! The equations of both benchmarks: flow of a compressible viscous gas in a unit cube, in differences of fourth
//! order dissipation, with a force that makes a polynomial the exact solution.

use crate::block::{Block, NOTHING, State, add};

/// Ratio of specific heats, that less one, and the constants of viscosity and heat (NPB, c1 to c5).
const C1: f64 = 1.4;
const C2: f64 = 0.4;
const C34: f64 = 0.1;
const C15: f64 = 1.4 * 1.4;

/// Artificial diffusion along each axis.
const DIFFUSION: [f64; 3] = [0.75, 0.75, 1.0];

/// The exact solution: for each variable the constant, and for each axis the coefficients of its powers 1 to 4.
const EXACT: [(f64, [[f64; 4]; 3]); 5] = [
    (
        2.0,
        [
            [0.0, 5.0, 0.02, 0.5],
            [0.0, 3.0, 0.01, 0.4],
            [4.0, 0.5, 0.03, 0.3],
        ],
    ),
    (
        1.0,
        [
            [0.0, 1.0, 0.01, 0.4],
            [0.0, 2.0, 0.03, 0.3],
            [0.0, 3.0, 0.02, 0.5],
        ],
    ),
    (
        2.0,
        [
            [2.0, 0.0, 0.04, 0.3],
            [0.0, 2.0, 0.03, 0.5],
            [0.0, 3.0, 0.05, 0.4],
        ],
    ),
    (
        2.0,
        [
            [2.0, 0.0, 0.03, 0.2],
            [0.0, 2.0, 0.05, 0.1],
            [0.0, 3.0, 0.04, 0.3],
        ],
    ),
    (
        5.0,
        [
            [4.0, 0.1, 0.05, 0.1],
            [3.0, 0.4, 0.04, 0.3],
            [2.0, 0.3, 0.03, 0.2],
        ],
    ),
];

/// The exact solution at a place of the cube.
pub fn exact(place: [f64; 3]) -> State {
    EXACT.map(|(constant, axes)| {
        let along = axes.iter().zip(place).map(|(powers, at)| {
            powers
                .iter()
                .rev()
                .fold(0.0, |sum, factor| (sum + factor) * at)
        });
        constant + along.sum::<f64>()
    })
}

/// Pressure of a point.
pub fn pressure(u: &State) -> f64 {
    C2 * (u[4] - 0.5 * momentum(u) / u[0])
}

/// The square of the momentum.
fn momentum(u: &State) -> f64 {
    u[1] * u[1] + u[2] * u[2] + u[3] * u[3]
}

/// The fluxes along an axis.
fn flux(axis: usize, u: &State) -> State {
    let speed = u[1 + axis] / u[0];
    let mut flux = u.map(|value| value * speed);
    flux[0] = u[1 + axis];
    flux[1 + axis] += pressure(u);
    flux[4] = (C1 * u[4] - C2 * 0.5 * momentum(u) / u[0]) * speed;
    flux
}

/// What viscosity and heat spread along an axis, but for their constant.
fn spread(axis: usize, u: &State) -> State {
    let v = u.map(|value| value / u[0]);
    let along = v[1 + axis];
    let mut spread = [0.0, v[1], v[2], v[3], 0.0];
    spread[1 + axis] *= 4.0 / 3.0;
    spread[4] = 0.5 * (1.0 - C15) * momentum(&v) + along * along / 6.0 + C15 * v[4];
    spread
}

/// The derivative of [`flux`].
fn flux_derivative(axis: usize, u: &State) -> Block {
    let (along, inverse) = (1 + axis, 1.0 / u[0]);
    let v = u.map(|value| value * inverse);
    let half = 0.5 * momentum(&v);
    let mut block = NOTHING;
    block[0][along] = 1.0;
    for row in 1..4 {
        block[row][0] = -v[row] * v[along];
        block[row][row] = v[along];
        block[row][along] = v[row];
    }
    block[along][0] += C2 * half;
    for column in 1..4 {
        block[along][column] -= C2 * v[column];
        block[4][column] = -C2 * v[column] * v[along];
    }
    block[along][along] += v[along];
    block[along][4] = C2;
    block[4][0] = (2.0 * C2 * half - C1 * v[4]) * v[along];
    block[4][along] += C1 * v[4] - C2 * half;
    block[4][4] = C1 * v[along];
    block
}

/// The derivative of [`spread`] with its constant, as the schemes take it.
fn spread_derivative(axis: usize, u: &State) -> Block {
    let inverse = 1.0 / u[0];
    let v = u.map(|value| value * inverse);
    let heat = C15 * C34;
    let mut block = NOTHING;
    block[4][0] = -heat * v[4] * inverse;
    block[4][4] = heat * inverse;
    for row in 1..4 {
        let stress = if row == 1 + axis {
            C34 * 4.0 / 3.0
        } else {
            C34
        };
        block[row][0] = -stress * v[row] * inverse;
        block[row][row] = stress * inverse;
        block[4][0] -= (stress - heat) * v[row] * v[row] * inverse;
        block[4][row] = (stress - heat) * v[row] * inverse;
    }
    block
}

/// The equations on a grid.
#[derive(Clone, Copy, Debug)]
pub struct Equations {
    /// Points of a side.
    points: usize,
    /// The step of pseudo-time.
    step: f64,
    /// Dissipation of fourth order; NPB takes a quarter.
    dissipation: f64,
}

/// The neighbour whose derivative is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neighbour {
    /// The one before.
    Before,
    /// The one after.
    After,
}

impl Equations {
    /// The equations on `points` points a side.
    pub fn new(points: usize, step: f64, dissipation: f64) -> Equations {
        Equations {
            points,
            step,
            dissipation,
        }
    }

    /// Points of a side.
    pub fn points(&self) -> usize {
        self.points
    }

    /// The step of pseudo-time.
    pub fn step(&self) -> f64 {
        self.step
    }

    /// Intervals of a side, so many to the unit.
    fn intervals(&self) -> f64 {
        (self.points - 1) as f64
    }

    /// What an axis adds at the point with this index along it, of the point and two on both sides.
    pub fn along(&self, axis: usize, index: usize, line: &[State; 5]) -> State {
        let [_, before, here, after, _] = line;
        let square = self.intervals() * self.intervals();
        let mut sum = [0.0; 5];
        let half = 0.5 * self.intervals();
        add(&mut sum, -half, &flux(axis, after));
        add(&mut sum, half, &flux(axis, before));
        let viscous = [before, here, after].map(|u| spread(axis, u));
        for (factor, spread, u) in [
            (1.0, &viscous[0], before),
            (-2.0, &viscous[1], here),
            (1.0, &viscous[2], after),
        ] {
            add(&mut sum, factor * C34 * square, spread);
            add(&mut sum, factor * DIFFUSION[axis] * square, u);
        }
        for (weight, u) in self.weights(index).iter().zip(line) {
            add(&mut sum, -self.dissipation * weight, u);
        }
        sum
    }

    /// Weights of fourth differences; next to the border they do without the points that are not there.
    fn weights(&self, index: usize) -> [f64; 5] {
        match (index, self.points - 1 - index) {
            (1, _) => [0.0, 0.0, 5.0, -4.0, 1.0],
            (2, _) => [0.0, -4.0, 6.0, -4.0, 1.0],
            (_, 2) => [1.0, -4.0, 6.0, -4.0, 0.0],
            (_, 1) => [1.0, -4.0, 5.0, 0.0, 0.0],
            _ => [1.0, -4.0, 6.0, -4.0, 1.0],
        }
    }

    /// The matrix of an implicit step for a neighbour along an axis, which has these variables.
    pub fn beside(&self, axis: usize, neighbour: Neighbour, u: &State) -> Block {
        let sign = if neighbour == Neighbour::Before {
            -0.5
        } else {
            0.5
        };
        let convective = sign * self.step * self.intervals();
        let viscous = self.step * self.intervals() * self.intervals();
        let (flux, spread) = (flux_derivative(axis, u), spread_derivative(axis, u));
        let mut block = NOTHING;
        for row in 0..5 {
            add(&mut block[row], convective, &flux[row]);
            add(&mut block[row], -viscous, &spread[row]);
            block[row][row] -= viscous * DIFFUSION[axis];
        }
        block
    }

    /// The matrix of an implicit step for the point itself, along these axes.
    pub fn here(&self, axes: std::ops::Range<usize>, u: &State) -> Block {
        let twice = 2.0 * self.step * self.intervals() * self.intervals();
        let mut block = NOTHING;
        (0..5).for_each(|row| block[row][row] = 1.0);
        for axis in axes {
            let spread = spread_derivative(axis, u);
            for row in 0..5 {
                add(&mut block[row], twice, &spread[row]);
                block[row][row] += twice * DIFFUSION[axis];
            }
        }
        block
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Function = fn(usize, &State) -> State;

    /// The derivatives of flux and spread are those of their functions.
    #[test]
    fn derivatives_are_limits_of_differences() {
        let u = [1.3, 0.7, -0.4, 0.9, 4.0];
        for axis in 0..3 {
            let pairs: [(Block, Function, f64); 2] = [
                (flux_derivative(axis, &u), flux, 1.0),
                (spread_derivative(axis, &u), spread, C34),
            ];
            for (block, function, constant) in pairs {
                for column in 0..5 {
                    let (mut more, mut less) = (u, u);
                    more[column] += 1e-6;
                    less[column] -= 1e-6;
                    let (more, less) = (function(axis, &more), function(axis, &less));
                    for row in 0..5 {
                        let slope = constant * (more[row] - less[row]) / 2e-6;
                        assert!(
                            (block[row][column] - slope).abs() < 1e-7,
                            "{axis} {row} {column}"
                        );
                    }
                }
            }
        }
    }
}
