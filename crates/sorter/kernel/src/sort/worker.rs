//! The sort on one thread: takes a task, makes one pass, and adds the remaining ranges as tasks.

use super::count::{histogram, histogram_fetching, scatter, starts};
use super::digit::{Bounds, Digit};
use super::insertion::{insertion_sort, insertion_sort_into};
use super::partition::{Buffers, STREAMED, Target};
use super::ties::{MOST_DIVISIONS, compare_with_pivot, first_difference, load, runs};
use crate::words::EQUAL;
use crate::{Entry, Words};

/// Ranges up to this length are insertion sorted: they are too short for a histogram.
pub(super) const INSERTION: usize = 24;

/// Ranges up to this length get a bin per entry or per two entries: 32K entries, their target and
/// their counts are 1.1 MB, about a second-level cache (1 MB on Zen 4).
const BUCKET: usize = 32 << 10;

/// The average length of the buckets of a longer range, at most: half of the above, since bins of
/// one pass differ.
const MEANT: usize = 16 << 10;

/// The most bits of one pass over a longer range: 2^11 write-combining buffers are 512 KB, half of
/// a second-level cache.
const MOST_BITS: u32 = 11;

/// The bounds of ranges from this length on are guessed from a sample.
const SAMPLED: usize = 2 << 10;

/// The two buffers that a range moves between. A range has the same positions in both.
pub(super) struct Area<'a> {
    pub(super) entries: &'a mut [Entry],
    pub(super) scratch: &'a mut [Entry],
}

/// The buffer of an area that holds a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Entries,
    Scratch,
}

/// A range that is not sorted yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub(super) start: usize,
    pub(super) len: usize,
    pub(super) side: Side,
    /// The word that the prefixes hold; if `tied`, the first word that has not been compared.
    pub(super) depth: u32,
    /// Whether all words before `depth` are equal.
    pub(super) tied: bool,
    /// Word 0 of a range with `depth` above 0, to be restored at the end.
    pub(super) first: u64,
    /// How often a word has divided the range.
    pub(super) divisions: u32,
    /// Whether the prefixes are orders with a pivot, in place of word `depth`.
    pub(super) by_pivot: bool,
    pub(super) bounds: Option<Bounds>,
}

/// One thread's state between passes.
pub(super) struct Worker<'w, W> {
    words: &'w W,
    counts: Vec<u32>,
    buffers: Buffers,
    tasks: Vec<Task>,
}

impl<'a> Area<'a> {
    pub(super) fn new(entries: &'a mut [Entry], scratch: &'a mut [Entry]) -> Self {
        let len = entries.len();
        assert!(u32::try_from(len).is_ok(), "2^32 entries or more");
        assert!(scratch.len() >= len, "scratch is shorter than the entries");
        Self {
            entries,
            scratch: &mut scratch[..len],
        }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The range of `task` in the buffer that holds it, and in the other one.
    pub(super) fn sides(&mut self, task: &Task) -> (&mut [Entry], &mut [Entry]) {
        let range = task.start..task.start + task.len;
        let entries = &mut self.entries[range.clone()];
        let scratch = &mut self.scratch[range];
        match task.side {
            Side::Entries => (entries, scratch),
            Side::Scratch => (scratch, entries),
        }
    }

    /// Moves a range of equal rows to the entries, and restores its prefixes.
    pub(super) fn settle(&mut self, task: &Task) {
        let (source, target) = self.sides(task);
        if task.side == Side::Scratch {
            target.copy_from_slice(source);
        }
        for entry in &mut self.entries[task.start..task.start + task.len] {
            entry.prefix = task.first;
        }
    }
}

impl Task {
    /// A whole area, by word 0.
    pub(super) fn whole(len: usize) -> Self {
        Self {
            start: 0,
            len,
            side: Side::Entries,
            depth: 0,
            tied: false,
            first: 0,
            divisions: 0,
            by_pivot: false,
            bounds: None,
        }
    }

    /// A part of this range, after a pass has moved it.
    pub(super) fn moved(&self, offset: usize, len: usize, bounds: Option<Bounds>) -> Self {
        let side = match self.side {
            Side::Entries => Side::Scratch,
            Side::Scratch => Side::Entries,
        };
        Self {
            start: self.start + offset,
            len,
            side,
            bounds,
            ..*self
        }
    }

    /// This range, if all of its prefixes are `prefix`.
    pub(super) fn tied(&self, prefix: u64) -> Self {
        let depth = match (self.by_pivot, prefix) {
            (false, _) => self.depth + 1,
            // All words are equal.
            (true, EQUAL) => u32::MAX,
            (true, _) => self.depth,
        };
        Self {
            depth,
            tied: true,
            by_pivot: false,
            first: if self.depth == 0 { prefix } else { self.first },
            bounds: None,
            ..*self
        }
    }

    /// This range, with word `depth` for prefixes.
    pub(super) fn loaded(&self, depth: u32) -> Self {
        Self {
            depth,
            tied: false,
            divisions: self.divisions + 1,
            ..*self
        }
    }

