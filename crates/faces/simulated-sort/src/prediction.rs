//! Predictions: the sort that users run, over counted records, on a machine with disks in virtual time.
//!
//! ```text
//! machine file    disks of each node, at their buses    mounted at /files0, /files1, .. and /temporary0, ..
//!                 cores, links, what stages take        limits and charges of the driver
//! wish            bytes, bytes of a record, memory      a counted input on each disk for files
//!
//! sort::run on every node  >  its report, and the use of each disk
//! ```
//!
//! No stage exists for this alone, and no second model: a plan, a wait for a buffer, or a disk that is read
//! and written at once takes the time that the sort's own requests take.

use std::sync::Arc;

use crate::drives::{Places, groups, nodes};
use crate::extension::extended;
use crate::foreign_plan::ForeignPlan;
use crate::unpredicted::Unpredicted;
use machine::{FirstTouch, Holds, Losses, Server, StageCost, Usage};
use node::{Node, Time};
use pipeline::Failure;
use sort::{
    Choice, Counts, IoChoice, Job, Pack, Report, Resources, Source, SpillLayout, StageName, Target,
    Tuning,
};
use units::amount;

/// The sort to predict.
#[derive(Clone, Debug)]
pub struct Wish {
    /// The machine.
    pub server: Server,
    /// Bytes to sort, on all nodes together.
    pub bytes: u64,
    /// Bytes of each record.
    pub record_bytes: usize,
    /// Whether stages take the times that they take for lines, where the machine has them.
    pub is_of_lines: bool,
    /// Memory of each node; that of the machine if it is missing.
    pub memory_bytes: Option<u64>,
    /// The plan of a paper, instead of the sort's own.
    pub plan: Option<ForeignPlan>,
    /// Where chunks of partitions lie, if not as the plan has it.
    pub asked_layout: Option<SpillLayout>,
    /// Numbers of the plan that are not derived.
    pub tuning: Tuning,
    /// Bytes of a node in the shortest of the sorts from which one by a plan of several passes is extended, if
    /// it has more than twice as many; all of it is simulated if this is missing. Where the plan's buffers would
    /// hold them, there are more.
    pub step_bytes: Option<u64>,
    /// Decides the order of events that are due together, and the sizes of buckets.
    pub seed: u64,
}

/// The sort as it was on the simulated machine.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// The reports of the nodes.
    pub reports: Vec<Report>,
    /// The use of the disks of each node, in the order of the machine file.
    pub disks: Vec<Vec<Usage>>,
    /// Seconds from the first request to the durable output on the last node.
    pub seconds: f64,
    /// Windows that the network lost.
    pub losses: Losses,
    /// Events that were simulated.
    pub events: u64,
}

/// A sort ends before one of its disks could have moved all bytes of a node so often, and some seconds more.
const LONGEST_TIMES: f64 = 100.0;
const LONGEST_BEYOND_S: f64 = 10_000.0;

impl Wish {
    /// Runs the sort on the simulated machine.
    ///
    /// # Errors
    /// If the disks cannot hold it, if memory is too small for any plan, or if the machine names a stage that
    /// the sort has not.
    pub fn predict(&self) -> Result<Prediction, Unpredicted> {
        self.check_places()?;
        self.check_room(self.bytes_of_a_node())?;
        extended(self).unwrap_or_else(|| self.simulate())
    }

    pub(crate) fn resources(&self) -> Resources {
        Resources {
            cores: self.server.node.cores,
            memory_bytes: self.memory_of_a_node(),
            io: IoChoice::Direct,
        }
    }

    /// Runs all of the sort.
    pub(crate) fn simulate(&self) -> Result<Prediction, Unpredicted> {
        let each = self.bytes_of_a_node();
        let rates = self.rates()?;
        let gives_way = self.plan.as_ref().is_some_and(ForeignPlan::deletes_inputs);
        let (driver, places) = nodes(&self.server, self.seed);
        driver.charge(&rates);
        if let Some(ns) = self.server.node.first_touch_ns_per_byte {
            // A sort fills the memory that it has with the first records that it distributes.
            driver.charge_first_touch(FirstTouch {
                stage: StageName::Distributor.name(),
                bytes: each.min(self.memory_of_a_node()),
                rate: (ns * 1000.0).round() as u64,
            });
        }
        driver.go_on();
        driver.end_by(self.longest(each));
        for rank in 0..self.server.nodes {
            let disks = driver.disks(rank);
            for file in places.inputs(each, self.record_bytes as u64) {
                disks.put_counted_behind(file.outside, &file.path, file.bytes);
                if gives_way {
                    disks.give_way(&file.path);
                }
            }
        }
        let job = self.job(&places);
        let ended = driver.run(move |node| sort_of_a_node(node, job.clone()));
        let ended = ended.map_err(|stuck| Unpredicted::because(stuck.to_string()))?;
        let reports: Result<Vec<Report>, Failure> = ended.into_iter().collect();
        let reports = reports.map_err(|failure| Unpredicted::because(failure.to_string()))?;
        let disks = (0..self.server.nodes).map(|rank| driver.disks(rank).usage()[1..].to_vec());
        Ok(Prediction {
            disks: disks.collect(),
            seconds: reports
                .iter()
                .map(|report| report.seconds)
                .fold(0.0, f64::max),
            reports,
            losses: driver.losses(),
            events: driver.events(),
        })
    }

