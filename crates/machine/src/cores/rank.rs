//! The state of a rank: its outgoing messages, receive queues and cores.

use std::collections::VecDeque;

use crate::network::fabric::Fabric;
use crate::network::packet::{List, Packet};
use crate::network::slab::{PacketId, Slab};
use crate::schedule::{Ticks, Waiter};
use crate::setting::Queues;

#[derive(Default)]
pub struct RankState {
    pub outgoing: Outgoing,
    /// Tasks that wait for room to send.
    senders: VecDeque<Waiter>,
    queues: Vec<ReceiveQueue>,
    /// Receive entries in use.
    entries: u32,
    /// Entries that will be free, with their times and ports: a core's clock is ahead of its
    /// block's.
    releases: VecDeque<(Ticks, u32, u16)>,
    /// Ready tasks without a core.
    pub ready: Vec<Ready>,
    /// When each core is free; empty unless the rank has had several tasks at once.
    pub cores: Vec<Ticks>,
    pub tasks: u32,
    /// When its last task ended.
    pub end: Ticks,
}

/// Messages that the NIC has not taken, each with the time at which its last word was written.
pub struct Outgoing {
    messages: List,
    /// Waiting words, including one per message for its receiver.
    pub words: u32,
    /// The time of the first message; `Ticks::NEVER` without one.
    pub first: Ticks,
}

/// A ready task without a core.
#[derive(Clone, Copy, Debug)]
pub struct Ready {
    pub priority: u8,
    pub since: Ticks,
    pub task: u32,
}

struct ReceiveQueue {
    port: u16,
    owned: bool,
    messages: List,
    entries: u32,
    waiters: VecDeque<Waiter>,
}

impl Default for Outgoing {
    fn default() -> Outgoing {
        Outgoing {
            messages: List::default(),
            words: 0,
            first: Ticks::NEVER,
        }
    }
}

impl Outgoing {
    pub fn push(&mut self, id: PacketId, slab: &mut Slab) {
        let packet = &slab[id];
        if self.first == Ticks::NEVER {
            self.first = packet.time;
        }
        self.words += packet.words.len() as u32 + 1;
        self.messages.push(slab, id);
    }

    pub fn front<'a>(&self, slab: &'a Slab) -> Option<&'a Packet> {
        self.messages.front(slab)
    }

    pub fn pop(&mut self, slab: &Slab) -> Option<PacketId> {
        let id = self.messages.pop(slab)?;
        self.words -= slab[id].words.len() as u32 + 1;
        self.first = self
            .messages
            .front(slab)
            .map_or(Ticks::NEVER, |next| next.time);
        Some(id)
    }
}

impl RankState {
    /// Adds a message that arrives at its time, and wakes a task that waits for it.
    pub fn deliver(&mut self, id: PacketId, entries: u32, fabric: &mut Fabric) {
        let (time, port) = (fabric.scratch.slab[id].time, fabric.scratch.slab[id].port);
        self.entries += entries;
        let queue = self.queue(port);
        queue.entries += entries;
        queue.messages.push(&mut fabric.scratch.slab, id);
        if let Some(waiter) = queue.waiters.pop_front() {
            // A busy core receives it when its work is done.
            fabric.scheduler.resume(waiter, waiter.clock.max(time));
        }
    }

    /// Whether the queue of a port has room for `entries` more.
    pub fn has_room(&self, port: u16, entries: u32, fabric: &Fabric) -> bool {
        let model = &fabric.layout.profile.nic;
        match fabric.layout.setting.queues {
            Queues::ByCore => self.entries + entries <= model.queue_entries,
            Queues::ByPort => {
                let used = self.queues.iter().find(|queue| queue.port == port);
                used.map_or(0, |queue| queue.entries) + entries <= model.queue_entries
            }
            Queues::Shared => true,
        }
    }

