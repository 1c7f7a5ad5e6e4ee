//! The state of a rank: its outgoing messages, receive queues and cores.

use std::collections::VecDeque;

use crate::cores::sharing::Sharing;
use crate::cores::waiters::Waiters;
use crate::network::fabric::Fabric;
use crate::network::packet::Packet;
use crate::network::store::id::PacketId;
use crate::network::store::list::List;
use crate::network::store::slab::Slab;
use crate::schedule::{Ticks, Waiter};
use crate::setting::Queues;

#[derive(Default)]
pub struct RankState {
    pub outgoing: Outgoing,
    /// The queue of the port that was used first: most programs use one.
    first: ReceiveQueue,
    others: Vec<ReceiveQueue>,
    /// Receive entries in use.
    entries: u32,
    pub tasks: u32,
    /// Entries that will be free, with their times and ports: a core's clock is ahead of its
    /// block's.
    releases: VecDeque<(Ticks, u32, u16)>,
    /// Tasks that wait for room to send.
    senders: Waiters,
    /// Its cores, if it has had several tasks at once.
    pub sharing: Option<Box<Sharing>>,
    /// When its last task ended.
    pub end: Ticks,
    /// Messages that its tasks sent; a multicast is one.
    pub sent: u32,
    /// Messages that its tasks received.
    pub received: u32,
}

/// Messages that the NIC has not taken, each with the time at which its last word was written.
pub struct Outgoing {
    messages: List,
    /// Waiting words, including one per message for its receiver.
    pub words: u32,
    /// The time of the first message; `Ticks::NEVER` without one.
    pub first: Ticks,
}

#[derive(Default)]
struct ReceiveQueue {
    /// `None` until it is used.
    port: Option<u16>,
    owned: bool,
    messages: List,
    entries: u32,
    waiters: Waiters,
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
        self.first = match self.messages.front(slab) {
            None => Ticks::NEVER,
            Some(next) => {
                // The message after it was written in an earlier window, mostly.
                slab.prefetch(next.next);
                next.time
            }
        };
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
        if let Some(waiter) = queue.waiters.pop() {
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
                let mut queues = std::iter::once(&self.first).chain(&self.others);
                let used = queues.find(|queue| queue.port == Some(port));
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
        let entries = u32::from(packet.flits);
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
        self.queue(port).waiters.push(waiter);
    }

    /// Removes a waiting task. If a message woke it, the next waiting task is woken.
    pub fn forget(&mut self, port: u16, task: u32, fabric: &mut Fabric) {
        let queue = self.queue(port);
        queue.waiters.remove(task);
        let Some(time) = queue
            .messages
            .front(&fabric.scratch.slab)
            .map(|packet| packet.time)
        else {
            return;
        };
        if let Some(waiter) = queue.waiters.pop() {
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
        self.senders.push(waiter);
    }

    /// Wakes the tasks that wait to send, after the NIC has taken a message.
    pub fn wake_senders(&mut self, fabric: &mut Fabric) {
        while let Some(waiter) = self.senders.pop() {
            fabric.counts.longest_send_wait = fabric
                .counts
                .longest_send_wait
                .max(fabric.scheduler.now.since(waiter.clock).0);
            fabric.scheduler.resume(waiter, waiter.clock);
        }
    }

    #[inline]
    fn queue(&mut self, port: u16) -> &mut ReceiveQueue {
        if self.first.port == Some(port) {
            return &mut self.first;
        }
        self.other_queue(port)
    }

    #[cold]
    fn other_queue(&mut self, port: u16) -> &mut ReceiveQueue {
        let new = || ReceiveQueue {
            port: Some(port),
            ..ReceiveQueue::default()
        };
        if self.first.port.is_none() {
            self.first = new();
            return &mut self.first;
        }
        let known = self
            .others
            .iter()
            .position(|queue| queue.port == Some(port));
        let index = known.unwrap_or_else(|| {
            self.others.push(new());
            self.others.len() - 1
        });
        &mut self.others[index]
    }
}
