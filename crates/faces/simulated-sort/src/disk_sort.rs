//! The program `disk-sort`: the sort on a machine with disks, for experiments.

use clap::{Args, ValueEnum};
use grain::{Verdict, described};
use lab::{Course, Listing, OnDriver, StageReport};
use serde::Serialize;
use sort::Tuning;
use units::amount;

use crate::foreign_plan::ForeignPlan;
use crate::phases::PhaseTime;
use crate::prediction::{Prediction, Wish};
use crate::server_options::ServerOptions;
use crate::unpredicted::Unpredicted;

macro_rules! experiments {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../experiments/", $name, ".toml")))),*]
    };
}

/// The experiments on machines with disks: their names, and the texts of their files.
pub const EXPERIMENTS: [(&str, &str); 13] = experiments![
    "tritonsort/figure-1",
    "tritonsort/table-2",
    "tritonsort/table-3",
    "tritonsort/figure-8",
    "tritonsort/figure-10",
    "tritonsort/figure-11",
    "tritonsort/layout",
    "tritonsort/ablations",
    "now/table-2",
    "now/figure-10",
    "psort/datamation",
    "psort/ablations",
    "psort/rates",
];

/// Bytes of memory that a node takes, about.
const BYTES_OF_A_NODE: u64 = 40 << 20;

/// The plan of the sort itself.
const OWN: &str = "own";

/// Where chunks of partitions lie on disks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Layout {
    /// As the plan has it
    Planned,
    /// Each partition in a stretch of one disk
    Preallocated,
    /// Behind each other, as they are written
    Log,
}

/// Sort counted records from disk to disk, as gristmill plan does.
///
/// Its stages are those of the sort, by worker; and phase one, up to the last spilled chunk, and phase two.
/// Its figure is the mean of spilled bytes of a write, in millions.
#[derive(Args, Clone, Debug, Serialize)]
struct DiskSort {
    #[arg(skip = 1_u64)]
    #[serde(skip)]
    seed: u64,
    #[command(flatten)]
    #[serde(flatten)]
    on: ServerOptions,
    /// The plan of a paper or of a file, instead of the sort's own
    #[arg(long, value_name = "NAME|FILE", default_value = OWN)]
    plan: String,
    /// Millions of bytes to sort, of each node
    #[arg(long, value_name = "MB", default_value_t = 1000.0)]
    node_mb: f64,
    /// Bytes of each record
    #[arg(long, value_name = "N", default_value_t = 100)]
    record_bytes: u32,
    /// Memory of each node in billions of bytes; 0 is that of the machine
    #[arg(long, value_name = "GB", default_value_t = 0.0)]
    memory_gb: f64,
    /// Partitions of each node; 0 are those of the plan
    #[arg(long, value_name = "N", default_value_t = 0)]
    partitions: u32,
    /// Where chunks of partitions lie
    #[arg(long, value_enum, default_value_t = Layout::Planned)]
    layout: Layout,
    /// Standard deviation of the rates of drives, over their mean
    #[arg(long, value_name = "X", default_value_t = 0.0)]
    spread: f64,
    /// Millions of bytes of a node in the shortest of four sorts from which a longer one is extended; 0 for none
    #[arg(long, value_name = "MB", default_value_t = 0.0)]
    step_mb: f64,
}

described! { DiskSort is "disk-sort" on 1 cores;
    "--node-mb 20000 --server tritonsort-2011 --plan tritonsort --cores 2"
}

impl DiskSort {
    fn wish(&self, nodes: u32) -> Result<Wish, String> {
        let (mut server, of_plan) = self.on.load(nodes)?;
        if self.spread > 0.0 {
            for disks in &mut server.disks {
                disks.spread = Some(self.spread);
            }
        }
        server.checked().map_err(|error| error.to_string())?;
        let plan = (self.plan != OWN).then(|| ForeignPlan::load_changed(&self.plan, &of_plan));
        let plan = plan.transpose().map_err(|error| error.to_string())?;
        let mb = |mb: f64| (mb * 1e6) as u64;
        Ok(Wish {
            server,
            bytes: mb(self.node_mb).saturating_mul(nodes.into()),
            record_bytes: self.record_bytes as usize,
            is_of_lines: false,
            memory_bytes: (self.memory_gb > 0.0).then(|| mb(self.memory_gb * 1e3)),
            plan,
            asked_layout: match self.layout {
                Layout::Planned => None,
                Layout::Preallocated => Some(sort::SpillLayout::Preallocated),
                Layout::Log => Some(sort::SpillLayout::Log),
            },
            tuning: Tuning {
                buckets: (self.partitions > 0).then_some(self.partitions as usize),
                ..Tuning::default()
            },
            step_bytes: (self.step_mb > 0.0).then(|| mb(self.step_mb)),
            seed: self.seed,
        })
    }
}

