//! Space in spill files: the place of the next run, and the bytes on disk. No I/O.

use std::ops::Range;

use crate::error::SortError;
use crate::files::spill::areas::Areas;
use crate::files::spill::place::MOST_FILE_BYTES;
use crate::files::spill::stripes::Stripes;
use crate::files::spill::{Extent, Slot};
use crate::plan::StripeForm;

/// Space is reserved in steps: writes within the length of a file do not lock all of it, so several
/// are in flight, but each step waits until none is. While more bytes are expected, a step is this
/// part of the file's length, but at most half of the expected bytes, so that little is reserved in
/// vain in the end.
const GROWTH: u64 = 16;

/// A step is this part of the file's length if more comes than was expected.
const STEP_SHARE: u64 = 128;
const LEAST_STEP_BYTES: u64 = 256 << 10;
const MOST_STEP_BYTES: u64 = 64 << 20;

/// Under a limit, a step is at most this part of the bytes that are left: space that one file
/// reserves is lost to the others.
const LIMIT_SHARE: u64 = 16;

/// A spill file, to which runs are appended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Log {
    end: u64,
    /// Offset up to which space is reserved.
    reserved: u64,
    /// Bytes that were taken and not released.
    live: u64,
    /// Bytes in areas of partitions that are not taken yet.
    idle: u64,
    /// The end of the file when areas were given up.
    areas_end: u64,
    /// Whether released ranges give space back at once; otherwise the file does, once all of it is
    /// released.
    holes: bool,
    full: bool,
    /// The largest step for which there was space.
    most_step: Option<u64>,
    emptying: bool,
}

impl Log {
    pub(super) fn new(holes: bool) -> Log {
        Log {
            holes,
            ..Log::default()
        }
    }

    /// Bytes on disk.
    fn taken(&self) -> u64 {
        let written = if self.holes {
            self.live + self.idle
        } else {
            self.end
        };
        written + self.reserved.saturating_sub(self.end)
    }
}

/// All logs, in the order of their directories.
#[derive(Debug, Default)]
pub(super) struct Logs {
    logs: Vec<Log>,
    /// By directory: the logs that take new runs.
    of: Vec<Range<usize>>,
    /// By directory: bytes that were taken.
    written: Vec<u64>,
    /// Bytes still expected in all logs.
    expected: u64,
    /// The most bytes on disk.
    limit: Option<u64>,
    /// Of partitions that have their own.
    areas: Option<Areas>,
    /// By generation, if there are stripes: then a directory has one file of each.
    pub(super) stripes: Vec<Stripes>,
    peak_bytes: u64,
}

pub(super) enum LogRoom {
    Now(Extent),
    /// At this extent, once the range is reserved.
    Reserve(Extent, Range<u64>),
    Full,
    /// Not taken: the files would be larger than their limit.
    Beyond(SortError),
}

impl Logs {
    /// Logs for `expected` bytes. `directories` has the number of files in each, and whether they
    /// can have holes.
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

    /// With at most `limit` bytes on disk. A limit has no room for areas that are not filled.
    pub(super) fn with_limit(self, limit: Option<u64>) -> Logs {
        let areas = self.areas.filter(|_| limit.is_none());
        Logs {
            limit,
            areas,
            ..self
        }
    }

    /// With an area of so many bytes for each partition.
    pub(super) fn with_areas(self, bytes: Option<u64>) -> Logs {
        let areas = bytes.filter(|bytes| *bytes > 0).map(Areas::new);
        Logs { areas, ..self }
    }

    /// Bytes that may still come to the disk once `bytes` more are in the file, and what they add to the
    /// parity; `None` if those are too many.
    fn left(&self, file: usize, bytes: u64) -> Option<u64> {
        let log = &self.logs[file];
        // They may be reserved already.
        let more = bytes.saturating_sub(log.reserved.saturating_sub(log.end));
        let range = log.end..log.end + bytes;
        let stripes = self.stripes.last();
        let parity = stripes.map_or(0, |stripes| stripes.growth(self.directory_of(file), range));
        let limit = self.limit.unwrap_or(u64::MAX);
        limit.checked_sub(self.on_disk() + more + parity)
    }

    fn on_disk(&self) -> u64 {
        if self.stripes.is_empty() {
            return self.logs.iter().map(Log::taken).sum();
        }
        let spare = |log: &Log| log.reserved.saturating_sub(log.end);
        let held = self.stripes.iter().map(|stripes| stripes.held);
        held.chain(self.logs.iter().map(spare)).sum()
    }

