//! A block: a leaf with its NICs and cores, or a switch above; run in the order of time.
//!
//! ```text
//!   each window:  the switch works through what arrives        (switch.rs)
//!                 each NIC with its cores runs the window through:
//!                   packets arrive | the NIC sends | a task goes on
//!                   what waits at its port leaves               (port.rs)
//! ```
//!
//! NICs meet in switches alone, a link and a switch's latency later. So one NIC after the other
//! goes through the whole window with its cores, and stays in the first cache as long.
//!
//! A block runs a window at a time. Nothing that another block does in a window reaches it before
//! the window's end, so blocks run in any order or at once, each with its own state in the cache.

use std::cell::RefCell;
use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Waker};

use node::Node;
use node::backend::{Contents, Letter, ticket};

use crate::cores::backend::TaskBackend;
use crate::cores::task::Task;
use crate::engine::bulk::Parcel;
use crate::engine::inner::{Inner, Outside, Shared};
use crate::engine::medium::{Bench, Fabric};
use crate::network::bins::Bins;
use crate::report::Report;
use crate::timeline::Desk;

type Running = Pin<Box<dyn Future<Output = ()>>>;

pub struct Block {
    pub shared: Rc<Shared>,
    running: Vec<Option<Running>>,
    /// Messages received that were told already.
    told: u64,
}

impl Block {
    pub fn new(fabric: &Arc<Fabric>, block: u32, desk: &Arc<Desk>) -> Block {
        let shared = Shared {
            fabric: Arc::clone(fabric),
            desk: Arc::clone(desk),
            inner: RefCell::new(Inner::new(fabric, block)),
        };
        Block {
            shared: Rc::new(shared),
            running: Vec::new(),
            told: 0,
        }
    }

    /// Messages received since this was asked last.
    pub fn received_since(&mut self) -> u64 {
        let received = self.shared.inner.borrow().medium.counts.received;
        received - std::mem::replace(&mut self.told, received)
    }

    /// What the block counted, and which of its tasks still wait.
    pub fn report(self, number: u32) -> (u32, Report, Vec<String>) {
        let ranks = self.ranks().len();
        // Futures hold the state through their nodes.
        drop(self.running);
        let shared = Rc::into_inner(self.shared).expect("no task is left");
        let inner = shared.inner.into_inner();
        let waiting = inner.waiting();
        (number, inner.report(ranks), waiting)
    }

    /// The ranks of this block.
    pub fn ranks(&self) -> std::ops::Range<u32> {
        let inner = self.shared.inner.borrow();
        let until = inner.first_rank + inner.ranks.len() as u32;
        inner.first_rank..until.min(self.shared.fabric.setting.ranks)
    }

    /// Gives a rank its program.
    pub fn start<Task_>(&mut self, rank: u32, program: impl FnOnce(Node) -> Task_)
    where
        Task_: Future<Output = ()> + 'static,
    {
        let local = rank - self.shared.inner.borrow().first_rank;
        let task = self.add(Task::new(local, None, 0));
        let future = program(self.node(task, local, 0));
        self.running[task as usize] = Some(Box::pin(future));
        self.shared.inner.borrow_mut().go_to(local);
        self.wake(task);
    }

    fn add(&mut self, task: Task) -> u32 {
        let number = self.shared.inner.borrow_mut().add_task(task);
        self.running.resize_with(number as usize + 1, || None);
        number
    }

    fn node(&self, task: u32, local: u32, stream: u64) -> Node {
        Node::new(Box::new(TaskBackend::new(
            &self.shared,
            task,
            local,
            stream,
        )))
    }

    fn wake(&self, task: u32) {
        let inner = &mut *self.shared.inner.borrow_mut();
        let clock = inner.tasks[task as usize].clock;
        inner.tasks[task as usize]
            .waiter(task)
            .resume(clock, &mut inner.medium);
    }

    /// Takes the bench, or gives it back.
    pub fn swap_bench(&mut self, bench: &mut Bench) {
        let medium = &mut self.shared.inner.borrow_mut().medium;
        std::mem::swap(&mut medium.bench, bench);
        medium.is_at_work = !medium.is_at_work;
    }

    /// Adds what another block sent.
    pub fn take_in(&mut self, packets: &mut Bins) {
        packets.move_to(&mut self.shared.inner.borrow_mut().medium.incoming);
    }

