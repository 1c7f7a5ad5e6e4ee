//! The notes of a block for the critical path: per task its waits and stages, per rank its sent
//! messages, per NIC the messages that it took.
//!
//! A message is known by its sender and its number at the sender's NIC, which every packet of it
//! carries.

use crate::schedule::Ticks;

/// The notes of a block.
pub struct BlockLog {
    pub first_rank: u32,
    pub first_nic: u32,
    pub tasks: Vec<TaskLog>,
    pub ranks: Vec<RankLog>,
    /// The messages of each NIC, by their numbers.
    pub nics: Vec<Vec<MessageNumber>>,
}

/// A moment of a task, and the time that it has spent on messages until then.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mark {
    pub at: Ticks,
    /// Ticks of writing messages.
    pub sending: u32,
    /// Ticks of noticing and reading messages.
    pub receiving: u32,
}

#[derive(Default)]
pub struct TaskLog {
    /// Its rank's number in the block.
    pub rank: u32,
    pub start: Ticks,
    pub waits: Vec<Wait>,
    /// Each stage from its beginning; before the first the stage is empty.
    pub stages: Vec<(Mark, &'static str)>,
    /// The present, with the time of the last note.
    pub now: Mark,
}

/// A wait of a task.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    pub begin: Mark,
    pub end: Ticks,
    pub cause: Cause,
}

/// The reason why a wait ended.
#[derive(Clone, Copy, Debug)]
pub enum Cause {
    /// A message: its sender, and its number at the sender's NIC.
    Message {
        from: u32,
        number: u32,
    },
    Room,
    Other,
}

#[derive(Default)]
pub struct RankLog {
    pub sent: Vec<SentMark>,
    /// How many of them the NIC has taken.
    taken: u32,
}

/// A message when its last word was written.
#[derive(Clone, Copy, Debug)]
pub struct SentMark {
    pub task: u32,
    pub mark: Mark,
    pub words: u32,
    /// Ticks until its first packet could leave the NIC.
    pub in_nic: u32,
}

/// A message that a NIC took: its sender's number in the block, and its number among the sender's
/// messages.
#[derive(Clone, Copy, Debug)]
pub struct MessageNumber {
    pub rank: u32,
    pub nth: u32,
}

impl BlockLog {
    pub fn new(first_rank: u32, ranks: usize, first_nic: u32, nics: usize) -> BlockLog {
        BlockLog {
            first_rank,
            first_nic,
            tasks: Vec::new(),
            ranks: (0..ranks).map(|_| RankLog::default()).collect(),
            nics: vec![Vec::new(); nics],
        }
    }

    /// Adds a task of a rank of the block.
    pub fn add_task(&mut self, rank: u32, start: Ticks) {
        self.tasks.push(TaskLog {
            rank,
            start,
            ..TaskLog::default()
        });
    }

    /// A task is idle from its clock until `until`, if that is later.
    pub fn wait(&mut self, number: u32, clock: Ticks, until: Ticks, cause: Cause) {
        if until <= clock {
            return;
        }
        let log = &mut self.tasks[number as usize];
        let begin = Mark {
            at: clock,
            ..log.now
        };
        log.waits.push(Wait {
            begin,
            end: until,
            cause,
        });
    }

    /// Notes the message that ended a task's wait at its arrival.
    pub fn ended_by(&mut self, number: u32, arrival: Ticks, message: Cause) {
        let last = self.tasks[number as usize].waits.last_mut();
        if let Some(wait) = last.filter(|wait| wait.end == arrival) {
            wait.cause = message;
        }
    }

    pub fn received(&mut self, number: u32, ticks: Ticks) {
        let spent = &mut self.tasks[number as usize].now.receiving;
        *spent = spent.saturating_add(short(ticks));
    }

    /// A task has written a message, at its clock.
    pub fn sent(&mut self, number: u32, clock: Ticks, ticks: Ticks, words: u32) {
        let log = &mut self.tasks[number as usize];
        log.now.sending = log.now.sending.saturating_add(short(ticks));
        let mark = Mark {
            at: clock,
            ..log.now
        };
        self.ranks[log.rank as usize].sent.push(SentMark {
            task: number,
            mark,
            words,
            in_nic: 0,
        });
    }

    pub fn stage(&mut self, number: u32, clock: Ticks, name: &'static str) {
        let log = &mut self.tasks[number as usize];
        let mark = Mark {
            at: clock,
            ..log.now
        };
        log.stages.push((mark, name));
    }

    pub fn ended(&mut self, number: u32, clock: Ticks) {
        self.tasks[number as usize].now.at = clock;
    }

    /// A NIC took the next message of one of its ranks.
    pub fn taken(&mut self, nic: usize, rank: u32, ready: Ticks) {
        let of_rank = &mut self.ranks[rank as usize];
        let nth = of_rank.taken;
        of_rank.taken += 1;
        let sent = &mut of_rank.sent[nth as usize];
        sent.in_nic = short(ready.since(sent.mark.at));
        self.nics[nic].push(MessageNumber { rank, nth });
    }
}

/// A duration in 32 bits, of 1.3 simulated seconds at most: notes are many, so they are small.
fn short(ticks: Ticks) -> u32 {
    u32::try_from(ticks.0).unwrap_or(u32::MAX)
}