impl OnDriver for DiskSort {
    fn objection(&self, cores: u32) -> Option<String> {
        let is_size = |size: f64| size.is_finite() && size >= 0.0;
        let sizes = [
            ("--node-mb", self.node_mb),
            ("--memory-gb", self.memory_gb),
            ("--spread", self.spread),
            ("--step-mb", self.step_mb),
        ];
        let wrong = sizes.into_iter().find(|(_, size)| !is_size(*size));
        let wrong = wrong.map(|(name, size)| format!("{name} {size}: give a number from 0"));
        wrong
            .or_else(|| (self.record_bytes == 0).then(|| "--record-bytes 0: at least 1".to_owned()))
            .or_else(|| self.wish(cores).err())
    }

    fn bytes(&self, cores: u32) -> u64 {
        u64::from(cores) * BYTES_OF_A_NODE
    }

    fn run(&self, cores: u32) -> Course {
        let predicted = match self.wish(cores) {
            Ok(wish) => wish.predict(),
            Err(why) => Err(Unpredicted::because(why)),
        };
        match predicted {
            Ok(prediction) => course(&prediction),
            Err(why) => Course {
                ticks: 0,
                stages: Vec::new(),
                verdict: Verdict::new("refused".to_owned(), Some(why.to_string())),
            },
        }
    }
}

fn course(prediction: &Prediction) -> Course {
    let first = &prediction.reports[0];
    let mut result = format!(
        "{} of a node, {}, {} passes, waits for {}",
        amount(first.bytes),
        first.plan,
        first.passes,
        first.bottleneck
    );
    let lost = prediction.losses;
    if lost.windows > 0 {
        let (windows, bytes) = (lost.windows, amount(lost.bytes));
        result += &format!(", {windows} windows lost ({bytes} sent again)");
    }
    let reports = prediction.reports.iter();
    let (mut units, mut spilled) = (0, 0);
    for stage in reports.filter_map(|report| report.stage("spiller")) {
        (units, spilled) = (units + stage.units, spilled + stage.bytes);
    }
    Course {
        ticks: (prediction.seconds * 1e9).round() as u64,
        stages: stages(prediction),
        verdict: Verdict {
            figure: (units > 0).then(|| spilled as f64 / units as f64 / 1e6),
            ..Verdict::new(result, None)
        },
    }
}

/// The stages of the sort, as means of all workers of all nodes, and both phases of the slowest node.
fn stages(prediction: &Prediction) -> Vec<StageReport> {
    let nodes = prediction.reports.len() as f64;
    let mut all = Vec::new();
    for stage in &prediction.reports[0].stages {
        let found = prediction.reports.iter();
        let found = found.filter_map(|report| report.stage(stage.name));
        let (mut busy, mut idle) = (0.0, 0.0);
        for stage in found {
            busy += stage.busy_s;
            idle += stage.starved_s + stage.blocked_s;
        }
        let workers = stage.workers.max(1);
        let of_a_worker = |seconds: f64| 1e6 * seconds / (nodes * workers as f64);
        all.push(StageReport::of_means(
            stage.name,
            workers * prediction.reports.len(),
            of_a_worker(busy),
            of_a_worker(idle),
        ));
    }
    for phase in prediction.phases() {
        if [PhaseTime::ONE, PhaseTime::TWO].contains(&phase.name) {
            let us = 1e6 * phase.seconds;
            all.push(StageReport::of_means(phase.name, 1, us, 0.0));
        }
    }
    all
}

/// The program, for the list of `sim`.
pub(crate) fn program() -> Listing {
    Listing::on_driver::<DiskSort>()
}
