//! Virtual time: the clock of a block, what will happen, and who is told of it.
//!
//! ```text
//!   Scheduler   one for each block: its clock, and an event queue for each NIC
//!   Mailbox     one for each block: wake-ups and calls that arrive while a task runs
//!   Timeline    the part of both that disks see: the time, and calls that are due later
//! ```

mod event;
mod mailbox;
mod ticks;

pub use event::{Event, EventKind, EventQueue};
pub use mailbox::{BlockSignal, Mailbox, Waiter};
pub use ticks::Ticks;

use node::Time;

/// Something that happens later.
pub type Call = Box<dyn FnOnce() + Send>;

/// A clock that accepts calls for later.
pub trait Timeline: Send + Sync {
    fn now(&self) -> Time;
    /// Length of a tick in femtoseconds.
    fn tick_fs(&self) -> u64;
    fn call_at(&self, at: Time, call: Call);
    /// As [`Timeline::call_at`], for calls whose order within one moment is free.
    fn call_in_any_order(&self, at: Time, call: Call);
}

/// The clock of a block, and the events of the tasks behind each of its NICs.
pub struct Scheduler {
    pub now: Ticks,
    /// The NIC that is being run; new events are about its tasks.
    pub nic: usize,
    /// The events behind each NIC.
    pub events: Vec<EventQueue>,
    /// When something happens next at each NIC.
    pub wake: Vec<Ticks>,
    /// Tasks that will resume at a known time.
    pub resuming: usize,
    /// When a task resumed last.
    pub last_resumed: Ticks,
}

impl Scheduler {
    pub fn new(nics: usize) -> Scheduler {
        Scheduler {
            now: Ticks(0),
            nic: 0,
            events: vec![EventQueue::default(); nics],
            wake: vec![Ticks::NEVER; nics],
            resuming: 0,
            last_resumed: Ticks(0),
        }
    }

    /// Adds an event behind the NIC that is being run.
    pub fn add(&mut self, event: Event) {
        self.wake_at(self.nic, event.time);
        self.events[self.nic].add(event);
    }

    /// Runs a NIC no later than `time`.
    #[inline]
    pub fn wake_at(&mut self, nic: usize, time: Ticks) {
        let wake = &mut self.wake[nic];
        *wake = time.min(*wake);
    }

    /// Resumes a waiting task at `time`, or now if that has passed.
    pub fn resume(&mut self, waiter: Waiter, time: Ticks) {
        self.resuming += 1;
        self.add(Event {
            time: time.max(self.now),
            kind: EventKind::Resume,
            target: waiter.task,
            turn: waiter.turn,
        });
    }
}
