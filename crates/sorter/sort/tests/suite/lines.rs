//! Lines of text, sorted in every way under hundreds of schedules of the deterministic driver.

use crate::common::lines::{LineSort, drawn_sort, seeds};
use node::Random;
use sort::Choice;

#[test]
fn hundreds_of_schedules_sort_lines_as_the_naive_sort_does() {
    let (mut spilled, mut merged) = (0, 0);
    for seed in 0..seeds(300, 1500) {
        let (_, sort) = drawn_sort(seed, 300_000);
        let report = sort.check(seed);
        spilled += u64::from(report.passes > 1);
        merged += u64::from(report.plan == "merge");
    }
    assert!(
        spilled > 60 && merged > 60,
        "{spilled} spilled, {merged} merged"
    );
}

/// The last line of a pipe may go on over many reads, and the reads end anywhere.
#[test]
fn pipes_of_lines_give_the_same_bytes() {
    for seed in 0..seeds(150, 700) {
        let (shape, mut sort) = drawn_sort(1_000_000 + seed, 300_000);
        let random = &mut Random::new(seed);
        sort.pipes
            .iter_mut()
            .for_each(|pipe| *pipe = random.below(2) == 0);
        sort.pipes[0] = true;
        if sort.job.plan != Choice::OnePass && random.below(2) == 0 {
            let long = 9000 + random.below(20_000);
            insert_long_lines(&mut sort, long, random);
        }
        sort.job.tuning.chunks = None;
        let memory = if sort.job.plan == Choice::OnePass {
            128 << 20
        } else {
            8 << 20
        };
        sort.job.resources.memory_bytes = sort.memory_from(memory);
        if sort.job.plan != Choice::OnePass {
            sort.with_few_chunks(random.below(6));
        }
        println!("seed {seed}, {shape:?}, {:?}", sort.job.tuning);
        sort.check(seed);
    }
}

/// Puts a few lines of `long` bytes between the others.
fn insert_long_lines(sort: &mut LineSort, long: usize, random: &mut Random) {
    let delimiter = sort.order.framing.delimiter().expect("lines");
    for file in &mut sort.files {
        for _ in 0..random.below(4) {
            let mut line = vec![b'x'; long - random.below(long / 2)];
            line.push(delimiter);
            let begins = file.iter().rposition(|&byte| byte == delimiter);
            let at = begins
                .map_or(0, |before| before + 1)
                .min(random.below(file.len() + 1));
            let at = file[..at].iter().rposition(|&byte| byte == delimiter);
            let at = at.map_or(0, |before| before + 1);
            file.splice(at..at, line);
        }
    }
}
