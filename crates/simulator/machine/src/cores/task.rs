//! Tasks of a block: their clocks, waits and idle times.

use crate::log::Cause;
use crate::schedule::{Ticks, Waiter};

/// A task without its future, which is stored elsewhere.
pub struct Task {
    /// Its rank's number in the block.
    pub rank: u32,
    /// `None` for a rank's first task.
    pub name: Option<Box<str>>,
    /// Never behind the clock of its block.
    pub clock: Ticks,
    /// How often it was resumed; a wake-up for an earlier turn is stale.
    pub turn: u32,
    /// Whether it has not finished its last message.
    pub holding: bool,
    pub priority: u8,
    pub waits: Waits,
    /// Total idle ticks.
    pub idle: Ticks,
    pub stage: Option<Stage>,
}

/// The stage a task is in.
#[derive(Clone, Copy, Debug)]
pub struct Stage {
    pub number: u16,
    pub begin: Ticks,
    /// Idle ticks of the task before the stage.
    pub idle: Ticks,
}

/// The reason why a task waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    Start,
    /// The task runs.
    Nothing,
    Message(u16),
    Room,
    Clock,
    Signal(&'static str),
    Ended,
}

impl Waits {
    /// The cause of a wait, as far as it is known before it ends.
    pub fn cause(self) -> Cause {
        match self {
            Waits::Room => Cause::Room,
            _ => Cause::Other,
        }
    }
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

    /// Begins a turn at `time`.
    pub fn resume(&mut self, time: Ticks) {
        self.turn = self.turn.wrapping_add(1);
        self.wait_until(time);
    }

    /// Is idle until `time`.
    pub fn wait_until(&mut self, time: Ticks) {
        if time > self.clock {
            self.idle += time - self.clock;
            self.clock = time;
        }
    }

    /// The task as a waiter, in its present turn.
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
