//! A process's place in a run of many, and the one thread that speaks for it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use std::{env, io, thread};

use node::backend::{Contents, Hook, Inboxes, Letter, Network, NetworkError, Transport};
use node::{Address, Rank};

use crate::engine::{Engine, Turn};
use crate::ffi::{MpiWire, exit_now};
use crate::hearing::Hearing;
use crate::outbox::{Command, Outbox};
use crate::wire::local::LocalWire;
use crate::wire::{AllToAll, Wire, Wired};

/// Variables that launchers set for the processes they start: Open MPI, PMI-1 and PMI-2 (MPICH,
/// Slurm), PMIx.
const LAUNCHERS: [&str; 4] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK"];

/// Exit code of a run whose network failed, as of any operating fault.
const FAILED: i32 = 2;

/// An idle thread looks this long without a pause: a peer that answers at once does so in some us.
const SPIN: Duration = Duration::from_micros(20);

/// Then this long, letting others run at each look: there may be fewer cores than ranks.
const YIELD: Duration = Duration::from_micros(200);

/// Then it naps an eighth of the time it has been idle, so that a wait grows by an eighth at most:
/// at least so long,
const LEAST_NAP: Duration = Duration::from_micros(20);

/// and at most so long, for 500 looks a second cost a hundredth of a core.
const MOST_NAP: Duration = Duration::from_millis(2);

/// With requests under way naps are shorter: MPI makes progress only while it is called.
const MOST_NAP_UNDER_WAY: Duration = Duration::from_micros(50);

/// MPI, for processes that a launcher such as `mpirun` or `srun` has started.
pub const TRANSPORT: Transport = Transport {
    is_launched: || LAUNCHERS.iter().any(|name| env::var_os(name).is_some()),
    join: || Ok(Arc::new(Session::start()?)),
};

/// Launchers of many ranks take minutes until all are started and know each other; one that takes
/// longer has lost some of them, and MPI would wait for ever.
const MEETING: Duration = Duration::from_secs(300);

/// A process that asked for the end of all is ended in that time, or ends itself: MPI waits for
/// daemons that may be out of reach.
const ABORTING: Duration = Duration::from_secs(3);

/// The code that handles failures, on the network's thread.
struct Hooks {
    /// The network has failed; then every process is ended.
    failure: Hook,
    /// A peer does not keep to the protocol; without this, that is a failure.
    foreign: Option<Hook>,
}

type Told = Arc<Mutex<Hooks>>;

/// One process of a run of many: the [`Network`] to the others.
///
/// A session that is dropped without an end leaves without a word; its launcher then ends
/// the other processes.
pub struct Session {
    rank: Rank,
    nodes: u32,
    library: String,
    outbox: Arc<Outbox>,
    hearing: Arc<Hearing>,
    hooks: Told,
    thread: Mutex<Option<JoinHandle<Wired>>>,
}

/// The first message of the thread, when it is connected.
struct Greeting {
    rank: Rank,
    nodes: u32,
    library: String,
    hearing: Arc<Hearing>,
}

impl Session {
    /// Joins the other processes that the launcher has started; comes back when all are here.
    ///
    /// # Errors
    /// When there is no shim or no MPI library, MPI refuses, or the others do not come. Then MPI
    /// may still be at work: leave without an orderly exit (`_exit`).
    pub fn start() -> Result<Session, NetworkError> {
        Session::over(|| {
            let wire = MpiWire::start()?;
            let library = wire.library();
            Ok((wire, library))
        })
    }

    /// Sessions that are all in this process, for tests: the same protocol, without MPI. Each needs
    /// a thread of its own.
    ///
    /// # Errors
    /// When the system has no thread.
    pub fn in_process(processes: u32) -> Result<Vec<Session>, NetworkError> {
        let begin = |wire| Session::over(move || Ok((wire, "within one process".to_owned())));
        LocalWire::family(processes)
            .into_iter()
            .map(begin)
            .collect()
    }

