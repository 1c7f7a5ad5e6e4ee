//! One suite for every backend.
//!
//! A backend's test file implements [`Harness`], which runs a program on p nodes, and calls
//! [`conformance_suite!`](crate::conformance_suite), which tests every verb.

mod bulk;
mod collectives;
mod files;

pub use bulk::*;
pub use collectives::*;
pub use files::*;

use std::future::Future;
use std::path::PathBuf;

use crate::{
    Address, Close, Closed, Filled, Group, Matching, Node, Pool, Port, Posted, Queue, Rank,
    Reorder, Tokens,
};

/// The bytes that [`Place::source`] gives before it ends.
pub const SOURCE_BYTES: usize = 10_000;

/// The contents of [`Place::source`].
pub fn source_bytes() -> Vec<u8> {
    (0..SOURCE_BYTES)
        .map(|at| (at * 7 + at / 256) as u8)
        .collect()
}

/// The files of a program under test.
#[derive(Clone, Debug)]
pub struct Place {
    /// An empty directory for new files.
    pub directory: PathBuf,
    /// A pipe that gives [`source_bytes`] and ends.
    pub source: PathBuf,
}

/// A backend under test.
pub trait Harness {
    /// Runs `program` on `nodes` nodes to its end.
    fn run<P, Task>(&self, nodes: u32, program: P)
    where
        P: Fn(Node, Place) -> Task + Clone + Send + Sync + 'static,
        Task: Future<Output = ()> + 'static;
}

