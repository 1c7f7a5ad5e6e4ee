//! How keys are divided among ranks, and those of a rank among its partitions.
//!
//! ```text
//! rank r    its sample: thinned to the root > which chooses elements that divide the ranks > to all
//!           its sample: cut there, each part to the rank whose keys it has
//! ```
//!
//! Everybody sees only what it needs: the root some thousand records of each rank, a rank those of
//! its range.

use node::Node;
use pipeline::Failure;

use crate::agreement::Agreement;
use crate::error::SortError;
use crate::records::block::BLOCK_BYTES;
use crate::records::contents::{Contents, Sample};
use crate::records::splitters::Splitters;

/// Records that the root sees of each rank, on average: parts come out within 1/sqrt of that of
/// each other, so hardly ever one in twenty too large.
const SEEN_OF_EACH: usize = 4096;

/// Who the ranges are divided among.
pub(crate) struct Among<'a> {
    pub contents: &'a dyn Contents,
    /// By range: the rank that has it; not all ranges need one.
    pub owners: Vec<Option<u32>>,
    /// What divides the ranges, if that was chosen before.
    pub known: Option<Sample>,
}

impl Among<'_> {
    /// Chooses what divides the ranges, from a part of all samples.
    async fn choose(
        &self,
        node: &Node,
        agreement: &mut Agreement,
        sample: &Sample,
        sampled: u64,
    ) -> Result<Splitters, Failure> {
        let (contents, ranges) = (self.contents, self.owners.len());
        let bytes = contents.record_bytes();
        let order = contents
            .order()
            .expect("real records: it was looked at before");
        let shown = shown(ranges, sample.positions.len(), sampled);
        let thin = sample.thinned(bytes, shown).to_bytes();
        let choose = |thinned: Vec<Vec<u8>>| {
            let thinned = thinned
                .iter()
                .filter_map(|part| Sample::from_bytes(part, bytes));
            let mut whole = Sample::default();
            thinned.for_each(|part| whole.add(&part));
            contents.splitters(&whole, ranges).elements().to_bytes()
        };
        let chosen = agreement.decide(node, thin, choose).await?;
        let chosen = Sample::from_bytes(&chosen, bytes).ok_or(SortError::Garbled { rank: 0 })?;
        let parts = chosen.positions.len() + 1;
        if parts > ranges {
            let what = format!("{parts} parts of the keys for {ranges} ranges");
            return Err(SortError::Foreign { rank: 0, what }.into());
        }
        Ok(Splitters::of(order, chosen))
    }
}

/// How keys are divided.
pub(crate) struct Division {
    /// What divides the ranks.
    pub ranks: Splitters,
    /// What all of them sampled of this one's range.
    own: Sample,
    /// How many records they sampled.
    sampled: u64,
}

impl Division {
    /// Places to look at for each rank, at least: each gives the records of a disk block.
    pub(crate) fn places(record_bytes: usize) -> u64 {
        SEEN_OF_EACH.div_ceil((BLOCK_BYTES as usize / record_bytes).max(1)) as u64
    }

    /// Agrees on it; `sampled` are the records that each rank has sampled.
    pub(crate) async fn agree(
        node: &Node,
        agreement: &mut Agreement,
        among: &Among<'_>,
        sample: &Sample,
        sampled: &[u64],
    ) -> Result<Division, Failure> {
        let (all, ranks) = (sampled.iter().sum::<u64>(), node.nodes() as usize);
        let contents = among.contents;
        let bytes = contents.record_bytes();
        let order = contents
            .order()
            .expect("real records: it was looked at before");
        let splitters = match &among.known {
            Some(known) => Splitters::of(order, known.clone()),
            None => among.choose(node, agreement, sample, all).await?,
        };
        let mut parts = vec![Vec::new(); ranks];
        for (part, owner) in splitters.divide(order, sample).iter().zip(&among.owners) {
            if let Some(owner) = owner {
                parts[*owner as usize] = part.to_bytes();
            }
        }
        let mut own = Sample::default();
        for (rank, part) in (0..).zip(agreement.all_to_all(node, parts).await?) {
            let part = Sample::from_bytes(&part, bytes).ok_or(SortError::Garbled { rank })?;
            own.add(&part);
        }
        Ok(Division {
            ranks: splitters,
            own,
            sampled: all,
        })
    }

    /// Records of this rank's range, about, of so many in all.
    pub(crate) fn records(&self, total: u64) -> u64 {
        let own = self.own.positions.len() as u128;
        (u128::from(total) * own / u128::from(self.sampled.max(1))) as u64
    }

    /// What divides this rank's range into partitions.
    pub(crate) fn partitions(&self, contents: &dyn Contents, buckets: usize) -> Splitters {
        match self.own.positions.is_empty() {
            true => Splitters::even(1),
            false => contents.splitters(&self.own, buckets),
        }
    }
}

/// How many of its `own` records a rank shows to the root, when all ranks have sampled so many.
fn shown(ranges: usize, own: usize, sampled: u64) -> usize {
    ((SEEN_OF_EACH * ranges) as u64 * own as u64 / sampled.max(1)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_sees_as_much_of_each_range_whatever_ranks_have_sampled() {
        assert_eq!(shown(4, 10_000, 40_000), SEEN_OF_EACH);
        assert_eq!(shown(4, 30_000, 40_000), 3 * SEEN_OF_EACH);
        assert_eq!((shown(4, 0, 40_000), shown(4, 0, 0)), (0, 0));
    }

    #[test]
    fn places_give_as_many_records_as_the_root_sees() {
        assert_eq!(Division::places(100), 103, "of 40 records each");
        assert_eq!([4096, 5000].map(Division::places), [4096; 2], "of one");
    }

    /// A range has the part of all records that it has of all samples.
    #[test]
    fn a_range_has_its_part_of_the_sample() {
        let of = |own: usize, sampled| {
            let own = Sample {
                records: Vec::new(),
                positions: vec![0; own],
            };
            Division {
                ranks: Splitters::even(1),
                own,
                sampled,
            }
            .records(1 << 40)
        };
        assert_eq!(
            [of(25, 100), of(100, 100), of(0, 100)],
            [1 << 38, 1 << 40, 0]
        );
        assert_eq!(of(0, 0), 0, "nothing was sampled");
    }
}