    fn over<W: Wire>(
        connect: impl FnOnce() -> Wired<(W, String)> + Send + 'static,
    ) -> Result<Session, NetworkError> {
        let outbox = Arc::new(Outbox::default());
        let tell = |error: &NetworkError| eprintln!("gristmill: {error}");
        let hooks = Hooks {
            failure: Box::new(tell),
            foreign: None,
        };
        let hooks: Told = Arc::new(Mutex::new(hooks));
        let (greet, greeted) = mpsc::channel();
        let (commands, told) = (Arc::clone(&outbox), Arc::clone(&hooks));
        let body = move || {
            let (wire, library) = connect()?;
            let (rank, nodes) = (Rank(wire.rank()), wire.size());
            let mut engine = Engine::new(wire, Arc::clone(&commands))?;
            let greeting = Greeting {
                rank,
                nodes,
                library,
                hearing: engine.hearing(),
            };
            // The caller of `over` waits for it.
            let _ = greet.send(greeting);
            speak(&mut engine, &commands, &told)
        };
        let thread = thread::Builder::new().name("network".into()).spawn(body);
        let thread = thread.map_err(no_thread)?;
        match greeted.recv_timeout(MEETING) {
            Ok(Greeting {
                rank,
                nodes,
                library,
                hearing,
            }) => {
                let thread = Mutex::new(Some(thread));
                Ok(Session {
                    rank,
                    nodes,
                    library,
                    outbox,
                    hearing,
                    hooks,
                    thread,
                })
            }
            Err(RecvTimeoutError::Timeout) => Err(NetworkError::new(format!(
                "MPI did not bring all ranks together within {} s: look for hosts that are out of reach, and tell it \
                 which interface to use",
                MEETING.as_secs(),
            ))),
            Err(RecvTimeoutError::Disconnected) => Err(ending(thread)
                .err()
                .unwrap_or_else(|| NetworkError::new("it ended"))),
        }
    }

    /// Carries a string from each process to each, by MPI's own means (`MPI_Alltoallv`), as a
    /// yardstick for an exchange. All processes call it, when no task waits for a message that is
    /// not posted yet: letters that are posted later wait until it is over.
    ///
    /// # Errors
    /// When the network has failed.
    ///
    /// # Panics
    /// When there is not one length for each process, or they do not add up.
    pub fn all_to_all(&self, strings: AllToAll) -> Result<AllToAll, NetworkError> {
        strings.check(self.nodes as usize);
        let (done, answer) = mpsc::channel();
        self.outbox.push(Command::AllToAll { strings, done });
        answer.recv().map_err(|_| NetworkError::new("it has ended"))
    }
}

impl node::backend::Session for Session {
    fn library(&self) -> &str {
        &self.library
    }

    fn on_failure(&self, hook: Hook) {
        lock(&self.hooks).failure = hook;
    }

    fn on_foreign(&self, hook: Hook) {
        lock(&self.hooks).foreign = Some(hook);
    }

    fn silent(&self, least: Duration) -> Vec<(Rank, Duration)> {
        self.hearing.silent(least)
    }

    fn abort(&self, code: i32) -> ! {
        self.outbox.close(Command::Abort(code));
        thread::sleep(ABORTING);
        exit_now(code)
    }

    /// Where MPI has failed, this process has ended.
    fn end(&self) -> Result<(), NetworkError> {
        let thread = self
            .thread
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        self.outbox.close(Command::End);
        thread.map_or(Ok(()), ending)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.outbox.close(Command::Quit);
    }
}

impl Network for Session {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn nodes(&self) -> u32 {
        self.nodes
    }

    fn post(&self, to: Address, letter: Letter) {
        assert!(to.rank.0 < self.nodes, "there is no node {}", to.rank);
        assert!(
            to.rank != self.rank,
            "a letter to this very node needs no network"
        );
        match letter {
            Letter::Message(message) => self.outbox.send(to, message.words),
            Letter::Shipment {
                contents: Contents::Here { buffer, done },
                ..
            } => {
                assert!(
                    !buffer.is_counted(),
                    "counts alone are not shipped to other machines"
                );
                self.outbox.push(Command::Ship { to, buffer, done });
            }
            Letter::Shipment {
                contents: Contents::Away { .. },
                ..
            } => {
                unreachable!("a shipment is not passed on before it has arrived")
            }
        }
    }

