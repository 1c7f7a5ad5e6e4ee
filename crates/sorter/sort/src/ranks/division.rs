//! The division of the keys: among ranks, and within a rank among its partitions.
//!
//! ```text
//! rank r    its sample, thinned > the root, which chooses the ranks' splitters > all ranks
//!           its sample, cut at these splitters > each part to the rank that owns it
//! ```
//!
//! The root sees a few thousand records of each rank, and a rank those of its own range.

use node::Node;
use pipeline::Failure;

use crate::agreement::Agreement;
use crate::error::SortError;
use crate::ranks::shares::{STEPS, weighted};
use crate::records::block::BLOCK_BYTES;
use crate::records::contents::Contents;
use crate::records::framing::Framing;
use crate::records::sample::Sample;
use crate::records::size::{middles, portion};
use crate::records::splitters::Splitters;

/// Records that the root sees of each rank, on average. The sizes of ranges differ by 1/sqrt of
/// that, so hardly ever by one in twenty.
const SEEN_OF_EACH: usize = 4096;

pub(crate) struct Among<'a> {
    pub contents: &'a dyn Contents,
    /// By range: its owner, if it has one in this round.
    pub owners: Vec<Option<u32>>,
    /// By range: its part of the records, in any unit.
    pub weights: Vec<u64>,
    /// Records of a sample of random keys, if none is drawn from the input.
    pub random_keys: Option<u64>,
    /// The splitters of the ranges, if they were chosen before.
    pub known: Option<Sample>,
}

impl Among<'_> {
    /// Chooses the splitters of the ranges, on the root, from a part of all samples.
    async fn choose(
        &self,
        node: &Node,
        agreement: &mut Agreement,
        sample: &Sample,
        sampled: u64,
    ) -> Result<Splitters, Failure> {
        let (contents, ranges) = (self.contents, self.owners.len());
        let framing = contents.framing();
        let shown = shown(ranges, sample.bytes(), sampled);
        let thin = sample.thinned(shown).to_bytes();
        let choose = |thinned: Vec<Vec<u8>>| {
            let thinned = thinned
                .iter()
                .filter_map(|part| Sample::from_bytes(part, framing));
            let mut whole = Sample::default();
            thinned.for_each(|part| whole.add(&part));
            if self.weights.iter().all(|&weight| weight == self.weights[0]) {
                return contents.splitters(&whole, ranges).elements().to_bytes();
            }
            let steps = contents.splitters(&whole, STEPS * ranges);
            weighted(steps.elements(), &self.weights).to_bytes()
        };
        let chosen = agreement.decide(node, thin, choose).await?;
        let chosen = Sample::from_bytes(&chosen, framing).ok_or(SortError::Garbled { rank: 0 })?;
        let parts = chosen.len() + 1;
        if parts > ranges {
            let what = format!("{parts} parts of the keys for {ranges} ranges");
            return Err(SortError::Foreign { rank: 0, what }.into());
        }
        let foreign = || SortError::Garbled { rank: 0 };
        Ok(contents.known_splitters(chosen).ok_or_else(foreign)?)
    }

    /// The division of a rank if the bytes of keys are random, with a sample of so many: no rank need hear of
    /// another's records.
    fn by_random_keys(&self, rank: u32, records: u64) -> Division {
        let ranges = self.weights.len();
        let upto = |range: usize| self.weights[..range].iter().sum::<u64>();
        let all = upto(ranges);
        let place = |range: usize| portion(u64::MAX, upto(range), all);
        let between = self.contents.records_at(&mut (1..ranges).map(place));
        let mine = self.owners.iter().position(|&owner| owner == Some(rank));
        let own = mine.map(|range| {
            let mut keys = middles(place(range)..place(range + 1), records);
            (self.contents.records_at(&mut keys), self.weights[range])
        });
        let (own, weight) = own.unwrap_or((Sample::default(), 1));
        Division {
            ranks: self.contents.splitters(&between, ranges),
            sampled: portion(own.bytes() as u64, all, weight),
            own,
        }
    }
}

