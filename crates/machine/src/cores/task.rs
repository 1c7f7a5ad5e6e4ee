//! Tasks of a block: their clocks, what they wait for, and the time they spend.

use crate::schedule::{Ticks, Waiter};

/// A task as its block knows it; its future is kept apart.
pub struct Task {
    /// Its rank among the block's.
    pub rank: u32,
    /// Its own name; none for a rank's first task.
    pub name: Option<Box<str>>,
    /// Its clock, level with the world's or ahead of it.
    pub clock: Ticks,
    /// How often it was resumed: a wake-up for an earlier turn is stale.
    pub turn: u32,
    /// Whether it has a message that it is not done with.
    pub holding: bool,
    pub priority: u8,
    pub waits: Waits,
    /// Ticks that it waited.
    pub idle: Ticks,
    pub stage: Option<Stage>,
}

/// The stage a task is in.
#[derive(Clone, Copy, Debug)]
pub struct Stage {
    pub number: u16,
    pub begin: Ticks,
    /// Ticks that the task had waited before.
    pub idle: Ticks,
}

/// The thing that a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    Start,
    /// It runs.
    Nothing,
    Message(u16),
    Room,
    Clock,
    Signal(&'static str),
    Ended,
}

impl Task {
    pub fn new(rank: u32, name: Option<Box<str>>, clock: Ticks) -> Task {
        Task {
            rank,
            name,
            clock,
            turn: 0,
            holding: false,
            priority: 0,
            waits: Waits::Start,
            idle: Ticks(0),
            stage: None,
        }
    }

    /// Resumes at `time`.
    pub fn go_on(&mut self, time: Ticks) {
        self.turn = self.turn.wrapping_add(1);
        self.go_to(time);
    }

    /// Waits until `time`, within its turn.
    pub fn go_to(&mut self, time: Ticks) {
        if time > self.clock {
            self.idle += time - self.clock;
            self.clock = time;
        }
    }

    /// The task, waiting in this turn.
    pub fn waiter(&self, task: u32) -> Waiter {
        Waiter {
            task,
            turn: self.turn,
            clock: self.clock,
        }
    }
}

impl std::fmt::Display for Waits {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Waits::Start => out.write_str("its start"),
            Waits::Nothing => out.write_str("its turn"),
            Waits::Message(port) => write!(out, "a message on port {port}"),
            Waits::Room => out.write_str("room to send"),
            Waits::Clock => out.write_str("its own work to end"),
            Waits::Signal(label) => out.write_str(label),
            Waits::Ended => out.write_str("nothing"),
        }
    }
}
