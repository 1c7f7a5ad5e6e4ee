//! What disks need of the time they live in: when it is, and that something happens later.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use node::Time;
use node::backend::Signal;

use crate::cores::rank::Waiter;

/// Something that happens later.
pub type Call = Box<dyn FnOnce() + Send>;

/// A time that others may add to.
pub trait Timeline: Send + Sync {
    fn now(&self) -> Time;
    /// Length of a tick in femtoseconds.
    fn tick_fs(&self) -> u64;
    fn call_at(&self, at: Time, call: Call);
    /// As [`Timeline::call_at`], for what may change places with others of the same moment.
    fn call_in_any_order(&self, at: Time, call: Call);
}

/// A block's timeline, and where its signals leave whom they woke.
#[derive(Default)]
pub struct Desk {
    tick_fs: u64,
    now: AtomicU64,
    /// Whether something lies here.
    filled: AtomicBool,
    woken: Mutex<Vec<Waiter>>,
    calls: Mutex<Vec<(u64, Call)>>,
}

impl Desk {
    pub fn new(tick_fs: u64) -> Desk {
        Desk {
            tick_fs,
            ..Desk::default()
        }
    }

    pub fn set_now(&self, now: u64) {
        self.now.store(now, Ordering::Relaxed);
    }

    pub fn is_filled(&self) -> bool {
        self.filled.load(Ordering::Relaxed)
    }

    /// Takes what lies here.
    pub fn empty(&self) -> (Vec<Waiter>, Vec<(u64, Call)>) {
        self.filled.store(false, Ordering::Relaxed);
        (
            std::mem::take(&mut *lock(&self.woken)),
            std::mem::take(&mut *lock(&self.calls)),
        )
    }

    pub fn signal(self: &Arc<Self>, label: &'static str) -> Arc<dyn Signal> {
        Arc::new(BlockSignal {
            label,
            epoch: Mutex::default(),
            desk: Arc::clone(self),
        })
    }
}

impl Timeline for Desk {
    fn now(&self) -> Time {
        Time(self.now.load(Ordering::Relaxed))
    }

    fn tick_fs(&self) -> u64 {
        self.tick_fs
    }

    fn call_at(&self, at: Time, call: Call) {
        lock(&self.calls).push((at.0, call));
        self.filled.store(true, Ordering::Relaxed);
    }

    fn call_in_any_order(&self, at: Time, call: Call) {
        self.call_at(at, call);
    }
}

/// A signal of a block: its waiters go on in the order in which they came.
pub struct BlockSignal {
    pub label: &'static str,
    epoch: Mutex<(u64, Vec<Waiter>)>,
    desk: Arc<Desk>,
}

impl BlockSignal {
    pub fn subscribe(&self, waiter: Waiter) {
        lock(&self.epoch).1.push(waiter);
    }
}

impl Signal for BlockSignal {
    fn epoch(&self) -> u64 {
        lock(&self.epoch).0
    }

    fn advance(&self) {
        let mut epoch = lock(&self.epoch);
        epoch.0 += 1;
        if !epoch.1.is_empty() {
            lock(&self.desk.woken).append(&mut epoch.1);
            self.desk.filled.store(true, Ordering::Relaxed);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
