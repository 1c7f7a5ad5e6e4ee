//! Lines that are as long as a limit allows, and one byte longer or shorter; and partitions of lines
//! that are divided again.

use std::path::PathBuf;

use crate::common::lines::{LineSort, Shape, long_line, text_order};
use node::Random;
use record::Ties;
use rehearsal::Driver;
use sort::{Choice, IoChoice, Target, Tuning};

const PLANS: [Choice; 4] = [
    Choice::Auto,
    Choice::OnePass,
    Choice::TwoPass,
    Choice::Merge,
];

const MEMORY_BYTES: u64 = 64 << 20;

/// With that memory: the longest line of a file whose lines are short, and of a pipe.
const FILE_LIMIT: usize = 64 << 10;
const PIPE_LIMIT: usize = 1 << 20;

/// A line of `bytes` bytes, with its delimiter.
fn line(bytes: usize, first: u8) -> Vec<u8> {
    let mut line = vec![first; bytes];
    line[bytes - 1] = b'\n';
    line
}

fn sort_of(files: Vec<Vec<u8>>, plan: Choice) -> LineSort {
    let mut sort = LineSort::new(files, text_order(false, Ties::Record), b'\n');
    sort.job.plan = plan;
    sort.job.resources.memory_bytes = MEMORY_BYTES;
    sort
}

/// A few short lines, one of `bytes` bytes, and short ones again.
fn around(bytes: usize, before: usize, behind: usize) -> Vec<u8> {
    let mut random = Random::new(7);
    let mut file = Shape::Words.lines(before, b'\n', &mut random);
    file.extend(line(bytes, b'l'));
    if behind > 0 {
        file.extend(Shape::Words.lines(behind, b'\n', &mut random));
    }
    file
}

#[test]
fn a_line_may_be_as_long_as_the_limit_and_no_longer() {
    let places = [(0, 300_000), (150_000, 150_000), (300_000, 0), (40_960, 9)];
    for (number, plan) in PLANS.into_iter().enumerate() {
        for (before, behind) in places {
            for (is_pipe, limit) in [(false, FILE_LIMIT), (true, PIPE_LIMIT)] {
                for ends in [true, false] {
                    let sort_with = |bytes| {
                        let mut file = around(bytes, before, behind);
                        if !ends {
                            file.pop();
                        }
                        let mut sort = sort_of(vec![b"first\n".to_vec(), file], plan);
                        sort.pipes[1] = is_pipe;
                        sort.job.resources.cores = 1 + number % 2;
                        sort.job.resources.io = [IoChoice::Direct, IoChoice::Buffered][before % 2];
                        sort
                    };
                    let here = (plan, before, is_pipe, ends);
                    println!("{here:?}");
                    sort_with(limit - 1).check(1);
                    sort_with(limit).check(1);
                    let failure = sort_with(limit + 1).failure(1);
                    let (position, found) =
                        long_line(&failure).unwrap_or_else(|| panic!("{here:?}: {failure}"));
                    let begin = 6 + around(limit, before, 0).len() - limit;
                    assert_eq!((position, found), (begin as u64, limit as u64), "{here:?}");
                }
            }
        }
    }
}

/// The reader of a pipe finds that a line is too long while it has nothing but that line, with any
/// number of buffers.
#[test]
fn a_pipe_with_an_endless_line_ends_with_an_error() {
    for plan in PLANS {
        for seed in 0..30 {
            let mut random = Random::new(seed);
            let file = around(
                17_500_000,
                random.below(300_000) + 1,
                random.below(2) * 1000,
            );
            let mut sort = sort_of(vec![file], plan);
            sort.pipes[0] = true;
            sort.job.tuning = crate::common::lines::drawn_tuning(&mut random);
            sort.job.resources.memory_bytes = sort.memory_from(MEMORY_BYTES);
            sort.with_few_chunks(random.below(5));
            let failure = sort.failure(seed);
            let said = failure.to_string();
            let is_full = plan == Choice::OnePass && said.contains("does not fit");
            assert!(
                long_line(&failure).is_some() || is_full,
                "{plan:?} {seed}: {said}"
            );
        }
    }
}

