//! The suite's tests of the sorts.

use grain::{
    Distribution, Exchange, Groups, MilliSort, Named, NanoSort, PhaseEnd, Program, PushSort,
    Reading, ReorderBy,
};

use crate::programs::{Harness, RANKS, REORDERS, is_right, refused, verdicts, with};

/// Cores that are powers of the buckets or not, more buckets than cores, fewer keys than buckets
/// and more than a message holds.
pub fn nano_sort(harness: &impl Harness) {
    for ranks in RANKS {
        for (buckets, keys, incast) in
            [(2, 5, 2), (3, 16, 1), (4, 40, 8), (16, 16, 16), (100, 2, 3)]
        {
            for reorder in REORDERS {
                let seed = u64::from(ranks + keys);
                for (exchange, phase_end) in [
                    (Exchange::Buckets, None),
                    (Exchange::Keys, None),
                    (Exchange::Keys, Some(PhaseEnd::Counts)),
                ] {
                    if (exchange, reorder) == (Exchange::Keys, ReorderBy::Port) {
                        continue;
                    }
                    let (burst, rows) = (1 + keys / 8, (buckets % 2 == 0).then_some(2));
                    let reading = Reading {
                        exchange: Some(exchange),
                        phase_end,
                        incast: Some(incast),
                        burst: Some(burst),
                        rows,
                        pivot_keys: rows.map(|_| 2 * buckets + 5),
                        ..Named::LockStep.into()
                    };
                    let program = with!(NanoSort; keys = keys, buckets = buckets, reading = reading, reorder = reorder, seed = seed);
                    is_right(harness, ranks, &program);
                    for verdict in verdicts(harness, ranks, &program) {
                        assert_eq!(verdict.sorted, Some(true));
                        assert_eq!(verdict.figure.is_some(), exchange == Exchange::Keys);
                        assert!((0.0..1.0).contains(&verdict.figure.unwrap_or(0.0)));
                    }
                }
            }
        }
    }
}

/// No keys, and so many that a bucket needs several messages.
pub fn nano_sort_of_few_and_many(harness: &impl Harness) {
    for (ranks, keys) in [(1, 0), (5, 0), (8, 1), (2, 600), (5, 500)] {
        for named in [
            Named::ProgramJune,
            Named::ProgramJuly,
            Named::Text,
            Named::LockStep,
        ] {
            let reading = Reading::from(named);
            is_right(
                harness,
                ranks,
                &with!(NanoSort; keys = keys, buckets = 4, reading = reading),
            );
        }
        let counts = of_counts(Named::Text);
        is_right(
            harness,
            ranks,
            &with!(NanoSort; keys = keys, buckets = 4, reading = counts),
        );
    }
    refused(
        harness,
        2,
        &with!(NanoSort; reading = of_counts(Named::ProgramJune)),
    );
    refused(harness, 2, &with!(NanoSort; buckets = 1));
    let reading = Reading::from(Named::Text);
    let program = with!(NanoSort; reading = reading, reorder = ReorderBy::Port);
    refused(harness, 2, &program);
}

fn of_counts(named: Named) -> Reading {
    Reading {
        phase_end: Some(PhaseEnd::Counts),
        ..named.into()
    }
}

/// Buckets of any size, of none and of nearly all keys, and groups that no bucket divides.
pub fn proportional_groups(harness: &impl Harness) {
    for ranks in RANKS {
        for (buckets, keys, distribution) in [
            (2, 16, Distribution::Uniform),
            (4, 40, Distribution::Repeated),
            (16, 5, Distribution::Sorted),
            (100, 2, Distribution::Repeated),
            (3, 0, Distribution::Uniform),
            (4, 100, Distribution::Uniform),
        ] {
            for named in [Named::ProgramJune, Named::Text] {
                let (groups, seed) = (Groups::Proportional, u64::from(ranks + keys));
                let program = with!(NanoSort; keys = keys, buckets = buckets, reading = named.into(), groups = groups, distribution = distribution, seed = seed);
                is_right(harness, ranks, &program);
            }
        }
    }
    let groups = Groups::Proportional;
    refused(harness, 3, &with!(NanoSort; groups = groups, buckets = 256));
    let reorder = ReorderBy::Port;
    refused(
        harness,
        3,
        &with!(NanoSort; groups = groups, reorder = reorder),
    );
}

