//! The critical path of a run: the chain of work, messages and waits that made the last core last.
//!
//! ```text
//!   core 7   ======work======send.                      ====work====| end
//!                                 `-NIC--hops--wire--queue-`
//!   core 3                                  ..waits........receive
//! ```
//!
//! From the end of the last core the path goes back in time: along the core's work to its last wait,
//! from there along the message that ended the wait to the core that sent it, and so on to the
//! start. Its segments meet without gaps, so their sum is the time of the run.
//!
//! A run that is asked for its path notes each wait and each sent message (`log`); the path is found
//! in these notes afterwards (`path`). Nothing of the simulation changes.

/// The critical path of a run, in order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CriticalPath {
    /// Segments that follow each other without gaps, from 0 to the end of the run.
    pub segments: Vec<Segment>,
}

/// A part of a critical path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The kind of time.
    pub kind: PathKind,
    /// The rank at which it happens; of a message on its way, the receiver.
    pub rank: u32,
    /// The sender of a message on its way, else the rank itself.
    pub from: u32,
    /// The stage of the rank's program, or of the sender's for a message on its way; empty outside
    /// of stages.
    pub stage: &'static str,
    /// Start in ticks.
    pub begin: u64,
    /// End in ticks.
    pub end: u64,
}

/// The kinds of time on a critical path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathKind {
    /// The program's own work on a core.
    Work,
    /// A core writes messages.
    Send,
    /// A core notices and reads messages.
    Receive,
    /// A message is in NICs: it waits for the arbiter or a transmit buffer, and passes the
    /// pipelines.
    Nic,
    /// The latency of the links and switches on the way of a message.
    Hops,
    /// The message's flits on a link.
    Wire,
    /// The rest of a message's way: waiting in queues, and being sent again.
    Queue,
    /// A core waits for room to send.
    Room,
    /// A core waits for anything else: a deadline, another task, a disk.
    Other,
}

impl PathKind {
    /// All kinds, in the order of a table.
    pub const ALL: [PathKind; 9] = [
        PathKind::Work,
        PathKind::Send,
        PathKind::Receive,
        PathKind::Nic,
        PathKind::Hops,
        PathKind::Wire,
        PathKind::Queue,
        PathKind::Room,
        PathKind::Other,
    ];

    /// A word for people and for JSON.
    pub fn word(self) -> &'static str {
        match self {
            PathKind::Work => "work",
            PathKind::Send => "send",
            PathKind::Receive => "receive",
            PathKind::Nic => "NIC",
            PathKind::Hops => "hops",
            PathKind::Wire => "wire",
            PathKind::Queue => "queue",
            PathKind::Room => "room",
            PathKind::Other => "other",
        }
    }

    /// Whether it is a part of a message's way between two cores.
    pub fn is_message(self) -> bool {
        matches!(
            self,
            PathKind::Nic | PathKind::Hops | PathKind::Wire | PathKind::Queue
        )
    }
}

impl Segment {
    /// Its length in ticks.
    pub fn ticks(&self) -> u64 {
        self.end - self.begin
    }
}
