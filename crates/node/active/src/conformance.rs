//! Active Messages on every backend: programs after those of GASNet's and UCX's tests.
//!
//! A backend's test file calls [`conformance_suite!`](crate::conformance_suite) with the harness of the node's
//! suite.

mod bulk;
mod layers;

pub use bulk::*;
pub use layers::*;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use node::conformance::Harness;
use node::{Address, Node, Port, Rank};

use crate::frame::PIECE_BYTES;
use crate::{
    Bundle, Endpoint, Handler, Handlers, Job, MEDIUM_BYTES, Name, NoReply, NotRun, Reason, Request,
    SHORT_WORDS, Settings, Unknown,
};

/// Makes a test of each function of the suite: `conformance_suite!(harness)`. `conformance_suite!(in_turn
/// harness)` calls all functions in turn.
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
            every_size_and_count_comes_back, a_window_of_one_floods_both_ways, all_request_of_all,
            many_tasks_share_an_endpoint, a_full_window_says_so, prepared_requests_leave_or_are_given_up,
            requests_that_cannot_run_are_refused, early_requests_wait_for_their_endpoint,
            panics_of_handlers_are_told, a_request_is_replied_to_once,
            a_silent_node_returns_requests, a_closed_endpoint_returns_its_requests,
            words_of_others_are_counted, bulk_is_copied_to_its_target, bulk_floods_both_ways,
            bulk_without_a_place_is_refused, bulk_that_nobody_takes_is_returned, teams_of_every_shape_agree,
            memory_of_all_nodes_is_reached, two_sided_messages_meet,
            two_sided_messages_that_do_not_fit_are_told }
    };
    (@tests $harness:expr; $($name:ident),*) => {
        mod active_messages {
            use super::*;
            $(#[test] fn $name() { $crate::conformance::$name(&$harness); })*
        }
    };
    (@in_turn $harness:expr; $($name:ident),*) => {{
        $($crate::conformance::$name(&$harness);)*
    }};
}

const PORT: Port = Port(5);
/// For words that are no Active Messages.
const PLAIN: Port = Port(9);
const JOB: Job = Job(0x006a_6f62_5f6f_6e65);

/// Answers with the arguments and the payload.
const ECHO: Handler = Handler(1);
/// Adds its first argument to the sum, and replies to [`ADDED`] with the arguments and the payload.
const ADD: Handler = Handler(2);
/// Adds the first argument of a reply to the sum.
const ADDED: Handler = Handler(3);
/// Adds the bytes of a bulk message to the sum, and answers with their place.
const PUT: Handler = Handler(4);
/// Ends the serving of a node.
const STOP: Handler = Handler(255);

/// One node's part in a program.
struct Part {
    bundle: Bundle,
    endpoint: Endpoint,
    sum: Arc<AtomicU64>,
    stopped: Arc<AtomicBool>,
    returned: Arc<Mutex<Vec<Reason>>>,
}

impl Part {
    async fn new(node: &Node, settings: Settings) -> Part {
        let bundle = Bundle::open(node, PORT, settings);
        let (sum, stopped) = (Arc::<AtomicU64>::default(), Arc::<AtomicBool>::default());
        let returned = Arc::<Mutex<Vec<Reason>>>::default();
        let handlers = handlers(&sum, &stopped);
        let handlers = handlers.on_return({
            let returned = Arc::clone(&returned);
            move |back| returned.lock().unwrap().push(back.reason)
        });
        let endpoint = bundle.endpoint(node, JOB, handlers).await;
        Part {
            bundle,
            endpoint,
            sum,
            stopped,
            returned,
        }
    }

    fn there(&self, rank: u32) -> Name {
        self.endpoint.name().at(Rank(rank))
    }

    async fn serve(&self, node: &Node) {
        let stopped = &self.stopped;
        let is_over = |_: &_| stopped.load(Ordering::SeqCst);
        self.bundle.serve_until(node, is_over).await;
    }

    async fn stop(&self, node: &Node, rank: u32) {
        let stopped = self
            .endpoint
            .call(node, Request::new(self.there(rank), STOP, &[]));
        stopped.await.unwrap();
    }
}

