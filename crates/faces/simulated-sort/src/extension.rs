//! Long sorts, extended from short ones: the steady part of each phase is not simulated.
//!
//! ```text
//!              shorter                    longer                    all
//! phase one    all partitions,            all partitions,           all partitions, whole
//!              a small part of each       twice as much of each
//! phase two    a few partitions, whole    twice as many, whole
//! ```
//!
//! A phase depends on the number of partitions while they are spilled, since buffers and seeks divide among
//! them, and on their size while they are sorted, since each lies in memory as a whole. So each phase has two
//! short sorts. All have the buffers of the long one, and disks that are smaller in proportion: each byte lies
//! in the zone, and each seek crosses the part of the radius, that it would have. Beginnings and ends of a phase
//! then take the same time in both, and the rest grows with the bytes: all figures lie on the line through
//! those of the two.

use std::iter::repeat_n;
use std::thread;

use machine::{Holds, Traffic};
use node::Time;
use pipeline::{StageReport, bottleneck};
use sort::{Framing, Pack, Plan, Report, Shape, SortError};

use crate::drives::{groups, slowness};
use crate::foreign_plan::ForeignPlan;
use crate::phases::Phase;
use crate::prediction::{Prediction, Wish};
use crate::unpredicted::Unpredicted;

/// With fewer partitions of each disk, the sorts of phase two would have little but a beginning and an end.
const LEAST_OF_A_DISK: usize = 4;

/// A sort of a part of a node's bytes.
#[derive(Clone, Copy)]
struct Part {
    bytes: u64,
    partitions: usize,
}

/// Two short sorts of a phase, the longer one of twice as many bytes.
struct Pair<T> {
    shorter: T,
    longer: T,
}

impl Wish {
    /// The bytes of a node in the shortest of the sorts from which this one is extended.
    pub fn step(&self) -> Option<u64> {
        let [one, two] = self.parts()?;
        Some(one.bytes.min(two.bytes))
    }

    /// The shorter sorts of phase one and of phase two, if twice as much is less than all.
    fn parts(&self) -> Option<[Part; 2]> {
        let is_fixed = self.plan.as_ref().is_some_and(ForeignPlan::spills);
        let bytes = self.step_bytes.filter(|_| is_fixed)?;
        let bytes = bytes.max(self.least_step());
        let all = self.all()?;
        let is_short = |bytes: u64| bytes.saturating_mul(2) < all.bytes;
        if !is_short(bytes) {
            return None;
        }
        // Each disk has as many partitions as any other.
        let disks = self.disks_that(|holds| holds != Holds::Files);
        let few = u128::from(bytes) * all.partitions as u128 / u128::from(all.bytes);
        let few = (few as usize).div_ceil(disks).max(LEAST_OF_A_DISK) * disks;
        let bytes_of_few = u128::from(all.bytes) * few as u128 / all.partitions as u128;
        let parts = [
            Part { bytes, ..all },
            Part {
                bytes: bytes_of_few as u64,
                partitions: few,
            },
        ];
        is_short(parts[1].bytes).then_some(parts)
    }

    /// With fewer bytes of a node, a sort is over when its buffers, and memory that it has not used before, have
    /// been filled once.
    fn least_step(&self) -> u64 {
        let numbers = self.numbers();
        let pool = numbers.chunks.zip(numbers.chunk_bytes);
        let pool = pool.map_or(0, |(chunks, bytes)| (chunks * bytes) as u64);
        let first_touch = self.server.node.first_touch_ns_per_byte;
        let new = first_touch.map_or(0, |_| self.memory_of_a_node());
        new.max(pool + pool / 4)
    }

    /// All of a node, if no partition is spilled again.
    fn all(&self) -> Option<Part> {
        let plan = self.whole_plan().ok()?;
        (!plan.divides_again()).then_some(Part {
            bytes: self.bytes_of_a_node(),
            partitions: plan.buckets,
        })
    }

