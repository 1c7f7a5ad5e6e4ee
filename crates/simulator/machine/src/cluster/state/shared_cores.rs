//! The assignment of a rank's cores to its tasks, where several share them.

use super::{BlockState, Upcall};
use crate::cores::task::Task;
use crate::schedule::{EventKind, Ticks};

impl BlockState {
    /// A core for a task that can run now; `Some(None)` if its rank has one task only. Without a
    /// free core, and behind other ready tasks, it waits for its turn.
    pub fn assign_core(
        &mut self,
        task: u32,
        given: Option<usize>,
        now: Ticks,
    ) -> Option<Option<usize>> {
        let Task { rank, priority, .. } = self.tasks[task as usize];
        let Some(sharing) = &mut self.ranks[rank as usize].sharing else {
            return Some(given);
        };
        if given.is_some() {
            return Some(given);
        }
        if !sharing.has_ready()
            && let Some(core) = sharing.free_core(now)
        {
            return Some(Some(core));
        }
        sharing.wait(task, priority, now);
        let free = sharing.next_free_core();
        self.request_core(rank, free);
        None
    }

    /// Frees the core of a task that has run up to its clock.
    pub fn leave_core(&mut self, task: u32, core: Option<usize>) {
        let task = &self.tasks[task as usize];
        // Its messages leave at its clock; until then the block is not idle.
        self.fabric.scheduler.last_resumed = self.fabric.scheduler.last_resumed.max(task.clock);
        if let Some(sharing) = &mut self.ranks[task.rank as usize].sharing {
            // The first task of a rank ran without a core's number, and may have spawned another.
            sharing.leave(core.unwrap_or(0), task.clock);
        }
    }

    fn request_core(&mut self, rank: u32, free: Ticks) {
        self.fabric.scheduler.resuming += 1;
        self.add_event(free, EventKind::CoreFree, rank);
    }

    /// Resumes the most urgent ready task of a rank, if a core is free.
    pub(super) fn give_core(&mut self, rank: u32) -> Upcall {
        let now = self.fabric.scheduler.now;
        let Some(sharing) = &mut self.ranks[rank as usize].sharing else {
            unreachable!("a core is requested where tasks share some")
        };
        let core = sharing.free_core(now);
        let chosen = core.and_then(|_| sharing.most_urgent());
        if sharing.has_ready() {
            // The time at which the chosen task leaves its core is not known yet.
            let free = sharing.next_free_core().max(now + Ticks(1));
            self.request_core(rank, free);
        }
        chosen.map_or(Upcall::Nothing, |task| {
            let turn = self.tasks[task as usize].turn;
            Upcall::Resume { task, turn, core }
        })
    }
}
