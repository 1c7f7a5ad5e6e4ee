//! A task's way to its block: every verb of a node, with what it costs on this machine.
//!
//! A task's clock runs ahead of the world's while it works. What it sends takes effect at its
//! clock, by an event; a message that is already there can be taken at once, since nothing that
//! comes later can change which is the oldest.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

use node::backend::{Backend, Contents, Disks, Letter, Outgoing, PortInbox, Signal, Start, Target};
use node::{Address, Buffer, MESSAGE_WORDS, Message, Port, Random, Rank, Time, Words, Work};

use crate::cluster::bulk::{self, Parcel};
use crate::cluster::state::{BlockState, Shared};
use crate::cores::task::{Task, Waits};
use crate::network::packet::{Kind, Packet};
use crate::network::switch::group_words;
use crate::profile::GROUP_WORDS;
use crate::report::Sent;
use crate::schedule::{BlockSignal, Ticks};

pub struct TaskBackend {
    shared: Rc<Shared>,
    task: u32,
    /// Its rank among the block's.
    local: u32,
    rank: Rank,
    random: RefCell<Random>,
    /// How many tasks it has spawned: each has a random stream of its own.
    spawned: Cell<u32>,
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
            spawned: Cell::new(0),
        }
    }

    fn with<R>(&self, change: impl FnOnce(&mut BlockState) -> R) -> R {
        let state = &mut *self.shared.state.borrow_mut();
        // Places mean nothing in another slab: a program that uses its node when it is dropped is
        // late.
        assert!(
            state.fabric.has_scratch,
            "a node is used in its program's time only"
        );
        change(state)
    }

    /// Waits until the world reaches the task's clock.
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
        state.fabric.first_out = state.fabric.first_out.min(time);
    }

    /// Gives a buffer that was lent back to its sender.
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
        let ticks = Ticks(self.shared.layout.profile.work.ticks(work));
        self.with(|state| state.tasks[self.task as usize].clock += ticks);
    }

    fn stage(&self, name: &'static str) {
        self.with(|state| {
            let BlockState { meter, tasks, .. } = state;
            meter.enter(&mut tasks[self.task as usize], Some(name));
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
        self.spawned.set(self.spawned.get() + 1);
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
        // One to a group travels in one packet.
        let segment = self.shared.layout.profile.nic.segment_bytes as usize / 8;
        self.shared.layout.setting.multicast && words <= segment
    }

    fn poll_send(&self, outgoing: &Outgoing<'_>) -> Poll<()> {
        self.with(|state| {
            let model = &self.shared.layout.profile.core;
            let (kind, to, port) = match outgoing.to {
                Target::One(address) => (Kind::Data, address.rank, address.port),
                Target::Group(group, port) => (Kind::Cast, group.last(), port),
            };
            assert!(
                to.0 < self.shared.layout.setting.ranks,
                "there is no node {to}"
            );
            let words = match outgoing.to {
                Target::One(_) => outgoing.words.clone(),
                Target::Group(group, _) => {
                    let mut named = [0; MESSAGE_WORDS + GROUP_WORDS];
                    let until = GROUP_WORDS + outgoing.words.len();
                    named[..GROUP_WORDS].copy_from_slice(&group_words(group));
                    named[GROUP_WORDS..until].copy_from_slice(&outgoing.words[..]);
                    Words::from(&named[..until])
                }
            };
            let task = &mut state.tasks[self.task as usize];
            let rank = &mut state.ranks[self.local as usize];
            let written = words.len() as u32 + 1;
            if rank.outgoing.words + written > model.transmit_words {
                // It may wait for a message, too.
                if !matches!(task.waits, Waits::Message(_)) {
                    task.waits = Waits::Room;
                }
                rank.wait_to_send(task.waiter(self.task));
                return Poll::Pending;
            }
            task.clock += if outgoing.forwarded {
                model.forward_cycles
            } else {
                model.send_cycles + model.send_word_cycles * outgoing.words.len() as u64
            };
            task.waits = Waits::Nothing;
            let time = task.clock;
            let sent = Packet {
                port: port.0,
                words,
                ..Packet::new(kind, time, self.rank.0, to.0)
            };
            let place = state.fabric.scratch.slab.put(sent);
            rank.outgoing.push(place, &mut state.fabric.scratch.slab);
            state.fabric.counts.messages += 1;
            if self.shared.layout.setting.sends {
                state.sends.push(Sent {
                    time: time.0,
                    from: self.rank.0,
                    to: to.0,
                    words: written - 1,
                });
            }
            let (nic, fabric) = state.nic(self.local);
            nic.offer(time, fabric);
            Poll::Ready(())
        })
    }

    fn bind(&self, port: Port) {
        self.with(|state| state.ranks[self.local as usize].bind(port.0));
    }

    fn poll_next(&self, port: Port, deadline: Option<Time>) -> Poll<Option<Message>> {
        self.with(|state| {
            let model = &self.shared.layout.profile.core;
            let task = &mut state.tasks[self.task as usize];
            if std::mem::take(&mut task.holding) {
                task.clock += model.receive_done_cycles;
            }
            // Others of this rank may ask for the same message at an earlier time.
            let is_alone = state.ranks[self.local as usize].cores.is_empty();
            if task.clock > state.fabric.scheduler.now && !is_alone {
                self.wait_for_clock(state);
                return Poll::Pending;
            }
            let task = &mut state.tasks[self.task as usize];
            let rank = &mut state.ranks[self.local as usize];
            let limit = deadline.map_or(Ticks::NEVER, |deadline| task.clock.max(Ticks(deadline.0)));
            let arrival = rank.front(port.0, &state.fabric).map(|packet| packet.time);
            if let Some(arrival) = arrival.filter(|&arrival| arrival <= limit) {
                let polled = task.waits == Waits::Message(port.0) && task.clock == arrival;
                if arrival > task.clock || polled {
                    // It polls, and sees the message a little after it came.
                    task.go_to(arrival);
                    task.clock += model.notice_cycles;
                }
                task.waits = Waits::Nothing;
                let front = rank.front(port.0, &state.fabric).expect("it is there");
                let words = front.words.len() as u64;
                task.clock += model.receive_cycles + model.receive_word_cycles * words;
                task.holding = true;
                let time = task.clock;
                let packet = rank.take(port.0, time, &mut state.fabric);
                state.fabric.counts.received += 1;
                state.nic(self.local).0.made_room(time);
                return Poll::Ready(Some(Message {
                    from: Rank(packet.from),
                    words: packet.words,
                }));
            }
            if limit <= task.clock && task.clock <= state.fabric.scheduler.now || arrival.is_some()
            {
                // It polled in vain.
                task.go_to(limit);
                task.clock += model.notice_cycles;
                task.waits = Waits::Nothing;
                rank.forget(port.0, self.task, &mut state.fabric);
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
            self.send_parcel(
                state,
                at,
                Parcel::Shipment {
                    to,
                    from,
                    number,
                    buffer,
                },
            );
        });
    }

    fn buffers(&self, count: usize, bytes: usize) -> io::Result<Vec<Buffer>> {
        Ok((0..count).map(|_| Buffer::heap(bytes)).collect())
    }

    fn disks(&self) -> Arc<dyn Disks> {
        self.with(|state| state.disks_of(&self.shared.mailbox, self.rank.0))
    }
}
