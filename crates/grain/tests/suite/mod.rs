//! Every program on any machine: a machine's test file says how to run one ([`Harness`]) and calls
//! `program_suite!(harness)`.

use grain::{
    Exchange, Flood, Kv, LocalMin, LocalSort, Loopback, MapReduce, MergeMin, MilliSort, NanoSort,
    Program, Reading, ReceiveLoop, ReorderBy, SendLoop, SetAlgebra, Verdict,
};

/// Ranks that every program is tried on.
const RANKS: [u32; 7] = [1, 2, 3, 5, 8, 16, 33];

/// The chain, deep and shallow trees, and more than there are ranks.
const INCASTS: [u32; 6] = [1, 2, 3, 8, 33, 1000];

const REORDERS: [ReorderBy; 2] = [ReorderBy::Software, ReorderBy::Port];

/// A machine under test.
pub trait Harness {
    /// Runs a program to its end: the answers of all ranks, of each of some runs.
    fn run<P: Program>(&self, ranks: u32, program: &P) -> Vec<Vec<P::Answer>>;

    /// How many ranks share a NIC.
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
            kv_with_servers, set_algebra, map_reduce, nano_sort, nano_sort_of_few_and_many,
            milli_sort, milli_sort_of_few_and_many, nothing_to_do, what_cannot_be_done);
    };
    ($harness:expr; $($name:ident),*) => {
        $(#[test] fn $name() { suite::$name(&$harness); })*
    };
}

fn verdicts<P: Program>(harness: &impl Harness, ranks: u32, program: &P) -> Vec<Verdict> {
    let runs = harness.run(ranks, program);
    assert!(!runs.is_empty() && runs.iter().all(|answers| answers.len() == ranks as usize));
    let verdicts = runs.iter().map(|answers| program.check(answers));
    verdicts
        .inspect(|verdict| assert!(!verdict.result.is_empty()))
        .collect()
}

fn is_right<P: Program + std::fmt::Debug>(harness: &impl Harness, ranks: u32, program: &P) {
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

fn refused<P: Program + std::fmt::Debug>(harness: &impl Harness, ranks: u32, program: &P) {
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
            let asked = Kv {
                messages: 12,
                put_percent,
                keys,
                bytes,
                seed,
                ..Kv::default()
            };
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
                    &Kv {
                        servers: Some(servers),
                        workers,
                        ..Kv::default()
                    },
                );
                continue;
            }
            let program = Kv {
                servers: Some(servers),
                workers,
                keys: 50,
                ..Kv::default()
            };
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
    is_right(
        harness,
        9,
        &MapReduce {
            buckets: 255,
            ..MapReduce::default()
        },
    );
    for reorder in REORDERS {
        for rounds in [1, 2, 3, 4, 5, 7, 100] {
            is_right(
                harness,
                33,
                &MapReduce {
                    rounds,
                    reorder,
                    ..MapReduce::default()
                },
            );
        }
    }
}

/// No keys, messages, queries, rounds: all ends, and nothing is wrong.
pub fn nothing_to_do(harness: &impl Harness) {
    for ranks in [1, 2, 9] {
        is_right(harness, ranks, &LocalMin { keys: 0, seed: 1 });
        is_right(harness, ranks, &LocalSort { keys: 0, seed: 1 });
        is_right(
            harness,
            ranks,
            &MergeMin {
                keys: 0,
                incast: 0,
                ..MergeMin::default()
            },
        );
        is_right(
            harness,
            ranks,
            &Loopback {
                messages: 0,
                ..Loopback::default()
            },
        );
        is_right(
            harness,
            ranks,
            &ReceiveLoop {
                messages: 0,
                ..ReceiveLoop::default()
            },
        );
        is_right(
            harness,
            ranks,
            &SendLoop {
                messages: 0,
                ..SendLoop::default()
            },
        );
        is_right(
            harness,
            ranks,
            &Flood {
                messages: 0,
                ..Flood::default()
            },
        );
        is_right(
            harness,
            ranks,
            &Kv {
                messages: 0,
                keys: 0,
                ..Kv::default()
            },
        );
        is_right(
            harness,
            ranks,
            &SetAlgebra {
                queries: 0,
                ..SetAlgebra::default()
            },
        );
        is_right(
            harness,
            ranks,
            &SetAlgebra {
                documents: 0,
                ..SetAlgebra::default()
            },
        );
        is_right(
            harness,
            ranks,
            &MapReduce {
                rounds: 0,
                ..MapReduce::default()
            },
        );
        is_right(
            harness,
            ranks,
            &MapReduce {
                words: 0,
                incast: 0,
                ..MapReduce::default()
            },
        );
    }
}