    /// Adds a parcel that another block, or this one, sent.
    pub fn take_parcel(&mut self, time: u64, parcel: Parcel) {
        self.shared.inner.borrow_mut().expect(time, parcel);
    }

    /// Runs all that happens in a window.
    pub fn run(&mut self, window: Range<u64>) {
        let nics = {
            let inner = &mut *self.shared.inner.borrow_mut();
            inner.run_switches(window.clone());
            inner.medium.wake.len()
        };
        for nic in 0..nics {
            if self.shared.inner.borrow().medium.wake[nic] < window.end {
                self.run_nic(nic, window.end);
            }
        }
    }

    fn run_nic(&mut self, nic: usize, until: u64) {
        let mut inner = self.shared.inner.borrow_mut();
        loop {
            match inner.run_nic(nic, until) {
                Outside::Nothing => {}
                Outside::Over => return,
                outside => {
                    self.shared.desk.set_now(inner.medium.now);
                    drop(inner);
                    self.go_outside(outside);
                    inner = self.shared.inner.borrow_mut();
                }
            }
        }
    }

    fn go_outside(&mut self, outside: Outside) {
        match outside {
            Outside::Nothing | Outside::Over => return,
            Outside::Resume { task, turn, core } => self.resume(task, turn, core),
            Outside::Call(call) => call(),
            Outside::Parcel(parcel) => self.open(parcel),
        }
        self.settle();
    }

    /// Lets a task go on, if it waits in that turn and finds a core.
    fn resume(&mut self, number: u32, turn: u32, given: Option<usize>) {
        let core = {
            let inner = &mut *self.shared.inner.borrow_mut();
            if inner.tasks[number as usize].turn != turn || self.running[number as usize].is_none()
            {
                return;
            }
            let now = inner.medium.now;
            let Some(core) = inner.core_for(number, given, now) else {
                return;
            };
            inner.tasks[number as usize].go_on(now);
            core
        };
        let running = self.running[number as usize].as_mut().expect("it runs");
        let ended = running
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_ready();
        if ended {
            self.running[number as usize] = None;
        }
        let inner = &mut *self.shared.inner.borrow_mut();
        if ended {
            inner.end_task(number);
        }
        inner.leave_core(number, core);
    }

    /// Starts what was spawned, and wakes whom signals woke.
    fn settle(&mut self) {
        loop {
            let started = self.shared.inner.borrow_mut().starts.pop();
            let Some((task, start)) = started else { break };
            let local = self.shared.inner.borrow().tasks[task as usize].rank;
            let future = start(self.node(task, local, u64::from(task) + 1));
            self.running
                .resize_with(self.running.len().max(task as usize + 1), || None);
            self.running[task as usize] = Some(future);
            self.wake(task);
        }
        if self.shared.desk.is_filled() {
            self.shared.inner.borrow_mut().clear_desk(&self.shared.desk);
        }
    }

    /// A parcel has arrived.
    fn open(&mut self, parcel: Parcel) {
        match parcel {
            Parcel::Return { number, buffer, .. } => {
                let done = self.shared.inner.borrow_mut().bulk.end(number);
                done.complete(buffer);
            }
            Parcel::Shipment {
                to,
                from,
                number,
                buffer,
            } => {
                let local = to.rank.0 - self.shared.inner.borrow().first_rank;
                let now = self.shared.inner.borrow().medium.now;
                // A task without work of its own gives the buffer back when the receiver has copied
                // it.
                let porter = self.add(Task::new(local, Some("porter".into()), now));
                let node = self.node(porter, local, u64::from(porter) + 1);
                let (lent, done) = ticket(&node, "a receiver's buffer");
                let back = TaskBackend::new(&self.shared, porter, local, 0);
                self.running[porter as usize] = Some(Box::pin(async move {
                    let buffer = lent.wait(&node).await;
                    back.give_back(from, number, buffer);
                }));
                self.wake(porter);
                let inbox = {
                    let inner = &mut *self.shared.inner.borrow_mut();
                    inner.inbox(&self.shared.desk, to.rank.0, to.port.0)
                };
                let contents = Contents::Here { buffer, done };
                inbox.deliver(Letter::Shipment { from, contents });
            }
        }
    }
}
