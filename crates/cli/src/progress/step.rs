//! How far a run is, as one number; how far a job is, from what its ranks tell.
//!
//! ```text
//! rank 0   exchanging  400 of 1000 MB  \
//! rank 1   exchanging  380 of 1000 MB   > exchanging, 980 of 3000 MB, rank 2 is last
//! rank 2   exchanging  200 of 1000 MB  /
//! ```
//!
//! A rank reads its input and writes its range of the keys, which need not be as much; over all
//! ranks they are. So ranks that write and ranks that still read may be added up.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use node::Rank;
use pipeline::{Control, Heard, Progress};
use serde_json::{Value, json};

/// How far a run is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    pub phase: &'static str,
    pub done_bytes: u64,
    /// 0 where it is not known.
    pub total_bytes: u64,
    /// Of a job.
    pub job: Option<Ranks>,
}

/// The ranks of a job, as its progress shows them.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranks {
    /// How many there are.
    pub count: u32,
    /// The last rank, and how far it is.
    pub last: (Rank, Box<Step>),
    /// The rank that has been silent for longest, and for how long, if that is too long.
    pub silent: Option<(Rank, Duration)>,
}

/// Ranks tell every second how far they are: one that has not for so long is named.
const SILENT: Duration = Duration::from_secs(3);

/// A rank is called late that is so far behind the job: what others tell is up to a second old.
const BEHIND: f64 = 0.1;

impl Step {
    /// A sort reads all and then writes all: both count.
    pub fn of(state: &Progress) -> Step {
        let (read, written) = (state.bytes_of("reader"), state.bytes_of("writer"));
        let total = state.total_bytes;
        let (phase, done_bytes, total_bytes) = match state.phase {
            "sort" if written == 0 => ("reading", read, 2 * total),
            "sort" => ("sorting and writing", read + written.min(read), 2 * read),
            // All was read before: the bar goes on where it was. What is written is whole blocks.
            phase @ ("sort partitions" | "merge") => (phase, total + written.min(total), 2 * total),
            phase => (phase, read + written + state.bytes_of("reloader"), total),
        };
        Step {
            phase,
            done_bytes,
            total_bytes,
            job: None,
        }
    }

    /// Whole is 1.
    fn part(&self) -> Option<f64> {
        (self.total_bytes > 0).then(|| self.done_bytes as f64 / self.total_bytes as f64)
    }