fn handlers(sum: &Arc<AtomicU64>, stopped: &Arc<AtomicBool>) -> Handlers {
    let add = |sum: &Arc<AtomicU64>| {
        let sum = Arc::clone(sum);
        move |args: &[u32]| {
            sum.fetch_add(u64::from(args[0]), Ordering::SeqCst);
        }
    };
    let (added, heard, put) = (add(sum), add(sum), Arc::clone(sum));
    let stopped = Arc::clone(stopped);
    Handlers::new()
        .on(ECHO, |token, args, payload| {
            token.answer(args, payload.to_vec()).unwrap();
        })
        .on(ADD, move |token, args, payload| {
            added(args);
            token.reply(ADDED, args, payload.to_vec()).unwrap();
        })
        .on(ADDED, move |_, args, _| heard(args))
        .on(PUT, move |token, args, payload| {
            let (target, bytes) = token.bulk().unwrap();
            assert!(payload.is_empty());
            put.fetch_add(bytes as u64, Ordering::SeqCst);
            let place = [target.region.0, target.offset as u32, args[0]];
            token.answer(&place, Vec::new()).unwrap();
        })
        .on(STOP, move |_, _, _| stopped.store(true, Ordering::SeqCst))
}

/// Tells node 1 to go on.
async fn go_on(node: &Node) {
    let (rank, port) = (Rank(1), PLAIN);
    node.send(Address { rank, port }, &[]).await;
}

fn window(window: u16) -> Settings {
    Settings {
        window,
        ..Settings::default()
    }
}

fn payload(bytes: usize, salt: usize) -> Vec<u8> {
    (0..bytes)
        .map(|at| (at * 7 + at / 256 + salt) as u8)
        .collect()
}

/// Each size, and each number of arguments, with the largest and the smallest of the other.
pub fn every_size_and_count_comes_back(harness: &impl Harness) {
    harness.run(2, |node, _| async move {
        let part = Part::new(&node, Settings::default()).await;
        if node.rank() == Rank(1) {
            return part.serve(&node).await;
        }
        let sizes = [
            0,
            1,
            7,
            8,
            9,
            PIECE_BYTES - 1,
            PIECE_BYTES,
            PIECE_BYTES + 1,
            MEDIUM_BYTES,
        ];
        let counts = (0..=SHORT_WORDS).flat_map(|count| [(count, 0), (count, MEDIUM_BYTES)]);
        let sizes = sizes
            .into_iter()
            .flat_map(|bytes| [(0, bytes), (SHORT_WORDS, bytes)]);
        for (count, bytes) in counts.chain(sizes) {
            let args: Vec<u32> = (0..count as u32).map(|at| u32::MAX - at).collect();
            let sent = payload(bytes, count);
            let call = part.endpoint.call(
                &node,
                Request::new(part.there(1), ECHO, &args).with(sent.clone()),
            );
            let answer = call.await.unwrap();
            assert_eq!((&*answer.args, &answer.payload), (&args[..], &sent));
        }
        part.stop(&node, 1).await;
    });
}

/// With the least credit, and the longest messages in both directions: a reply waits for nothing.
pub fn a_window_of_one_floods_both_ways(harness: &impl Harness) {
    const REQUESTS: u32 = 30;
    harness.run(2, |node, _| async move {
        let part = Part::new(&node, window(1)).await;
        let there = part.there(1 - node.rank().0);
        for number in 1..=REQUESTS {
            let sent = payload(MEDIUM_BYTES, number as usize);
            part.endpoint
                .request(&node, Request::new(there, ADD, &[number]).with(sent))
                .await;
        }
        part.endpoint.quiet(&node).await;
        let all = u64::from(REQUESTS * (REQUESTS + 1) / 2);
        let sum = Arc::clone(&part.sum);
        // Its requests here, and its replies, of which the last came before this node was quiet.
        let is_over = move |_: &_| sum.load(Ordering::SeqCst) == 2 * all;
        part.bundle.serve_until(&node, is_over).await;
        let counts = part.bundle.counts();
        assert_eq!(
            (counts.run, counts.answered, counts.returned),
            (REQUESTS.into(), REQUESTS.into(), 0)
        );
    });
}

/// Several nodes send to each other, and to themselves.
pub fn all_request_of_all(harness: &impl Harness) {
    const REQUESTS: u32 = 5;
    harness.run(4, |node, _| async move {
        let part = Part::new(&node, window(2)).await;
        for number in 1..=REQUESTS {
            for rank in 0..node.nodes() {
                let sent = payload(100 * number as usize, rank as usize);
                part.endpoint
                    .request(
                        &node,
                        Request::new(part.there(rank), ADD, &[number]).with(sent),
                    )
                    .await;
            }
        }
        let requests = u64::from(node.nodes() * REQUESTS);
        let is_over =
            |counts: &crate::Counts| counts.run == requests && counts.answered == requests;
        part.bundle.serve_until(&node, is_over).await;
        let all = u64::from(node.nodes() * REQUESTS * (REQUESTS + 1) / 2);
        assert_eq!(part.sum.load(Ordering::SeqCst), 2 * all);
    });
}

