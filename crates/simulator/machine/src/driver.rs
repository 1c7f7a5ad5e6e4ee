//! The deterministic driver: an event loop that resumes one task at a time, in an order that the
//! seed decides.

mod letters;
mod links;
mod processors;
mod shares;
mod strike;
mod task;
mod wires;
pub(crate) mod world;

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use node::{Address, Costs, Message, Mutex, Node, Port, Random, Rank, Time};

use crate::driver::strike::StrikePlan;
use crate::driver::task::{TaskBackend, TaskContext};
use crate::driver::world::{Action, Step, TaskId, World};
use crate::report::Stuck;
use disk::Timeline;
use disk::{DiskModel, MemoryDisks};

pub use crate::driver::links::{Back, Cut, Passage};
pub use crate::driver::processors::FirstTouch;
pub use crate::driver::strike::Strike;
pub use crate::driver::wires::{FlowWindow, Losses, NodeLink, SwitchPort};

/// Simulated nodes that run programs in virtual time.
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
    /// A driver of `nodes` nodes, on which work and disks take no time.
    pub fn new(seed: u64, nodes: u32) -> Driver {
        Driver::with(seed, nodes, Costs::default(), DiskModel::default())
    }

    /// A driver of `nodes` nodes, with costs of work and of disks.
    pub fn with(seed: u64, nodes: u32, costs: Costs, model: DiskModel) -> Driver {
        let world = Arc::new(World::new(seed));
        let timeline: Arc<dyn Timeline> = Arc::clone(&world) as Arc<dyn Timeline>;
        let disks = (0..nodes)
            .map(|_| Arc::new(MemoryDisks::new(&timeline, model)))
            .collect();
        Driver {
            world,
            seed,
            costs,
            disks,
            shares_disks: false,
            strikes: StrikePlan::default(),
            deadline: Mutex::default(),
        }
    }

    /// Gives all nodes the disks of node 0, as a shared file system, which a dying node does not
    /// affect.
    #[must_use]
    pub fn sharing_disks(mut self) -> Driver {
        let first = Arc::clone(&self.disks[0]);
        for (rank, disks) in (0..).zip(&mut self.disks) {
            *disks = Arc::new(first.at(rank));
        }
        Driver {
            shares_disks: true,
            ..self
        }
    }

    /// The disks of a node, to write and read files before and after a run.
    pub fn disks(&self, rank: u32) -> &Arc<MemoryDisks> {
        &self.disks[rank as usize]
    }

    /// The virtual time, which runs advance.
    pub fn now(&self) -> Time {
        self.world.now()
    }

    /// Kills a node after the `nth` event of the next run (the first is 1), if it has that many.
    /// Its tasks stop where they are, and its disks crash (see [`Durability`](crate::Durability)).
    /// It is alive again in the run after that.
    pub fn kill(&self, rank: u32, nth: u64) {
        self.strikes.after(nth, Strike::Death(rank));
    }

    /// Cuts links after the `nth` event of the next run; they are repaired in the run after that.
    pub fn cut(&self, cut: Cut, nth: u64) {
        self.world.links.use_them();
        self.strikes.after(nth, Strike::Cut(cut));
    }

    /// Delays messages between nodes from now on, by a random time of up to `most` ticks.
    pub fn delay(&self, most: u64) {
        self.world.links.set_delay(most);
    }

    /// Lets a task go on until it waits, from now on. Otherwise it yields by chance, which shows more
    /// schedules, and takes longer.
    pub fn go_on(&self) {
        self.world.go_on();
    }

    /// Lets the tasks of each node queue for that many cores while they work, from now on. Without a limit
    /// each task has a core of its own.
    pub fn limit_cores(&self, cores: usize) {
        self.world.processors.limit(cores);
    }

    /// Lets the bytes of messages take time on the links of their nodes, from now on. The messages from a node to
    /// another are a flow while some are under way; flows share the links max-min fairly.
    pub fn limit_links(&self, model: NodeLink) {
        self.world.links.limit(model);
    }

    /// Lets the bytes of a node's messages pass a bus of its disks, too, when they have left and when they come.
    pub fn pass_bus(&self, rank: u32, bus: usize) {
        self.world
            .links
            .pass_bus(rank, Arc::clone(self.disks(rank)), bus);
    }

    /// The windows that were lost in the last run.
    pub fn losses(&self) -> Losses {
        self.world.links.losses()
    }

    /// Charges stages for the bytes of their units from now on: thousandths of a nanosecond per byte, by the
    /// name of the stage. Costs of the parts of their work, if there are any, come on top.
    pub fn charge(&self, rates: &[(&'static str, u64)]) {
        self.world.processors.set_rates(rates);
    }

    /// Charges a stage for memory that it writes for the first time, from now on.
    pub fn charge_first_touch(&self, touch: FirstTouch) {
        self.world.processors.set_first_touch(touch);
    }

    /// Lets a rule decide the passage of each small message to another node, from now on.
    pub fn carry(&self, rule: impl FnMut(Address, &Message) -> Passage + Send + 'static) {
        self.world.links.set_rule(Box::new(rule));
    }

    /// Sets when the buffers of shipments to other nodes return, from now on.
    pub fn give_back(&self, back: Back) {
        self.world.links.set_back(back);
    }

    /// The most shipments of one node that waited at a time for another node to receive them at
    /// this port. Counted only once delays, cuts or rules are set.
    pub fn most_waiting(&self, port: Port) -> usize {
        self.world.links.most_waiting(port)
    }

    /// Ends a run as [`Stuck`] if it lasts beyond this time, as tasks that wait for one deadline
    /// after the other would.
    pub fn end_by(&self, deadline: Time) {
        *self.deadline.lock() = Some(deadline);
    }

    /// The deaths and cuts of the last run, with their times.
    pub fn struck(&self) -> Vec<(Time, Strike)> {
        self.strikes.struck()
    }

    /// Number of events of the last run: starts and turns of tasks, arrivals, and calls of disks.
    pub fn events(&self) -> u64 {
        self.strikes.events()
    }

    /// Number of nodes that have died in all runs.
    pub fn deaths(&self) -> u64 {
        self.strikes.deaths()
    }

    /// Runs `program` on every node to its end; returns the answers in order of ranks. A node that
    /// dies first has no answer.
    ///
    /// # Errors
    /// If tasks wait for ever, or beyond the deadline.
    pub fn run<T, P, Task>(&self, program: P) -> Result<Vec<T>, Stuck>
    where
        T: Send + 'static,
        P: Fn(Node) -> Task + Clone + Send + 'static,
        Task: Future<Output = T> + 'static,
    {
        self.world.begin();
        self.world.links.begin();
        let answers = Arc::new(Mutex::new(BTreeMap::new()));
        for rank in 0..self.disks.len() as u32 {
            let (program, answers) = (program.clone(), Arc::clone(&answers));
            let start = move |node: Node| -> Running {
                Box::pin(async move {
                    let answer = program(node).await;
                    answers.lock().insert(rank, answer);
                })
            };
            self.world
                .add_task(format!("node {rank}"), rank, Box::new(start));
        }
        self.strikes.begin();
        let ended = self.run_events();
        self.strikes.end();
        self.world.begin();
        ended?;
        let answers = std::mem::take(&mut *answers.lock());
        Ok(answers.into_values().collect())
    }

    fn run_events(&self) -> Result<(), Stuck> {
        let mut running = BTreeMap::new();
        let deadline = *self.deadline.lock();
        while self.run_event(&mut running)? {
            for strike in self.strikes.next(|| self.world.now()) {
                self.strike(strike, &mut running);
            }
            if deadline.is_some_and(|deadline| self.world.now() > deadline) && !running.is_empty() {
                return Err(self.stuck());
            }
        }
        Ok(())
    }

    /// Runs the next event; false at the end of the run.
    fn run_event(&self, running: &mut BTreeMap<TaskId, Running>) -> Result<bool, Stuck> {
        match self.world.step() {
            Step::Start(task, rank, start) => {
                running.insert(task, start(self.node(task, rank)));
                self.world.make_ready(task);
            }
            Step::Resume(task) => {
                let future = running.get_mut(&task).expect("a ready task runs");
                let mut context = Context::from_waker(Waker::noop());
                if future.as_mut().poll(&mut context).is_ready() {
                    running.remove(&task);
                    self.world.end_task(task);
                }
            }
            Step::Act(Action::Wake(wake)) => self.world.wake(wake),
            Step::Act(Action::Call(call)) => call(),
            Step::Act(Action::Alarm) => links::pass(&self.world),
            Step::Nothing if running.is_empty() => return Ok(false),
            Step::Nothing => return Err(self.stuck()),
        }
        Ok(true)
    }

    fn strike(&self, strike: Strike, running: &mut BTreeMap<TaskId, Running>) {
        match strike {
            Strike::Cut(cut) => self.world.links.cut(cut, self.world.now()),
            Strike::Death(rank) => {
                for task in self.world.kill(rank) {
                    running.remove(&task);
                }
                let draw = Random::stream(self.seed, self.strikes.events()).next_u64();
                if !self.shares_disks {
                    self.disks(rank).crash(draw);
                }
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
        let context = TaskContext {
            rank: Rank(rank),
            nodes: self.disks.len() as u32,
            seed: self.seed,
            costs: self.costs,
        };
        let disks = Arc::clone(&self.disks[rank as usize]);
        Node::new(Box::new(TaskBackend::new(
            &self.world,
            disks,
            task,
            &context,
        )))
    }
}
