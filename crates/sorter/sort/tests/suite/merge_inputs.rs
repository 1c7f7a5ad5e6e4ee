//! Merges of inputs that are sorted, under hundreds of schedules of the deterministic driver.

use std::path::{Path, PathBuf};

use node::Random;
use pipeline::Failure;
use record::rows::{Dialect, RowOrder};
use record::{FieldOrder, LineOrder};
use record::{Keep, Ties};
use rehearsal::Driver;
use sort::{Choice, LongestLine, Report, SortError, Source, Target, Tuning};

use crate::common::chained::drawn_chained;
use crate::common::lines::{LineSort, Shape, drawn_ties, seeds, sorted_lines, text_order};
use crate::common::{drawn_order, drawn_records, get, job, paths, put, run, sorted};

/// A merge of drawn lines in files and pipes.
fn drawn_merge(seed: u64) -> LineSort {
    let random = &mut Random::new(seed);
    let shape = Shape::ALL[seed as usize % Shape::ALL.len()];
    let delimiter = [b'\n', b'\n', 0, 0xff][random.below(4)];
    let text = text_order(shape == Shape::Fields, drawn_ties(random));
    let order = LineOrder::lines(text, delimiter);
    let files = (0..[1, 2, 3, 9, 30][random.below(5)]).map(|_| {
        let lines = shape.lines(random.below(30_000), delimiter, random);
        let mut file = match random.below(5) {
            0 => Vec::new(),
            _ => sorted_lines(&[lines], &order),
        };
        if random.below(3) == 0 {
            file.pop();
        }
        file
    });
    let files = files.collect();
    let mut merge = LineSort::of(files, order);
    merge.job.plan = Choice::MergeInputs;
    for pipe in &mut merge.pipes {
        *pipe = random.below(4) == 0;
    }
    if random.below(4) == 0 {
        merge.job.target = Target::Path(PathBuf::from("/to"));
    }
    merge.job.resources.cores = 1 + random.below(3);
    merge.job.tuning = Tuning {
        fan_in: [None, Some(2), Some(3), Some(7)][random.below(4)],
        mergers: [None, Some(1), Some(2), Some(5)][random.below(4)],
        chunk_bytes: [None, Some(1), Some(90_000)][random.below(3)],
        writers: [None, Some(1), Some(3)][random.below(3)],
        ..Tuning::default()
    };
    merge.job.resources.memory_bytes = merge.memory_from(1 << (20 + random.below(5)));
    let equal = [Keep::All, Keep::First, Keep::Counted, Keep::Last][random.below(4)];
    if equal != Keep::All {
        merge.keep(equal);
    }
    if random.below(2) == 0 {
        merge.with_few_chunks(random.below(6));
    }
    merge
}

#[test]
fn hundreds_of_schedules_merge_sorted_lines() {
    let (mut once, mut several) = (0, 0);
    for seed in 0..seeds(250, 800) {
        let merge = drawn_merge(seed);
        println!("seed {seed}, {:?}", merge.job.tuning);
        let report = merge.check(seed);
        if merge.equal == Keep::Last {
            // It sorts the inputs again.
            continue;
        }
        assert_eq!(report.plan, "merge", "seed {seed}");
        assert_eq!(report.partitions, merge.files.len() as u64, "seed {seed}");
        // Inputs that are merged first may be empty.
        assert!(
            report.passes > 1 || report.temp_peak_bytes == 0,
            "seed {seed}"
        );
        once += u64::from(report.passes == 1);
        several += u64::from(report.passes > 2);
    }
    assert!(once > 60 && several > 10, "{once} once, {several} several");
}

