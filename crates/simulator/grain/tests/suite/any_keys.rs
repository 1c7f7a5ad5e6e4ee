//! The sorts on chosen keys, and the number of MilliSort's messages.

use grain::{
    Exchange, Groups, MilliSort, Named, NanoSort, Part, PhaseEnd, Program, Reading, ReorderBy,
};
use machine::{Cluster, Driver, Outcome, Profile, Setting};
use node::Node;

fn cluster(cores: u32) -> Cluster {
    Cluster::new(Profile::named("nanopu").unwrap(), Setting::new(cores)).unwrap()
}

/// Runs a program with these keys of each core on the nanoPU cluster.
fn on_cluster(program: &MilliSort, keys: &[Vec<u64>]) -> Outcome<Part> {
    let cluster = cluster(keys.len() as u32);
    let (program, keys) = (program.clone(), keys.to_vec());
    let run = move |node: Node| {
        let own = keys[node.rank().0 as usize].clone();
        program.clone().sort(node, own)
    };
    cluster.run(run).unwrap_or_else(|error| panic!("{error}"))
}

fn is_sorted(parts: &[Part], keys: &[Vec<u64>], what: &str) {
    let found: Vec<u64> = parts.iter().flat_map(|part| part.keys.clone()).collect();
    let mut expected = keys.concat();
    expected.sort_unstable();
    assert_eq!(found, expected, "{what}");
    assert!(parts.iter().all(|part| part.wrong == 0), "{what}");
}

type Draw = fn(u64, u64) -> Vec<u64>;

/// Keys that are equal, few, ordered, or on few cores, by a core's number and the number of cores.
const KEYS: [(&str, Draw); 7] = [
    ("all equal", |_, _| vec![7; 40]),
    ("two keys", |core, _| {
        (0..30).map(|number| (number + core) % 2).collect()
    }),
    ("in order", |core, _| {
        (0..20).map(|number| core * 20 + number).collect()
    }),
    ("against the order", |core, cores| {
        (0..20).map(|at| (cores - core) * 20 - at).collect()
    }),
    ("one core has all", |core, _| {
        if core == 3 {
            (0..300).rev().collect()
        } else {
            Vec::new()
        }
    }),
    ("a key here and there", |core, _| {
        if core % 3 == 1 {
            vec![core]
        } else {
            Vec::new()
        }
    }),
    ("the least and the greatest", |core, _| {
        vec![u64::MAX, core, 0, u64::MAX]
    }),
];

/// Any keys are sorted, with the predicted number of messages.
#[test]
fn any_keys() {
    for (what, draw) in KEYS {
        for (cores, reduction) in [(4, 2), (7, 3), (33, 4), (33, 1), (16, 100)] {
            let keys: Vec<_> = (0..cores).map(|core| draw(core, cores)).collect();
            let program = MilliSort {
                reduction,
                ..MilliSort::default()
            };
            let Outcome { answers, report } = on_cluster(&program, &keys);
            let what = format!("{what}: {cores} cores, reduction {reduction}");
            is_sorted(&answers, &keys, &what);
            assert_eq!(program.messages_of(keys), report.counts.messages, "{what}");
        }
    }
}

/// NanoSort sorts any keys, too, however many one core has at the end. All cores begin with equally
/// many.
#[test]
fn any_keys_of_nano_sort() {
    for (what, draw) in KEYS {
        for (cores, buckets) in [(4, 2), (7, 3), (33, 4), (33, 33), (64, 4)] {
            let keys: Vec<_> = (0..cores).map(|core| draw(core, cores)).collect();
            if keys.iter().any(|of| of.len() != keys[0].len()) {
                continue;
            }
            for (exchange, reorder, groups, phase_end) in [
                (Exchange::Buckets, ReorderBy::Software, Groups::Equal, None),
                (
                    Exchange::Buckets,
                    ReorderBy::Software,
                    Groups::Proportional,
                    None,
                ),
                (
                    Exchange::Keys,
                    ReorderBy::Software,
                    Groups::Proportional,
                    None,
                ),
                (
                    Exchange::Keys,
                    ReorderBy::Software,
                    Groups::Proportional,
                    Some(PhaseEnd::Counts),
                ),
                (Exchange::Buckets, ReorderBy::Port, Groups::Equal, None),
                (Exchange::Keys, ReorderBy::Software, Groups::Equal, None),
                (
                    Exchange::Keys,
                    ReorderBy::Software,
                    Groups::Equal,
                    Some(PhaseEnd::Counts),
                ),
            ] {
                let reading = Reading {
                    exchange: Some(exchange),
                    phase_end,
                    ..Named::LockStep.into()
                };
                let program = NanoSort {
                    buckets,
                    reading,
                    reorder,
                    groups,
                    ..NanoSort::default()
                };
                let what =
                    format!("{what}: {cores} cores, {buckets} buckets, {exchange:?}, {groups:?}");
                let all = keys.clone();
                let run = move |node: Node| {
                    let own = all[node.rank().0 as usize].clone();
                    let program = program.clone();
                    async move { program.sort(&node, own).await }
                };
                let ended = cluster(cores as u32).run(run);
                let parts = ended
                    .unwrap_or_else(|error| panic!("{what}: {error}"))
                    .answers;
                is_sorted(&parts, &keys, &what);
            }
        }
    }
}