    /// The oldest message of a port.
    pub fn front<'a>(&mut self, port: u16, fabric: &'a Fabric) -> Option<&'a Packet> {
        self.queue(port).messages.front(&fabric.scratch.slab)
    }

    /// Takes the oldest message of a port; its entries are free at `time`.
    pub fn take(&mut self, port: u16, time: Ticks, fabric: &mut Fabric) -> Packet {
        let id = self
            .queue(port)
            .messages
            .pop(&fabric.scratch.slab)
            .expect("a message is there");
        let packet = fabric.scratch.slab.take(id);
        let entries = fabric.entries_of(&packet);
        // Several cores may take messages at times that are out of order.
        let later = self
            .releases
            .iter()
            .rev()
            .take_while(|release| release.0 > time)
            .count();
        self.releases.push_back((time, entries, port));
        if later > 0 {
            let last = self.releases.len() - 1;
            self.releases.make_contiguous()[last - later..].rotate_right(1);
        }
        packet
    }

    /// Lets a task wait for the next message of a port.
    pub fn wait(&mut self, port: u16, waiter: Waiter) {
        let waiters = &mut self.queue(port).waiters;
        waiters.retain(|other| other.task != waiter.task);
        waiters.push_back(waiter);
    }

    /// Removes a waiting task. If a message woke it, the next waiting task is woken.
    pub fn forget(&mut self, port: u16, task: u32, fabric: &mut Fabric) {
        let queue = self.queue(port);
        queue.waiters.retain(|waiter| waiter.task != task);
        let Some(time) = queue
            .messages
            .front(&fabric.scratch.slab)
            .map(|packet| packet.time)
        else {
            return;
        };
        if let Some(waiter) = queue.waiters.pop_front() {
            fabric.scheduler.resume(waiter, waiter.clock.max(time));
        }
    }

    /// Frees the entries that were taken until `now`; returns their number.
    pub fn release(&mut self, now: Ticks) -> u32 {
        let mut freed = 0;
        while let Some(&(time, entries, port)) = self.releases.front() {
            if time > now {
                break;
            }
            self.releases.pop_front();
            self.queue(port).entries -= entries;
            freed += entries;
        }
        self.entries -= freed;
        freed
    }

    /// The number of messages whose entries have not been freed.
    pub fn releases(&self) -> usize {
        self.releases.len()
    }

    /// When the next entries will be free.
    pub fn next_release(&self) -> Option<Ticks> {
        self.releases.front().map(|(time, ..)| *time)
    }

    pub fn bind(&mut self, port: u16) {
        let queue = self.queue(port);
        assert!(!queue.owned, "port {port} has an owner already");
        queue.owned = true;
    }

    /// Lets a task wait for room to send.
    pub fn wait_to_send(&mut self, waiter: Waiter) {
        self.senders.retain(|other| other.task != waiter.task);
        self.senders.push_back(waiter);
    }

    /// Wakes the tasks that wait to send, after the NIC has taken a message.
    pub fn wake_senders(&mut self, fabric: &mut Fabric) {
        while let Some(waiter) = self.senders.pop_front() {
            fabric.counts.longest_send_wait = fabric
                .counts
                .longest_send_wait
                .max(fabric.scheduler.now.since(waiter.clock).0);
            fabric.scheduler.resume(waiter, waiter.clock);
        }
    }

    pub fn free_core(&self, now: Ticks) -> Option<usize> {
        self.cores.iter().position(|&free| free <= now)
    }

    pub fn next_free_core(&self) -> Ticks {
        *self.cores.iter().min().expect("a rank has a core")
    }

    /// Removes the most urgent ready task, or the oldest of those.
    pub fn most_urgent(&mut self) -> Option<Ready> {
        let key = |ready: &Ready| (std::cmp::Reverse(ready.priority), ready.since, ready.task);
        let first = (0..self.ready.len()).min_by_key(|&index| key(&self.ready[index]))?;
        Some(self.ready.remove(first))
    }

    #[inline]
    fn queue(&mut self, port: u16) -> &mut ReceiveQueue {
        // Most programs use one port, so a search is faster than a table.
        let index = self.queues.iter().position(|queue| queue.port == port);
        match index {
            Some(index) => &mut self.queues[index],
            None => self.new_queue(port),
        }
    }

    #[cold]
    fn new_queue(&mut self, port: u16) -> &mut ReceiveQueue {
        self.queues.push(ReceiveQueue {
            port,
            owned: false,
            messages: List::default(),
            entries: 0,
            waiters: VecDeque::new(),
        });
        self.queues.last_mut().expect("just added")
    }
}
