//! The progress of a run as one number, and of a job from the reports of its ranks.
//!
//! ```text
//! rank 0   exchanging  400 of 1000 MB  \
//! rank 1   exchanging  380 of 1000 MB   > exchanging, 980 of 3000 MB, rank 2 is last
//! rank 2   exchanging  200 of 1000 MB  /
//! ```
//!
//! A rank's input and its range of keys may differ in size, but over all ranks the sums are equal.
//! So the bytes of ranks that read and of ranks that write can be added.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use node::Rank;
use pipeline::{Control, Heard, Progress};
use serde_json::{Value, json};
use sort::{Phase, StageName};

/// The progress of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Step {
    pub phase: &'static str,
    pub done_bytes: u64,
    /// 0 if unknown.
    pub total_bytes: u64,
    /// The ranks, if the run is a job.
    pub job: Option<Ranks>,
}

/// The ranks of a job, as its progress shows them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ranks {
    /// The number of ranks.
    pub count: u32,
    /// The slowest rank and its progress.
    pub last: (Rank, Box<Step>),
    /// The rank that has been silent longest, and for how long, if that is too long.
    pub silent: Option<(Rank, Duration)>,
}

/// A rank is named after this silence; ranks report their progress every second.
const SILENT: Duration = Duration::from_secs(3);

/// How far behind the job a rank must be to be called late; reports may be a second old.
const BEHIND: f64 = 0.1;

impl Step {
    /// The progress of this process. A sort reads all bytes and writes all bytes: both count.
    pub(crate) fn of(state: &Progress) -> Step {
        let bytes = |stage: StageName| state.bytes_of(stage.name());
        let (read, written) = (bytes(StageName::Reader), bytes(StageName::Writer));
        let total = state.total_bytes;
        let (phase, done_bytes, total_bytes) = match Phase::of(state.phase) {
            Some(Phase::Sort) => ("reading", read, 2 * total),
            Some(Phase::Index) => (state.phase, bytes(StageName::Indexer), total),
            // All bytes have been read. Written blocks are whole, so they may exceed the total.
            Some(Phase::SortPartitions | Phase::Merge) => {
                (state.phase, total + written.min(total), 2 * total)
            }
            // Records are written as soon as they are read.
            Some(Phase::MergeInputs) => (state.phase, written.min(total), total),
            _ => {
                let again = bytes(StageName::Reloader);
                (state.phase, read + written + again, total)
            }
        };
        Step {
            phase,
            done_bytes,
            total_bytes,
            job: None,
        }
    }

    /// The completed part, 0 to 1.
    fn part(&self) -> Option<f64> {
        (self.total_bytes > 0).then(|| self.done_bytes as f64 / self.total_bytes as f64)
    }

    /// A text about the rank that holds up the others, if any.
    pub(crate) fn late(&self) -> Option<String> {
        let Ranks {
            last: (rank, last),
            silent,
            ..
        } = self.job.as_ref()?;
        if let Some((rank, since)) = silent {
            return Some(format!("rank {rank} silent {} s", since.as_secs()));
        }
        let (all, part) = (self.part()?, last.part()?);
        (part + BEHIND < all).then(|| format!("rank {rank} at {:.0}%", 100.0 * part))
    }

    pub(crate) fn json_of_ranks(&self) -> Option<Value> {
        let Ranks {
            count,
            last: (rank, last),
            silent,
        } = self.job.as_ref()?;
        let silent =
            silent.map(|(rank, since)| json!({ "rank": rank.0, "seconds": since.as_secs() }));
        Some(json!({
            "count": count,
            "last": {
                "rank": rank.0,
                "phase": last.phase,
                "done_bytes": last.done_bytes,
                "total_bytes": (last.total_bytes > 0).then_some(last.total_bytes),
            },
            "silent": silent,
        }))
    }
}

/// The progress of a job, as rank 0 sees it.
pub(crate) struct JobProgress {
    ranks: u32,
    sorts: BTreeMap<Rank, Step>,
    /// The number of reports of each rank, and the time of the last.
    heard: BTreeMap<Rank, (u64, Instant)>,
}

/// The laps of a run. Bytes of different laps are not added.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Lap {
    Begin,
    Sort,
    Check,
}

