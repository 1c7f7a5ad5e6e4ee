//! Drawn runs: a request runs at most once, its sender hears of it exactly once, and *not run* is never said of
//! one that ran.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use active::{
    Bundle, Handler, Handlers, Job, MEDIUM_BYTES, Name, Reason, Request, Settings, Unknown,
};
use node::{Random, Time};
use rehearsal::{Cut, Driver, Node, Passage, Port, Rank};

/// Answers at once, to the handler or the caller.
const DO: Handler = Handler(1);
const HEARD: Handler = Handler(2);
/// Has no function.
const ABSENT: Handler = Handler(3);
const PANIC: Handler = Handler(4);

/// Each request of a run is known by its sender and a number.
type Id = (u32, u32);

#[derive(Default)]
struct Seen {
    ran: BTreeMap<Id, u32>,
    heard: BTreeMap<Id, Vec<Option<Reason>>>,
}

/// No run takes a minute: 12 requests, one after the other, live for 4 s.
const LONGEST: u64 = 60_000_000_000;

type Log = Arc<Mutex<Seen>>;

/// A run: its nodes, what its links do, and its deaths.
#[derive(Clone, Debug)]
struct Case {
    seed: u64,
    nodes: u32,
    requests: u32,
    window: u16,
    /// In 100 messages.
    lost: usize,
    twice: usize,
    late: usize,
    delay: u64,
    death: Option<(u32, u64)>,
    cut: Option<(Cut, u64)>,
    closes: bool,
}

impl Case {
    fn draw(seed: u64) -> Case {
        let mut random = Random::stream(seed, 42);
        let nodes = 2 + random.below(3) as u32;
        let mut share = |most: usize| {
            if random.below(2) == 0 {
                0
            } else {
                random.below(most)
            }
        };
        let (lost, twice, late) = (share(40), share(40), share(40));
        let delay = share(3_000_000) as u64;
        let event = |random: &mut Random| random.below(400) as u64 + 1;
        let death = (random.below(4) == 0)
            .then(|| (random.below(nodes as usize) as u32, event(&mut random)));
        let cut = (random.below(4) == 0).then(|| {
            let of = random.below(nodes as usize) as u32;
            let heals_after = (random.below(2) == 0).then(|| random.below(3_000_000_000) as u64);
            let cut = Cut {
                of,
                to: None,
                heals_after,
            };
            (cut, event(&mut random))
        });
        Case {
            seed,
            nodes,
            requests: random.below(12) as u32,
            window: 1 + random.below(4) as u16,
            lost,
            twice,
            late,
            delay,
            death,
            cut,
            closes: random.below(5) == 0,
        }
    }

    fn driver(&self) -> Driver {
        let driver = Driver::new(self.seed, self.nodes);
        driver.delay(self.delay);
        let (lost, twice, late) = (self.lost, self.twice, self.late);
        let mut random = Random::stream(self.seed, 43);
        driver.carry(move |_, _| match random.below(100) {
            at if at < lost => Passage::Lost,
            _ if random.below(100) < twice => Passage::Twice,
            _ if random.below(100) < late => Passage::Late(random.below(40_000_000) as u64),
            _ => Passage::Usual,
        });
        if let Some((rank, nth)) = self.death {
            driver.kill(rank, nth);
        }
        if let Some((cut, nth)) = self.cut {
            driver.cut(cut, nth);
        }
        driver
    }
}

fn id(args: &[u32]) -> Id {
    (args[0], args[1])
}

fn handlers(log: &Log) -> Handlers {
    let ran = |log: &Log| {
        let log = Arc::clone(log);
        move |args: &[u32]| *log.lock().unwrap().ran.entry(id(args)).or_default() += 1
    };
    let heard = |log: &Log| {
        let log = Arc::clone(log);
        move |args: &[u32], reason| {
            let mut seen = log.lock().unwrap();
            seen.heard.entry(id(args)).or_default().push(reason);
        }
    };
    let (does, panics, hears, returned) = (ran(log), ran(log), heard(log), heard(log));
    Handlers::new()
        .on(DO, move |token, args, payload| {
            assert_eq!(payload, contents(args), "the payload is whole");
            does(args);
            // Half of the requests are answered by the bundle alone.
            if args[1].is_multiple_of(2) {
                token.reply(HEARD, args, payload.to_vec()).unwrap();
            }
        })
        .on(PANIC, move |_, args, _| {
            panics(args);
            std::panic::panic_any(format!("a panic that a test wants: {args:?}"));
        })
        .on(HEARD, move |_, args, payload| {
            assert_eq!(payload, contents(args), "the payload is whole");
            hears(args, None);
        })
        .on_return(move |back| returned(&back.request.args, Some(back.reason)))
}

