//! Measures: what is read from a run.

use std::fmt;

use plot::Spread;
use serde::{Deserialize, Serialize};

use crate::report::{RequestReport, RunReport, Simulated, StageReport};
use crate::spread::{of_figures, of_ticks, scaled};

/// A quantity of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Measure {
    /// The program's time, in microseconds.
    #[default]
    Time,
    /// The time from wire to wire: with MAC and serial I/O of the NIC.
    Wire,
    /// Mean time of a core in a stage.
    Stage,
    /// The standard deviation of that time over the cores.
    StageSd,
    /// The part of it without waiting; of all stages, if none is named.
    Busy,
    /// The part of it spent waiting; of all stages, if none is named.
    Idle,
    /// The standard deviation of the part spent waiting over the cores.
    IdleSd,
    /// The standard deviation of the part without waiting over the cores.
    BusySd,
    /// The share of the stage that is spent without waiting, 0 to 1.
    BusyShare,
    /// The stage's share of the time of all cores in all stages, 0 to 1.
    TimeShare,
    /// Messages that programs sent; a multicast counts once.
    Messages,
    /// Messages that a core sends and receives, mean over the cores.
    MessagesPerCore,
    /// The most of them of a core by the mean.
    MessageSkew,
    /// Packets that left NICs.
    Packets,
    /// Bytes that left NICs.
    WireBytes,
    /// Cache lines that a core loads from beyond its nearest cache, mean over the cores.
    Misses,
    /// Those by the keys of a core.
    MissRate,
    /// Keys by cores and milliseconds.
    Throughput,
    /// The most keys of a core by the mean.
    Skew,
    /// The most keys of a core.
    MaxKeys,
    /// The figure that the program finds.
    Figure,
    /// The mean time of a request, from before it is written until its reply is read.
    RequestMean,
    /// The median of those times.
    RequestP50,
    /// Their 99th percentile.
    RequestP99,
}

/// The name in a file, with the unit of a time.
impl fmt::Display for Measure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(&mut *out)?;
        out.write_str(if self.is_time() { " (us)" } else { "" })
    }
}

/// The part of a run's report that has a measure.
enum Part {
    Run(fn(&RunReport) -> Result<f64, String>),
    Stage(fn(&StageReport) -> f64),
    /// A stage beside all stages.
    Share,
    Machine(fn(&Simulated) -> f64),
    Requests(fn(&RequestReport) -> f64),
}

impl Measure {
    fn part(self) -> Part {
        match self {
            Measure::Time | Measure::Wire => Part::Run(|run| Ok(run.time_us)),
            Measure::Stage => Part::Stage(in_stage),
            Measure::Busy => Part::Stage(|stage| stage.busy_us),
            Measure::Idle => Part::Stage(|stage| stage.idle_us),
            Measure::StageSd => Part::Stage(|stage| stage.sd_us),
            Measure::IdleSd => Part::Stage(|stage| stage.idle_sd_us),
            Measure::BusySd => Part::Stage(|stage| stage.busy_sd_us),
            Measure::BusyShare => Part::Stage(|stage| stage.busy_us / in_stage(stage)),
            Measure::TimeShare => Part::Share,
            Measure::Messages => Part::Machine(|machine| machine.counts.messages as f64),
            Measure::MessagesPerCore => Part::Machine(|machine| machine.messages_per_core.mean),
            Measure::MessageSkew => Part::Run(message_skew),
            Measure::Packets => Part::Machine(|machine| machine.counts.packets as f64),
            Measure::WireBytes => Part::Machine(|machine| machine.counts.wire_bytes as f64),
            Measure::Misses => Part::Machine(|machine| machine.misses_per_core),
            Measure::MissRate => Part::Run(miss_rate),
            Measure::Throughput => Part::Run(|run| Ok(mean_keys(run)? / (run.time_us * 1e-3))),
            Measure::Skew => Part::Run(|run| of_keys(run, run.verdict.skew)),
            Measure::MaxKeys => Part::Run(|run| of_keys(run, run.verdict.max_keys as f64)),
            Measure::RequestMean => Part::Requests(|requests| requests.mean_us),
            Measure::RequestP50 => Part::Requests(|requests| requests.p50_us),
            Measure::RequestP99 => Part::Requests(|requests| requests.p99_us),
            Measure::Figure => Part::Run(found),
        }
    }

