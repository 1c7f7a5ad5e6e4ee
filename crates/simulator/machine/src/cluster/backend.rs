//! The backend of a task: every verb of a node, with its cost on this machine.
//!
//! A working task's clock runs ahead of its block's. Messages that it sends leave at its clock, by
//! an event. A message that has arrived can be received at once, since later arrivals do not change
//! which is the oldest.

mod messages;

use std::any::Any;
use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

use node::backend::{Backend, Contents, Disks, Letter, Outgoing, PortInbox, Signal, Start};
use node::{Address, Buffer, Filled, Message, Port, Random, Rank, Time, Work};

use crate::cluster::bulk::{self, Parcel};
use crate::cluster::state::{BlockState, Shared};
use crate::cores::task::{Task, Waits};
use crate::network::packet::Packet;
use crate::report::Sent;
use crate::schedule::{BlockSignal, Ticks};

pub struct TaskBackend {
    shared: Rc<Shared>,
    task: u32,
    /// Its rank's number in the block.
    local: u32,
    rank: Rank,
    random: RefCell<Random>,
}

impl TaskBackend {
    pub fn new(shared: &Rc<Shared>, task: u32, local: u32, stream: u64) -> TaskBackend {
        let rank = Rank(shared.state.borrow().first_rank + local);
        let random = Random::stream(shared.layout.setting.seed, u64::from(rank.0) | stream << 32);
        TaskBackend {
            shared: Rc::clone(shared),
            task,
            local,
            rank,
            random: RefCell::new(random),
        }
    }

    fn with<R>(&self, change: impl FnOnce(&mut BlockState) -> R) -> R {
        let state = &mut *self.shared.state.borrow_mut();
        // Packet ids belong to one slab, so a program must not use its node while it is dropped.
        assert!(
            state.fabric.has_scratch,
            "a node is used in its program's time only"
        );
        change(state)
    }

    /// Waits until the block reaches the task's clock.
    fn wait_for_clock(&self, state: &mut BlockState) {
        let task = &mut state.tasks[self.task as usize];
        task.waits = Waits::Clock;
        state
            .fabric
            .scheduler
            .resume(task.waiter(self.task), task.clock);
    }

    fn send_parcel(&self, state: &mut BlockState, at: Ticks, parcel: Parcel) {
        let bytes = match &parcel {
            Parcel::Shipment { buffer, .. } => buffer.len(),
            Parcel::Return { .. } => 0,
        };
        let time = at + bulk::ticks(&self.shared.layout, self.rank, parcel.to(), bytes);
        state.fabric.scheduler.last_resumed = state.fabric.scheduler.last_resumed.max(time);
        state.bulk.outbox.push((time, parcel));
        state.fabric.first_parcel = state.fabric.first_parcel.min(time);
    }

    /// Returns a lent buffer to its sender.
    pub fn give_back(&self, to: Rank, number: u32, buffer: Buffer) {
        self.with(|state| {
            let at = state.fabric.scheduler.now;
            self.send_parcel(state, at, Parcel::Return { to, number, buffer });
        });
    }
}

impl Backend for TaskBackend {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn nodes(&self) -> u32 {
        self.shared.layout.setting.ranks
    }

    fn tick_fs(&self) -> u64 {
        self.shared.layout.profile.tick_fs
    }

    fn now(&self) -> Time {
        self.with(|state| Time(state.tasks[self.task as usize].clock.0))
    }

    fn work(&self, work: Work) {
        let costs = &self.shared.layout.profile.work;
        let (ticks, lines) = (Ticks(costs.ticks(work)), costs.lines(work));
        self.with(|state| {
            let clock = &mut state.tasks[self.task as usize].clock;
            let begin = *clock;
            *clock += ticks;
            if lines == 0 {
                return;
            }
            let misses = &mut state.fabric.counts.misses;
            *misses = misses.saturating_add(lines);
            if state.caches.is_empty() {
                return;
            }
            let cache = self.shared.layout.topology.nic_of(self.local) as usize;
            let now = state.fabric.scheduler.now;
            let last = state.caches[cache].take(lines, begin, now);
            // The last line comes a miss after its turn begins.
            let miss = costs.ticks(Work::Load { bytes: 1 });
            *clock = Ticks(last.0.saturating_add(miss)).max(*clock);
        });
    }

    fn stage(&self, name: &'static str) {
        self.with(|state| {
            let BlockState {
                meter,
                tasks,
                fabric,
                ..
            } = state;
            let task = &mut tasks[self.task as usize];
            fabric.note(|log| log.stage(self.task, task.clock, name));
            meter.enter(task, Some(name));
        });
    }

    fn urgency(&self, level: u8) {
        self.with(|state| state.tasks[self.task as usize].priority = level);
    }

    fn poll_reach(&self) -> Poll<()> {
        self.with(|state| {
            if state.tasks[self.task as usize].clock > state.fabric.scheduler.now {
                self.wait_for_clock(state);
                return Poll::Pending;
            }
            Poll::Ready(())
        })
    }

    fn signal(&self, label: &'static str) -> Arc<dyn Signal> {
        self.shared.mailbox.signal(label)
    }

