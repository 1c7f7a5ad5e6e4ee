//! Failing runs end, and say why.

use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use machine::{Cluster, RunError, Setting, Stuck};
use node::{Group, Port, Rank, Time};

use crate::common::*;

fn stuck<T: std::fmt::Debug>(result: Result<T, RunError>) -> Stuck {
    match result {
        Err(RunError::Stuck(stuck)) => stuck,
        other => panic!("not stuck: {other:?}"),
    }
}

/// Catches runs that never end, or errors without details.
#[test]
fn errors_name_the_waiting_cores() {
    for threads in [1, 3] {
        let setting = Setting {
            threads,
            seed: 77,
            ..Setting::new(600)
        };
        let result = try_run(nanopu(), setting, |node| async move {
            if node.rank().0 >= 3 {
                node.bind(Port(9)).next(&node).await;
            }
        });
        let stuck = stuck(result.map(|outcome| outcome.answers));
        assert_eq!(
            (stuck.tasks, stuck.waiting.len(), stuck.seed),
            (597, 10, 77)
        );
        let expected: Vec<_> = (3..13)
            .map(|rank| format!("core {rank} waits for a message on port 9"))
            .collect();
        assert_eq!(stuck.waiting, expected);
        let told = stuck.to_string();
        assert!(
            told.contains("seed 77") && told.ends_with("and 587 more"),
            "{told}"
        );
    }
}

/// Catches errors that know the first task of each rank only.
#[test]
fn errors_name_the_waiting_tasks() {
    let result = try_run(nanopu(), Setting::new(3), |node| async move {
        let helper = node.spawn("helper", |node| async move {
            if node.rank() == Rank(1) {
                node.bind(Port(4)).next(&node).await;
            }
        });
        helper.wait(&node).await.unwrap();
    });
    let stuck = stuck(result.map(|outcome| outcome.answers));
    let mut waiting = stuck.waiting;
    waiting.sort();
    assert_eq!(
        waiting,
        [
            "core 1 waits for end of a task",
            "helper of core 1 waits for a message on port 4"
        ]
    );
}

/// An earlier message does not count twice, and a multicast leaves nothing behind.
#[test]
fn a_missing_message_is_reported() {
    let result = try_run(nanopu(), Setting::new(600), |node| async move {
        let port = node.bind(PORT);
        if node.rank().0 == 0 {
            node.multicast(Group::row(Rank(0), 600), PORT, &[5]).await;
        }
        port.next(&node).await;
        if node.rank().0 == 599 {
            port.next(&node).await;
        }
    });
    let stuck = stuck(result.map(|outcome| outcome.answers));
    assert_eq!(
        (stuck.tasks, &stuck.waiting[0][..]),
        (1, "core 599 waits for a message on port 1")
    );
}

/// More messages to a core than fit its queue and NIC, and it never receives them.
#[test]
fn messages_that_are_never_received_do_not_block_the_end() {
    let result = try_run(nanopu(), Setting::new(24), |node| async move {
        if node.rank().0 >= 8 {
            for number in 0..20 {
                send(&node, 0, &letter(node.rank().0, number, 2)).await;
            }
        }
    });
    assert!(result.is_ok(), "{result:?}");
}

/// With such messages, a core waits for a message that never comes, or for room to send.
#[test]
fn endless_waits_for_room_are_reported() {
    let result = try_run(nanopu(), Setting::new(24), |node| async move {
        match node.rank().0 {
            0 => drop(node.bind(Port(3)).next(&node).await),
            8 => {
                for number in 0..2000 {
                    send(&node, 0, &letter(8, number, 2)).await;
                }
            }
            _ => {}
        }
    });
    let stuck = stuck(result.map(|outcome| outcome.answers));
    let expected = [
        "core 0 waits for a message on port 3",
        "core 8 waits for room to send",
    ];
    assert_eq!(stuck.waiting, expected);
}

fn panics(threads: usize) {
    for broken in [0, 300, 599] {
        let setting = Setting {
            threads,
            ..Setting::new(600)
        };
        let result = try_run(nanopu(), setting, move |node| async move {
            node.sleep_until(Time(10_000)).await;
            assert!(node.rank() != Rank(broken), "rank {broken} is broken");
            node.sleep_until(Time(20_000)).await;
        });
        match result {
            Err(RunError::Panic(said)) => assert!(said.contains("is broken"), "{said}"),
            other => panic!("no panic: {:?}", other.map(|outcome| outcome.report)),
        }
    }
}

/// Catches panics that merely end a task, or lose their message.
#[test]
fn a_panic_ends_the_run() {
    panics(1);
}

/// On each thread.
#[test]
fn a_panic_on_one_thread_ends_the_others() {
    panics(2);
    panics(3);
}

/// The last thread at the end of a window continues at once, and may panic before the others have
/// checked whether there is a next window.
#[test]
fn a_panic_early_in_a_window_ends_the_run() {
    for _ in 0..100 {
        let setting = Setting {
            threads: 4,
            ..Setting::new(8)
        };
        let result = try_run(small(2, &[]), setting, |node| async move {
            if node.rank() == Rank(5) {
                node.sleep_until(Time(5000)).await;
                // The others wait for this thread at the window's end.
                let begin = Instant::now();
                while begin.elapsed() < Duration::from_micros(500) {}
                node.sleep_until(Time(6000)).await;
                panic!("this is what the test is about");
            }
            node.sleep_until(Time(7000)).await;
        });
        assert!(matches!(result, Err(RunError::Panic(_))));
    }
}

/// A failed run does not affect the next.
#[test]
fn a_cluster_runs_again() {
    let cluster = Cluster::new(
        nanopu(),
        Setting {
            threads: 2,
            ..Setting::new(600)
        },
    )
    .unwrap();
    let run = |count: u32| {
        cluster.run(move |node| async move {
            let port = node.bind(PORT);
            send(&node, (node.rank().0 + 300) % 600, &[1]).await;
            for _ in 0..count {
                port.next(&node).await;
            }
            node.now().0
        })
    };
    let first = run(1).unwrap();
    assert_eq!(stuck(run(2).map(|outcome| outcome.answers)).tasks, 600);
    let last = run(1).unwrap();
    assert_eq!((first.answers, first.report), (last.answers, last.report));
}

/// Two ranks pass a message to and fro until an observer stops the run.
fn stopped(threads: usize) {
    let cluster = Cluster::new(
        nanopu(),
        Setting {
            threads,
            ..Setting::new(512)
        },
    )
    .unwrap();
    let watch = cluster.watch();
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        let result = cluster.run(|node| async move {
            let port = node.bind(PORT);
            let other = 511 - node.rank().0;
            if node.rank().0 == 0 {
                send(&node, other, &[1]).await;
            }
            while [0, 511].contains(&node.rank().0) {
                port.next(&node).await;
                send(&node, other, &[1]).await;
            }
        });
        drop(tell.send(result.map(|outcome| outcome.report)));
    });
    while watch.received.load(Ordering::Relaxed) < 100 {
        std::thread::yield_now();
    }
    assert!(watch.ticks.load(Ordering::Relaxed) > 99 * 3000);
    watch.stop.store(true, Ordering::Relaxed);
    let result = told.recv_timeout(Duration::from_secs(5));
    assert_eq!(result.expect("it ends soon"), Err(RunError::Stopped));
}

/// Catches runs that ignore the observer.
#[test]
fn a_run_can_be_stopped() {
    stopped(1);
}

/// All of several threads stop.
#[test]
fn a_run_on_threads_can_be_stopped() {
    (0..200).for_each(|_| stopped(4));
}