/// Each merger gets slices, and the output is the same bytes.
#[test]
fn several_mergers_share_a_merge() {
    for ties in [Ties::Record, Ties::Position] {
        let random = &mut Random::new(7);
        let order = LineOrder::lines(text_order(true, ties), b'\n');
        let files = (0..8).map(|_| {
            let lines = Shape::Fields.lines(200_000, b'\n', random);
            sorted_lines(&[lines], &order)
        });
        let mut merge = LineSort::of(files.collect(), order);
        merge.job.plan = Choice::MergeInputs;
        merge.job.resources.memory_bytes = 64 << 20;
        for mergers in [1, 2, 4, 32] {
            merge.job.resources.cores = mergers;
            merge.job.tuning.unit_bytes = Some(64 << 10);
            merge.job.tuning.mergers = Some(mergers);
            let report = merge.check(mergers as u64);
            let of = |name: &str| report.stages.iter().find(|stage| stage.name == name);
            let merger = of("merger").expect("a merger");
            assert_eq!(merger.workers, mergers);
            assert_eq!(merger.bytes, report.bytes);
            let slices = of("slicer").map_or(1, |slicer| slicer.units);
            assert!((slices > 8) == (mergers > 1), "{slices} slices");
        }
    }
}

/// Rows and records with lengths, whose ends follow from those before.
#[test]
fn hundreds_of_schedules_merge_chained_records() {
    let (mut once, mut several) = (0, 0);
    for seed in 0..seeds(150, 500) {
        let random = &mut Random::new(seed);
        let count = [1, 2, 3, 9, 30][random.below(5)];
        let (files, order) = drawn_chained(count, 20_000 * count, random);
        let sorted = files
            .iter()
            .map(|file| sorted_lines(std::slice::from_ref(file), &order));
        let mut merge = LineSort::of(sorted.collect(), order.clone());
        if order.framing.delimiter().is_some() && random.below(3) == 0 {
            merge.files[0].pop();
        }
        merge.job.plan = Choice::MergeInputs;
        for pipe in &mut merge.pipes {
            *pipe = random.below(4) == 0;
        }
        merge.job.resources.cores = 1 + random.below(3);
        merge.job.tuning = Tuning {
            fan_in: [None, Some(2), Some(3), Some(7)][random.below(4)],
            mergers: [None, Some(1), Some(2), Some(5)][random.below(4)],
            chunk_bytes: [None, Some(1), Some(90_000)][random.below(3)],
            ..Tuning::default()
        };
        merge.job.resources.memory_bytes = merge.memory_from(1 << (20 + random.below(5)));
        if random.below(2) == 0 {
            merge.keep(Keep::First);
        }
        println!("seed {seed}, {:?}", merge.job.tuning);
        let report = merge.check(seed);
        assert_eq!(report.partitions, merge.files.len() as u64, "seed {seed}");
        once += u64::from(report.passes == 1);
        several += u64::from(report.passes > 2);
    }
    assert!(once > 30 && several > 5, "{once} once, {several} several");
}

/// Such lines have room in a chunk, but not beside the footer that a chunk of a longer run has.
#[test]
fn lines_as_long_as_a_chunk_are_merged_into_longer_runs() {
    const CHUNK_BYTES: usize = 90_112;
    for length in CHUNK_BYTES - 18..=CHUNK_BYTES {
        let late = format!("{}{}\n", "b\n".repeat(300_000), "c".repeat(length - 1));
        let files = [&late, "a\n", "d\n"].map(|file| file.as_bytes().to_vec());
        let order = LineOrder::lines(text_order(false, Ties::Record), b'\n');
        let mut merge = LineSort::of(files.to_vec(), order);
        merge.job.plan = Choice::MergeInputs;
        merge.job.may_begin_again = true;
        merge.job.resources.memory_bytes = 64 << 20;
        merge.job.tuning = Tuning {
            fan_in: Some(2),
            chunk_bytes: Some(CHUNK_BYTES),
            ..Tuning::default()
        };
        merge.check(length as u64);
    }
}

