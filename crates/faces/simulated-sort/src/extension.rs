//! Long sorts, extended from two short ones: the steady part of each phase is not simulated.
//!
//! ```text
//! time        1/4 of the data on 1/4 of each disk    1/2 on 1/2       all
//!   |               .                                    .             .
//!   |_______________|____________________________________|_____________|___ bytes of a node
//! ```
//!
//! The short sorts have the plan of the long one: as many partitions, buffers of the same size. Their disks
//! are smaller in proportion, so each byte lies in the zone, and each seek crosses the part of the radius,
//! that it would have. Beginnings and ends of phases then take the same time in all three, and the rest grows
//! with the bytes, so all figures lie on lines through those of the two.

use std::thread;

use machine::Holds;
use pipeline::StageReport;
use sort::{Framing, Pack, Plan, Report, Shape, SortError};

use crate::foreign_plan::ForeignPlan;
use crate::prediction::{Prediction, Unpredicted, Wish};

impl Wish {
    /// The bytes of a node in the shorter of the sorts from which this one is extended.
    pub fn step(&self) -> Option<u64> {
        let is_fixed = self.plan.as_ref().is_some_and(ForeignPlan::spills);
        let step = self.step_bytes.filter(|_| is_fixed)?;
        let is_long = self.bytes_of_a_node() > step.saturating_mul(2);
        let divides_again = || self.whole_plan().is_ok_and(|plan| plan.divides_again());
        (is_long && !divides_again()).then_some(step)
    }

    /// The plan of a node for all bytes, without what an exchange takes: its partitions may be too large for
    /// memory where those of a shorter sort are not.
    pub(crate) fn whole_plan(&self) -> Result<Plan, SortError> {
        let count = |is: fn(Holds) -> bool| -> usize {
            let disks = self.server.disks.iter().filter(|disks| is(disks.holds));
            disks.map(|disks| disks.count).sum()
        };
        let files = count(|holds| holds != Holds::Temporary);
        let tuning = self.plan.as_ref().map(|plan| plan.tuning(self.tuning));
        let shape = Shape {
            bytes: Some(self.bytes_of_a_node()),
            is_about: true,
            inputs: files,
            framing: Framing::fixed(self.record_bytes),
            sequential_output: false,
            outputs: files,
            stable: false,
            temporary: count(|holds| holds != Holds::Files),
            sources: Default::default(),
            coding: Default::default(),
            pack: Pack::Never,
            spill_layout: self.layout(),
        };
        Plan::two_pass(&shape, &self.resources(), &tuning.unwrap_or(self.tuning))
    }

    /// A sort of so many bytes of a node, on disks of that part, by the same plan.
    pub(crate) fn scaled(&self, bytes: u64, part: f64) -> Wish {
        let mut wish = self.clone();
        wish.bytes = bytes * u64::from(self.server.nodes);
        for disks in &mut wish.server.disks {
            disks.gb *= part;
        }
        if let Some(plan) = &self.plan {
            let area = plan.tuning(self.tuning).area_bytes;
            wish.tuning.area_bytes = area.map(|bytes| (bytes as f64 * part) as u64);
        }
        wish
    }
}

/// Two sorts of a node's bytes, the second of twice as many.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// How many times the difference of both lies between the second and the long one.
    times: f64,
}

/// The sort of `wish`, from two of `step` and twice as many bytes of a node.
pub(crate) fn extended(wish: &Wish, step: u64) -> Result<Prediction, Unpredicted> {
    let all = wish.bytes_of_a_node();
    let short = |bytes: u64| wish.scaled(bytes, bytes as f64 / all as f64);
    let (first, second) = (short(step), short(2 * step));
    let (first, second) = thread::scope(|scope| {
        let second = scope.spawn(|| second.simulate());
        let first = first.simulate();
        (first, second.join().expect("a simulation does not panic"))
    });
    let line = Line {
        times: (all as f64 - 2.0 * step as f64) / step as f64,
    };
    Ok(line.prediction(&first?, second?))
}

impl Line {
    fn figure(self, first: f64, second: f64) -> f64 {
        (second + (second - first) * self.times).max(0.0)
    }

    fn count(self, first: u64, second: u64) -> u64 {
        self.figure(first as f64, second as f64).round() as u64
    }

    fn prediction(self, first: &Prediction, mut second: Prediction) -> Prediction {
        second.seconds = self.figure(first.seconds, second.seconds);
        second.events += first.events;
        let losses = &mut second.losses;
        losses.windows = self.count(first.losses.windows, losses.windows);
        losses.bytes = self.count(first.losses.bytes, losses.bytes);
        for (first, second) in first.reports.iter().zip(&mut second.reports) {
            self.report(first, second);
        }
        let disks = first.disks.iter().flatten();
        for (first, second) in disks.zip(second.disks.iter_mut().flatten()) {
            second.read_bytes = self.count(first.read_bytes, second.read_bytes);
            second.written_bytes = self.count(first.written_bytes, second.written_bytes);
            second.busy_ns = self.count(first.busy_ns, second.busy_ns);
            second.seeks = self.count(first.seeks, second.seeks);
        }
        second
    }

    fn report(self, first: &Report, second: &mut Report) {
        second.seconds = self.figure(first.seconds, second.seconds);
        second.records = self.count(first.records, second.records);
        second.bytes = self.count(first.bytes, second.bytes);
        second.read_bytes = self.count(first.read_bytes, second.read_bytes);
        second.written_bytes = self.count(first.written_bytes, second.written_bytes);
        second.temp_peak_bytes = self.count(first.temp_peak_bytes, second.temp_peak_bytes);
        for (first, second) in first.stages.iter().zip(&mut second.stages) {
            self.stage(first, second);
        }
    }

    fn stage(self, first: &StageReport, second: &mut StageReport) {
        second.units = self.count(first.units, second.units);
        second.records = self.count(first.records, second.records);
        second.bytes = self.count(first.bytes, second.bytes);
        second.busy_s = self.figure(first.busy_s, second.busy_s);
        second.starved_s = self.figure(first.starved_s, second.starved_s);
        second.blocked_s = self.figure(first.blocked_s, second.blocked_s);
    }
}
