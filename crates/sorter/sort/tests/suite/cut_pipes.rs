//! Pipes that are planned for short lines, and have longer ones: the sort goes on by another plan.

use std::path::PathBuf;

use node::Random;
use record::Ties;
use sort::{Choice, Target};

use crate::common::lines::{Equal, LineSort, Shape, drawn_tuning, long_line, seeds, text_order};

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
        sort.keep([Equal::First, Equal::Counted][random.below(2)]);
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
    for seed in 0..seeds(100, 400) {
        let sort = drawn(seed);
        println!("seed {seed}, {:?}, {:?}", sort.equal, sort.job.tuning);
        spilled += u32::from(sort.check(seed).passes > 1);
    }
    assert!(spilled > 50, "{spilled} spilled");
}

/// Those that were read before the longer one are written twice, and not the rest.
#[test]
fn what_was_read_before_is_written_once_more() {
    let random = &mut Random::new(3);
    let mut lines = Shape::Usual.lines(1 << 20, b'\n', random);
    let sort_of = |lines: &[u8]| {
        let order = text_order(false, Ties::Record);
        let mut sort = LineSort::new(vec![lines.to_vec()], order, b'\n');
        sort.pipes[0] = true;
        sort.job.resources.memory_bytes = MEMORY_BYTES;
        sort.job.tuning.tune = sort::Tune::Off;
        sort
    };
    assert_eq!(sort_of(&lines).check(1).passes, 1, "it stays in memory");
    let short = lines.len();
    lines.extend(vec![b'l'; LONGEST - 1]);
    lines.push(b'\n');
    lines.extend(Shape::Usual.lines(1 << 18, b'\n', random));
    let report = sort_of(&lines).check(1);
    assert_eq!(report.passes, 3, "{}", report.reason);
    let spilled = report.temp_peak_bytes as usize;
    assert!(
        spilled > short && spilled < 3 * short,
        "{spilled} for {short}"
    );
}

#[test]
fn a_line_that_no_plan_has_room_for_is_refused() {
    for before in [0, 9, 300_000] {
        let mut lines = Shape::Words.lines(before, b'\n', &mut Random::new(1));
        let begin = lines.len() as u64;
        lines.extend(vec![b'l'; 3 * LONGEST]);
        let mut sort = LineSort::new(vec![lines], text_order(false, Ties::Record), b'\n');
        sort.pipes[0] = true;
        sort.job.resources.memory_bytes = MEMORY_BYTES;
        let failure = sort.failure(1);
        let found = long_line(&failure).unwrap_or_else(|| panic!("{failure}"));
        assert_eq!(found, (begin, LONGEST as u64), "{before}");
    }
}