/// A record without an end, or with a length that no record has, is named with its place.
#[test]
fn damaged_chained_records_are_refused() {
    let rdw = |body: &[u8]| {
        let length = (body.len() as u16 + 4).to_be_bytes();
        [&length[..], &[0, 0], body].concat()
    };
    let good = [rdw(b"a"), rdw(b"b")].concat();
    let whole = [rdw(b"a"), rdw(b"c")].concat();
    let order = |format| {
        let fields = FieldOrder::parse(format, &[] as &[&str], Ties::Record);
        LineOrder::fields(fields.unwrap().unwrap())
    };
    let cut = &whole[..whole.len() - 1];
    let none = [&whole[..], &[0, 3, 0, 0]].concat();
    let csv = RowOrder::new(Dialect::CSV, None, &[], Ties::Record).unwrap();
    let open = b"a\n\"b\nc\n";
    for (order, good, bad, offset) in [
        (order("rdw"), &good[..], cut, 5),
        (order("rdw"), &good, &none, 10),
        (LineOrder::rows(csv), b"a\n", open, 2),
    ] {
        for pipe in [false, true] {
            let files = vec![good.to_vec(), bad.to_vec()];
            let mut merge = LineSort::of(files, order.clone());
            merge.job.plan = Choice::MergeInputs;
            merge.pipes[1] = pipe;
            let failure = merge.failure(1);
            let Failure::Program(error) = &failure else {
                panic!("{failure}")
            };
            let error = error.downcast_ref::<SortError>().unwrap();
            let place = (error.file(), error.offset());
            assert_eq!(
                place,
                (Some(&PathBuf::from("/in1")), Some(offset)),
                "{failure}"
            );
        }
    }
}

/// Of equal keys, those of an earlier input come first.
#[test]
fn the_order_of_the_inputs_decides_between_equal_keys() {
    let order = text_order(true, Ties::Position);
    let file = |name: &str| -> Vec<u8> {
        (0..500)
            .flat_map(|number| format!("{name},{}\n", number / 50).into_bytes())
            .collect()
    };
    let files = ["z", "a", "m", "b"].map(file).to_vec();
    for fan_in in [None, Some(2), Some(3)] {
        let mut merge = LineSort::new(files.clone(), order.clone(), b'\n');
        merge.job.plan = Choice::MergeInputs;
        merge.job.tuning.fan_in = fan_in;
        merge.check(1);
    }
}

/// A line may be longer than a read, and go on over several.
#[test]
fn long_lines_go_on_over_reads() {
    let order = text_order(false, Ties::Record);
    let long = |letter: u8, bytes: usize| [vec![letter; bytes], vec![b'\n']].concat();
    let files: Vec<Vec<u8>> = (0..4_u8)
        .map(|number| {
            let lines = (b'a'..b'i').map(|letter| long(letter, 40_000 * usize::from(number) + 17));
            lines.flatten().collect()
        })
        .collect();
    for pipes in [false, true] {
        for seed in 0..10 {
            let mut merge = LineSort::new(files.clone(), order.clone(), b'\n');
            merge.job.plan = Choice::MergeInputs;
            merge.job.longest_line = LongestLine::AtLeast(130_000);
            merge.job.tuning.chunk_bytes = Some(1);
            merge.pipes = vec![pipes; 4];
            merge.check(seed);
        }
    }
}

fn is_unsorted(failure: &Failure, input: &str, number: u64) -> bool {
    let Failure::Program(error) = failure else {
        return false;
    };
    let Some(SortError::Unsorted { file, record, .. }) = error.downcast_ref() else {
        return false;
    };
    file == Path::new(input) && *record == number
}

#[test]
fn an_input_out_of_order_is_refused_with_its_line() {
    for seed in 0..seeds(60, 200) {
        let random = &mut Random::new(seed);
        let file = |count: usize| -> Vec<u8> {
            (0..count)
                .flat_map(|number| format!("{number:09}\n").into_bytes())
                .collect()
        };
        let mut files = vec![file(10), file(20_000), file(3)];
        // A line that is less than the one before, or the last one of an earlier chunk.
        let wrong = 1 + random.below(19_999);
        files[1][10 * wrong..10 * wrong + 9].fill(b'!');
        let mut merge = LineSort::new(files, text_order(false, Ties::Record), b'\n');
        merge.job.plan = Choice::MergeInputs;
        merge.job.tuning.chunk_bytes = [None, Some(1)][random.below(2)];
        merge.job.tuning.fan_in = [None, Some(2)][random.below(2)];
        merge.pipes[1] = random.below(2) == 0;
        let failure = merge.failure(seed);
        let number = wrong as u64 + 1;
        assert!(
            is_unsorted(&failure, "/in1", number),
            "seed {seed}: {failure}, not {number}"
        );
    }
}