fn lap(phase: &str) -> Lap {
    match Phase::of(phase) {
        Some(Phase::Index | Phase::Sample) => Lap::Begin,
        Some(Phase::Validate) => Lap::Check,
        None if phase.is_empty() => Lap::Begin,
        _ => Lap::Sort,
    }
}

impl JobProgress {
    pub(crate) fn new(ranks: u32) -> JobProgress {
        JobProgress {
            ranks,
            sorts: BTreeMap::new(),
            heard: BTreeMap::new(),
        }
    }

    pub(crate) fn step(&mut self, control: &Control, now: Instant) -> Step {
        let own = control.progress();
        if self.ranks < 2 {
            return Step::of(&own);
        }
        let others = control.others();
        let silent = self.silent(&others, now);
        let told = others
            .into_iter()
            .map(|(rank, heard)| (rank, heard.progress));
        let mut step = self.together(&told.chain([(Rank::ROOT, own)]).collect());
        if let Some(job) = &mut step.job {
            job.silent = silent;
        }
        step
    }

    /// The rank that has been silent longest, if that is too long.
    fn silent(&mut self, others: &BTreeMap<Rank, Heard>, now: Instant) -> Option<(Rank, Duration)> {
        for (&rank, Heard { times, .. }) in others {
            let last = self.heard.entry(rank).or_insert((*times, now));
            if last.0 != *times {
                *last = (*times, now);
            }
        }
        let longest = self.heard.iter().min_by_key(|(_, (_, since))| *since)?;
        let (&rank, since) = (longest.0, now.duration_since(longest.1.1));
        (since > SILENT).then_some((rank, since))
    }

    fn together(&mut self, told: &BTreeMap<Rank, Progress>) -> Step {
        let all: Vec<(Rank, Step)> = told
            .iter()
            .map(|(&rank, progress)| (rank, self.of_rank(rank, progress)))
            .collect();
        let is_complete = all.len() == self.ranks as usize;
        let heard = all
            .iter()
            .map(|(_, step)| lap(step.phase))
            .min()
            .unwrap_or(Lap::Begin);
        // A rank without a report has not begun.
        let now = if is_complete { heard } else { Lap::Begin };
        let in_lap = |(rank, step): &(Rank, Step)| {
            if lap(step.phase) == now {
                (step.done_bytes, step.total_bytes)
            } else {
                self.sorts
                    .get(rank)
                    .map_or((0, 0), |step| (step.total_bytes, step.total_bytes))
            }
        };
        let each = all.iter().map(in_lap);
        let (done_bytes, total_bytes) =
            each.fold((0, 0), |sum, step| (sum.0 + step.0, sum.1 + step.1));
        // A rank without input counts as half done.
        let part = |step: &Step| step.part().unwrap_or(0.5);
        let late = all.iter().filter(|(_, step)| lap(step.phase) <= heard);
        let last = late.min_by(|(_, a), (_, b)| part(a).total_cmp(&part(b)));
        let (rank, last) = last.cloned().expect("this rank at least");
        let step = Step {
            phase: last.phase,
            done_bytes,
            total_bytes,
            job: None,
        };
        let begun = if now == Lap::Begin {
            Step {
                done_bytes: 0,
                total_bytes: 0,
                ..step
            }
        } else {
            step
        };
        let last = (rank, Box::new(last));
        Step {
            job: Some(Ranks {
                count: self.ranks,
                last,
                silent: None,
            }),
            ..begun
        }
    }

    fn of_rank(&mut self, rank: Rank, progress: &Progress) -> Step {
        let step = Step::of(progress);
        match Phase::of(progress.phase) {
            // A rank that divides a partition again has read everything and written nothing.
            Some(Phase::PartitionAgain) => {
                let total_bytes = self.sorts.get(&rank).map_or(0, |sort| sort.total_bytes);
                Step {
                    done_bytes: total_bytes / 2,
                    total_bytes,
                    ..step
                }
            }
            now if lap(step.phase) == Lap::Sort => {
                let phase = match now {
                    Some(Phase::Sort) => "exchanging",
                    _ => step.phase,
                };
                let step = Step { phase, ..step };
                self.sorts.insert(rank, step.clone());
                step
            }
            _ => step,
        }
    }
}

#[cfg(test)]
mod tests;
