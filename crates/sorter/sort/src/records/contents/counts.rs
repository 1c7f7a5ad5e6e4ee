//! Records that are only counted: how many fall into each bucket is drawn from a distribution.

use std::io;

use node::{Buffer, Filled, Node, Random};
use record::Ties;

use crate::error::SortError;
use crate::records::block::{Block, Bucket, Chunk, Mark, Stamp};
use crate::records::contents::{
    Assignment, Contents, Edges, Merged, Merging, RecordsAt, Room, Sorted, Workspace,
};
use crate::records::framing::Framing;
use crate::records::open_bucket::OpenBucket;
use crate::records::sample::Sample;
use crate::records::size::{Size, Sum};
use crate::records::splitters::Splitters;

/// Counted records. Draws depend only on the seed and the position of a block.
pub struct Counts {
    framing: Framing,
    /// Weight of the first bucket over that of the last: 1 is uniform.
    skew: f64,
    seed: u64,
}

impl Counts {
    /// Records of `record_bytes` whose buckets are drawn with weights that fall evenly from `skew`
    /// for the first bucket to 1 for the last.
    pub fn new(record_bytes: usize, skew: f64, seed: u64) -> Counts {
        assert!(skew >= 1.0 && skew.is_finite());
        Counts {
            framing: Framing::fixed(record_bytes),
            skew,
            seed,
        }
    }

    /// Throws records into buckets in lumps, of one record if there are few.
    fn throw(&self, random: &mut Random, mut left: u64, sizes: &mut [Size]) {
        let lump = left.div_ceil(LUMPS);
        while left > 0 {
            let bucket = random.below(sizes.len());
            if self.skew > 1.0 && unit(random) * self.skew > self.weight(bucket, sizes.len()) {
                continue;
            }
            let thrown = lump.min(left);
            sizes[bucket] += self.framing.of(thrown);
            left -= thrown;
        }
    }

    fn weight(&self, bucket: usize, buckets: usize) -> f64 {
        let place = bucket as f64 / (buckets.max(2) - 1) as f64;
        self.skew + (1.0 - self.skew) * place
    }
}

impl Contents for Counts {
    fn framing(&self) -> Framing {
        self.framing
    }

    fn ties(&self) -> Ties {
        Ties::Record
    }

    fn buffers(&self, _: &Node, count: usize, bytes: usize, _: Filled) -> io::Result<Vec<Buffer>> {
        Ok((0..count).map(|_| Buffer::counted(bytes)).collect())
    }

    fn sample(&self, block: &Block, count: usize, sample: &mut Sample) {
        let count = (count as u64).min(block.size.records).min(SAMPLED);
        let record = vec![0; self.framing.longest()];
        (block.first..block.first + count).for_each(|position| sample.push(&record, position));
    }

    fn records_at(&self, places: &mut dyn Iterator<Item = u64>) -> Sample {
        let (mut sample, record) = (Sample::default(), vec![0; self.framing.longest()]);
        places.for_each(|place| sample.push(&record, place));
        sample
    }

    fn splitters(&self, sample: &Sample, buckets: usize) -> Splitters {
        let buckets = buckets.min(sample.len() + 1);
        // Ranks tell each other how many there are.
        let chosen = sample.elements().take(buckets - 1);
        Splitters::even(buckets).with_elements(chosen)
    }

    fn known_splitters(&self, chosen: Sample) -> Option<Splitters> {
        Some(Splitters::even(chosen.len() + 1))
    }

    /// As even as buckets are, so that each part can be divided again.
    fn divide(&self, splitters: &Splitters, sample: &Sample) -> Vec<Sample> {
        let (buckets, all) = (splitters.buckets, sample.len().max(1));
        let mut parts = vec![Sample::default(); buckets];
        for (number, element) in sample.elements().enumerate() {
            parts[number * buckets / all].push(element.record, element.position);
        }
        parts
    }

    fn measure(&self, _: &mut Block) -> Result<u64, SortError> {
        Ok(0)
    }

    fn classify(&self, block: &Block, splitters: &Splitters, found: &mut Assignment) {
        let mut random = Random::stream(self.seed, self.framing.most_in(block.first));
        let buckets = splitters.buckets;
        let mut left = block.size.records;
        found.sizes.clear();
        if left < FEW * buckets as u64 {
            found.sizes.resize(buckets, self.framing.of(0));
            self.throw(&mut random, left, &mut found.sizes);
            return;
        }
        let mut weight_left: f64 = (0..buckets)
            .map(|bucket| self.weight(bucket, buckets))
            .sum();
        for bucket in 0..buckets {
            let weight = self.weight(bucket, buckets);
            let last = bucket + 1 == buckets;
            let share = if last { 1.0 } else { weight / weight_left };
            let drawn = binomial(&mut random, left, share);
            found.sizes.push(self.framing.of(drawn));
            left -= drawn;
            weight_left -= weight;
        }
    }

