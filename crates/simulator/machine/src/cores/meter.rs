//! The time and idle time of each rank in each stage of its program.

use crate::cores::task::{Stage, Task};
use crate::report::{Slice, StageTimes};
use crate::setting::Sample;

/// The stages of a block's tasks.
pub struct Meter {
    names: Vec<&'static str>,
    /// Ticks, and idle ones of them, by stage and rank of the block; [`NOT_ENTERED`] at first.
    times: Vec<Vec<(u64, u64)>>,
    ranks: usize,
    first_rank: u32,
    sample: Sample,
    slices: Vec<Slice>,
}

/// The ticks of a rank in a stage that it has not entered. (An option would take half as much again.)
const NOT_ENTERED: (u64, u64) = (u64::MAX, 0);

/// The most slices of a block; later ones are not traced.
const MOST_SLICES: usize = 1 << 18;

impl Meter {
    pub fn new(first_rank: u32, ranks: usize, sample: Sample) -> Meter {
        let (names, times, slices) = (Vec::new(), Vec::new(), Vec::new());
        Meter {
            names,
            times,
            ranks,
            first_rank,
            sample,
            slices,
        }
    }

    /// Notes that a task enters a stage, or ends.
    pub fn enter(&mut self, task: &mut Task, name: Option<&'static str>) {
        if let Some(stage) = task.stage.take() {
            self.leave(task, stage);
        }
        task.stage = name.map(|name| {
            let number = self.number(name);
            Stage {
                number,
                begin: task.clock,
                idle: task.idle,
            }
        });
    }

    fn leave(&mut self, task: &Task, stage: Stage) {
        let (ticks, idle) = (task.clock - stage.begin, task.idle - stage.idle);
        let sum = &mut self.times[usize::from(stage.number)][task.rank as usize];
        if *sum == NOT_ENTERED {
            *sum = (0, 0);
        }
        sum.0 += ticks.0;
        sum.1 += idle.0;
        let rank = self.first_rank + task.rank;
        if self.slices.len() < MOST_SLICES && self.sample.has(rank) {
            let name = self.names[usize::from(stage.number)];
            self.slices.push(Slice {
                rank,
                name,
                begin: stage.begin.0,
                end: task.clock.0,
                idle: idle.0,
            });
        }
    }

    fn number(&mut self, name: &'static str) -> u16 {
        let known = self.names.iter().position(|&other| other == name);
        let number = known.unwrap_or_else(|| {
            self.names.push(name);
            self.times.push(vec![NOT_ENTERED; self.ranks]);
            self.names.len() - 1
        });
        u16::try_from(number).expect("a program has few stages")
    }

    /// Adds the stages and slices of this block to a report.
    pub fn report(self, stages: &mut Vec<StageTimes>, slices: &mut Vec<Slice>) {
        for (name, times) in self.names.into_iter().zip(self.times) {
            let index = stages
                .iter()
                .position(|stage| stage.name == name)
                .unwrap_or_else(|| {
                    stages.push(StageTimes {
                        name,
                        ticks: Vec::new(),
                    });
                    stages.len() - 1
                });
            let entered = times.into_iter().filter(|times| *times != NOT_ENTERED);
            stages[index].ticks.extend(entered);
        }
        slices.extend(self.slices);
    }
}
