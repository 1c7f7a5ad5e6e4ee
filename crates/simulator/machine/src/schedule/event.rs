//! The events of the tasks behind a NIC.

use super::Ticks;

/// An event behind a NIC. Events are ordered by time, kind and target, so at one moment tasks
/// resume in order of their numbers, however they were woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    pub time: Ticks,
    pub kind: EventKind,
    /// A task, a rank, or the number of a call or parcel.
    pub target: u32,
    /// The turn in which the task waits; an event for an earlier turn is stale.
    pub turn: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventKind {
    /// A task resumes.
    Resume,
    /// A core of a rank with several tasks is free.
    CoreFree,
    /// A call of a disk is due.
    Call,
    /// Bulk arrives.
    Parcel,
}

/// The events behind a NIC, the next one last: there are few, and new ones are mostly early.
#[derive(Clone, Debug, Default)]
pub struct EventQueue(Vec<Event>);

impl EventQueue {
    pub fn add(&mut self, event: Event) {
        let sooner = self
            .0
            .iter()
            .rev()
            .take_while(|other| **other < event)
            .count();
        self.0.insert(self.0.len() - sooner, event);
    }

    /// The time of the next event; `Ticks::NEVER` without one.
    #[inline]
    pub fn next(&self) -> Ticks {
        self.0.last().map_or(Ticks::NEVER, |event| event.time)
    }

    pub fn peek(&self) -> Option<&Event> {
        self.0.last()
    }

    #[inline]
    pub fn pop(&mut self) -> Option<Event> {
        self.0.pop()
    }
}
