//! Sorts see their own keys and compare them: nothing else of the keys decides what they do, and no
//! key leaves its bucket.

use grain::{Distribution, Exchange, MilliSort, NanoSort, Program, Reading};
use machine::{Cluster, Profile, Report, Sent, Setting};

const CORES: u32 = 64;
const BUCKETS: u32 = 4;

/// What the machine saw of a program.
fn seen<P: Program>(program: &P) -> Report {
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
        exchange,
        ..Reading::default()
    };
    NanoSort {
        keys: 20,
        buckets: BUCKETS,
        reading,
        distribution,
        ..NanoSort::default()
    }
}

/// Times, senders, receivers and sizes of all messages, and when each core began and ended each
/// stage.
#[test]
fn another_distribution_of_the_same_order_changes_nothing() {
    order_alone_counts(|distribution| seen(&nano_sort(Exchange::Buckets, distribution)));
    order_alone_counts(|distribution| seen(&nano_sort(Exchange::Keys, distribution)));
    order_alone_counts(|distribution| {
        seen(&MilliSort {
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
    // Other keys in other places are another order.
    assert!(of(Distribution::Sorted).sends != uniform.sends);
}

/// After level i a message stays among the cores of a bucket: 64, 16, 4 neighbours. Only the values
/// at the end come from anywhere.
#[test]
fn no_message_crosses_buckets_after_a_level() {
    for exchange in [Exchange::Buckets, Exchange::Keys] {
        let report = seen(&nano_sort(exchange, Distribution::Uniform));
        for (level, name) in ["level 0", "level 1", "level 2"].into_iter().enumerate() {
            let group = CORES / BUCKETS.pow(level as u32);
            let sends = sends_of(&report, name);
            assert!(sends.len() as u32 > CORES * BUCKETS);
            let crossing = sends
                .iter()
                .find(|sent| sent.from / group != sent.to / group);
            assert_eq!(crossing, None, "{name}");
            // And they do go that far.
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

/// What was sent by cores in a stage.
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
