//! What an experiment tells, in the units of people: microseconds.
//!
//! The machine counts ticks. They become microseconds here, at the end, so that every sum and every
//! quantile before is one of whole numbers.

use std::collections::BTreeMap;

use grain::{Timing, Verdict};
use machine::{Counts, Report, Slice, StageTimes, Windows};

use crate::changes::Changes;
use crate::parameters::Parameters;
use crate::place::DRIVER;
use crate::spread::{Spread, mean_us, quantile};

/// Several runs of one program.
#[derive(Clone, Debug)]
pub struct SimReport {
    /// Which program.
    pub program: &'static str,
    /// Name of the machine, or `threads`.
    pub machine: String,
    /// Hash of the machine's file; none on threads.
    pub machine_hash: Option<u64>,
    /// How many cores.
    pub cores: u32,
    /// All that the program was told.
    pub parameters: Parameters,
    /// What was changed of the machine.
    pub changes: Changes,
    /// Which time of a run is the program's.
    pub timing: Timing,
    /// The runs, in the order of their seeds.
    pub runs: Vec<RunReport>,
    /// The program's time over the runs.
    pub time_us: Spread,
    /// What the runs took of this computer's time.
    pub wall_s: f64,
    /// Events that the simulations handled.
    pub events: u64,
    /// The most memory that this process held.
    pub peak_rss_bytes: u64,
    /// Threads of this computer that ran them.
    pub threads: usize,
    /// Something that people should know of how it ran.
    pub note: Option<String>,
}

impl SimReport {
    /// What the time of a program is that is not the time of the whole run.
    pub fn timed(&self) -> Option<String> {
        match self.timing {
            Timing::Busy { rank, stage } => Some(format!(
                "time is what core {} was busy in its loop, '{stage}'",
                rank.0
            )),
            Timing::Tap(rank) => Some(format!(
                "time is from a message's first flit into core {}'s NIC to its last out (median)",
                rank.0
            )),
            Timing::LastEnd => None,
        }
    }

    /// How many runs ended how, where that is what they are for: of a sort to which things happen.
    pub fn results(&self) -> Option<BTreeMap<&str, usize>> {
        let is_counted = self.machine == DRIVER && self.runs.len() > 1;
        is_counted.then(|| {
            let mut results = BTreeMap::new();
            for run in &self.runs {
                *results.entry(run.verdict.result.as_str()).or_default() += 1;
            }
            results
        })
    }

    /// Whether what every run gave was right.
    pub fn is_right(&self) -> bool {
        self.runs.iter().all(|run| run.verdict.fault.is_none())
    }
}

/// One run.
#[derive(Clone, Debug)]
pub struct RunReport {
    /// What decided all that was drawn.
    pub seed: u64,
    /// The program's time, in ticks of the place's length.
    pub ticks: u64,
    /// The program's time.
    pub time_us: f64,
    /// Each stage over the cores that went through it.
    pub stages: Vec<StageReport>,
    /// What became of the answers.
    pub verdict: Verdict,
    /// What the machine counted; real nodes count nothing.
    pub simulated: Option<Simulated>,
    /// Of this computer's time.
    pub wall_s: f64,
}

impl RunReport {
    /// Events that the simulation handled.
    pub fn events(&self) -> u64 {
        self.simulated
            .as_ref()
            .map_or(0, |simulated| simulated.counts.events)
    }
}

/// What only a simulated machine tells.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// Sums over the machine.
    pub counts: Counts,
    /// The longest wait of a core for room to send.
    pub longest_send_wait_us: f64,
    /// How long the busiest link to a NIC carried something.
    pub busiest_down_us: f64,
    /// How it was cut into blocks.
    pub windows: Windows,
    /// Of MAC and serial I/O, beside `time_us`; for programs that are timed at the NIC.
    pub mac_ns: Option<f64>,
    /// Stages of the traced cores.
    pub slices: Vec<Slice>,
}

/// A stage over the cores that went through it, in microseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct StageReport {
    /// What the program calls it.
    pub name: &'static str,
    /// How many cores went through it.
    pub cores: usize,
    /// Tasks of a core that went through it together; its times are their sums.
    pub tasks: u32,
    /// Least, quartiles, 99th percentile and most of the cores' times in it.
    pub quantiles_us: [f64; 6],
    /// The same of what they waited in it.
    pub idle_quantiles_us: [f64; 6],
    /// What a core waited in it, on average.
    pub idle_us: f64,
    /// What a core did not wait in it, on average.
    pub busy_us: f64,
}

/// The quantiles that a stage is told by, in per cent, with their names.
pub const QUANTILES: [(u64, &str); 6] = [
    (0, "min_us"),
    (25, "p25_us"),
    (50, "p50_us"),
    (75, "p75_us"),
    (99, "p99_us"),
    (100, "max_us"),
];

pub(crate) const FS_PER_US: f64 = 1e9;

/// Microseconds of so many ticks: one division, so that the figure is the closest one.
pub(crate) fn microseconds(ticks: u64, tick_fs: u64) -> f64 {
    (u128::from(ticks) * u128::from(tick_fs)) as f64 / FS_PER_US
}

fn quantiles(ticks: impl Iterator<Item = u64>, tick_fs: u64) -> [f64; 6] {
    let mut ticks: Vec<u64> = ticks.collect();
    ticks.sort_unstable();
    QUANTILES.map(|(percent, _)| microseconds(quantile(&ticks, percent), tick_fs))
}

impl StageReport {
    /// Its name, with how many tasks' sum it is if there are several: that may exceed the run.
    pub fn title(&self) -> String {
        match self.tasks {
            1 => self.name.to_owned(),
            tasks => format!("{}, {tasks} tasks", self.name),
        }
    }

    /// What `times` say, in ticks of that length.
    pub(crate) fn new(times: &StageTimes, tick_fs: u64, tasks: u32) -> StageReport {
        let sum = |part: fn(&(u64, u64)) -> u64| -> u128 {
            times.ticks.iter().map(|both| u128::from(part(both))).sum()
        };
        let (all, idle) = (sum(|both| both.0), sum(|both| both.1));
        let cores = times.ticks.len();
        let mean = |sum| mean_us(sum, cores, tick_fs);
        StageReport {
            name: times.name,
            cores,
            tasks,
            quantiles_us: quantiles(times.ticks.iter().map(|(ticks, _)| *ticks), tick_fs),
            idle_quantiles_us: quantiles(times.ticks.iter().map(|(_, idle)| *idle), tick_fs),
            idle_us: mean(idle),
            busy_us: mean(all.saturating_sub(idle)),
        }
    }

    /// All stages that somebody went through.
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