    fn attach(&self, inboxes: Arc<dyn Inboxes>) {
        self.outbox.attach(inboxes);
    }
}

fn lock(hooks: &Mutex<Hooks>) -> MutexGuard<'_, Hooks> {
    hooks.lock().unwrap_or_else(PoisonError::into_inner)
}

fn no_thread(cause: io::Error) -> NetworkError {
    NetworkError::new(format!("no thread for it: {cause}"))
}

fn ending(thread: JoinHandle<Wired>) -> Wired {
    thread
        .join()
        .unwrap_or_else(|_| Err(NetworkError::new("its thread panicked")))
}

/// The thread's life: turns until the end. A failure, or a panic, ends every process.
fn speak<W: Wire>(engine: &mut Engine<W>, outbox: &Outbox, hooks: &Mutex<Hooks>) -> Wired {
    let served = catch_unwind(AssertUnwindSafe(|| serve(engine, outbox, hooks)));
    let panicked = |_| Err(NetworkError::new("its thread panicked"));
    let Err(error) = served.unwrap_or_else(panicked) else {
        return Ok(());
    };
    (lock(hooks).failure)(&error);
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
            Turn::Foreign(error) => match &lock(hooks).foreign {
                Some(tell) => tell(&error),
                None => return Err(error),
            },
        }
    }
}

/// Leaves the core to others, more so the longer nothing happens.
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
    fn peers_that_run_something_else_are_told_and_the_session_goes_on() {
        let mut wires = LocalWire::family(3);
        let wire = wires.remove(0);
        let session = Session::over(move || Ok((wire, String::new()))).unwrap();
        let (tell, told) = mpsc::channel();
        session.on_foreign(Box::new(move |error| tell.send(error.clone()).unwrap()));
        let speak = |mut wire: LocalWire| {
            thread::spawn(move || {
                let hold = wire.hold(Buffer::heap(40));
                wire.send(hold, 0..40, 0, 1).unwrap();
                // For what the session says in the end.
                let hold = wire.hold(Buffer::heap(BATCH_BYTES));
                wire.receive(hold, 0..BATCH_BYTES, 0, 1).unwrap();
                wire.barrier().unwrap();
                wire
            })
        };
        let meeting: Vec<_> = wires.into_iter().map(speak).collect();
        // It listens when it has a node, or none any more.
        session.outbox.push(Command::End);
        let mut who: Vec<_> = (0..2).map(|_| told.recv().unwrap().peer.unwrap()).collect();
        who.sort_unstable();
        assert_eq!(who, [Rank(1), Rank(2)]);
        for peer in meeting {
            let mut done = Vec::new();
            assert!(
                peer.join().unwrap().completed(&mut done).is_ok(),
                "the run is not ended"
            );
        }
    }

    #[test]
    fn the_first_failure_is_told_and_ends_the_session() {
        let [wire, mut peer] = LocalWire::family(2).try_into().ok().unwrap();
        let session = Session::over(move || Ok((wire, String::new()))).unwrap();
        let (tell, told) = mpsc::channel();
        session.on_failure(Box::new(move |error| tell.send(error.to_string()).unwrap()));
        // The peer meets us, and then speaks nonsense.
        let hold = peer.hold(Buffer::heap(40));
        peer.send(hold, 0..40, 0, 1).unwrap();
        peer.barrier().unwrap();
        let error = session.end().unwrap_err();
        assert_eq!(error.peer, Some(Rank(1)));
        assert_eq!(told.recv(), Ok(error.to_string()));
        let ended = peer.completed(&mut Vec::new()).unwrap_err();
        assert!(
            ended.what.contains("ended the run"),
            "the peer is told, too"
        );
    }
}
