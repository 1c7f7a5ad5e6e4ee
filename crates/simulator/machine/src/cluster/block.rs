//! A block: a leaf with its NICs and cores, or a higher switch; simulated in order of time.
//!
//! ```text
//!   each window:  the switch handles its arrivals              (switch.rs)
//!                 each NIC with its cores simulates the window:
//!                   packets arrive | the NIC sends | a task resumes
//!                   waiting packets leave its port             (nic/egress.rs)
//! ```
//!
//! NICs affect each other only through switches, a link and a switch's latency later. So each NIC
//! with its cores simulates the whole window by itself, and stays in the first-level cache.
//!
//! Likewise nothing that a block does in a window reaches another block before the window's end, so
//! blocks run in any order or in parallel.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Waker};

use node::backend::{Contents, Letter, ticket};
use node::{Address, Buffer, Node, Rank};

use crate::cluster::backend::TaskBackend;
use crate::cluster::bulk::Parcel;
use crate::cluster::state::{BlockState, Shared, Upcall};
use crate::cores::task::Task;
use crate::log::BlockLog;
use crate::network::fabric::Scratch;
use crate::network::layout::Layout;
use crate::network::store::bins::Bins;
use crate::report::Report;
use crate::schedule::{Mailbox, Ticks};
use disk::MemoryDisks;

/// The future of a task.
pub type Running = Pin<Box<dyn Future<Output = ()>>>;

/// The report of a block: its number, its part of the run's report, its waiting tasks, and its notes
/// for the critical path.
pub type BlockReport = (u32, Report, Vec<String>, Option<Box<BlockLog>>);

pub struct Block {
    pub shared: Rc<Shared>,
    running: Vec<Option<Running>>,
    /// Received messages that were reported.
    reported: u64,
}

impl Block {
    pub fn new(layout: &Arc<Layout>, block: u32, mailbox: &Arc<Mailbox>) -> Block {
        let shared = Shared {
            layout: Arc::clone(layout),
            mailbox: Arc::clone(mailbox),
            state: RefCell::new(BlockState::new(layout, block)),
        };
        Block {
            shared: Rc::new(shared),
            running: Vec::new(),
            reported: 0,
        }
    }

    /// Messages received since the last call.
    pub fn received_since(&mut self) -> u64 {
        let received = self.shared.state.borrow().fabric.counts.received;
        received - std::mem::replace(&mut self.reported, received)
    }

    /// The number and report of the block, its waiting tasks, and its notes for the critical path.
    pub fn report(self, number: u32) -> BlockReport {
        let ranks = self.ranks().len();
        // Futures hold the state through their nodes.
        drop(self.running);
        let shared = Rc::into_inner(self.shared).expect("no task is left");
        let mut state = shared.state.into_inner();
        let (waiting, log) = (state.waiting(), state.fabric.log.take());
        (number, state.report(ranks), waiting, log)
    }

    pub fn ranks(&self) -> Range<u32> {
        let state = self.shared.state.borrow();
        let until = state.first_rank + state.ranks.len() as u32;
        state.first_rank..until.min(self.shared.layout.setting.ranks)
    }

    /// Gives the block's ranks their disks.
    pub fn insert_disks(&self, all: &BTreeMap<u32, Arc<MemoryDisks>>) {
        for (rank, own) in all.range(self.ranks()) {
            let disks = Arc::clone(own) as _;
            self.shared.state.borrow_mut().disks.insert(*rank, disks);
        }
    }

    /// Starts the program of a rank.
    pub fn start(&mut self, rank: u32, program: &dyn Fn(u32, Node) -> Running) {
        let local = rank - self.shared.state.borrow().first_rank;
        let task = self.add(Task::new(local, None, Ticks(0)));
        let future = program(rank, self.node(task, local, 0));
        self.running[task as usize] = Some(future);
        self.shared.state.borrow_mut().select_nic(local);
        self.wake(task);
    }

    fn add(&mut self, task: Task) -> u32 {
        let number = self.shared.state.borrow_mut().add_task(task);
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
        let state = &mut *self.shared.state.borrow_mut();
        let clock = state.tasks[task as usize].clock;
        let waiter = state.tasks[task as usize].waiter(task);
        state.fabric.scheduler.resume(waiter, clock);
    }

    /// Takes the scratch memory, or returns it.
    pub fn swap_scratch(&mut self, scratch: &mut Scratch) {
        let fabric = &mut self.shared.state.borrow_mut().fabric;
        std::mem::swap(&mut fabric.scratch, scratch);
        fabric.has_scratch = !fabric.has_scratch;
    }

