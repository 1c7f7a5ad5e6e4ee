//! The order of messages and work: faces, then along each axis a pass up that eliminates and one down that
//! substitutes.

use super::layout::{Layout, Way};
use crate::block::State;
use crate::mail::{Mail, Tag};
use crate::options::Case;
use crate::outcome::{Outcome, norms};

/// Values for each point of a cross section in a pass up: a matrix and a state.
pub const UP: usize = 30;

/// In a pass down: a state.
pub const DOWN: usize = 5;

/// Shares of an iteration's operations: the residual and the sum, an elimination, a substitution. Counted from the
/// loops: an elimination takes about 1,000 operations a point, a substitution 50, and all is 3,479 (a guess).
const RESIDUAL: f64 = 0.1;
const ELIMINATION: f64 = 0.285;
const SUBSTITUTION: f64 = 0.015;

/// The part of a rank.
pub trait Cells {
    /// The first values.
    fn reset(&mut self);
    /// The residual times the step.
    fn residual(&mut self);
    /// Adds the solution.
    fn add(&mut self);
    /// Eliminates along an axis, through a cell.
    fn eliminate(&mut self, axis: usize, cell: usize);
    /// Substitutes back.
    fn substitute(&mut self, axis: usize, cell: usize);
    /// The outer two layers of all cells that have another beyond.
    fn faces(&self, axis: usize, way: Way) -> Vec<f64>;
    /// Those of the neighbour that way.
    fn put_faces(&mut self, axis: usize, way: Way, values: &[f64]);
    /// Numbers for the next cell in a pass, for each point of a cross section.
    fn pass(&self, axis: usize, way: Way, cell: usize) -> Vec<f64>;
    /// Numbers from the cell before.
    fn put_pass(&mut self, axis: usize, way: Way, cell: usize, values: &[f64]);
    /// Sums of squares of the residual times the step.
    fn squares(&self) -> State;
    /// Sums of squares of the error.
    fn error_squares(&self) -> State;
}

/// A rank's run.
pub struct Passes<C> {
    case: Case,
    layout: Layout,
    cells: C,
}

/// The tag of faces that travel along an axis; those of passes follow.
fn faces_tag(axis: usize, way: Way) -> Tag {
    Tag((2 * axis + way as usize) as u8)
}

fn pass_tag(axis: usize, way: Way) -> Tag {
    Tag(6 + faces_tag(axis, way).0)
}

impl<C: Cells> Passes<C> {
    pub fn new(case: Case, layout: Layout, cells: C) -> Passes<C> {
        Passes {
            case,
            layout,
            cells,
        }
    }

    /// One iteration that does not count, then those that do.
    pub async fn run(mut self, mut mail: Mail) -> Outcome {
        self.iterate(&mut mail).await;
        self.cells.reset();
        mail.barrier().await;
        mail.take_counts();
        let begin = mail.node().now();
        let size = self.case.size();
        for _ in 0..size.iterations {
            self.iterate(&mut mail).await;
        }
        let outcome = Outcome::of(&mut mail, begin).await;
        let error = mail.sums(self.cells.error_squares()).await;
        self.residual(&mut mail).await;
        let squares = mail.sums(self.cells.squares()).await;
        Outcome {
            residual: norms(squares, size.points).map(|norm| norm / size.step),
            error: norms(error, size.points),
            ..outcome
        }
    }

    async fn iterate(&mut self, mail: &mut Mail) {
        self.residual(mail).await;
        for axis in 0..3 {
            self.pass(mail, axis, Way::Up).await;
            self.pass(mail, axis, Way::Down).await;
        }
        self.cells.add();
    }

    async fn residual(&mut self, mail: &mut Mail) {
        mail.node().stage("residual");
        if self.layout.slabs() > 1 {
            let faces = || (0..3).flat_map(|axis| [(axis, Way::Up), (axis, Way::Down)]);
            for (axis, way) in faces() {
                let to = self.layout.neighbour(axis, way);
                mail.send(to, faces_tag(axis, way), &self.cells.faces(axis, way))
                    .await;
            }
            for (axis, way) in faces() {
                let from = self.layout.neighbour(axis, way);
                let values = self.layout.faces(axis, way);
                let values = mail
                    .receive(from, faces_tag(axis, way.back()), values)
                    .await;
                self.cells.put_faces(axis, way, &values);
            }
        }
        self.cells.residual();
        for cell in 0..self.layout.slabs() {
            self.work(mail, RESIDUAL, cell).await;
        }
    }

    async fn pass(&mut self, mail: &mut Mail, axis: usize, way: Way) {
        let slabs = self.layout.slabs();
        let (stage, each) = match way {
            Way::Up => (["up x", "up y", "up z"][axis], UP),
            Way::Down => (["down x", "down y", "down z"][axis], DOWN),
        };
        mail.node().stage(stage);
        for stage in 0..slabs {
            let slab = if way == Way::Up {
                stage
            } else {
                slabs - 1 - stage
            };
            let cell = self.layout.in_slab(axis, slab);
            let count = self.layout.padded() * each;
            if stage > 0 {
                let from = self.layout.neighbour(axis, way.back());
                let values = mail.receive(from, pass_tag(axis, way), count).await;
                self.cells.put_pass(axis, way, cell, &values);
            }
            match way {
                Way::Up => {
                    self.cells.eliminate(axis, cell);
                    self.work(mail, ELIMINATION, cell).await;
                }
                Way::Down => {
                    self.cells.substitute(axis, cell);
                    self.work(mail, SUBSTITUTION, cell).await;
                }
            }
            if stage + 1 < slabs {
                let mut values = self.cells.pass(axis, way, cell);
                values.resize(count, 0.0);
                let to = self.layout.neighbour(axis, way);
                mail.send(to, pass_tag(axis, way), &values).await;
            }
        }
    }

    async fn work(&self, mail: &Mail, share: f64, cell: usize) {
        let points = self.layout.cells[cell].part.count() as f64;
        let operations = share * self.case.operations_of_point() * points;
        mail.work(operations, self.case.options.mflops_per_node)
            .await;
    }
}
