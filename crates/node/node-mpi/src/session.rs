//! The membership of a process in a run of several, and its communication thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use std::{env, thread};

use node::backend::{Contents, Hook, Inboxes, Letter, Network, NetworkError};
use node::{Address, Mutex, Rank};
use terminal::launcher::SIZES;

use crate::engine::{Engine, Turn};
use crate::ffi::{MpiWire, exit_now};
use crate::last_heard::LastHeard;
use crate::outbox::{Command, Outbox};
use crate::wire::local::LocalWire;
use crate::wire::{AllToAll, Wire, Wired};

/// Exit code of a run whose network failed, as after any operating fault.
const FAILED: i32 = 2;

/// An idle thread first spins, since a peer that answers at once does so within some us.
const SPIN: Duration = Duration::from_micros(20);

/// Up to this idle time, it yields between turns, since there may be fewer cores than ranks.
const YIELD: Duration = Duration::from_micros(200);

/// After that, it sleeps for an eighth of its idle time, so that a wait grows by an eighth at most.
const LEAST_NAP: Duration = Duration::from_micros(20);

/// The longest sleep: 500 turns per second cost a hundredth of a core.
const MOST_NAP: Duration = Duration::from_millis(2);

/// The longest sleep with requests under way, because MPI makes progress only while it is called.
const MOST_NAP_UNDER_WAY: Duration = Duration::from_micros(50);

/// The limit of a start with few ranks. A launcher that takes longer has lost some of them, and MPI
/// would wait for ever.
const START_LIMIT: Duration = Duration::from_secs(20);

/// The limit grows by this for each rank: launchers of many take minutes until all are connected.
const START_OF_EACH: Duration = Duration::from_millis(100);

/// The environment variable for another limit, in seconds: hosts may begin minutes apart.
const VARIABLE: &str = "GRISTMILL_START_S";

/// A process that aborts the run exits after this time in any case: MPI waits for daemons that may
/// be out of reach.
const ABORT_LIMIT: Duration = Duration::from_secs(3);

/// Callbacks for failures, which run on the communication thread.
struct Hooks {
    /// For a failure of the network; afterwards every process ends.
    failure: Hook,
    /// For a peer that breaks the protocol; `None` makes that a failure of the network.
    foreign: Option<Hook>,
}

/// One process of a run of several: the [`Network`] to the others.
///
/// A session that is dropped before [`end`](node::backend::Session::end) leaves without telling
/// its peers; the launcher then ends them.
pub struct Session {
    outbox: Arc<Outbox>,
    hooks: Arc<Mutex<Hooks>>,
    thread: Mutex<Option<JoinHandle<Wired>>>,
    run: Run,
}

/// A run that the communication thread has joined.
struct Run {
    rank: Rank,
    nodes: u32,
    library: String,
    last_heard: Arc<LastHeard>,
}

impl Session {
    /// Joins the other processes that the launcher has started; returns when all have joined.
    ///
    /// # Errors
    /// When there is no shim or no MPI library, MPI refuses, or a process does not join in time.
    /// MPI may still be at work then: end the process without an orderly exit (`_exit`).
    pub fn start() -> Result<Session, NetworkError> {
        Session::over(|| {
            let wire = MpiWire::start()?;
            let library = wire.library();
            Ok((wire, library))
        })
    }

    /// Sessions within this process, for tests: the same protocol, without MPI. Each needs its own
    /// thread.
    ///
    /// # Errors
    /// When the system has no thread.
    pub fn in_process(processes: u32) -> Result<Vec<Session>, NetworkError> {
        let wires = LocalWire::family(processes).into_iter();
        let start = |wire| Session::over(move || Ok((wire, "within one process".to_owned())));
        wires.map(start).collect()
    }

    /// Starts the communication thread over the wire that `connect` makes there.
    fn over<W: Wire>(
        connect: impl FnOnce() -> Wired<(W, String)> + Send + 'static,
    ) -> Result<Session, NetworkError> {
        let outbox = Arc::new(Outbox::default());
        let hooks = Arc::new(Mutex::new(Hooks {
            failure: Box::new(|error| eprintln!("gristmill: {error}")),
            foreign: None,
        }));
        let (sender, joined) = mpsc::channel();
        let (commands, callbacks) = (Arc::clone(&outbox), Arc::clone(&hooks));
        let body = move || {
            let (wire, library) = connect()?;
            let (rank, nodes) = (Rank(wire.rank()), wire.size());
            let mut engine = Engine::new(wire, Arc::clone(&commands))?;
            let run = Run {
                rank,
                nodes,
                library,
                last_heard: engine.last_heard(),
            };
            // Fails if the caller has given up.
            let _ = sender.send(run);
            serve_or_fail(&mut engine, &commands, &callbacks)
        };
        let thread = thread::Builder::new().name("network".into()).spawn(body);
        let no_thread = |cause| NetworkError::new(format!("no thread for it: {cause}"));
        let thread = thread.map_err(no_thread)?;
        let limit = start_limit(|name| env::var(name).ok());
        match joined.recv_timeout(limit) {
            Ok(run) => Ok(Session {
                outbox,
                hooks,
                thread: Mutex::new(Some(thread)),
                run,
            }),
            Err(RecvTimeoutError::Timeout) => Err(not_connected(limit)),
            Err(RecvTimeoutError::Disconnected) => {
                join(thread)?;
                Err(NetworkError::new("it ended"))
            }
        }
    }

