//! The figures of stages, and the progress of a run.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use node::{Buffer, Close, Closed, DiskError, Node, Pool, Queue, Rank, Undelivered};
use pipeline::{Control, Failure, Most, Pipeline, Progress, StageReport, bottleneck};
use rehearsal::Driver;

/// Ten units of 4 MB in 2 s of two workers that were busy.
const READER: StageReport = StageReport {
    name: "reader",
    workers: 2,
    units: 10,
    records: 400_000,
    bytes: 40_000_000,
    busy_s: 4.0,
    starved_s: 1.0,
    blocked_s: 3.0,
    locked_s: 0.5,
    most: Most {
        records: 300_000,
        bytes: 20_000_000,
        busy_s: 2.5,
    },
};

#[test]
fn rates_count_busy_time_only() {
    assert_eq!(READER.busy_each_s(), 2.0);
    assert_eq!(READER.mb_per_s(), 20.0);
    assert_eq!(READER.worker_mb_per_s(), 10.0);
    assert_eq!(READER.unit_bytes(), 4e6);
    assert_eq!(READER.alive_s(), 8.0);
}

#[test]
fn the_most_of_a_worker_is_compared_with_the_mean() {
    assert_eq!(READER.unevenness(), [1.5, 1.0, 1.25]);
    let idle = StageReport::<&str>::default();
    assert_eq!(idle.unevenness(), [1.0; 3]);
}

#[test]
fn the_rates_of_an_idle_stage_are_zero() {
    let idle = StageReport {
        workers: 0,
        units: 0,
        bytes: 0,
        busy_s: 0.0,
        ..READER
    };
    let rates = [
        idle.mb_per_s(),
        idle.worker_mb_per_s(),
        idle.unit_bytes(),
        idle.busy_each_s(),
    ];
    assert_eq!(rates, [0.0; 4]);
}

#[test]
fn phases_of_a_stage_add_up_except_for_its_workers() {
    let (starved_s, blocked_s) = (32.0, 64.0);
    let other = StageReport {
        workers: 3,
        units: 5,
        bytes: 7,
        busy_s: 16.0,
        starved_s,
        blocked_s,
        ..READER
    };
    let mut sum = READER;
    sum.add(&other);
    let (starved_s, blocked_s) = (33.0, 67.0);
    let bytes = 40_000_007;
    let expected = StageReport {
        name: "reader",
        workers: 3,
        units: 15,
        records: 800_000,
        bytes,
        busy_s: 20.0,
        starved_s,
        blocked_s,
        locked_s: 1.0,
        most: Most {
            records: 600_000,
            bytes: 40_000_000,
            busy_s: 5.0,
        },
    };
    assert_eq!(sum, expected);
    sum.add(&StageReport {
        workers: 1,
        ..other
    });
    assert_eq!(sum.workers, 3, "the most at a time");
}

#[test]
fn a_copy_for_another_node_has_the_same_figures() {
    let copy = READER.to_be_told();
    assert_eq!(
        (&copy.name[..], copy.workers, copy.units),
        ("reader", 2, 10)
    );
    assert_eq!((copy.bytes, copy.alive_s()), (40_000_000, 8.0));
}

#[test]
fn the_bottleneck_is_the_stage_whose_average_worker_is_busiest() {
    let writer = StageReport {
        name: "writer",
        workers: 1,
        busy_s: 3.0,
        ..READER
    };
    assert_eq!(bottleneck(&[READER, writer.clone()]), "writer");
    assert_eq!(
        bottleneck(&[
            writer,
            StageReport {
                busy_s: 7.0,
                ..READER
            }
        ]),
        "reader"
    );
    assert_eq!(bottleneck(&[]), "");
}

#[test]
fn failures_say_what_happened_and_what_to_do() {
    let disk = DiskError::new("read", Path::new("a"), io::ErrorKind::NotFound.into());
    let says = disk.to_string();
    let foreign = Undelivered::Foreign {
        from: Rank(3),
        what: "a test".into(),
    };
    let thread = Failure::NoThread {
        stage: "sorter",
        cause: io::ErrorKind::WouldBlock.into(),
    };
    let panic = Failure::Panic {
        stage: "sorter",
        message: "no bin".into(),
    };
    for (failure, hint) in [
        (Failure::from(Closed), "the pipeline was closed"),
        (
            Failure::from(Undelivered::Closed),
            "the pipeline was closed",
        ),
        (
            Failure::from(foreign),
            "rank 3 sent data that does not belong there (a test)",
        ),
        (Failure::from(disk), &says[..]),
        (Failure::Stopped("SIGINT".into()), "stopped by SIGINT"),
        (thread, "cannot start a thread for the sorter stage"),
        (panic, "a bug in the sorter stage: no bin; please report it"),
    ] {
        let message = failure.to_string();
        assert!(message.starts_with(hint), "{message}");
    }
}

// ---- the run -----------------------------------------------------------------------------------