/// Lines as long as a disk block, a read unit or the room of a chunk, one byte more or less, that
/// begin at the borders of units or beside them.
#[test]
fn lines_may_end_where_units_and_chunks_end() {
    for (number, block) in [4096_usize, 8192, 12_288, 16_384, 20_480]
        .into_iter()
        .enumerate()
    {
        for bytes in [block - 17, block - 16, block - 1, block, block + 1] {
            for (turn, plan) in PLANS[1..].iter().enumerate() {
                let mut file = Vec::new();
                for letter in 0..24 {
                    let length = bytes - usize::from(letter % 5 == 4);
                    file.extend(line(length, b'z' - (letter * 7 % 26) as u8));
                    if letter % 3 == 2 {
                        file.extend(line(1 + letter as usize, b'm'));
                    }
                }
                if number % 2 == 0 {
                    file.pop();
                }
                let mut sort = sort_of(vec![file], *plan);
                sort.job.tuning = Tuning {
                    unit_records: [None, Some(1)][turn % 2],
                    chunk_bytes: Some(block),
                    ..Tuning::default()
                };
                sort.job.resources.io = [IoChoice::Direct, IoChoice::Buffered][number % 2];
                sort.job.resources.memory_bytes = sort.memory_from(48 << 20);
                if *plan != Choice::OnePass {
                    sort.with_few_chunks(0);
                }
                sort.check(bytes as u64);
            }
        }
    }
}

/// A chunk's room is exactly as large as the longest line: four times as long as those that are
/// seen.
#[test]
fn a_line_may_fill_the_room_of_a_chunk() {
    let seen = 5116;
    for plan in PLANS {
        for longest in [4 * seen - 1, 4 * seen, 4 * seen + 1] {
            // The mean, which counts as well, is short.
            let few = [line(seen, b's'), line(10, b's').repeat(300)].concat();
            let mut file = few.repeat(40);
            let at = 20 * few.len();
            file.splice(at..at, line(longest, b'a'));
            let mut sort = sort_of(vec![file], plan);
            sort.job.tuning.chunk_bytes = Some(4096);
            // With that memory the limit of all files is less than that.
            sort.job.resources.memory_bytes = sort.memory_from(18 << 20);
            if matches!(plan, Choice::TwoPass | Choice::Merge) {
                sort.with_few_chunks(0);
            }
            if longest <= 4 * seen {
                drop(sort.check(1))
            } else {
                let found = long_line(&sort.failure(1));
                assert_eq!(found, Some((at as u64, 4 * seen as u64)), "{plan:?}");
            }
        }
    }
}

/// A sort of few buckets, with as few workers as possible.
fn slow_sort(file: Vec<u8>, ties: Ties) -> LineSort {
    let mut sort = LineSort::new(vec![file], text_order(false, ties), b'\n');
    sort.job.plan = Choice::TwoPass;
    sort.job.tuning = Tuning {
        readers: Some(1),
        distributors: Some(1),
        sorters: Some(1),
        writers: Some(1),
        depth: Some(1),
        unit_records: Some(1),
        buckets: Some(3),
        chunk_bytes: Some(4096),
        ..Tuning::default()
    };
    sort
}

/// Sorts with the least memory. Returns the passes.
fn passes_with_little_memory(file: Vec<u8>, ties: Ties, seed: u64) -> u32 {
    let mut sort = slow_sort(file, ties);
    sort.job.resources.memory_bytes = sort.memory_from(4 << 20);
    sort.check(seed).passes
}

#[test]
fn partitions_of_lines_are_divided_until_they_fit() {
    let mut divided = 0;
    for (shape, seed) in Shape::ALL.into_iter().zip(0..) {
        for ties in [Ties::Record, Ties::Position] {
            let bytes = if shape == Shape::Empty {
                60_000
            } else {
                600_000
            };
            let file = shape.lines(bytes, b'\n', &mut Random::new(seed));
            let passes = passes_with_little_memory(file, ties, seed);
            println!("{shape:?} {ties:?}: {passes} passes");
            divided += u32::from(passes > 2);
        }
    }
    assert!(divided > 15, "{divided} were divided again");
}