    /// Adds packets for a switch.
    pub fn take_in(&mut self, switch: usize, packets: &mut Bins) {
        let fabric = &mut self.shared.state.borrow_mut().fabric;
        fabric.inputs[switch].packets.append(packets);
    }

    /// Adds a parcel of any block.
    pub fn take_parcel(&mut self, time: Ticks, parcel: Parcel) {
        self.shared.state.borrow_mut().expect(time, parcel);
    }

    /// Simulates a window.
    pub fn run(&mut self, window: Range<Ticks>) {
        let mut next = {
            let state = &mut *self.shared.state.borrow_mut();
            state.run_switches(window.clone());
            state.next_nic(0, window.end)
        };
        // No NIC wakes another in a window, so the next one is known before this one runs.
        while let Some(nic) = next {
            next = self.shared.state.borrow().next_nic(nic + 1, window.end);
            self.run_nic(nic, window.end);
        }
    }

    fn run_nic(&mut self, nic: usize, until: Ticks) {
        let mut state = self.shared.state.borrow_mut();
        loop {
            match state.run_nic(nic, until) {
                Upcall::Nothing => {}
                Upcall::Over => return,
                upcall => {
                    self.shared.mailbox.set_now(state.fabric.scheduler.now);
                    drop(state);
                    self.handle(upcall);
                    state = self.shared.state.borrow_mut();
                }
            }
        }
    }

    fn handle(&mut self, upcall: Upcall) {
        match upcall {
            Upcall::Nothing | Upcall::Over => return,
            Upcall::Resume { task, turn, core } => self.resume(task, turn, core),
            Upcall::Call(call) => call(),
            Upcall::Parcel(parcel) => self.receive_parcel(parcel),
        }
        self.start_tasks();
    }

    /// Resumes a task, if it still waits in this turn and there is a free core.
    fn resume(&mut self, number: u32, turn: u32, given: Option<usize>) {
        let core = {
            let state = &mut *self.shared.state.borrow_mut();
            if state.tasks[number as usize].turn != turn || self.running[number as usize].is_none()
            {
                return;
            }
            let now = state.fabric.scheduler.now;
            let Some(core) = state.assign_core(number, given, now) else {
                return;
            };
            let task = &mut state.tasks[number as usize];
            let cause = task.waits.cause();
            state
                .fabric
                .note(|log| log.wait(number, task.clock, now, cause));
            task.resume(now);
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
        let state = &mut *self.shared.state.borrow_mut();
        if ended {
            state.end_task(number);
        }
        state.leave_core(number, core);
    }

    /// Starts spawned tasks, and wakes tasks whose signals have advanced.
    fn start_tasks(&mut self) {
        loop {
            let started = self.shared.state.borrow_mut().starts.pop();
            let Some((task, start)) = started else { break };
            let local = self.shared.state.borrow().tasks[task as usize].rank;
            let future = start(self.node(task, local, u64::from(task) + 1));
            self.running
                .resize_with(self.running.len().max(task as usize + 1), || None);
            self.running[task as usize] = Some(future);
            self.wake(task);
        }
        if self.shared.mailbox.is_filled() {
            self.shared
                .state
                .borrow_mut()
                .drain_mailbox(&self.shared.mailbox);
        }
    }

    fn receive_parcel(&mut self, parcel: Parcel) {
        match parcel {
            Parcel::Return { number, buffer, .. } => {
                let done = self.shared.state.borrow_mut().bulk.end(number);
                done.complete(buffer);
            }
            Parcel::Shipment {
                to,
                from,
                number,
                buffer,
            } => self.receive_shipment(to, from, number, buffer),
        }
    }

    /// Lends the buffer to the receiver. A task returns it to the sender when the receiver has
    /// copied it.
    fn receive_shipment(&mut self, to: Address, from: Rank, number: u32, buffer: Buffer) {
        let (local, now) = {
            let state = self.shared.state.borrow();
            (to.rank.0 - state.first_rank, state.fabric.scheduler.now)
        };
        let porter = self.add(Task::new(local, Some("porter".into()), now));
        let node = self.node(porter, local, u64::from(porter) + 1);
        let (lent, done) = ticket(&node, "a receiver's buffer");
        let backend = TaskBackend::new(&self.shared, porter, local, 0);
        self.running[porter as usize] = Some(Box::pin(async move {
            let buffer = lent.wait(&node).await;
            backend.give_back(from, number, buffer);
        }));
        self.wake(porter);
        let inbox = {
            let state = &mut *self.shared.state.borrow_mut();
            state.inbox(&self.shared.mailbox, to.rank.0, to.port.0)
        };
        let contents = Contents::Here { buffer, done };
        inbox.deliver(Letter::Shipment { from, contents });
    }
}
