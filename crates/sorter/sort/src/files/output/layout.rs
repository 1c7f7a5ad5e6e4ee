//! The file and the place of every bucket: consecutive buckets in stripes over the directories.
//!
//! ```text
//! buckets, in key order    | 0  1  2  3 | 4  5 | 6  7  8  9 | 10 11 |
//! stripe                   |........ 0 ........|........ 1 .........|
//! directory                |     A      |  B   |     A      |   B   |      A twice as fast as B
//! begun in the order         0  1  4  2  3  5 | 6  7  10  8  9  11
//! ```
//!
//! A stripe has a part for each directory, in proportion to the directories' rates: so all disks
//! end together (NOW-Sort 6.2), and a range of keys is read from all of them. A file is one
//! directory's part of a stripe. It holds whole buckets, so no disk block is cut.
//!
//! The next bucket to be begun is always one of the directory that is the furthest behind, so the
//! sorters feed all disks at any time (TritonSort 3.3 deals partitions out to disks for the same
//! reason).

use std::cmp::Ordering;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use crate::records::block::{Bucket, Chunk, Destination};
use crate::records::size::Size;

/// Wanted length of a file: long enough to be read at a disk's full rate.
const FILE_BYTES: u64 = 1 << 30;

/// Most files, if there are not more directories. All are open until the set is complete, and a
/// process usually may have 1,024 open.
pub(super) const MOST_FILES: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Disk {
    /// Bytes that it writes in a unit of time while the others write, too.
    pub rate: u64,
    /// Free bytes.
    pub room: u64,
}

/// A file of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    pub directory: usize,
    /// The first and the last have records, if there are any.
    pub buckets: Range<usize>,
    /// The number of its part among all parts of all stripes.
    pub cell: usize,
}

/// The places of all buckets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    buckets: Vec<Planned>,
    /// The buckets that have records, in the order in which sorters begin them.
    pub order: Vec<usize>,
    /// The directory of each file.
    pub directories: Vec<usize>,
}

/// A bucket whose records are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Planned {
    first: Size,
    size: Size,
    to: Destination,
}

impl Layout {
    /// All buckets one after the other in one file.
    pub(crate) fn of_one_file(sizes: &[Size]) -> Layout {
        let all = Cut {
            directory: 0,
            buckets: 0..sizes.len(),
            cell: 0,
        };
        Layout::of_files(sizes, &[all])
    }

    /// Moves the buckets of one file behind other records; the file will have `file_bytes` bytes.
    pub(crate) fn behind(self, before: Size, file_bytes: u64) -> Layout {
        let behind = |bucket: Planned| Planned {
            first: before + bucket.first,
            to: Destination {
                offset: before.bytes + bucket.to.offset,
                file_bytes,
                ..bucket.to
            },
            ..bucket
        };
        Layout {
            buckets: self.buckets.into_iter().map(behind).collect(),
            ..self
        }
    }

    /// Moves all buckets but the first of each file behind a header of that many bytes, which is
    /// written with the first.
    pub(crate) fn under(mut self, header: u64) -> Layout {
        for Planned { to, .. } in &mut self.buckets {
            to.file_bytes += header;
            to.offset += if to.offset > 0 { header } else { 0 };
        }
        self
    }

    /// Begins the buckets in key order, where each is placed behind those before it.
    pub(crate) fn in_key_order(mut self) -> Layout {
        self.order.sort_unstable();
        self
    }

    /// All buckets in files that [`divide`] has cut.
    pub(super) fn of_files(sizes: &[Size], files: &[Cut]) -> Layout {
        let to = Destination::default();
        let mut first = Size::default();
        let mut buckets: Vec<Planned> = Vec::with_capacity(sizes.len());
        for &size in sizes {
            buckets.push(Planned { first, size, to });
            first += size;
        }
        for (file, cut) in files.iter().enumerate() {
            let its = &mut buckets[cut.buckets.clone()];
            let file_bytes = its.iter().map(|bucket| bucket.size.bytes).sum();
            let before = its.first().map_or(0, |bucket| bucket.first.bytes);
            for bucket in its {
                bucket.to = Destination {
                    file,
                    offset: bucket.first.bytes - before,
                    file_bytes,
                };
            }
        }
        Layout {
            buckets,
            order: in_turn(sizes, files),
            directories: files.iter().map(|file| file.directory).collect(),
        }
    }

    /// The directory of a bucket.
    pub(crate) fn directory(&self, index: usize) -> usize {
        self.directories[self.buckets[index].to.file]
    }

    /// Bucket `index`, whose records are in these chunks.
    pub(crate) fn bucket(&self, index: usize, chunks: Vec<Chunk>) -> Bucket {
        let Planned { first, size, to } = self.buckets[index];
        Bucket {
            index: index as u32,
            first,
            size,
            chunks,
            to,
        }
    }
}

