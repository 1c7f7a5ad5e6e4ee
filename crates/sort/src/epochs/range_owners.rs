//! Who goes on with what: which rank takes which range of keys, and reads which part of the input,
//! when a sort is gone on with by those who are there.
//!
//! ```text
//! ranges    0      1      2      3        as many as there were ranks at first
//! seen by   r0     r1            r2       range 2 is lost: its rank's disk is gone
//! rounds    0>r0   1>r1          3>r2     those go on where they were
//!                         2>r0            all inputs are read again for it
//! ```
//!
//! Arithmetic alone: every rank finds the same.

use std::collections::BTreeSet;

/// A range that some rank sees, and how many of its epochs are durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub rank: u32,
    pub range: u32,
    pub epochs: u32,
}

/// The ranges whose records are exchanged together, from an epoch on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Round {
    /// By range: the rank that has it in this round.
    pub owners: Vec<Option<u32>>,
    pub from: u32,
}

impl Round {
    /// All ranges, each the rank's of its number.
    pub(crate) fn first(ranks: u32) -> Round {
        Round {
            owners: (0..ranks).map(Some).collect(),
            from: 0,
        }
    }

    /// The range that a rank has.
    pub(crate) fn range_of(&self, rank: u32) -> Option<u32> {
        let found = self.owners.iter().position(|&owner| owner == Some(rank));
        found.map(|range| range as u32)
    }
}

/// Who goes on with what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Holders {
    /// By range: the rank that sorts it in the end.
    pub of: Vec<u32>,
    /// Ranges that are gone on with as they are; the others are begun again.
    pub kept: BTreeSet<u32>,
    pub rounds: Vec<Round>,
}

/// Deals `ranges` ranges of `epochs` epochs to ranks. A range that several see is its first rank's,
/// or that of the one with the fewest; those that nobody sees go where the fewest are, too.
pub(crate) fn deal(seen: &[Seen], ranks: u32, ranges: u32, epochs: u32) -> Holders {
    let mut load = vec![0; ranks as usize];
    let mut of = vec![None; ranges as usize];
    for range in 0..ranges {
        let ours = seen
            .iter()
            .filter(|seen| seen.range == range && seen.rank < ranks);
        // Whoever has the most of it; then its own rank; then the one with the fewest.
        let best = ours.max_by_key(|seen| {
            (
                seen.epochs,
                seen.rank == range,
                std::cmp::Reverse(load[seen.rank as usize]),
            )
        });
        if let Some(best) = best {
            load[best.rank as usize] += 1;
            of[range as usize] = Some((best.rank, best.epochs));
        }
    }
    let mut kept = BTreeSet::new();
    let mut going_on = Round {
        owners: vec![None; ranges as usize],
        from: epochs,
    };
    let mut lost = Vec::new();
    for range in 0..ranges {
        match of[range as usize] {
            Some((_, all)) if all == epochs => {
                kept.insert(range);
            }
            // One at a time: a rank receives for one range.
            Some((rank, some)) if going_on.range_of(rank).is_none() => {
                kept.insert(range);
                going_on.owners[range as usize] = Some(rank);
                going_on.from = going_on.from.min(some);
            }
            _ => lost.push(range),
        }
    }
    let mut rounds = Vec::new();
    if going_on.owners.iter().any(Option::is_some) {
        rounds.push(going_on);
    }
    let mut again: Vec<Round> = Vec::new();
    for range in lost {
        let rank = match of[range as usize] {
            Some((rank, _)) => rank,
            None => {
                let rank = (0..ranks)
                    .min_by_key(|&rank| load[rank as usize])
                    .expect("a rank");
                load[rank as usize] += 1;
                of[range as usize] = Some((rank, 0));
                rank
            }
        };
        let free = again
            .iter_mut()
            .find(|round| round.range_of(rank).is_none());
        match free {
            Some(round) => round.owners[range as usize] = Some(rank),
            None => {
                let mut owners = vec![None; ranges as usize];
                owners[range as usize] = Some(rank);
                again.push(Round { owners, from: 0 });
            }
        }
    }
    rounds.append(&mut again);
    let of = of
        .into_iter()
        .map(|owner| owner.expect("all were dealt").0)
        .collect();
    Holders { of, kept, rounds }
}

