//! The backend of a task on the driver. Its clock is never behind the driver's.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::task::Poll;

use node::backend::{Backend, Disks, Letter, PortInbox, Signal, Start};
use node::{Address, Buffer, Costs, Filled, Port, Random, Rank, Time, Work};

use crate::driver::letters;
use crate::driver::world::{Action, DriverSignal, TICK_FS, TaskId, Wake, World};
use disk::Call;

pub(crate) struct TaskBackend {
    world: Arc<World>,
    disks: Arc<dyn Disks>,
    task: TaskId,
    rank: Rank,
    nodes: u32,
    costs: Costs,
    clock: Cell<Time>,
    /// Whether the time up to the clock is the task's own on a core.
    has_core: Cell<bool>,
    yielded: Cell<bool>,
    random: RefCell<Random>,
}

/// The node and run of a task.
pub(crate) struct TaskContext {
    pub rank: Rank,
    pub nodes: u32,
    pub seed: u64,
    pub costs: Costs,
}

impl TaskBackend {
    pub(crate) fn new(
        world: &Arc<World>,
        disks: Arc<dyn Disks>,
        task: TaskId,
        context: &TaskContext,
    ) -> Self {
        let stream = (u64::from(context.rank.0) << 32) | task as u64;
        TaskBackend {
            world: Arc::clone(world),
            disks,
            task,
            rank: context.rank,
            nodes: context.nodes,
            costs: context.costs,
            clock: Cell::new(world.now()),
            has_core: Cell::new(false),
            yielded: Cell::new(false),
            random: RefCell::new(Random::stream(context.seed, stream)),
        }
    }

    fn wake(&self) -> Wake {
        Wake {
            task: self.task,
            turn: self.world.turn(self.task),
        }
    }

    fn catch_up(&self) {
        self.clock.set(self.clock.get().max(self.world.now()));
    }
}

impl Backend for TaskBackend {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn nodes(&self) -> u32 {
        self.nodes
    }

    fn tick_fs(&self) -> u64 {
        TICK_FS
    }

    fn now(&self) -> Time {
        self.clock.get()
    }

    fn work(&self, work: Work) {
        let ticks = self.costs.ticks(work) + self.world.processors.ticks(self.rank.0, work);
        self.clock.set(self.clock.get().after(ticks));
    }

    fn poll_reach(&self) -> Poll<()> {
        let now = self.world.now();
        if self.clock.get() > now {
            if !self.has_core.replace(true) {
                let ticks = self.clock.get().since(now);
                let end = self.world.processors.run(self.rank.0, now, ticks);
                self.clock.set(end);
            }
            self.world.waits_for(self.task, "its own work to end");
            self.world
                .schedule(self.clock.get(), Action::Wake(self.wake()));
            return Poll::Pending;
        }
        self.has_core.set(false);
        self.catch_up();
        if !self.yielded.replace(false) && self.world.flips_to_yield() {
            self.yielded.set(true);
            self.world.make_ready(self.task);
            return Poll::Pending;
        }
        Poll::Ready(())
    }

    fn signal(&self, label: &'static str) -> Arc<dyn Signal> {
        self.world.signal(label)
    }

    fn poll_past(
        &self,
        signal: &Arc<dyn Signal>,
        epoch: u64,
        deadline: Option<Time>,
    ) -> Poll<bool> {
        self.catch_up();
        if signal.epoch() > epoch {
            return Poll::Ready(true);
        }
        if deadline.is_some_and(|deadline| deadline <= self.clock.get()) {
            return Poll::Ready(false);
        }
        let any: &dyn Any = &**signal;
        let ours = any
            .downcast_ref::<DriverSignal>()
            .expect("a signal of this driver");
        self.world.waits_for(self.task, ours.label);
        ours.subscribe(self.wake());
        if let Some(deadline) = deadline {
            self.world.schedule(deadline, Action::Wake(self.wake()));
        }
        Poll::Pending
    }

    fn random(&self) -> u64 {
        self.random.borrow_mut().next_u64()
    }

    fn spawn(&self, name: String, start: Start) -> std::io::Result<()> {
        self.world.add_task(name, self.rank.0, start);
        Ok(())
    }

    fn inbox(&self, port: Port) -> Arc<PortInbox> {
        self.world.inbox(Address {
            rank: self.rank,
            port,
        })
    }

    fn post(&self, to: Address, letter: Letter) {
        assert!(to.rank.0 < self.nodes, "there is no node {}", to.rank);
        let leave: Call = if to.rank == self.rank || !self.world.links.are_used() {
            let inbox = self.world.inbox(to);
            Box::new(move || inbox.deliver(letter))
        } else {
            let (world, from) = (Arc::clone(&self.world), self.rank);
            Box::new(move || letters::send_letter(&world, from, to, letter))
        };
        self.world.schedule(self.clock.get(), Action::Call(leave));
    }

    fn buffers(&self, count: usize, bytes: usize, _: Filled) -> std::io::Result<Vec<Buffer>> {
        Ok((0..count).map(|_| Buffer::heap(bytes)).collect())
    }

    fn disks(&self) -> Arc<dyn Disks> {
        Arc::clone(&self.disks)
    }
}
