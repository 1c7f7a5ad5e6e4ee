//! Every program on the seeded driver, in several schedules; and the cost of their work.

use crate::programs::Harness;
use disk::DiskModel;
use grain::{Flood, Kv, LocalMin, LocalSort, MapReduce, MergeMin, Program, Tree};
use machine::Driver;
use node::{Costs, Rank};

struct Seeds;

impl Harness for Seeds {
    fn run<P: Program>(&self, ranks: u32, program: &P) -> Vec<Vec<P::Answer>> {
        (0..4)
            .map(|seed| on(&Driver::new(seed, ranks), program))
            .collect()
    }
}

crate::program_suite!(Seeds);

fn on<P: Program>(driver: &Driver, program: &P) -> Vec<P::Answer> {
    let program = program.clone();
    let answers = driver.run(move |node| program.clone().run(node));
    answers.unwrap_or_else(|stuck| panic!("{stuck}"))
}

/// The time of a program if reading a word takes a tick and messages take none.
fn ticks<P: Program>(ranks: u32, program: &P) -> u64 {
    let costs = Costs {
        scan: 1000,
        sort: 1000,
        load: 1000,
        cache_bytes: 1 << 20,
        ..Costs::default()
    };
    let driver = Driver::with(1, ranks, costs, DiskModel::default());
    let verdict = program.check(&on(&driver, program));
    assert_eq!(verdict.fault, None);
    let (begin, end) = verdict.elapsed.unwrap();
    end.since(begin)
}

#[test]
fn work_is_what_the_program_computes() {
    assert_eq!(ticks(3, &LocalMin { keys: 100, seed: 1 }), 100);
    // Sixteen lines of four levels.
    assert_eq!(ticks(3, &LocalSort { keys: 16, seed: 1 }), 2 + 16 * 4);
}

/// A get without a value copies nothing; a put copies its value.
#[test]
fn an_absent_value_is_not_copied() {
    let end = |put_percent| {
        let program = Kv {
            put_percent,
            bytes: 64,
            messages: 5,
            ..Kv::default()
        };
        let costs = Costs {
            copy: 1000,
            ..Costs::default()
        };
        let answers = on(&Driver::with(1, 1, costs, DiskModel::default()), &program);
        assert_eq!(program.check(&answers).fault, None);
        answers[0].span.end.since(answers[0].span.begin)
    };
    assert_eq!((end(0), end(100)), (0, 5));
}

/// The root, or the end of the chain, reads its own values and one word per child.
#[test]
fn the_depth_and_width_of_a_tree_are_its_time() {
    let time = |incast| {
        ticks(
            64,
            &MergeMin {
                keys: 128,
                incast,
                ..MergeMin::default()
            },
        )
    };
    assert_eq!(time(2), 128 + 6);
    assert_eq!(time(8), 128 + 7 + 7);
    assert_eq!(time(64), 128 + 63);
    assert_eq!(time(1), 128 + 63);
}

/// The ends of 16 ranks that count words, if reading a word takes a tick.
fn ends(rounds: u32) -> Vec<u64> {
    let program = MapReduce {
        words: 50,
        buckets: 8,
        rounds,
        incast: 4,
        ..MapReduce::default()
    };
    let costs = Costs {
        scan: 1000,
        cache_bytes: 1 << 20,
        ..Costs::default()
    };
    let answers = on(&Driver::with(1, 16, costs, DiskModel::default()), &program);
    assert_eq!(program.check(&answers).fault, None);
    answers.iter().map(|answer| answer.span.end.0).collect()
}

/// A rank without children maps some rounds without waiting, and then waits for its slower parent,
/// so it is never more than four rounds ahead.
#[test]
fn rounds_are_pipelined() {
    // The root has three children on each of two levels, with eight counts each.
    let root_round = 50 + 2 * 3 * 8;
    let few = ends(4);
    assert_eq!(few[15], 4 * 50);
    assert!(few[0] >= 4 * root_round, "{few:?}");
    let many = ends(20);
    assert!(many[15] > 20 * 50 && many[15] < many[0], "{many:?}");
    for rank in 1..16 {
        let (parent, _) = Tree::new(16, 4).parent(Rank(rank)).unwrap();
        let [end, parents] = [many[rank as usize], many[parent.0 as usize]];
        assert!(end + 5 * root_round >= parents, "rank {rank} in {many:?}");
    }
}

#[test]
fn other_seeds_are_other_runs() {
    let sum = |seed| {
        let answers = on(
            &Driver::new(1, 8),
            &Flood {
                seed,
                ..Flood::default()
            },
        );
        answers.iter().fold(0, |sum: u64, answer| {
            sum.wrapping_add(answer.handed.taken.sum)
        })
    };
    assert_eq!(sum(1), sum(1));
    assert_ne!(sum(1), sum(2));
}

/// A million ranks run at once, so their futures must be small.
#[test]
fn futures_are_small() {
    fn bytes<P: Program>(program: P) -> usize {
        let run = move |node| {
            let future = program.clone().run(node);
            let bytes = std::mem::size_of_val(&future);
            async move {
                future.await;
                bytes
            }
        };
        Driver::new(1, 1).run(run).unwrap()[0]
    }
    let sizes = [
        bytes(Flood::default()),
        bytes(MergeMin::default()),
        bytes(grain::Kv::default()),
        bytes(grain::SetAlgebra::default()),
        bytes(MapReduce::default()),
    ];
    println!("{sizes:?}");
    assert!(sizes[0] < 500, "{sizes:?}");
    assert!(sizes.iter().all(|bytes| *bytes < 1000), "{sizes:?}");
}