    fn poll_past(
        &self,
        signal: &Arc<dyn Signal>,
        epoch: u64,
        deadline: Option<Time>,
    ) -> Poll<bool> {
        if signal.epoch() > epoch {
            return Poll::Ready(true);
        }
        self.with(|state| {
            let task = &mut state.tasks[self.task as usize];
            if deadline.is_some_and(|deadline| deadline.0 <= task.clock.0) {
                return Poll::Ready(false);
            }
            let any: &dyn Any = &**signal;
            let ours = any
                .downcast_ref::<BlockSignal>()
                .expect("a signal of this machine");
            task.waits = Waits::Signal(ours.label);
            let waiter = task.waiter(self.task);
            ours.subscribe(waiter);
            if let Some(deadline) = deadline {
                state.fabric.scheduler.resume(waiter, Ticks(deadline.0));
            }
            Poll::Pending
        })
    }

    fn random(&self) -> u64 {
        self.random.borrow_mut().next_u64()
    }

    fn spawn(&self, name: String, start: Start) -> io::Result<()> {
        self.with(|state| {
            let clock = state.tasks[self.task as usize].clock;
            let task = state.add_task(Task::new(self.local, Some(name.into()), clock));
            state.starts.push((task, start));
        });
        Ok(())
    }

    fn ranks_per_nic(&self) -> u32 {
        self.shared.layout.topology.ranks_per_nic
    }

    fn multicasts(&self, words: usize) -> bool {
        // A multicast has one packet.
        let segment = self.shared.layout.profile.nic.segment_bytes as usize / 8;
        self.shared.layout.setting.multicast.is_on() && words <= segment
    }

    fn poll_send(&self, outgoing: &Outgoing<'_>) -> Poll<()> {
        self.with(|state| {
            let (kind, to, port, words) = messages::addressed(outgoing);
            let setting = &self.shared.layout.setting;
            assert!(to.0 < setting.ranks, "there is no node {to}");
            let count = words.len() as u32;
            if !self.has_room(state, count + 1) {
                return Poll::Pending;
            }
            let time = self.write(state, outgoing);
            let packet = Packet {
                port: port.0,
                words,
                ..Packet::new(kind, time, self.rank.0, to.0)
            };
            let slab = &mut state.fabric.scratch.slab;
            let id = slab.put(packet);
            let rank = &mut state.ranks[self.local as usize];
            rank.outgoing.push(id, slab);
            rank.sent += 1;
            state.fabric.counts.messages += 1;
            if setting.sends {
                state.sends.push(Sent {
                    time: time.0,
                    from: self.rank.0,
                    to: to.0,
                    words: count,
                });
            }
            let (nic, fabric) = state.nic(self.local);
            nic.accept(time, fabric);
            Poll::Ready(())
        })
    }

    fn bind(&self, port: Port) {
        self.with(|state| state.ranks[self.local as usize].bind(port.0));
    }

    fn poll_next(&self, port: Port, deadline: Option<Time>) -> Poll<Option<Message>> {
        self.with(|state| {
            let now = state.fabric.scheduler.now;
            let task = &mut state.tasks[self.task as usize];
            if std::mem::take(&mut task.holding) {
                let ticks = self.shared.layout.profile.core.receive_done_cycles;
                task.clock += ticks;
                state.fabric.note(|log| log.received(self.task, ticks));
            }
            let clock = task.clock;
            let rank = &mut state.ranks[self.local as usize];
            // Another task of the rank may ask for the same message at an earlier time.
            if clock > now && rank.sharing.is_some() {
                self.wait_for_clock(state);
                return Poll::Pending;
            }
            let limit = deadline.map_or(Ticks::NEVER, |deadline| clock.max(Ticks(deadline.0)));
            let arrival = rank.front(port.0, &state.fabric).map(|packet| packet.time);
            if let Some(arrival) = arrival.filter(|&arrival| arrival <= limit) {
                return Poll::Ready(Some(self.receive(state, port, arrival)));
            }
            if limit <= clock && clock <= now || arrival.is_some() {
                self.give_up(state, port, limit);
                return Poll::Ready(None);
            }
            task.waits = Waits::Message(port.0);
            let waiter = task.waiter(self.task);
            if deadline.is_some() {
                state.fabric.scheduler.resume(waiter, limit);
            }
            rank.wait(port.0, waiter);
            Poll::Pending
        })
    }

    fn inbox(&self, port: Port) -> Arc<PortInbox> {
        self.with(|state| state.inbox(&self.shared.mailbox, self.rank.0, port.0))
    }

    fn post(&self, to: Address, letter: Letter) {
        assert!(to.rank.0 < self.nodes(), "there is no node {}", to.rank);
        let Letter::Shipment {
            from,
            contents: Contents::Here { buffer, done },
        } = letter
        else {
            unreachable!("small messages are sent, not posted; one process has all nodes")
        };
        self.with(|state| {
            let number = state.bulk.begin(done);
            let at = state.tasks[self.task as usize].clock;
            let parcel = Parcel::Shipment {
                to,
                from,
                number,
                buffer,
            };
            self.send_parcel(state, at, parcel);
        });
    }

    fn buffers(&self, count: usize, bytes: usize, _: Filled) -> io::Result<Vec<Buffer>> {
        Ok((0..count).map(|_| Buffer::heap(bytes)).collect())
    }

    fn disks(&self) -> Arc<dyn Disks> {
        self.with(|state| state.disks_of(&self.shared.mailbox, self.rank.0))
    }
}
