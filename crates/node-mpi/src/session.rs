//! A process's place in a run of many, and the one thread that speaks for it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use std::{env, io, thread};

use node::backend::{Contents, Inboxes, Letter, Network};
use node::{Address, Rank};

use crate::engine::{Engine, Turn};
use crate::ffi::MpiWire;
use crate::outbox::{Command, Outbox};
use crate::wire::local::LocalWire;
use crate::wire::{NetworkError, Wire, Wired};

/// What launchers tell the processes they start: Open MPI's own, PMI-1 and PMI-2 (MPICH, Slurm), PMIx.
const LAUNCHERS: [&str; 4] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK"];

/// Exit code of a run whose network failed, as of any operating fault.
const FAILED: i32 = 2;

/// An idle thread looks this long without a pause: a peer that answers at once does so in some us.
const SPIN: Duration = Duration::from_micros(20);

/// Then this long, letting others run at each look: there may be fewer cores than ranks.
const YIELD: Duration = Duration::from_micros(200);

/// Then it naps an eighth of the time it has been idle, so that a wait grows by an eighth at most: at
/// least so long,
const LEAST_NAP: Duration = Duration::from_micros(20);

/// and at most so long, for 500 looks a second cost a hundredth of a core.
const MOST_NAP: Duration = Duration::from_millis(2);

/// MPI carries nothing while nobody calls it.
const MOST_NAP_UNDER_WAY: Duration = Duration::from_micros(50);

/// Whether a launcher such as `mpirun` or `srun` has started this process as one of several.
pub fn launched() -> bool {
    LAUNCHERS.iter().any(|name| env::var_os(name).is_some())
}

type Hook = Arc<Mutex<Box<dyn Fn(&NetworkError) + Send>>>;

/// One process of a run of many: the [`Network`] to the others.
///
/// A session that is dropped without [`Session::end`] leaves without a word; its launcher then ends
/// the other processes.
pub struct Session {
    rank: Rank,
    nodes: u32,
    library: String,
    outbox: Arc<Outbox>,
    hook: Hook,
    thread: Mutex<Option<JoinHandle<Wired>>>,
}

/// What the thread tells when it is connected.
struct Greeting {
    rank: Rank,
    nodes: u32,
    library: String,
}

impl Session {
    /// Joins the other processes that the launcher has started; comes back when all are here.
    ///
    /// # Errors
    /// When there is no shim or no MPI library, or MPI refuses.
    pub fn start() -> Result<Session, NetworkError> {
        Session::over(|| {
            let wire = MpiWire::start()?;
            let library = wire.library();
            Ok((wire, library))
        })
    }

    /// So many sessions that are all in this process, for tests: the same protocol, without MPI. Each
    /// needs a thread of its own.
    ///
    /// # Errors
    /// When the system has no thread.
    pub fn in_process(processes: u32) -> Result<Vec<Session>, NetworkError> {
        let begin = |wire| Session::over(move || Ok((wire, "within one process".to_owned())));
        LocalWire::family(processes).into_iter().map(begin).collect()
    }

    fn over<W: Wire>(
        connect: impl FnOnce() -> Wired<(W, String)> + Send + 'static,
    ) -> Result<Session, NetworkError> {
        let outbox = Arc::new(Outbox::default());
        let tell = |error: &NetworkError| eprintln!("gristmill: {error}");
        let hook: Hook = Arc::new(Mutex::new(Box::new(tell)));
        let (greet, greeted) = mpsc::channel();
        let (commands, told) = (Arc::clone(&outbox), Arc::clone(&hook));
        let body = move || {
            let (wire, library) = connect()?;
            let greeting = Greeting { rank: Rank(wire.rank()), nodes: wire.size(), library };
            let mut engine = Engine::new(wire, Arc::clone(&commands))?;
            // Whoever asked for it waits.
            let _ = greet.send(greeting);
            speak(&mut engine, &commands, &told)
        };
        let thread = thread::Builder::new().name("network".into()).spawn(body);
        let thread = thread.map_err(no_thread)?;
        match greeted.recv() {
            Ok(Greeting { rank, nodes, library }) => {
                let thread = Mutex::new(Some(thread));
                Ok(Session { rank, nodes, library, outbox, hook, thread })
            }
            Err(_) => Err(ending(thread).err().unwrap_or_else(|| NetworkError::new("it ended"))),
        }
    }