pub(crate) struct Division {
    /// Splitters of the ranges.
    pub ranks: Splitters,
    /// All ranks' samples of this rank's range.
    own: Sample,
    /// Bytes of the records that all ranks sampled.
    sampled: u64,
}

impl Division {
    /// Least number of places to sample for each rank: each place gives the records of a disk
    /// block.
    pub(crate) fn places(framing: Framing) -> u64 {
        (SEEN_OF_EACH as u64).div_ceil(framing.most_in(BLOCK_BYTES).max(1))
    }

    /// Divides the keys with all other ranks. `sampled` are the bytes of the records that each rank
    /// sampled.
    pub(crate) async fn agree(
        node: &Node,
        agreement: &mut Agreement,
        among: &Among<'_>,
        sample: &Sample,
        sampled: &[u64],
    ) -> Result<Division, Failure> {
        let (all, ranks) = (sampled.iter().sum::<u64>(), node.nodes() as usize);
        let contents = among.contents;
        let framing = contents.framing();
        if let Some(records) = among.random_keys.filter(|_| among.known.is_none()) {
            return Ok(among.by_random_keys(node.rank().0, records));
        }
        let splitters = match &among.known {
            Some(known) => contents
                .known_splitters(known.clone())
                .expect("it was checked when it was read"),
            None => among.choose(node, agreement, sample, all).await?,
        };
        let mut parts = vec![Vec::new(); ranks];
        for (part, owner) in contents
            .divide(&splitters, sample)
            .iter()
            .zip(&among.owners)
        {
            if let Some(owner) = owner {
                parts[*owner as usize] = part.to_bytes();
            }
        }
        let mut own = Sample::default();
        for (rank, part) in (0..).zip(agreement.all_to_all(node, parts).await?) {
            let part = Sample::from_bytes(&part, framing).ok_or(SortError::Garbled { rank })?;
            own.add(&part);
        }
        Ok(Division {
            ranks: splitters,
            own,
            sampled: all,
        })
    }

    /// This rank's estimated share of `total` bytes.
    pub(crate) fn share(&self, total: u64) -> u64 {
        portion(total, self.own.bytes() as u64, self.sampled)
    }

    /// Splitters of this rank's range.
    pub(crate) fn partitions(&self, contents: &dyn Contents, buckets: usize) -> Splitters {
        if self.own.is_empty() {
            Splitters::even(1)
        } else {
            contents.splitters(&self.own, buckets)
        }
    }
}

/// How many of its sampled records a rank shows to the root: `own` of `sampled` bytes on all ranks.
fn shown(ranges: usize, own: usize, sampled: u64) -> usize {
    ((SEEN_OF_EACH * ranges) as u64 * own as u64 / sampled.max(1)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_sees_equally_many_records_per_range() {
        assert_eq!(shown(4, 10_000, 40_000), SEEN_OF_EACH);
        assert_eq!(shown(4, 30_000, 40_000), 3 * SEEN_OF_EACH);
        assert_eq!((shown(4, 0, 40_000), shown(4, 0, 0)), (0, 0));
    }

    #[test]
    fn places_give_as_many_records_as_the_root_sees() {
        let places = |bytes| Division::places(Framing::fixed(bytes));
        assert_eq!(places(100), 103, "of 40 records each");
        assert_eq!([4096, 5000].map(places), [4096; 2], "of one");
    }

    /// A range's share of all records is its share of all samples.
    #[test]
    fn a_range_has_its_share_of_the_sample() {
        let of = |own: usize, sampled| {
            let mut sample = Sample::default();
            (0..own).for_each(|_| sample.push(&[0], 0));
            Division {
                ranks: Splitters::even(1),
                own: sample,
                sampled,
            }
            .share(1 << 40)
        };
        assert_eq!(
            [of(25, 100), of(100, 100), of(0, 100)],
            [1 << 38, 1 << 40, 0]
        );
        assert_eq!(of(0, 0), 0, "nothing was sampled");
    }
}
