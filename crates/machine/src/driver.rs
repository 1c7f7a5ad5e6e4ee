//! The event loop: resumes tasks, one at a time, as the seed has it.

mod links;
mod strike;
mod task;
pub(crate) mod world;

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Waker};

use node::{Address, Costs, Message, Node, Port, Random, Rank, Time};

use crate::disk::{DiskModel, MemoryDisks};
use crate::driver::strike::StrikePlan;
use crate::driver::task::{Place, TaskBackend};
use crate::driver::world::{Action, Step, TaskId, World};
use crate::report::Stuck;
use crate::schedule::Timeline;

pub use crate::driver::links::{Back, Cut, Passage};
pub use crate::driver::strike::Strike;

/// A run of a program on simulated nodes.
pub struct Driver {
    world: Arc<World>,
    seed: u64,
    costs: Costs,
    disks: Vec<Arc<MemoryDisks>>,
    shares_disks: bool,
    strikes: StrikePlan,
    deadline: Mutex<Option<Time>>,
}

type Running = Pin<Box<dyn Future<Output = ()>>>;

impl Driver {
    /// A driver of `nodes` nodes whose schedule `seed` decides; work and disks cost no time.
    pub fn new(seed: u64, nodes: u32) -> Driver {
        Driver::with(seed, nodes, Costs::default(), DiskModel::default())
    }

    /// As [`Driver::new`], with costs of work and of disks.
    pub fn with(seed: u64, nodes: u32, costs: Costs, model: DiskModel) -> Driver {
        let world = Arc::new(World::new(seed));
        let timeline: Arc<dyn Timeline> = Arc::clone(&world) as Arc<dyn Timeline>;
        let disks = (0..nodes)
            .map(|_| Arc::new(MemoryDisks::new(&timeline, model)))
            .collect();
        let strikes = StrikePlan::default();
        let shares_disks = false;
        Driver {
            world,
            seed,
            costs,
            disks,
            shares_disks,
            strikes,
            deadline: Mutex::default(),
        }
    }

    /// Lets all nodes see the disks of node 0, as a file system that they share. It outlives nodes:
    /// the files of a dead node remain.
    #[must_use]
    pub fn sharing_disks(mut self) -> Driver {
        let first = Arc::clone(&self.disks[0]);
        self.disks.fill(first);
        Driver {
            shares_disks: true,
            ..self
        }
    }

    /// The disks of a node: to put files there and to look at them, before and after the run.
    pub fn disks(&self, rank: u32) -> &Arc<MemoryDisks> {
        &self.disks[rank as usize]
    }

    /// The virtual time, after a run: how long it took.
    pub fn now(&self) -> Time {
        self.world.now()
    }

    /// Lets a node die after the `nth` event of the next run (the first is 1), if there are so
    /// many: its tasks stop where they are, and its disks hold what a crash leaves (see
    /// [`Durability`](crate::Durability)). In the next run it is alive again.
    pub fn kill(&self, rank: u32, nth: u64) {
        self.strikes.after(nth, Strike::Death(rank));
    }

    /// Cuts links after the `nth` event of the next run; in the run after that they are whole.
    pub fn cut(&self, cut: Cut, nth: u64) {
        self.world.links.use_them();
        self.strikes.after(nth, Strike::Cut(cut));
    }

    /// Lets messages between nodes arrive late from now on, by up to `most` ticks, which the seed
    /// draws.
    pub fn delay(&self, most: u64) {
        self.world.links.set_delay(most);
    }

    /// Lets a rule say of each small message to another node how it goes, from now on.
    pub fn carry(&self, rule: impl FnMut(Address, &Message) -> Passage + Send + 'static) {
        self.world.links.set_rule(Box::new(rule));
    }

    /// Lets buffers that were shipped to other nodes come back so, from now on.
    pub fn give_back(&self, back: Back) {
        self.world.links.set_back(back);
    }

    /// The most shipments of one node that waited at a time for another one to take them, at this
    /// port; as far as anything was asked of links.
    pub fn most_waiting(&self, port: Port) -> usize {
        self.world.links.most_waiting(port)
    }

