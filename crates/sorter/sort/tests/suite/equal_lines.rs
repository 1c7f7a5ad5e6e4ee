//! Lines with equal keys, dropped or counted in every way under hundreds of schedules.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::common::lines::{LineSort, drawn_sort, seeds, text_order};
use crate::common::survival::{Case, WAYS};
use crate::common::{get, put, run};
use node::Random;
use record::{Given, Keep, LineOrder, RecordSpec, Ties};
use rehearsal::Driver;
use sort::{Choice, Job, Lines, LongestLine, contents_of};

fn check(equal: Keep, from: u64) {
    let (mut spilled, mut merged, mut dropped) = (0, 0, 0);
    for seed in from..from + seeds(150, 500) {
        let (shape, mut sort) = drawn_sort(seed, 200_000);
        sort.keep(equal);
        if seed % 3 > 0 && sort.job.plan != Choice::OnePass {
            sort.with_few_chunks(seed as usize % 5);
        }
        println!("seed {seed}, {shape:?}, {:?}", sort.job.tuning);
        let report = sort.check(seed);
        let all = sort.files.iter().filter(|file| !file.is_empty());
        let delimiter = sort.order.framing.delimiter().unwrap();
        let lines = |file: &Vec<u8>| {
            let whole = file.strip_suffix(&[delimiter]).unwrap_or(file);
            whole.split(|&byte| byte == delimiter).count() as u64
        };
        let all: u64 = all.map(lines).sum();
        assert_eq!(report.records + report.dropped, all, "seed {seed}");
        spilled += u64::from(report.passes > 1);
        merged += u64::from(report.plan == "merge");
        dropped += u64::from(report.dropped > 0);
    }
    assert!(
        spilled > 25 && merged > 25 && dropped > 50,
        "{spilled} spilled, {merged} merged, {dropped} dropped"
    );
}

#[test]
fn hundreds_of_schedules_keep_the_first_of_equal_lines() {
    check(Keep::First, 2_000_000);
}

#[test]
fn hundreds_of_schedules_keep_the_last_of_equal_lines() {
    check(Keep::Last, 4_000_000);
}

#[test]
fn hundreds_of_schedules_count_equal_lines() {
    check(Keep::Counted, 3_000_000);
}

#[test]
fn hundreds_of_schedules_count_equal_lines_and_keep_the_last() {
    check(Keep::LastCounted, 5_000_000);
}

/// Loads of lines that come in order are one run, but for equal keys at their border, of which the last is kept.
#[test]
fn the_last_of_sorted_lines_lies_in_a_later_load() {
    for (keep, mergers) in [Keep::Last, Keep::LastCounted]
        .into_iter()
        .flat_map(|keep| [1, 2].map(|mergers| (keep, mergers)))
    {
        let lines: String = (0..60_000)
            .map(|number| format!("{number:06},{:05}\n", number / 7_000))
            .collect();
        let order = text_order(true, Ties::Record);
        let mut sort = LineSort::new(vec![lines.into_bytes()], order, b'\n');
        sort.job.plan = Choice::Merge;
        sort.keep(keep);
        sort.job.resources.memory_bytes = 64 << 20;
        sort.job.tuning.load_chunks = Some(2);
        sort.job.tuning.chunk_bytes = Some(64 << 10);
        sort.job.tuning.mergers = Some(mergers);
        let report = sort.check(1);
        assert_eq!((report.records, report.dropped), (9, 59_991), "{keep:?}");
        assert!(report.partitions > 3, "{} runs", report.partitions);
    }
}

/// Each count is of lines that lie in all parts of the input, and a line that is longer than a unit
/// of the output is written over several of them.
#[test]
fn counts_reach_over_loads_and_partitions() {
    for seed in 0..20 {
        let (_, mut sort) = drawn_sort(seed, 100_000);
        let long = vec![b'x'; 700_000];
        let end = [sort.order.framing.delimiter().unwrap()];
        let lines = |count: usize| -> Vec<u8> {
            let short = [b"often", &end[..]].concat().repeat(count);
            [&short[..], &long, &end, &short].concat()
        };
        sort.files = vec![lines(20_000), lines(1), lines(3_000)];
        sort.pipes = vec![false; 3];
        sort.job.sources = (0..3)
            .map(|number| sort::Source::Path(format!("/in{number}").into()))
            .collect();
        sort.job.tuning = sort::Tuning::default();
        sort.job.longest_line = LongestLine::AtLeast(800_000);
        sort.job.resources.memory_bytes = 64 << 20;
        sort.order.text = text_order(false, Ties::Position);
        sort.keep(Keep::Counted);
        let report = sort.check(seed);
        assert_eq!((report.records, report.dropped), (2, 46_003));
    }
}

