//! What is taken of a run: its time, the cores' times in a stage, or what was counted.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::report::{RunReport, Simulated, StageReport};
use crate::spread::Spread;

/// What is taken of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// The program's time, in microseconds.
    #[default]
    Time,
    /// The same from wire to wire: with MAC and serial I/O of the NIC it is timed at.
    Wire,
    /// What a core spent in a stage, on average, in microseconds.
    Stage,
    /// What of that it did not wait; of all stages, if none is named.
    Busy,
    /// What of that it waited; of all stages, if none is named.
    Idle,
    /// The stage's share of all cores' times in all stages, 0 to 1.
    TimeShare,
    /// Messages that the programs sent; one to a group counts once.
    Messages,
    /// Packets that left NICs.
    Packets,
    /// Bytes that left NICs.
    WireBytes,
    /// The most keys of a core by the mean.
    Skew,
    /// The most keys of a core.
    MaxKeys,
    /// What the program is run to find.
    Figure,
}

/// Its word in a file, with its unit if it is a time.
impl fmt::Display for Measure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(&mut *out)?;
        out.write_str(if self.is_time() { " (us)" } else { "" })
    }
}

impl Measure {
    /// Whether it is a time.
    pub fn is_time(self) -> bool {
        use Measure::{Busy, Idle, Stage, Time, Wire};
        matches!(self, Time | Wire | Stage | Busy | Idle)
    }

    /// Whether it can be of one stage.
    pub fn is_of_a_stage(self) -> bool {
        use Measure::{Busy, Idle, Stage, TimeShare};
        matches!(self, Stage | Busy | Idle | TimeShare)
    }

    /// Whether it must be.
    fn needs_a_stage(self) -> bool {
        matches!(self, Measure::Stage | Measure::TimeShare)
    }
}

/// What is taken of a run, of which stage, and of one of how many.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken<'a> {
    pub measure: Measure,
    pub stage: Option<&'a str>,
    /// How often a run does what is measured.
    pub repeats: f64,
}

impl Taken<'_> {
    /// Whether it can be taken at all; the field that is wrong otherwise.
    pub fn check(&self) -> Result<(), String> {
        let Taken {
            measure,
            stage,
            repeats,
        } = *self;
        match stage {
            None if measure.needs_a_stage() => {
                return Err("stage: missing, and measure is of a stage".to_owned());
            }
            Some(_) if !measure.is_of_a_stage() => {
                return Err("stage: measure is not of a stage".to_owned());
            }
            _ => {}
        }
        match repeats.is_finite() && repeats > 0.0 {
            true => Ok(()),
            false => Err(format!("repeats is {repeats}: expected a number above 0")),
        }
    }

    /// Of these runs, on a place with ticks of that length.
    pub fn of(&self, runs: &[RunReport], tick_fs: u64) -> Result<Spread, String> {
        let spread = match self.measure {
            Measure::Time => time(runs, tick_fs),
            Measure::Wire => {
                let mac_ns = runs[0]
                    .simulated
                    .as_ref()
                    .and_then(|simulated| simulated.mac_ns);
                let mac_ns = mac_ns.ok_or("measure: wire: the program is not timed at a NIC")?;
                time(runs, tick_fs).scaled(1.0, mac_ns * 1e-3)
            }
            _ => {
                let figures = runs.iter().map(|run| self.figure(run));
                Spread::of_figures(&figures.collect::<Result<Vec<_>, _>>()?)
            }
        };
        Ok(spread.scaled(1.0 / self.repeats, 0.0))
    }

    fn figure(&self, run: &RunReport) -> Result<f64, String> {
        let counted = |of: fn(&Simulated) -> u64| {
            let simulated = run
                .simulated
                .as_ref()
                .ok_or("measure: real nodes count nothing")?;
            Ok(of(simulated) as f64)
        };
        let keys = |figure: f64| match run.verdict.max_keys {
            0 => Err("measure: the program says nothing of its cores' keys".to_owned()),
            _ => Ok(figure),
        };
        match self.measure {
            Measure::Time | Measure::Wire => Ok(run.time_us),
            Measure::Stage => Ok(in_stage(self.stage(run)?)),
            Measure::Busy => self.in_stages(run, |stage| stage.busy_us),
            Measure::Idle => self.in_stages(run, |stage| stage.idle_us),
            Measure::TimeShare => {
                let all: f64 = run.stages.iter().map(of_all_cores).sum();
                Ok(of_all_cores(self.stage(run)?) / all)
            }
            Measure::Messages => counted(|simulated| simulated.counts.messages),
            Measure::Packets => counted(|simulated| simulated.counts.packets),
            Measure::WireBytes => counted(|simulated| simulated.counts.wire_bytes),
            Measure::Skew => keys(run.verdict.skew),
            Measure::MaxKeys => keys(run.verdict.max_keys as f64),
            Measure::Figure => {
                let figure = run.verdict.figure;
                figure.ok_or_else(|| "measure: the program finds no figure".to_owned())
            }
        }
    }

    /// Of its stage, or the sum over all.
    fn in_stages(&self, run: &RunReport, part: fn(&StageReport) -> f64) -> Result<f64, String> {
        match self.stage {
            Some(_) => Ok(part(self.stage(run)?)),
            None => Ok(run.stages.iter().map(part).sum()),
        }
    }

    fn stage<'r>(&self, run: &'r RunReport) -> Result<&'r StageReport, String> {
        let name = self.stage.unwrap_or_default();
        run.stages
            .iter()
            .find(|stage| stage.name == name)
            .ok_or_else(|| {
                let names: Vec<_> = run.stages.iter().map(|stage| stage.name).collect();
                format!(
                    "stage: there is no '{name}'; there are {}",
                    names.join(", ")
                )
            })
    }
}

fn time(runs: &[RunReport], tick_fs: u64) -> Spread {
    let ticks: Vec<u64> = runs.iter().map(|run| run.ticks).collect();
    Spread::of(&ticks, tick_fs)
}

fn in_stage(stage: &StageReport) -> f64 {
    stage.busy_us + stage.idle_us
}

fn of_all_cores(stage: &StageReport) -> f64 {
    in_stage(stage) * stage.cores as f64
}