/// Tasks of a node call at once, and tasks of the other serve at once.
pub fn many_tasks_share_an_endpoint(harness: &impl Harness) {
    const TASKS: u32 = 4;
    harness.run(2, |node, _| async move {
        let part = Arc::new(Part::new(&node, window(3)).await);
        let tasks: Vec<_> = (0..TASKS)
            .map(|task| {
                let part = Arc::clone(&part);
                node.spawn(format!("task {task}"), move |node| async move {
                    if node.rank() == Rank(1) {
                        return part.serve(&node).await;
                    }
                    for number in 0..10 {
                        let args = [task, number];
                        let call = part
                            .endpoint
                            .call(&node, Request::new(part.there(1), ECHO, &args));
                        assert_eq!(*call.await.unwrap().args, args);
                    }
                })
            })
            .collect();
        for task in tasks {
            task.wait(&node).await.unwrap();
        }
        if node.rank() == Rank(0) {
            part.stop(&node, 1).await;
        }
    });
}

/// Nothing is waited for where the caller asks for that; everything is heard of in the end.
pub fn a_full_window_says_so(harness: &impl Harness) {
    harness.run(2, |node, _| async move {
        let part = Part::new(&node, window(3)).await;
        let plain = node.bind(PLAIN);
        if node.rank() == Rank(1) {
            plain.next(&node).await;
            return part.serve(&node).await;
        }
        let there = part.there(1);
        for number in 1..=3 {
            let sent = payload(9, 0);
            part.endpoint
                .try_request(&node, Request::new(there, ADD, &[number]).with(sent))
                .await
                .unwrap();
        }
        let sent = payload(5, 1);
        let busy = part
            .endpoint
            .try_request(&node, Request::new(there, ADD, &[4]).with(sent.clone()))
            .await;
        assert_eq!(busy.unwrap_err().payload, sent);
        // Another endpoint has a window of its own.
        let other = part.endpoint.name().at(Rank(0));
        part.endpoint
            .try_request(&node, Request::new(other, ADD, &[0]))
            .await
            .unwrap();
        go_on(&node).await;
        part.endpoint.quiet(&node).await;
        assert_eq!(part.sum.load(Ordering::SeqCst), 6);
        part.stop(&node, 1).await;
    });
}

/// A prepared request holds its slot until it is sent or given up.
pub fn prepared_requests_leave_or_are_given_up(harness: &impl Harness) {
    harness.run(2, |node, _| async move {
        let part = Part::new(&node, window(1)).await;
        if node.rank() == Rank(1) {
            return part.serve(&node).await;
        }
        let there = part.there(1);
        let given_up = part.endpoint.prepare(&node, there, 10).await;
        assert_eq!(given_up.payload, [0; 10]);
        let busy = part
            .endpoint
            .try_request(&node, Request::new(there, ADD, &[9]))
            .await;
        busy.unwrap_err();
        part.endpoint.cancel(&node, given_up).await;
        let mut prepared = part.endpoint.prepare(&node, there, MEDIUM_BYTES).await;
        prepared.payload.truncate(3);
        prepared.payload.fill(7);
        part.endpoint.commit(&node, prepared, ADD, &[5]).await;
        part.endpoint.quiet(&node).await;
        assert_eq!(part.sum.load(Ordering::SeqCst), 5);
        part.stop(&node, 1).await;
    });
}

/// The sender hears once of each request that cannot run, and why.
pub fn requests_that_cannot_run_are_refused(harness: &impl Harness) {
    harness.run(2, |node, _| async move {
        let part = Part::new(&node, Settings::default()).await;
        let foreign = part.bundle.endpoint(&node, Job(2), Handlers::new()).await;
        let gone = part.bundle.endpoint(&node, JOB, Handlers::new()).await;
        if node.rank() == Rank(1) {
            gone.close(&node).await;
            return part.serve(&node).await;
        }
        let there = part.there(1);
        let absent = gone.name().at(Rank(1));
        let other_job = foreign.name().at(Rank(1));
        for (to, handler, reason) in [
            (absent, ECHO, NotRun::NoEndpoint),
            (other_job, ECHO, NotRun::AnotherJob),
            (there, Handler(77), NotRun::NoHandler),
        ] {
            let sent = payload(MEDIUM_BYTES, 3);
            let call = part
                .endpoint
                .call(&node, Request::new(to, handler, &[1, 2]).with(sent.clone()));
            let returned = call.await.unwrap_err();
            assert_eq!(returned.reason, Reason::NotRun(reason));
            let request = &returned.request;
            assert_eq!((request.to, request.handler), (to, handler));
            assert_eq!((&*request.args, &request.payload), (&[1, 2][..], &sent));
            part.endpoint
                .request(&node, Request::new(to, handler, &[]))
                .await;
            part.endpoint.quiet(&node).await;
            assert_eq!(
                part.returned.lock().unwrap().pop(),
                Some(Reason::NotRun(reason))
            );
        }
        // Handlers heard of no call.
        assert!(part.returned.lock().unwrap().is_empty());
        part.stop(&node, 1).await;
    });
}

