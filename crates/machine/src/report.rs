//! The report of a run.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64};

/// A run as others see it while it goes on.
#[derive(Debug, Default)]
pub struct Watch {
    /// How far the run is, in ticks.
    pub ticks: AtomicU64,
    /// Messages received so far.
    pub received: AtomicU64,
    /// Set to end the run.
    pub stop: AtomicBool,
}

/// The counts and times of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// When each rank's last task ended, in ticks; by rank.
    pub ends: Vec<u64>,
    /// Counts of the whole run.
    pub counts: Counts,
    /// Each stage that a program named, in the order rank 0 (or the first rank that did) named
    /// them.
    pub stages: Vec<StageTimes>,
    /// From first flit in to last flit out, in ticks, for each message that passed the tapped NIC.
    pub tapped: Vec<u64>,
    /// Stages of the traced ranks.
    pub slices: Vec<Slice>,
    /// Every message that was sent, if that was asked for: by sender, then by time.
    pub sends: Vec<Sent>,
    /// How long a window is in ticks, and how many blocks run in it.
    pub windows: Windows,
}

impl Report {
    /// Adds what another block counted, whose ranks follow.
    pub(crate) fn add(&mut self, more: Report) {
        self.ends.extend(more.ends);
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
        self.wire_bytes += more.wire_bytes;
        self.packets += more.packets;
        self.events += more.events;
        self.trimmed += more.trimmed;
        self.returned += more.returned;
        self.dropped += more.dropped;
        self.lost += more.lost;
        self.resent += more.resent;
        self.longest_send_wait = self.longest_send_wait.max(more.longest_send_wait);
        self.busiest_down_flits = self.busiest_down_flits.max(more.busiest_down_flits);
    }
}

/// How the machine was cut into blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Windows {
    /// Ticks of a window: the least latency between two blocks.
    pub ticks: u64,
    /// Blocks that can run in parallel. One when the latency is too short for windows.
    pub blocks: u32,
}

/// Sums over the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Messages that programs sent; a multicast counts once.
    pub messages: u64,
    /// Messages that programs received.
    pub received: u64,
    /// Bytes that left NICs, headers and control packets included; whole flits.
    pub wire_bytes: u64,
    /// Packets that left NICs.
    pub packets: u64,
    /// Events that the simulation handled.
    pub events: u64,
    /// Data packets that a full queue cut down to their headers.
    pub trimmed: u64,
    /// Data packets that went back to their senders as a header: no room for a header at the port.
    pub returned: u64,
    /// Packets that were dropped: no room for control, or no receive buffer.
    pub dropped: u64,
    /// Packets that were lost on a link.
    pub lost: u64,
    /// Packets that were sent again.
    pub resent: u64,
    /// The longest wait of a core for room to send, in ticks.
    pub longest_send_wait: u64,
    /// Flits that the busiest link to a NIC carried.
    pub busiest_down_flits: u64,
}

/// One stage over all ranks that went through it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StageTimes {
    /// Its name in the program.
    pub name: &'static str,
    /// For each rank that went through it, in the order of ranks: ticks in it, and of them idle,
    /// waiting for messages or room. A rank that came back to a stage adds up.
    pub ticks: Vec<(u64, u64)>,
}

/// A stage of a traced rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The rank.
    pub rank: u32,
    /// The stage.
    pub name: &'static str,
    /// Its begin in ticks.
    pub begin: u64,
    /// Its end in ticks.
    pub end: u64,
    /// Ticks of it that it waited.
    pub idle: u64,
}

/// A message that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sent {
    /// When its last word was written, in ticks.
    pub time: u64,
    /// The sender.
    pub from: u32,
    /// The receiver; of a multicast, the last of its group.
    pub to: u32,
    /// How many words it has; of a multicast, with two that name the group.
    pub words: u32,
}

/// Every task that is left waits, and nothing is to come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// The first of the waiting tasks, each with what it waits for.
    pub waiting: Vec<String>,
    /// How many wait in all.
    pub tasks: usize,
    /// The seed that shows it again.
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
    /// Tasks wait for what never comes.
    Stuck(Stuck),
    /// A program panicked: a bug, with the rank and what it said.
    Panic(String),
    /// Somebody asked for the run to end.
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