/// Cuts buckets of these sizes in bytes into at most so many files, if there are not more directories.
pub(super) fn divide(sizes: &[u64], disks: &[Disk], most: usize) -> Vec<Cut> {
    let shares = shares(sizes.iter().sum(), disks);
    let (directories, stripes) = (shares.len(), stripes(&shares, most));
    let has_share = |cell: usize| shares[cell % directories] > 0;
    let last = (0..stripes * directories)
        .rfind(|&cell| has_share(cell))
        .unwrap_or(0);
    let mut written = vec![0; directories];
    let mut files: Vec<Cut> = Vec::new();
    let mut cell = 0;
    for (bucket, &bytes) in sizes.iter().enumerate().filter(|(_, bytes)| **bytes > 0) {
        // A file ends where its directory has its share so far, to the nearest bucket: rounding
        // errors do not add up. The first directory always gets something.
        let is_full = |cell: usize, written: &[u64]| {
            let directory = cell % directories;
            let due = part(shares[directory], cell / directories + 1, stripes);
            written[directory] + bytes / 2 >= due
        };
        while cell < last && (!has_share(cell) || !files.is_empty() && is_full(cell, &written)) {
            cell += 1;
        }
        let directory = cell % directories;
        written[directory] += bytes;
        match files.last_mut() {
            Some(file) if file.cell == cell => file.buckets.end = bucket + 1,
            _ => files.push(Cut {
                directory,
                buckets: bucket..bucket + 1,
                cell,
            }),
        }
    }
    files
}

/// The bytes of each directory, `total` in all: in proportion to its rate, but no more than it has
/// room for while others have room.
fn shares(total: u64, disks: &[Disk]) -> Vec<u64> {
    let mut shares = vec![0; disks.len()];
    let mut open: Vec<usize> = (0..disks.len()).collect();
    let mut left = total;
    loop {
        let rate = |disk: usize| u128::from(disks[disk].rate.max(1));
        let rates: u128 = open.iter().map(|&disk| rate(disk)).sum();
        let share = |disk: usize| (u128::from(left) * rate(disk) / rates) as u64;
        let (full, others): (Vec<usize>, Vec<usize>) = open
            .iter()
            .partition(|&&disk| share(disk) > disks[disk].room);
        if full.is_empty() || others.is_empty() {
            open.iter().for_each(|&disk| shares[disk] = share(disk));
            break;
        }
        for disk in full {
            shares[disk] = disks[disk].room;
            left -= shares[disk];
        }
        open = others;
    }
    let rounded_off = total - shares.iter().sum::<u64>();
    *shares.iter_mut().max().expect("there is a directory") += rounded_off;
    shares
}

/// The number of stripes that makes files about [`FILE_BYTES`] long.
fn stripes(shares: &[u64], most: usize) -> usize {
    let largest = shares.iter().max().expect("there is a directory");
    let wanted = usize::try_from(largest.div_ceil(FILE_BYTES)).unwrap_or(usize::MAX);
    wanted.clamp(1, (most / shares.len()).max(1))
}

/// The bytes of the first `count` of `all` equal parts.
fn part(bytes: u64, count: usize, all: usize) -> u64 {
    (u128::from(bytes) * count as u128 / all as u128) as u64
}

/// The share of a directory's buckets that is begun.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Begun {
    /// Records of all buckets of the directory.
    pub all: u64,
    /// Records of those that are begun.
    pub begun: u64,
}

impl Begun {
    /// Compares the shares.
    pub(crate) fn cmp(&self, other: &Begun) -> Ordering {
        let product = |a: u64, b: u64| u128::from(a) * u128::from(b);
        product(self.begun, other.all).cmp(&product(other.begun, self.all))
    }
}

/// The buckets of a directory that are not begun yet.
#[derive(Default)]
struct Waiting {
    buckets: VecDeque<usize>,
    share: Begun,
}

/// The buckets that have records. The next one always comes from the directory that is the furthest
/// behind.
fn in_turn(sizes: &[Size], files: &[Cut]) -> Vec<usize> {
    let mut directories: BTreeMap<usize, Waiting> = BTreeMap::new();
    for file in files {
        let waiting = directories.entry(file.directory).or_default();
        let has_records = |bucket: &usize| sizes[*bucket].records > 0;
        for bucket in file.buckets.clone().filter(has_records) {
            waiting.buckets.push_back(bucket);
            waiting.share.all += sizes[bucket].records;
        }
    }
    let mut order = Vec::new();
    loop {
        let open = directories.values_mut();
        let open = open.filter(|one| !one.buckets.is_empty());
        let Some(behind) = open.min_by(|a, b| a.share.cmp(&b.share)) else {
            return order;
        };
        let bucket = behind.buckets.pop_front().expect("it is open");
        behind.share.begun += sizes[bucket].records;
        order.push(bucket);
    }
}

#[cfg(test)]
mod tests;