/// The place is that in the input, not in all of them together.
#[test]
fn a_line_that_memory_cannot_hold_is_named_with_its_input() {
    let merge_of = |before: usize, bytes: usize| {
        let short = b"a\n".repeat(before);
        let long = [&short[..], &vec![b'b'; bytes], b"\n"].concat();
        let files = vec![b"a\n".to_vec(), long];
        let mut merge = LineSort::new(files, text_order(false, Ties::Record), b'\n');
        merge.job.plan = Choice::MergeInputs;
        merge.pipes = vec![true; 2];
        merge
    };
    let memory = merge_of(0, 0).job.resources.memory_bytes as usize;
    for before in [0, 3000] {
        merge_of(before, memory / 64).check(1);
        let merge = merge_of(before, memory / 4);
        let said = merge.failure(1).to_string();
        let place = format!("/in1: the line at byte {}", 2 * before);
        assert!(said.contains(&place), "{said}");
    }
}

/// Equal keys in one input are in order, also if they are dropped.
#[test]
fn equal_keys_of_one_input_are_in_order() {
    let files = vec![b"xa\nya\nxb\n".to_vec(), b"xa\nyb\nxb\n".to_vec()];
    let mut merge = LineSort::new(files, text_order(false, Ties::Position), b'\n');
    merge.job.plan = Choice::MergeInputs;
    merge.keep(Keep::First);
    assert_eq!(merge.check(1).dropped, 4);
}

fn merge_records(seed: u64) -> Report {
    let random = &mut Random::new(seed);
    let order = drawn_order(random);
    let driver = Driver::new(seed, 1);
    let (mut all, mut sources) = (Vec::new(), Vec::new());
    for number in 0..1 + random.below(12) {
        let records = drawn_records(random, order.record_bytes(), 1500);
        let file = sorted(&records, &order);
        let path = format!("/in{number}");
        match random.below(4) {
            0 => driver.disks(0).put_pipe(Path::new(&path), file.clone()),
            _ => put(&driver, &path, &file),
        }
        all.extend(file);
        sources.push(Source::Path(path.into()));
    }
    let mut job = job(&[], "/out", &order);
    let count = sources.len();
    job.sources = sources;
    job.plan = Choice::MergeInputs;
    job.temporary = vec![PathBuf::from("/tmp0")];
    job.resources.memory_bytes = 16 << 20;
    job.tuning.fan_in = [None, Some(2), Some(5)][random.below(3)];
    job.tuning.chunk_bytes = [None, Some(9000)][random.below(2)];
    let report = run(&driver, &job).unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
    assert!(
        get(&driver, "/out").unwrap() == sorted(&all, &order),
        "seed {seed}"
    );
    assert_eq!(
        paths(&driver).len(),
        count + 1,
        "seed {seed}: a file is left"
    );
    report
}

#[test]
fn records_of_one_length_are_merged_too() {
    let several = (0..120)
        .filter(|&seed| merge_records(seed).passes > 1)
        .count();
    assert!(several > 20, "only {several} took several passes");
}

#[test]
fn a_record_out_of_order_is_refused() {
    let driver = Driver::new(1, 1);
    put(&driver, "/a", b"abc");
    put(&driver, "/b", b"acb");
    let order = record::Order::new(1, &[], record::Ties::Record).unwrap();
    let mut job = job(&["/a", "/b"], "/out", &order);
    job.plan = Choice::MergeInputs;
    let failure = run(&driver, &job).unwrap_err();
    assert!(is_unsorted(&failure, "/b", 3), "{failure}");
    assert!(
        failure.to_string().contains("record 3 is out of order"),
        "{failure}"
    );
}
