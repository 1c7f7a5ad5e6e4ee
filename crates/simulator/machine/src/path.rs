//! From the notes of all blocks to the critical path.

use crate::log::{BlockLog, Cause, Mark, MessageNumber, SentMark, TaskLog};
use crate::network::layout::Layout;
use crate::report::{CriticalPath, PathKind, Segment};
use crate::schedule::Ticks;

/// A task: its block, and its number there.
type TaskId = (usize, u32);

/// The path of a run from the notes of its blocks; `None` without tasks.
pub fn walk(layout: &Layout, blocks: &[BlockLog]) -> Option<CriticalPath> {
    let walk = Walk {
        layout,
        blocks,
        segments: Vec::new(),
    };
    walk.run()
}

struct Walk<'a> {
    layout: &'a Layout,
    blocks: &'a [BlockLog],
    /// The latest first.
    segments: Vec<Segment>,
}

impl<'a> Walk<'a> {
    fn run(mut self) -> Option<CriticalPath> {
        let mut place = self.last()?;
        loop {
            let (id, until) = place;
            let log = self.task(id);
            let before = log.waits.partition_point(|wait| wait.end <= until.at);
            let Some(wait) = before.checked_sub(1).map(|at| log.waits[at]) else {
                let start = Mark {
                    at: log.start,
                    ..Mark::default()
                };
                self.add_busy(id, start, until);
                self.add(PathKind::Other, self.rank(id), "", [Ticks(0), log.start]);
                break;
            };
            let resumed = Mark {
                at: wait.end,
                ..wait.begin
            };
            self.add_busy(id, resumed, until);
            place = match wait.cause {
                Cause::Message { from, number } => self.add_message(id, wait.end, from, number),
                Cause::Room | Cause::Other => {
                    let kind = match wait.cause {
                        Cause::Room => PathKind::Room,
                        _ => PathKind::Other,
                    };
                    let stage = stage_of(log, wait.begin.at);
                    self.add(kind, self.rank(id), stage, [wait.begin.at, wait.end]);
                    (id, wait.begin)
                }
            };
        }
        self.segments.reverse();
        let segments = self.segments;
        Some(CriticalPath { segments })
    }

    /// The task that ended last, and its end.
    fn last(&self) -> Option<(TaskId, Mark)> {
        let tasks = self.blocks.iter().enumerate().flat_map(|(block, log)| {
            let tasks = (0..).zip(&log.tasks);
            tasks.map(move |(number, task)| ((block, number), task.now))
        });
        // The first of several.
        tasks.reduce(|last, task| if task.1.at > last.1.at { task } else { last })
    }

    fn task(&self, (block, number): TaskId) -> &'a TaskLog {
        &self.blocks[block].tasks[number as usize]
    }

    fn rank(&self, id: TaskId) -> u32 {
        self.blocks[id.0].first_rank + self.task(id).rank
    }

    fn add(&mut self, kind: PathKind, rank: u32, stage: &'static str, [begin, end]: [Ticks; 2]) {
        if begin < end {
            self.segments.push(Segment {
                kind,
                rank,
                from: rank,
                stage,
                begin: begin.0,
                end: end.0,
            });
        }
    }

    /// Adds the time of a busy task between two marks: for each stage what it spent on messages,
    /// and its work.
    fn add_busy(&mut self, id: TaskId, begin: Mark, end: Mark) {
        let (log, rank) = (self.task(id), self.rank(id));
        let mut until = end;
        let inside = |mark: &Mark| mark.at > begin.at && mark.at < end.at;
        let changes = log.stages.iter().rev().filter(|(mark, _)| inside(mark));
        for (mark, stage) in changes {
            self.add_spent(rank, stage, *mark, until);
            until = *mark;
        }
        self.add_spent(rank, stage_of(log, begin.at), begin, until);
    }

    fn add_spent(&mut self, rank: u32, stage: &'static str, begin: Mark, end: Mark) {
        let receiving = Ticks(u64::from(end.receiving - begin.receiving));
        let sending = Ticks(u64::from(end.sending - begin.sending));
        // Their order inside of the segment is not noted: it begins with receiving.
        let sent_from = Ticks(end.at.0.saturating_sub(sending.0)).max(begin.at);
        let received_until = (begin.at + receiving).min(sent_from);
        self.add(PathKind::Send, rank, stage, [sent_from, end.at]);
        self.add(PathKind::Work, rank, stage, [received_until, sent_from]);
        self.add(PathKind::Receive, rank, stage, [begin.at, received_until]);
    }

    /// Adds the way of a message that arrived at a task; returns its sender when it was written.
    fn add_message(
        &mut self,
        to: TaskId,
        arrival: Ticks,
        from: u32,
        number: u32,
    ) -> (TaskId, Mark) {
        let topology = &self.layout.topology;
        let model = &self.layout.profile.nic;
        let (nic, to_rank) = (topology.nic_of(from), self.rank(to));
        let block = self.layout.block_of(topology.leaf_of(nic)) as usize;
        let log = &self.blocks[block];
        let MessageNumber { rank, nth } = log.nics[(nic - log.first_nic) as usize][number as usize];
        let sent = log.ranks[rank as usize].sent[nth as usize];
        let SentMark {
            task, mark, words, ..
        } = sent;
        let ready = mark.at + Ticks(u64::from(sent.in_nic));
        let id = (block, task);
        let stage = stage_of(self.task(id), mark.at);
        let (hops, pace) = topology.way(nic, topology.nic_of(to_rank));
        let sizes = self.layout.sizes;
        let flits = u64::from(sizes.header) + u64::from(words) * u64::from(sizes.word);
        let mut left = arrival.since(ready);
        let mut take = |most: Ticks| {
            let part = most.min(left);
            left = left.since(part);
            part
        };
        let (hops, received) = (take(hops), take(model.receive_cycles));
        let wire = take(pace.ticks(flits));
        let in_nics = ready.since(mark.at) + received;
        let mut end = arrival;
        for (kind, ticks) in [
            (PathKind::Queue, left),
            (PathKind::Wire, wire),
            (PathKind::Hops, hops),
            (PathKind::Nic, in_nics),
        ] {
            let begin = end - ticks;
            self.add(kind, to_rank, stage, [begin, end]);
            if begin < end
                && let Some(segment) = self.segments.last_mut()
            {
                segment.from = from;
            }
            end = begin;
        }
        (id, mark)
    }
}

fn stage_of(log: &TaskLog, at: Ticks) -> &'static str {
    let begun = log.stages.partition_point(|(mark, _)| mark.at <= at);
    begun.checked_sub(1).map_or("", |last| log.stages[last].1)
}
