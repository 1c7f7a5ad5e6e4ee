//! The mailbox of a block: tasks that signals have woken, and calls at later times.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use node::backend::Signal;
use node::{Mutex, Time};

use disk::{Call, Timeline};

use super::Ticks;

/// A waiting task.
#[derive(Clone, Copy, Debug)]
pub struct Waiter {
    pub task: u32,
    /// The turn in which it waits.
    pub turn: u32,
    /// The task's own clock: it resumes no earlier.
    pub clock: Ticks,
}

#[derive(Default)]
pub struct Mailbox {
    tick_fs: u64,
    now: AtomicU64,
    /// Whether it has wake-ups or calls.
    filled: AtomicBool,
    woken: Mutex<Vec<Waiter>>,
    calls: Mutex<Vec<(Ticks, Call)>>,
}

impl Mailbox {
    pub fn new(tick_fs: u64) -> Mailbox {
        Mailbox {
            tick_fs,
            ..Mailbox::default()
        }
    }

    pub fn set_now(&self, now: Ticks) {
        self.now.store(now.0, Ordering::Relaxed);
    }

    pub fn is_filled(&self) -> bool {
        self.filled.load(Ordering::Relaxed)
    }

    /// Takes all wake-ups and calls.
    pub fn empty(&self) -> (Vec<Waiter>, Vec<(Ticks, Call)>) {
        self.filled.store(false, Ordering::Relaxed);
        (
            std::mem::take(&mut *self.woken.lock()),
            std::mem::take(&mut *self.calls.lock()),
        )
    }

    pub fn signal(self: &Arc<Self>, label: &'static str) -> Arc<dyn Signal> {
        Arc::new(BlockSignal {
            label,
            epoch: Mutex::default(),
            mailbox: Arc::clone(self),
        })
    }
}

impl Timeline for Mailbox {
    fn now(&self) -> Time {
        Time(self.now.load(Ordering::Relaxed))
    }

    fn tick_fs(&self) -> u64 {
        self.tick_fs
    }

    fn call_at(&self, at: Time, call: Call) {
        self.calls.lock().push((Ticks(at.0), call));
        self.filled.store(true, Ordering::Relaxed);
    }

    fn call_in_any_order(&self, at: Time, call: Call) {
        self.call_at(at, call);
    }
}

/// A signal of a block; all its waiters resume when it advances.
pub struct BlockSignal {
    pub label: &'static str,
    /// The epoch, and the tasks that wait for the next.
    epoch: Mutex<(u64, Vec<Waiter>)>,
    mailbox: Arc<Mailbox>,
}

impl BlockSignal {
    pub fn subscribe(&self, waiter: Waiter) {
        self.epoch.lock().1.push(waiter);
    }
}

impl Signal for BlockSignal {
    fn epoch(&self) -> u64 {
        self.epoch.lock().0
    }

    fn advance(&self) {
        let mut epoch = self.epoch.lock();
        epoch.0 += 1;
        if !epoch.1.is_empty() {
            self.mailbox.woken.lock().append(&mut epoch.1);
            self.mailbox.filled.store(true, Ordering::Relaxed);
        }
    }
}
