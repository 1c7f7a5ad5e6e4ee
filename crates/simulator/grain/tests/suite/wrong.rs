//! The checks find wrong answers: each program's answers are changed in every way that matters.

use grain::{
    Beside, Caches, Flood, Is, Kv, LocalMin, LocalSort, Loopback, MapReduce, MergeMin, MilliSort,
    NanoSort, Paging, Policy, Program, ReceiveLoop, SendLoop, SetAlgebra,
};
use machine::Driver;

const RANKS: u32 = 9;

/// For programs of powers of two.
const FEWER: u32 = 8;

/// Runs the program, and checks its answers after each change alone.
fn caught<P: Program>(program: &P, changes: &[fn(&mut Vec<P::Answer>)]) {
    let ranks = program.objection(RANKS).map_or(RANKS, |_| FEWER);
    let answers = || {
        let program = program.clone();
        Driver::new(1, ranks)
            .run(move |node| program.clone().run(node))
            .unwrap()
    };
    assert_eq!(program.check(&answers()).fault, None);
    for (number, change) in changes.iter().enumerate() {
        let mut changed = answers();
        change(&mut changed);
        let fault = program.check(&changed).fault;
        assert!(
            fault.is_some(),
            "change {number} of {} is not seen",
            std::any::type_name::<P>()
        );
    }
}

#[test]
fn wrong_minima() {
    caught(
        &LocalMin::default(),
        &[|ranks| ranks[0].least += 1, |ranks| ranks[8].least -= 1],
    );
    caught(
        &MergeMin::default(),
        &[
            |ranks| ranks[0].least += 1,
            |ranks| ranks[0].least -= 1,
            |ranks| ranks[8].least = u64::MAX,
            |ranks| ranks.swap(0, 1),
        ],
    );
    // A rank in the middle of the chain.
    caught(
        &MergeMin {
            incast: 1,
            ..MergeMin::default()
        },
        &[|ranks| ranks[4].least = 0],
    );
}

#[test]
fn wrong_orders() {
    let changes: [fn(&mut Vec<grain::Sorted>); 4] = [
        |ranks| ranks[3].keys.swap(4, 5),
        |ranks| ranks[8].keys[39] += 1,
        |ranks| assert!(ranks[0].keys.pop().is_some()),
        |ranks| ranks.swap(1, 2),
    ];
    caught(&LocalSort::default(), &changes);
    let program = LocalSort::default();
    let mut answers = Driver::new(1, 2)
        .run(|node| LocalSort::default().run(node))
        .unwrap();
    answers[1].keys.reverse();
    assert_eq!(program.check(&answers).sorted, Some(false));
}

#[test]
fn wrong_parts() {
    let changes: [fn(&mut Vec<grain::Part>); 7] = [
        |cores| cores[2].values ^= 1,
        |cores| cores[3].keys.reverse(),
        |cores| cores[8].keys[0] += 1,
        |cores| assert!(cores[0].keys.pop().is_some()),
        |cores| cores.swap(1, 2),
        |cores| cores[4].wrong = 1,
        |cores| {
            let key = cores[5].keys[0];
            cores[5].keys.insert(0, key);
        },
    ];
    caught(
        &NanoSort {
            keys: 40,
            buckets: 3,
            ..NanoSort::default()
        },
        &changes,
    );
    caught(
        &MilliSort {
            keys: 40,
            ..MilliSort::default()
        },
        &changes,
    );
}

#[test]
fn wrong_hierarchies() {
    let changes: [fn(&mut Vec<grain::Part>); 6] = [
        |cores| cores.swap(1, 2),
        |cores| cores[0].nodes[0] = cores[1].nodes[0],
        |cores| cores[3].nodes[1] = cores[3].nodes[0],
        |cores| cores[4].nodes[0] = cores[5].nodes[0],
        |cores| assert!(cores[0].nodes.pop().is_some()),
        |cores| cores[8].nodes.clear(),
    ];
    let program = NanoSort {
        bvh: Some(3),
        ..NanoSort::default()
    };
    caught(&program, &changes);
}

#[test]
fn wrong_ranks_of_integers() {
    let changes: [fn(&mut Vec<grain::Ranked>); 7] = [
        |ranks| ranks[0].passes -= 1,
        |ranks| {
            ranks[3].misplaced = Some(grain::Misplaced {
                iteration: 7,
                number: 2,
                rank: 1,
            });
        },
        |ranks| ranks[4].in_order = false,
        |ranks| ranks[5].ends = ranks[4].ends,
        |ranks| ranks.swap(6, 7),
        |ranks| ranks[7].keys -= 1,
        |ranks| ranks[2].sums[1] += 1,
    ];
    caught(&Is::default(), &changes);
}

/// Of two programs each is checked.
#[test]
fn wrong_answers_of_either_program() {
    type Answers = Vec<<Beside as Program>::Answer>;
    let changes: [fn(&mut Answers); 3] = [
        |cores| cores[1].0.served += 1,
        |cores| cores[2].1.wrong = 1,
        |cores| cores[3].1.keys[0] += 1,
    ];
    caught(&Beside::default(), &changes);
}

