//! The ranks that a launcher has started, of which this process is one.
//!
//! ```text
//!   begin   flush, new mailboxes, ready: a run hears nothing of the run before it
//!   run     the program's one task here
//!   gather  the answers of all ranks at rank 0, which checks them
//! ```
//!
//! The caller [joins](join) before anyone asks for programs or machines: only it knows a network.

use std::os::unix::ffi::OsStrExt;
use std::sync::{Arc, OnceLock};
use std::{env, fmt};

use node::backend::{Inboxes, Letter, Network, PortInbox};
use node::{Address, Collective, Mutex, Node, Port, Rank, Undelivered};
use node_real::Cluster;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The port of the steps between runs, the last one: programs count from the first.
const STEPS: Port = Port(u16::MAX);

static JOINED: OnceLock<Ranks> = OnceLock::new();

/// Lets programs run on the ranks of a launcher from now on; without a network this process is the only one.
pub fn join(network: Option<Arc<dyn Network>>) {
    JOINED.get_or_init(|| Ranks::new(network));
}

/// The ranks, if the caller has joined them.
pub fn joined() -> Option<&'static Ranks> {
    JOINED.get()
}

/// All ranks of a job.
pub struct Ranks {
    network: Option<Arc<Switched>>,
    /// The node of the steps between runs.
    between: Cluster,
    steps: Arc<Mutex<Option<Collective>>>,
}

impl fmt::Debug for Ranks {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "rank {} of {}", self.rank(), self.count())
    }
}

impl Ranks {
    fn new(network: Option<Arc<dyn Network>>) -> Ranks {
        let network = network.map(|below| {
            Arc::new(Switched {
                below,
                between: OnceLock::new(),
                run: Mutex::default(),
            })
        });
        let between = match &network {
            None => Cluster::new(1, 0),
            Some(network) => {
                let between = Cluster::over(Arc::clone(network) as Arc<dyn Network>, 0);
                network
                    .below
                    .attach(Arc::clone(network) as Arc<dyn Inboxes>);
                between
            }
        };
        Ranks {
            network,
            between,
            steps: Arc::default(),
        }
    }

    /// The number of ranks.
    pub fn count(&self) -> u32 {
        self.network.as_ref().map_or(1, |network| network.nodes())
    }

    /// The rank of this process.
    pub fn rank(&self) -> Rank {
        self.network
            .as_ref()
            .map_or(Rank::ROOT, |network| network.rank())
    }

    /// Whether this process tells the results.
    pub fn is_first(&self) -> bool {
        self.rank() == Rank::ROOT
    }

    /// The node of this rank in a new run, when all ranks have theirs.
    pub(crate) fn begin(&self, seed: u64) -> Result<Cluster, Undelivered> {
        let Some(network) = &self.network else {
            return Ok(Cluster::new(1, seed));
        };
        self.compare(&self.all_to_all(words())?)?;
        let cluster = Cluster::over(Arc::clone(network) as Arc<dyn Network>, seed);
        self.all_to_all(Vec::new())?;
        Ok(cluster)
    }

    /// The answers of all ranks at rank 0, and `None` at the others.
    pub(crate) fn gather<A: Serialize + DeserializeOwned>(
        &self,
        answer: A,
    ) -> Result<Option<Vec<A>>, Undelivered> {
        let told = serde_json::to_vec(&answer).map_err(|error| Undelivered::Foreign {
            from: self.rank(),
            what: format!("its answer cannot cross processes: {error}"),
        })?;
        let all = self.all_to_all(told)?;
        let read = |(rank, told): (u32, &Vec<u8>)| {
            serde_json::from_slice(told).map_err(|error| Undelivered::Foreign {
                from: Rank(rank),
                what: error.to_string(),
            })
        };
        let answers = (0..).zip(&all).map(read);
        self.is_first().then(|| answers.collect()).transpose()
    }

    /// Waits for all ranks: rank 0 may be busy with the check, and the others do not leave before.
    pub(crate) fn meet(&self) -> Result<(), Undelivered> {
        self.all_to_all(Vec::new()).map(drop)
    }

    /// Ranks of unlike options would wait for each other for ever. Rank 0 has the words of all.
    fn compare(&self, all: &[Vec<u8>]) -> Result<(), Undelivered> {
        let unlike = (0..).zip(all).find(|(_, words)| **words != all[0]);
        match unlike.filter(|_| self.is_first()) {
            None => Ok(()),
            Some((rank, _)) => Err(Undelivered::Foreign {
                from: Rank(rank),
                what: "it was started with another command line: start all ranks with one"
                    .to_owned(),
            }),
        }
    }

    /// Tells rank 0 something, and waits for a word of all ranks: then all earlier messages have come, too.
    fn all_to_all(&self, told: Vec<u8>) -> Result<Vec<Vec<u8>>, Undelivered> {
        let steps = Arc::clone(&self.steps);
        let step = move |node: Node| {
            let (steps, told) = (Arc::clone(&steps), told.clone());
            async move {
                let kept = steps.lock().take();
                let mut collective = kept.unwrap_or_else(|| Collective::new(&node, STEPS));
                let mut said = vec![Vec::new(); node.nodes() as usize];
                said[0] = told;
                let all = collective.all_to_all(&node, said).await;
                *steps.lock() = Some(collective);
                all
            }
        };
        self.between.run(step).pop().expect("one node")
    }
}

/// The words of the command line.
fn words() -> Vec<u8> {
    let words = env::args_os().skip(1);
    words
        .flat_map(|word| [word.as_bytes(), &[0]].concat())
        .collect()
}

/// The network with mailboxes for each run, beside those of the steps between runs.
struct Switched {
    below: Arc<dyn Network>,
    between: OnceLock<Arc<dyn Inboxes>>,
    run: Mutex<Option<Arc<dyn Inboxes>>>,
}

impl Network for Switched {
    fn rank(&self) -> Rank {
        self.below.rank()
    }

    fn nodes(&self) -> u32 {
        self.below.nodes()
    }

    fn post(&self, to: Address, letter: Letter) {
        self.below.post(to, letter);
    }

    /// The first mailboxes are those of the steps between runs.
    fn attach(&self, inboxes: Arc<dyn Inboxes>) {
        if let Err(of_run) = self.between.set(inboxes) {
            *self.run.lock() = Some(of_run);
        }
    }
}

impl Inboxes for Switched {
    fn inbox(&self, port: Port) -> Arc<PortInbox> {
        let between = self.between.get().expect("it was attached first");
        let run = self.run.lock();
        let of_run = run.as_ref().filter(|_| port != STEPS);
        of_run.unwrap_or(between).inbox(port)
    }
}
