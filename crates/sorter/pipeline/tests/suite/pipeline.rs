//! A small pipeline on both backends: ends, failures, panics, stops, and the bottleneck.

use node::{Buffer, Costs, Node, Pool, Queue, Work};
use node_real::Cluster;
use pipeline::{Control, Failure, Pipeline, StageReport, bottleneck};
use rehearsal::DiskModel;
use rehearsal::Driver;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Trouble {
    None,
    Error,
    Panic,
}

/// Runs source > doubler > sink, and returns the sum that the sink computed.
async fn run(
    node: Node,
    control: Control,
    trouble: Trouble,
) -> Result<(u64, Vec<StageReport>), Failure> {
    let mut pipeline = Pipeline::new(&control);
    let numbers = pipeline.owns(Queue::new(&node, "numbers", 2, 1));
    let doubles = pipeline.owns(Queue::new(&node, "doubles", 2, 3));
    let pool = pipeline.owns(Pool::new(
        &node,
        "buffers",
        vec![Buffer::heap(8), Buffer::heap(8)],
    ));
    let sum = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));

    let out = numbers.clone();
    pipeline.stage(&node, "source", 1, async move |worker| {
        for number in 0..100_u64 {
            worker.node.work(Work::Copy { bytes: 64 });
            worker.push(&out, number).await?;
            worker.did(8);
        }
        out.finish(&worker.node).await;
        Ok(())
    });
    let out = doubles.clone();
    pipeline.stage(&node, "doubler", 3, async move |worker| {
        while let Some(number) = worker.pop(&numbers).await? {
            worker.node.work(Work::Classify { records: 3 });
            match trouble {
                Trouble::Error if number == 50 => {
                    return Err(Failure::Program("number 50 is bad".into()));
                }
                Trouble::Panic if number == 50 => panic!("number 50 is a bug"),
                _ => {}
            }
            let buffer = worker.take(&pool).await?;
            pool.give(&worker.node, buffer).await;
            worker.push(&out, number * 2).await?;
            worker.did(8);
        }
        out.finish(&worker.node).await;
        Ok(())
    });
    let total = std::sync::Arc::clone(&sum);
    pipeline.stage(&node, "sink", 1, async move |worker| {
        while let Some(number) = worker.pop(&doubles).await? {
            worker.node.work(Work::Account { units: 1 });
            total.fetch_add(number, std::sync::atomic::Ordering::Relaxed);
            worker.did(8);
        }
        Ok(())
    });
    let reports = pipeline.join(&node).await?;
    Ok((sum.load(std::sync::atomic::Ordering::Relaxed), reports))
}

fn on_driver(
    seed: u64,
    costs: Costs,
    trouble: Trouble,
) -> Result<(u64, Vec<StageReport>), Failure> {
    let driver = Driver::with(seed, 1, costs, DiskModel::default());
    let control = Control::default();
    let ends = driver.run(move |node| run(node, control.clone(), trouble));
    ends.unwrap_or_else(|stuck| panic!("{stuck}"))
        .pop()
        .unwrap()
}

fn on_threads(trouble: Trouble) -> Result<(u64, Vec<StageReport>), Failure> {
    let control = Control::default();
    Cluster::new(1, 1)
        .run(move |node| run(node, control.clone(), trouble))
        .pop()
        .unwrap()
}

fn without_panic_messages<T>(run: impl FnOnce() -> T) -> T {
    std::panic::set_hook(Box::new(|_| {}));
    let value = run();
    drop(std::panic::take_hook());
    value
}

#[test]
fn every_unit_arrives_on_both_backends() {
    for seed in 0..200 {
        let (sum, reports) = on_driver(seed, Costs::default(), Trouble::None).unwrap();
        assert_eq!(sum, 9900);
        let units: Vec<_> = reports
            .iter()
            .map(|stage| (stage.name, stage.units, stage.bytes))
            .collect();
        assert_eq!(
            units,
            [
                ("source", 100, 800),
                ("doubler", 100, 800),
                ("sink", 100, 800)
            ]
        );
    }
    assert_eq!(on_threads(Trouble::None).unwrap().0, 9900);
}