#[test]
fn wrong_messages() {
    caught(
        &Loopback::default(),
        &[
            |ranks| ranks[8].changed = 1,
            |ranks| ranks[8].messages -= 1,
            |ranks| ranks[0].messages += 1,
            |ranks| ranks[8].shares_nic = true,
        ],
    );
    caught(
        &ReceiveLoop::default(),
        &[
            |ranks| ranks[0].taken.count -= 1,
            |ranks| ranks[0].taken.sum += 1,
        ],
    );
    caught(
        &SendLoop::default(),
        &[
            |ranks| ranks[8].taken.count += 1,
            |ranks| ranks[1].taken.sum ^= 1,
            |ranks| {
                ranks.swap(1, 2);
            },
        ],
    );
    let changes: [fn(&mut Vec<grain::Flooded>); 3] = [
        |ranks| ranks[0].handed.taken.count += 1,
        |ranks| ranks[8].handed.taken.sum ^= 1,
        |ranks| ranks.swap(3, 4),
    ];
    caught(&Flood::default(), &changes);
    caught(
        &Flood {
            to: Some(4),
            ..Flood::default()
        },
        &changes,
    );
}

#[test]
fn wrong_stores() {
    let changes: [fn(&mut Vec<grain::Shard>); 8] = [
        |ranks| ranks[0].wrong = 1,
        |ranks| ranks[1].served += 1,
        |ranks| ranks[2].answered -= 1,
        |ranks| ranks[3].hits = 16,
        |ranks| ranks[4].keys += 1,
        |ranks| ranks[5].sum += 1,
        |ranks| ranks[6].keys = 0,
        // Right in total, but not by shard.
        |ranks| {
            ranks[7].keys += 1;
            ranks[8].keys -= 1;
        },
    ];
    caught(&Kv::default(), &changes);
    caught(
        &Kv {
            workers: 2,
            ..Kv::default()
        },
        &changes,
    );
    // A client that puts all keys finds them, so fewer hits are a fault, too.
    let busy = Kv {
        messages: 200,
        keys: 4,
        ..Kv::default()
    };
    caught(
        &busy,
        &[|ranks| ranks[3].hits = 10, |ranks| ranks[3].hits = 0],
    );
}

#[test]
fn wrong_caches() {
    let small = Caches {
        cache: 16,
        server_cache: 16,
        shared_blocks: 64,
        reads: 300,
        pause_us: 1000,
        ..Caches::default()
    };
    let changes: [fn(&mut Vec<grain::Cached>); 9] = [
        |ranks| ranks[1].wrong = 1,
        |ranks| ranks[2].sum ^= 1,
        // A read that is counted twice, and one at another level.
        |ranks| ranks[3].reads[1][3] += 1,
        |ranks| {
            ranks[3].reads[0][1] += 1;
            ranks[3].reads[0][3] -= 1;
        },
        // Fewer reads from disk than there are blocks.
        |ranks| {
            for rank in &mut ranks[1..] {
                rank.reads[0][2] += std::mem::take(&mut rank.reads[0][3]);
                rank.reads[1][2] += std::mem::take(&mut rank.reads[1][3]);
            }
        },
        |ranks| ranks[4].lent += 1,
        |ranks| assert!(ranks[5].holds.pop().is_some()),
        |ranks| assert!(ranks[0].directory.pop().is_some()),
        |ranks| {
            // A block at two clients of which the directory knows one.
            let block = ranks[1].holds[0];
            ranks[8].holds.push(block);
        },
    ];
    caught(&small, &changes);
    let alone = |policy| Caches {
        policy,
        ..small.clone()
    };
    let swapped: [fn(&mut Vec<grain::Cached>); 1] = [|ranks| {
        // From the own cache instead of the disk.
        ranks[1].reads[0][0] += 1;
        ranks[1].reads[0][3] -= 1;
    }];
    for policy in [Policy::Local, Policy::Server, Policy::Greedy, Policy::Ideal] {
        caught(&alone(policy), &swapped);
    }
    // From caches that the policy does not use.
    caught(
        &alone(Policy::Local),
        &[|ranks| {
            ranks[1].reads[0][2] += 1;
            ranks[1].reads[0][3] -= 1;
        }],
    );
}

#[test]
fn wrong_pages() {
    caught(
        &Paging::default(),
        &[
            |ranks| ranks[0].contents ^= 1,
            |ranks| ranks[0].faults -= 1,
            |ranks| ranks[5].sent += 1,
        ],
    );
}

#[test]
fn wrong_results() {
    caught(
        &SetAlgebra {
            documents: 200,
            ..SetAlgebra::default()
        },
        &[
            |ranks| ranks[0].hits[3].count += 1,
            |ranks| ranks[0].hits[0].sum += 1,
            |ranks| assert!(ranks[0].hits.pop().is_some()),
            |ranks| ranks[0].hits.push(grain::Hits::default()),
        ],
    );
    caught(
        &MapReduce::default(),
        &[
            |ranks| ranks[0].counts[31] += 1,
            |ranks| assert!(ranks[0].counts.pop().is_some()),
            |ranks| ranks[0].counts.rotate_left(8),
            |ranks| ranks[0].counts.push(0),
        ],
    );
}
