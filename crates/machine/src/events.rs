//! What the tasks behind a NIC will do: few events, the earliest first.
//!
//! At one moment tasks go on in the order of their numbers, whatever the order in which they were
//! woken.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Something that happens behind a NIC, ordered by its time, what it is, and whom it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    pub time: u64,
    pub what: What,
    /// The task, the rank, or the number of what was put aside for then.
    pub whom: u32,
    /// Of a task, in which of its turns.
    pub turn: u32,
}

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// A task goes on.
    Resume,
    /// A core of a rank with several tasks is free.
    CoreFree,
    /// Something that a disk does.
    Call,
    /// Bulk arrives.
    Parcel,
}

/// The events behind a NIC.
#[derive(Clone, Debug, Default)]
pub struct Events(BinaryHeap<Reverse<Event>>);

impl Events {
    pub fn add(&mut self, event: Event) {
        self.0.push(Reverse(event));
    }

    /// When the next event is; `u64::MAX` when there is none.
    pub fn next(&self) -> u64 {
        self.0.peek().map_or(u64::MAX, |Reverse(event)| event.time)
    }

    /// Takes the next event.
    pub fn pop(&mut self) -> Option<Event> {
        self.0.pop().map(|Reverse(event)| event)
    }
}