    /// Carries a string from every process to every process with MPI's own `MPI_Alltoallv`, as a
    /// yardstick for our exchange. All processes must call it, and no task may wait for a letter
    /// that is not posted yet: letters posted after the call leave after it has ended.
    ///
    /// # Errors
    /// When the network has failed.
    ///
    /// # Panics
    /// When there is not one length for each process, or they do not add up.
    pub fn all_to_all(&self, strings: AllToAll) -> Result<AllToAll, NetworkError> {
        strings.check(self.run.nodes as usize);
        let (done, answer) = mpsc::channel();
        self.outbox.push(Command::AllToAll { strings, done });
        answer.recv().map_err(|_| NetworkError::new("it has ended"))
    }
}

impl node::backend::Session for Session {
    fn library(&self) -> &str {
        &self.run.library
    }

    fn on_failure(&self, hook: Hook) {
        self.hooks.lock().failure = hook;
    }

    fn on_foreign(&self, hook: Hook) {
        self.hooks.lock().foreign = Some(hook);
    }

    fn silent(&self, least: Duration) -> Vec<(Rank, Duration)> {
        self.run.last_heard.silent(least)
    }

    fn abort(&self, code: i32) -> ! {
        self.outbox.close(Command::Abort(code));
        thread::sleep(ABORT_LIMIT);
        exit_now(code)
    }

    fn end(&self) -> Result<(), NetworkError> {
        let thread = self.thread.lock().take();
        self.outbox.close(Command::End);
        thread.map_or(Ok(()), join)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.outbox.close(Command::Quit);
    }
}

impl Network for Session {
    fn rank(&self) -> Rank {
        self.run.rank
    }

    fn nodes(&self) -> u32 {
        self.run.nodes
    }

    fn post(&self, to: Address, letter: Letter) {
        assert!(to.rank.0 < self.run.nodes, "there is no node {}", to.rank);
        assert!(to.rank != self.run.rank, "a letter to this node is local");
        match letter {
            Letter::Message(message) => self.outbox.send(to, message.words),
            Letter::Shipment {
                contents: Contents::Here { buffer, done },
                ..
            } => {
                assert!(!buffer.is_counted(), "a counted buffer holds no bytes");
                self.outbox.push(Command::Ship { to, buffer, done });
            }
            Letter::Shipment {
                contents: Contents::Away { .. },
                ..
            } => unreachable!("a shipment is not passed on before it has arrived"),
        }
    }

    fn attach(&self, inboxes: Arc<dyn Inboxes>) {
        self.outbox.attach(inboxes);
    }
}

/// How long a process waits for all others, by its environment.
fn start_limit(variable: impl Fn(&str) -> Option<String>) -> Duration {
    let number = |name: &str| variable(name)?.trim().parse::<u32>().ok();
    let ranks = SIZES.iter().find_map(|name| number(name)).unwrap_or(1);
    let asked = number(VARIABLE).map(|seconds| Duration::from_secs(seconds.into()));
    asked.unwrap_or(START_LIMIT + START_OF_EACH * ranks)
}

fn not_connected(limit: Duration) -> NetworkError {
    NetworkError::new(format!(
        "MPI did not connect all ranks within {} s: one has stopped or has another command line, or \
         its host cannot be reached; check the hosts, tell MPI which network interface to use, or \
         give ranks more time to start with {VARIABLE}=SECONDS",
        limit.as_secs(),
    ))
}

fn panicked<T>(_: T) -> Wired {
    Err(NetworkError::new("its thread panicked"))
}

fn join(thread: JoinHandle<Wired>) -> Wired {
    thread.join().unwrap_or_else(panicked)
}

/// Runs the engine until the end of the session. A failure or a panic ends every process.
fn serve_or_fail<W: Wire>(engine: &mut Engine<W>, outbox: &Outbox, hooks: &Mutex<Hooks>) -> Wired {
    let served = catch_unwind(AssertUnwindSafe(|| serve(engine, outbox, hooks)));
    let Err(error) = served.unwrap_or_else(panicked) else {
        return Ok(());
    };
    (hooks.lock().failure)(&error);
    engine.abort(FAILED);
    outbox.close(Command::Quit);
    Err(error)
}

