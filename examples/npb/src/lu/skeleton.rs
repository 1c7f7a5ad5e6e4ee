//! A pencil without numbers.

use super::layout::{Layout, Side};
use super::schedule::Pencil;
use crate::block::State;

/// Sizes of messages alone.
pub struct Skeleton {
    layout: Layout,
}

impl Skeleton {
    pub fn new(layout: Layout) -> Skeleton {
        Skeleton { layout }
    }
}

impl Pencil for Skeleton {
    fn reset(&mut self) {}
    fn begin(&mut self) {}
    fn lower(&mut self, _: usize) {}
    fn upper(&mut self, _: usize) {}
    fn correct(&mut self) {}
    fn residual(&mut self) {}

    fn squares(&self) -> State {
        State::default()
    }

    fn row(&self, side: Side, _: usize) -> Vec<f64> {
        vec![0.0; self.layout.row(side)]
    }

    fn put_row(&mut self, _: Side, _: usize, _: &[f64]) {}

    fn planes(&self, side: Side) -> Vec<f64> {
        vec![0.0; self.layout.planes(side)]
    }

    fn put_planes(&mut self, _: Side, _: &[f64]) {}

    fn end(&self) -> (State, f64) {
        Default::default()
    }
}
