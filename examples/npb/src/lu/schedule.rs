//! The order of messages and work: sweeps through the planes, from one corner of the ranks to the other and back.

use gristmill_sim::Rank;

use super::layout::{Layout, Side};
use crate::block::State;
use crate::mail::{Mail, Tag};
use crate::options::Case;
use crate::outcome::{Outcome, norms};

/// The part of a rank.
pub trait Pencil {
    /// The first values.
    fn reset(&mut self);
    /// The residual times the step, as the beginning of a correction.
    fn begin(&mut self);
    /// The lower sweep on a plane.
    fn lower(&mut self, plane: usize);
    /// The upper sweep on a plane.
    fn upper(&mut self, plane: usize);
    /// Adds the correction.
    fn correct(&mut self);
    /// The residual, from values whose neighbours have come.
    fn residual(&mut self);
    /// Sums of squares of the correction or residual.
    fn squares(&self) -> State;
    /// The correction at the points of a side, on one plane.
    fn row(&self, side: Side, plane: usize) -> Vec<f64>;
    /// That of the neighbour at a side.
    fn put_row(&mut self, side: Side, plane: usize, values: &[f64]);
    /// The values of the two planes at a side.
    fn planes(&self, side: Side) -> Vec<f64>;
    /// Those of the neighbour at a side.
    fn put_planes(&mut self, side: Side, values: &[f64]);
    /// Sums of squares of the error, and this rank's part of the surface integral.
    fn end(&self) -> (State, f64);
}

/// A rank's run.
pub struct Sweeps<P> {
    case: Case,
    layout: Layout,
    pencil: P,
    is_per_point: bool,
}

/// The tags of planes follow those of rows.
fn planes_tag(side: Side) -> Tag {
    Tag(4 + side.tag().0)
}

/// Shares of an iteration's operations: sweeps and residual take about as many (a guess, from their loops).
const SHARE: f64 = 1.0 / 3.0;

impl<P: Pencil> Sweeps<P> {
    pub fn new(case: Case, layout: Layout, pencil: P) -> Sweeps<P> {
        Sweeps {
            case,
            layout,
            pencil,
            is_per_point: false,
        }
    }

    /// Sends the values of each point of a row by themselves.
    pub fn per_point(self, is_per_point: bool) -> Sweeps<P> {
        Sweeps {
            is_per_point,
            ..self
        }
    }

    /// One iteration that does not count, then those that do.
    pub async fn run(mut self, mut mail: Mail) -> Outcome {
        self.residual(&mut mail).await;
        self.sweep_all(&mut mail).await;
        self.pencil.correct();
        self.pencil.reset();
        self.residual(&mut mail).await;
        mail.sums(self.pencil.squares()).await;
        mail.barrier().await;
        mail.take_counts();
        let begin = mail.node().now();
        let iterations = self.case.size().iterations;
        let mut squares = [0.0; 5];
        for iteration in 1..=iterations {
            self.sweep_all(&mut mail).await;
            self.pencil.correct();
            let is_last = iteration == iterations;
            if is_last {
                mail.sums(self.pencil.squares()).await;
            }
            self.residual(&mut mail).await;
            if is_last {
                squares = mail.sums(self.pencil.squares()).await;
            }
        }
        let outcome = Outcome::of(&mut mail, begin).await;
        let (error, integral) = self.pencil.end();
        let error = mail.sums(error).await;
        let [integral] = mail.sums([integral]).await;
        let points = self.case.size().points;
        Outcome {
            residual: norms(squares, points),
            error: norms(error, points),
            integral: Some(integral),
            ..outcome
        }
    }

    async fn sweep_all(&mut self, mail: &mut Mail) {
        mail.node().stage("sweeps");
        self.pencil.begin();
        let last = self.layout.part.points - 2;
        for plane in 1..=last {
            self.receive_rows(mail, [Side::North, Side::West], plane)
                .await;
            self.pencil.lower(plane);
            self.work_on_plane(mail).await;
            self.send_rows(mail, [Side::South, Side::East], plane).await;
        }
        for plane in (1..=last).rev() {
            self.receive_rows(mail, [Side::South, Side::East], plane)
                .await;
            self.pencil.upper(plane);
            self.work_on_plane(mail).await;
            self.send_rows(mail, [Side::North, Side::West], plane).await;
        }
    }

    async fn work_on_plane(&self, mail: &Mail) {
        let part = &self.layout.part;
        self.work(mail, part.inner(0).len() * part.inner(1).len())
            .await;
    }

    async fn work(&self, mail: &Mail, points: usize) {
        let operations = SHARE * self.case.operations_of_point() * points as f64;
        mail.work(operations, self.case.options.mflops_per_node)
            .await;
    }

    fn neighbours(&self, sides: [Side; 2]) -> impl Iterator<Item = (Side, Rank)> + use<P> {
        let layout = self.layout;
        sides
            .into_iter()
            .filter_map(move |side| Some((side, layout.neighbour(side)?)))
    }

    /// Values of a message of a row.
    fn of_message(&self, row: usize) -> usize {
        if self.is_per_point { 5 } else { row }
    }

    async fn receive_rows(&mut self, mail: &mut Mail, sides: [Side; 2], plane: usize) {
        for (side, from) in self.neighbours(sides) {
            let row = self.layout.row(side);
            let mut values = Vec::with_capacity(row);
            while values.len() < row {
                values.extend(mail.receive(from, side.tag(), self.of_message(row)).await);
            }
            self.pencil.put_row(side, plane, &values);
        }
    }

    async fn send_rows(&mut self, mail: &mut Mail, sides: [Side; 2], plane: usize) {
        for (side, to) in self.neighbours(sides) {
            let row = self.pencil.row(side, plane);
            for values in row.chunks(self.of_message(row.len())) {
                mail.send(to, side.opposite().tag(), values).await;
            }
        }
    }

    async fn residual(&mut self, mail: &mut Mail) {
        mail.node().stage("residual");
        for side in [Side::South, Side::North, Side::East, Side::West] {
            if let Some(to) = self.layout.neighbour(side) {
                mail.send(to, planes_tag(side.opposite()), &self.pencil.planes(side))
                    .await;
            }
            let other = side.opposite();
            if let Some(from) = self.layout.neighbour(other) {
                let values = mail
                    .receive(from, planes_tag(other), self.layout.planes(other))
                    .await;
                self.pencil.put_planes(other, &values);
            }
        }
        self.pencil.residual();
        self.work(mail, self.layout.part.count()).await;
    }
}
