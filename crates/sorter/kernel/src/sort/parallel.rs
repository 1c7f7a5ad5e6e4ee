//! Sorts entries on several threads: long ranges together, then buckets from a queue.
//!
//! ```text
//! long range   | share of thread 0 | share of thread 1 |     each counts its share,
//!                   \      \____________/      /             each moves its share to its own
//! bins         | 0: t0 t1 | 1: t0 t1 | 2: t0 t1 | ...        places of every bin
//! queue        longest bin first; a free thread takes the next
//! ```
//!
//! A bin that is too long for one thread (skew, or one value in most entries) is divided by all
//! threads again, so a single heavy prefix is also sorted in parallel. Threads start and end with
//! each phase; there is no pool.

#![allow(unsafe_code)]

use super::count::histogram;
use super::digit::{Bounds, Digit};
use super::partition::{Buffers, Target};
use super::ties::{first_difference, load};
use super::worker::{Area, Task, Worker, bits_for, first_bounds, lopsided};
use crate::threads::on_threads;
use crate::{Entry, Words};
use std::sync::{Mutex, PoisonError};

/// Shorter ranges are for one thread: this length is about a millisecond of work, and three starts
/// of threads take some 100 us (at half this length two threads gain nothing).
const TOGETHER: usize = 128 << 10;

/// A range is also divided by all threads if it is longer than a thread's share divided by this.
const FAIR_PARTS: usize = 4;

/// A task with its area.
struct Job<'a> {
    area: Area<'a>,
    task: Task,
}

/// The state of a range after a pass of all threads.
enum Outcome {
    /// It is sorted and in its entries.
    Settled,
    /// It is one task that is closer to sorted.
    Again(Task),
    /// It was moved to the other side, into these bins.
    Moved(Vec<Task>),
}

/// As [`sort`](super::sort), on `threads` threads, including the calling one.
///
/// # Panics
/// If `scratch` is shorter than `entries`, or there are 2^32 entries or more.
pub fn sort_parallel(
    entries: &mut [Entry],
    scratch: &mut [Entry],
    words: &(impl Words + Sync),
    threads: usize,
) {
    let area = Area::new(entries, scratch);
    let task = Task::whole(area.len());
    if threads <= 1 || area.len() < TOGETHER {
        return Worker::new(words).sort(area, task);
    }
    let long = TOGETHER.max(area.len() / (threads * FAIR_PARTS));
    let queue = divide_long(Job { area, task }, words, threads, long);
    let queue = Mutex::new(queue);
    on_threads(0..threads, |_| {
        let mut worker = Worker::new(words);
        while let Some(job) = take(&queue) {
            worker.sort(job.area, job.task);
        }
    });
}

/// The next job. The queue stays usable if another worker panicked, because `pop` cannot break it.
fn take<'a>(queue: &Mutex<Vec<Job<'a>>>) -> Option<Job<'a>> {
    let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
    queue.pop()
}

/// Divides ranges until none is `long`. Returns the remaining jobs, longest last.
fn divide_long<'a>(
    job: Job<'a>,
    words: &(impl Words + Sync),
    threads: usize,
    long: usize,
) -> Vec<Job<'a>> {
    let mut unfinished = vec![job];
    let mut queue = Vec::new();
    while let Some(mut job) = unfinished.pop() {
        if job.task.len < long {
            queue.push(job);
            continue;
        }
        match divide(&mut job, words, threads) {
            Outcome::Settled => {}
            Outcome::Again(task) => unfinished.push(Job { task, ..job }),
            Outcome::Moved(tasks) => unfinished.extend(split(job.area, tasks)),
        }
    }
    queue.sort_by_key(|job| job.task.len);
    queue
}

/// One job per task. The tasks are contiguous and fill the area.
fn split<'a>(area: Area<'a>, tasks: Vec<Task>) -> impl Iterator<Item = Job<'a>> {
    let (mut entries, mut scratch) = (area.entries, area.scratch);
    tasks.into_iter().map(move |task| {
        let area = Area {
            entries: entries
                .split_off_mut(..task.len)
                .expect("bins fill the range"),
            scratch: scratch
                .split_off_mut(..task.len)
                .expect("bins fill the range"),
        };
        let task = Task { start: 0, ..task };
        Job { area, task }
    })
}

