//! Cells without numbers.

use super::layout::{Layout, Way};
use super::schedule::Cells;
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

impl Cells for Skeleton {
    fn reset(&mut self) {}
    fn residual(&mut self) {}
    fn add(&mut self) {}
    fn eliminate(&mut self, _: usize, _: usize) {}
    fn substitute(&mut self, _: usize, _: usize) {}

    fn faces(&self, axis: usize, way: Way) -> Vec<f64> {
        vec![0.0; self.layout.faces(axis, way)]
    }

    fn put_faces(&mut self, _: usize, _: Way, _: &[f64]) {}

    fn pass(&self, _: usize, _: Way, _: usize) -> Vec<f64> {
        Vec::new()
    }

    fn put_pass(&mut self, _: usize, _: Way, _: usize, _: &[f64]) {}

    fn squares(&self) -> State {
        State::default()
    }

    fn error_squares(&self) -> State {
        State::default()
    }
}