    /// Drops all logs but the first `count`. The next generation must be begun before
    /// [`Logs::take`].
    pub(super) fn keep(&mut self, count: usize) {
        self.logs.truncate(count);
        self.of.clear();
    }

    /// Starts a file that has `end` bytes from an earlier run.
    pub(super) fn begins_at(&mut self, file: usize, end: u64) {
        let log = &mut self.logs[file];
        (log.end, log.live, log.reserved) = (end, end, end);
        self.measure();
    }

    /// Begins new files, in which partitions have no areas: how large they are is not known.
    pub(super) fn next_generation(&mut self, directories: &[(usize, bool)]) {
        self.of.clear();
        self.areas = None;
        for &(count, holes) in directories {
            let first = self.logs.len();
            self.logs.resize(first + count, Log::new(holes));
            self.of.push(first..first + count);
        }
    }

    /// Takes `bytes` bytes in the area of a partition, or the next ones in a directory, or in another one
    /// if it is full; `None` while the file is being emptied.
    pub(super) fn take(&mut self, to: Slot, bytes: u64) -> Option<LogRoom> {
        let areas = self.areas.as_mut().zip(to.partition);
        let Some((areas, partition)) = areas else {
            return self.append(to, bytes);
        };
        if let Some(extent) = areas.take(partition, bytes) {
            let log = &mut self.logs[extent.file];
            (log.live, log.idle) = (log.live + bytes, log.idle - bytes);
            self.took(extent);
            return Some(LogRoom::Now(extent));
        }
        let area = areas.wanted(partition, bytes);
        let mut room = self.append(to, area)?;
        if let LogRoom::Now(extent) | LogRoom::Reserve(extent, _) = &mut room {
            let idle = area - bytes;
            let log = &mut self.logs[extent.file];
            (log.live, log.idle) = (log.live - idle, log.idle + idle);
            let directory = self.directory_of(extent.file);
            self.written[directory] -= idle;
            self.expected += idle;
            let end = extent.offset + extent.bytes;
            extent.bytes = bytes;
            if let Some(areas) = &mut self.areas {
                areas.begin(partition, *extent, end);
            }
        }
        Some(room)
    }

    /// Begins stripes of the logs of this generation. Directories in `without` take none.
    pub(super) fn begin_stripes(&mut self, form: StripeForm, without: &[bool]) {
        self.stripes.push(Stripes::new(form, without));
    }

    pub(super) fn directory_of(&self, file: usize) -> usize {
        let found = self.of.iter().position(|files| files.contains(&file));
        found.expect("every file is in a directory")
    }

    fn took(&mut self, extent: Extent) {
        self.expected = self.expected.saturating_sub(extent.bytes);
        let directory = self.directory_of(extent.file);
        self.written[directory] += extent.bytes;
    }

    fn append(&mut self, to: Slot, bytes: u64) -> Option<LogRoom> {
        let in_directory = |directory: usize| {
            let logs = self.of[directory].clone();
            logs.start + ((to.position * logs.len() as f64) as usize).min(logs.len() - 1)
        };
        let open = |file: &usize| {
            let log = &self.logs[*file];
            !log.full && log.end + bytes <= MOST_FILE_BYTES
        };
        let mut file = in_directory(to.directory);
        if let Some(stripes) = self.stripes.last() {
            let Some(directory) = stripes.directory(to.directory, bytes) else {
                return Some(LogRoom::Full);
            };
            file = in_directory(directory);
            let log = &mut self.logs[file];
            // Behind the end there is nothing where stripes have ended.
            log.end = log.end.max(stripes.end(directory));
            log.reserved = log.reserved.max(log.end);
        } else if !open(&file) {
            let others = (0..self.of.len()).map(in_directory).filter(open);
            let Some(other) = others.min_by_key(|file| self.logs[*file].end) else {
                return Some(LogRoom::Full);
            };
            file = other;
        }
        if self.logs[file].emptying {
            return None;
        }
        let Some(left) = self.left(file, bytes) else {
            return Some(LogRoom::Beyond(SortError::TemporaryLimit {
                needed: None,
                limit: self.limit.unwrap_or(u64::MAX),
            }));
        };
        let extent = Extent {
            file,
            offset: self.logs[file].end,
            bytes,
        };
        self.took(extent);
        let directory = self.directory_of(file);
        if let Some(stripes) = self.stripes.last_mut() {
            stripes.take(directory, extent.range());
        }
        let log = &mut self.logs[file];
        (log.end, log.live) = (log.end + bytes, log.live + bytes);
        let expected = (log.end / GROWTH).min(self.expected / 2);
        let step = (log.end / STEP_SHARE)
            .clamp(LEAST_STEP_BYTES, MOST_STEP_BYTES)
            .max(expected);
        let step = step.min(log.most_step.unwrap_or(step));
        let step = step.min(left / LIMIT_SHARE);
        let reserve = (log.end > log.reserved).then(|| log.reserved..log.end + step);
        self.measure();
        Some(reserve.map_or(LogRoom::Now(extent), |range| {
            LogRoom::Reserve(extent, range)
        }))
    }

