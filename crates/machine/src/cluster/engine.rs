//! Windows: all blocks run the same stretch of time, hand on their packets, and run the next.
//!
//! ```text
//!   thread 0:  blocks 0 2 4 ...  | hand on |        | blocks 0 2 4 ... |
//!   thread 1:  blocks 1 3 5 ...  | hand on | barrier| blocks 1 3 5 ... |
//!                window [t, t + latency)             the next window begins at the earliest
//!                                                    event of any block
//! ```
//!
//! A block stays on its thread: its tasks are not `Send`. The windows, and what is in them, are the
//! same for any number of threads.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex, PoisonError};

use crate::cluster::block::Block;
use crate::cluster::exchange::Exchange;
use crate::network::fabric::Scratch;
use crate::network::layout::Layout;
use crate::report::{RunError, Watch};
use crate::schedule::{Mailbox, Ticks};

/// The state that the threads of a run share.
pub struct Engine {
    pub layout: Arc<Layout>,
    pub mailboxes: Vec<Arc<Mailbox>>,
    pub watch: Arc<Watch>,
    threads: usize,
    exchange: Exchange,
    barrier: Barrier,
    /// The earliest event that each thread knows, for this window and the one before.
    next: [Vec<AtomicU64>; 2],
    /// When the last task of each thread resumed; `Ticks::NEVER` while one is to resume.
    still: [Vec<AtomicU64>; 2],
    /// How long messages may be sent again while no task resumes: beyond this none ever will.
    patience: Ticks,
    /// Whether something in this window, or in the one before, ends the run.
    stop: [AtomicBool; 2],
    failed: Mutex<Option<RunError>>,
}

/// A message is sent again after 64 timeouts at most. When 64 tries of all messages have resumed no
/// task, none will.
const STILL_TIMEOUTS: u64 = 64 * 64;

/// When the last task of these blocks resumed; `Ticks::NEVER` while one is to resume.
fn still_since(blocks: &[(u32, Block)]) -> Ticks {
    let since = |block: &Block| {
        block
            .shared
            .state
            .borrow()
            .still_since()
            .unwrap_or(Ticks::NEVER)
    };
    blocks
        .iter()
        .map(|(_, block)| since(block))
        .max()
        .unwrap_or_default()
}

impl Engine {
    pub fn new(layout: &Arc<Layout>, mailboxes: &[Arc<Mailbox>], watch: &Arc<Watch>) -> Engine {
        let threads = layout.setting.threads.clamp(1, layout.blocks() as usize);
        let next = || (0..threads).map(|_| AtomicU64::new(u64::MAX)).collect();
        Engine {
            layout: Arc::clone(layout),
            mailboxes: mailboxes.to_vec(),
            watch: Arc::clone(watch),
            threads,
            exchange: Exchange::new(layout),
            barrier: Barrier::new(threads),
            next: [next(), next()],
            still: [next(), next()],
            patience: layout.profile.nic.timeout_cycles * STILL_TIMEOUTS + layout.slowest(),
            stop: [AtomicBool::new(false), AtomicBool::new(false)],
            failed: Mutex::new(None),
        }
    }

    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Runs the blocks of one thread, made by `make`, to the end of the run; gives them back to
    /// `end`.
    pub fn run_thread<R>(
        &self,
        thread: usize,
        make: impl Fn(&mut Block),
        end: impl FnOnce(Vec<(u32, Block)>) -> R,
    ) -> R {
        let numbers =
            (0..self.layout.blocks()).filter(|block| *block as usize % self.threads == thread);
        let mut blocks: Vec<(u32, Block)> = numbers
            .map(|number| {
                let mut block = Block::new(&self.layout, number, &self.mailboxes[number as usize]);
                self.guard(0, || make(&mut block));
                (number, block)
            })
            .collect();
        let mut begin = Ticks(0);
        let mut scratch = Scratch::default();
        for window in (0..2).cycle() {
            let until = begin + self.layout.window;
            self.guard(window, || {
                self.run_window(&mut blocks, &mut scratch, window, begin..until)
            });
            let next = blocks
                .iter()
                .map(|(_, block)| block.shared.state.borrow().next());
            self.next[window][thread]
                .store(next.min().unwrap_or(Ticks::NEVER).0, Ordering::Release);
            self.still[window][thread].store(still_since(&blocks).0, Ordering::Release);
            if thread == 0 {
                self.watch.ticks.store(until.0, Ordering::Relaxed);
                let asked = self.watch.stop.load(Ordering::Relaxed);
                if asked {
                    self.fail(window, RunError::Stopped);
                }
            }
            self.barrier.wait();
            let next = self.next[window]
                .iter()
                .map(|next| next.load(Ordering::Acquire));
            begin = Ticks(next.min().expect("at least one thread"));
            let still = self.still[window]
                .iter()
                .map(|still| still.load(Ordering::Acquire));
            let is_stuck =
                begin.since(Ticks(still.max().expect("at least one thread"))) > self.patience;
            if begin == Ticks::NEVER || is_stuck || self.stop[window].load(Ordering::Acquire) {
                break;
            }
        }
        end(blocks)
    }

    /// Why the run has no answers, if it has none.
    pub fn failure(&self) -> Option<RunError> {
        self.failed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    /// Runs the blocks through a window.
    fn run_window(
        &self,
        blocks: &mut [(u32, Block)],
        scratch: &mut Scratch,
        window: usize,
        ticks: Range<Ticks>,
    ) {
        let mut received = 0;
        for (number, block) in blocks.iter_mut() {
            block.swap_scratch(scratch);
            self.exchange.take(*number, block, 1 - window);
            block.run(ticks.clone());
            self.exchange.hand_on(*number, block, window);
            block.swap_scratch(scratch);
            received += block.received_since();
        }
        self.watch.received.fetch_add(received, Ordering::Relaxed);
    }

    /// A panic of a program ends the run.
    fn guard(&self, window: usize, run: impl FnOnce()) {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(run)) {
            let text = payload.downcast_ref::<&str>().map(ToString::to_string);
            let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
            self.fail(
                window,
                RunError::Panic(text.unwrap_or_else(|| "without words".to_owned())),
            );
        }
    }

    /// Ends the run with this window: all threads see it behind the same barrier.
    fn fail(&self, window: usize, error: RunError) {
        self.failed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(error);
        self.stop[window].store(true, Ordering::Release);
    }
}
