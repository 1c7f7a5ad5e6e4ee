//! Virtual time: clocks, events, and wake-ups of tasks.
//!
//! ```text
//!   Scheduler   one per block: its clock, and an event queue per NIC
//!   Mailbox     one per block: wake-ups and calls that arrive while a task runs
//!   Ticks       times; Pace, ticks per flit of a link
//! ```

mod event;
mod mailbox;
mod pace;
mod ticks;

pub use event::{Event, EventKind, EventQueue};
pub use mailbox::{BlockSignal, Mailbox, Waiter};
pub use pace::Pace;
pub use ticks::Ticks;

/// The clock of a block, and the events of its tasks.
pub struct Scheduler {
    pub now: Ticks,
    /// The NIC that is being simulated, to whose tasks new events belong.
    pub nic: usize,
    /// The events behind each NIC.
    pub events: Vec<EventQueue>,
    /// The time of the next event of each NIC.
    pub wake: Vec<Ticks>,
    /// Events that may resume a task.
    pub resuming: usize,
    /// When the last task resumed.
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

    /// Adds an event behind the present NIC.
    pub fn add(&mut self, event: Event) {
        self.wake_at(self.nic, event.time);
        self.events[self.nic].add(event);
    }

    /// Has a NIC simulated no later than `time`.
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
