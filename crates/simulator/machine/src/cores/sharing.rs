//! The cores of a rank that several tasks share.

use crate::schedule::Ticks;

/// A rank's cores, and the tasks that could run on one. A rank with one task needs none of it.
pub struct Sharing {
    /// When each core is free.
    free: Vec<Ticks>,
    /// Ready tasks without a core.
    ready: Vec<Ready>,
}

/// A ready task without a core.
#[derive(Clone, Copy, Debug)]
struct Ready {
    priority: u8,
    since: Ticks,
    task: u32,
}

impl Sharing {
    pub fn new(cores: usize) -> Sharing {
        Sharing {
            free: vec![Ticks(0); cores],
            ready: Vec::new(),
        }
    }

    pub fn free_core(&self, now: Ticks) -> Option<usize> {
        self.free.iter().position(|&free| free <= now)
    }

    pub fn next_free_core(&self) -> Ticks {
        *self.free.iter().min().expect("a rank has a core")
    }

    /// A task leaves its core at `time`.
    pub fn leave(&mut self, core: usize, time: Ticks) {
        if let Some(free) = self.free.get_mut(core) {
            *free = time;
        }
    }

    pub fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Lets a task wait for a core from `since` on, if it does not wait already.
    pub fn wait(&mut self, task: u32, priority: u8, since: Ticks) {
        if self.ready.iter().all(|ready| ready.task != task) {
            self.ready.push(Ready {
                priority,
                since,
                task,
            });
        }
    }

    /// Removes the most urgent ready task, or the oldest of those.
    pub fn most_urgent(&mut self) -> Option<u32> {
        let key = |ready: &Ready| (std::cmp::Reverse(ready.priority), ready.since, ready.task);
        let first = (0..self.ready.len()).min_by_key(|&index| key(&self.ready[index]))?;
        Some(self.ready.remove(first).task)
    }
}