/// The formula of the module `count`, for keys of which each core sends one to each core.
#[test]
fn messages_by_the_formula() {
    let (cores, reduction) = (8, 4);
    let program = MilliSort {
        reduction,
        ..MilliSort::default()
    };
    // Core c has the keys c, 8 + c, 16 + c: one for each.
    let keys: Vec<Vec<u64>> = (0..cores)
        .map(|c| (0..cores).map(|d| d * cores + c).collect())
        .collect();
    let (all, sorters) = (cores, 2);
    let formula = (all - sorters) + 2 * (sorters - 1) + sorters * (sorters - 1);
    let formula = formula + sorters * (all - 1) + all * (all - 1);
    // No core sends enough to request an ACK.
    assert_eq!(program.messages_of(keys.clone()), formula);
    assert_eq!(on_cluster(&program, &keys).report.counts.messages, formula);
}

/// All messages are counted: fragments, ACKs, and those of steps that wait in the NIC.
#[test]
fn every_message_is_foreseen() {
    let cases = [
        (64, 64, 4, ReorderBy::Software),
        (64, 16, 4, ReorderBy::Port),
        (30, 100, 2, ReorderBy::Port),
        (100, 40, 50, ReorderBy::Software),
        (300, 3, 4, ReorderBy::Software),
        (3, 700, 1, ReorderBy::Software),
        (1, 5, 4, ReorderBy::Software),
        (9, 0, 4, ReorderBy::Port),
    ];
    for (cores, keys, reduction, reorder) in cases {
        let program = MilliSort {
            keys,
            reduction,
            reorder,
            seed: 5,
            ..MilliSort::default()
        };
        let task = program.clone();
        let ended = cluster(cores).run(move |node| task.clone().run(node));
        let sent = ended
            .unwrap_or_else(|error| panic!("{error}"))
            .report
            .counts
            .messages;
        assert_eq!(
            program.messages_on(cores),
            sent,
            "{cores} cores, {program:?}"
        );
    }
}

/// Keys of the same order take the same messages at the same times.
#[test]
fn keys_are_compared_alone() {
    let keys = |of: fn(u64) -> u64| -> Vec<Vec<u64>> {
        let numbers = |core: u64| (0..50_u64).map(move |at| (core * 7919 + at * 104_729) % 613);
        (0..24)
            .map(|core| numbers(core).map(of).collect())
            .collect()
    };
    let report = |keys: &[Vec<u64>]| on_cluster(&MilliSort::default(), keys).report;
    let plain = report(&keys(|key| key));
    assert_eq!(plain, report(&keys(|key| key << 50 | 3)));
    assert_ne!(
        plain,
        report(&keys(|key| 613 - key)),
        "another order is another run"
    );
}

/// The messages of a core always fit its transmit words. Three cores with many keys send many
/// records, and core 0 sends much to many sorters.
#[test]
fn no_core_waits_to_send() {
    for (cores, keys, reduction) in [(3, 700, 1), (200, 5, 1), (64, 64, 4)] {
        let program = MilliSort {
            keys,
            reduction,
            ..MilliSort::default()
        };
        let task = program.clone();
        let ended = cluster(cores).run(move |node| task.clone().run(node));
        let counts = ended
            .unwrap_or_else(|error| panic!("{error}"))
            .report
            .counts;
        assert_eq!(counts.longest_send_wait, 0, "{cores} cores, {program:?}");
    }
}

/// All schedules of the seeded driver give the same parts.
#[test]
fn schedules_change_no_part() {
    let program = MilliSort {
        keys: 20,
        reduction: 3,
        ..MilliSort::default()
    };
    let parts = |seed| {
        let program = program.clone();
        let answers = Driver::new(seed, 10)
            .run(move |node| program.clone().run(node))
            .unwrap();
        answers
            .into_iter()
            .map(|part| part.keys)
            .collect::<Vec<_>>()
    };
    let first = parts(0);
    assert!((1..8).all(|seed| parts(seed) == first));
}
