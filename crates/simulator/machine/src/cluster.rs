//! A simulated cluster of nanosecond cores, their NICs, and the network between them.

mod backend;
mod block;
mod bulk;
mod engine;
mod exchange;
mod state;

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use node::{Mutex, Node};

use crate::network::layout::Layout;
use crate::network::topology::Topology;
use crate::path;
use crate::profile::Profile;
use crate::report::{Report, RunError, Stuck, Watch, Windows};
use crate::schedule::Mailbox;
use crate::setting::{Multicast, Setting, SetupError};
use disk::Timeline;
use disk::{DiskModel, MemoryDisks};

use block::{Block, BlockReport, Running};
use engine::Engine;

/// A machine that is ready to run programs.
pub struct Cluster {
    layout: Arc<Layout>,
    mailboxes: Vec<Arc<Mailbox>>,
    disks: Mutex<BTreeMap<u32, Arc<MemoryDisks>>>,
    watch: Arc<Watch>,
}

/// The result of a run.
#[derive(Debug)]
pub struct Outcome<T> {
    /// The answers of the programs, in order of ranks.
    pub answers: Vec<T>,
    /// Times and counts of the run.
    pub report: Report,
}

/// Makes the task of a rank, which keeps its answer.
type Erased = dyn Fn(u32, Node) -> Running + Sync;

/// Waiting tasks that an error names.
const NAMED_TASKS: usize = 10;

impl Cluster {
    /// A machine of this profile.
    ///
    /// # Errors
    /// If the topology has too few cores, or the simulator cannot number its parts.
    pub fn new(profile: Profile, setting: Setting) -> Result<Cluster, SetupError> {
        check(&profile, setting.ranks)?;
        check_multicast(&profile, setting.multicast)?;
        let layout = Arc::new(Layout::new(profile, setting));
        let mailbox = |_| Arc::new(Mailbox::new(layout.profile.tick_fs));
        let mailboxes = (0..layout.blocks()).map(mailbox).collect();
        Ok(Cluster {
            layout,
            mailboxes,
            disks: Mutex::default(),
            watch: Arc::default(),
        })
    }

    /// The progress of a run, for observers.
    pub fn watch(&self) -> Arc<Watch> {
        Arc::clone(&self.watch)
    }

    /// The disks of a rank, to write and read files before and after a run.
    pub fn disks(&self, rank: u32) -> Arc<MemoryDisks> {
        let topology = &self.layout.topology;
        let leaf = topology.leaf_of(topology.nic_of(rank));
        let mailbox = &self.mailboxes[self.layout.block_of(leaf) as usize];
        let timeline: Arc<dyn Timeline> = Arc::clone(mailbox) as _;
        let new = || Arc::new(MemoryDisks::new(&timeline, DiskModel::default()));
        Arc::clone(self.disks.lock().entry(rank).or_insert_with(new))
    }

    /// Runs `program` on every rank to its end.
    ///
    /// # Errors
    /// If tasks wait for ever, a task panics, or an observer ends the run.
    pub fn run<T, P, Task>(&self, program: P) -> Result<Outcome<T>, RunError>
    where
        T: Send + 'static,
        P: Fn(Node) -> Task + Clone + Send + Sync + 'static,
        Task: Future<Output = T> + 'static,
    {
        let none: Vec<Option<T>> = (0..self.layout.setting.ranks).map(|_| None).collect();
        let answers = Arc::new(Mutex::new(none));
        let ended = Arc::clone(&answers);
        let report = self.run_all(&move |rank, node| {
            let (program, ended) = (program.clone(), Arc::clone(&ended));
            Box::pin(async move {
                let answer = program(node).await;
                ended.lock()[rank as usize] = Some(answer);
            })
        })?;
        let answers = std::mem::take(&mut *answers.lock());
        Ok(Outcome {
            answers: answers.into_iter().flatten().collect(),
            report,
        })
    }

    /// The same for programs of any type, so that it is compiled once for all of them.
    fn run_all(&self, program: &Erased) -> Result<Report, RunError> {
        let engine = Engine::new(&self.layout, &self.mailboxes, &self.watch);
        let run = |thread| self.run_thread(&engine, thread, program);
        let ended: Vec<BlockReport> = std::thread::scope(|scope| {
            let others: Vec<_> = (1..engine.threads())
                .map(|thread| scope.spawn(move || run(thread)))
                .collect();
            let mut ended = run(0);
            for other in others {
                ended.extend(other.join().expect("panics are caught"));
            }
            ended
        });
        match engine.failure() {
            Some(error) => Err(error),
            None => self.report(ended),
        }
    }

    fn run_thread(&self, engine: &Engine, thread: usize, program: &Erased) -> Vec<BlockReport> {
        let disks = self.disks.lock().clone();
        let make = |block: &mut Block| {
            block.insert_disks(&disks);
            for rank in block.ranks() {
                block.start(rank, program);
            }
        };
        let report = |(number, block): (u32, Block)| block.report(number);
        engine.run_thread(thread, make, |blocks| {
            blocks.into_iter().map(report).collect()
        })
    }

    /// The report of all blocks, in the order of their ranks.
    fn report(&self, mut reports: Vec<BlockReport>) -> Result<Report, RunError> {
        reports.sort_by_key(|(number, ..)| *number);
        let windows = Windows {
            ticks: self.layout.window.0,
            blocks: self.layout.blocks(),
        };
        let mut all = Report {
            windows,
            ..Report::default()
        };
        let mut waiting = Vec::new();
        let mut logs = Vec::new();
        for (_, report, waits, log) in reports {
            all.add(report);
            waiting.extend(waits);
            logs.extend(log.map(|log| *log));
        }
        if waiting.is_empty() {
            all.path = path::walk(&self.layout, &logs);
            return Ok(all);
        }
        let tasks = waiting.len();
        waiting.truncate(NAMED_TASKS);
        Err(RunError::Stuck(Stuck {
            waiting,
            tasks,
            seed: self.layout.setting.seed,
        }))
    }
}

/// The most ranks that [`Divisor`](crate::network::topology::Divisor) can divide.
const MOST_RANKS: u64 = (1 << 23) - 1;

/// Switches have numbers of 16 bits.
const MOST_SWITCHES: u32 = u16::MAX as u32 - 1;

/// Checks that the switches can carry multicasts this way.
fn check_multicast(profile: &Profile, multicast: Multicast) -> Result<(), SetupError> {
    let has_spines = profile.graph.is_none() && profile.network.layers == 2;
    if multicast.is_per_member() && !has_spines {
        return Err(SetupError(format!(
            "a copy of a multicast for each member is made in a network of two layers, which {} is \
             not: leave --multicast out, or use on or off",
            profile.name
        )));
    }
    Ok(())
}

/// Checks that the machine has this many ranks, and that the simulator can number its parts.
fn check(profile: &Profile, ranks: u32) -> Result<(), SetupError> {
    let most = profile.most_ranks().min(MOST_RANKS);
    if ranks == 0 {
        return Err(SetupError("a machine has at least one core".to_owned()));
    }
    if u64::from(ranks) > most {
        return Err(SetupError(format!(
            "{ranks} cores do not fit: the topology of {} holds {most}",
            profile.name
        )));
    }
    let switches = Topology::switches(profile, ranks);
    if switches > MOST_SWITCHES {
        return Err(SetupError(format!(
            "{ranks} cores of {} need {switches} switches: the simulator numbers {MOST_SWITCHES}",
            profile.name
        )));
    }
    Ok(())
}