    pub(super) fn name(self) -> String {
        let text = self.to_string();
        text.trim_end_matches(" (us)").to_owned()
    }

    pub(super) fn unit(self) -> &'static str {
        match self {
            Measure::BusyShare
            | Measure::TimeShare
            | Measure::Skew
            | Measure::MessageSkew
            | Measure::Figure => "1",
            Measure::Messages | Measure::MessagesPerCore => "messages",
            Measure::Misses => "lines",
            Measure::MissRate => "lines/key",
            Measure::Throughput => "keys/ms/core",
            Measure::Packets => "packets",
            Measure::WireBytes => "bytes",
            Measure::MaxKeys => "keys",
            // All others are times.
            _ => "us",
        }
    }

    pub(super) fn is_time(self) -> bool {
        self.unit() == "us"
    }

    pub(super) fn is_of_a_stage(self) -> bool {
        matches!(self.part(), Part::Stage(_) | Part::Share)
    }

    /// Whether it is of one stage, and not of all as well.
    fn needs_a_stage(self) -> bool {
        self.is_of_a_stage() && !matches!(self, Measure::Busy | Measure::Idle)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Take {
    #[default]
    Mean,
    Most,
    Sd,
}

impl Take {
    pub(super) fn of(self, spread: Spread) -> f64 {
        match self {
            Take::Mean => spread.mean,
            Take::Most => spread.max,
            Take::Sd => spread.sd,
        }
    }

    /// The spread that is drawn: of another statistic than the mean, that number alone.
    pub(super) fn drawn(self, spread: Spread) -> Spread {
        match self {
            Take::Mean => spread,
            Take::Most | Take::Sd => of_figures(&[self.of(spread)]),
        }
    }

    /// Checks that this many runs have the statistic.
    pub(super) fn check(self, runs: u64) -> Result<(), String> {
        match self {
            Take::Sd if runs < 2 => {
                Err("take: one run has no deviation; set runs to 2 or more".to_owned())
            }
            _ => Ok(()),
        }
    }
}

/// A measure, its stage, how often a run does what is measured, and the statistic of several runs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Quantity<'a> {
    pub measure: Measure,
    pub stage: Option<&'a str>,
    pub repeats: Option<f64>,
    pub take: Take,
    /// Whether it is divided by another value of its series.
    pub is_relative: bool,
}