#[test]
fn a_failure_ends_all_and_is_returned() {
    let check = |end: Result<_, Failure>| {
        assert_eq!(end.map(drop).unwrap_err().to_string(), "number 50 is bad");
    };
    (0..200).for_each(|seed| check(on_driver(seed, Costs::default(), Trouble::Error)));
    (0..20).for_each(|_| check(on_threads(Trouble::Error)));
}

#[test]
fn a_panic_ends_all_and_names_the_stage() {
    let check = |end: Result<_, Failure>| {
        let error = end.map(drop).unwrap_err().to_string();
        assert!(
            error.contains("doubler") && error.contains("number 50 is a bug"),
            "{error}"
        );
    };
    without_panic_messages(|| {
        (0..50).for_each(|seed| check(on_driver(seed, Costs::default(), Trouble::Panic)));
        (0..5).for_each(|_| check(on_threads(Trouble::Panic)));
    });
}

/// The first failure is the one that is told, but a run that was stopped does not begin again.
#[test]
fn a_failed_run_that_was_stopped_does_not_begin_again() {
    let failed = Control::default();
    failed.fail(Failure::Closed);
    assert!(failed.begin_again().is_ok() && !failed.is_ending());
    failed.fail(Failure::Closed);
    failed.stop("a test");
    failed.stop("another");
    let again = failed.begin_again();
    assert!(matches!(again, Err(Failure::Stopped(reason)) if reason == "a test"));
}

#[test]
fn a_stop_from_another_thread_ends_all() {
    let control = Control::default();
    let stopper = control.clone();
    let ends = Cluster::new(1, 1).run(move |node| {
        let control = control.clone();
        async move {
            let mut pipeline = Pipeline::new(&control);
            let queue: Queue<u32> = pipeline.owns(Queue::new(&node, "nothing", 1, 1));
            pipeline.stage(&node, "waiter", 2, async move |worker| {
                worker.pop(&queue).await?;
                Ok(())
            });
            let stopper = control.clone();
            std::thread::spawn(move || stopper.stop("a test"));
            pipeline.join(&node).await.map(drop)
        }
    });
    assert!(matches!(&ends[0], Err(Failure::Stopped(reason)) if reason == "a test"));
    // A queue that is made after the stop is closed at once.
    let late = Cluster::new(1, 1).run(move |node| {
        let control = stopper.clone();
        async move {
            let queue: Queue<u32> = Pipeline::new(&control).owns(Queue::new(&node, "late", 1, 1));
            queue.pop(&node).await
        }
    });
    assert_eq!(late, [Err(node::Closed)]);
}

#[test]
fn the_slow_stage_is_the_bottleneck() {
    let slow = [
        (
            "source",
            Costs {
                copy: 1_000_000,
                ..Costs::default()
            },
        ),
        (
            "doubler",
            Costs {
                classify: 5_000_000,
                ..Costs::default()
            },
        ),
        (
            "sink",
            Costs {
                account: 2_000_000,
                ..Costs::default()
            },
        ),
    ];
    for (name, costs) in slow {
        let (_, reports) = on_driver(1, costs, Trouble::None).unwrap();
        assert_eq!(bottleneck(&reports), name, "{reports:#?}");
        for stage in &reports {
            let idle = stage.starved_s + stage.blocked_s;
            if stage.name == name {
                assert!(stage.busy_s > 0.9 * (stage.busy_s + idle), "{stage:?}");
            } else {
                assert!(stage.busy_s < 0.1 * idle, "{stage:?}");
            }
        }
        let waits = |name| {
            reports
                .iter()
                .find(|stage: &&StageReport| stage.name == name)
                .unwrap()
        };
        match name {
            "source" => assert!(waits("sink").starved_s > 0.0 && waits("doubler").starved_s > 0.0),
            "sink" => assert!(waits("source").blocked_s > 0.0 && waits("doubler").blocked_s > 0.0),
            _ => assert!(waits("source").blocked_s > 0.0 && waits("sink").starved_s > 0.0),
        }
    }
}
