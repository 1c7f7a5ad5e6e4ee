//! Pipes that are planned for short lines, and have longer ones: the sort goes on by another plan.

use std::path::PathBuf;

use node::Random;
use record::{Keep, Ties};
use sort::{Choice, Report, Target};

use crate::common::lines::{LineSort, Shape, drawn_tuning, long_line, seeds, text_order};

/// With 16 MiB a plan for short lines has chunks of this size, and a pipe may have lines that are longer.
const MEMORY_BYTES: u64 = 16 << 20;
const SHORT: usize = 16 << 10;
const LONGEST: usize = 64 << 10;

/// A pipe of lines, some of which are longer than the first plan has room for.
fn drawn(seed: u64) -> LineSort {
    let random = &mut Random::new(seed);
    let shape = Shape::ALL[seed as usize % Shape::ALL.len()];
    let mut lines = Vec::new();
    for _ in 0..1 + random.below(4) {
        if random.below(4) > 0 {
            lines.extend(shape.lines(random.below(600_000), b'\n', random));
        }
        for _ in 0..random.below(4) {
            let bytes = SHORT + random.below(LONGEST - SHORT);
            let line = (0..bytes).map(|_| b'a' + random.below(3) as u8);
            lines.extend(line.chain([b'\n']));
        }
    }
    if random.below(3) == 0 {
        lines.pop();
    }
    let ties = [Ties::Record, Ties::Position][random.below(2)];
    let order = text_order(shape == Shape::Fields, ties);
    let mut sort = LineSort::new(vec![lines], order, b'\n');
    sort.pipes[0] = true;
    sort.job.plan = [Choice::Auto, Choice::Merge][random.below(2)];
    sort.job.resources.cores = 1 + random.below(4);
    sort.job.tuning = drawn_tuning(random);
    (sort.job.tuning.unit_records, sort.job.tuning.unit_bytes) = (None, None);
    (sort.job.tuning.chunks, sort.job.tuning.chunk_bytes) = (None, None);
    if random.below(4) == 0 {
        sort.job.target = Target::Path(PathBuf::from("/to"));
    }
    if random.below(6) == 0 {
        sort.job.top = Some(random.below(3000) as u64);
    } else if random.below(3) == 0 {
        sort.keep([Keep::First, Keep::Counted, Keep::Last, Keep::LastCounted][random.below(4)]);
    }
    sort.job.resources.memory_bytes = MEMORY_BYTES;
    if random.below(2) == 0 {
        sort.job.tuning.load_chunks = Some(1 + random.below(30));
    }
    sort
}

#[test]
fn longer_lines_anywhere_give_the_same_bytes() {
    let mut spilled = 0;
    for seed in 0..seeds(100, 200) {
        let sort = drawn(seed);
        println!("seed {seed}, {:?}, {:?}", sort.equal, sort.job.tuning);
        spilled += u32::from(sort.check(seed).passes > 1);
    }
    assert!(spilled > 50, "{spilled} spilled");
}

/// A pipe that is sorted with that memory.
fn pipe_of(lines: Vec<u8>, memory_bytes: u64) -> LineSort {
    let mut sort = LineSort::new(vec![lines], text_order(false, Ties::Record), b'\n');
    sort.pipes[0] = true;
    sort.job.resources.memory_bytes = memory_bytes;
    sort
}

fn line(bytes: usize) -> Vec<u8> {
    let mut line = vec![b'l'; bytes];
    line[bytes - 1] = b'\n';
    line
}

/// Bytes that stages of that name wrote to spill files.
fn spilled_by(report: &Report, name: &str) -> usize {
    report.stage(name).map_or(0, |stage| stage.bytes as usize)
}

#[test]
fn what_was_read_before_is_written_once_more_and_the_rest_stays() {
    let random = &mut Random::new(3);
    let before = Shape::Usual.lines(1 << 20, b'\n', random);
    let report = pipe_of(before.clone(), MEMORY_BYTES).check(1);
    assert_eq!(report.passes, 1, "without a longer line it stays in memory");
    let rest = Shape::Usual.lines(1 << 20, b'\n', random);
    let report = pipe_of([before.clone(), line(LONGEST), rest].concat(), MEMORY_BYTES).check(1);
    for writer in ["run writer", "run merger"] {
        let spilled = spilled_by(&report, writer);
        let most = before.len() + before.len() / 4;
        assert!(
            (before.len()..most).contains(&spilled),
            "{writer}: {spilled}"
        );
    }
}

/// The runs of the first plan take memory of the merge, too.
#[test]
fn a_rest_of_any_size_leaves_room_for_the_runs_before_it() {
    let random = &mut Random::new(5);
    let [before, rest] = [300_000, 7 << 20].map(|bytes| Shape::Usual.lines(bytes, b'\n', random));
    // With a chunk for each load, one more load is one more run: at some size the last fills the memory.
    for (number, bytes) in ((1 << 20)..rest.len()).step_by(60 << 10).enumerate() {
        let mut end = bytes;
        while rest[end - 1] != b'\n' {
            end += 1;
        }
        let lines = [&before[..], &line(40_000), &rest[..end]].concat();
        let mut sort = pipe_of(lines, MEMORY_BYTES);
        sort.job.tuning.load_chunks = Some(1);
        println!("{bytes} bytes");
        sort.check(number as u64);
    }
}

/// The plan for short lines has room for a few more bytes than it counts on: no length is lost between the two.
#[test]
fn lines_around_the_first_limit_give_the_same_bytes() {
    let random = &mut Random::new(9);
    let short = Shape::Words.lines(90_000, b'\n', random);
    for limit in [SHORT, SHORT + 4096, SHORT + 8192, SHORT + 12_288] {
        for bytes in limit - 2..limit + 3 {
            let ends = random.below(2) == 0;
            let mut lines = [&short[..], &line(bytes), &short[..], &line(bytes)].concat();
            lines.truncate(lines.len() - usize::from(!ends));
            pipe_of(lines, MEMORY_BYTES).check(bytes as u64);
            pipe_of(line(bytes), MEMORY_BYTES).check(bytes as u64);
        }
    }
}

#[test]
fn a_line_that_no_plan_has_room_for_is_refused() {
    for before in [0, 9, 300_000] {
        let mut lines = Shape::Words.lines(before, b'\n', &mut Random::new(1));
        let begin = lines.len() as u64;
        lines.extend(vec![b'l'; 3 * LONGEST]);
        let failure = pipe_of(lines, MEMORY_BYTES).failure(1);
        let found = long_line(&failure).unwrap_or_else(|| panic!("{failure}"));
        assert_eq!(found, (begin, LONGEST as u64), "{before}");
    }
}