/// Makes a test of each function of the suite: `conformance_suite!(harness)`, with an expression
/// that makes a harness. `conformance_suite!(in_turn harness)` calls all functions in turn, for
/// backends whose nodes are slow to start.
#[macro_export]
macro_rules! conformance_suite {
    (in_turn $harness:expr) => {
        $crate::conformance_suite!(@names in_turn, $harness)
    };
    ($harness:expr) => {
        $crate::conformance_suite! { @names tests, $harness }
    };
    (@names $how:ident, $harness:expr) => {
        $crate::conformance_suite! { @$how $harness;
            queue_keeps_order_and_ends, queue_chooses_by_rank, queue_holds_producers_back, queue_gives_up_at_the_deadline,
            closing_ends_waits, pool_lends_and_takes_back, tokens_are_taken_by_name,
            posted_reaches_all, tasks_return_values_and_panics, clocks_move_forward,
            random_streams_differ, messages_keep_their_senders_order,
            a_message_wait_ends_at_the_deadline, a_port_has_one_owner, shipments_wait_for_credit,
            shipments_come_side_by_side, shipments_of_any_size_cross, every_letter_arrives_once,
            collectives_keep_their_steps_apart, foreign_pieces_are_refused, steps_are_matched,
            groups_receive_a_multicast, tasks_share_a_port, files_read_what_was_written,
            several_requests_are_in_flight, reads_are_short_at_the_end_only,
            files_are_replaced_in_one_step, files_of_other_nodes_are_joined,
            kept_files_are_opened_again, only_regular_files_are_trusted,
            locks_are_exclusive, files_change_length, sources_are_read_front_to_back,
            missing_files_are_errors, direct_files_take_whole_blocks,
            chains_keep_their_order, chains_are_short_at_the_end_only,
            long_chains_go_in_one_request }
    };
    (@tests $harness:expr; $($name:ident),*) => {
        $(#[test] fn $name() { $crate::conformance::$name(&$harness); })*
    };
    (@in_turn $harness:expr; $($name:ident),*) => {{
        $($crate::conformance::$name(&$harness);)*
    }};
}

fn address(rank: u32, port: u16) -> Address {
    let (rank, port) = (Rank(rank), Port(port));
    Address { rank, port }
}

/// Units leave in the order they entered, and the end follows the last producer.
pub fn queue_keeps_order_and_ends(harness: &impl Harness) {
    harness.run(1, |node, _| async move {
        let queue = Queue::new(&node, "units", 3, 2);
        for producer in 0..2_u32 {
            let queue = queue.clone();
            drop(
                node.spawn(format!("producer {producer}"), move |node| async move {
                    for unit in 0..20 {
                        queue.push(&node, (producer, unit)).await.unwrap();
                    }
                    queue.finish(&node).await;
                }),
            );
        }
        let mut next = [0; 2];
        while let Some((producer, unit)) = queue.pop(&node).await.unwrap() {
            assert_eq!(unit, next[producer as usize]);
            next[producer as usize] += 1;
        }
        assert_eq!(next, [20, 20]);
        assert_eq!(queue.pop(&node).await, Ok(None));
    });
}

/// Units leave by their rank, and those of one rank in the order in which they came.
pub fn queue_chooses_by_rank(harness: &impl Harness) {
    harness.run(1, |node, _| async move {
        let queue = Queue::new(&node, "units", 5, 1);
        for unit in [(2, 0), (1, 1), (2, 2), (0, 3), (1, 4)] {
            queue.push(&node, unit).await.unwrap();
        }
        queue.finish(&node).await;
        let mut taken = Vec::new();
        while let Some((_, number)) = queue.pop_least(&node, |unit| unit.0).await.unwrap() {
            taken.push(number);
        }
        assert_eq!(taken, [3, 1, 4, 0, 2]);
    });
}

/// A full queue makes its producer wait.
pub fn queue_holds_producers_back(harness: &impl Harness) {
    harness.run(1, |node, _| async move {
        let queue = Queue::new(&node, "units", 2, 1);
        let pushed = Posted::new(&node, "third push");
        let (inner, done) = (queue.clone(), pushed.clone());
        let producer = node.spawn("producer", move |node| async move {
            for unit in 0..3 {
                inner.push(&node, unit).await.unwrap();
            }
            done.post(&node, node.now()).await;
        });
        node.sleep_until(node.now().after(2_000_000)).await;
        let before = node.now();
        assert_eq!(queue.pop(&node).await, Ok(Some(0)));
        assert!(
            *pushed.read(&node).await.unwrap() >= before,
            "the third push had to wait"
        );
        producer.wait(&node).await.unwrap();
    });
}

/// A pop with a deadline returns without a unit.
pub fn queue_gives_up_at_the_deadline(harness: &impl Harness) {
    harness.run(1, |node, _| async move {
        let queue: Queue<u32> = Queue::new(&node, "units", 1, 1);
        let deadline = node.now().after(1_000_000);
        assert_eq!(queue.pop_until(&node, deadline).await, None);
        assert!(node.now() >= deadline);
        assert_eq!(queue.pop_until(&node, node.now()).await, None);
        queue.push(&node, 5).await.unwrap();
        assert_eq!(queue.pop_until(&node, node.now()).await, Some(Ok(Some(5))));
    });
}

/// A close ends all waits with [`Closed`].
pub fn closing_ends_waits(harness: &impl Harness) {
    harness.run(1, |node, _| async move {
        let queue: Queue<u32> = Queue::new(&node, "units", 1, 1);
        let pool = Pool::new(&node, "buffers", Vec::new());
        let posted: Posted<u32> = Posted::new(&node, "value");
        let tokens = Tokens::new(&node, "tokens", Vec::new());
        let (a, b, c, d) = (queue.clone(), pool.clone(), posted.clone(), tokens.clone());
        let waiters = [
            node.spawn("a", move |node| async move { a.pop(&node).await.err() }),
            node.spawn("b", move |node| async move { b.take(&node).await.err() }),
            node.spawn("c", move |node| async move { c.read(&node).await.err() }),
            node.spawn("d", move |node| async move {
                d.take_any(&node, &[1], None).await.err()
            }),
        ];
        node.sleep_until(node.now().after(1_000_000)).await;
        let all: [&dyn Close; 4] = [&queue, &pool, &posted, &tokens];
        all.iter().for_each(|one| one.close());
        for waiter in waiters {
            assert_eq!(waiter.wait(&node).await, Ok(Some(Closed)));
        }
        assert_eq!(queue.push(&node, 1).await, Err(Closed));
    });
}

/// A pool lends each buffer once, and a taker waits for one to come back.
pub fn pool_lends_and_takes_back(harness: &impl Harness) {
    harness.run(1, |node, _| async move {
        let pool = Pool::new(
            &node,
            "buffers",
            node.buffers(1, 8192, Filled::Once).unwrap(),
        );
        let mut buffer = pool.take(&node).await.unwrap();
        assert_eq!((buffer.capacity(), buffer.len(), pool.idle()), (8192, 0, 0));
        assert!(pool.take_until(&node, node.now()).await.is_none());
        buffer.bytes_mut()[0] = 9;
        buffer.set_len(1);
        let inner = pool.clone();
        let taker = node.spawn("taker", move |node| async move {
            let buffer = inner.take(&node).await.unwrap();
            assert!(buffer.is_empty());
            inner.give(&node, buffer).await;
        });
        pool.give(&node, buffer).await;
        taker.wait(&node).await.unwrap();
        assert_eq!((pool.idle(), pool.is_closed()), (1, false));
        pool.close();
        assert!(pool.is_closed() && pool.take(&node).await.is_err());
    });
}

/// A task takes any one of several tokens, now or by a deadline.
pub fn tokens_are_taken_by_name(harness: &impl Harness) {
    harness.run(1, |node, _| async move {
        let tokens = Tokens::new(&node, "tokens", vec![1, 2, 1]);
        assert_eq!(tokens.take_any(&node, &[2, 3], None).await, Ok(Some(2)));
        assert_eq!(
            tokens.take_any(&node, &[2, 3], Some(node.now())).await,
            Ok(None)
        );
        let inner = tokens.clone();
        let waiter = node.spawn("waiter", move |node| async move {
            inner.take_any(&node, &[3, 2], None).await
        });
        tokens.give(&node, 2).await;
        assert_eq!(waiter.wait(&node).await, Ok(Ok(Some(2))));
    });
}

/// A posted value reaches waiting tasks and later ones.
pub fn posted_reaches_all(harness: &impl Harness) {
    harness.run(1, |node, _| async move {
        let posted = Posted::new(&node, "value");
        let reader = posted.clone();
        let early = node.spawn("early", move |node| async move {
            *reader.read(&node).await.unwrap()
        });
        posted.post(&node, 42).await;
        assert_eq!(early.wait(&node).await, Ok(42));
        assert_eq!(posted.read(&node).await.as_deref(), Ok(&42));
    });
}

/// A spawned task's ticket gives its result or its panic.
pub fn tasks_return_values_and_panics(harness: &impl Harness) {
    harness.run(1, |node, _| async move {
        let rank = node.spawn("value", |node| async move { node.rank() });
        assert_eq!(rank.wait(&node).await, Ok(Rank(0)));
        let quiet = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        let panic = node.spawn("panic", |_| async { panic!("number {}", 7) });
        let end: Result<(), _> = panic.wait(&node).await;
        std::panic::set_hook(quiet);
        assert_eq!(end.unwrap_err().0, "number 7");
    });
}

/// Time passes while a task sleeps.
pub fn clocks_move_forward(harness: &impl Harness) {
    harness.run(1, |node, _| async move {
        let begin = node.now();
        node.sleep_until(begin.after(1_000_000)).await;
        assert!(node.now().since(begin) >= 1_000_000);
        assert!(node.tick_fs() > 0);
        let second = 10_u64.pow(15) / node.tick_fs();
        assert!((node.seconds(second) - 1.0).abs() < 1e-3 && node.seconds(0) == 0.0);
    });
}

/// Each task has its own random stream.
pub fn random_streams_differ(harness: &impl Harness) {
    harness.run(2, |node, _| async move {
        let mine = [node.random(), node.random(), node.random()];
        let other = node.spawn("other", |node| async move {
            [node.random(), node.random(), node.random()]
        });
        assert_ne!(other.wait(&node).await.unwrap(), mine);
        assert_ne!(mine[0], mine[1]);
    });
}

/// Messages from one sender arrive in the order they left.
pub fn messages_keep_their_senders_order(harness: &impl Harness) {
    harness.run(3, |node, _| async move {
        let to = address(0, 7);
        if node.rank() != Rank(0) {
            for number in 0..10 {
                node.send(to, &[number]).await;
            }
            return;
        }
        let port = node.bind(Port(7));
        let mut next = [0; 3];
        for _ in 0..20 {
            let message = port.next(&node).await;
            let expected = &mut next[message.from.0 as usize];
            assert_eq!(*message.words, [*expected]);
            *expected += 1;
        }
        assert_eq!(next, [0, 10, 10]);
    });
}

/// A port refuses a second owner, which would take the first one's messages.
pub fn a_port_has_one_owner(harness: &impl Harness) {
    harness.run(1, |node, _| async move {
        let (_small, _large) = (node.bind(Port(1)), node.bind_bulk(Port(2)));
        assert!(crate::catch(async { node.bind(Port(1)) }).await.is_err());
        assert!(
            crate::catch(async { node.bind_bulk(Port(2)) })
                .await
                .is_err()
        );
    });
}

/// A wait for a message ends with a message or at the deadline.
pub fn a_message_wait_ends_at_the_deadline(harness: &impl Harness) {
    harness.run(1, |node, _| async move {
        let port = node.bind(Port(1));
        assert_eq!(port.next_until(&node, node.now()).await, None);
        let deadline = node.now().after(1_000_000);
        assert_eq!(port.next_until(&node, deadline).await, None);
        assert!(node.now() >= deadline);
        node.send(address(0, 1), &[1, 2, 3, 4]).await;
        assert_eq!(*port.next(&node).await.words, [1, 2, 3, 4]);
    });
}

/// Messages of later steps are set aside until their step comes.
pub fn steps_are_matched(harness: &impl Harness) {
    for matching in [Matching::Software, Matching::Ports] {
        harness.run(2, move |node, _| async move {
            let mut steps = Reorder::new(&node, Port(3), matching);
            if node.rank() == Rank(1) {
                for step in [2, 0, 1, 2, 0] {
                    steps
                        .send(&node, Rank(0), step, &[u64::from(step); 5])
                        .await;
                }
                return;
            }
            for step in [0, 0, 1, 2, 2] {
                let message = steps.next(&node, step).await;
                assert_eq!(
                    (message.from, &*message.words),
                    (Rank(1), &[u64::from(step); 5][..])
                );
            }
        });
    }
}

/// Every member of a group receives a multicast, and no other node does.
pub fn groups_receive_a_multicast(harness: &impl Harness) {
    harness.run(6, |node, _| async move {
        let port = node.bind(Port(2));
        let group = Group {
            first: Rank(1),
            count: 3,
            stride: 2,
        };
        if node.rank() == Rank(0) {
            node.multicast(group, Port(2), &[7]).await;
            for rank in 1..6 {
                node.send(address(rank, 2), &[8, 8, 8, 8]).await;
            }
            return;
        }
        let mut heard = 0;
        if node.rank().0 % 2 == 1 {
            heard += port.next(&node).await.words.len();
        }
        heard += port.next(&node).await.words.len();
        assert_eq!(heard, if node.rank().0 % 2 == 1 { 5 } else { 4 });
        assert_eq!(port.next_until(&node, node.now()).await, None);
    });
}

/// Tasks of a node may share a port: each message goes to one of them.
pub fn tasks_share_a_port(harness: &impl Harness) {
    harness.run(2, |node, _| async move {
        if node.rank() == Rank(1) {
            for number in 1..=10 {
                node.send(address(0, 5), &[number]).await;
            }
            return;
        }
        let port = std::sync::Arc::new(node.bind(Port(5)));
        let takers = [3, 7].map(|count| {
            let port = std::sync::Arc::clone(&port);
            node.spawn(format!("taker of {count}"), move |node| async move {
                let mut sum = 0;
                for _ in 0..count {
                    sum += port.next(&node).await.words[0];
                }
                sum
            })
        });
        let mut sum = 0;
        for taker in takers {
            sum += taker.wait(&node).await.unwrap();
        }
        assert_eq!(sum, 55);
    });
}