fn serve<W: Wire>(engine: &mut Engine<W>, outbox: &Outbox, hooks: &Mutex<Hooks>) -> Wired {
    engine.meet()?;
    let mut idle_since = None;
    loop {
        let now = Instant::now();
        match engine.turn(now)? {
            Turn::Busy => idle_since = None,
            Turn::Idle { is_waiting } => {
                let since = *idle_since.get_or_insert(now);
                rest(outbox, now.duration_since(since), is_waiting);
            }
            Turn::Over => return engine.end(),
            Turn::Quit => return Ok(()),
            Turn::Abort(code) => {
                engine.abort(code);
                return Ok(());
            }
            Turn::Foreign(error) => match &hooks.lock().foreign {
                Some(hook) => hook(&error),
                None => return Err(error),
            },
        }
    }
}

/// Leaves the core to other threads for a time that grows with the idle time.
fn rest(outbox: &Outbox, idle: Duration, is_waiting: bool) {
    if idle < SPIN {
        std::hint::spin_loop();
    } else if idle < YIELD {
        thread::yield_now();
    } else {
        let most = if is_waiting {
            MOST_NAP_UNDER_WAY
        } else {
            MOST_NAP
        };
        outbox.sleep((idle / 8).clamp(LEAST_NAP, most));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::BATCH_BYTES;
    use node::Buffer;
    use node::backend::Session as _;

    #[test]
    fn a_start_has_a_limit_that_grows_with_the_ranks() {
        let of = |variables: &'static [(&str, &str)]| {
            let value = move |name: &str| {
                let found = variables.iter().find(|(other, _)| *other == name)?;
                Some(found.1.to_owned())
            };
            start_limit(value).as_millis()
        };
        assert_eq!(of(&[]), 20_100);
        assert_eq!(of(&[("PMI_SIZE", "8")]), 20_800);
        assert_eq!(of(&[("OMPI_COMM_WORLD_SIZE", "4096")]), 429_600);
        let asked = of(&[("OMPI_COMM_WORLD_SIZE", "8"), (VARIABLE, "600")]);
        assert_eq!(asked, 600_000);
        assert_eq!(of(&[(VARIABLE, "soon")]), 20_100);
    }

    #[test]
    fn foreign_peers_are_reported_and_the_session_continues() {
        let mut wires = LocalWire::family(3);
        let wire = wires.remove(0);
        let session = Session::over(move || Ok((wire, String::new()))).unwrap();
        let (sender, reports) = mpsc::channel();
        session.on_foreign(Box::new(move |error| sender.send(error.clone()).unwrap()));
        let speak = |mut wire: LocalWire| {
            thread::spawn(move || {
                let hold = wire.hold(Buffer::heap(40));
                wire.send(hold, 0..40, 0, 1).unwrap();
                // For the goodbye of the session.
                let hold = wire.hold(Buffer::heap(BATCH_BYTES));
                wire.receive(hold, 0..BATCH_BYTES, 0, 1).unwrap();
                wire.barrier().unwrap();
                wire
            })
        };
        let peers: Vec<_> = wires.into_iter().map(speak).collect();
        // Without a node, it reads letters only when it ends.
        session.outbox.push(Command::End);
        let foreign = (0..2).map(|_| reports.recv().unwrap().peer.unwrap());
        let mut foreign: Vec<_> = foreign.collect();
        foreign.sort_unstable();
        assert_eq!(foreign, [Rank(1), Rank(2)]);
        for peer in peers {
            let completed = peer.join().unwrap().completed(&mut Vec::new());
            assert!(completed.is_ok(), "the run continues");
        }
    }

    #[test]
    fn the_first_failure_is_reported_and_ends_the_session() {
        let [wire, mut peer] = LocalWire::family(2).try_into().ok().unwrap();
        let session = Session::over(move || Ok((wire, String::new()))).unwrap();
        let (sender, reports) = mpsc::channel();
        session.on_failure(Box::new(move |error| {
            sender.send(error.to_string()).unwrap();
        }));
        // The peer joins the run, and then breaks the protocol.
        let hold = peer.hold(Buffer::heap(40));
        peer.send(hold, 0..40, 0, 1).unwrap();
        peer.barrier().unwrap();
        let error = session.end().unwrap_err();
        assert_eq!(error.peer, Some(Rank(1)));
        assert_eq!(reports.recv(), Ok(error.to_string()));
        let ended = peer.completed(&mut Vec::new()).unwrap_err();
        assert!(ended.what.contains("ended the run"), "the peer ends, too");
    }
}