/// A node that is ahead of another may send to an endpoint that the other has yet to open.
pub fn early_requests_wait_for_their_endpoint(harness: &impl Harness) {
    harness.run(2, |node, _| async move {
        let plain = node.bind(PLAIN);
        let bundle = Bundle::open(&node, PORT, Settings::default());
        let first = bundle.endpoint(&node, Job(2), Handlers::new()).await;
        let there = Name {
            number: 1,
            ..first.name().at(Rank(1))
        };
        if node.rank() == Rank(0) {
            let (sum, stopped) = (Arc::default(), Arc::default());
            let second = bundle.endpoint(&node, JOB, handlers(&sum, &stopped)).await;
            let sent = payload(100, 1);
            second
                .request(&node, Request::new(there, ADD, &[3]).with(sent))
                .await;
            go_on(&node).await;
            second.quiet(&node).await;
            assert_eq!(sum.load(Ordering::SeqCst), 3);
            return;
        }
        plain.next(&node).await;
        bundle.poll(&node).await;
        let (sum, stopped) = (Arc::<AtomicU64>::default(), Arc::default());
        let second = bundle.endpoint(&node, JOB, handlers(&sum, &stopped)).await;
        bundle.serve_until(&node, |counts| counts.run == 1).await;
        assert_eq!(sum.load(Ordering::SeqCst), 3);
        assert_eq!(second.name().number, 1);
    });
}

/// A handler that panics ends no node; a reply to a handler that is not there ends nothing.
pub fn panics_of_handlers_are_told(harness: &impl Harness) {
    const PANIC: Handler = Handler(1);
    const ELSEWHERE: Handler = Handler(2);
    harness.run(2, |node, _| async move {
        let bundle = Bundle::open(&node, PORT, Settings::default());
        let stopped = Arc::<AtomicBool>::default();
        let stops = Arc::clone(&stopped);
        let returned = Arc::<Mutex<Vec<Reason>>>::default();
        let hears = Arc::clone(&returned);
        let handlers = Handlers::new()
            .on(PANIC, |_, args, _| {
                panic!("a panic that a test wants: {}", args[0])
            })
            .on(ELSEWHERE, |token, _, _| {
                token.reply(Handler(99), &[], Vec::new()).unwrap()
            })
            .on(STOP, move |_, _, _| stops.store(true, Ordering::SeqCst))
            .on_return(move |back| hears.lock().unwrap().push(back.reason));
        let endpoint = bundle.endpoint(&node, JOB, handlers).await;
        if node.rank() == Rank(1) {
            return bundle
                .serve_until(&node, |_| stopped.load(Ordering::SeqCst))
                .await;
        }
        let there = endpoint.name().at(Rank(1));
        for handler in [PANIC, ELSEWHERE] {
            endpoint
                .request(&node, Request::new(there, handler, &[1]))
                .await;
        }
        endpoint.quiet(&node).await;
        let heard = std::mem::take(&mut *returned.lock().unwrap());
        let expected = [Unknown::Panicked, Unknown::NoHandler].map(Reason::Unknown);
        assert_eq!(heard, expected);
        endpoint
            .call(&node, Request::new(there, STOP, &[]))
            .await
            .unwrap();
    });
}

