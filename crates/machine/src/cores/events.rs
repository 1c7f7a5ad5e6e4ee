//! What the tasks behind a NIC will do: few events, the earliest first.
//!
//! At one moment tasks go on in the order of their numbers, whatever the order in which they were
//! woken.

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

/// The events behind a NIC, the next one last: they are few, and most new ones come soon.
#[derive(Clone, Debug, Default)]
pub struct Events(Vec<Event>);

impl Events {
    pub fn add(&mut self, event: Event) {
        let sooner = self
            .0
            .iter()
            .rev()
            .take_while(|other| **other < event)
            .count();
        self.0.insert(self.0.len() - sooner, event);
    }

    /// When the next event is; `u64::MAX` when there is none.
    #[inline]
    pub fn next(&self) -> u64 {
        self.0.last().map_or(u64::MAX, |event| event.time)
    }

    /// Takes the next event.
    #[inline]
    pub fn pop(&mut self) -> Option<Event> {
        self.0.pop()
    }
}
