//! Tests of every program on any machine. A machine's test file implements [`Harness`] and calls
//! `program_suite!(harness)`.

use grain::{
    Beside, Caches, Class, Flood, Is, Kv, LocalMin, LocalSort, Loopback, MapReduce, MergeMin,
    NanoSort, Paging, Policy, Program, ReceiveLoop, ReorderBy, SendLoop, SetAlgebra, Store, Urgent,
    Verdict, Walk,
};

pub use crate::sorts::*;

/// Numbers of ranks for every program.
pub const RANKS: [u32; 7] = [1, 2, 3, 5, 8, 16, 33];

/// The chain, deep and shallow trees, and more than the ranks.
const INCASTS: [u32; 6] = [1, 2, 3, 8, 33, 1000];

pub const REORDERS: [ReorderBy; 2] = [ReorderBy::Software, ReorderBy::Port];

/// A program with some of its options.
macro_rules! with {
    ($program:ident; $($option:ident = $value:expr),*) => {
        $program { $($option: $value,)* ..$program::default() }
    };
}
pub(crate) use with;

/// A machine under test.
pub trait Harness {
    /// Runs a program several times; returns the answers of all ranks of each run.
    fn run<P: Program>(&self, ranks: u32, program: &P) -> Vec<Vec<P::Answer>>;

    /// Ranks that share a NIC.
    fn ranks_per_nic(&self) -> u32 {
        1
    }
}