    /// Bytes of the memory of each node.
    pub fn memory_of_a_node(&self) -> u64 {
        self.memory_bytes.unwrap_or(self.server.memory_bytes())
    }

    /// Whole records of a node, in bytes.
    pub(crate) fn bytes_of_a_node(&self) -> u64 {
        let record = self.record_bytes as u64;
        let records = self.bytes.div_ceil(record);
        records
            .div_ceil(self.server.nodes.into())
            .saturating_mul(record)
    }

    /// Places of inputs are given away before the sort: only outputs may take them.
    fn check_places(&self) -> Result<(), Unpredicted> {
        let gives_way = self.plan.as_ref().is_some_and(ForeignPlan::deletes_inputs);
        let holds_both = groups(&self.server).any(|(_, holds)| holds == Holds::Both);
        if gives_way && holds_both {
            return Err(Unpredicted::because(format!(
                "{}: temporary files would lie where inputs are still read: the plan deletes its inputs, so it \
                 needs disks for files and disks for temporary files",
                self.server.name
            )));
        }
        Ok(())
    }

    /// Inputs and outputs are there at the same time. Temporary files that do not fit end the sort.
    fn check_room(&self, each: u64) -> Result<(), Unpredicted> {
        let held = |is: fn(Holds) -> bool| -> u64 {
            let disks = self.server.disks.iter().filter(|disks| is(disks.holds));
            disks.map(|disks| disks.bytes() * disks.count as u64).sum()
        };
        let files = held(|holds| holds != Holds::Temporary);
        if each > files / 2 {
            return Err(Unpredicted::because(format!(
                "{}: a node's disks for files hold {}, and its input and output have {}: take fewer bytes, \
                 or more nodes",
                self.server.name,
                amount(files),
                amount(each.saturating_mul(2))
            )));
        }
        Ok(())
    }

    /// Time enough for any sort that goes on: tasks of one that does not would wait for each other for ever.
    fn longest(&self, each: u64) -> Time {
        let rates = self.server.disks.iter();
        let rates = rates.map(|disks| disks.read_mb_s.min(disks.write_mb_s));
        let slowest = 1e6 * rates.fold(f64::INFINITY, f64::min);
        let seconds = LONGEST_BEYOND_S + LONGEST_TIMES * each as f64 / slowest;
        Time((seconds * 1e9) as u64)
    }

    /// The numbers of the plan that are not derived.
    pub(crate) fn numbers(&self) -> Tuning {
        let plan = self.plan.as_ref();
        plan.map_or(self.tuning, |plan| plan.tuning(self.tuning))
    }

    /// Where chunks of partitions lie.
    pub(crate) fn layout(&self) -> SpillLayout {
        let planned = self.plan.as_ref().map(ForeignPlan::spill_layout);
        self.asked_layout.or(planned).unwrap_or_default()
    }

    fn job(&self, places: &Places) -> Job {
        let sources = places
            .files
            .iter()
            .map(|disk| Source::Path(disk.join("in")));
        let target = match &places.files[..] {
            [only] => Target::Path(only.join("out")),
            several => Target::Directories(several.to_vec()),
        };
        let contents = Arc::new(Counts::new(self.record_bytes, 1.0, self.seed));
        let resources = self.resources();
        let job = Job {
            temporary: places.temporary.clone(),
            plan: Choice::Auto,
            pack: Pack::Never,
            tuning: self.numbers(),
            may_begin_again: false,
            ..Job::of_contents(sources.collect(), contents, target, resources)
        };
        let job = match &self.plan {
            Some(plan) => plan.apply(job),
            None => job,
        };
        Job {
            spill_layout: self.layout(),
            ..job
        }
    }

    /// The times of stages, in thousandths of a nanosecond per byte.
    fn rates(&self) -> Result<Vec<(&'static str, u64)>, Unpredicted> {
        let rate = |(name, cost): (&String, &StageCost)| {
            let stage = StageName::of(name).ok_or_else(|| {
                Unpredicted::because(format!(
                    "{}: stages: the sort has no stage {name:?}; its stages are {}",
                    self.server.name,
                    StageName::ALL
                        .iter()
                        .map(|stage| stage.name())
                        .collect::<Vec<_>>()
                        .join(", ")
                ))
            })?;
            let ns = cost.ns_per_byte + cost.ns_per_record / self.record_bytes as f64;
            Ok((stage.name(), (ns * 1000.0).round() as u64))
        };
        let mut stages = self.server.stages.clone();
        if self.is_of_lines {
            stages.extend(self.server.stages_of_lines.clone());
        }
        stages.iter().map(rate).collect()
    }
}

async fn sort_of_a_node(node: Node, job: Job) -> Result<Report, Failure> {
    sort::run(&node, &job).await
}

#[cfg(test)]
mod tests;