    /// The rank that holds the others up, in words, if one does.
    pub fn late(&self) -> Option<String> {
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

    /// The ranks as JSON.
    pub fn json_of_ranks(&self) -> Option<Value> {
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

/// A job, as rank 0 sees it.
pub struct Job {
    ranks: u32,
    /// How far each is with the sort, as last told.
    sorts: BTreeMap<Rank, Step>,
    /// How often each was heard when it was last, and when that was.
    heard: BTreeMap<Rank, (u64, Instant)>,
}

/// The laps of a run, whose bytes are not to be added up.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Lap {
    Begin,
    Sort,
    Check,
}

fn lap(phase: &str) -> Lap {
    match phase {
        "" | "sample" => Lap::Begin,
        "validating" => Lap::Check,
        _ => Lap::Sort,
    }
}

impl Job {
    pub fn new(ranks: u32) -> Job {
        Job {
            ranks,
            sorts: BTreeMap::new(),
            heard: BTreeMap::new(),
        }
    }

    /// How far the run is now: of a job of one, this process.
    pub fn step(&mut self, control: &Control, now: Instant) -> Step {
        let own = control.progress();
        if self.ranks < 2 {
            return Step::of(&own);
        }
        let others = control.others();
        let silent = self.silent(&others, now);
        let told = others
            .into_iter()
            .map(|(rank, heard)| (rank, heard.progress));
        let mut step = self.together(&told.chain([(Rank(0), own)]).collect());
        if let Some(job) = &mut step.job {
            job.silent = silent;
        }
        step
    }

    /// The rank that has been silent for longest, if that is too long.
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
        // A rank that has sent nothing has not begun.
        let now = if is_complete { heard } else { Lap::Begin };
        let in_lap = |(rank, step): &(Rank, Step)| match lap(step.phase) == now {
            true => (step.done_bytes, step.total_bytes),
            false => self
                .sorts
                .get(rank)
                .map_or((0, 0), |step| (step.total_bytes, step.total_bytes)),
        };
        let each = all.iter().map(in_lap);
        let (done_bytes, total_bytes) =
            each.fold((0, 0), |sum, step| (sum.0 + step.0, sum.1 + step.1));
        // A rank without input is half done while others read.
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
        match step.phase {
            // A rank that divides a partition again has read, and not yet written.
            "partition again" => {
                let total_bytes = self.sorts.get(&rank).map_or(0, |sort| sort.total_bytes);
                Step {
                    done_bytes: total_bytes / 2,
                    total_bytes,
                    ..step
                }
            }
            phase if lap(phase) == Lap::Sort => {
                let phase = if phase == "reading" {
                    "exchanging"
                } else {
                    phase
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
mod tests {
    use super::*;

    fn at(phase: &'static str, total_bytes: u64, done: [u64; 2]) -> Progress {
        let stages = ["reader", "writer"].into_iter().zip(done).collect();
        Progress {
            phase,
            total_bytes,
            stages,
        }
    }

    fn told<const N: usize>(all: [Progress; N]) -> BTreeMap<Rank, Progress> {
        (0..).map(Rank).zip(all).collect()
    }

    #[test]
    fn ranks_are_added_up() {
        let mut job = Job::new(3);
        let step = job.together(&told([
            at("sort", 500, [400, 0]),
            at("sort", 500, [380, 0]),
            at("sort", 500, [200, 0]),
        ]));
        assert_eq!(
            (step.phase, step.done_bytes, step.total_bytes),
            ("exchanging", 980, 3000)
        );
        assert_eq!(step.late().as_deref(), Some("rank 2 at 20%"));
        let ranks = step.json_of_ranks().unwrap();
        let (count, last) = (&ranks["count"], &ranks["last"]);
        assert_eq!([count, &last["rank"], &last["done_bytes"]], [3, 2, 200]);
    }

    /// One rank has little input and much of the keys: over all ranks nothing is counted twice.
    #[test]
    fn ranks_that_write_and_ranks_that_read() {
        let mut job = Job::new(2);
        let step = job.together(&told([
            at("sort", 900, [900, 0]),
            at("sort", 100, [100, 0]),
        ]));
        assert_eq!((step.done_bytes, step.total_bytes), (1000, 2000));
        let both = [
            at("sort partitions", 500, [0, 0]),
            at("sort partitions", 500, [0, 500]),
        ];
        let step = job.together(&told(both));
        assert_eq!((step.done_bytes, step.total_bytes), (1500, 2000));
        assert_eq!(
            (step.phase, step.late().as_deref()),
            ("sort partitions", Some("rank 0 at 50%"))
        );
    }

    #[test]
    fn a_rank_that_divides_again_stays_where_it_is() {
        let mut job = Job::new(2);
        job.together(&told([
            at("sort", 500, [500, 0]),
            at("sort", 500, [500, 0]),
        ]));
        let step = job.together(&told([
            at("partition again", 60, [0, 0]),
            at("sort partitions", 500, [0, 250]),
        ]));
        assert_eq!(
            (step.phase, step.done_bytes, step.total_bytes),
            ("partition again", 1250, 2000)
        );
    }

    #[test]
    fn nothing_is_known_before_all_have_told() {
        let mut job = Job::new(3);
        let step = job.together(&told([at("sort", 500, [400, 0]), at("sample", 0, [0, 0])]));
        assert_eq!(
            (step.total_bytes, step.phase, step.late()),
            (0, "sample", None)
        );
        let step = job.together(&told([at("", 0, [0, 0])]));
        assert_eq!((step.total_bytes, step.phase), (0, ""));
    }

    /// A rank that checks its output has sorted; the bytes it reads for that do not count yet.
    #[test]
    fn laps_are_apart() {
        let mut job = Job::new(2);
        job.together(&told([
            at("sort partitions", 500, [0, 500]),
            at("sort partitions", 500, [0, 400]),
        ]));
        let step = job.together(&told([
            at("validating", 500, [50, 0]),
            at("sort partitions", 500, [0, 400]),
        ]));
        assert_eq!((step.done_bytes, step.total_bytes), (1900, 2000));
        let step = job.together(&told([
            at("validating", 500, [50, 0]),
            at("validating", 500, [30, 0]),
        ]));
        assert_eq!(
            (step.phase, step.done_bytes, step.total_bytes),
            ("validating", 80, 1000)
        );
    }

    #[test]
    fn even_ranks_are_not_named() {
        let mut job = Job::new(2);
        let step = job.together(&told([
            at("sort", 500, [300, 0]),
            at("sort", 500, [250, 0]),
        ]));
        assert_eq!(step.late(), None);
        let idle = job.together(&told([at("sort", 0, [0, 0]), at("sort", 500, [250, 0])]));
        assert_eq!((idle.phase, idle.late()), ("exchanging", None));
    }

    #[test]
    fn one_process_is_no_job() {
        let control = Control::default();
        control.enter("sort", 100);
        let step = Job::new(1).step(&control, Instant::now());
        assert_eq!(
            (step.phase, step.total_bytes, step.job),
            ("reading", 200, None)
        );
    }

    #[test]
    fn who_is_silent_is_named() {
        let control = Control::default();
        let (mut job, begin) = (Job::new(3), Instant::now());
        let mut at_second = |second, heard: &[u32]| {
            let told = at("sort", 500, [100, 0]);
            heard
                .iter()
                .for_each(|&rank| control.hear(Rank(rank), told.clone()));
            job.step(&control, begin + Duration::from_secs(second))
        };
        control.enter("sort", 500);
        assert_eq!(at_second(0, &[1, 2]).late(), None);
        assert_eq!(at_second(3, &[1]).late(), None);
        let step = at_second(5, &[1]);
        assert_eq!(step.late().as_deref(), Some("rank 2 silent 5 s"));
        assert_eq!(step.json_of_ranks().unwrap()["silent"]["rank"], 2);
        assert_eq!(at_second(6, &[1, 2]).late(), None);
    }
}