/// A chain, trees, and a root with more children than cores; cores without boxes.
pub fn hierarchy(harness: &impl Harness) {
    for ranks in RANKS {
        for (children, keys) in [(1, 3), (2, 16), (8, 1), (1000, 5), (3, 0)] {
            for reorder in REORDERS {
                let bvh = Some(children);
                let program =
                    with!(NanoSort; keys = keys, buckets = 4, bvh = bvh, reorder = reorder);
                is_right(harness, ranks, &program);
                for answers in harness.run(ranks, &program) {
                    let made: usize = answers.iter().map(|part| part.nodes.len()).sum();
                    assert!(made >= ranks as usize && answers[0].nodes.len() <= 33);
                }
            }
        }
    }
    let program = with!(NanoSort; bvh = Some(100), reorder = ReorderBy::Port);
    refused(harness, 100, &program);
}

/// One group and several, of one row and of several, with a sample from each core or from few.
pub fn push_sort(harness: &impl Harness) {
    for ranks in RANKS {
        for (group, keys, samples) in [(256, 16, 16), (20, 16, 3), (5, 5, 2), (3, 1, 16), (1, 7, 1)]
        {
            for distribution in [
                Distribution::Uniform,
                Distribution::Sorted,
                Distribution::Repeated,
            ] {
                let seed = u64::from(ranks + keys);
                let program = PushSort {
                    keys,
                    group,
                    samples,
                    row_samples: samples,
                    distribution,
                    seed,
                };
                is_right(harness, ranks, &program);
                for verdict in verdicts(harness, ranks, &program) {
                    assert_eq!(verdict.sorted, Some(true));
                }
            }
        }
    }
}

/// No keys, one, and so many that a list needs several messages.
pub fn push_sort_of_few_and_many(harness: &impl Harness) {
    for (ranks, group, keys) in [
        (1, 256, 0),
        (5, 2, 0),
        (64, 20, 1),
        (2, 1, 600),
        (40, 20, 64),
        (40, 20, 600),
        (512, 256, 100),
        (100, 256, 16),
        (257, 256, 4),
        (1000, 100, 2),
        (700, 2, 1),
    ] {
        is_right(harness, ranks, &with!(PushSort; keys = keys, group = group));
    }
    refused(harness, 2, &with!(PushSort; keys = u32::MAX));
    let large = with!(PushSort; group = 70_000);
    assert!(large.objection(70_000).is_none() && large.objection(70_001).is_some());
}

/// As many sorters as cores, one, and a last one with fewer cores; fewer keys than cores and more.
/// Where steps wait in the NIC many sorters are refused.
pub fn milli_sort(harness: &impl Harness) {
    for ranks in RANKS {
        for (reduction, keys) in [(1, 5), (2, 16), (4, 40), (7, 3), (1000, 9)] {
            for reorder in REORDERS {
                let seed = u64::from(ranks + keys);
                let program = with!(MilliSort; keys = keys, reduction = reduction, reorder = reorder, seed = seed);
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

/// No keys, one, and so many that a core sends another more records than may be on their way.
pub fn milli_sort_of_few_and_many(harness: &impl Harness) {
    for (ranks, keys) in [(1, 0), (5, 0), (8, 1), (2, 600), (5, 500), (300, 2)] {
        is_right(harness, ranks, &with!(MilliSort; keys = keys));
    }
    let reorder = ReorderBy::Port;
    for (ranks, keys) in [(5, 0), (2, 600), (5, 300)] {
        is_right(
            harness,
            ranks,
            &with!(MilliSort; keys = keys, reorder = reorder),
        );
    }
    refused(harness, 300, &with!(MilliSort; reorder = reorder));
}
