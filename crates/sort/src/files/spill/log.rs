//! Where in the spill files what is written next goes, and what space they take: no I/O here.

use std::ops::Range;

use crate::files::spill::Extent;

/// Space is reserved in steps: writes inside the length of a file need no lock of all of it, so
/// several are in flight; but a step waits until none is, so they should be few. While more is
/// expected, a step is this part of what the file has, and at most half of what is expected: in the
/// end little is reserved in vain.
const GROWTH: u64 = 16;

/// Where more comes than was expected, a step is this part of what the file has.
const STEP_SHARE: u64 = 128;
const LEAST_STEP_BYTES: u64 = 256 << 10;
const MOST_STEP_BYTES: u64 = 64 << 20;

/// A spill file: whatever is written next lies behind what was written before.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Log {
    /// Where the next run goes.
    end: u64,
    /// Up to where there is space for sure.
    reserved: u64,
    /// Bytes that were given out and not released.
    live: u64,
    /// Whether what is released gives space back at once; else the file does when nothing in it is
    /// live.
    holes: bool,
    full: bool,
    /// There was no room for a larger step.
    most_step: Option<u64>,
    /// Whether its space is being given back.
    emptying: bool,
}

impl Log {
    pub(super) fn new(holes: bool) -> Log {
        Log {
            holes,
            ..Log::default()
        }
    }

    /// The bytes it takes on its disk.
    fn taken(&self) -> u64 {
        let written = if self.holes { self.live } else { self.end };
        written + self.reserved.saturating_sub(self.end)
    }
}

/// All logs, in the order of their directories.
#[derive(Debug, Default)]
pub(super) struct Logs {
    logs: Vec<Log>,
    /// The logs of each directory that are written.
    of: Vec<Range<usize>>,
    /// Bytes that were given out in each directory.
    written: Vec<u64>,
    /// Bytes that are still expected in all of them.
    expected: u64,
    peak_bytes: u64,
}

/// Where a run may go.
pub(super) enum Taken {
    /// Here.
    Now(Extent),
    /// Here, once the file has space for that range.
    Reserve(Extent, Range<u64>),
    /// Nowhere: all directories are full.
    Full,
}

impl Logs {
    /// Logs of directories, of each so many, and whether they can have holes; for so many bytes,
    /// about.
    pub(super) fn new(directories: &[(usize, bool)], expected: u64) -> Logs {
        let written = vec![0; directories.len()];
        let mut logs = Logs {
            expected,
            written,
            ..Logs::default()
        };
        logs.next_generation(directories);
        logs
    }

    /// Forgets all logs but the first ones, until there is another generation.
    pub(super) fn keep(&mut self, count: usize) {
        self.logs.truncate(count);
        self.of.clear();
    }

    /// So much of a file was there before.
    pub(super) fn begins_at(&mut self, file: usize, end: u64) {
        let log = &mut self.logs[file];
        (log.end, log.live, log.reserved) = (end, end, end);
        self.measure();
    }

    /// From now on what comes goes to new logs.
    pub(super) fn next_generation(&mut self, directories: &[(usize, bool)]) {
        self.of.clear();
        for &(count, holes) in directories {
            let first = self.logs.len();
            self.logs.resize(first + count, Log::new(holes));
            self.of.push(first..first + count);
        }
    }

