use node::{Buffer, Random};
use record::{Framing, Ties};

use super::*;
use crate::records::block::Chunk;

/// Bytes of a record: all of it is the key.
const RECORD: usize = 4;

fn part(records: &[[u8; RECORD]]) -> Part {
    let bytes = records.concat();
    let size = Size {
        records: records.len() as u64,
        bytes: bytes.len() as u64,
    };
    let chunk = Chunk {
        bucket: 0,
        size,
        marks: Vec::new(),
        buffer: Buffer::new(Box::new(bytes)),
    };
    Part::divisible(chunk, Framing::Fixed(RECORD))
}

/// Runs of drawn records, of which there are `distinct` different ones, in reads of some parts each.
fn runs(count: usize, distinct: usize, random: &mut Random) -> Vec<SliceOfRun> {
    let run = |number| {
        let mut run = SliceOfRun::new(number);
        let length = random.below(400);
        let mut records: Vec<[u8; RECORD]> = (0..length)
            .map(|_| (random.below(distinct) as u32).to_be_bytes())
            .collect();
        records.sort_unstable();
        for read in records.chunks(100) {
            run.add(read.chunks(30).map(part));
        }
        run
    };
    (0..count).map(run).collect()
}

/// The records of a slice in the sorted order, each with its run.
fn merged(slice: &[SliceOfRun]) -> Vec<(Vec<u8>, usize)> {
    let of_run = |run: &SliceOfRun| -> Vec<(Vec<u8>, usize)> {
        let parts = run.parts.iter();
        let records = parts.flat_map(|unmerged| unmerged.part.bytes().chunks(RECORD));
        records
            .map(|record| (record.to_vec(), run.number))
            .collect()
    };
    let mut all: Vec<_> = slice.iter().flat_map(of_run).collect();
    all.sort();
    all
}

/// Slices have all records, in order, equal ones by their runs; and none is too long, however many
/// records are equal.
#[test]
fn slices_are_short_and_in_order() {
    let order = Comparison::parse("fixed:4", &["0+4"], Ties::Position).expect("an order");
    let random = &mut Random::new(5);
    let mut slices = 0;
    for (count, distinct) in [(1, 1), (1, 50), (2, 1), (7, 1), (7, 3), (30, 100_000)] {
        for most in [1, 40, 1000, 100_000] {
            let runs = runs(count, distinct, random);
            let all = merged(&runs);
            let divided = divide(runs, &order, most);
            for slice in &divided {
                let bytes = size_of(slice).bytes;
                let is_least = slice.iter().all(|run| run.size().records <= 1);
                assert!(bytes <= most || is_least, "{bytes} bytes of {most}");
            }
            slices += divided.len();
            let found: Vec<_> = divided.iter().flat_map(|slice| merged(slice)).collect();
            assert_eq!(found, all, "{count} runs, {distinct}, {most}");
        }
    }
    assert!(slices > 1000, "{slices}");
}
