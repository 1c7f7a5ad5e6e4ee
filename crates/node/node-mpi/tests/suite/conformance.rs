//! The suite of every backend, on sessions within this process and on ranks that `mpirun` starts.

use std::cell::Cell;
use std::fs::File;
use std::future::Future;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use node::backend::{Inboxes, Letter, Network, Session as _};
use node::conformance::{Harness, Place, source_bytes};
use node::{Address, Node, Rank};
use node_mpi::Session;
use node_real::Cluster;
use rustix::fs::{CWD, FileType, Mode};

use crate::{launch, sessions};

/// Processes that `mpirun` starts: as many as the largest program of the suite has nodes.
const RANKS: u32 = 6;

/// The variable that makes a process a rank, and names the directory that the ranks share.
const SHARED: &str = "GRISTMILL_TEST_SHARED";

struct InProcess;

impl Harness for InProcess {
    fn run<P, Task>(&self, nodes: u32, program: P)
    where
        P: Fn(Node, Place) -> Task + Clone + Send + Sync + 'static,
        Task: Future<Output = ()> + 'static,
    {
        let top = tempfile::tempdir().unwrap();
        let place = place(top.path());
        let ended = sessions::run(nodes, move |node| program(node, place.clone()));
        assert_eq!(ended.len(), nodes as usize);
    }
}

node::conformance_suite!(InProcess);
active::conformance_suite!(InProcess);

/// Makes a directory and a pipe.
fn place(top: &Path) -> Place {
    let place = Place {
        directory: top.join("data"),
        source: top.join("pipe"),
    };
    fs::create_dir_all(&place.directory).unwrap();
    let mode = Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(CWD, &place.source, FileType::Fifo, mode, 0).unwrap();
    // Opening a pipe for writing waits for a reader. In tests that do not read it, the thread ends
    // with the process.
    let source = place.source.clone();
    thread::spawn(move || {
        if let Ok(mut pipe) = File::options().write(true).open(source) {
            pipe.write_all(&source_bytes()).unwrap();
        }
    });
    place
}

/// Runs the whole suite with one start of MPI.
#[test]
fn over_mpi() {
    match env::var_os(SHARED) {
        Some(shared) => be_one_rank(shared.into()),
        None => start_ranks(),
    }
}

fn start_ranks() {
    let shared = tempfile::tempdir().unwrap();
    let test = "conformance::over_mpi";
    let Some(output) = launch::ranks(RANKS, test, (SHARED, shared.path())) else {
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{}\n{text}\n{errors}",
        output.status
    );
    assert!(
        text.contains(&format!("the suite ran on {RANKS} ranks")),
        "{text}\n{errors}"
    );
}

fn be_one_rank(shared: PathBuf) {
    assert!(terminal::launcher::is_launched());
    let session = Arc::new(Session::start().unwrap());
    assert_eq!(session.nodes(), RANKS, "all processes are in one run");
    let ranks = Ranks {
        session: Arc::clone(&session),
        shared,
        met: Cell::new(0),
    };
    let suite = || {
        node::conformance_suite!(in_turn ranks);
        active::conformance_suite!(in_turn ranks);
    };
    if catch_unwind(AssertUnwindSafe(suite)).is_err() {
        session.abort(1);
    }
    session.end().unwrap();
    if session.rank() == Rank(0) {
        println!(
            "the suite ran on {} ranks over {}",
            session.nodes(),
            session.library()
        );
    }
}

/// One of the ranks that `mpirun` started. A program runs on the first of them.
struct Ranks {
    session: Arc<Session>,
    shared: PathBuf,
    /// The number of barriers so far.
    met: Cell<u32>,
}

impl Harness for Ranks {
    fn run<P, Task>(&self, nodes: u32, program: P)
    where
        P: Fn(Node, Place) -> Task + Clone + Send + Sync + 'static,
        Task: Future<Output = ()> + 'static,
    {
        let top = self.shared.join(format!("program {}", self.met.get()));
        let rank = self.session.rank();
        let network = First {
            session: Arc::clone(&self.session),
            nodes,
        };
        let cluster = (rank.0 < nodes).then(|| Cluster::over(Arc::new(network), 1));
        let there = Place {
            directory: top.join("data"),
            source: top.join("pipe"),
        };
        let place = if rank == Rank(0) { place(&top) } else { there };
        // So that no letter of a program arrives before its node begins or after it ends.
        self.meet();
        if let Some(cluster) = cluster {
            let ended = cluster.run(move |node| program(node, place.clone()));
            assert_eq!(ended.len(), 1);
        }
        self.meet();
    }
}

impl Ranks {
    /// A barrier without MPI.
    fn meet(&self) {
        let number = self.met.replace(self.met.get() + 1);
        let name = |rank| self.shared.join(format!("at {number} is {rank}"));
        File::create(name(self.session.rank().0)).unwrap();
        let began = Instant::now();
        for rank in 0..self.session.nodes() {
            while !name(rank).exists() {
                assert!(began.elapsed() < children::LIMIT, "rank {rank} is late");
                thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

/// A network of the first nodes only.
struct First {
    session: Arc<Session>,
    nodes: u32,
}

impl Network for First {
    fn rank(&self) -> Rank {
        self.session.rank()
    }

    fn nodes(&self) -> u32 {
        self.nodes
    }

    fn post(&self, to: Address, letter: Letter) {
        self.session.post(to, letter);
    }

    fn attach(&self, inboxes: Arc<dyn Inboxes>) {
        self.session.attach(inboxes);
    }
}
