//! The state of a rank: its messages on the way out, its receive queues, its cores.

use std::collections::VecDeque;

use crate::network::fabric::Fabric;
use crate::network::packet::{List, Packet};
use crate::network::slab::{Place, Slab};
use crate::schedule::{Ticks, Waiter};
use crate::setting::Queues;

/// A rank's side of its NIC, and its cores.
#[derive(Default)]
pub struct RankState {
    /// Messages that the NIC has not taken.
    pub outgoing: Outgoing,
    /// Tasks that wait for room to send.
    senders: VecDeque<Waiter>,
    queues: Vec<ReceiveQueue>,
    /// Receive entries in use.
    entries: u32,
    /// Entries that a core took ahead of the world's time, with when.
    releases: VecDeque<(Ticks, u32, u16)>,
    /// Tasks that are ready and find no core, oldest first.
    pub ready: Vec<Ready>,
    /// When each core is free; empty while the rank has one task.
    pub cores: Vec<Ticks>,
    pub tasks: u32,
    /// When its last task ended.
    pub end: Ticks,
}

/// Messages that a NIC has not taken, each with the time its last word was written.
pub struct Outgoing {
    messages: List,
    /// Words that wait, with one more for each message.
    pub words: u32,
    /// The time of the first; `Ticks::NEVER` when none waits.
    pub first: Ticks,
}

/// A task that is ready and has no core.
#[derive(Clone, Copy, Debug)]
pub struct Ready {
    pub priority: u8,
    pub since: Ticks,
    pub task: u32,
}

/// A port's messages.
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
    pub fn push(&mut self, place: Place, slab: &mut Slab) {
        let packet = &slab[place];
        if self.first == Ticks::NEVER {
            self.first = packet.time;
        }
        self.words += packet.words.len() as u32 + 1;
        self.messages.push(slab, place);
    }

    pub fn front<'a>(&self, slab: &'a Slab) -> Option<&'a Packet> {
        self.messages.front(slab)
    }

    pub fn pop(&mut self, slab: &Slab) -> Option<Place> {
        let place = self.messages.pop(slab)?;
        self.words -= slab[place].words.len() as u32 + 1;
        self.first = self
            .messages
            .front(slab)
            .map_or(Ticks::NEVER, |next| next.time);
        Some(place)
    }
}

impl RankState {
    /// Adds a message, which arrives at its time.
    pub fn deliver(&mut self, place: Place, entries: u32, fabric: &mut Fabric) {
        let (time, port) = (
            fabric.scratch.slab[place].time,
            fabric.scratch.slab[place].port,
        );
        self.entries += entries;
        let queue = self.queue(port);
        queue.entries += entries;
        queue.messages.push(&mut fabric.scratch.slab, place);
        if let Some(waiter) = queue.waiters.pop_front() {
            // A core that is busy sees it when it is done.
            fabric.scheduler.resume(waiter, waiter.clock.max(time));
        }
    }

    /// Whether a queue has room for `entries` entries.
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
        let place = self
            .queue(port)
            .messages
            .pop(&fabric.scratch.slab)
            .expect("a message is there");
        let packet = fabric.scratch.slab.take(place);
        let entries = fabric.entries_of(&packet);
        // Several cores may take at times that are not in order.
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

    /// A task waits for the next message of a port.
    pub fn wait(&mut self, port: u16, waiter: Waiter) {
        let waiters = &mut self.queue(port).waiters;
        waiters.retain(|other| other.task != waiter.task);
        waiters.push_back(waiter);
    }

    /// A task waits no longer. If it was woken for a message, the next waiter may have it.
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

    /// Frees what was taken until `now`: how many entries.
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

    /// How many times entries will be free, or are and were not asked for.
    pub fn releases(&self) -> usize {
        self.releases.len()
    }

    /// When entries are free next.
    pub fn next_release(&self) -> Option<Ticks> {
        self.releases.front().map(|(time, ..)| *time)
    }

    /// Marks a port as owned.
    pub fn bind(&mut self, port: u16) {
        let queue = self.queue(port);
        assert!(!queue.owned, "port {port} has an owner already");
        queue.owned = true;
    }

    /// A task waits for room to send.
    pub fn wait_to_send(&mut self, waiter: Waiter) {
        self.senders.retain(|other| other.task != waiter.task);
        self.senders.push_back(waiter);
    }

    /// The NIC has taken a message: those who wait to send try again.
    pub fn room_at(&mut self, fabric: &mut Fabric) {
        while let Some(waiter) = self.senders.pop_front() {
            fabric.counts.longest_send_wait = fabric
                .counts
                .longest_send_wait
                .max(fabric.scheduler.now.since(waiter.clock).0);
            fabric.scheduler.resume(waiter, waiter.clock);
        }
    }

    /// A core that is free.
    pub fn free_core(&self, now: Ticks) -> Option<usize> {
        self.cores.iter().position(|&free| free <= now)
    }

    /// When the next core is free.
    pub fn next_free_core(&self) -> Ticks {
        *self.cores.iter().min().expect("a rank has a core")
    }

    /// The task that is to go on first: the most urgent, the oldest of those.
    pub fn most_urgent(&mut self) -> Option<Ready> {
        let key = |ready: &Ready| (std::cmp::Reverse(ready.priority), ready.since, ready.task);
        let first = (0..self.ready.len()).min_by_key(|&index| key(&self.ready[index]))?;
        Some(self.ready.remove(first))
    }

    #[inline]
    fn queue(&mut self, port: u16) -> &mut ReceiveQueue {
        // Programs use few ports, most one: looking through them is faster than any table.
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