/// Which rank reads which part of the input: its own rank if that can, else the one with the
/// fewest.
///
/// # Errors
/// A part that no rank can read.
pub(crate) fn readers(can: &[Vec<u32>], parts: u32) -> Result<Vec<u32>, u32> {
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
    fn who_was_there_goes_on() {
        let holders = deal(&seen(&[(0, 0, 3), (1, 1, 2), (2, 2, 3)]), 3, 3, 5);
        let owners = vec![Some(0), Some(1), Some(2)];
        assert_eq!(holders.rounds, [Round { owners, from: 2 }]);
        assert_eq!(holders.kept.len(), 3);
        // All have come: there is nothing to exchange.
        let holders = deal(&seen(&[(0, 0, 5), (1, 1, 5), (2, 2, 5)]), 3, 3, 5);
        assert_eq!((holders.of, holders.rounds), (vec![0, 1, 2], vec![]));
    }

    #[test]
    fn what_is_lost_is_begun_again() {
        let holders = deal(&seen(&[(0, 0, 5), (1, 1, 5), (2, 3, 5)]), 3, 4, 5);
        assert_eq!(holders.of, [0, 1, 0, 2]);
        assert!(!holders.kept.contains(&2));
        let owners = vec![None, None, Some(0), None];
        assert_eq!(holders.rounds, [Round { owners, from: 0 }]);
    }

    #[test]
    fn one_rank_may_take_all() {
        let holders = deal(&seen(&[(0, 0, 2), (0, 1, 2), (0, 2, 5)]), 1, 3, 5);
        assert_eq!(holders.of, [0, 0, 0]);
        let round = |range: usize, from| {
            let mut owners = vec![None; 3];
            owners[range] = Some(0);
            Round { owners, from }
        };
        assert_eq!(holders.rounds, [round(0, 2), round(1, 0)]);
        assert_eq!(holders.kept, [0, 2].into());
    }

    #[test]
    fn the_furthest_of_two_is_taken() {
        let holders = deal(&seen(&[(0, 0, 5), (1, 0, 4), (1, 1, 4)]), 2, 2, 5);
        assert_eq!(holders.of, [0, 1]);
        let holders = deal(
            &seen(&[(0, 0, 4), (0, 1, 4), (1, 0, 4), (1, 1, 4)]),
            2,
            2,
            5,
        );
        assert_eq!(holders.of, [0, 1]);
    }

    /// Whatever is seen by whom: each range has one holder, and comes whole in the rounds.
    #[test]
    fn every_range_is_dealt_once() {
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
            let holders = deal(&all, ranks, ranges, epochs);
            assert_eq!(holders.of.len(), ranges as usize);
            for range in 0..ranges {
                let rounds: Vec<&Round> = holders
                    .rounds
                    .iter()
                    .filter(|round| round.owners[range as usize].is_some())
                    .collect();
                let has =
                    |seen: &&Seen| seen.range == range && seen.rank == holders.of[range as usize];
                let durable = all.iter().filter(has).map(|seen| seen.epochs).max();
                match (holders.kept.contains(&range), rounds.as_slice()) {
                    (true, []) => assert_eq!(durable, Some(epochs), "seed {seed}"),
                    (true, [round]) => assert!(durable.unwrap() >= round.from, "seed {seed}"),
                    (false, [round]) => assert_eq!(round.from, 0, "seed {seed}"),
                    other => panic!("seed {seed}: {other:?}"),
                }
                for round in rounds {
                    let owner = round.owners[range as usize];
                    assert_eq!(owner, Some(holders.of[range as usize]), "seed {seed}");
                    let twice = round.owners.iter().filter(|&&other| other == owner).count();
                    assert_eq!(twice, 1, "seed {seed}");
                }
            }
        }
    }

    #[test]
    fn every_part_has_a_reader() {
        assert_eq!(
            readers(&[vec![0, 1, 2], vec![0, 1, 2]], 3),
            Ok(vec![0, 1, 0])
        );
        assert_eq!(readers(&[vec![0, 2], vec![1, 2]], 3), Ok(vec![0, 1, 0]));
        assert_eq!(readers(&[vec![0], vec![1]], 3), Err(2));
        let all = vec![0, 1, 2, 3, 4];
        assert_eq!(
            readers(&[all.clone(), all], 5),
            Ok(vec![0, 1, 0, 1, 0]),
            "in turn"
        );
    }
}