    /// Takes the next bytes in that directory, or where there is room; `None` while nobody can
    /// tell.
    pub(super) fn take(&mut self, directory: usize, position: f64, bytes: u64) -> Option<Taken> {
        let in_directory = |directory: usize| {
            let logs = self.of[directory].clone();
            logs.start + ((position * logs.len() as f64) as usize).min(logs.len() - 1)
        };
        let open = |file: &usize| !self.logs[*file].full;
        let mut file = in_directory(directory);
        if !open(&file) {
            let others = (0..self.of.len()).map(in_directory).filter(open);
            let Some(other) = others.min_by_key(|file| self.logs[*file].end) else {
                return Some(Taken::Full);
            };
            file = other;
        }
        let log = &mut self.logs[file];
        if log.emptying {
            return None;
        }
        self.expected = self.expected.saturating_sub(bytes);
        let found = self.of.iter().position(|files| files.contains(&file));
        self.written[found.expect("every file is in a directory")] += bytes;
        let extent = Extent {
            file,
            offset: log.end,
            bytes,
        };
        (log.end, log.live) = (log.end + bytes, log.live + bytes);
        let expected = (log.end / GROWTH).min(self.expected / 2);
        let step = (log.end / STEP_SHARE)
            .clamp(LEAST_STEP_BYTES, MOST_STEP_BYTES)
            .max(expected);
        let step = step.min(log.most_step.unwrap_or(step));
        let reserve = (log.end > log.reserved).then(|| log.reserved..log.end + step);
        self.measure();
        Some(reserve.map_or(Taken::Now(extent), |range| Taken::Reserve(extent, range)))
    }

    pub(super) fn reserved(&mut self, file: usize, length: u64) {
        let log = &mut self.logs[file];
        log.reserved = log.reserved.max(length);
        self.measure();
    }

    /// There is room for steps up to that one only.
    pub(super) fn is_tight(&mut self, file: usize, step: u64) {
        self.logs[file].most_step = Some(step);
    }

    fn measure(&mut self) {
        self.peak_bytes = self.peak_bytes.max(self.logs.iter().map(Log::taken).sum());
    }

    /// What every log has reserved in vain, since no more is expected: the file, and where it ends.
    pub(super) fn spare(&mut self) -> Vec<(usize, u64)> {
        self.expected = 0;
        let spare = |log: &mut Log| {
            // A step that failed may have taken some of it.
            (log.reserved > log.end || log.most_step.is_some()).then(|| {
                log.reserved = log.end;
                log.end
            })
        };
        let logs = self.logs.iter_mut().enumerate();
        logs.filter_map(|(file, log)| Some((file, spare(log)?)))
            .collect()
    }

    /// There was no room for an extent. Whether another directory may have some.
    pub(super) fn is_full(&mut self, extent: Extent) -> bool {
        let directory = self
            .of
            .iter()
            .position(|files| files.contains(&extent.file));
        let directory = directory.expect("every file is in a directory");
        self.logs[self.of[directory].clone()]
            .iter_mut()
            .for_each(|log| log.full = true);
        self.logs[extent.file].live -= extent.bytes;
        self.written[directory] -= extent.bytes;
        self.expected += extent.bytes;
        self.logs.iter().any(|log| !log.full)
    }

    /// Whether ranges of a file can be given back.
    pub(super) fn has_holes(&self, file: usize) -> bool {
        self.logs[file].holes
    }

    /// Bytes that went to each directory: since a disk gets a write when it has done one, in
    /// proportion to the disks' rates.
    pub(super) fn written(&self) -> Vec<u64> {
        self.written.clone()
    }

    /// Nobody needs an extent any more. Whether all of its file must be given back now.
    pub(super) fn release(&mut self, extent: Extent) -> bool {
        let log = &mut self.logs[extent.file];
        log.live -= extent.bytes;
        log.emptying = log.live == 0 && !log.holes;
        // Space came back, so it is worth another try.
        log.full = false;
        log.emptying
    }

    /// A file is empty again.
    pub(super) fn emptied(&mut self, file: usize) {
        self.logs[file] = Log::new(self.logs[file].holes);
    }

    pub(super) fn live_bytes(&self) -> u64 {
        self.logs.iter().map(|log| log.live).sum()
    }