impl Quantity<'_> {
    pub(super) fn is_time(&self) -> bool {
        self.measure.is_time() && !self.is_relative
    }

    pub(super) fn unit(&self) -> &'static str {
        if self.is_relative {
            "1"
        } else {
            self.measure.unit()
        }
    }

    pub(super) fn check(&self) -> Result<(), String> {
        match self.stage {
            None if self.measure.needs_a_stage() => {
                Err("stage: missing, and measure is of a stage".to_owned())
            }
            Some(_) if !self.measure.is_of_a_stage() => {
                Err("stage: measure is not of a stage".to_owned())
            }
            _ => above_0("repeats", self.repeats),
        }
    }

    /// The spread over runs on a place with ticks of that length.
    pub(super) fn of(&self, runs: &[RunReport], tick_fs: u64) -> Result<Spread, String> {
        let spread = match self.measure {
            Measure::Time => time(runs, tick_fs),
            Measure::Wire => {
                let mac_ns = runs[0].simulated.as_ref().and_then(|it| it.mac_ns);
                let mac_ns = mac_ns.ok_or("measure: wire: the program is not timed at a NIC")?;
                scaled(time(runs, tick_fs), 1.0, mac_ns * 1e-3)
            }
            _ => {
                let figures = runs.iter().map(|run| self.figure(run));
                of_figures(&figures.collect::<Result<Vec<_>, _>>()?)
            }
        };
        Ok(scaled(spread, 1.0 / self.repeats.unwrap_or(1.0), 0.0))
    }

    fn figure(&self, run: &RunReport) -> Result<f64, String> {
        match self.measure.part() {
            Part::Run(of) => of(run),
            Part::Stage(of) => self.in_stages(run, of),
            Part::Share => {
                let all: f64 = run.stages.iter().map(of_all_cores).sum();
                Ok(of_all_cores(self.stage(run)?) / all)
            }
            Part::Machine(of) => counted(run, of),
            Part::Requests(of) => of_requests(run, of),
        }
    }

    fn in_stages(&self, run: &RunReport, part: fn(&StageReport) -> f64) -> Result<f64, String> {
        match self.stage {
            Some(_) => Ok(part(self.stage(run)?)),
            None => Ok(run.stages.iter().map(part).sum()),
        }
    }

    fn stage<'r>(&self, run: &'r RunReport) -> Result<&'r StageReport, String> {
        let name = self.stage.unwrap_or_default();
        let found = run.stages.iter().find(|stage| stage.name == name);
        found.ok_or_else(|| {
            let names: Vec<_> = run.stages.iter().map(|stage| stage.name).collect();
            let names = names.join(", ");
            format!("stage: there is no '{name}'; there are {names}")
        })
    }
}

fn counted(run: &RunReport, of: fn(&Simulated) -> f64) -> Result<f64, String> {
    let simulated = run.simulated.as_ref();
    let simulated = simulated.ok_or("measure: real nodes count nothing")?;
    Ok(of(simulated))
}

fn message_skew(run: &RunReport) -> Result<f64, String> {
    let skew = counted(run, |machine| {
        let Spread { mean, max, .. } = machine.messages_per_core;
        max / mean
    })?;
    let none = || "measure: the program sends no messages".to_owned();
    Some(skew).filter(|skew| skew.is_finite()).ok_or_else(none)
}

fn found(run: &RunReport) -> Result<f64, String> {
    let missing = || "measure: the program finds no figure".to_owned();
    run.verdict.figure.ok_or_else(missing)
}

fn miss_rate(run: &RunReport) -> Result<f64, String> {
    let misses = counted(run, |machine| machine.misses_per_core)?;
    Ok(misses / mean_keys(run)?)
}

fn mean_keys(run: &RunReport) -> Result<f64, String> {
    of_keys(run, run.verdict.max_keys as f64 / run.verdict.skew)
}

fn of_requests(run: &RunReport, of: fn(&RequestReport) -> f64) -> Result<f64, String> {
    let requests = run.requests.as_ref().map(of);
    requests.ok_or_else(|| "measure: the program has no requests".to_owned())
}

fn of_keys(run: &RunReport, figure: f64) -> Result<f64, String> {
    match run.verdict.max_keys {
        0 => Err("measure: the program does not count its cores' keys".to_owned()),
        _ => Ok(figure),
    }
}

fn time(runs: &[RunReport], tick_fs: u64) -> Spread {
    let ticks: Vec<u64> = runs.iter().map(|run| run.ticks).collect();
    of_ticks(&ticks, tick_fs)
}

fn in_stage(stage: &StageReport) -> f64 {
    stage.busy_us + stage.idle_us
}

fn of_all_cores(stage: &StageReport) -> f64 {
    in_stage(stage) * stage.cores as f64
}

/// Refuses a number that is not above 0.
pub(super) fn above_0(name: &str, number: Option<f64>) -> Result<(), String> {
    match number.filter(|number| !(number.is_finite() && *number > 0.0)) {
        Some(number) => Err(format!("{name} is {number}: expected a number above 0")),
        None => Ok(()),
    }
}
