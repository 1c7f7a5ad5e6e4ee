//! Ranks with several tasks: they share the rank's cores, by urgency, and its ports.

use std::sync::Arc;

use machine::{Profile, Setting};
use node::{MessagePort, Node, Time, Work};

use crate::common::*;

/// A thousand words of four cycles.
const WORK: Work = Work::Scan { words: 1000 };
const TICKS: u64 = 4000;

/// Four cores per rank, and one rank per NIC.
fn four_cores() -> Profile {
    edited(&[("cores_per_rank", "4"), ("ranks_per_nic", "1")])
}

/// The ends of tasks with equal work.
fn ends(profile: Profile, tasks: usize) -> Vec<u64> {
    let outcome = run(profile, Setting::new(1), move |node| async move {
        let work = |node: Node| async move {
            node.work(WORK);
            node.reach().await;
            node.now().0
        };
        let begun: Vec<_> = (0..tasks)
            .map(|task| node.spawn(format!("{task}"), work))
            .collect();
        let mut ends = Vec::new();
        for task in begun {
            ends.push(task.wait(&node).await.unwrap());
        }
        ends
    });
    outcome.answers.into_iter().next().unwrap()
}

/// Catches tasks with their own cores, of which two would end at once.
#[test]
fn tasks_share_the_one_core_of_a_rank() {
    let one = ends(nanopu(), 5);
    assert_eq!(one.iter().max(), Some(&(5 * TICKS)));
    assert_eq!(ends(nanopu(), 1), [TICKS]);
}

/// Catches one core per rank, which takes the sum of all.
#[test]
fn four_cores_run_four_tasks_at_once() {
    let near = |ends: Vec<u64>, expected: u64| {
        let last = *ends.iter().max().unwrap();
        // A tick for each core that is given out at the same time.
        assert!(
            (expected..expected + 8).contains(&last),
            "{last} and not {expected}"
        );
    };
    near(ends(four_cores(), 4), TICKS);
    near(ends(four_cores(), 5), 2 * TICKS);
    near(ends(four_cores(), 8), 2 * TICKS);
    near(ends(four_cores(), 17), 5 * TICKS);
}

/// A task that spawns another has the core until it waits.
#[test]
fn a_task_that_spawns_another_keeps_the_core() {
    let outcome = run(nanopu(), Setting::new(1), |node| async move {
        let other = node.spawn("other", |node| async move {
            node.work(WORK);
            node.reach().await;
            node.now().0
        });
        node.work(WORK);
        node.reach().await;
        other.wait(&node).await.unwrap().max(node.now().0)
    });
    assert_eq!(outcome.answers, [2 * TICKS]);
}

/// Catches tasks that resume in the order in which they became ready.
#[test]
fn the_more_urgent_task_goes_first() {
    let outcome = run(nanopu(), Setting::new(1), |node| async move {
        let levels = [1, 0, 3, 2, 3];
        let begun: Vec<_> = (0..5)
            .map(|task| {
                let start = move |node: Node| async move {
                    node.urgency(levels[task]);
                    // All are ready at this moment, while an earlier one still works.
                    node.sleep_until(Time(100)).await;
                    node.work(WORK);
                    node.reach().await;
                    node.now().0
                };
                node.spawn(format!("{task}"), start)
            })
            .collect();
        let hog = node.spawn("hog", |node| async move {
            node.sleep_until(Time(99)).await;
            node.work(WORK);
        });
        let mut ends = Vec::new();
        for task in begun {
            ends.push(task.wait(&node).await.unwrap());
        }
        hog.wait(&node).await.unwrap();
        ends
    });
    let ends = &outcome.answers[0];
    let mut order: Vec<usize> = (0..5).collect();
    order.sort_by_key(|task| ends[*task]);
    assert_eq!(order, [2, 4, 3, 0, 1], "ends {ends:?}");
}

/// When the tasks have served 40 requests that wait at their port, and how many each served.
fn serving(tasks: u32) -> (u64, Vec<usize>) {
    let (begin, clients, each) = (Time(10_000), 10, 4);
    let outcome = run(
        four_cores(),
        Setting::new(1 + clients),
        move |node| async move {
            let me = node.rank().0;
            if me > 0 {
                for number in 0..each {
                    send(&node, 0, &letter(me, number, 2)).await;
                }
                return (0, Vec::new());
            }
            let port = Arc::new(node.bind(PORT));
            let serve = |port: Arc<MessagePort>| {
                move |node: Node| async move {
                    let (mut got, mut end) = (Got::new(), 0);
                    node.sleep_until(begin).await;
                    while let Some(message) = port.next_until(&node, begin.after(500_000)).await {
                        *got.entry(opened(&message)).or_default() += 1;
                        node.work(WORK);
                        end = node.now().since(begin);
                    }
                    (got, end)
                }
            };
            let begun: Vec<_> = (0..tasks)
                .map(|task| node.spawn(format!("server {task}"), serve(Arc::clone(&port))))
                .collect();
            let (mut all, mut shares, mut last) = (Got::new(), Vec::new(), 0);
            for task in begun {
                let (got, end) = task.wait(&node).await.unwrap();
                shares.push(got.len());
                last = last.max(end);
                got.into_iter()
                    .for_each(|(letter, count)| *all.entry(letter).or_default() += count);
            }
            let sent = (1..=clients).flat_map(|from| (0..each).map(move |number| (from, number)));
            assert_eq!(each_once(&all, sent), Ok(()), "each request is served once");
            (last, shares)
        },
    );
    outcome.answers.into_iter().next().unwrap()
}

/// One task serves the requests one after the other.
#[test]
fn a_server_takes_its_time_for_each_request() {
    let (alone, shares) = serving(1);
    assert_eq!(shares, [40]);
    assert!((40 * TICKS..40 * (TICKS + 25)).contains(&alone), "{alone}");
}

/// Catches ports that belong to one task, and cores that serve one after the other.
#[test]
fn tasks_share_the_messages_of_a_port() {
    let (alone, _) = serving(1);
    let (four, shares) = serving(4);
    assert!(
        shares.iter().all(|share| (9..=11).contains(share)),
        "{shares:?} of 40"
    );
    assert!(
        four * 10 <= alone * 3,
        "{four} with four tasks, {alone} with one"
    );
}

/// If a message wakes a task whose deadline has passed, the next waiting task receives it.
#[test]
fn a_message_never_waits_while_a_task_waits_for_it() {
    let arrival = |deadline| {
        try_run(nanopu(), Setting::new(8), move |node| async move {
            let rank = node.rank().0;
            if rank == 4 {
                return send(&node, 0, &[7]).await;
            }
            if rank > 0 {
                return;
            }
            let port = Arc::new(node.bind(PORT));
            let shared = Arc::clone(&port);
            let patient = node.spawn("patient", move |node| async move {
                // It asks second.
                node.sleep_until(Time(100)).await;
                shared.next(&node).await;
            });
            if port.next_until(&node, Time(deadline)).await.is_some() {
                // Give it one too.
                send(&node, 0, &[7]).await;
            }
            patient.wait(&node).await.unwrap();
        })
    };
    for deadline in 1100..1200 {
        let outcome = arrival(deadline);
        assert!(
            outcome.is_ok(),
            "deadline {deadline}: {}",
            outcome.unwrap_err()
        );
    }
}