    pub(super) fn peak_bytes(&self) -> u64 {
        self.peak_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(logs: &mut Logs, directory: usize, position: f64) -> Option<Extent> {
        match logs.take(directory, position, 4096).unwrap() {
            Taken::Now(extent) | Taken::Reserve(extent, _) => Some(extent),
            Taken::Full => None,
        }
    }

    #[test]
    fn runs_lie_behind_each_other() {
        let mut logs = Logs::new(&[(1, true), (1, true)], 0);
        let offsets = [0, 4096, 8192].map(|offset| Extent {
            file: 1,
            offset,
            bytes: 4096,
        });
        assert_eq!(
            [0.0, 0.9, 0.3].map(|position| take(&mut logs, 1, position).unwrap()),
            offsets
        );
    }

    #[test]
    fn space_is_reserved_in_steps() {
        let mut logs = Logs::new(&[(1, true)], 0);
        let Some(Taken::Reserve(_, range)) = logs.take(0, 0.0, 4096) else {
            panic!()
        };
        logs.reserved(0, range.end);
        let rest = (range.end - 4096) / 4096;
        assert!((0..rest).all(|_| matches!(logs.take(0, 0.0, 4096), Some(Taken::Now(_)))));
        assert!(matches!(logs.take(0, 0.0, 4096), Some(Taken::Reserve(..))));
    }

    #[test]
    fn what_is_expected_is_reserved_in_few_steps() {
        let (expected, block) = (1 << 30, 1 << 20);
        let mut logs = Logs::new(&[(1, true)], expected);
        let mut steps = 0;
        for _ in 0..expected / block {
            if let Taken::Reserve(_, range) = logs.take(0, 0.0, block).unwrap() {
                logs.reserved(0, range.end);
                steps += 1;
            }
        }
        assert!((1..150).contains(&steps), "{steps} steps");
        assert!(
            logs.peak_bytes() < expected + expected / 64,
            "{}",
            logs.peak_bytes()
        );
    }

    #[test]
    fn a_full_directory_is_left_alone_until_space_comes_back() {
        let mut logs = Logs::new(&[(1, true), (2, false)], 0);
        let first = take(&mut logs, 0, 0.0).unwrap();
        let full = take(&mut logs, 0, 0.0).unwrap();
        assert!(logs.is_full(full), "the other directory has room");
        assert_eq!(take(&mut logs, 0, 0.9).unwrap().file, 2);
        let other = take(&mut logs, 1, 0.0).unwrap();
        assert!(!logs.is_full(other));
        assert_eq!(take(&mut logs, 1, 0.0), None);
        assert!(!logs.release(first));
        assert_eq!(take(&mut logs, 1, 0.0).unwrap().file, 0);
    }

    #[test]
    fn without_holes_a_file_is_given_back_when_nothing_in_it_is_live() {
        let mut logs = Logs::new(&[(2, false)], 0);
        let [a, b] = [0.1, 0.2].map(|position| take(&mut logs, 0, position).unwrap());
        assert_eq!((a.file, b.file, b.offset), (0, 0, 4096));
        assert!(!logs.release(b) && logs.release(a));
        assert!(logs.take(0, 0.1, 4096).is_none(), "it is being emptied");
        assert_eq!(take(&mut logs, 0, 0.7).unwrap().file, 1);
        logs.emptied(0);
        assert_eq!(take(&mut logs, 0, 0.1).unwrap().offset, 0);
        assert_eq!(logs.peak_bytes(), 3 * 4096);
    }

    fn reserve(logs: &mut Logs, bytes: u64) -> Option<Range<u64>> {
        match logs.take(0, 0.0, bytes).unwrap() {
            Taken::Reserve(_, range) => {
                logs.reserved(0, range.end);
                Some(range)
            }
            _ => None,
        }
    }

    /// Little files grow by the least step. Large ones grow by a part of their length, up to the
    /// largest step.
    #[test]
    fn a_step_grows_with_its_file() {
        const MIB: u64 = 1 << 20;
        for (begin, step) in [(0, 256 << 10), (128 * MIB, MIB), (1 << 40, 64 * MIB)] {
            let mut logs = Logs::new(&[(1, true)], 0);
            logs.begins_at(0, begin);
            // The step is a part of the file's length with the run in it.
            let end = begin + 4096;
            let range = reserve(&mut logs, 4096).unwrap();
            assert_eq!(range.start, begin, "{begin}");
            assert!(
                (step..step + 128).contains(&(range.end - end)),
                "{begin}: {range:?}"
            );
            assert_eq!(logs.live_bytes(), end);
            assert_eq!(logs.peak_bytes(), range.end);
        }
    }

    #[test]
    fn a_step_is_of_what_is_expected_but_no_larger_than_there_was_room_for() {
        const MIB: u64 = 1 << 20;
        let step = |begin: u64, expected: u64, most: Option<u64>| {
            let mut logs = Logs::new(&[(1, true)], expected + MIB);
            logs.begins_at(0, begin - MIB);
            if let Some(most) = most {
                logs.is_tight(0, most);
            }
            reserve(&mut logs, MIB).unwrap().end - begin
        };
        assert_eq!(
            step(160 * MIB, 100 * MIB, None),
            10 * MIB,
            "a sixteenth of what it has"
        );
        assert_eq!(
            step(160 * MIB, 10 * MIB, None),
            5 * MIB,
            "half of what is expected"
        );
        assert_eq!(step(160 * MIB, 100 * MIB, Some(3 * MIB)), 3 * MIB);
    }

    #[test]
    fn what_was_reserved_in_vain_is_told_once() {
        let mut logs = Logs::new(&[(3, true)], 1 << 20);
        let range = reserve(&mut logs, 8192).unwrap();
        assert!(range.end > 8192);
        take(&mut logs, 0, 0.5).unwrap();
        logs.reserved(1, 4096);
        logs.is_tight(2, 4096);
        assert_eq!(logs.spare(), [(0, 8192), (2, 0)]);
        logs.is_tight(0, 4096);
        let full = take(&mut logs, 0, 0.0).unwrap();
        assert_eq!(
            (full.offset, logs.spare()),
            (8192, vec![(0, 12_288), (2, 0)])
        );
    }

    /// Where ranges give their space back, a file takes the space of its live ranges; elsewhere it
    /// takes the space of all ranges that it ever had.
    #[test]
    fn what_is_taken_is_live_or_all_of_the_file() {
        for (holes, peak) in [(true, 4096 * 2), (false, 4096 * 3)] {
            let mut logs = Logs::new(&[(1, holes)], 0);
            logs.reserved(0, 4096 * 2);
            let first = take(&mut logs, 0, 0.0).unwrap();
            take(&mut logs, 0, 0.0).unwrap();
            logs.release(first);
            take(&mut logs, 0, 0.0).unwrap();
            assert_eq!((logs.has_holes(0), logs.live_bytes()), (holes, 4096 * 2));
            assert_eq!(logs.peak_bytes(), peak, "holes: {holes}");
        }
    }

    #[test]
    fn what_found_no_room_was_not_written() {
        let mut logs = Logs::new(&[(1, true), (1, true)], 1 << 20);
        take(&mut logs, 0, 0.0).unwrap();
        let full = take(&mut logs, 0, 0.0).unwrap();
        take(&mut logs, 1, 0.0).unwrap();
        assert_eq!(
            (logs.written(), logs.live_bytes()),
            (vec![8192, 4096], 4096 * 3)
        );
        logs.is_full(full);
        assert_eq!(
            (logs.written(), logs.live_bytes()),
            (vec![4096, 4096], 4096 * 2)
        );
    }

    /// A run that a directory has no room for goes to the emptiest of the other directories.
    #[test]
    fn a_new_generation_goes_to_new_files() {
        let mut logs = Logs::new(&[(1, true), (2, true)], 0);
        take(&mut logs, 0, 0.0).unwrap();
        logs.keep(2);
        logs.next_generation(&[(1, true), (2, true)]);
        let files = [(0, 0.0), (1, 0.0), (1, 0.49), (1, 0.5), (1, 1.0)];
        let files = files.map(|(directory, position)| take(&mut logs, directory, position));
        assert_eq!(files.map(|extent| extent.unwrap().file), [2, 3, 3, 4, 4]);
        assert_eq!(logs.written(), [8192, 4 * 4096]);
        let full = take(&mut logs, 0, 0.0).unwrap();
        assert!(logs.is_full(full));
        assert_eq!(take(&mut logs, 0, 0.0).unwrap().file, 3);
    }
}