/// What cannot be done is said, before and after, and nobody hangs.
pub fn what_cannot_be_done(harness: &impl Harness) {
    refused(harness, 1, &Loopback::default());
    refused(harness, 1, &ReceiveLoop::default());
    refused(harness, 1, &SendLoop::default());
    refused(
        harness,
        3,
        &Loopback {
            bytes: 2049,
            ..Loopback::default()
        },
    );
    refused(
        harness,
        3,
        &ReceiveLoop {
            bytes: u32::MAX,
            ..ReceiveLoop::default()
        },
    );
    refused(
        harness,
        3,
        &SendLoop {
            bytes: 2049,
            ..SendLoop::default()
        },
    );
    refused(
        harness,
        3,
        &Flood {
            bytes: 2049,
            ..Flood::default()
        },
    );
    refused(
        harness,
        3,
        &Flood {
            bytes: 7,
            ..Flood::default()
        },
    );
    refused(
        harness,
        3,
        &Flood {
            to: Some(3),
            ..Flood::default()
        },
    );
    refused(
        harness,
        3,
        &Kv {
            bytes: 2040,
            ..Kv::default()
        },
    );
    refused(
        harness,
        3,
        &Kv {
            keys: 0,
            ..Kv::default()
        },
    );
    refused(
        harness,
        3,
        &Kv {
            servers: Some(4),
            ..Kv::default()
        },
    );
    refused(
        harness,
        3,
        &Kv {
            workers: 0,
            ..Kv::default()
        },
    );
    refused(
        harness,
        3,
        &Kv {
            workers: 65,
            ..Kv::default()
        },
    );
    refused(
        harness,
        3,
        &SetAlgebra {
            query_terms: 0,
            ..SetAlgebra::default()
        },
    );
    refused(
        harness,
        3,
        &SetAlgebra {
            query_terms: 256,
            ..SetAlgebra::default()
        },
    );
    refused(
        harness,
        3,
        &SetAlgebra {
            terms: 0,
            ..SetAlgebra::default()
        },
    );
    refused(
        harness,
        3,
        &SetAlgebra {
            documents: 1 << 31,
            terms: 3,
            ..SetAlgebra::default()
        },
    );
    refused(
        harness,
        3,
        &MapReduce {
            buckets: 0,
            ..MapReduce::default()
        },
    );
    refused(
        harness,
        3,
        &MapReduce {
            buckets: 256,
            ..MapReduce::default()
        },
    );
    let reorder = ReorderBy::Port;
    // Two cores beyond the first level, with messages of 32 entries.
    refused(
        harness,
        9,
        &MapReduce {
            buckets: 255,
            incast: 3,
            reorder,
            ..MapReduce::default()
        },
    );
}

/// Powers of the buckets and not, more buckets than cores, fewer keys than buckets and more than a
/// message holds.
pub fn nano_sort(harness: &impl Harness) {
    for ranks in RANKS {
        for (buckets, keys, incast) in
            [(2, 5, 2), (3, 16, 1), (4, 40, 8), (16, 16, 16), (100, 2, 3)]
        {
            for reorder in REORDERS {
                let seed = u64::from(ranks + keys);
                for exchange in [Exchange::Buckets, Exchange::Keys] {
                    if (exchange, reorder) == (Exchange::Keys, ReorderBy::Port) {
                        continue;
                    }
                    let (burst, rows) = (1 + keys / 8, (buckets % 2 == 0).then_some(2));
                    let reading = Reading {
                        exchange,
                        incast: Some(incast),
                        burst,
                        rows,
                    };
                    let program = NanoSort {
                        keys,
                        buckets,
                        reading,
                        reorder,
                        seed,
                        ..NanoSort::default()
                    };
                    is_right(harness, ranks, &program);
                    for verdict in verdicts(harness, ranks, &program) {
                        assert_eq!(verdict.sorted, Some(true));
                    }
                }
            }
        }
    }
}

/// No keys at all, and so many that a bucket takes several messages.
pub fn nano_sort_of_few_and_many(harness: &impl Harness) {
    for (ranks, keys) in [(1, 0), (5, 0), (8, 1), (2, 600), (5, 500)] {
        for exchange in [Exchange::Buckets, Exchange::Keys] {
            let reading = Reading {
                exchange,
                ..Reading::default()
            };
            is_right(
                harness,
                ranks,
                &NanoSort {
                    keys,
                    buckets: 4,
                    reading,
                    ..NanoSort::default()
                },
            );
        }
    }
    refused(
        harness,
        2,
        &NanoSort {
            buckets: 1,
            ..NanoSort::default()
        },
    );
    let reading = Reading {
        exchange: Exchange::Keys,
        ..Reading::default()
    };
    let program = NanoSort {
        reading,
        reorder: ReorderBy::Port,
        ..NanoSort::default()
    };
    refused(harness, 2, &program);
}

/// Any reduction factor: as many sorters as cores, one, and a last one with fewer cores. Fewer keys
/// than cores and more. Where steps wait in the NIC many sorters are refused.
pub fn milli_sort(harness: &impl Harness) {
    for ranks in RANKS {
        for (reduction, keys) in [(1, 5), (2, 16), (4, 40), (7, 3), (1000, 9)] {
            for reorder in REORDERS {
                let seed = u64::from(ranks + keys);
                let program = MilliSort {
                    keys,
                    reduction,
                    reorder,
                    seed,
                    ..MilliSort::default()
                };
                if program.objection(ranks).is_some() {
                    assert!(reorder == ReorderBy::Port && reduction == 1 && ranks == 33);
                    refused(harness, ranks, &program);
                    continue;
                }
                is_right(harness, ranks, &program);
                for verdict in verdicts(harness, ranks, &program) {
                    assert_eq!(verdict.sorted, Some(true));
                }
            }
        }
    }
}

/// No keys at all, one, and so many that a core sends another more items than it may have on their
/// way.
pub fn milli_sort_of_few_and_many(harness: &impl Harness) {
    for (ranks, keys) in [(1, 0), (5, 0), (8, 1), (2, 600), (5, 500), (300, 2)] {
        is_right(
            harness,
            ranks,
            &MilliSort {
                keys,
                ..MilliSort::default()
            },
        );
    }
    let reorder = ReorderBy::Port;
    for (ranks, keys) in [(5, 0), (2, 600), (5, 300)] {
        is_right(
            harness,
            ranks,
            &MilliSort {
                keys,
                reorder,
                ..MilliSort::default()
            },
        );
    }
    refused(
        harness,
        300,
        &MilliSort {
            reorder,
            ..MilliSort::default()
        },
    );
}