    pub(super) fn reserved(&mut self, file: usize, length: u64) {
        let log = &mut self.logs[file];
        log.reserved = log.reserved.max(length);
        self.measure();
    }

    /// Notes the largest step for which there is space.
    pub(super) fn is_tight(&mut self, file: usize, step: u64) {
        self.logs[file].most_step = Some(step);
    }

    fn measure(&mut self) {
        self.peak_bytes = self.peak_bytes.max(self.on_disk());
    }

    /// The files with reserved space that is not needed, since no more is expected, and their ends.
    pub(super) fn spare(&mut self) -> Vec<(usize, u64)> {
        self.expected = 0;
        let spare = |log: &mut Log| {
            // A step that failed may have reserved a part.
            (log.reserved > log.end || log.most_step.is_some()).then(|| {
                log.reserved = log.end;
                log.end
            })
        };
        let logs = self.logs.iter_mut().enumerate();
        logs.filter_map(|(file, log)| Some((file, spare(log)?)))
            .collect()
    }

    /// Gives up all areas, since no more is expected or a disk is full: later runs are appended. Returns the
    /// ranges of files that nothing was written to, where they can become holes.
    pub(super) fn without_areas(&mut self) -> Vec<(usize, Range<u64>)> {
        let Some(areas) = self.areas.take() else {
            return Vec::new();
        };
        let idle = areas
            .idle()
            .filter(|(file, range)| self.logs[*file].holes && !range.is_empty());
        let idle: Vec<_> = idle.collect();
        for (file, range) in &idle {
            self.logs[*file].idle -= range.end - range.start;
        }
        for log in self.logs.iter_mut().filter(|log| log.holes) {
            log.areas_end = log.end;
        }
        idle
    }

    /// Notes that there was no space for an extent. Returns whether there may be some: in another
    /// directory, or because areas were given up since.
    pub(super) fn is_full(&mut self, extent: Extent) -> bool {
        let directory = self.directory_of(extent.file);
        self.logs[extent.file].live -= extent.bytes;
        self.written[directory] -= extent.bytes;
        self.expected += extent.bytes;
        if let Some(stripes) = self.stripes.last_mut() {
            // Bytes that were not written come back with the file.
            stripes.abandon(directory, extent.range());
            stripes.close(directory);
            return stripes.directory(directory, 0).is_some();
        }
        if extent.offset < self.logs[extent.file].areas_end {
            return true;
        }
        self.logs[self.of[directory].clone()]
            .iter_mut()
            .for_each(|log| log.full = true);
        self.logs.iter().any(|log| !log.full)
    }

    pub(super) fn has_holes(&self, file: usize) -> bool {
        self.logs[file].holes
    }

    /// Bytes taken in each directory. A disk gets a write when it has finished one, so they are in
    /// proportion to the disks' rates.
    pub(super) fn written(&self) -> Vec<u64> {
        self.written.clone()
    }

    /// Releases an extent. Returns whether its whole file must be emptied now.
    pub(super) fn release(&mut self, extent: Extent) -> bool {
        let log = &mut self.logs[extent.file];
        // Saved progress that somebody changed may name an extent twice.
        log.live = log.live.saturating_sub(extent.bytes);
        log.emptying = log.live == 0 && !log.holes && self.stripes.is_empty();
        // Space came back, so another try is worthwhile.
        log.full = false;
        log.emptying
    }

    pub(super) fn emptied(&mut self, file: usize) {
        if let Some(areas) = &mut self.areas {
            areas.close(file);
        }
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
mod tests;