fn on_a_node<T: Send + 'static>(run: impl AsyncFn(Node) -> T + Send + Sync + Clone + 'static) -> T {
    let ends = Driver::new(1, 1).run(move |node| {
        let run = run.clone();
        async move { run(node).await }
    });
    ends.unwrap_or_else(|stuck| panic!("{stuck}"))
        .pop()
        .expect("one node")
}

#[test]
fn progress_is_that_of_the_current_phase() {
    let seen = on_a_node(async |node: Node| {
        let control = Control::default();
        assert_eq!(control.progress(), Progress::default());
        control.enter("reading", 64);
        let mut pipeline = Pipeline::new(&control);
        for bytes in [5, 7] {
            pipeline.stage(
                &node,
                if bytes == 5 { "reader" } else { "writer" },
                2,
                async move |worker| {
                    worker.did(bytes);
                    Ok(())
                },
            );
        }
        pipeline.join(&node).await.unwrap();
        let read = control.progress();
        control.enter("writing", 0);
        (read, control.progress())
    });
    let stages = vec![("reader", 10), ("writer", 14)];
    assert_eq!(
        seen.0,
        Progress {
            phase: "reading",
            total_bytes: 64,
            stages
        }
    );
    assert_eq!(
        (seen.0.bytes_of("reader"), seen.0.bytes_of("writer")),
        (10, 14)
    );
    assert_eq!(seen.0.bytes_of("no such stage"), 0);
    assert_eq!(
        seen.1,
        Progress {
            phase: "writing",
            ..Progress::default()
        }
    );
}

#[test]
fn the_latest_report_of_each_node_is_kept() {
    let control = Control::default();
    let report = |bytes| Progress {
        total_bytes: bytes,
        ..Progress::default()
    };
    control.hear(Rank(1), report(10));
    control.hear(Rank(2), report(20));
    control.hear(Rank(1), report(30));
    let others = control.others();
    let of = |rank| {
        (
            others[&Rank(rank)].times,
            others[&Rank(rank)].progress.total_bytes,
        )
    };
    assert_eq!((others.len(), of(1), of(2)), (2, (2, 30), (1, 20)));
}

#[test]
fn the_first_failure_is_kept_and_returned_once() {
    let control = Control::default();
    assert!(!control.is_ending() && control.take_failure().is_none());
    control.stop("SIGINT");
    control.stop("SIGTERM");
    assert!(control.is_ending());
    let failure = control.take_failure().map(|failure| failure.to_string());
    assert_eq!(failure.as_deref(), Some("stopped by SIGINT"));
    assert!(control.take_failure().is_none() && control.is_ending());
}

/// A failure closes everything that the run owns, including later additions.
#[test]
fn a_failure_closes_everything_that_the_run_owns() {
    let ends = on_a_node(async |node: Node| {
        let control = Control::default();
        let queue = |name| Queue::<u32>::new(&node, name, 1, 1);
        let (lasting, of_pipeline, late) = (queue("lasting"), queue("of it"), queue("late"));
        control.owns(lasting.clone());
        Pipeline::new(&control).owns(of_pipeline.clone());
        let before = lasting.pop_until(&node, node.now()).await.is_none();
        control.stop("a test");
        control.owns(late.clone());
        let ends = [&lasting, &of_pipeline, &late].map(|queue| queue.pop(&node));
        let mut closed = Vec::new();
        for end in ends {
            closed.push(end.await == Err(Closed));
        }
        late.close();
        (before, closed)
    });
    assert_eq!(ends, (true, vec![true; 3]));
}

/// A run that was stopped has no report, although no stage failed.
#[test]
fn a_stopped_run_has_no_report() {
    let (first, second) = on_a_node(async |node: Node| {
        let control = Control::default();
        control.stop("a test");
        let first = Pipeline::new(&control).join(&node).await.map(drop);
        let second = Pipeline::new(&control).join(&node).await.map(drop);
        (
            first.unwrap_err().to_string(),
            second.unwrap_err().to_string(),
        )
    });
    assert_eq!(
        (&first[..], &second[..]),
        ("stopped by a test", "the pipeline was closed")
    );
}

#[test]
fn workers_take_units_and_buffers_without_a_wait() {
    let seen = on_a_node(async |node: Node| {
        let mut pipeline = Pipeline::new(&Control::default());
        let queue = pipeline.owns(Queue::new(&node, "numbers", 4, 1));
        let buffers = (0..1).map(|_| Buffer::heap(8)).collect();
        let pool = pipeline.owns(Pool::new(&node, "buffers", buffers));
        queue.push(&node, 7).await.unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (told, numbers) = (Arc::clone(&seen), queue.clone());
        pipeline.stage(&node, "taker", 1, async move |worker| {
            let first = worker.try_pop(&numbers).await;
            let second = worker.try_pop(&numbers).await;
            told.lock().unwrap().push((first, second));
            let buffer = worker.try_take(&pool).await.expect("one is idle")?;
            assert!(worker.try_take(&pool).await.is_none());
            pool.give(&worker.node, buffer).await;
            Ok(())
        });
        pipeline.join(&node).await.unwrap();
        seen.lock().unwrap().clone()
    });
    assert_eq!(seen, [(Some(Ok(Some(7))), None)]);
}