    /// This range, with orders with a pivot for prefixes.
    fn compared(&self) -> Self {
        Self {
            tied: false,
            by_pivot: true,
            ..*self
        }
    }
}

/// The bits of a pass over `len` entries.
pub(super) fn bits_for(len: usize) -> u32 {
    if len <= BUCKET {
        len.ilog2()
    } else {
        let buckets = len.div_ceil(MEANT).next_power_of_two();
        buckets.ilog2().clamp(1, MOST_BITS)
    }
}

/// The known bounds of the prefixes of `range`, or else exact ones, or a guess if it is long.
pub(super) fn first_bounds(task: &Task, range: &[Entry]) -> Bounds {
    match task.bounds {
        Some(bounds) => bounds,
        None if range.len() >= SAMPLED => Bounds::sampled(range),
        None => Bounds::exact(range),
    }
}

/// Whether one bin got nearly all entries: the bounds were too wide, so it is worth a pass to find
/// exact ones.
pub(super) fn lopsided(largest: u32, len: usize) -> bool {
    largest as usize > len - len / 4
}

impl<'w, W: Words> Worker<'w, W> {
    pub(super) fn new(words: &'w W) -> Self {
        Self {
            words,
            counts: Vec::new(),
            buffers: Buffers::default(),
            tasks: Vec::new(),
        }
    }

    /// Sorts the range of `task` into the entries.
    pub(super) fn sort(&mut self, mut area: Area<'_>, task: Task) {
        self.tasks.push(task);
        while let Some(task) = self.tasks.pop() {
            self.step(&mut area, task);
        }
    }

    fn step(&mut self, area: &mut Area<'_>, task: Task) {
        if task.tied {
            self.untie(area, task);
        } else if task.len <= INSERTION {
            self.clean_up(area, &task);
        } else {
            self.pass(area, &task);
        }
    }

    /// Skips the words in which all rows agree, and loads the next one; or draws a pivot.
    fn untie(&mut self, area: &mut Area<'_>, task: Task) {
        let (source, _) = area.sides(&task);
        if task.divisions >= MOST_DIVISIONS && task.depth < self.words.words() {
            compare_with_pivot(source, self.words, task.depth);
            self.tasks.push(task.compared());
            return;
        }
        let guessed = self.words.load_guessed(source, task.depth);
        if let Some(depth) = guessed {
            self.tasks.push(task.loaded(depth));
            return;
        }
        let depth = first_difference(source, self.words, task.depth);
        if depth >= self.words.words() {
            area.settle(&task);
        } else {
            load(source, self.words, depth);
            self.tasks.push(task.loaded(depth));
        }
    }

    /// One radix pass, from the buffer that holds the range to the other.
    fn pass(&mut self, area: &mut Area<'_>, task: &Task) {
        let (source, target) = area.sides(task);
        let Some((digit, largest)) = self.count(task, source, target) else {
            self.tasks.push(task.tied(source[0].prefix));
            return;
        };
        let counts = &mut self.counts[..];
        starts(counts);
        if task.len >= STREAMED {
            // SAFETY: the positions are the starts of a histogram of `source`, both buffers are
            // borrowed exclusively, and `target` is as long as `source`.
            #[allow(unsafe_code)]
            unsafe {
                let target = Target::new(target);
                self.buffers.partition(source, target, digit, counts);
            }
        } else {
            scatter(source, target, digit, counts);
        }
        if task.len <= BUCKET && largest <= INSERTION {
            self.clean_up(area, &task.moved(0, task.len, None));
        } else {
            self.divide(area, task, digit);
        }
    }

    /// Counts the bins of a pass. Returns the digit and the length of the longest bin, or `None` if
    /// all prefixes are equal.
    fn count(&mut self, task: &Task, source: &[Entry], target: &[Entry]) -> Option<(Digit, usize)> {
        let mut bounds = first_bounds(task, source);
        for exact in [false, true] {
            if exact {
                bounds = Bounds::exact(source);
            }
            if bounds.single() {
                return None;
            }
            let digit = Digit::new(bounds, bits_for(source.len()));
            self.counts.resize(digit.bins(), 0);
            if source.len() <= BUCKET {
                histogram_fetching(source, target, digit, &mut self.counts);
            } else {
                histogram(source, digit, &mut self.counts);
            }
            let largest = self.counts.iter().copied().max().unwrap_or(0);
            if exact || !lopsided(largest, source.len()) {
                return Some((digit, largest as usize));
            }
        }
        None
    }

    /// Adds long bins as tasks, and cleans up stretches of short bins at once.
    fn divide(&mut self, area: &mut Area<'_>, task: &Task, digit: Digit) {
        let mut stretch = 0;
        let mut start = 0;
        for bin in 0..digit.bins() {
            let end = self.counts[bin] as usize;
            if end - start > INSERTION {
                self.clean_up(area, &task.moved(stretch, start - stretch, None));
                let bounds = digit.bounds_of(bin);
                self.tasks.push(task.moved(start, end - start, bounds));
                stretch = end;
            }
            start = end;
        }
        self.clean_up(area, &task.moved(stretch, start - stretch, None));
    }

    /// Sorts a nearly sorted range into the entries, and adds its ties as tasks.
    fn clean_up(&mut self, area: &mut Area<'_>, task: &Task) {
        let range = task.start..task.start + task.len;
        let entries = &mut area.entries[range.clone()];
        let ties = match task.side {
            Side::Entries => insertion_sort(entries),
            Side::Scratch => insertion_sort_into(&area.scratch[range], entries),
        };
        if ties && (task.by_pivot || task.depth + 1 < self.words.words()) {
            let home = Task {
                side: Side::Entries,
                ..*task
            };
            runs(entries, |start, len| {
                if len > 1 {
                    for entry in entries[start..start + len].iter().take(INSERTION) {
                        self.words.prefetch(entry.row, task.depth + 1);
                    }
                    let prefix = entries[start].prefix;
                    let run = Task {
                        start: task.start + start,
                        len,
                        ..home.tied(prefix)
                    };
                    self.tasks.push(run);
                }
            });
        }
        if task.depth > 0 {
            for entry in entries {
                entry.prefix = task.first;
            }
        }
    }
}

#[cfg(test)]
mod tests;