/// The suite as tests over a harness.
#[macro_export]
macro_rules! program_suite {
    ($harness:expr) => {
        $crate::program_suite!($harness;
            local_min, local_sort, merge_min, loopback, receive, send, flood, flood_at_one_nic, kv,
            kv_with_servers, set_algebra, map_reduce, caches, paging, beside, nano_sort, nano_sort_of_few_and_many,
            proportional_groups, hierarchy,
            push_sort, push_sort_of_few_and_many, integer_sort,
            milli_sort, milli_sort_of_few_and_many, nothing_to_do, impossible_options);
    };
    ($harness:expr; $($name:ident),*) => {
        $(#[test] fn $name() { $crate::programs::$name(&$harness); })*
    };
}

pub fn verdicts<P: Program>(harness: &impl Harness, ranks: u32, program: &P) -> Vec<Verdict> {
    let runs = harness.run(ranks, program);
    assert!(!runs.is_empty() && runs.iter().all(|answers| answers.len() == ranks as usize));
    let verdicts = runs.iter().map(|answers| program.check(answers));
    verdicts
        .inspect(|verdict| assert!(!verdict.result.is_empty()))
        .collect()
}

pub fn is_right<P: Program + std::fmt::Debug>(harness: &impl Harness, ranks: u32, program: &P) {
    assert_eq!(program.objection(ranks), None);
    for verdict in verdicts(harness, ranks, program) {
        assert_eq!(verdict.fault, None, "{ranks} ranks, {program:?}");
        let (begin, end) = verdict.elapsed.expect("every program says when it ran");
        assert!(begin <= end);
    }
}

fn is_faulty<P: Program + std::fmt::Debug>(harness: &impl Harness, ranks: u32, program: &P) {
    for verdict in verdicts(harness, ranks, program) {
        assert!(verdict.fault.is_some(), "{ranks} ranks, {program:?}");
    }
}

pub fn refused<P: Program + std::fmt::Debug>(harness: &impl Harness, ranks: u32, program: &P) {
    assert!(
        program.objection(ranks).is_some(),
        "{ranks} ranks, {program:?}"
    );
    is_faulty(harness, ranks, program);
}

pub fn local_min(harness: &impl Harness) {
    for ranks in RANKS {
        is_right(
            harness,
            ranks,
            &LocalMin {
                keys: 100,
                seed: ranks.into(),
            },
        );
    }
}

pub fn local_sort(harness: &impl Harness) {
    for ranks in RANKS {
        let program = LocalSort {
            keys: 40 + ranks,
            seed: 3,
        };
        is_right(harness, ranks, &program);
        for verdict in verdicts(harness, ranks, &program) {
            assert_eq!((verdict.sorted, verdict.skew), (Some(true), 1.0));
            assert_eq!(verdict.max_keys, u64::from(40 + ranks));
        }
    }
}

pub fn merge_min(harness: &impl Harness) {
    for ranks in RANKS {
        for incast in INCASTS {
            for reorder in REORDERS {
                let seed = u64::from(ranks * incast);
                is_right(
                    harness,
                    ranks,
                    &MergeMin {
                        keys: 9,
                        incast,
                        reorder,
                        seed,
                    },
                );
            }
        }
    }
}

pub fn loopback(harness: &impl Harness) {
    for ranks in RANKS.into_iter().filter(|ranks| *ranks > 1) {
        for bytes in [0, 8, 60, 2048] {
            let program = Loopback {
                messages: 7,
                bytes,
                seed: 5,
            };
            if ranks > harness.ranks_per_nic() {
                is_right(harness, ranks, &program);
            } else {
                is_faulty(harness, ranks, &program);
            }
        }
    }
}

pub fn receive(harness: &impl Harness) {
    for ranks in RANKS.into_iter().filter(|ranks| *ranks > 1) {
        for (messages, bytes) in [(1, 8), (64, 16), (50, 0), (33, 100), (20, 2048)] {
            is_right(
                harness,
                ranks,
                &ReceiveLoop {
                    messages,
                    bytes,
                    seed: 6,
                },
            );
        }
    }
}

pub fn send(harness: &impl Harness) {
    for ranks in RANKS.into_iter().filter(|ranks| *ranks > 1) {
        for (messages, bytes) in [(1, 8), (64, 16), (50, 0), (33, 100), (20, 2048)] {
            is_right(
                harness,
                ranks,
                &SendLoop {
                    messages,
                    bytes,
                    seed: 7,
                },
            );
        }
    }
}

pub fn flood(harness: &impl Harness) {
    for ranks in RANKS {
        for (messages, bytes) in [(1, 8), (16, 16), (37, 24), (5, 2048)] {
            is_right(
                harness,
                ranks,
                &Flood {
                    messages,
                    bytes,
                    to: None,
                    seed: 8,
                },
            );
        }
    }
}

pub fn flood_at_one_nic(harness: &impl Harness) {
    for ranks in RANKS {
        for to in [0, ranks / 2, ranks - 1] {
            let to = Some(to);
            is_right(
                harness,
                ranks,
                &Flood {
                    messages: 7,
                    bytes: 16,
                    to,
                    seed: 9,
                },
            );
        }
    }
}

pub fn kv(harness: &impl Harness) {
    for ranks in RANKS {
        for (put_percent, keys, bytes) in [(20, 64, 8), (50, 7, 0), (100, 1000, 100), (0, 5, 8)] {
            let seed = u64::from(ranks + keys);
            let asked = with!(Kv; messages = 12, put_percent = put_percent, keys = keys, bytes = bytes, seed = seed);
            is_right(harness, ranks, &asked);
            is_right(
                harness,
                ranks,
                &Kv {
                    workers: 3,
                    ..asked
                },
            );
        }
    }
}

pub fn kv_with_servers(harness: &impl Harness) {
    for ranks in RANKS {
        for (servers, workers) in [(1, 1), (1, 4), (3, 1), (3, 2)] {
            if servers >= ranks {
                refused(
                    harness,
                    ranks,
                    &with!(Kv; servers = Some(servers), workers = workers),
                );
                continue;
            }
            let program = with!(Kv; servers = Some(servers), workers = workers, keys = 50);
            is_right(harness, ranks, &program);
            for answers in harness.run(ranks, &program) {
                let served: u32 = answers.iter().map(|shard| shard.served).sum();
                assert_eq!(served, 16 * (ranks - servers));
                let (held, skew) = (
                    answers[..servers as usize].iter(),
                    program.check(&answers).skew,
                );
                let (most, all) = (
                    held.clone().map(|shard| shard.keys).max().unwrap(),
                    held.map(|shard| shard.keys).sum::<u64>(),
                );
                let expected = most as f64 * f64::from(servers) / all as f64;
                assert!(
                    (skew - expected).abs() < 1e-9,
                    "cores that own nothing are no part of it"
                );
                let clients = answers.iter().skip(servers as usize);
                assert!(
                    clients
                        .into_iter()
                        .all(|shard| shard.served == 0 && shard.keys == 0)
                );
            }
        }
    }
}

pub fn set_algebra(harness: &impl Harness) {
    for ranks in RANKS {
        for (incast, query_terms) in [(1, 1), (2, 2), (8, 3), (1000, 4)] {
            for reorder in REORDERS {
                let (documents, terms, queries) = (20 + ranks, 9, 5);
                let seed = u64::from(ranks);
                let program = SetAlgebra {
                    documents,
                    terms,
                    queries,
                    query_terms,
                    incast,
                    reorder,
                    seed,
                };
                is_right(harness, ranks, &program);
                for answers in harness.run(ranks, &program) {
                    let pairs = u64::from(queries * (query_terms - 1));
                    assert!(answers.iter().all(|found| found.intersections == pairs));
                }
            }
        }
    }
}

pub fn map_reduce(harness: &impl Harness) {
    for ranks in RANKS {
        for incast in INCASTS {
            for reorder in REORDERS {
                let (words, buckets, rounds) = (30, 1 + incast % 9, 6);
                let seed = u64::from(incast);
                let program = MapReduce {
                    words,
                    buckets,
                    rounds,
                    incast,
                    reorder,
                    seed,
                };
                is_right(harness, ranks, &program);
            }
        }
    }
    is_right(harness, 9, &with!(MapReduce; buckets = 255));
    for reorder in REORDERS {
        for rounds in [1, 2, 3, 4, 5, 7, 100] {
            is_right(
                harness,
                33,
                &with!(MapReduce; rounds = rounds, reorder = reorder),
            );
        }
    }
}

/// Five tests of each ranking and one of the order on each rank.
pub fn integer_sort(harness: &impl Harness) {
    for ranks in [1, 2, 4, 16] {
        let program = with!(Is; class = Class::S);
        is_right(harness, ranks, &program);
        for verdict in verdicts(harness, ranks, &program) {
            let passes = format!("65,536 keys, {0} of {0} tests passed, ", 50 + ranks);
            assert!(verdict.result.starts_with(&passes), "{verdict:?}");
            assert_eq!(verdict.sorted, Some(true));
        }
    }
}

/// Without pauses and charges, so that reads are under way all at once.
pub fn caches(harness: &impl Harness) {
    use Policy::{Greedy, Ideal, Local, NChance, Server};
    for ranks in RANKS.into_iter().filter(|ranks| *ranks > 1) {
        for (policy, cache) in [
            (Local, 4),
            (Server, 9),
            (Greedy, 1),
            (NChance, 6),
            (Ideal, 2),
        ] {
            let program = with!(Caches; policy = policy, cache = cache, server_cache = 3, reads = 30,
                shared_blocks = 10, pause_us = 0, local_us = 0, hop_us = 0, block_us = 0, disk_us = 0,
                seed = u64::from(ranks));
            is_right(harness, ranks, &program);
            for verdict in verdicts(harness, ranks, &program) {
                let readers = (ranks - 1) * 60;
                assert_eq!(verdict.requests.len() as u32, readers.div_ceil(100) * 13);
            }
        }
    }
}

pub fn paging(harness: &impl Harness) {
    for ranks in RANKS {
        for (to, walk) in [
            (Store::Memory, Walk::Sequential),
            (Store::Memory, Walk::Random),
            (Store::Disk, Walk::Random),
        ] {
            let program = with!(Paging; to = to, walk = walk, pages = 7, memory = 3, accesses = 20,
                page_us = 0, disk_us = 0, next_us = 0);
            if ranks == 1 && to == Store::Memory {
                refused(harness, ranks, &program);
            } else {
                is_right(harness, ranks, &program);
            }
        }
    }
}

/// Each program is checked as when it runs alone, and every request has its time.
pub fn beside(harness: &impl Harness) {
    for ranks in RANKS {
        for (urgent, keys) in [(Urgent::Kv, 16), (Urgent::Sort, 70), (Urgent::None, 0)] {
            for reorder in REORDERS {
                let sort = with!(NanoSort; keys = keys, buckets = 4, reorder = reorder);
                let seed = u64::from(ranks);
                let program = Beside {
                    messages: 7,
                    urgent,
                    sort,
                    seed,
                };
                is_right(harness, ranks, &program);
                for verdict in verdicts(harness, ranks, &program) {
                    assert_eq!(verdict.requests.len() as u32, 7 * ranks);
                    assert!(verdict.requests.is_sorted() && verdict.sorted == Some(true));
                }
            }
        }
    }
}

/// Without keys, messages, queries or rounds, programs end without a fault.
pub fn nothing_to_do(harness: &impl Harness) {
    for ranks in [1, 2, 9] {
        is_right(harness, ranks, &LocalMin { keys: 0, seed: 1 });
        is_right(harness, ranks, &LocalSort { keys: 0, seed: 1 });
        is_right(harness, ranks, &with!(MergeMin; keys = 0, incast = 0));
        is_right(harness, ranks, &with!(Loopback; messages = 0));
        is_right(harness, ranks, &with!(ReceiveLoop; messages = 0));
        is_right(harness, ranks, &with!(SendLoop; messages = 0));
        is_right(harness, ranks, &with!(Flood; messages = 0));
        is_right(harness, ranks, &with!(Kv; messages = 0, keys = 0));
        is_right(harness, ranks, &with!(SetAlgebra; queries = 0));
        is_right(harness, ranks, &with!(SetAlgebra; documents = 0));
        is_right(harness, ranks, &with!(MapReduce; rounds = 0));
        is_right(harness, ranks, &with!(MapReduce; words = 0, incast = 0));
        is_right(
            harness,
            ranks,
            &with!(Paging; accesses = 0, pages = 1, to = Store::Disk),
        );
    }
    for ranks in [2, 9] {
        is_right(harness, ranks, &with!(Caches; reads = 0));
        is_right(harness, ranks, &with!(Caches; active = 0));
    }
}

/// Impossible options are refused, before a run and by the check, and no rank hangs.
pub fn impossible_options(harness: &impl Harness) {
    refused(harness, 1, &Loopback::default());
    refused(harness, 1, &ReceiveLoop::default());
    refused(harness, 1, &SendLoop::default());
    refused(harness, 3, &with!(Loopback; bytes = 2049));
    refused(harness, 3, &with!(ReceiveLoop; bytes = u32::MAX));
    refused(harness, 3, &with!(SendLoop; bytes = 2049));
    refused(harness, 3, &with!(Flood; bytes = 2049));
    refused(harness, 3, &with!(Flood; bytes = 7));
    refused(harness, 3, &with!(Flood; to = Some(3)));
    refused(harness, 3, &with!(Kv; bytes = 2040));
    refused(harness, 3, &with!(Kv; keys = 0));
    refused(harness, 3, &with!(Kv; servers = Some(4)));
    refused(harness, 3, &with!(Kv; workers = 0));
    refused(harness, 3, &with!(Kv; workers = 65));
    refused(
        harness,
        3,
        &with!(Beside; sort = with!(NanoSort; buckets = 1)),
    );
    refused(harness, 3, &Is::default());
    refused(harness, 3, &with!(SetAlgebra; query_terms = 0));
    refused(harness, 3, &with!(SetAlgebra; query_terms = 256));
    refused(harness, 3, &with!(SetAlgebra; terms = 0));
    refused(
        harness,
        3,
        &with!(SetAlgebra; documents = 1 << 31, terms = 3),
    );
    refused(harness, 1, &Caches::default());
    refused(harness, 1, &Paging::default());
    refused(harness, 3, &with!(MapReduce; buckets = 0));
    refused(harness, 3, &with!(MapReduce; buckets = 256));
    let reorder = ReorderBy::Port;
    // Two cores beyond the first level, with messages of 32 entries.
    refused(
        harness,
        9,
        &with!(MapReduce; buckets = 255, incast = 3, reorder = reorder),
    );
}