/// The payload of a request, which its arguments decide.
fn contents(args: &[u32]) -> Vec<u8> {
    let bytes = [0, 3, 1000, 2500, MEDIUM_BYTES][args[2] as usize];
    (0..bytes)
        .map(|at| (at as u32 + args[0] + args[1]) as u8)
        .collect()
}

/// Each node sends drawn requests to others, and then serves for longer than any request lives.
async fn program(node: Node, case: Case, log: Log) {
    let settings = Settings {
        window: case.window,
        again: 0.01,
        patience: 0.3,
        ..Settings::default()
    };
    let bundle = Bundle::open(&node, Port(1), settings);
    let endpoint = bundle.endpoint(&node, Job(1), handlers(&log)).await;
    let stranger = bundle.endpoint(&node, Job(2), handlers(&log)).await;
    let me = node.rank().0;
    let mut random = Random::stream(case.seed, u64::from(me));
    for number in 0..case.requests {
        let rank = Rank(random.below(case.nodes as usize) as u32);
        let args = [me, number, random.below(5) as u32];
        let (to, handler) = match random.below(8) {
            0 => (stranger.name().at(rank), DO),
            1 => (endpoint.name().at(rank), ABSENT),
            2 => (
                Name {
                    number: 9,
                    ..endpoint.name().at(rank)
                },
                DO,
            ),
            3 => (endpoint.name().at(rank), PANIC),
            _ => (endpoint.name().at(rank), DO),
        };
        let payload = if handler == PANIC {
            Vec::new()
        } else {
            contents(&args)
        };
        if number % 2 == 0 {
            endpoint
                .request(&node, Request::new(to, handler, &args).with(payload))
                .await;
            continue;
        }
        // The tasks of odd numbers hear for themselves.
        let ended = endpoint
            .call(&node, Request::new(to, handler, &args).with(payload))
            .await;
        let reason = ended.err().map(|returned| returned.reason);
        let mut seen = log.lock().unwrap();
        seen.heard.entry(id(&args)).or_default().push(reason);
    }
    if case.closes && me == 0 {
        endpoint.close(&node).await;
    }
    endpoint.quiet(&node).await;
    let until = node.now().after(node.ticks(1.0));
    while node.now() < until {
        bundle.poll(&node).await;
        node.sleep_until(node.now().after(node.ticks(0.005))).await;
    }
}

fn judge(case: &Case, seen: &Seen) {
    let dead = case.death.map(|(rank, _)| rank);
    for (id, times) in &seen.ran {
        assert_eq!(*times, 1, "{id:?} ran {times} times in {case:?}");
    }
    for (id, heard) in &seen.heard {
        assert_eq!(
            heard.len(),
            1,
            "{id:?} was heard of as {heard:?} in {case:?}"
        );
        let ran = seen.ran.contains_key(id);
        match heard[0] {
            Some(Reason::NotRun(reason)) => assert!(!ran, "{id:?} ran: {reason} in {case:?}"),
            Some(Reason::Unknown(Unknown::Panicked)) | None => {
                assert!(ran, "{id:?} was answered, and did not run in {case:?}");
            }
            Some(Reason::Unknown(_)) => {}
        }
    }
    let alive = (0..case.nodes).filter(|rank| Some(*rank) != dead);
    for id in alive.flat_map(|rank| (0..case.requests).map(move |number| (rank, number))) {
        assert!(
            seen.heard.contains_key(&id),
            "nobody heard of {id:?} in {case:?}"
        );
    }
}

fn run(seed: u64) {
    let case = Case::draw(seed);
    let log = Log::default();
    let driver = case.driver();
    let (each, seen) = (case.clone(), Arc::clone(&log));
    driver.end_by(Time(LONGEST));
    let ended = driver.run(move |node| program(node, each.clone(), Arc::clone(&seen)));
    ended.unwrap_or_else(|stuck| panic!("{stuck} in {case:?}"));
    judge(&case, &log.lock().unwrap());
}

/// 10,000 of them with `GRISTMILL_LONG`.
#[test]
fn every_request_is_heard_of_once() {
    let runs = if std::env::var_os("GRISTMILL_LONG").is_some() {
        10_000
    } else {
        500
    };
    std::panic::set_hook(Box::new(|panic| {
        let text = panic.payload().downcast_ref::<String>();
        if !text.is_some_and(|text| text.starts_with("a panic that a test wants")) {
            eprintln!("{panic}");
        }
    }));
    (0..runs).for_each(run);
}
