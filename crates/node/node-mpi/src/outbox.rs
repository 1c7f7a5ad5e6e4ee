//! The commands of this process's tasks to its communication thread.
//!
//! It is a list behind a lock: tasks add commands, and the thread takes all of them at once. The
//! number of small messages that have not left is bounded; a task that would send more waits. The
//! wait ends, because the communication thread of every process always receives.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use node::backend::{Completion, Inboxes};
use node::{Address, Buffer, Mutex, Words};

use crate::wire::AllToAll;

/// The most small messages that have not left: 16 MiB at 2 KiB each.
const MOST_MESSAGES: usize = 8192;

pub(crate) enum Command {
    /// Send a small message.
    Message { to: Address, words: Words },
    /// Announce a shipment to its receiver.
    Ship {
        to: Address,
        buffer: Buffer,
        done: Completion<Buffer>,
    },
    /// Have a shipment that a peer has announced sent into a buffer.
    Fetch {
        from: u32,
        shipment: Shipment,
        buffer: Buffer,
        done: Completion<Buffer>,
    },
    /// Carry a string from every process to every process; all of them give this command.
    AllToAll {
        strings: AllToAll,
        done: mpsc::Sender<AllToAll>,
    },
    /// Leave in good order.
    End,
    /// Stop without telling the peers.
    Quit,
    /// End every process with this exit code.
    Abort(i32),
}

/// A shipment that waits at its sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shipment {
    pub number: u32,
    pub bytes: usize,
}

/// The list of commands, and the mailboxes of this process.
#[derive(Default)]
pub(crate) struct Outbox {
    state: Mutex<State>,
    /// Wakes the communication thread when there are commands.
    filled: Condvar,
    /// Wakes tasks when messages have left.
    room: Condvar,
    /// Whether there are commands, to be read without the lock.
    is_filled: AtomicBool,
    inboxes: Mutex<Option<Arc<dyn Inboxes>>>,
}

#[derive(Default)]
struct State {
    commands: Vec<Command>,
    /// Small messages that have not left.
    messages: usize,
    /// Tasks that wait for room.
    waiting: usize,
    is_asleep: bool,
    is_over: bool,
}

impl Outbox {
    /// Adds a small message, and waits for room if necessary.
    pub(crate) fn send(&self, to: Address, words: Words) {
        let mut state = self.state.lock();
        while state.messages >= MOST_MESSAGES && !state.is_over {
            state.waiting += 1;
            let woken = self.room.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
        state.messages += 1;
        self.add(state, Command::Message { to, words });
    }

    /// Adds any other command.
    pub(crate) fn push(&self, command: Command) {
        self.add(self.state.lock(), command);
    }

    fn add(&self, mut state: MutexGuard<'_, State>, command: Command) {
        // A process that waits for its peers to end may still give up.
        if state.is_over && !matches!(command, Command::Abort(_) | Command::Quit) {
            return;
        }
        state.is_over |= matches!(command, Command::End | Command::Abort(_) | Command::Quit);
        state.commands.push(command);
        self.is_filled.store(true, Ordering::Release);
        if state.is_asleep {
            self.filled.notify_one();
        }
    }

    /// Takes all commands; `into` is empty and lends its memory.
    pub(crate) fn take(&self, into: &mut Vec<Command>) {
        if self.is_filled.load(Ordering::Acquire) {
            let mut state = self.state.lock();
            std::mem::swap(&mut state.commands, into);
            self.is_filled.store(false, Ordering::Release);
        }
    }

    /// Notes that small messages have left.
    pub(crate) fn left(&self, messages: usize) {
        let mut state = self.state.lock();
        state.messages -= messages;
        if state.waiting > 0 {
            self.room.notify_all();
        }
    }

    /// Sleeps until there are commands, for at most `most`.
    pub(crate) fn sleep(&self, most: Duration) {
        let mut state = self.state.lock();
        if state.commands.is_empty() {
            state.is_asleep = true;
            let woken = self.filled.wait_timeout(state, most);
            (state, _) = woken.unwrap_or_else(PoisonError::into_inner);
            state.is_asleep = false;
        }
    }

    /// Adds a last command. Later commands are dropped, and no task waits any more.
    pub(crate) fn close(&self, last: Command) {
        self.push(last);
        self.room.notify_all();
    }

    /// Sets the mailboxes of this process.
    pub(crate) fn attach(&self, inboxes: Arc<dyn Inboxes>) {
        *self.inboxes.lock() = Some(inboxes);
        self.filled.notify_one();
    }

    /// The mailboxes of this process, once it has a node.
    pub(crate) fn inboxes(&self) -> Option<Arc<dyn Inboxes>> {
        self.inboxes.lock().clone()
    }
}
