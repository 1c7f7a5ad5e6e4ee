//! The report of one run, in microseconds.

use grain::Verdict;
use machine::{Counts, Report, Slice, StageTimes, Windows};
use serde::{Serialize, Serializer};

use crate::path_report::PathReport;
use crate::spread::{Spread, mean_us, microseconds, of_ticks, quantile};

/// The report of a run.
#[derive(Clone, Debug)]
pub struct RunReport {
    /// Seed of everything that is drawn.
    pub seed: u64,
    /// The program's time in ticks.
    pub ticks: u64,
    /// The program's time in microseconds.
    pub time_us: f64,
    /// Stages in the order of the program.
    pub stages: Vec<StageReport>,
    /// The program's check of its answers.
    pub verdict: Verdict,
    /// The times of its requests, if it has any.
    pub requests: Option<RequestReport>,
    /// Counts of a simulated machine; none on real nodes.
    pub simulated: Option<Simulated>,
    /// Wall time of the run, in seconds.
    pub wall_s: f64,
}

impl RunReport {
    /// Events of the simulation; 0 on real nodes.
    pub fn events(&self) -> u64 {
        self.simulated.as_ref().map_or(0, |it| it.counts.events)
    }
}

/// The times of requests, each from before it is written until its reply is read, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RequestReport {
    /// Number of requests.
    pub count: usize,
    /// Their mean.
    pub mean_us: f64,
    /// Their median.
    pub p50_us: f64,
    /// The 99th percentile.
    pub p99_us: f64,
    /// The longest.
    pub max_us: f64,
}

impl RequestReport {
    /// The report on requests of ascending ticks; `None` without requests.
    pub(crate) fn of(ticks: &[u64], tick_fs: u64) -> Option<RequestReport> {
        let max = *ticks.last()?;
        let at = |percent| microseconds(quantile(ticks, percent), tick_fs);
        Some(RequestReport {
            count: ticks.len(),
            mean_us: of_ticks(ticks, tick_fs).mean,
            p50_us: at(50),
            p99_us: at(99),
            max_us: microseconds(max, tick_fs),
        })
    }
}

/// Measurements that only a simulated machine gives.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// Sums over the machine.
    pub counts: Counts,
    /// Messages that a core sends and receives, over the cores; a multicast is sent once.
    pub messages_per_core: Spread,
    /// Cache lines that a core loads from beyond its nearest cache, mean over the cores.
    pub misses_per_core: f64,
    /// Longest wait of a core for room to send.
    pub longest_send_wait_us: f64,
    /// Time for which the busiest link to a NIC carried flits.
    pub busiest_down_us: f64,
    /// Windows of the simulation.
    pub windows: Windows,
    /// Time of MAC and serial I/O, which is not part of `time_us`; for programs timed at the NIC.
    pub mac_ns: Option<f64>,
    /// Stages of the traced cores.
    pub slices: Vec<Slice>,
    /// The critical path, if it was asked for.
    pub path: Option<PathReport>,
}

/// A stage over the cores that ran it. As JSON its quantiles have the names of [`QUANTILES`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StageReport {
    /// The program's name for the stage.
    pub name: &'static str,
    /// Minimum, quartiles, 99th percentile and maximum of the cores' times, in microseconds.
    #[serde(flatten, serialize_with = "named")]
    pub quantiles_us: [f64; 6],
    /// The same quantiles of the waiting time.
    #[serde(skip)]
    pub idle_quantiles_us: [f64; 6],
    /// Standard deviation of the cores' times.
    #[serde(skip)]
    pub sd_us: f64,
    /// Standard deviation of their waiting times.
    #[serde(skip)]
    pub idle_sd_us: f64,
    /// Standard deviation of their times without waiting.
    #[serde(skip)]
    pub busy_sd_us: f64,
    /// Mean waiting time of a core.
    pub idle_us: f64,
    /// Mean time of a core without waiting.
    pub busy_us: f64,
    /// Number of cores that ran the stage.
    pub cores: usize,
    /// Tasks of a core that ran it together; the times of a core are sums over them.
    pub tasks: u32,
}

/// The quantiles of a stage: per cent and name.
pub const QUANTILES: [(u64, &str); 6] = [
    (0, "min_us"),
    (25, "p25_us"),
    (50, "p50_us"),
    (75, "p75_us"),
    (99, "p99_us"),
    (100, "max_us"),
];

fn named<S: Serializer>(quantiles: &[f64; 6], out: S) -> Result<S::Ok, S::Error> {
    out.collect_map(QUANTILES.map(|(_, name)| name).into_iter().zip(quantiles))
}

fn quantiles(mut ticks: Vec<u64>, tick_fs: u64) -> [f64; 6] {
    ticks.sort_unstable();
    QUANTILES.map(|(percent, _)| microseconds(quantile(&ticks, percent), tick_fs))
}

impl StageReport {
    /// The name, with the number of tasks if there are several: their sum may exceed the run.
    pub fn title(&self) -> String {
        match self.tasks {
            1 => self.name.to_owned(),
            tasks => format!("{}, {tasks} tasks", self.name),
        }
    }

    /// A stage whose cores, or workers, are known by their means alone.
    pub fn of_means(name: &'static str, cores: usize, busy_us: f64, idle_us: f64) -> StageReport {
        StageReport {
            name,
            quantiles_us: [busy_us + idle_us; 6],
            idle_quantiles_us: [idle_us; 6],
            sd_us: 0.0,
            idle_sd_us: 0.0,
            busy_sd_us: 0.0,
            idle_us,
            busy_us,
            cores,
            tasks: 1,
        }
    }

    fn new(times: &StageTimes, tick_fs: u64, tasks: u32) -> StageReport {
        let (ticks, idle): (Vec<u64>, Vec<u64>) = times.ticks.iter().copied().unzip();
        let busy = ticks.iter().zip(&idle);
        let busy: Vec<u64> = busy.map(|(all, idle)| all.saturating_sub(*idle)).collect();
        let sum = |ticks: &[u64]| ticks.iter().map(|ticks| u128::from(*ticks)).sum::<u128>();
        let (all, waited) = (sum(&ticks), sum(&idle));
        let cores = times.ticks.len();
        let sd = |ticks: &[u64]| of_ticks(ticks, tick_fs).sd;
        StageReport {
            name: times.name,
            sd_us: sd(&ticks),
            idle_sd_us: sd(&idle),
            busy_sd_us: sd(&busy),
            quantiles_us: quantiles(ticks, tick_fs),
            idle_quantiles_us: quantiles(idle, tick_fs),
            idle_us: mean_us(waited, cores, tick_fs),
            busy_us: mean_us(all.saturating_sub(waited), cores, tick_fs),
            cores,
            tasks,
        }
    }

    /// All stages that a core has run.
    pub(crate) fn all(
        report: &Report,
        tick_fs: u64,
        tasks: impl Fn(&str) -> u32,
    ) -> Vec<StageReport> {
        let entered = report.stages.iter().filter(|times| !times.ticks.is_empty());
        entered
            .map(|times| StageReport::new(times, tick_fs, tasks(times.name)))
            .collect()
    }
}
