//! The report of a run.

mod critical_path;

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64};

pub use critical_path::{CriticalPath, PathKind, Segment};

/// The progress of a run, for observers on other threads.
#[derive(Debug, Default)]
pub struct Watch {
    /// Simulated time in ticks.
    pub ticks: AtomicU64,
    /// Messages received so far.
    pub received: AtomicU64,
    /// An observer sets this to end the run.
    pub stop: AtomicBool,
}

/// The counts and times of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The end of each rank's last task in ticks, by rank.
    pub ends: Vec<u64>,
    /// Messages that each rank sent and received, by rank; a multicast is sent once.
    pub messages: Vec<(u32, u32)>,
    /// Counts of the whole run.
    pub counts: Counts,
    /// The stages of the programs, in the order in which rank 0, or the first rank that has them,
    /// ended them.
    pub stages: Vec<StageTimes>,
    /// Ticks from first flit in to last flit out, per message through the tapped NIC.
    pub tapped: Vec<u64>,
    /// The stages of the traced ranks.
    pub slices: Vec<Slice>,
    /// All sent messages by sender and time, if [`Setting::sends`](crate::Setting::sends) is set.
    pub sends: Vec<Sent>,
    /// Length of a window and number of blocks.
    pub windows: Windows,
    /// The critical path, if [`Setting::path`](crate::Setting::path) is set.
    pub path: Option<CriticalPath>,
}

impl Report {
    /// Adds the report of the next block, whose ranks follow.
    pub(crate) fn add(&mut self, more: Report) {
        self.ends.extend(more.ends);
        self.messages.extend(more.messages);
        self.counts.add(&more.counts);
        self.tapped.extend(more.tapped);
        self.slices.extend(more.slices);
        self.sends.extend(more.sends);
        for stage in more.stages {
            match self
                .stages
                .iter_mut()
                .find(|known| known.name == stage.name)
            {
                Some(known) => known.ticks.extend(stage.ticks),
                None => self.stages.push(stage),
            }
        }
    }
}

impl Counts {
    fn add(&mut self, more: &Counts) {
        self.messages += more.messages;
        self.received += more.received;
        self.misses = self.misses.saturating_add(more.misses);
        self.wire_bytes += more.wire_bytes;
        self.packets += more.packets;
        self.events += more.events;
        self.trimmed += more.trimmed;
        self.returned += more.returned;
        self.dropped += more.dropped;
        self.lost += more.lost;
        self.resent += more.resent;
        self.longest_send_wait = self.longest_send_wait.max(more.longest_send_wait);
        if more.busiest_down_ticks > self.busiest_down_ticks {
            self.busiest_down_flits = more.busiest_down_flits;
            self.busiest_down_ticks = more.busiest_down_ticks;
        }
    }
}

/// The division of a run into windows and blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Windows {
    /// Ticks of a window: the least latency between two blocks.
    pub ticks: u64,
    /// Blocks that can run in parallel; one if the latency is too short for windows.
    pub blocks: u32,
}

/// Sums over the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Messages that programs sent; a multicast is one.
    pub messages: u64,
    /// Messages that programs received.
    pub received: u64,
    /// Cache lines that work loaded from beyond the nearest caches.
    pub misses: u64,
    /// Bytes that left NICs in whole flits, including headers and control packets.
    pub wire_bytes: u64,
    /// Packets that left NICs.
    pub packets: u64,
    /// Events that the simulation handled.
    pub events: u64,
    /// Data packets that a full queue trimmed to their headers.
    pub trimmed: u64,
    /// Data packets returned to their senders as headers, since the port had no room for a header.
    pub returned: u64,
    /// Packets dropped for lack of room for control, or of a receive buffer.
    pub dropped: u64,
    /// Packets lost on a link.
    pub lost: u64,
    /// Retransmitted packets.
    pub resent: u64,
    /// The longest wait of a core for room to send, in ticks.
    pub longest_send_wait: u64,
    /// Flits that the busiest link to a NIC carried.
    pub busiest_down_flits: u64,
    /// The ticks for which it carried them.
    pub busiest_down_ticks: u64,
}

/// One stage over all ranks that went through it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StageTimes {
    /// Its name in the program.
    pub name: &'static str,
    /// Ticks and idle ticks per rank that went through it, in order of ranks. Idle is waiting for
    /// messages or for room to send. Repeated visits of a rank are added.
    pub ticks: Vec<(u64, u64)>,
}

/// A stage of a traced rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The traced rank.
    pub rank: u32,
    /// Name of the stage.
    pub name: &'static str,
    /// Start of the stage in ticks.
    pub begin: u64,
    /// End of the stage in ticks.
    pub end: u64,
    /// Idle ticks between them.
    pub idle: u64,
}

/// A sent message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sent {
    /// When its last word was written, in ticks.
    pub time: u64,
    /// The sending rank.
    pub from: u32,
    /// The receiving rank; for a multicast, the last of its group.
    pub to: u32,
    /// Number of words; for a multicast, with two that name the group.
    pub words: u32,
}

/// A run that cannot continue: all tasks wait, and there are no events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// The first waiting tasks, with their reasons.
    pub waiting: Vec<String>,
    /// Number of waiting tasks.
    pub tasks: usize,
    /// The seed that repeats the run.
    pub seed: u64,
}

impl fmt::Display for Stuck {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Tasks of many nodes have the same names.
        let mut counts: Vec<(&str, usize)> = Vec::new();
        for waiting in &self.waiting {
            match counts.iter_mut().find(|(known, _)| known == waiting) {
                Some((_, count)) => *count += 1,
                None => counts.push((waiting, 1)),
            }
        }
        let shown = counts.into_iter().map(|(waiting, count)| match count {
            1 => waiting.to_owned(),
            many => format!("{waiting} ({many} times)"),
        });
        let shown: Vec<String> = shown.collect();
        write!(out, "stuck (seed {}): {}", self.seed, shown.join("; "))?;
        match self.tasks - self.waiting.len() {
            0 => Ok(()),
            more => write!(out, "; and {more} more"),
        }
    }
}

impl std::error::Error for Stuck {}

/// Why a run has no answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// The tasks wait for ever.
    Stuck(Stuck),
    /// A program panicked with this message, which is a bug.
    Panic(String),
    /// An observer ended the run ([`Watch::stop`]).
    Stopped,
}

impl fmt::Display for RunError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Stuck(stuck) => stuck.fmt(out),
            RunError::Panic(what) => write!(out, "a program panicked: {what}"),
            RunError::Stopped => out.write_str("stopped"),
        }
    }
}

impl std::error::Error for RunError {}
