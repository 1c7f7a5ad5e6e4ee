//! Tuned pipelines on the driver and on threads: the bottleneck gets the workers that it needs, and
//! all workers end, parked or not.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use node::{Costs, Node, Queue, Work};
use node_real::Cluster;
use pipeline::{Control, Dial, Failure, Move, Pipeline, Stage, StageReport, Tuner};
use rehearsal::DiskModel;
use rehearsal::Driver;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Trouble {
    None,
    Error,
    Panic,
    Stop,
}

/// A run of the pipeline.
#[derive(Clone, Copy)]
struct Setting {
    /// Workers of the doubler that are called at the start.
    called: usize,
    workers: usize,
    tuned: bool,
    numbers: u64,
    trouble: Trouble,
}

const WORST: Setting = Setting {
    called: 1,
    workers: 8,
    tuned: true,
    numbers: 2000,
    trouble: Trouble::None,
};

struct Outcome {
    sum: u64,
    stages: Vec<StageReport>,
    moves: Vec<Move>,
}

impl Outcome {
    fn doublers(&self) -> usize {
        self.stages
            .iter()
            .find(|stage| stage.name == "doubler")
            .unwrap()
            .workers
    }
}

/// Runs source > doubler > sink; only the doubler takes time.
async fn run(node: Node, control: Control, setting: Setting) -> Result<Outcome, Failure> {
    let tuner = if setting.tuned {
        Tuner::new(node.now())
    } else {
        Tuner::off()
    };
    let mut pipeline = Pipeline::new(&control).tuned(&tuner);
    let numbers = pipeline.owns(Queue::new(&node, "numbers", 2, 1));
    let doubles = pipeline.owns(Queue::new(&node, "doubles", 2, setting.workers));
    let sum = Arc::new(AtomicU64::new(0));

    let out = numbers.clone();
    pipeline.stage(&node, "source", 1, async move |worker| {
        for number in 0..setting.numbers {
            worker.push(&out, number).await?;
            worker.did(8);
        }
        out.finish(&worker.node).await;
        Ok(())
    });
    let (out, stopped) = (doubles.clone(), control.clone());
    let stage = Stage::new("doubler", setting.workers).called(setting.called);
    pipeline.start(&node, stage, async move |worker| {
        while let Some(number) = worker.pop(&numbers).await? {
            worker.node.work(Work::Classify { records: 1 });
            match setting.trouble {
                Trouble::Error if number == 50 => {
                    return Err(Failure::Program("number 50 is bad".into()));
                }
                Trouble::Panic if number == 50 => panic!("number 50 is a bug"),
                Trouble::Stop if number == 50 => stopped.stop("a test"),
                _ => {}
            }
            worker.push(&out, number * 2).await?;
            worker.did(8);
        }
        out.finish(&worker.node).await;
        Ok(())
    });
    let total = Arc::clone(&sum);
    pipeline.stage(&node, "sink", 1, async move |worker| {
        while let Some(number) = worker.pop(&doubles).await? {
            total.fetch_add(number, Ordering::Relaxed);
            worker.did(8);
        }
        Ok(())
    });
    let stages = pipeline.join(&node).await?;
    Ok(Outcome {
        sum: sum.load(Ordering::Relaxed),
        stages,
        moves: tuner.moves(),
    })
}

/// The outcome of a simulated run, and its nanoseconds.
fn on_driver(seed: u64, setting: Setting) -> (Result<Outcome, Failure>, u64) {
    let costs = Costs {
        classify: 5_000_000_000,
        ..Costs::default()
    };
    let driver = Driver::with(seed, 1, costs, DiskModel::default());
    let control = Control::default();
    let ends = driver.run(move |node| run(node, control.clone(), setting));
    (
        ends.unwrap_or_else(|stuck| panic!("{stuck}"))
            .pop()
            .unwrap(),
        driver.now().0,
    )
}

#[test]
fn all_workers_of_the_bottleneck_are_called() {
    let derived = Setting {
        called: 8,
        tuned: false,
        ..WORST
    };
    let (_, best) = on_driver(1, derived);
    for seed in 0..100 {
        let (outcome, took) = on_driver(seed, WORST);
        let outcome = outcome.unwrap();
        assert_eq!(outcome.sum, 2 * (0..2000).sum::<u64>(), "seed {seed}");
        let moves: Vec<_> = outcome
            .moves
            .iter()
            .map(|one| (one.stage, one.what, one.to))
            .collect();
        let expected = [("doubler", "workers", 4), ("doubler", "workers", 8)];
        assert_eq!(moves, expected, "seed {seed}");
        assert_eq!(outcome.doublers(), 8);
        assert!(
            took < best * 115 / 100,
            "seed {seed}: {took} ns, not {best}"
        );
    }
}