    /// The plan of a node for all bytes, without what an exchange takes: its partitions may be too large for
    /// memory where those of a shorter sort are not.
    fn whole_plan(&self) -> Result<Plan, SortError> {
        let files = self.disks_that(|holds| holds != Holds::Temporary);
        let shape = Shape {
            bytes: Some(self.bytes_of_a_node()),
            is_about: true,
            inputs: files,
            framing: Framing::fixed(self.record_bytes),
            sequential_output: false,
            outputs: files,
            stable: false,
            temporary: self.disks_that(|holds| holds != Holds::Files),
            sources: Default::default(),
            coding: Default::default(),
            pack: Pack::Never,
            spill_layout: self.layout(),
            stripe: None,
        };
        Plan::two_pass(&shape, &self.resources(), &self.numbers())
    }

    /// The number of a node's disks of a kind.
    fn disks_that(&self, is: fn(Holds) -> bool) -> usize {
        let disks = groups(&self.server).filter(|(_, holds)| is(*holds));
        disks.map(|(disks, _)| disks.count).sum()
    }

    /// A sort of a part by the same plan, on disks of that part.
    fn of_part(&self, part: Part, all: Part) -> Wish {
        let mut wish = self.clone();
        let of_bytes = part.bytes as f64 / all.bytes as f64;
        let of_partitions = part.partitions as f64 / all.partitions as f64;
        wish.bytes = part.bytes * u64::from(self.server.nodes);
        for disks in &mut wish.server.disks {
            disks.gb *= of_bytes;
        }
        let area = |bytes: u64| (bytes as f64 * of_bytes / of_partitions).ceil() as u64;
        wish.tuning.area_bytes = self.numbers().area_bytes.map(area);
        wish.tuning.buckets = Some(part.partitions);
        wish
    }

    /// A sort of a part, and of twice as much, in as many partitions or in twice as many.
    fn pair(&self, part: Part, all: Part) -> Pair<Wish> {
        let is_of_all = part.partitions == all.partitions;
        let twice = Part {
            bytes: 2 * part.bytes,
            partitions: part.partitions * if is_of_all { 1 } else { 2 },
        };
        Pair {
            shorter: self.of_part(part, all),
            longer: self.of_part(twice, all),
        }
    }

    /// The figures of all, on the line through those of a pair.
    fn on_the_line(&self, pair: Pair<Prediction>, part: Part) -> Prediction {
        let line = Line {
            times: self.bytes_of_a_node() as f64 / part.bytes as f64 - 2.0,
        };
        let phase_two = pair.longer.phase(Phase::Two).seconds + line.times * self.loads_grow(&pair);
        let mut sort = line.prediction(&pair.shorter, pair.longer);
        sort.set_phase_two(phase_two);
        sort
    }

    /// Seconds by which the loads of phase two end later in the longer sort: the mean of the disks of a group,
    /// for the slowest drive of the slowest group. One disk alone is as late as its last loads happen to be, in
    /// a short sort as in a long one.
    fn loads_grow(&self, pair: &Pair<Prediction>) -> f64 {
        let from = |sort: &Prediction| sort.phase_two_from();
        let before = from(&pair.longer) - from(&pair.shorter);
        let end = |sort: &Prediction, node: usize, disk: usize| {
            sort.disks[node][disk].read.last.0 as f64 / 1e9
        };
        let slowness = slowness(&self.server, self.seed);
        let mut first = 0;
        let mut slowest = 0.0_f64;
        for (group, holds) in groups(&self.server) {
            let disks = first..first + group.count;
            first = disks.end;
            if holds == Holds::Files {
                continue;
            }
            let (mut grows, mut slow, mut most) = (0.0, 0.0, 0.0_f64);
            for (node, slowness) in slowness.iter().enumerate() {
                for disk in disks.clone() {
                    grows +=
                        end(&pair.longer, node, disk) - end(&pair.shorter, node, disk) - before;
                    slow += slowness[disk];
                    most = most.max(slowness[disk]);
                }
            }
            slowest = slowest.max(grows / slow * most);
        }
        slowest
    }

    /// The files on each disk of a node, in their order.
    fn holds(&self) -> impl Iterator<Item = Holds> {
        groups(&self.server).flat_map(|(group, holds)| repeat_n(holds, group.count))
    }
}

impl Prediction {
    /// Seconds until phase two begins, on the node that is slowest in it.
    fn phase_two_from(&self) -> f64 {
        self.seconds - self.phase(Phase::Two).seconds
    }

