//! What is true of the store in whatever order requests met at their owners.
//!
//! All puts of a key put the same value, so at the end the shards hold the keys that anybody put. A
//! client's get finds its key if the same client put it before, and does not if nobody ever put it.

use std::collections::BTreeSet;

use node::{Random, Rank};

use super::{Kv, Shard, digest_of};
use crate::program::{Verdict, grouped};

/// A request as a client's stream has it.
struct Request {
    client: usize,
    puts: bool,
    key: u64,
}

pub(super) fn check(program: &Kv, answers: &[Shard]) -> Verdict {
    let requests = requests(program, answers.len() as u32);
    let put: BTreeSet<u64> = requests.iter().filter(|one| one.puts).map(|one| one.key).collect();
    let fault = wrong_answers(answers)
        .or_else(|| wrong_counts(program, answers))
        .or_else(|| wrong_shards(program, answers, &put))
        .or_else(|| wrong_hits(answers, &requests, &put));
    let sum =
        |count: fn(&Shard) -> u32| grouped(answers.iter().map(|one| u64::from(count(one))).sum());
    let (served, hits) = (sum(|one| one.served), sum(|one| one.hits));
    let keys = grouped(put.len() as u64);
    let result = format!("{served} requests served, {hits} gets found a value, {keys} keys stored");
    Verdict::new(result, fault)
        .with_keys(answers.iter().map(|one| one.keys))
        .with_spans(answers.iter().map(|one| one.span))
}

fn requests(program: &Kv, ranks: u32) -> Vec<Request> {
    let of_rank = |rank: u32| {
        let mut random = Random::stream(program.seed, rank.into());
        let count = program.requests(Rank(rank), ranks);
        (0..count).map(move |_| {
            let (puts, key) = program.request(&mut random);
            Request { client: rank as usize, puts, key }
        })
    };
    (0..ranks).flat_map(of_rank).collect()
}

fn wrong_answers(answers: &[Shard]) -> Option<String> {
    let (rank, shard) = answers.iter().enumerate().find(|(_, shard)| shard.wrong > 0)?;
    Some(format!("rank {rank} was told something wrong {} times", shard.wrong))
}

/// Every request has one answer and was served once.
fn wrong_counts(program: &Kv, answers: &[Shard]) -> Option<String> {
    let ranks = answers.len() as u32;
    let asked = |rank: usize| program.requests(Rank(rank as u32), ranks);
    let wrong = answers.iter().enumerate().find(|(rank, shard)| shard.answered != asked(*rank));
    if let Some((rank, shard)) = wrong {
        return Some(format!("rank {rank} has {} answers to {}", shard.answered, asked(rank)));
    }
    let served: u64 = answers.iter().map(|shard| u64::from(shard.served)).sum();
    let asked: u64 = (0..answers.len()).map(|rank| u64::from(asked(rank))).sum();
    (served != asked).then(|| format!("{served} requests were served of {asked}"))
}

/// The shards hold what was put, each key at its owner.
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
    Some(match shard.keys == keys {
        true => format!("rank {rank} holds other keys or values than were put"),
        false => format!("rank {rank} holds {} keys, and {keys} were put", shard.keys),
    })
}

/// A client's hits lie between what it put itself before and what anybody ever put.
fn wrong_hits(answers: &[Shard], requests: &[Request], put: &BTreeSet<u64>) -> Option<String> {
    let mut bounds = vec![(0_u32, 0_u32); answers.len()];
    let mut own = BTreeSet::new();
    for one in requests {
        let (least, most) = &mut bounds[one.client];
        if one.puts {
            own.insert((one.client, one.key));
        } else {
            *least += u32::from(own.contains(&(one.client, one.key)));
            *most += u32::from(put.contains(&one.key));
        }
    }
    let mut clients = answers.iter().zip(bounds).enumerate();
    let (rank, (shard, (least, most))) =
        clients.find(|(_, (shard, (least, most)))| !(*least..=*most).contains(&shard.hits))?;
    Some(format!("rank {rank} found {} values, not {least} to {most}", shard.hits))
}