    fn scatter(&self, _: &Block, _: &Assignment, _: &mut [OpenBucket]) {}

    fn seal(&self, _: &mut Chunk) {}

    fn stamp(&self, _: &mut Buffer, _: Stamp) {}

    fn unseal(&self, _: &Buffer, share: Size, _: Stamp) -> Option<(Size, Vec<Mark>)> {
        Some((share, Vec::new()))
    }

    fn sort(&self, _: &Bucket, _: &mut Workspace) -> io::Result<Sum> {
        Ok(Sum::default())
    }

    fn sum_of(&self, _: &[u8]) -> Sum {
        Sum::default()
    }

    /// Records that are only counted have no order that some of them come before.
    fn keep_before(&self, _: &mut Block, _: &[u8]) {}

    fn keep_sorted(&self, _: &mut Bucket, _: &mut Workspace) {}

    fn sum_of_first(&self, _: Sorted<'_>, rows: usize) -> Sum {
        Sum {
            size: self.framing.of(rows as u64),
            crc: 0,
        }
    }

    fn keys_equal(&self, _: &[u8], _: &[u8]) -> bool {
        false
    }

    fn gather(&self, sorted: Sorted<'_>, first: usize, room: Room, _: RecordsAt<'_>) -> Size {
        let gathered = self.framing.room_for(first as u64);
        let left = self.framing.size_of(sorted.bucket.size.bytes - gathered);
        room.take(left, self.framing)
    }

    fn align(&self, block: &mut Block) {
        block.start = 0;
    }

    fn merge(&self, merging: &mut Merging, room: Room, _: RecordsAt<'_>) -> Merged {
        merging.count(
            self.seed,
            room.take(self.framing.of(u64::from(u32::MAX)), self.framing),
        )
    }

    fn check(&self, _: RecordsAt<'_>, _: Size, _: &mut Edges) -> Result<u64, usize> {
        Ok(0)
    }

    fn in_order(&self, _: &[u8], _: &[u8]) -> bool {
        true
    }
}

/// With fewer records a bucket on average they are thrown, and not drawn bucket by bucket.
const FEW: u64 = 8;

/// Records of a place of the sample: their number says how many buckets there are at most, and nothing else.
const SAMPLED: u64 = 2;

/// The most lumps of a block. Of a message of 1.65 MB that is about TritonSort's LDBuffer, the unit in which
/// its lists grow.
const LUMPS: u64 = 128;

/// Below this many trials they are drawn one by one; above, a normal distribution is near enough.
const ONE_BY_ONE: u64 = 64;

/// How many of `trials` succeed, each with `probability`. Uses additions, products and square roots
/// alone, which are the same on every machine.
fn binomial(random: &mut Random, trials: u64, probability: f64) -> u64 {
    if probability >= 1.0 {
        return trials;
    }
    if trials <= ONE_BY_ONE {
        return (0..trials).filter(|_| unit(random) < probability).count() as u64;
    }
    let mean = trials as f64 * probability;
    let deviation = (mean * (1.0 - probability)).sqrt();
    // A sum of twelve uniform numbers is nearly normal, with variance 1.
    let normal: f64 = (0..12).map(|_| unit(random)).sum::<f64>() - 6.0;
    (mean + deviation * normal + 0.5).clamp(0.0, trials as f64) as u64
}

/// Uniform in 0..1, with 53 bits.
fn unit(random: &mut Random) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(first: u64, size: Size) -> Block {
        Block {
            first,
            size,
            start: 0,
            buffer: Buffer::counted(size.bytes as usize),
            marks: Vec::new(),
        }
    }

    fn classify(skew: f64, buckets: usize, records: u64) -> Vec<u64> {
        let counts = Counts::new(100, skew, 1);
        let splitters = Splitters::even(buckets);
        let mut found = Assignment::default();
        let block = block(700, counts.framing.of(records));
        counts.classify(&block, &splitters, &mut found);
        found.sizes.iter().map(|size| size.records).collect()
    }

    #[test]
    fn every_record_falls_into_a_bucket_evenly() {
        for (buckets, records) in [(1, 1000), (2, 1), (10, 0), (10, 100_000), (1000, 40_000)] {
            let drawn = classify(1.0, buckets, records);
            assert_eq!(drawn.len(), buckets);
            assert_eq!(drawn.iter().sum::<u64>(), records);
        }
        let drawn = classify(1.0, 10, 100_000);
        assert!(
            drawn.iter().all(|&count| (9_400..10_600).contains(&count)),
            "{drawn:?}"
        );
    }

    #[test]
    fn a_skew_makes_the_first_bucket_larger() {
        let drawn = classify(9.0, 5, 100_000);
        let ratio = drawn[0] as f64 / drawn[4] as f64;
        assert!((8.0..10.0).contains(&ratio), "{drawn:?}");
        assert!(drawn.is_sorted_by(|a, b| a > b));
    }
}
