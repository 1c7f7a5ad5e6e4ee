//! Cuts and places for drawn and chosen sizes.

use super::*;
use crate::records::framing::Framing;
use node::Random;

fn of_ten_bytes(records: u64) -> Size {
    Framing::fixed(10).of(records)
}

fn of_a_byte(sizes: &[u64]) -> Vec<Size> {
    sizes
        .iter()
        .map(|&bytes| Framing::fixed(1).size_of(bytes))
        .collect()
}

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
fn directories_get_shares_in_proportion_to_their_rates() {
    let sizes = vec![10 * MIB; 1000];
    for rates in [
        &[1, 1][..],
        &[500, 100, 400],
        &[7],
        &[1, 0, 1],
        &[3, 1, 1, 1, 1],
    ] {
        let files = divide(&sizes, &disks(rates), MOST_FILES);
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
fn files_are_about_a_gigabyte_and_not_too_many() {
    let length = |file: &Cut| file.buckets.len() as u64 * 10 * MIB;
    let files = divide(&vec![10 * MIB; 2000], &disks(&[1, 1]), MOST_FILES);
    assert_eq!(files.len(), 20);
    assert!(
        files
            .iter()
            .all(|file| length(file).abs_diff(FILE_BYTES) < 50 * MIB)
    );
    let files = divide(&vec![1 << 40; 300], &disks(&[2, 1, 1]), MOST_FILES);
    assert!(
        files.len() <= MOST_FILES && files.len() > MOST_FILES / 2,
        "{}",
        files.len()
    );
    let few = divide(&vec![1 << 40; 300], &disks(&[2, 1, 1]), 10);
    assert!((6..=10).contains(&few.len()), "{}", few.len());
    // A small output has one file in each directory, and none without a record.
    assert_eq!(divide(&[5; 90], &disks(&[1, 1, 1]), MOST_FILES).len(), 3);
    assert_eq!(divide(&[0, 5, 0], &disks(&[1, 1, 1]), MOST_FILES).len(), 1);
    assert_eq!(divide(&[0, 0], &disks(&[1, 1, 1]), MOST_FILES), []);
    assert_eq!(divide(&[], &disks(&[1]), MOST_FILES), []);
}

#[test]
fn a_full_directory_gets_no_more_than_it_has_room_for() {
    let disk = |rate, room| Disk { rate, room };
    assert_eq!(
        shares(900, &[disk(1, 50), disk(1, 10_000), disk(1, 10_000)]),
        [50, 425, 425]
    );
    assert_eq!(
        shares(900, &[disk(8, 100), disk(1, 0), disk(1, 800)]),
        [100, 0, 800]
    );
    // Without room anywhere the sort is refused before; here all is shared out all the same.
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

/// For any sizes and rates, files and order have every bucket with records once, files are in
/// key order, and the order keeps that of each file's buckets.
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
        let files = divide(&sizes, &disks, MOST_FILES);
        let layout = Layout::of_files(&of_a_byte(&sizes), &files);
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
                offset,
                file_bytes,
            } = layout.buckets[bucket].to;
            assert!(files[file].buckets.contains(&bucket), "seed {seed}");
            assert_eq!(offset, lengths[file], "seed {seed}");
            assert!(file_bytes >= offset + sizes[bucket], "seed {seed}");
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
    let files = divide(&sizes, &disks(&[2, 1]), MOST_FILES);
    let layout = Layout::of_files(&of_a_byte(&sizes), &files);
    assert_eq!(layout.order, [0, 8, 1, 2, 9, 3, 4, 10, 5, 6, 11, 7]);
    let one = Layout::of_one_file(&[3, 0, 4].map(of_ten_bytes));
    assert_eq!(one.order, [0, 2]);
    assert_eq!(
        one.buckets[2].to,
        Destination {
            file: 0,
            offset: 30,
            file_bytes: 70
        }
    );
}

#[test]
fn buckets_of_a_rank_lie_behind_those_of_others() {
    let alone = Layout::of_one_file(&[3, 0, 4].map(of_ten_bytes));
    let behind = alone.clone().behind(of_ten_bytes(100), 5000);
    assert_eq!(behind.order, alone.order);
    for (bucket, first) in [(0, 0), (1, 3), (2, 3)] {
        let to = Destination {
            file: 0,
            offset: 1000 + 10 * first,
            file_bytes: 5000,
        };
        assert_eq!(behind.buckets[bucket].to, to);
        assert_eq!(behind.buckets[bucket].first, of_ten_bytes(100 + first));
        assert_eq!(behind.buckets[bucket].size, alone.buckets[bucket].size);
    }
    let bucket = behind.bucket(2, Vec::new());
    assert_eq!(bucket.index, 2);
    assert_eq!([bucket.first, bucket.size], [103, 4].map(of_ten_bytes));
    assert_eq!(bucket.to, behind.buckets[2].to);
}

#[test]
fn stripes_are_of_a_gigabyte_of_the_largest_share() {
    assert_eq!(stripes(&[0], MOST_FILES), 1);
    assert_eq!(
        [FILE_BYTES, FILE_BYTES + 1].map(|share| stripes(&[5, share], MOST_FILES)),
        [1, 2]
    );
    assert_eq!(stripes(&[u64::MAX], MOST_FILES), MOST_FILES);
    assert_eq!(stripes(&[u64::MAX; 3], MOST_FILES), 85);
    assert_eq!(stripes(&[u64::MAX; 1000], MOST_FILES), 1);
}

#[test]
fn parts_are_equal_up_to_rounding() {
    assert_eq!(
        [0, 1, 2, 3].map(|count| part(100, count, 3)),
        [0, 33, 66, 100]
    );
    assert_eq!(part(u64::MAX, 255, 256), u64::MAX - (1 << 56));
}