    /// Lets phase two end earlier or later: its stages wait less or more.
    fn set_phase_two(&mut self, seconds: f64) {
        let before = self.phase(Phase::Two).seconds;
        self.seconds += seconds - before;
        for report in &mut self.reports {
            report.seconds += seconds - before;
            let plan = report.plan;
            let stages = report.stages.iter_mut();
            for stage in stages.filter(|stage| Phase::of(stage, plan) == Phase::Two) {
                let waits = stage.starved_s + stage.blocked_s;
                let alive = stage.alive_s() * seconds / before;
                let part = ((alive - stage.busy_s) / waits).max(0.0);
                if waits > 0.0 {
                    stage.starved_s *= part;
                    stage.blocked_s *= part;
                }
            }
        }
    }
}

/// The sort of `wish`, from short ones, if it is long enough.
pub(crate) fn extended(wish: &Wish) -> Option<Result<Prediction, Unpredicted>> {
    let ([part_one, part_two], all) = (wish.parts()?, wish.all()?);
    let [one, two] = [part_one, part_two].map(|part| wish.pair(part, all));
    // The longer one of a phase, and the shorter one of the other, take about as long.
    let both = |first: &Wish, then: &Wish| Ok([first.simulate()?, then.simulate()?]);
    let (these, those): (Result<_, Unpredicted>, Result<_, Unpredicted>) = thread::scope(|scope| {
        let those = scope.spawn(|| both(&two.longer, &one.shorter));
        let these = both(&one.longer, &two.shorter);
        (these, those.join().expect("a simulation does not panic"))
    });
    Some(these.and_then(|[one_longer, two_shorter]| {
        let [two_longer, one_shorter] = those?;
        let pair = |shorter, longer| Pair { shorter, longer };
        let one = wish.on_the_line(pair(one_shorter, one_longer), part_one);
        let two = wish.on_the_line(pair(two_shorter, two_longer), part_two);
        Ok(wish.joined(one, two))
    }))
}

impl Wish {
    /// The figures of phase one from a sort, and those of phase two from another.
    fn joined(&self, mut sort: Prediction, two: Prediction) -> Prediction {
        let later = sort.phase_two_from() - two.phase_two_from();
        sort.seconds = later + two.seconds;
        sort.events += two.events;
        for (report, of_two) in sort.reports.iter_mut().zip(&two.reports) {
            take_phase_two(report, of_two);
        }
        let of_two = |traffic: Traffic| Traffic {
            last: Time((traffic.last.0 as f64 + later * 1e9) as u64),
            ..traffic
        };
        for (node, two) in sort.disks.iter_mut().zip(&two.disks) {
            for (holds, (usage, two)) in self.holds().zip(node.iter_mut().zip(two)) {
                match holds {
                    Holds::Files => usage.written = of_two(two.written),
                    Holds::Temporary => usage.read = of_two(two.read),
                    // Both directions have traffic of both phases.
                    Holds::Both => {}
                }
            }
        }
        sort
    }
}

fn take_phase_two(report: &mut Report, of_two: &Report) {
    report.seconds += Phase::Two.seconds(of_two) - Phase::Two.seconds(report);
    let plan = report.plan;
    for (stage, of_two) in report.stages.iter_mut().zip(&of_two.stages) {
        if Phase::of(stage, plan) == Phase::Two {
            *stage = of_two.clone();
        }
    }
    report.bottleneck = bottleneck(&report.stages);
}

/// A line through the figures of two sorts, the second of twice as many bytes.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// How many times the difference of both lies between the second and the sort that is sought.
    times: f64,
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
            self.traffic(first.read, &mut second.read);
            self.traffic(first.written, &mut second.written);
        }
        second
    }

    fn traffic(self, first: Traffic, second: &mut Traffic) {
        second.bytes = self.count(first.bytes, second.bytes);
        second.busy_ns = self.count(first.busy_ns, second.busy_ns);
        second.seeks = self.count(first.seeks, second.seeks);
        // One disk alone ends earlier or later by more than the line tells.
        second.last = Time(self.count(first.last.0, second.last.0));
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
