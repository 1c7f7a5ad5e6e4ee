//! Sending and receiving: the parts of `poll_send` and `poll_next`, with their costs and their notes
//! for the critical path.

use node::backend::{Outgoing, Target};
use node::{MESSAGE_WORDS, Message, Port, Rank, Words};

use super::TaskBackend;
use crate::cluster::state::BlockState;
use crate::cores::task::Waits;
use crate::log::Cause;
use crate::network::packet::Kind;
use crate::network::switch::group_words;
use crate::profile::GROUP_WORDS;
use crate::schedule::Ticks;

impl TaskBackend {
    /// Whether a message with this many words fits the transmit words; if not, the task waits.
    pub(super) fn has_room(&self, state: &mut BlockState, words: u32) -> bool {
        let task = &mut state.tasks[self.task as usize];
        let rank = &mut state.ranks[self.local as usize];
        if rank.outgoing.words + words <= self.shared.layout.profile.core.transmit_words {
            return true;
        }
        // It may also wait for a message.
        if !matches!(task.waits, Waits::Message(_)) {
            task.waits = Waits::Room;
        }
        rank.wait_to_send(task.waiter(self.task));
        false
    }

    /// Charges a message, and returns the time at which it is written.
    pub(super) fn write(&self, state: &mut BlockState, outgoing: &Outgoing<'_>) -> Ticks {
        let model = &self.shared.layout.profile.core;
        let task = &mut state.tasks[self.task as usize];
        let words = outgoing.words.len() as u32;
        let ticks = if outgoing.forwarded {
            model.forward_cycles
        } else {
            model.send_cycles + model.send_word_cycles * u64::from(words)
        };
        task.clock += ticks;
        task.waits = Waits::Nothing;
        let clock = task.clock;
        let fabric = &mut state.fabric;
        fabric.note(|log| log.sent(self.task, clock, ticks, words));
        task.clock
    }

    /// Receives the oldest message of a port, which arrived or will arrive at `arrival`.
    pub(super) fn receive(&self, state: &mut BlockState, port: Port, arrival: Ticks) -> Message {
        let model = &self.shared.layout.profile.core;
        let task = &mut state.tasks[self.task as usize];
        let rank = &mut state.ranks[self.local as usize];
        let polled = task.waits == Waits::Message(port.0) && task.clock == arrival;
        let has_waited = arrival > task.clock || polled;
        let begin = arrival.max(task.clock);
        if has_waited {
            let cause = task.waits.cause();
            state
                .fabric
                .note(|log| log.wait(self.task, task.clock, arrival, cause));
            // A polling core notices the message a little later.
            task.wait_until(arrival);
            task.clock += model.notice_cycles;
        }
        task.waits = Waits::Nothing;
        let front = rank.front(port.0, &state.fabric).expect("it has arrived");
        let words = front.words.len() as u64;
        task.clock += model.receive_cycles + model.receive_word_cycles * words;
        task.holding = true;
        let time = task.clock;
        let packet = rank.take(port.0, time, &mut state.fabric);
        let (from, number) = (packet.from, packet.sequence >> 1);
        state.fabric.note(|log| {
            if has_waited {
                log.ended_by(self.task, arrival, Cause::Message { from, number });
            }
            log.received(self.task, time - begin);
        });
        rank.received += 1;
        state.fabric.counts.received += 1;
        state.nic(self.local).0.made_room(time);
        Message {
            from: Rank(packet.from),
            words: packet.words,
        }
    }

    /// Ends a receive whose deadline has passed.
    pub(super) fn give_up(&self, state: &mut BlockState, port: Port, deadline: Ticks) {
        let task = &mut state.tasks[self.task as usize];
        let ticks = self.shared.layout.profile.core.notice_cycles;
        state.fabric.note(|log| {
            log.wait(self.task, task.clock, deadline, task.waits.cause());
            log.received(self.task, ticks);
        });
        task.wait_until(deadline);
        task.clock += ticks;
        task.waits = Waits::Nothing;
        let rank = &mut state.ranks[self.local as usize];
        rank.forget(port.0, self.task, &mut state.fabric);
    }
}

/// The kind, receiver, port and words of a message.
pub(super) fn addressed(outgoing: &Outgoing<'_>) -> (Kind, Rank, Port, Words) {
    match outgoing.to {
        Target::One(to) => (Kind::Data, to.rank, to.port, outgoing.words.clone()),
        Target::Group(group, port) => {
            let mut words = [0; MESSAGE_WORDS + GROUP_WORDS];
            let until = GROUP_WORDS + outgoing.words.len();
            words[..GROUP_WORDS].copy_from_slice(&group_words(group));
            words[GROUP_WORDS..until].copy_from_slice(&outgoing.words[..]);
            let words = Words::from(&words[..until]);
            (Kind::Multicast, group.last(), port, words)
        }
    }
}
