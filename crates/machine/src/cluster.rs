//! A simulated cluster: programs on nanosecond cores, their NICs, and the network between them.

mod backend;
mod block;
mod bulk;
mod engine;
mod exchange;
mod state;

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use node::Node;

use crate::disk::{DiskModel, MemoryDisks};
use crate::network::layout::Layout;
use crate::network::topology::Topology;
use crate::profile::Profile;
use crate::report::{Report, RunError, Stuck, Watch, Windows};
use crate::schedule::{Mailbox, Timeline};
use crate::setting::{Setting, SetupError};

use block::Block;
use engine::Engine;

/// A machine that is ready to run programs.
pub struct Cluster {
    layout: Arc<Layout>,
    mailboxes: Vec<Arc<Mailbox>>,
    disks: Mutex<std::collections::BTreeMap<u32, Arc<MemoryDisks>>>,
    watch: Arc<Watch>,
}

/// The result of a run.
#[derive(Debug)]
pub struct Outcome<T> {
    /// The answers of the ranks' programs, in the order of ranks.
    pub answers: Vec<T>,
    /// The counts of the machine.
    pub report: Report,
}

/// The results of a thread: answers with their ranks, and the reports of its blocks with their
/// numbers.
type Ended<T> = (Vec<(u32, T)>, Vec<(u32, Report, Vec<String>)>);

/// How many of the waiting tasks an error names.
const NAMED_TASKS: usize = 10;

impl Cluster {
    /// A machine of this profile.
    ///
    /// # Errors
    /// When the topology does not hold the ranks.
    pub fn new(profile: Profile, setting: Setting) -> Result<Cluster, SetupError> {
        check(&profile, setting.ranks)?;
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

    /// For looking at a run while it goes on.
    pub fn watch(&self) -> Arc<Watch> {
        Arc::clone(&self.watch)
    }

    /// The disks of a rank: to put files there and to look at them, before and after a run.
    pub fn disks(&self, rank: u32) -> Arc<MemoryDisks> {
        let topology = &self.layout.topology;
        let block = self
            .layout
            .block_of(topology.leaf_of(topology.nic_of(rank)));
        let timeline: Arc<dyn Timeline> = Arc::clone(&self.mailboxes[block as usize]) as _;
        let mut disks = self.disks.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Arc::new(MemoryDisks::new(&timeline, DiskModel::default()));
        Arc::clone(disks.entry(rank).or_insert_with(new))
    }

    /// Runs `program` on every rank to its end.
    ///
    /// # Errors
    /// When tasks wait for what never comes, or one panics.
    pub fn run<T, P, Task>(&self, program: P) -> Result<Outcome<T>, RunError>
    where
        T: Send + 'static,
        P: Fn(Node) -> Task + Clone + Send + Sync + 'static,
        Task: Future<Output = T> + 'static,
    {
        let engine = Engine::new(&self.layout, &self.mailboxes, &self.watch);
        let run = |thread| self.run_thread(&engine, thread, &program);
        let ended: Vec<Ended<T>> = std::thread::scope(|scope| {
            let others: Vec<_> = (1..engine.threads())
                .map(|thread| scope.spawn(move || run(thread)))
                .collect();
            let mut ended = vec![run(0)];
            ended.extend(
                others
                    .into_iter()
                    .map(|other| other.join().expect("panics are caught")),
            );
            ended
        });
        if let Some(error) = engine.failure() {
            return Err(error);
        }
        self.gather(ended)
    }

    fn run_thread<T, P, Task>(&self, engine: &Engine, thread: usize, program: &P) -> Ended<T>
    where
        T: Send + 'static,
        P: Fn(Node) -> Task + Clone + Send + Sync + 'static,
        Task: Future<Output = T> + 'static,
    {
        let answers = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
        let given = self
            .disks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let make = |block: &mut Block| {
            for rank in block.ranks() {
                if let Some(disks) = given.get(&rank) {
                    let disks = Arc::clone(disks) as Arc<dyn node::backend::Disks>;
                    block.shared.state.borrow_mut().disks.insert(rank, disks);
                }
                let (program, answers) = (program.clone(), std::rc::Rc::clone(&answers));
                block.start(rank, move |node| async move {
                    let answer = program(node).await;
                    answers.borrow_mut().push((rank, answer));
                });
            }
        };
        let reports = engine.run_thread(thread, make, |blocks| {
            blocks
                .into_iter()
                .map(|(number, block)| block.report(number))
                .collect()
        });
        let answers = std::mem::take(&mut *answers.borrow_mut());
        (answers, reports)
    }

    fn gather<T>(&self, ended: Vec<Ended<T>>) -> Result<Outcome<T>, RunError> {
        let (mut answers, mut reports) = (Vec::new(), Vec::new());
        for (some, more) in ended {
            answers.extend(some);
            reports.extend(more);
        }
        reports.sort_by_key(|(number, ..)| *number);
        let windows = Windows {
            ticks: self.layout.window.0,
            blocks: self.layout.blocks(),
        };
        let mut report = Report {
            windows,
            ..Report::default()
        };
        let mut waiting = Vec::new();
        for (_, more, waits) in reports {
            report.add(more);
            waiting.extend(waits);
        }
        if !waiting.is_empty() {
            let tasks = waiting.len();
            waiting.truncate(NAMED_TASKS);
            return Err(RunError::Stuck(Stuck {
                waiting,
                tasks,
                seed: self.layout.setting.seed,
            }));
        }
        answers.sort_by_key(|(rank, _)| *rank);
        Ok(Outcome {
            answers: answers.into_iter().map(|(_, answer)| answer).collect(),
            report,
        })
    }
}

/// Ranks that the simulator can number: NICs and switches are found by multiplication.
const MOST_RANKS: u64 = (1 << 23) - 1;

/// Switches are numbered in 16 bits.
const MOST_SWITCHES: u32 = u16::MAX as u32 - 1;

/// Checks that the machine has that many ranks, and that the simulator can number its parts.
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
    let switches = Topology::new(profile, ranks).switches;
    if switches > MOST_SWITCHES {
        return Err(SetupError(format!(
            "{ranks} cores of {} need {switches} switches: the simulator numbers {MOST_SWITCHES}",
            profile.name
        )));
    }
    Ok(())
}
