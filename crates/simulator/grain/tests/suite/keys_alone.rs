//! Sorts only compare their own keys: nothing else of the keys affects a run, and no key leaves its
//! bucket.

use grain::{Distribution, Exchange, MilliSort, Named, NanoSort, Program, Reading};
use machine::{Cluster, Profile, Report, Sent, Setting};

const CORES: u32 = 64;
const BUCKETS: u32 = 4;

/// The machine's report of a program, with all messages and stages.
fn report_of<P: Program>(program: &P) -> Report {
    let setting = Setting {
        sends: true,
        traced: CORES,
        ..Setting::new(CORES)
    };
    let cluster = Cluster::new(Profile::named("nanopu").unwrap(), setting).unwrap();
    let task = program.clone();
    let ended = cluster.run(move |node| task.clone().run(node)).unwrap();
    assert_eq!(program.check(&ended.answers).fault, None);
    assert_eq!(
        ended.report.sends.len() as u64,
        ended.report.counts.messages
    );
    ended.report
}

fn nano_sort(exchange: Exchange, distribution: Distribution) -> NanoSort {
    let reading = Reading {
        exchange: Some(exchange),
        ..Named::LockStep.into()
    };
    NanoSort {
        keys: 20,
        buckets: BUCKETS,
        reading,
        distribution,
        ..NanoSort::default()
    }
}

/// The times, senders, receivers and sizes of all messages, and the begin and end of all stages,
/// are the same.
#[test]
fn another_distribution_of_the_same_order_changes_nothing() {
    order_alone_counts(|distribution| report_of(&nano_sort(Exchange::Buckets, distribution)));
    order_alone_counts(|distribution| report_of(&nano_sort(Exchange::Keys, distribution)));
    order_alone_counts(|distribution| {
        report_of(&MilliSort {
            distribution,
            ..MilliSort::default()
        })
    });
}

fn order_alone_counts(of: impl Fn(Distribution) -> Report) {
    let uniform = of(Distribution::Uniform);
    for distribution in [Distribution::HeavyTailed, Distribution::Clustered] {
        assert!(of(distribution) == uniform, "with {distribution:?} keys");
    }
    // Sorted keys are in another order.
    assert!(of(Distribution::Sorted).sends != uniform.sends);
}

/// After level i messages stay among the cores of a bucket: 64, 16, 4 neighbours. Only the values
/// at the end come from any core.
#[test]
fn no_message_crosses_buckets_after_a_level() {
    for exchange in [Exchange::Buckets, Exchange::Keys] {
        let report = report_of(&nano_sort(exchange, Distribution::Uniform));
        for (level, name) in ["level 0", "level 1", "level 2"].into_iter().enumerate() {
            let group = CORES / BUCKETS.pow(level as u32);
            let sends = sends_of(&report, name);
            assert!(sends.len() as u32 > CORES * BUCKETS);
            let crossing = sends
                .iter()
                .find(|sent| sent.from / group != sent.to / group);
            assert_eq!(crossing, None, "{name}");
            // They do reach the far half of the group.
            let half = group / 2;
            assert!(
                sends.iter().any(|sent| sent.from / half != sent.to / half),
                "{name}"
            );
        }
        let leaving = |sent: &Sent| sent.from / 16 != sent.to / 16;
        assert!(sends_of(&report, "values").into_iter().any(leaving));
    }
}

/// The messages that were sent in a stage.
fn sends_of<'a>(report: &'a Report, stage: &str) -> Vec<&'a Sent> {
    let slices: Vec<_> = report
        .slices
        .iter()
        .filter(|slice| slice.name == stage)
        .collect();
    assert_eq!(slices.len(), CORES as usize);
    let is_in = |sent: &&Sent| {
        let own = slices.iter().find(|slice| slice.rank == sent.from);
        own.is_some_and(|slice| slice.begin < sent.time && sent.time <= slice.end)
    };
    report.sends.iter().filter(is_in).collect()
}
