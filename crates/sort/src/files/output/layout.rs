//! Which bucket goes to which file: consecutive buckets in stripes over the directories.
//!
//! ```text
//! buckets, in key order    | 0  1  2  3 | 4  5 | 6  7  8  9 | 10 11 |
//! stripe                   |........ 0 ........|........ 1 .........|
//! directory                |     A      |  B   |     A      |   B   |      A twice as fast as B
//! begun in the order         0  1  4  2  3  5 | 6  7  10  8  9  11
//! ```
//!
//! A stripe has a part for each directory, in proportion to the directories' rates, so that all
//! disks end together (NOW-Sort 6.2), and so that whoever reads some range of keys reads from all
//! of them. A file is one directory's part of a stripe: whole buckets, so nothing is cut inside a
//! disk block. Buckets are begun in turn, each time of the directory that is the furthest behind:
//! what sorters work on at a time goes to all disks (TritonSort 3.3 deals partitions out to disks
//! for the same end).

use std::ops::Range;

use crate::records::block::{Bucket, Chunk, Destination};

/// A file of this length is read at a disk's full rate, and few enough of them make a large output.
const FILE_BYTES: u64 = 1 << 30;

/// Files at most, beside one for each directory: each is open until the whole set is complete, and
/// a process may have 1,024 of them as a rule.
const MOST_FILES: usize = 256;

/// A directory, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Disk {
    /// What it writes in a unit of time, beside the others.
    pub rate: u64,
    /// Bytes that it has free.
    pub room: u64,
}

/// A file of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// The directory.
    pub directory: usize,
    /// Its buckets, the first and the last of which have records.
    pub buckets: Range<usize>,
    /// Its part of its stripe, among all parts of all stripes.
    cell: usize,
}

/// Where all buckets go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    buckets: Vec<Planned>,
    /// The buckets that have records, in the order in which they are to be begun.
    pub order: Vec<usize>,
}

/// A bucket whose records are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Planned {
    first: u64,
    records: u64,
    to: Destination,
}

impl Layout {
    /// All buckets behind each other in one file, of so many records each.
    pub(crate) fn of_one_file(records: &[u64], record_bytes: usize) -> Layout {
        let all = Cut {
            directory: 0,
            buckets: 0..records.len(),
            cell: 0,
        };
        Layout::of_files(records, record_bytes, &[all])
    }

