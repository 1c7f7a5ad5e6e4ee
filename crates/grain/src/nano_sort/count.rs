//! How many messages NanoSort sends, from its parameters alone.
//!
//! The numbers of names, medians, splitters and buckets are known before anything runs; how many
//! questions a core has for values follows from where its keys were at first. How often a bucket
//! needs a second message, and where keys go alone, is counted by the cores.

use std::collections::BTreeMap;

use node::Rank;

use super::partition::Partition;
use super::reading::Exchange;
use super::{NanoSort, redistribute};
use crate::records::{Part, Records};

/// Messages that so many cores send, without those whose number the keys decide. A multicast is one
/// message where the network can, and one to each member where it cannot.
pub(super) fn messages(program: &NanoSort, cores: u32, multicast: bool) -> u64 {
    let mut sum = u64::from(cores) * u64::from(program.keys);
    // How many groups of each size there are on a level.
    let mut groups = BTreeMap::from([(cores, 1_u64)]);
    while groups.keys().any(|cores| *cores > 1) {
        let mut next = BTreeMap::new();
        for (cores, count) in groups.into_iter().filter(|(cores, _)| *cores > 1) {
            let group = Partition::of_all(cores, program.buckets);
            sum += count * of_level(program, group, multicast);
            for column in 0..group.columns() {
                *next.entry(group.rows(column)).or_default() += count;
            }
        }
        groups = next;
    }
    sum
}

/// Messages that ask for values and that bring them, for these parts of these records: an answer
/// for each key that lies on another core than at first, and a question for each such core, or
/// several when only some keys may be asked for at a time.
pub(super) fn of_values(records: Records, parts: &[Part]) -> u64 {
    let cores = parts.len() as u32;
    let of_core = |rank: Rank| {
        records
            .of(rank, cores)
            .into_iter()
            .map(move |key| (key, rank))
    };
    let mut all: Vec<_> = (0..cores).map(Rank).flat_map(of_core).collect();
    all.sort_unstable();
    let most = redistribute::in_a_question(records.each);
    let (mut rest, mut messages) = (&all[..], 0);
    for (rank, part) in (0..cores).map(Rank).zip(parts) {
        let (own, after) = rest.split_at(part.keys.len().min(rest.len()));
        rest = after;
        let mut origins: Vec<_> = own.iter().map(|(_, origin)| *origin).collect();
        origins.retain(|origin| *origin != rank);
        origins.sort_unstable();
        let questions = origins
            .chunk_by(|one, next| one == next)
            .map(|same| same.len().div_ceil(most));
        messages += origins.len() + questions.sum::<usize>();
    }
    messages as u64
}

/// Of one level of one group.
fn of_level(program: &NanoSort, group: Partition, multicast: bool) -> u64 {
    let borders = u64::from(group.columns()) - 1;
    let naming = |column| u64::from(group.first_rows(column, program.reading.rows));
    let names = (0..group.columns()).map(naming).sum::<u64>() * borders;
    let medians: u64 = (1..group.columns()).map(|column| naming(column) - 1).sum();
    let cores = u64::from(group.cores());
    let to_all = if multicast { 1 } else { cores };
    let exchange = match program.reading.exchange {
        Exchange::Buckets => cores * (borders + 1),
        Exchange::Keys => cores - 1 + to_all,
    };
    names + medians + borders * to_all + exchange
}

#[cfg(test)]
mod tests {
    use super::super::Reading;
    use super::*;

    /// By hand: 256 cores, 8 buckets, 32 keys (docs/decisions/0009).
    #[test]
    fn the_closed_form_is_the_sum_by_hand() {
        let program = NanoSort {
            keys: 32,
            buckets: 8,
            ..NanoSort::default()
        };
        let names = 256 * 7 + 8 * 32 * 7 + 64 * 4 * 3;
        let medians = 7 * 31 + 8 * 7 * 3;
        let (shuffle, buckets) = (256 * 32, 256 * (8 + 8 + 4));
        let fixed = shuffle + names + medians + buckets;
        let borders = 7 + 8 * 7 + 64 * 3;
        assert_eq!(messages(&program, 256, true), fixed + borders);
        let unicast = 256 * 7 + 8 * 7 * 32 + 64 * 3 * 4;
        assert_eq!(messages(&program, 256, false), fixed + unicast);
        let rows = Reading {
            rows: Some(10),
            ..Reading::default()
        };
        let of_ten = NanoSort {
            reading: rows,
            ..program
        };
        let fewer = (32 - 10) * 8 * 7 + (31 - 9) * 7;
        assert_eq!(messages(&of_ten, 256, true), fixed + borders - fewer);
    }

    #[test]
    fn one_core_sends_its_keys_to_itself() {
        assert_eq!(messages(&NanoSort::default(), 1, true), 16);
    }
}
