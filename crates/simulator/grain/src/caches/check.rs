//! Checks that do not depend on the order in which clients read.
//!
//! A client's reads follow from the seed. Every read has the block's content, as many blocks came
//! from other clients as these sent, at least as many reads went to the disk as there are blocks,
//! and at the end the directory names the blocks in the caches. Where a client alone decides which
//! blocks it keeps, a list of its last ones gives its local reads.

use std::collections::{BTreeMap, BTreeSet};

use node::Rank;

use super::trace::Trace;
use super::{Cached, Caches, Level, Policy};
use crate::program::Verdict;
use units::grouped;

pub(super) fn check(program: &Caches, answers: &[Cached]) -> Verdict {
    let fault = wrong_clients(program, answers).or_else(|| wrong_places(program, answers));
    let total = |level: Level| {
        let of = |answer: &Cached| u64::from(answer.reads[1][level as usize]);
        answers.iter().map(of).sum::<u64>()
    };
    let counts = [Level::Local, Level::Remote, Level::Server, Level::Disk].map(total);
    let all: u64 = counts.iter().sum();
    let share = |count: u64| count as f64 / all.max(1) as f64;
    let [local, remote, server, disk] = counts.map(|count| 100.0 * share(count));
    let result = format!(
        "{} reads: {local:.1} % local, {remote:.1} % from clients, {server:.1} % from the server's \
         cache, {disk:.1} % from disk",
        grouped(all)
    );
    let mut requests: Vec<u64> = answers.iter().flat_map(|it| &it.times).copied().collect();
    requests.sort_unstable();
    let spans = answers.iter().map(|answer| answer.span);
    Verdict {
        requests,
        figure: Some(share(total(program.figure))),
        ..Verdict::new(result, fault).with_spans(spans)
    }
}

/// The reads of each client against its trace, and of all against each other.
fn wrong_clients(program: &Caches, answers: &[Cached]) -> Option<String> {
    let readers = program.readers(answers.len() as u32);
    let mut distinct = BTreeSet::new();
    let (mut from_disk, mut from_clients, mut lent) = (0, 0, 0);
    for (rank, answer) in (0..).zip(answers) {
        let reads = match rank {
            0 => 0,
            rank if rank > readers => 0,
            _ => program.reads,
        };
        let expected = Expected::of(program, Rank(rank), reads, &mut distinct);
        let counted = answer.reads.map(|levels| levels.iter().sum::<u32>());
        let at = |level: Level| answer.reads.map(|levels| levels[level as usize]);
        if answer.wrong > 0 || answer.sum != expected.sum {
            let wrong = answer.wrong;
            return Some(format!(
                "core {rank} read other contents than the blocks', {wrong} times or more"
            ));
        }
        if counted != expected.reads {
            let [all, expected] = [counted, expected.reads];
            return Some(format!("core {rank} counted {all:?} reads of {expected:?}"));
        }
        if program.policy != Policy::NChance && at(Level::Local) != expected.local {
            let [found, expected] = [at(Level::Local), expected.local];
            return Some(format!(
                "core {rank} read {found:?} blocks locally, not {expected:?}"
            ));
        }
        let allowed = [
            program.policy >= Policy::Greedy || at(Level::Remote) == [0, 0],
            program.policy != Policy::Local || at(Level::Server) == [0, 0],
        ];
        if allowed.contains(&false) {
            return Some(format!(
                "core {rank} read from a cache that the policy does not use"
            ));
        }
        from_disk += at(Level::Disk).iter().sum::<u32>() as usize;
        from_clients += at(Level::Remote).iter().sum::<u32>();
        lent += answer.lent;
    }
    if from_clients != lent {
        return Some(format!(
            "{from_clients} blocks came from clients, and {lent} were sent"
        ));
    }
    let blocks = distinct.len();
    (from_disk < blocks)
        .then(|| format!("{blocks} blocks were read, and {from_disk} from the disk"))
}

/// A client's reads without messages.
struct Expected {
    sum: u64,
    /// Reads that warm the caches, and those that count.
    reads: [u32; 2],
    /// Those of blocks among the last ones that fit the cache.
    local: [u32; 2],
}

impl Expected {
    fn of(program: &Caches, client: Rank, reads: u32, distinct: &mut BTreeSet<u64>) -> Expected {
        let mut trace = Trace::new(program, client);
        let mut expected = Expected {
            sum: 0,
            reads: [0; 2],
            local: [0; 2],
        };
        // When each block was read last, and the blocks by that time.
        let (mut last, mut recent) = (BTreeMap::new(), BTreeMap::new());
        for time in 0..reads {
            let (_, block) = trace.next(program);
            let counts = usize::from(time >= program.warming());
            expected.sum = expected.sum.wrapping_add(program.content(block));
            expected.reads[counts] += 1;
            if let Some(before) = last.insert(block, time) {
                expected.local[counts] += u32::from(recent.remove(&before).is_some());
            }
            recent.insert(time, block);
            if recent.len() > program.cache as usize {
                recent.pop_first();
            }
            distinct.insert(block);
        }
        expected
    }
}

/// The directory against the caches.
fn wrong_places(program: &Caches, answers: &[Cached]) -> Option<String> {
    let held = (0..).zip(answers).flat_map(|(rank, answer)| {
        let blocks = answer.holds.iter();
        blocks.map(move |block| (*block, rank))
    });
    let mut held: Vec<(u64, u32)> = held.collect();
    held.sort_unstable();
    let full = answers
        .iter()
        .position(|answer| answer.holds.len() > program.cache as usize);
    if let Some(rank) = full {
        return Some(format!(
            "core {rank} holds more blocks than its cache has room for"
        ));
    }
    let directory = &answers[0].directory;
    (*directory != held).then(|| "the directory is not what the caches hold".to_owned())
}