/// A second reply, a reply to a reply, and one that is too long are errors where they are made.
pub fn a_request_is_replied_to_once(harness: &impl Harness) {
    const TWICE: Handler = Handler(1);
    const HEARD: Handler = Handler(2);
    harness.run(2, |node, _| async move {
        let bundle = Bundle::open(&node, PORT, Settings::default());
        let stopped = Arc::<AtomicBool>::default();
        let stops = Arc::clone(&stopped);
        let heard = Arc::<AtomicU64>::default();
        let hears = Arc::clone(&heard);
        let handlers = Handlers::new()
            .on(TWICE, |token, _, _| {
                let long = vec![0; MEDIUM_BYTES + 1];
                assert_eq!(token.reply(HEARD, &[], long), Err(NoReply::TooLong));
                let many = [0; SHORT_WORDS + 1];
                assert_eq!(token.reply(HEARD, &many, Vec::new()), Err(NoReply::TooLong));
                assert_eq!(token.reply(HEARD, &[1], Vec::new()), Ok(()));
                assert_eq!(token.reply(HEARD, &[2], Vec::new()), Err(NoReply::Second));
                assert_eq!(token.answer(&[3], Vec::new()), Err(NoReply::Second));
            })
            .on(HEARD, move |token, args, _| {
                assert_eq!(token.from().number, 0);
                assert_eq!(token.reply(HEARD, &[], Vec::new()), Err(NoReply::ToReply));
                hears.fetch_add(u64::from(args[0]), Ordering::SeqCst);
            })
            .on(STOP, move |_, _, _| stops.store(true, Ordering::SeqCst));
        let endpoint = bundle.endpoint(&node, JOB, handlers).await;
        if node.rank() == Rank(1) {
            return bundle
                .serve_until(&node, |_| stopped.load(Ordering::SeqCst))
                .await;
        }
        let there = endpoint.name().at(Rank(1));
        endpoint
            .request(&node, Request::new(there, TWICE, &[]))
            .await;
        endpoint.quiet(&node).await;
        assert_eq!(heard.load(Ordering::SeqCst), 1);
        let stopped = endpoint
            .call(&node, Request::new(there, STOP, &[]))
            .await
            .unwrap();
        assert_eq!(stopped, crate::Answer::default());
    });
}

/// Requests to a node that does not serve are returned as unknown, after the patience.
pub fn a_silent_node_returns_requests(harness: &impl Harness) {
    harness.run(2, |node, _| async move {
        let plain = node.bind(PLAIN);
        if node.rank() == Rank(1) {
            drop(plain.next(&node).await);
            return;
        }
        let part = Part::new(
            &node,
            Settings {
                again: 0.004,
                patience: 0.02,
                ..window(1)
            },
        )
        .await;
        let there = part.there(1);
        part.endpoint
            .request(&node, Request::new(there, ADD, &[1]).with(payload(10, 0)))
            .await;
        let returned = part
            .endpoint
            .call(&node, Request::new(there, ADD, &[2]))
            .await
            .unwrap_err();
        let silent = Reason::Unknown(Unknown::Silent);
        assert_eq!(returned.reason, silent);
        assert_eq!(*part.returned.lock().unwrap(), [silent]);
        assert!(part.bundle.counts().repeated > 1);
        go_on(&node).await;
    });
}

/// A closed endpoint returns its requests, those of later too; requests to it are refused.
pub fn a_closed_endpoint_returns_its_requests(harness: &impl Harness) {
    harness.run(2, |node, _| async move {
        let plain = node.bind(PLAIN);
        let part = Part::new(&node, Settings::default()).await;
        if node.rank() == Rank(1) {
            plain.next(&node).await;
            return part.serve(&node).await;
        }
        part.endpoint
            .request(
                &node,
                Request::new(part.there(1), ADD, &[1]).with(payload(10, 0)),
            )
            .await;
        part.endpoint.close(&node).await;
        part.endpoint
            .request(
                &node,
                Request::new(part.there(1), ADD, &[1]).with(payload(10, 0)),
            )
            .await;
        let expected = [
            Reason::Unknown(Unknown::Closed),
            Reason::NotRun(NotRun::NoEndpoint),
        ];
        assert_eq!(*part.returned.lock().unwrap(), expected);
        go_on(&node).await;
        let other = part.bundle.endpoint(&node, JOB, Handlers::new()).await;
        let returned = other
            .call(&node, Request::new(part.endpoint.name(), ECHO, &[]))
            .await
            .unwrap_err();
        assert_eq!(returned.reason, Reason::NotRun(NotRun::NoEndpoint));
        other
            .call(&node, Request::new(part.there(1), STOP, &[]))
            .await
            .unwrap();
    });
}

/// Words of another program disturb nothing.
pub fn words_of_others_are_counted(harness: &impl Harness) {
    harness.run(2, |node, _| async move {
        let part = Part::new(&node, Settings::default()).await;
        if node.rank() == Rank(1) {
            part.serve(&node).await;
            assert_eq!(part.bundle.counts().foreign, 3);
            return;
        }
        let (rank, port) = (Rank(1), PORT);
        for words in [&[][..], &[u64::MAX; 5], &[7; 256]] {
            node.send(Address { rank, port }, words).await;
        }
        part.stop(&node, 1).await;
    });
}
