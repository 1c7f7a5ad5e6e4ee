//! Range owners: which rank continues which range of keys, and reads which part of the input, when
//! a sort is resumed.
//!
//! ```text
//! ranges     0      1      2      3        one for each rank that began the sort
//! found by   r0     r1            r2       range 2 is lost: the disk of its rank is gone
//! rounds     0>r0   1>r1          3>r2     continued by the ranks that found them
//!                          2>r0            sorted again, from the first record of all inputs
//! ```
//!
//! This is arithmetic alone: every rank computes the same.

use std::collections::BTreeSet;

/// A range that a rank has found, and the number of its durable epochs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub rank: u32,
    pub range: u32,
    pub epochs: u32,
}

/// Ranges whose records are exchanged together, from an epoch on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Round {
    /// By range: the rank that receives its records in this round.
    pub owners: Vec<Option<u32>>,
    pub from: u32,
}

impl Round {
    /// All ranges, each owned by the rank of its number.
    pub(crate) fn first(ranks: u32) -> Round {
        Round {
            owners: (0..ranks).map(Some).collect(),
            from: 0,
        }
    }

    pub(crate) fn range_of(&self, rank: u32) -> Option<u32> {
        let found = self.owners.iter().position(|&owner| owner == Some(rank));
        found.map(|range| range as u32)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RangeAssignment {
    /// By range: the rank that sorts it.
    pub owners: Vec<u32>,
    /// Ranges that continue from saved progress; the others start again.
    pub continued: BTreeSet<u32>,
    pub rounds: Vec<Round>,
}

impl RangeAssignment {
    /// Whether the ranges of a round continue from saved progress; those of other rounds start
    /// again.
    pub(crate) fn continues(&self, round: &Round) -> bool {
        let mut owned = (0..).zip(&round.owners);
        owned.any(|(range, owner)| owner.is_some() && self.continued.contains(&range))
    }

    /// Percentage of the work of all ranges that is saved. Each phase is half of the work; phase
    /// one is counted in epochs, of `epochs`, and `written` is the percentage of phase two by
    /// range. Splitters make ranges about equal, so they count alike.
    pub(crate) fn percent_done(&self, epochs: u32, written: &[u32]) -> u32 {
        let done = |&range: &u32| {
            let mut rounds = self.rounds.iter();
            let round = rounds.find(|round| round.owners[range as usize].is_some());
            // A round continues from the last epoch that all its ranges have.
            let durable = round.map_or(epochs, |round| round.from);
            100 * durable / epochs + written[range as usize]
        };
        let all: u32 = self.continued.iter().map(done).sum();
        all / (2 * written.len() as u32)
    }
}

/// Assigns all `ranges`, of `epochs` epochs each, to ranks.
///
/// A range goes to the rank that has most of it. Equal ones go to the rank of the range's number,
/// or to the rank with the fewest ranges; so do lost ones.
pub(crate) fn assign_ranges(
    seen: &[Seen],
    ranks: u32,
    ranges: u32,
    epochs: u32,
) -> RangeAssignment {
    let mut load = vec![0; ranks as usize];
    let found = best_copies(seen, ranges, &mut load);
    let mut continued = BTreeSet::new();
    let no_owner = vec![None; ranges as usize];
    let mut continuing = Round {
        owners: no_owner.clone(),
        from: epochs,
    };
    let (mut lost, mut owners) = (Vec::new(), Vec::new());
    for (range, copy) in (0..).zip(found) {
        let is_kept = match copy {
            Some((_, all)) if all == epochs => true,
            // A rank receives for one range at a time.
            Some((rank, some)) if continuing.range_of(rank).is_none() => {
                continuing.owners[range as usize] = Some(rank);
                continuing.from = continuing.from.min(some);
                true
            }
            _ => false,
        };
        if is_kept {
            continued.extend([range])
        } else {
            lost.push(range)
        }
        owners.push(copy.map(|(rank, _)| rank));
    }
    let mut rounds = Vec::new();
    if continuing.owners.iter().any(Option::is_some) {
        rounds.push(continuing);
    }
    let first_lost = rounds.len();
    for range in lost {
        let owner = &mut owners[range as usize];
        let rank = *owner.get_or_insert_with(|| take_idlest(&mut load));
        let mut restarting = rounds[first_lost..].iter_mut();
        match restarting.find(|round| round.range_of(rank).is_none()) {
            Some(round) => round.owners[range as usize] = Some(rank),
            None => {
                let mut owners = no_owner.clone();
                owners[range as usize] = Some(rank);
                rounds.push(Round { owners, from: 0 });
            }
        }
    }
    let assigned = |owner: Option<u32>| owner.expect("every range is assigned");
    RangeAssignment {
        owners: owners.into_iter().map(assigned).collect(),
        continued,
        rounds,
    }
}

/// By range: the rank with the best copy, and the epochs of that. `load` counts the ranges of each
/// rank.
fn best_copies(seen: &[Seen], ranges: u32, load: &mut [usize]) -> Vec<Option<(u32, u32)>> {
    let mut found = Vec::new();
    for range in 0..ranges {
        let copies = seen
            .iter()
            .filter(|seen| seen.range == range && (seen.rank as usize) < load.len());
        let best = copies.max_by_key(|seen| {
            let idle = std::cmp::Reverse(load[seen.rank as usize]);
            (seen.epochs, seen.rank == range, idle)
        });
        if let Some(best) = best {
            load[best.rank as usize] += 1;
        }
        found.push(best.map(|best| (best.rank, best.epochs)));
    }
    found
}

/// The rank with the fewest ranges, which gets one more.
fn take_idlest(load: &mut [usize]) -> u32 {
    let idlest = (0..load.len()).min_by_key(|&rank| load[rank]);
    let idlest = idlest.expect("a rank");
    load[idlest] += 1;
    idlest as u32
}

/// The rank that reads each part of the input: the rank of its number if that rank can read
/// it, otherwise the one with the fewest parts. `can` has the parts that each rank can read.
///
/// # Errors
/// The number of a part that no rank can read.
pub(crate) fn assign_readers(can: &[Vec<u32>], parts: u32) -> Result<Vec<u32>, u32> {
    let mut load = vec![0; can.len()];
    let mut readers = Vec::new();
    for part in 0..parts {
        let able = (0..can.len()).filter(|&rank| can[rank].contains(&part));
        let reader = able
            .min_by_key(|&rank| (rank != part as usize, load[rank]))
            .ok_or(part)?;
        load[reader] += 1;
        readers.push(reader as u32);
    }
    Ok(readers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(all: &[(u32, u32, u32)]) -> Vec<Seen> {
        all.iter()
            .map(|&(rank, range, epochs)| Seen {
                rank,
                range,
                epochs,
            })
            .collect()
    }

    #[test]
    fn ranks_continue_the_ranges_that_they_found() {
        let assigned = assign_ranges(&seen(&[(0, 0, 3), (1, 1, 2), (2, 2, 3)]), 3, 3, 5);
        let owners = vec![Some(0), Some(1), Some(2)];
        assert_eq!(assigned.rounds, [Round { owners, from: 2 }]);
        assert_eq!(assigned.continued.len(), 3);
        // All records have come: nothing is left to exchange.
        let assigned = assign_ranges(&seen(&[(0, 0, 5), (1, 1, 5), (2, 2, 5)]), 3, 3, 5);
        assert_eq!((assigned.owners, assigned.rounds), (vec![0, 1, 2], vec![]));
    }

    #[test]
    fn a_lost_range_is_sorted_again() {
        let assigned = assign_ranges(&seen(&[(0, 0, 5), (1, 1, 5), (2, 3, 5)]), 3, 4, 5);
        assert_eq!(assigned.owners, [0, 1, 0, 2]);
        assert!(!assigned.continued.contains(&2));
        let owners = vec![None, None, Some(0), None];
        assert_eq!(assigned.rounds, [Round { owners, from: 0 }]);
    }

    #[test]
    fn one_rank_may_own_all_ranges() {
        let assigned = assign_ranges(&seen(&[(0, 0, 2), (0, 1, 2), (0, 2, 5)]), 1, 3, 5);
        assert_eq!(assigned.owners, [0, 0, 0]);
        let round = |range: usize, from| {
            let mut owners = vec![None; 3];
            owners[range] = Some(0);
            Round { owners, from }
        };
        assert_eq!(assigned.rounds, [round(0, 2), round(1, 0)]);
        assert_eq!(assigned.continued, [0, 2].into());
    }

    #[test]
    fn the_copy_with_more_epochs_is_continued() {
        let assigned = assign_ranges(&seen(&[(0, 0, 5), (1, 0, 4), (1, 1, 4)]), 2, 2, 5);
        assert_eq!(assigned.owners, [0, 1]);
        let assigned = assign_ranges(
            &seen(&[(0, 0, 4), (0, 1, 4), (1, 0, 4), (1, 1, 4)]),
            2,
            2,
            5,
        );
        assert_eq!(assigned.owners, [0, 1]);
    }

    /// Each range has one owner, whatever ranks have found, and the rounds bring it all its epochs.
    #[test]
    fn every_range_is_assigned_once() {
        for seed in 0..500 {
            let mut random = node::Random::new(seed);
            let (ranks, ranges) = (1 + random.below(4) as u32, 1 + random.below(5) as u32);
            let epochs = 1 + random.below(4) as u32;
            let all = (0..random.below(12)).map(|_| Seen {
                rank: random.below(ranks as usize) as u32,
                range: random.below(ranges as usize) as u32,
                epochs: random.below(epochs as usize + 1) as u32,
            });
            let all: Vec<Seen> = all.collect();
            let assigned = assign_ranges(&all, ranks, ranges, epochs);
            assert_eq!(assigned.owners.len(), ranges as usize);
            for range in 0..ranges {
                let rounds: Vec<&Round> = assigned
                    .rounds
                    .iter()
                    .filter(|round| round.owners[range as usize].is_some())
                    .collect();
                let has = |seen: &&Seen| {
                    seen.range == range && seen.rank == assigned.owners[range as usize]
                };
                let durable = all.iter().filter(has).map(|seen| seen.epochs).max();
                match (assigned.continued.contains(&range), rounds.as_slice()) {
                    (true, []) => assert_eq!(durable, Some(epochs), "seed {seed}"),
                    (true, [round]) => assert!(durable.unwrap() >= round.from, "seed {seed}"),
                    (false, [round]) => assert_eq!(round.from, 0, "seed {seed}"),
                    other => panic!("seed {seed}: {other:?}"),
                }
                for round in rounds {
                    let owner = round.owners[range as usize];
                    assert_eq!(owner, Some(assigned.owners[range as usize]), "seed {seed}");
                    let twice = round.owners.iter().filter(|&&other| other == owner).count();
                    assert_eq!(twice, 1, "seed {seed}");
                }
            }
        }
    }

    #[test]
    fn every_part_has_a_reader() {
        assert_eq!(
            assign_readers(&[vec![0, 1, 2], vec![0, 1, 2]], 3),
            Ok(vec![0, 1, 0])
        );
        assert_eq!(
            assign_readers(&[vec![0, 2], vec![1, 2]], 3),
            Ok(vec![0, 1, 0])
        );
        assert_eq!(assign_readers(&[vec![0], vec![1]], 3), Err(2));
        let all = vec![0, 1, 2, 3, 4];
        assert_eq!(
            assign_readers(&[all.clone(), all], 5),
            Ok(vec![0, 1, 0, 1, 0]),
            "in turn"
        );
    }

    #[test]
    fn progress_is_counted_over_both_phases() {
        // Range 0 has all records and half of its output; range 1 has two epochs of four, of which
        // range 2 has one; range 3 is lost.
        let assigned = assign_ranges(&seen(&[(0, 0, 4), (1, 1, 2), (2, 2, 1)]), 3, 4, 4);
        assert_eq!(
            assigned.percent_done(4, &[50, 0, 0, 0]),
            (150 + 25 + 25) / 8
        );
        let done = assign_ranges(&seen(&[(0, 0, 4), (1, 1, 4)]), 2, 2, 4);
        assert_eq!(done.percent_done(4, &[100, 100]), 100);
        let nothing = assign_ranges(&[], 2, 2, 4);
        assert_eq!(nothing.percent_done(4, &[0, 0]), 0);
    }
}