    /// The MPI library's name and version, in its words.
    pub fn library(&self) -> &str {
        &self.library
    }

    /// What to do when the network fails, on its thread, before every process is ended with exit code
    /// 2: to tell, and to remove what the run has made. Without this, the failure is printed.
    pub fn on_failure(&self, hook: impl Fn(&NetworkError) + Send + 'static) {
        *self.hook.lock().unwrap_or_else(PoisonError::into_inner) = Box::new(hook);
    }

    /// Ends every process of the run with this exit code, now.
    pub fn abort(&self, code: i32) -> ! {
        self.outbox.close(Command::Abort(code));
        // The network's thread ends this process in that time, or hangs in MPI.
        thread::sleep(Duration::from_secs(1));
        std::process::exit(code)
    }

    /// Leaves in good order: all that was posted has gone out, and all processes have come here.
    ///
    /// # Errors
    /// When the network has failed. Where it is MPI, this process has ended then.
    pub fn end(&self) -> Result<(), NetworkError> {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
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
        assert!(to.rank != self.rank, "a letter to this very node needs no network");
        match letter {
            Letter::Message(message) => self.outbox.send(to, message.words),
            Letter::Shipment { contents: Contents::Here { buffer, done }, .. } => {
                assert!(!buffer.is_counted(), "counts alone are not shipped to other machines");
                self.outbox.push(Command::Ship { to, buffer, done });
            }
            Letter::Shipment { contents: Contents::Away { .. }, .. } => {
                unreachable!("a shipment is not passed on before it has arrived")
            }
        }
    }

    fn attach(&self, inboxes: Arc<dyn Inboxes>) {
        self.outbox.attach(inboxes);
    }
}

fn no_thread(cause: io::Error) -> NetworkError {
    NetworkError::new(format!("no thread for it: {cause}"))
}

fn ending(thread: JoinHandle<Wired>) -> Wired {
    thread.join().unwrap_or_else(|_| Err(NetworkError::new("its thread panicked")))
}

/// The thread's life: turns until the end. A failure, or a panic, ends every process.
fn speak<W: Wire>(engine: &mut Engine<W>, outbox: &Outbox, hook: &Hook) -> Wired {
    let served = catch_unwind(AssertUnwindSafe(|| serve(engine, outbox)));
    let panicked = |_| Err(NetworkError::new("its thread panicked"));
    let Err(error) = served.unwrap_or_else(panicked) else { return Ok(()) };
    hook.lock().unwrap_or_else(PoisonError::into_inner)(&error);
    engine.abort(FAILED);
    outbox.close(Command::Quit);
    Err(error)
}

fn serve<W: Wire>(engine: &mut Engine<W>, outbox: &Outbox) -> Wired {
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
        let most = if is_waiting { MOST_NAP_UNDER_WAY } else { MOST_NAP };
        outbox.sleep((idle / 8).clamp(LEAST_NAP, most));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use node::Buffer;

    #[test]
    fn the_first_failure_is_told_and_ends_the_session() {
        let [wire, mut peer] = LocalWire::family(2).try_into().ok().unwrap();
        let session = Session::over(move || Ok((wire, String::new()))).unwrap();
        let (tell, told) = mpsc::channel();
        session.on_failure(move |error| tell.send(error.to_string()).unwrap());
        // The peer meets us, and then speaks nonsense.
        let hold = peer.hold(Buffer::heap(40));
        peer.send(hold, 0..40, 0, 1).unwrap();
        peer.barrier().unwrap();
        let error = session.end().unwrap_err();
        assert_eq!(error.peer, Some(Rank(1)));
        assert_eq!(told.recv(), Ok(error.to_string()));
        let ended = peer.completed(&mut Vec::new()).unwrap_err();
        assert!(ended.what.contains("ended the run"), "the peer is told, too");
    }
}