/// Splitters of the first division are equal for such lines, since they are fronts of 1 KiB. The
/// lines may come in any order, ascending among them: the sample must not see the same end of a
/// partition in every division.
#[test]
fn lines_with_a_long_common_prefix_divide_in_any_order() {
    for prefix in [1022, 1023, 1024, 1025, 3000, 3900] {
        let ascending: Vec<Vec<u8>> = (0..300)
            .map(|number| {
                let mut line = vec![b'p'; prefix];
                line.extend(format!("{number:06}\n").bytes());
                line
            })
            .collect();
        let descending: Vec<Vec<u8>> = ascending.iter().rev().cloned().collect();
        for lines in [ascending, descending] {
            for ties in [Ties::Record, Ties::Position] {
                let passes = passes_with_little_memory(lines.concat(), ties, 3);
                println!("{prefix} {ties:?}: {passes} passes");
                assert!((3..12).contains(&passes), "{prefix}: {passes} passes");
            }
        }
    }
}

/// One chunk has more of such lines than a sample needs, and those of a chunk follow each other in
/// the input. So the sample must be of several chunks, or each division takes away a chunk alone.
#[test]
fn equal_lines_in_large_chunks_divide_evenly() {
    for ties in [Ties::Record, Ties::Position] {
        let mut sort = slow_sort(b"\n".repeat(300_000), ties);
        sort.job.tuning.buckets = Some(2);
        // Lines of a pipe are expected to be longer, and their chunks have room for the longest.
        sort.pipes[0] = true;
        assert!(sort.with_few_chunks(0));
        let passes = sort.check(1).passes;
        println!("{ties:?}: {passes} passes");
        assert!((3..12).contains(&passes), "{ties:?}: {passes} passes");
    }
}

/// Lines at the limit, of which a partition's sample holds eight.
#[test]
fn lines_at_the_limit_divide_in_any_order() {
    for reversed in [false, true] {
        let mut lines: Vec<Vec<u8>> = (0..200)
            .map(|number| {
                let mut line = vec![b'l'; 15_000];
                line.splice(..6, format!("{number:06}").bytes());
                line.push(b'\n');
                line
            })
            .collect();
        if reversed {
            lines.reverse();
        }
        // The short lines between them hide them from the survey.
        let file: Vec<u8> = lines
            .into_iter()
            .flat_map(|line| [line, b"s\n".repeat(400)].concat())
            .collect();
        let mut sort = slow_sort(file, Ties::Record);
        assert!(sort.with_few_chunks(0));
        let passes = sort.check(5).passes;
        println!("{passes} passes");
        assert!((3..16).contains(&passes), "{passes} passes");
    }
}

/// A driver's pipe takes lines of a sort that failed only after a part was written, so nothing is
/// said of it; a file is not there at all.
#[test]
fn a_long_line_leaves_an_old_output_in_place() {
    for plan in PLANS {
        let sort = sort_of(vec![around(FILE_LIMIT + 1, 100_000, 100_000)], plan);
        let driver: Driver = sort.driver(1);
        crate::common::put(&driver, "/out", b"old");
        assert!(crate::common::run(&driver, &sort.job()).is_err());
        assert_eq!(crate::common::get(&driver, "/out").unwrap(), b"old");
        assert_eq!(sort.job.target, Target::Path(PathBuf::from("/out")));
    }
}

/// A file whose lines are long in the places that the survey looks at, and empty elsewhere.
fn misleading(bytes: usize) -> Vec<u8> {
    let mut file = Vec::with_capacity(bytes);
    let place = bytes / 64;
    for _ in 0..64 {
        let begin = file.len();
        (0..9).for_each(|letter| file.extend(line(1000, b'a' + letter)));
        file.resize(begin + place, b'\n');
    }
    file
}

/// A merge counts on the mean length of lines, and cuts blocks of more lines into several.
#[test]
fn blocks_of_unexpectedly_short_lines_are_cut() {
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let ties = crate::common::lines::drawn_ties(&mut random);
        let files = vec![misleading(400_000), misleading(64 * 9500)];
        let mut sort = LineSort::new(files, text_order(false, ties), b'\n');
        sort.job.plan = Choice::Merge;
        sort.job.tuning = crate::common::lines::drawn_tuning(&mut random);
        sort.job.resources.io = [IoChoice::Direct, IoChoice::Buffered][random.below(2)];
        // Lines of a pipe are expected to be of usual length.
        sort.pipes[1] = random.below(4) == 0;
        sort.job.resources.memory_bytes = sort.memory_from(8 << 20);
        if random.below(2) == 0 {
            sort.with_few_chunks(random.below(9));
        }
        sort.check(seed);
    }
}