    /// The same behind others in the file, which will be so long.
    pub(crate) fn behind(self, records: u64, file_bytes: u64) -> Layout {
        let behind = |bucket: Planned| Planned {
            first: records + bucket.first,
            to: Destination {
                first: records + bucket.to.first,
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

    /// Buckets in these files, of so many records each.
    pub(super) fn of_files(records: &[u64], record_bytes: usize, files: &[Cut]) -> Layout {
        let to = Destination {
            file: 0,
            first: 0,
            file_bytes: 0,
        };
        let mut first = 0;
        let mut buckets: Vec<Planned> = Vec::with_capacity(records.len());
        for &records in records {
            buckets.push(Planned { first, records, to });
            first += records;
        }
        for (file, cut) in files.iter().enumerate() {
            let its = &mut buckets[cut.buckets.clone()];
            let all: u64 = its.iter().map(|bucket| bucket.records).sum();
            let before = its.first().map_or(0, |bucket| bucket.first);
            for bucket in its {
                let (first, file_bytes) = (bucket.first - before, all * record_bytes as u64);
                bucket.to = Destination {
                    file,
                    first,
                    file_bytes,
                };
            }
        }
        Layout {
            buckets,
            order: in_turn(records, files),
        }
    }

    /// A bucket of these chunks.
    pub(crate) fn bucket(&self, index: usize, chunks: Vec<Chunk>) -> Bucket {
        let Planned { first, records, to } = self.buckets[index];
        Bucket {
            index: index as u32,
            first,
            records,
            chunks,
            to,
        }
    }
}

/// Divides buckets of so many bytes into files.
pub(super) fn divide(sizes: &[u64], disks: &[Disk]) -> Vec<Cut> {
    let shares = shares(sizes.iter().sum(), disks);
    let (directories, stripes) = (shares.len(), stripes(&shares));
    let has_share = |cell: usize| shares[cell % directories] > 0;
    let last = (0..stripes * directories)
        .rfind(|&cell| has_share(cell))
        .unwrap_or(0);
    let mut written = vec![0; directories];
    let mut files: Vec<Cut> = Vec::new();
    let mut cell = 0;
    for (bucket, &bytes) in sizes.iter().enumerate().filter(|(_, bytes)| **bytes > 0) {
        // A file ends where its directory has what is due so far, to the nearest bucket: what is
        // rounded does not add up. The first directory always gets something.
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

/// What each directory gets of `total` bytes: in proportion to its rate, but not more than it has
/// room for while others have. All of it, whatever room there is.
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

/// How many stripes, so that files are of a handy length.
fn stripes(shares: &[u64]) -> usize {
    let largest = shares.iter().max().expect("there is a directory");
    let wanted = usize::try_from(largest.div_ceil(FILE_BYTES)).unwrap_or(usize::MAX);
    wanted.clamp(1, (MOST_FILES / shares.len()).max(1))
}

/// The first `count` of `all` equal parts.
fn part(bytes: u64, count: usize, all: usize) -> u64 {
    (u128::from(bytes) * count as u128 / all as u128) as u64
}

/// Buckets of so many records, each time one of the directory of which the least has been begun.
fn in_turn(records: &[u64], files: &[Cut]) -> Vec<usize> {
    let directories = files
        .iter()
        .map(|file| file.directory + 1)
        .max()
        .unwrap_or(0);
    let mut waiting = vec![Vec::new(); directories];
    for file in files {
        let buckets = file.buckets.clone().filter(|&bucket| records[bucket] > 0);
        waiting[file.directory].extend(buckets);
    }
    let all_of = |buckets: &Vec<usize>| buckets.iter().map(|&bucket| records[bucket]).sum::<u64>();
    let all: Vec<u64> = waiting.iter().map(all_of).collect();
    waiting.iter_mut().for_each(|buckets| buckets.reverse());
    let mut begun = vec![0_u64; directories];
    let mut order = Vec::new();
    let product = |a: u64, b: u64| u128::from(a) * u128::from(b);
    loop {
        let open = (0..directories).filter(|&directory| !waiting[directory].is_empty());
        let behind =
            open.min_by(|&a, &b| product(begun[a], all[b]).cmp(&product(begun[b], all[a])));
        let Some(directory) = behind else {
            return order;
        };
        let bucket = waiting[directory].pop().expect("it is open");
        begun[directory] += records[bucket];
        order.push(bucket);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use node::Random;

    const MIB: u64 = 1 << 20;

    fn disks(rates: &[u64]) -> Vec<Disk> {
        rates
            .iter()
            .map(|&rate| Disk {
                rate,
                room: u64::MAX,
            })
            .collect()
    }

    fn bytes_of(directory: usize, sizes: &[u64], files: &[Cut]) -> u64 {
        let its = files.iter().filter(|file| file.directory == directory);
        its.map(|file| sizes[file.buckets.clone()].iter().sum::<u64>())
            .sum()
    }

    #[test]
    fn directories_get_what_their_rates_ask_for() {
        let sizes = vec![10 * MIB; 1000];
        for rates in [
            &[1, 1][..],
            &[500, 100, 400],
            &[7],
            &[1, 0, 1],
            &[3, 1, 1, 1, 1],
        ] {
            let files = divide(&sizes, &disks(rates));
            let all: u64 = rates.iter().map(|&rate| rate.max(1)).sum();
            for (directory, &rate) in rates.iter().enumerate() {
                let fair = 10_000 * MIB * rate.max(1) / all;
                let got = bytes_of(directory, &sizes, &files);
                let rounded = 10 * MIB * rates.len() as u64;
                assert!(got.abs_diff(fair) <= rounded, "{rates:?}: {got} of {fair}");
            }
        }
    }

    #[test]
    fn files_have_a_handy_length_and_are_not_too_many() {
        let length = |file: &Cut| file.buckets.len() as u64 * 10 * MIB;
        let files = divide(&vec![10 * MIB; 2000], &disks(&[1, 1]));
        assert_eq!(files.len(), 20);
        assert!(
            files
                .iter()
                .all(|file| length(file).abs_diff(FILE_BYTES) < 50 * MIB)
        );
        let files = divide(&vec![1 << 40; 300], &disks(&[2, 1, 1]));
        assert!(
            files.len() <= MOST_FILES && files.len() > MOST_FILES / 2,
            "{}",
            files.len()
        );
        // A small output has one file in each directory, and none without a record.
        assert_eq!(divide(&[5; 90], &disks(&[1, 1, 1])).len(), 3);
        assert_eq!(divide(&[0, 5, 0], &disks(&[1, 1, 1])).len(), 1);
        assert_eq!(divide(&[0, 0], &disks(&[1, 1, 1])), []);
        assert_eq!(divide(&[], &disks(&[1])), []);
    }

    #[test]
    fn a_full_directory_gets_what_it_has_room_for() {
        let disk = |rate, room| Disk { rate, room };
        assert_eq!(
            shares(900, &[disk(1, 50), disk(1, 10_000), disk(1, 10_000)]),
            [50, 425, 425]
        );
        assert_eq!(
            shares(900, &[disk(8, 100), disk(1, 0), disk(1, 800)]),
            [100, 0, 800]
        );
        // What has no room anywhere is refused by others; here it is shared out all the same.
        assert_eq!(
            shares(900, &[disk(1, 10), disk(2, 10)]).iter().sum::<u64>(),
            900
        );
        assert_eq!(
            shares(10, &[disk(1, 99), disk(1, 99), disk(1, 99)])
                .iter()
                .sum::<u64>(),
            10
        );
    }

    /// Whatever sizes and rates: files are in key order and have every bucket with records once, so
    /// does the order, and in that order a file's buckets keep theirs.
    #[test]
    fn every_bucket_has_its_place() {
        for seed in 0..500 {
            let mut random = Random::new(seed);
            let most = [2, 1000, 1 << 33][random.below(3)];
            let buckets = random.below(40);
            let sizes: Vec<u64> = (0..buckets)
                .map(|_| {
                    if random.below(4) == 0 {
                        0
                    } else {
                        random.next_u64() % most
                    }
                })
                .collect();
            let disk = |random: &mut Random| Disk {
                rate: random.next_u64() % 1000,
                room: [u64::MAX, 100, 1 << 34][random.below(3)],
            };
            let disks: Vec<Disk> = (0..1 + random.below(6))
                .map(|_| disk(&mut random))
                .collect();
            let files = divide(&sizes, &disks);
            let layout = Layout::of_files(&sizes, 1, &files);
            let full: Vec<usize> = (0..buckets).filter(|&bucket| sizes[bucket] > 0).collect();
            let mut ordered = layout.order.clone();
            ordered.sort_unstable();
            assert_eq!(ordered, full, "seed {seed}");
            assert!(
                files
                    .windows(2)
                    .all(|two| two[0].buckets.end <= two[1].buckets.start)
            );
            let mut lengths = vec![0; files.len()];
            for bucket in full {
                let Destination {
                    file,
                    first,
                    file_bytes,
                } = layout.buckets[bucket].to;
                assert!(files[file].buckets.contains(&bucket), "seed {seed}");
                assert_eq!(first, lengths[file], "seed {seed}");
                assert!(file_bytes >= first + sizes[bucket], "seed {seed}");
                lengths[file] += sizes[bucket];
            }
            for file in &files {
                let its = layout
                    .order
                    .iter()
                    .filter(|bucket| file.buckets.contains(bucket));
                assert!(its.is_sorted(), "seed {seed}");
            }
        }
    }

    #[test]
    fn directories_are_written_side_by_side() {
        let sizes = [10; 12];
        let files = divide(&sizes, &disks(&[2, 1]));
        let layout = Layout::of_files(&sizes, 1, &files);
        assert_eq!(layout.order, [0, 8, 1, 2, 9, 3, 4, 10, 5, 6, 11, 7]);
        let one = Layout::of_one_file(&[3, 0, 4], 10);
        assert_eq!(one.order, [0, 2]);
        assert_eq!(
            one.buckets[2].to,
            Destination {
                file: 0,
                first: 3,
                file_bytes: 70
            }
        );
    }

    #[test]
    fn buckets_of_a_part_lie_behind_those_of_others() {
        let alone = Layout::of_one_file(&[3, 0, 4], 10);
        let behind = alone.clone().behind(100, 5000);
        assert_eq!(behind.order, alone.order);
        for (bucket, first) in [(0, 0), (1, 3), (2, 3)] {
            let to = Destination {
                file: 0,
                first: 100 + first,
                file_bytes: 5000,
            };
            assert_eq!(behind.buckets[bucket].to, to);
            assert_eq!(behind.buckets[bucket].first, 100 + first);
            assert_eq!(
                behind.buckets[bucket].records,
                alone.buckets[bucket].records
            );
        }
        let bucket = behind.bucket(2, Vec::new());
        assert_eq!((bucket.index, bucket.first, bucket.records), (2, 103, 4));
        assert_eq!(bucket.to, behind.buckets[2].to);
    }

    #[test]
    fn stripes_are_of_a_gigabyte_of_the_largest_share() {
        assert_eq!(stripes(&[0]), 1);
        assert_eq!(
            [FILE_BYTES, FILE_BYTES + 1].map(|share| stripes(&[5, share])),
            [1, 2]
        );
        assert_eq!(stripes(&[u64::MAX]), MOST_FILES);
        assert_eq!(stripes(&[u64::MAX; 3]), 85);
        assert_eq!(stripes(&[u64::MAX; 1000]), 1);
    }

    #[test]
    fn parts_are_equal_but_for_what_is_rounded() {
        assert_eq!(
            [0, 1, 2, 3].map(|count| part(100, count, 3)),
            [0, 33, 66, 100]
        );
        assert_eq!(part(u64::MAX, 255, 256), u64::MAX - (1 << 56));
    }
}