#[test]
fn a_tuner_that_is_off_moves_nothing() {
    let (outcome, took) = on_driver(
        1,
        Setting {
            tuned: false,
            ..WORST
        },
    );
    let outcome = outcome.unwrap();
    assert_eq!((outcome.moves.len(), outcome.doublers()), (0, 1));
    let (_, alone) = on_driver(
        2,
        Setting {
            workers: 1,
            tuned: false,
            ..WORST
        },
    );
    assert_eq!(took, alone, "parked workers do nothing");
}

/// A run that ends before the first look takes no longer than without a tuner.
#[test]
fn tuning_takes_no_time() {
    for numbers in [0, 1, 5, 9] {
        let one = Setting {
            workers: 1,
            numbers,
            ..WORST
        };
        let times = [true, false].map(|tuned| on_driver(3, Setting { tuned, ..one }).1);
        assert_eq!(times[0], times[1]);
    }
}

#[test]
fn a_failure_reaches_parked_workers() {
    for (trouble, says) in [
        (Trouble::Error, "number 50 is bad"),
        (Trouble::Panic, "number 50 is a bug"),
        (Trouble::Stop, "stopped by a test"),
    ] {
        let setting = Setting { trouble, ..WORST };
        std::panic::set_hook(Box::new(|_| {}));
        let ends: Vec<_> = (0..50).map(|seed| on_driver(seed, setting).0).collect();
        let threads = Cluster::new(1, 1).run(move |node| run(node, Control::default(), setting));
        drop(std::panic::take_hook());
        for end in ends.into_iter().chain(threads) {
            let failure = end.map(drop).unwrap_err().to_string();
            assert!(failure.contains(says), "{failure}");
        }
    }
}

#[test]
fn parked_workers_end_on_threads() {
    for called in [1, 3] {
        for tuned in [true, false] {
            let setting = Setting {
                called,
                tuned,
                ..WORST
            };
            let ends = Cluster::new(1, 1).run(move |node| run(node, Control::default(), setting));
            let outcome = ends.into_iter().next().unwrap().unwrap();
            assert_eq!(outcome.sum, 2 * (0..2000).sum::<u64>());
        }
    }
}

/// A tuner does not look forever, so the driver finds and reports a deadlock.
#[test]
fn a_deadlock_is_reported() {
    let driver = Driver::new(1, 1);
    let stuck = driver.run(|node| async move {
        let tuner = Tuner::new(node.now());
        let mut pipeline = Pipeline::new(&Control::default()).tuned(&tuner);
        let nothing: Queue<u32> = pipeline.owns(Queue::new(&node, "nothing", 1, 1));
        pipeline.stage(&node, "waiter", 1, async move |worker| {
            worker.pop(&nothing).await?;
            Ok(())
        });
        pipeline.join(&node).await.map(drop)
    });
    let stuck = stuck.unwrap_err().to_string();
    assert!(stuck.contains("waiter-0 waits for nothing"), "{stuck}");
}

/// A larger dial makes the stage faster: each unit takes the same time, whatever its size.
#[test]
fn a_dial_is_turned_up_while_its_stage_is_the_bottleneck() {
    let costs = Costs {
        account: 5_000_000_000,
        ..Costs::default()
    };
    for seed in 0..20 {
        let driver = Driver::with(seed, 1, costs, DiskModel::default());
        let ends = driver.run(|node| async move {
            let tuner = Tuner::new(node.now());
            let mut pipeline = Pipeline::new(&Control::default()).tuned(&tuner);
            let (size, left) = (Dial::new(1..=64, 1), Arc::new(AtomicUsize::new(10_000)));
            let stage = Stage::new("taker", 1).dial("size", &size);
            let dial = size.clone();
            pipeline.start(&node, stage, async move |worker| {
                loop {
                    let all = left.load(Ordering::Relaxed);
                    let taken = all.min(dial.get());
                    if taken == 0 {
                        return Ok(());
                    }
                    left.store(all - taken, Ordering::Relaxed);
                    worker.node.work(Work::Account { units: 1 });
                    worker.node.reach().await;
                    worker.did(taken);
                }
            });
            pipeline.join(&node).await.unwrap();
            (size.get(), tuner.moves().len())
        });
        assert_eq!(ends.unwrap(), [(64, 3)], "seed {seed}");
    }
}