/// Whether few or many lines repeat, one of each is kept.
#[test]
fn repeated_lines_are_dropped_before_they_are_sorted() {
    let mut random = Random::new(3);
    for distinct in [1, 7, 300, 5_000, 100_000] {
        let lines: Vec<String> = (0..30_000)
            .map(|_| format!("{:x}\n", random.below(distinct).pow(3)))
            .collect();
        let mut expected = lines.clone();
        expected.sort();
        expected.dedup();
        for way in WAYS {
            let case = Case::of_lines("/out", way, way.records, Ties::Record);
            let driver = Driver::new(1, 1);
            put(&driver, "/in", lines.concat().as_bytes());
            let order = text_order(false, Ties::Record);
            let contents =
                Arc::new(Lines::new(LineOrder::lines(order, b'\n')).keeping(Keep::First));
            let mut job = Job {
                contents,
                ..case.job()
            };
            job.resources.memory_bytes = 64 << 20;
            let report = run(&driver, &job).unwrap_or_else(|failure| panic!("{failure}"));
            assert!(get(&driver, "/out").unwrap() == expected.concat().as_bytes());
            assert_eq!(report.records, expected.len() as u64, "{}", way.name);
        }
    }
}

/// Totals are of numbers in all parts of the input, in every way and under many schedules.
#[test]
fn hundreds_of_schedules_add_up_equal_lines() {
    for seed in 0..seeds(60, 300) {
        let mut random = Random::new(seed);
        let distinct = [1, 5, 300, 100_000][random.below(4)];
        let mut totals = BTreeMap::new();
        let mut lines = String::new();
        for _ in 0..random.below(20_000) {
            let (key, number) = (random.below(distinct), random.below(1_000) as i64 - 500);
            let (sum, times) = totals.entry(format!("{key:06}")).or_insert((0, 0));
            (*sum, *times) = (*sum + number, *times + 1);
            lines += &format!("{key:06},{number}\n");
        }
        let expected: String = totals
            .iter()
            .map(|(key, (sum, _))| format!("{key},{sum}\n"))
            .collect();
        let given = Given {
            format: "lines".to_owned(),
            keys: vec!["1,1".to_owned()],
            separator: Some(b','),
            keep: [Keep::First, Keep::Last][seed as usize % 2],
            sums: vec!["2".to_owned()],
            ..Given::default()
        };
        let spec = RecordSpec::new(&given).unwrap();
        let way = WAYS[seed as usize % WAYS.len()];
        let case = Case::of_lines("/out", way, way.records, Ties::Record);
        let driver = Driver::new(seed, 1);
        put(&driver, "/in", lines.as_bytes());
        let mut job = Job {
            contents: contents_of(&spec),
            ..case.job()
        };
        // Positions take more chunks.
        (job.tuning.chunks, job.resources.memory_bytes) = (None, 64 << 20);
        let report = run(&driver, &job).unwrap_or_else(|failure| panic!("{failure}"));
        let out = String::from_utf8(get(&driver, "/out").unwrap()).unwrap();
        assert!(out == expected, "seed {seed}, {}", way.name);
        assert_eq!(report.records, totals.len() as u64);
        assert_eq!(report.bytes, out.len() as u64);
    }
}

/// CRC-32 of some bytes, bit by bit.
fn crc_of(bytes: &[u8]) -> u32 {
    let bit = |crc: u32, _| (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg());
    !bytes
        .iter()
        .fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), bit))
}

/// Lines that are not the same are kept, though their checksums are.
#[test]
fn lines_with_one_checksum_are_kept() {
    let mut seen = std::collections::HashMap::new();
    let mut pairs = Vec::new();
    for number in 0..300_000_u64 {
        let line = format!("{:x}", number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        if let Some(other) = seen.insert(crc_of(line.as_bytes()), line.clone()) {
            pairs.push([other, line]);
        }
    }
    assert!(pairs.len() > 3, "{} pairs", pairs.len());
    assert!(
        pairs
            .iter()
            .all(|[a, b]| a != b && crc_of(a.as_bytes()) == crc_of(b.as_bytes()))
    );
    let mut lines: Vec<String> = pairs
        .concat()
        .iter()
        .map(|line| format!("{line}\n"))
        .collect();
    lines = [&lines[..], &lines, &lines].concat();
    let order = text_order(false, Ties::Record);
    for equal in [Keep::First, Keep::Counted] {
        for plan in [Choice::OnePass, Choice::TwoPass, Choice::Merge] {
            let file = lines.concat().into_bytes();
            let mut sort = LineSort::new(vec![file.clone(), file], order.clone(), b'\n');
            sort.job.plan = plan;
            sort.equal = equal;
            let whole = Lines::new(sort.order.clone());
            sort.job.contents = Arc::new(whole.keeping(equal));
            let report = sort.check(7);
            assert_eq!(report.records, 2 * pairs.len() as u64, "{plan:?}");
        }
    }
}
