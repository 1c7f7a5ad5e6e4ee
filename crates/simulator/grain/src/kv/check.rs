//! Checks that do not depend on the order in which owners served requests.
//!
//! All puts of a key put the same value, so at the end the shards hold the keys that were put. A
//! client's get finds a key that the same client put before, and never one that no client puts.

use std::collections::BTreeSet;

use node::Rank;

use super::{Kv, Shard, digest_of};
use crate::program::Verdict;
use units::grouped;

pub(super) fn check(program: &Kv, answers: &[Shard]) -> Verdict {
    let ranks = answers.len() as u32;
    let all = (0..ranks).flat_map(|rank| requests(program, Rank(rank), ranks));
    let put: BTreeSet<u64> = all.filter(|(puts, _)| *puts).map(|(_, key)| key).collect();
    let fault = wrong_answers(answers)
        .or_else(|| wrong_counts(program, answers))
        .or_else(|| wrong_shards(program, answers, &put))
        .or_else(|| wrong_hits(program, answers, &put));
    let total = |count: fn(&Shard) -> u32| {
        grouped(answers.iter().map(|shard| u64::from(count(shard))).sum())
    };
    let (served, hits) = (total(|shard| shard.served), total(|shard| shard.hits));
    let keys = grouped(put.len() as u64);
    let result = format!("{served} requests served, {hits} gets found a value, {keys} keys stored");
    let owners = answers.iter().take(program.owners(ranks) as usize);
    let mut requests: Vec<u64> = answers
        .iter()
        .flat_map(|it| &it.requests)
        .copied()
        .collect();
    requests.sort_unstable();
    let verdict = Verdict::new(result, fault)
        .with_keys(owners.map(|shard| shard.keys))
        .with_spans(answers.iter().map(|shard| shard.span));
    Verdict {
        requests,
        ..verdict
    }
}

/// A client's requests: whether each puts, and its key.
fn requests(program: &Kv, client: Rank, ranks: u32) -> impl Iterator<Item = (bool, u64)> {
    let mut random = program.stream(client);
    (0..program.requests(client, ranks)).map(move |_| program.request(&mut random))
}

fn wrong_answers(answers: &[Shard]) -> Option<String> {
    let (rank, shard) = answers
        .iter()
        .enumerate()
        .find(|(_, shard)| shard.wrong > 0)?;
    Some(format!(
        "core {rank} received {} wrong replies",
        shard.wrong
    ))
}

/// Every request has one reply and was served once.
fn wrong_counts(program: &Kv, answers: &[Shard]) -> Option<String> {
    let ranks = answers.len() as u32;
    let asked = |rank: usize| program.requests(Rank(rank as u32), ranks);
    let wrong = answers
        .iter()
        .enumerate()
        .find(|(rank, shard)| shard.answered != asked(*rank));
    if let Some((rank, shard)) = wrong {
        return Some(format!(
            "core {rank} has {} replies to {} requests",
            shard.answered,
            asked(rank)
        ));
    }
    let served: u64 = answers.iter().map(|shard| u64::from(shard.served)).sum();
    let asked: u64 = (0..answers.len()).map(|rank| u64::from(asked(rank))).sum();
    (served != asked).then(|| format!("{served} requests were served of {asked}"))
}

/// The shards hold the keys that were put, each at its owner.
fn wrong_shards(program: &Kv, answers: &[Shard], put: &BTreeSet<u64>) -> Option<String> {
    let mut expected = vec![(0_u64, 0_u64); answers.len()];
    for &key in put {
        let (keys, sum) = &mut expected[program.owner(key, answers.len() as u32).0 as usize];
        *keys += 1;
        *sum = sum.wrapping_add(digest_of(key, program.value(key)));
    }
    let mut shards = answers.iter().zip(expected).enumerate();
    let (rank, (shard, (keys, _))) =
        shards.find(|(_, (shard, expected))| (shard.keys, shard.sum) != *expected)?;
    Some(if shard.keys == keys {
        format!("core {rank} holds other keys or values than were put")
    } else {
        format!("core {rank} holds {} keys, and {keys} were put", shard.keys)
    })
}

/// A client's gets find at least the keys that it put before, and at most those that any client
/// puts.
fn wrong_hits(program: &Kv, answers: &[Shard], put: &BTreeSet<u64>) -> Option<String> {
    let mut own = BTreeSet::new();
    for (rank, shard) in (0..).zip(answers) {
        own.clear();
        let (mut least, mut most) = (0, 0);
        for (puts, key) in requests(program, Rank(rank), answers.len() as u32) {
            if puts {
                own.insert(key);
            } else {
                least += u32::from(own.contains(&key));
                most += u32::from(put.contains(&key));
            }
        }
        if !(least..=most).contains(&shard.hits) {
            let hits = shard.hits;
            return Some(format!(
                "core {rank} found {hits} values, not {least} to {most}"
            ));
        }
    }
    None
}