/// One pass of all threads over the job's range, which is its whole area.
fn divide(job: &mut Job<'_>, words: &(impl Words + Sync), threads: usize) -> Outcome {
    let task = job.task;
    if task.tied {
        return untie(job, words, threads);
    }
    let (source, target) = job.area.sides(&task);
    let share = source.len().div_ceil(threads);
    let Some((digit, mut counts)) = count(&task, source, threads) else {
        return Outcome::Again(task.tied(source[0].prefix));
    };
    let ends = positions(&mut counts);
    let target = Target::new(target);
    on_threads(source.chunks(share).zip(&mut counts), |(part, next)| {
        // SAFETY: `next` are this share's positions. Bins are laid out one after the other by the
        // sum of all histograms, and shares within a bin likewise, so the positions of threads and
        // bins are disjoint and below `source.len()`, the length of the exclusively held target.
        unsafe { Buffers::default().partition(part, target, digit, next) };
    });
    Outcome::Moved(bins(&task, digit, &ends))
}

/// Moves a range of one prefix to the first word in which its rows differ.
fn untie(job: &mut Job<'_>, words: &(impl Words + Sync), threads: usize) -> Outcome {
    let task = job.task;
    let (source, _) = job.area.sides(&task);
    let share = source.len().div_ceil(threads);
    let first = source[0];
    let depths = on_threads(source.chunks(share), |part| {
        let depth = first_difference(part, words, task.depth);
        // The rows of a share may agree with each other and differ from those of another share.
        depth.min(first_difference(&[first, part[0]], words, task.depth))
    });
    let depth = depths.into_iter().min().unwrap_or(task.depth);
    if depth == words.words() {
        job.area.settle(&task);
        return Outcome::Settled;
    }
    on_threads(source.chunks_mut(share), |part| load(part, words, depth));
    Outcome::Again(task.loaded(depth))
}

/// Each share's histogram and the digit that it counts; `None` if all prefixes are equal.
fn count(task: &Task, source: &[Entry], threads: usize) -> Option<(Digit, Vec<Vec<u32>>)> {
    let share = source.len().div_ceil(threads);
    let bits = bits_for(source.len());
    let mut bounds = first_bounds(task, source);
    for exact in [false, true] {
        if exact {
            let parts = on_threads(source.chunks(share), Bounds::exact);
            bounds = parts.into_iter().reduce(Bounds::and)?;
        }
        if bounds.single() {
            return None;
        }
        let digit = Digit::new(bounds, bits);
        let counts = on_threads(source.chunks(share), |part| {
            let mut counts = vec![0; digit.bins()];
            histogram(part, digit, &mut counts);
            counts
        });
        let total = |bin| counts.iter().map(|share| share[bin]).sum::<u32>();
        let largest = (0..digit.bins()).map(total).max().unwrap_or(0);
        if exact || !lopsided(largest, source.len()) {
            return Some((digit, counts));
        }
    }
    None
}

/// Replaces the shares' histograms by their first positions. Returns the end of each bin.
fn positions(counts: &mut [Vec<u32>]) -> Vec<u32> {
    let bins = counts[0].len();
    let mut next = 0;
    (0..bins)
        .map(|bin| {
            for share in counts.iter_mut() {
                next += std::mem::replace(&mut share[bin], next);
            }
            next
        })
        .collect()
}

/// The bins that are not empty, as tasks.
fn bins(task: &Task, digit: Digit, ends: &[u32]) -> Vec<Task> {
    let mut start = 0;
    let mut tasks = Vec::new();
    for (bin, &end) in ends.iter().enumerate() {
        let len = end as usize - start;
        if len > 0 {
            tasks.push(task.moved(start, len, digit.bounds_of(bin)));
        }
        start = end as usize;
    }
    tasks
}
