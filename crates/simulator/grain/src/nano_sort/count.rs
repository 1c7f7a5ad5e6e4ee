//! The number of messages that NanoSort sends, from its parameters and keys.
//!
//! The numbers of pivots, medians, splitting values and buckets follow from the parameters; the
//! number of requests for values follows from where the keys were at first. Nodes count only what
//! depends on the splitting values: the further messages of long buckets, and messages per key. They
//! count the waves of `--phase-end counts` after the first one, too, which depend on times.

use std::collections::BTreeMap;

use node::Rank;

use super::exchange::messages_of_counts;
use super::group::NodeGroup;
use super::{Exchange, NanoSort, PhaseEnd, values};
use crate::records::{Part, Records};

/// Messages of `cores` nodes, without those that the nodes count. Without multicast in the network
/// a multicast is one message per member.
pub(super) fn messages(program: &NanoSort, cores: u32, multicast: bool) -> u64 {
    let mut sum = u64::from(cores) * u64::from(program.keys);
    sum += program.bvh.map_or(0, |_| u64::from(cores) - 1);
    // The number of groups of each size on a level.
    let mut groups = BTreeMap::from([(cores, 1_u64)]);
    while groups.keys().any(|nodes| *nodes > 1) {
        let mut next = BTreeMap::new();
        for (nodes, count) in groups.into_iter().filter(|(nodes, _)| *nodes > 1) {
            let group = NodeGroup::all(nodes, program.buckets);
            sum += count * of_level(program, &group, multicast);
            for bucket in 0..group.buckets() {
                *next.entry(group.nodes_of(bucket)).or_default() += count;
            }
        }
        groups = next;
    }
    sum
}

/// Requests and replies for the values of these parts of the records: a reply for each key that has
/// moved to another node, and a request for each origin of a node's keys, or several.
pub(super) fn of_values(records: Records, parts: &[Part]) -> u64 {
    let origins = by_key(records, parts.len() as u32);
    let origins: Vec<Rank> = origins.into_iter().map(|(_, origin)| origin).collect();
    let most = values::most_in_request(records.each);
    let (mut rest, mut messages) = (&origins[..], 0);
    for (rank, part) in (0..).map(Rank).zip(parts) {
        let (of_part, after) = rest.split_at(part.keys.len().min(rest.len()));
        rest = after;
        let mut others = of_part.to_vec();
        others.retain(|origin| *origin != rank);
        others.sort_unstable();
        let requests = others
            .chunk_by(|one, next| one == next)
            .map(|same| same.len().div_ceil(most));
        messages += others.len() + requests.sum::<usize>();
    }
    messages as u64
}

/// All keys in order, each with its origin.
pub(super) fn by_key(records: Records, cores: u32) -> Vec<(u64, Rank)> {
    let of_node = |rank| {
        records
            .of(rank, cores)
            .into_iter()
            .map(move |key| (key, rank))
    };
    let mut all: Vec<_> = (0..cores).map(Rank).flat_map(of_node).collect();
    all.sort_unstable();
    all
}

/// Messages of one level of a group.
fn of_level(program: &NanoSort, group: &NodeGroup, multicast: bool) -> u64 {
    let nodes = u64::from(group.nodes());
    let values = u64::from(group.buckets()) - 1;
    let selecting = |bucket| u64::from(group.selecting(bucket, program.reading.rows()));
    let pivots = (0..group.buckets()).map(selecting).sum::<u64>() * values;
    let medians: u64 = (1..group.buckets())
        .map(|bucket| selecting(bucket) - 1)
        .sum();
    let broadcast = if multicast { 1 } else { nodes };
    let exchange = match program.reading.exchange() {
        Exchange::Buckets => nodes * (values + 1),
        Exchange::Keys => match program.reading.phase_end() {
            PhaseEnd::Answers => nodes - 1 + broadcast,
            // Up the group, in one wave up each bucket; to each bucket its total, and that it is over.
            PhaseEnd::Counts => {
                let buckets = u64::from(group.buckets());
                let counts = (nodes - 1) * u64::from(messages_of_counts(group.buckets()));
                let each = if multicast { buckets } else { nodes };
                counts + (nodes - buckets) + 2 * each
            }
        },
    };
    pivots + medians + values * broadcast + exchange
}

#[cfg(test)]
mod tests {
    use super::super::{Named, Reading};
    use super::*;

    /// By hand: 256 cores, 8 buckets, 32 keys (docs/decisions/0009).
    #[test]
    fn the_closed_form_is_the_sum_by_hand() {
        let program = NanoSort {
            keys: 32,
            buckets: 8,
            reading: Named::LockStep.into(),
            ..NanoSort::default()
        };
        let pivots = 256 * 7 + 8 * 32 * 7 + 64 * 4 * 3;
        let medians = 7 * 31 + 8 * 7 * 3;
        let (shuffle, buckets) = (256 * 32, 256 * (8 + 8 + 4));
        let fixed = shuffle + pivots + medians + buckets;
        let splitting_values = 7 + 8 * 7 + 64 * 3;
        assert_eq!(messages(&program, 256, true), fixed + splitting_values);
        let unicast = 256 * 7 + 8 * 7 * 32 + 64 * 3 * 4;
        assert_eq!(messages(&program, 256, false), fixed + unicast);
        let rows = Reading {
            rows: Some(10),
            ..Named::LockStep.into()
        };
        let of_ten = NanoSort {
            reading: rows,
            ..program
        };
        let fewer = (32 - 10) * 8 * 7 + (31 - 9) * 7;
        assert_eq!(
            messages(&of_ten, 256, true),
            fixed + splitting_values - fewer
        );
    }

    /// By hand: 64 cores, 4 buckets, all cores select pivots, an incast of 4.
    #[test]
    fn ends_of_phases_have_closed_forms() {
        let of = |phase_end, cores, buckets, multicast| {
            let reading = Reading {
                phase_end: Some(phase_end),
                ..Named::Text.into()
            };
            let program = NanoSort {
                reading,
                buckets,
                ..NanoSort::default()
            };
            messages(&program, cores, multicast)
        };
        let (answers, counts) = (PhaseEnd::Answers, PhaseEnd::Counts);
        // Levels of 1, 4 and 16 groups. By answers a tree and an end; by counts two trees, and to each
        // bucket a total and an end.
        let of_answers = (63 + 1) + 4 * (15 + 1) + 16 * (3 + 1);
        let of_counts = (63 + 60 + 8) + 4 * (15 + 12 + 8) + 16 * (3 + 8);
        assert_eq!(
            of(counts, 64, 4, true) - of_counts,
            of(answers, 64, 4, true) - of_answers
        );
        let of_answers = (63 + 64) + 4 * (15 + 16) + 16 * (3 + 4);
        let of_counts = (63 + 60 + 128) + 4 * (15 + 12 + 32) + 16 * (3 + 8);
        assert_eq!(
            of(counts, 64, 4, false) - of_counts,
            of(answers, 64, 4, false) - of_answers
        );
        // 300 counts take two messages.
        assert_eq!(
            of(counts, 300, 300, true) - (299 * 2 + 600),
            of(answers, 300, 300, true) - (299 + 1)
        );
    }

    #[test]
    fn one_core_sends_its_keys_to_itself() {
        assert_eq!(messages(&NanoSort::default(), 1, true), 16);
    }
}