    /// A run that goes on at that time is stuck: tasks that wait until deadlines, again and again,
    /// would go on for ever.
    pub fn end_by(&self, deadline: Time) {
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner) = Some(deadline);
    }

    /// Deaths and cuts of the last run, each with its time.
    pub fn struck(&self) -> Vec<(Time, Strike)> {
        self.strikes.struck()
    }

    /// How many events the last run had: starts and turns of tasks, and what comes to pass between
    /// them.
    pub fn events(&self) -> u64 {
        self.strikes.events()
    }

    /// How many nodes have died.
    pub fn deaths(&self) -> u64 {
        self.strikes.deaths()
    }

    /// Runs `program` on every node to its end; the answers in the order of ranks. A node that dies
    /// before its program has ended gives none.
    ///
    /// # Errors
    /// When tasks wait for events that never come.
    pub fn run<T, P, Task>(&self, program: P) -> Result<Vec<T>, Stuck>
    where
        T: Send + 'static,
        P: Fn(Node) -> Task + Clone + Send + 'static,
        Task: Future<Output = T> + 'static,
    {
        self.world.begin();
        let answers = Arc::new(Mutex::new(BTreeMap::new()));
        for rank in 0..self.disks.len() as u32 {
            let (program, answers) = (program.clone(), Arc::clone(&answers));
            let start = move |node: Node| -> Running {
                Box::pin(async move {
                    let answer = program(node).await;
                    answers
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .insert(rank, answer);
                })
            };
            self.world
                .add_task(format!("node {rank}"), rank, Box::new(start));
        }
        self.strikes.begin();
        let quiet = self.turn_until_quiet();
        self.strikes.end();
        self.world.begin();
        quiet?;
        let answers = std::mem::take(&mut *answers.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(answers.into_values().collect())
    }

    fn turn_until_quiet(&self) -> Result<(), Stuck> {
        let mut running: BTreeMap<TaskId, Running> = BTreeMap::new();
        let mut context = Context::from_waker(Waker::noop());
        let deadline = *self.deadline.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match self.world.step() {
                Step::Start(task, rank, start) => {
                    running.insert(task, start(self.node(task, rank)));
                    self.world.make_ready(task);
                }
                Step::Resume(task) => {
                    let future = running.get_mut(&task).expect("a ready task runs");
                    if future.as_mut().poll(&mut context).is_ready() {
                        running.remove(&task);
                        self.world.end_task(task);
                    }
                }
                Step::Act(Action::Wake(wake)) => self.world.wake(wake),
                Step::Act(Action::Call(call)) => call(),
                Step::Nothing if running.is_empty() => return Ok(()),
                Step::Nothing => return Err(self.stuck()),
            }
            for strike in self.strikes.next(|| self.world.now()) {
                match strike {
                    Strike::Death(rank) => {
                        for task in self.world.kill(rank) {
                            running.remove(&task);
                        }
                        let draw = Random::stream(self.seed, self.strikes.events()).next_u64();
                        if !self.shares_disks {
                            self.disks(rank).crash(draw);
                        }
                    }
                    Strike::Cut(cut) => self.world.links.cut(cut, self.world.now()),
                }
            }
            if deadline.is_some_and(|deadline| self.world.now() > deadline) && !running.is_empty() {
                return Err(self.stuck());
            }
        }
    }

    fn stuck(&self) -> Stuck {
        let waiting = self.world.waiting();
        Stuck {
            tasks: waiting.len(),
            waiting,
            seed: self.seed,
        }
    }

    fn node(&self, task: TaskId, rank: u32) -> Node {
        let place = Place {
            rank: Rank(rank),
            nodes: self.disks.len() as u32,
            seed: self.seed,
            costs: self.costs,
        };
        let disks = Arc::clone(&self.disks[rank as usize]);
        Node::new(Box::new(TaskBackend::new(&self.world, disks, task, &place)))
    }
}
