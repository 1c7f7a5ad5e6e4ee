//! Drawn runs: a request runs at most once, its sender hears of it exactly once, and *not run* is never said of
//! one that ran.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use active::{
    Bundle, Endpoint, Handler, Handlers, Job, MEDIUM_BYTES, Name, NotRun, Reason, Region, Request,
    Returned, Settings, Target, Unknown,
};
use node::{Random, Time};
use rehearsal::{Cut, Driver, Node, Passage, Port, Rank};

/// Answers at once, to the handler or the caller.
const DO: Handler = Handler(1);
const HEARD: Handler = Handler(2);
/// Has no function.
const ABSENT: Handler = Handler(3);
const PANIC: Handler = Handler(4);
const PUT: Handler = Handler(5);

const BULK_BYTES: usize = 20_000;

/// Each request of a run is known by its sender and a number.
type Id = (u32, u32);

#[derive(Default)]
struct Seen {
    sent: BTreeMap<Id, Kind>,
    ran: BTreeMap<Id, u32>,
    heard: BTreeMap<Id, Vec<Option<Reason>>>,
}

/// No run takes a minute: 12 requests, one after the other, live for 4 s, and nodes serve for 10.
const LONGEST: u64 = 60_000_000_000;

type Log = Arc<Mutex<Seen>>;

