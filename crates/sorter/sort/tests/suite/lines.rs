//! Lines of text, sorted in every way under hundreds of schedules of the deterministic driver.

use crate::common::lines::{LineSort, drawn_sort, seeds};
use node::Random;
use record::Ties;
use record::text::{KeyOptions, TextOrder};
use sort::Choice;

#[test]
fn hundreds_of_schedules_sort_lines_as_the_naive_sort_does() {
    let (mut spilled, mut merged) = (0, 0);
    for seed in 0..seeds(300, 800) {
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
    for seed in 0..seeds(150, 400) {
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

/// Long runs of one first word, whose lines part in the same later word, in an earlier one for a few of
/// them, or far behind it; some keys are equal to those of splitters.
#[test]
fn one_key_of_nearly_all_lines_is_told_by_later_words() {
    for (seed, shared) in (0..).zip([0, 1, 9, 20, 60, 100, 400]) {
        for keys in [&["1,1"][..], &["2,2r", "1,1n"], &[]] {
            for ties in [Ties::Record, Ties::Position] {
                let random = &mut Random::new(seed);
                let mut lines = Vec::new();
                for _ in 0..6000 {
                    let key: &[u8] =
                        [&b"0000000000"[..], b"0000000001"][usize::from(random.below(500) == 0)];
                    let mut shared = vec![b'a'; shared];
                    if random.below(300) == 0 && !shared.is_empty() {
                        let place = random.below(shared.len());
                        shared[place] = b'b';
                    }
                    lines.extend_from_slice(key);
                    lines.push(b' ');
                    lines.extend_from_slice(&shared);
                    lines.extend_from_slice(format!("{}\n", random.below(3000)).as_bytes());
                }
                let keys = keys.iter().map(|key| key.parse().unwrap()).collect();
                let order = TextOrder::new(keys, KeyOptions::default(), Some(b' '), ties, None);
                let mut sort = LineSort::new(vec![lines], order.unwrap(), b'\n');
                sort.job.tuning.buckets = Some(12);
                sort.check(seed);
            }
        }
    }
}