/// A run: its nodes, the faults of its links, and its deaths.
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
    let (does, puts, panics) = (ran(log), ran(log), ran(log));
    let (hears, returned) = (heard(log), heard(log));
    Handlers::new()
        .on(DO, move |token, args, payload| {
            assert_eq!(payload, contents(args), "the payload is whole");
            does(args);
            // Requests have replies, for their handler or their caller.
            token.reply(HEARD, args, payload.to_vec()).unwrap();
        })
        .on(PUT, move |token, args, payload| {
            assert_eq!(token.bulk().unwrap().1, BULK_BYTES);
            puts(args);
            token.reply(HEARD, args, contents(args)).unwrap();
            assert!(payload.is_empty());
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

/// The kinds of a request, and its end where nothing is lost.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Usual,
    Bulk,
    Stranger,
    Absent,
    NoEndpoint,
    Panic,
}

impl Kind {
    fn draw(random: &mut Random) -> Kind {
        match random.below(10) {
            0 => Kind::Stranger,
            1 => Kind::Absent,
            2 => Kind::NoEndpoint,
            3 => Kind::Panic,
            4 | 5 => Kind::Bulk,
            _ => Kind::Usual,
        }
    }

    fn end(self) -> Option<Reason> {
        match self {
            Kind::Usual | Kind::Bulk => None,
            Kind::Stranger => Some(Reason::NotRun(NotRun::AnotherJob)),
            Kind::Absent => Some(Reason::NotRun(NotRun::NoHandler)),
            Kind::NoEndpoint => Some(Reason::Unknown(Unknown::Silent)),
            Kind::Panic => Some(Reason::Unknown(Unknown::Panicked)),
        }
    }
}

/// One node's part in a case.
#[derive(Clone)]
struct Part {
    case: Case,
    log: Log,
    endpoint: Endpoint,
    stranger: Endpoint,
}

impl Part {
    /// Sends requests of all kinds, in all ways.
    async fn send(&self, node: &Node, task: u32) {
        let me = node.rank().0;
        let mut random = Random::stream(self.case.seed, u64::from(1000 * task + me));
        for number in 0..self.case.requests {
            let rank = Rank(random.below(self.case.nodes as usize) as u32);
            let args = [me, 1000 * task + number, random.below(5) as u32];
            let kind = Kind::draw(&mut random);
            self.log.lock().unwrap().sent.insert(id(&args), kind);
            let usual = self.endpoint.name().at(rank);
            let (to, handler) = match kind {
                Kind::Stranger => (self.stranger.name().at(rank), DO),
                Kind::Absent => (usual, ABSENT),
                Kind::NoEndpoint => (Name { number: 9, ..usual }, DO),
                Kind::Panic => (usual, PANIC),
                Kind::Bulk => (usual, PUT),
                Kind::Usual => (usual, DO),
            };
            let request = Request::new(to, handler, &args);
            if kind == Kind::Bulk {
                self.send_bulk(node, request, random.below(2) == 0).await;
                continue;
            }
            let request = request.with(contents(&args));
            match random.below(4) {
                0 => self.endpoint.request(node, request).await,
                1 => {
                    if let Err(busy) = self.endpoint.try_request(node, request).await {
                        self.endpoint.request(node, busy).await;
                    }
                }
                2 => {
                    let bytes = request.payload.len();
                    let mut prepared = self.endpoint.prepare(node, to, bytes).await;
                    prepared.payload.copy_from_slice(&request.payload);
                    self.endpoint.commit(node, prepared, handler, &args).await;
                }
                _ => {
                    let ended = self.endpoint.call(node, request).await;
                    self.heard(&args, ended.err());
                }
            }
        }
    }

    async fn send_bulk(&self, node: &Node, request: Request, is_call: bool) {
        let mut memory = Bundle::memory(node, BULK_BYTES).unwrap();
        memory.bytes_mut().fill(request.args[1] as u8);
        let args = request.args;
        let target = Target {
            region: Region(0),
            offset: 0,
        };
        let request = request.into(target);
        if is_call {
            let ended = self.endpoint.call_bulk(node, request, memory).await;
            self.heard(&args, ended.err());
        } else {
            drop(self.endpoint.request_bulk(node, request, memory).await);
        }
    }

    fn heard(&self, args: &[u32], returned: Option<Returned>) {
        let reason = returned.map(|returned| returned.reason);
        let mut seen = self.log.lock().unwrap();
        seen.heard.entry(id(args)).or_default().push(reason);
    }
}

/// Each node sends from two tasks, and then serves for longer than any request lives.
async fn program(node: Node, case: Case, log: Log) {
    let settings = Settings {
        window: case.window,
        again: 0.01,
        patience: 0.3,
        ..Settings::default()
    };
    let bundle = Bundle::open(&node, Port(1), settings);
    let part = Part {
        endpoint: bundle.endpoint(&node, Job(1), handlers(&log)).await,
        stranger: bundle.endpoint(&node, Job(2), handlers(&log)).await,
        case,
        log,
    };
    let memory = Bundle::memory(&node, BULK_BYTES).unwrap();
    let memory = Arc::new(node::Mutex::new(memory));
    part.endpoint.export(&node, &memory).await;
    let service = bundle.serve_bulk(&node, BULK_BYTES, 2).unwrap();
    let other = part.clone();
    let task = node.spawn("other", async move |node: Node| other.send(&node, 1).await);
    part.send(&node, 0).await;
    if part.case.closes && node.rank() == Rank(0) {
        part.endpoint.close(&node).await;
    }
    task.wait(&node).await.unwrap();
    part.endpoint.quiet(&node).await;
    bundle
        .serve_by(&node, node.now().after(node.ticks(10.0)))
        .await;
    service.end(&node).await;
}

fn judge(case: &Case, seen: &Seen) {
    let dead = case.death.map(|(rank, _)| rank);
    let is_whole = case.lost == 0 && dead.is_none() && case.cut.is_none() && !case.closes;
    for (id, times) in &seen.ran {
        assert_eq!(*times, 1, "{id:?} ran {times} times in {case:?}");
    }
    for (id, heard) in &seen.heard {
        let kind = seen.sent[id];
        assert_eq!(
            heard.len(),
            1,
            "{id:?} was heard of as {heard:?} in {case:?}"
        );
        if is_whole {
            assert_eq!(heard[0], kind.end(), "{id:?}, {kind:?}, in {case:?}");
        }
        let ran = seen.ran.contains_key(id);
        match heard[0] {
            Some(Reason::NotRun(reason)) => assert!(!ran, "{id:?} ran: {reason} in {case:?}"),
            Some(Reason::Unknown(Unknown::Panicked)) | None => {
                assert!(ran, "{id:?} was answered, and did not run in {case:?}");
            }
            Some(Reason::Unknown(_)) => {}
        }
    }
    for (id, kind) in seen.sent.iter().filter(|(id, _)| Some(id.0) != dead) {
        let is_heard = seen.heard.contains_key(id);
        assert!(is_heard, "nobody heard of {id:?}, {kind:?}, in {case:?}");
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
